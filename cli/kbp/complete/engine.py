"""What a word of a command line may go on as: `kbp __complete SHELL …`.

The shell's script calls it with the words up to the cursor; bash, which breaks words at `=` and `:`, with the line
and the position of the cursor. It prints a line that says what follows, and then the candidates, each with its help
behind a tab:

    plain     the candidates; a blank follows the one that is taken
    nospace   the candidates; the word goes on
    files     files, which the shell completes itself

It never fails, and writes nothing on stderr.
"""

from __future__ import annotations

import os
import sys

from kbp.complete import quoting
from kbp.complete.table import COMMANDS, OPTIONS, RULES

TYPE_CHECKING = False  # as type checkers know it

if TYPE_CHECKING:
    from collections.abc import Sequence

Candidates = list[tuple[str, str]]
"""Values, each with its help."""
PLAIN, NOSPACE, FILES = "plain", "nospace", "files"
_MAX_SHOWN, _MAX_HELP = 2_000, 60


def run(arguments: Sequence[str]) -> int:
    """Print the candidates for `SHELL [--] WORD…`, or for `bash LINE POSITION WORDBREAKS`."""
    try:
        text = _answer(arguments)
    except BaseException:  # a Tab press is no place to fail
        text = FILES
    try:
        sys.stdout.buffer.write((text + "\n").encode("utf-8", "surrogateescape"))
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        os._exit(0)
    return 0


def _answer(arguments: Sequence[str]) -> str:
    shell, *rest = arguments
    start = quoting.Start()
    if shell == "bash":
        words, start = quoting.split(rest[0], int(rest[1]), *rest[2:3])
    else:
        words = list(rest[1:] if rest[:1] == ["--"] else rest)
    *before, current = words[1:] or [""]
    follows, found = Line(before).candidates(current)
    fitting = [(value, help) for value, help in found if value.startswith(current) and value.isprintable()]
    if shell == "bash":
        fitting = [(value, help) for value, help in fitting if quoting.can_be_taken(value, start)]
    shown = dict(fitting[:_MAX_SHOWN])
    if not shown and follows != FILES:
        return PLAIN
    lines = [follows]
    for value, help in shown.items():
        written = quoting.in_bash(value, start) if shell == "bash" else value
        said = "".join(each if each.isprintable() else " " for each in help[:_MAX_HELP])
        lines.append(f"{written}\t{said}{'…' if len(help) > _MAX_HELP else ''}")
    return "\n".join(lines)


