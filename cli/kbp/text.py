"""Places in a text: spans, lines and columns, and a fault at a place."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from kbp.characters import BOM, WHITE

LINE_END = re.compile(r"\r\n|\r|\n")
_WHITE_RUN = re.compile(f"[{WHITE}]+")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of characters in the text of a file, line ends and byte order mark counted as they are."""

    start: int
    end: int


class Spans:
    """Ranges of one text, in order, none of which overlap."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = list(spans)
        self._starts = [span.start for span in self._spans]

    def holds(self, offset: int) -> bool:
        """Whether the character at `offset` stands in one of them."""
        at = bisect_right(self._starts, offset) - 1
        return at >= 0 and offset < self._spans[at].end


@dataclass(frozen=True, slots=True)
class Position:
    """A line and a column, both counted from 1 in characters. A byte order mark has no column."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Edit:
    """A span of a file and the text that takes its place."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """What repairs a fault: edits in file order that do not overlap.

    A safe one repairs without changing what a correct reader already saw.
    """

    edits: tuple[Edit, ...]
    is_safe: bool = True


def replacement(span: Span, text: str, *, is_safe: bool = True) -> Fix:
    """The fix that puts one text in the place of another."""
    return Fix((Edit(span, text),), is_safe)


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault that reading or parsing met: the rule that names it, where it stands, why, the way out, and the fix."""

    rule: str
    span: Span
    message: str
    help: str | None = None
    fix: Fix | None = None


@dataclass(frozen=True)
class Lines:
    """The lines of a text. They end at LF, CRLF or a lone CR and nothing else."""

    text: str

    @cached_property
    def _starts(self) -> "array[int]":
        starts = array("Q", [1 if self.text.startswith(BOM) else 0])
        starts.extend(end.end() for end in LINE_END.finditer(self.text))
        return starts

    def position(self, offset: int) -> Position:
        """Where the character at `offset` stands."""
        line = max(bisect_right(self._starts, offset) - 1, 0)
        return Position(line + 1, max(offset - self._starts[line], 0) + 1)

    def line(self, number: int) -> str:
        """Line `number`, counted from 1, without its end."""
        span = self.span(number)
        return self.text[span.start : span.end]

    def span(self, number: int) -> Span:
        """The characters of line `number`, its end left out."""
        start = self._starts[number - 1]
        if number == len(self._starts):
            return Span(start, len(self.text))
        end = self._starts[number] - 1
        return Span(start, end - 1 if self.text[end] == "\n" and self.text[end - 1 : end] == "\r" else end)

    def __len__(self) -> int:
        return len(self._starts)


def with_unix_line_ends(text: str) -> str:
    """The text with every CRLF and lone CR as LF."""
    return LINE_END.sub("\n", text) if "\r" in text else text


def squeeze(text: str) -> str:
    """The text on one line: each run of white space is one blank, the ends are trimmed."""
    return " ".join(split_white(text))


def split_white(text: str) -> list[str]:
    """The pieces of the text between blanks, tabs, line ends and form feeds. A no-break space is no blank."""
    return [piece for piece in _WHITE_RUN.split(text) if piece]
