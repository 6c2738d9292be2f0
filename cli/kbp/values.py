"""The values of a prompt's arguments as a person gives them: on the command line, from files, from stdin."""

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kbp import words
from kbp.characters import BOM, WHITE
from kbp.display import counted, said_of
from kbp.model import Argument

STDIN = "-"
MAX_VALUE, MAX_MAP = 64 * 1024 * 1024, 16 * 1024 * 1024
"""How many bytes a value from a file or stdin may have, and a map of values."""
_MAX_SUGGESTIONS = 20
_MAX_TOLD = 10
_AS_IS = " (-A takes a value as it is)"
_WORD, _WORDS = "a word", "words"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person typed for an argument, and the value that they mean by it; both empty: they left it out."""

    typed: str
    value: str


def answer_of(typed: str) -> Answer:
    """What a person means by what they type: `@path` is a file's text, `@@…` a text that starts with `@`.

    Raises:
        ValueError: the file cannot be read, or the text is not UTF-8.
    """
    typed = typed.removesuffix("\n")  # as lines that are pasted end, and as it is with a file
    if not typed.startswith("@") or typed.startswith("@@"):
        if not is_unicode(typed):
            raise ValueError("the value is not UTF-8")
        return Answer(typed, typed.removeprefix("@"))
    path = os.path.expanduser(typed[1:])  # noqa: PTH111 (`~` alone, no user lookup error)
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise ValueError(f"'{typed[1:]}' is no file")  # a pipe could keep the question waiting for ever
        return Answer(typed, text_of(path, MAX_VALUE))
    except (OSError, ValueError) as error:
        no_file = f"there is no file '{typed[1:]}'"
        said = said_of(error) if isinstance(error, OSError) else str(error)
        said = no_file if isinstance(error, FileNotFoundError) else said
        raise ValueError(f"{said} (@@… is a text)") from None


def literal(value: str) -> str:
    """What a person types to mean a value that somebody else offers: no file is read for one that starts with `@`."""
    return f"@{value}" if value.startswith("@") else value


def text_of(path: str, limit: int) -> str:
    """The text of a file of at most `limit` bytes, without its byte order mark and its last line end.

    Raises:
        OSError: it cannot be read.
        ValueError: it is longer, or not UTF-8.
    """
    with Path(path).open("rb") as file:
        return _value_of(file.read(limit + 1), limit)


def _value_of(data: bytes, limit: int) -> str:
    """The text in bytes, as `text_of` has it; of a map of values with its last line end."""
    if len(data) > limit:
        raise ValueError(f"more than {limit // 1024 // 1024} MiB: not read")
    try:
        text = data.decode().removeprefix(BOM)
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: the byte 0x{data[error.start]:02x} at offset {error.start}") from None
    return text if limit == MAX_MAP else text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


def is_unicode(text: str) -> bool:
    """Whether the text can be sent. Bytes of a command line that are not UTF-8 arrive as lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass
