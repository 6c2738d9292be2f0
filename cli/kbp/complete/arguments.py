"""The arguments of the prompt that a command line names, with values that are at hand."""

from __future__ import annotations

import os

from kbp import shelf

TYPE_CHECKING = False  # as type checkers know it

if TYPE_CHECKING:
    from kbp.complete.engine import Line

KIND = "arguments"


class Known:
    """An argument: its name, what is said of it, its default, and what was typed for it before."""

    def __init__(self, name: str, help: str, default: str, earlier: list[str]) -> None:
        self.name = name
        self.help = help
        self._default = default
        self._earlier = earlier

    def values(self, *, is_raw: bool) -> list[str]:
        """The values on offer: for `-a`, where `@` and `-` mean something, else for `-A`."""
        found = [self._default] if self._default and (is_raw or not _means(self._default)) else []
        for typed in self._earlier:
            if not is_raw and typed != "-" and not typed.startswith("@@"):
                found.append(typed)
            elif is_raw and (not typed.startswith("@") or typed.startswith("@@")):
                found.append(typed.removeprefix("@"))
        return found


def _means(value: str) -> bool:
    """Whether a value behind `-a NAME=` stands for something else: a file, or stdin."""
    return value.startswith("@") or value == "-"


def of(line: Line, word: str) -> list[Known] | None:
    """The arguments of the prompt that a word of a line names; None when it names none."""
    from kbp.complete import servers

    server = line.last("--server", "--server-cmd")
    prefix, colon, rest = word.partition(":")
    if server is None and colon and prefix in servers.names():
        server, word = prefix, rest
    if server is not None:
        key, rows = servers.arguments(server, word)
        return _known(rows, shelf.of_server(key, word))
    from kbp.complete.prompts import Prompts

    path = Prompts(line).path_of(word)
    if path is None:
        return None
    path = os.path.abspath(path)  # noqa: PTH100
    return _known(_rows(path, line.last("--dialect") or "auto"), shelf.of_file(path))


def _known(rows: list[list[str]], prompt: str) -> list[Known]:
    earlier: dict[str, list[str]] = {}
    for row in shelf.read(shelf.VALUES, prompt) or []:
        earlier.setdefault(row[0], []).append(row[-1])
    return [Known(name, help, default, earlier.get(name, [])) for name, help, default in rows]


def _rows(path: str, dialect: str) -> list[list[str]]:
    """Name, help and default of each argument of a file: of the last reading of it, as long as it is the same file."""
    subject, stamp = f"{dialect} {path}", shelf.stamp_of(path)
    rows = shelf.read(KIND, subject, stamp)
    if rows is not None and all(len(row) == 3 for row in rows):
        return rows
    from pathlib import Path

    from kbp import dialects, files
    from kbp.search import Surroundings

    given = dialects.dialect_called(dialect) if dialect in dialects.names() else None
    file = files.load(Surroundings().place_of(Path(path)), files.Manner(given))
    found = file.template.arguments if file.template is not None else ()
    rows = [[each.name, _said(each.description, required=each.required), each.default or ""] for each in found]
    shelf.write(KIND, subject, rows, stamp)
    return rows


def _said(description: str | None, *, required: bool) -> str:
    """What is said of an argument."""
    return " ".join(part for part in ("(required)" if required else "", description or "") if part)