class Line:
    """A command line up to the word that is completed: its command, options and other words."""

    def __init__(self, words: Sequence[str]) -> None:
        self.command: str | None = None
        self.words: list[str] = []
        self.given: dict[str, list[str]] = {}
        self.flags: set[str] = set()
        self.is_ended = False
        self.waiting: str | None = None
        for word in words:
            self._take(word)
        folder = self.last("-C", "--directory")
        if folder:
            os.chdir(os.path.expanduser(folder))  # noqa: PTH111

    def _take(self, word: str) -> None:
        if self.waiting is not None:
            self._give(self.waiting, word)
            self.waiting = None
        elif word == "--":
            self.is_ended = True
        elif word.startswith("-") and len(word) > 1 and not self.is_ended:
            option, value = self._parted(word)
            if value is not None:
                self._give(option, value)
            elif self.kind(option):
                self.waiting = option
            else:
                self.flags.add(option)
        elif self.command is None:
            self.command = word
        else:
            self.words.append(word)

    def _parted(self, word: str) -> tuple[str, str | None]:
        """The option in a word, and its value if that is in the word too: `--format=json`, `-fjson`."""
        if word.startswith("--"):
            option, equals, value = word.partition("=")
            return option, value if equals else None
        option = word[:2]
        return option, word[2:] if len(word) > 2 and self.kind(option) else None

    def _give(self, option: str, value: str) -> None:
        self.given.setdefault(option, []).append(value)

    @property
    def options(self) -> dict[str, tuple[str, str]]:
        """The options that the command takes: what their value is, and their help."""
        return COMMANDS[self.command][1] if self.command in COMMANDS else OPTIONS

    def kind(self, option: str) -> str:
        """What the value of an option is; empty for one that has none."""
        return self.options.get(option, ("", ""))[0]

    def last(self, *options: str) -> str | None:
        """The last value of an option, by any of its names."""
        return next((self.given[each][-1] for each in options if each in self.given), None)

    def candidates(self, current: str) -> tuple[str, Candidates]:
        """What the word may be, and what follows it."""
        if self.waiting is not None:
            return self._values(self.kind(self.waiting), current, "")
        if current.startswith("-") and not self.is_ended:
            option, value = self._parted(current)
            if value is not None:
                return self._values(self.kind(option), value, current[: len(current) - len(value)])
            return PLAIN, [(option, help) for option, (_, help) in self.options.items()]
        if self.command is None:
            return PLAIN, [(name, COMMANDS[name][0]) for name in COMMANDS]
        kinds = COMMANDS[self.command][2] if self.command in COMMANDS else ()
        at = min(len(self.words), len(kinds) - 1)
        is_taken = len(self.words) >= len(kinds) and not (kinds and kinds[-1].endswith("…"))
        if is_taken:
            return PLAIN, []
        follows, found = self._values(kinds[at].removesuffix("…"), current, "")
        return follows, [each for each in found if self.is_ended or not each[0].startswith("-")]  # else it is an option

    def _values(self, kind: str, typed: str, head: str) -> tuple[str, Candidates]:
        """The values of a kind that go on from what is typed; `head` is what stands before them in the word."""
        follows, found = self._found(kind, typed)
        if follows == FILES and (head or "-C" in self.given or "--directory" in self.given):
            follows, found = NOSPACE, paths(typed)
        return follows, [(head + value, help) for value, help in found]

    def _found(self, kind: str, typed: str) -> tuple[str, Candidates]:
        if "|" in kind or (kind.islower() and kind not in _KINDS):
            return PLAIN, [(value, "") for value in kind.split("|") if value.islower()]
        if kind == "rules":
            before = typed.rpartition(",")[0]
            return PLAIN, [(f"{before},{name}" if before else name, help) for name, help in RULES.items()]
        if kind == "rule":
            return PLAIN, list(RULES.items())
        if kind == "server":
            from kbp.complete import servers

            return PLAIN, [(name, "") for name in servers.names()]
        if kind == "prompt":
            return self._prompts(typed)
        if kind in ("argument", "raw argument"):
            return self._arguments(typed, is_raw=kind.startswith("raw"))
        return (FILES, []) if kind == "file" else (PLAIN, [])

    # Prompts and their arguments

    @property
    def _server(self) -> str | None:
        return self.last("--server", "--server-cmd")

    def _prompts(self, typed: str) -> tuple[str, Candidates]:
        from kbp.complete import servers

        if self._server is not None:
            return PLAIN, [(prompt, help) for prompt, help in servers.prompts(self._server)]
        prefix, colon, _ = typed.partition(":")
        if colon and prefix in servers.names():
            return PLAIN, [(f"{prefix}:{prompt}", help) for prompt, help in servers.prompts(prefix)]
        from kbp.complete.prompts import Prompts

        found = Prompts(self).described(typed)
        is_path = "/" in typed or typed.startswith((".", "~"))
        return (FILES, []) if is_path or not found else (PLAIN, found)

    @property
    def config(self) -> str | None:
        """The file of settings that is named, empty where none is wanted; None: it is found by its name."""
        return "" if "--no-config" in self.flags else self.last("--config") or os.environ.get("KBP_CONFIG")

    def _arguments(self, typed: str, *, is_raw: bool) -> tuple[str, Candidates]:
        from kbp.complete import arguments

        key, equals, value = typed.partition("=")
        if equals and value.startswith("@") and not is_raw:
            return NOSPACE, [(f"{key}=@{path}", help) for path, help in paths(value[1:])]
        found = arguments.of(self, self.words[0]) if self.words else None
        if found is None:
            return PLAIN, []
        if not equals:
            given = {text.partition("=")[0] for each in ("-a", "--arg", "-A") for text in self.given.get(each, [])}
            return NOSPACE, [(f"{each.name}=", each.help) for each in found if each.name not in given]
        values = [text for each in found if each.name == key for text in each.values(is_raw=is_raw)]
        return PLAIN, [(f"{key}={text}", "") for text in values]


_KINDS = frozenset({"file", "prompt", "argument", "raw argument", "server", "rule", "rules", "text"})


def paths(typed: str) -> Candidates:
    """The files and folders that go on from what is typed; a folder ends in a slash."""
    folder, slash, base = typed.rpartition("/")
    where = os.path.expanduser(folder + slash) or "."  # noqa: PTH111
    try:
        with os.scandir(where) as entries:
            found = [entry for entry in entries if entry.name.startswith(base) and (base or entry.name[0] != ".")]
    except OSError:
        return []
    names = [folder + slash + entry.name + ("/" if entry.is_dir() else "") for entry in found]
    return [(name, "") for name in sorted(names)]