class Values:
    """The values given so far and everything that is wrong with them.

    Args:
        arguments: what the prompt takes.
        free_text: which of them is the free text, if one is.
        read_stdin: gives the bytes of stdin, as many as it is told at most; called once at most, and only when a value
            is `-`.
        faults: what was found wrong before.
        stdin_used_by: what has read stdin already.
        allow_unknown: whether there may be values for arguments that are not declared.

    `given` has what was given, `attempted` the names of values that were faulty too.
    """

    arguments: Sequence[Argument]
    free_text: str | None
    read_stdin: Callable[[int], bytes]
    faults: list[str] = field(default_factory=list)
    stdin_used_by: str | None = None
    allow_unknown: bool = False
    given: dict[str, str] = field(default_factory=dict)
    attempted: set[str] = field(default_factory=set)
    _known: frozenset[str] = frozenset()
    _unknown: int = 0
    _sources: dict[str, str] = field(default_factory=dict)
    _accepted: list[tuple[str | None, list[str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._known = frozenset(argument.name for argument in self.arguments)

    def assign(self, texts: Iterable[str], option: str = "-a", *, as_is: bool = False) -> None:
        """Take `name=value` texts. `@file` and `-` stand for what is in a file or comes from stdin, unless `as_is`."""
        option = "-A" if as_is else option
        for text in texts:
            name, equals, value = text.partition("=")
            label = f"{option} {text}"
            if not equals or not name:
                self._fail(name, f"{label}: write it as {option} NAME=VALUE")
                continue
            read = value if as_is else self._value(value, label)
            is_text = read is not None and self._is_utf8(name, read)
            if not is_text:
                self.attempted.add(name)
            if self._is_known(name, label) and read is not None and is_text:
                self._give(name, read, option)
                self._accepted.append((name, [option, text]))

    def answer(self, name: str, answer: Answer) -> None:
        """Take what a person answered for an argument that has no value, or an empty one."""
        if not answer.typed:
            return
        self._sources[name] = "an answer"
        self.given[name] = answer.value
        as_is = answer.typed.startswith("@@") or answer.typed == STDIN
        typed = ["-A", f"{name}={answer.value}"] if as_is else ["-a", f"{name}={answer.typed}"]
        self._accepted = [each for each in self._accepted if each[0] != name]
        self._accepted.append((name, typed))

    def fail(self, fault: str) -> None:
        """Note a fault of values whose names are not known: none of them is missing then."""
        self.attempted.update(argument.name for argument in self.arguments)
        self.faults.append(fault)

    def _fail(self, name: str, fault: str) -> None:
        """Note a fault of the value for that name, which is not missing then."""
        self.attempted.add(name)
        self.faults.append(fault)

    def take_words(self, typed: Sequence[str]) -> None:
        """Take words as typed after a slash command: one an argument in order, all of them as the free text.

        The only argument takes them joined. A last word `-` is stdin, for the only argument or the free text.
        """
        texts = list(typed)
        if texts and texts[-1] == STDIN:
            if self.free_text is None and len(self.arguments) != 1:
                self.fail("the word -: name the argument that takes stdin, as in -a NAME=-")
                return
            read = self._stdin("the word -")
            if read is None:
                return
            texts[-1] = read
        if self._place(texts):
            self._accepted.append((_WORDS, list(typed)))

    def take_line(self, line: str) -> None:
        """Take the text typed after a slash command: as the free text, and split into words for the other arguments."""
        self._accepted.append((None, ["--line", line]))
        if self.free_text is None:
            self._place(words.split(line))
        elif line.strip(WHITE) and self._is_utf8("--line", line):
            self._give(self.free_text, line.strip(WHITE), "--line")
            self._fill_names(words.split(line), "--line")

    def _place(self, texts: list[str]) -> bool:
        """Put each word where it belongs, and say whether all have a place."""
        if not texts or not all(self._is_utf8(_WORD, text) for text in texts):
            return False
        if self.free_text is not None:
            self._give(self.free_text, words.join(texts), _WORD)
            self._fill_names(texts, _WORD)
        elif len(self.arguments) == 1:
            self._give(self.arguments[0].name, " ".join(texts), _WORD)
        elif len(texts) > len(self.arguments):
            words_for = (
                f"{counted(len(texts), 'word')} for {counted(len(self.arguments), 'argument')} ({self._takes()})"
            )
            none = f"the prompt takes no arguments, and {counted(len(texts), 'word')} is given"
            self.fail(f"{words_for}: quote words that belong together" if self.arguments else none)
            return False
        else:
            self._fill_names(texts, _WORD)
        return True

    def _fill_names(self, texts: Sequence[str], source: str) -> None:
        names = [argument.name for argument in self.arguments if argument.name != self.free_text]
        for name, text in zip(names, texts, strict=False):
            self._give(name, text, source)

    def read_map(self, path: str) -> None:
        """Take a map of values from a JSON or YAML file, JSON from stdin for `-`. What is given already stays."""
        from kbp import maps  # which reads YAML, and hardly any run needs it

        label = f"--args {path}"
        before = len(self.faults)
        text = self._stdin(label, MAX_MAP) if path == STDIN else self._file(path, label, MAX_MAP)
        is_json = path == STDIN or path.lower().endswith(".json")
        read = maps.from_json if is_json else maps.from_yaml
        found = read(text, label, self.faults) if text is not None else []
        if len(self.faults) > before:
            self.attempted.update(argument.name for argument in self.arguments)
        for name, value in found:
            is_text = value is None or self._is_utf8(f"{label}: {name}", value)
            if (
                self._is_known(name, label)
                and value is not None
                and is_text
                and self._sources.get(name, "--args").startswith("--args")
            ):
                self._give(name, value, label)
        self._accepted.append((None, ["--args", path]))

    def accepted(self, *, but: Collection[str] = ()) -> list[str]:
        """The words and options that gave values, as they were typed, those of some names left out.

        Where a word gave one of those, the others are given by their names: without it they would move up.
        """
        are_moved = any(self._sources.get(name) == _WORD for name in but)
        left_out = {*but, _WORDS} if are_moved else but
        tokens = [token for name, typed in self._accepted if name not in left_out for token in typed]
        for name, value in self.given.items() if are_moved else ():
            if self._sources[name] == _WORD and name not in but:
                tokens += ["-A", f"{name}={value}"]
        return tokens

    def _give(self, name: str, value: str, source: str) -> None:
        if name in self._sources:
            first = self._sources[name]
            how = f"twice by {source}" if first == source else f"by {first} and by {source}"
            self.faults.append(f"{name} is given {how}: give it once")
            return
        self._sources[name] = source
        self.given[name] = value

    def _is_utf8(self, label: str, text: str) -> bool:
        if not is_unicode(text):
            self.faults.append(f"{label}: the value is not UTF-8")
            return False
        return True

    def _is_known(self, name: str, label: str) -> bool:
        if name in self._known or self.allow_unknown:
            return True
        self._unknown += 1
        hint = f"; {self._hint(name)}" if self._unknown <= _MAX_SUGGESTIONS else ""
        self.faults.append(f"{label}: the prompt has no argument {name}{hint}")
        return False

    def _hint(self, name: str) -> str:
        """The argument that was meant, or those there are. Looking for the nearest takes its time among thousands."""
        import difflib

        known = [argument.name for argument in self.arguments]
        near = difflib.get_close_matches(name, known[:1000], n=1)
        if near:
            return f"did you mean {near[0]}?"
        return f"it takes {self._takes()}" if known else "it takes no arguments"

    def _takes(self) -> str:
        """The names of the arguments, of many the first."""
        told = ", ".join(argument.name for argument in self.arguments[:_MAX_TOLD]) or "none"
        more = len(self.arguments) - _MAX_TOLD
        return f"{told} and {more} more" if more > 0 else told

    def _value(self, value: str, label: str) -> str | None:
        if value == STDIN:
            return self._stdin(label)
        if value.startswith("@"):
            return self._file(value[1:], label)
        return value

    def _stdin(self, label: str, limit: int = MAX_VALUE) -> str | None:
        if self.stdin_used_by is not None:
            self.faults.append(f"{label}: stdin can be read once, and {self.stdin_used_by} reads it")
            return None
        self.stdin_used_by = label
        try:
            return _value_of(self.read_stdin(limit + 1), limit)
        except ValueError as error:
            self.faults.append(f"{label}: {error}")
        return None

    def _file(self, path: str, label: str, limit: int = MAX_VALUE) -> str | None:
        try:
            return text_of(os.path.expanduser(path), limit)  # noqa: PTH111
        except FileNotFoundError:
            hint = _AS_IS if limit == MAX_VALUE else ""
            hint = " (stdin is - alone)" if path == STDIN else hint
            self.faults.append(f"{label}: there is no file '{path}'{hint}")
        except (OSError, ValueError) as error:
            self.faults.append(f"{label}: {said_of(error) if isinstance(error, OSError) else error}")
        return None
