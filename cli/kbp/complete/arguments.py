"""The arguments of the prompt that a command line names, with values that are at hand."""

from __future__ import annotations

import os

from kbp import shelf

TYPE_CHECKING = False  # as type checkers know it

if TYPE_CHECKING:
    from kbp.complete.engine import Line

KIND, VALUES = "arguments", "values"


class Known:
    """An argument: its name, what is said of it, and values: its default, and what was typed for it before."""

    def __init__(self, name: str, help: str, values: list[str]) -> None:
        self.name = name
        self.help = help
        self.values = values


def of(line: Line, word: str) -> list[Known] | None:
    """The arguments of the prompt that a word of a line names; None when it names none."""
    from kbp.complete import servers

    server = line.last("--server", "--server-cmd")
    prefix, colon, rest = word.partition(":")
    if server is None and colon and prefix in servers.names():
        server, word = prefix, rest
    if server is not None:
        return [Known(row[0], row[1], []) for row in servers.arguments(server, word)]
    from kbp.complete.prompts import Prompts

    path = Prompts(line).path_of(word)
    return _of_file(os.path.abspath(path), line) if path is not None else None  # noqa: PTH100


def _of_file(path: str, line: Line) -> list[Known]:
    earlier: dict[str, list[str]] = {}
    for row in shelf.read(VALUES, f"file {path}") or []:
        earlier.setdefault(row[0], []).append(row[-1])
    known = []
    for name, help, default in _rows(path, line.last("--dialect") or "auto"):
        values = [default] if default else []
        known.append(Known(name, help, [*values, *(each for each in earlier.get(name, []) if each != default)]))
    return known


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
    return " ".join(part for part in ("(required)" if required else "", description or "") if part)
