"""The difference between two texts of a file, as git and patch take it."""

import difflib
import os
from collections.abc import Iterator

from kbp.text import LINE_END

NO_FILE = "/dev/null"


def unified(path: str, before: str | None, after: str | None) -> str:
    """The unified diff of a file at a path, None where there is none; line ends stay as they are."""
    name = path.replace(os.sep, "/")
    names = f"a/{name}" if before is not None else NO_FILE, f"b/{name}" if after is not None else NO_FILE
    return "".join(_lines_of_diff(difflib.unified_diff(_lines(before or ""), _lines(after or ""), *names)))


def _lines_of_diff(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """The lines with their ends."""
    ends = [end.end() for end in LINE_END.finditer(text)]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True) if start < end]
