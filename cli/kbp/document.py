"""A prompt file as read: its text, the entries of its frontmatter, and where its body starts."""

import re
from dataclasses import dataclass, field
from functools import cached_property

import yaml

from kbp import faults, markdown
from kbp.characters import BOM, WHITE
from kbp.frontmatter import Entry, TooDeep, Value, block, check, compose
from kbp.text import LINE_END, Fix, Lines, Problem, Span, Spans, replacement, with_unix_line_ends

MAX_FILE = 16 * 1024 * 1024
MAX_FRONTMATTER = 1024 * 1024

_OPENING = re.compile(r"---[ \t]*(?:\r\n|\r|\n)")
_CLOSING = re.compile(r"[\r\n]---[ \t]*(?:\r\n|\r|\n|\Z)")
_KEY = re.compile(r"(?:[A-Za-z_][\w-]*|\"[^\"\r\n]*\"|'[^'\r\n]*')[ \t]*:(?=[ \t\r\n]|\Z)")
_BLANK_LINES = re.compile(r"(?:[ \t]*+(?:\r\n|\r|\n))*+")
_BELONGING = re.compile(rf"(?:(?:{_KEY.pattern}|[ \t#-]|(?=[\r\n]))[^\r\n]*+(?:\r\n|\r|\n|\Z))*+")
_WHITE = re.compile(f"[{WHITE}]*")


@dataclass(frozen=True)
class Document:
    """The text of one prompt file and the places in it. Spans count characters of `text`, which is kept as it was read.

    `block` is what stands between the dashes, None without frontmatter; `root` its mapping, None when it is empty or
    could not be read; `problems` says why it could not. `is_exact` says whether the text has all that the bytes had.
    """

    text: str
    block: Span | None = None
    root: Value | None = None
    body_start: int = 0
    problems: tuple[Problem, ...] = ()
    is_exact: bool = True
    lines: Lines = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lines", Lines(self.text))

    @cached_property
    def frontmatter(self) -> dict[str, Entry]:
        """The entries by key; of two equal keys the later one."""
        return (self.root.mapping if self.root else None) or {}

    @cached_property
    def code(self) -> Spans:
        """Where the body is code to Markdown."""
        return markdown.code(self.text, self.body_start)

    def is_comment(self, span: Span) -> bool:
        """Whether a line of the frontmatter that looks like a comment is one, and no part of a value."""
        return not any(value.start < span.end and span.start < value.end for value in self._scalars)

    @cached_property
    def _scalars(self) -> list[Span]:
        return [value.span for value in self.root.scalars] if self.root else []

    @property
    def body(self) -> str:
        """The body as it is served: every line end an LF, the white space before its first character gone."""
        return with_unix_line_ends(self.text[self.body_start :])


def read(data: bytes, *, max_file: int = MAX_FILE, max_frontmatter: int = MAX_FRONTMATTER) -> Document:
    """The document in the bytes of a file. Never raises on content: what is wrong stands in `problems`.

    Args:
        data: the whole file.
        max_file: how many bytes a file may have.
        max_frontmatter: how many characters its frontmatter may have.
    """
    if len(data) > max_file:
        return Document("", problems=(too_large(max_file),))
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return _undecodable(data, error)
    if "\0" in text:
        at = text.index("\0")
        message = "a NUL byte: this is not a text file"
        return Document(text, problems=(Problem("not-utf8", Span(at, at + 1), message, "save the file as UTF-8 text"),))
    return _split(text, max_frontmatter)


def too_large(limit: int) -> Problem:
    """The fault of a file of more than `limit` bytes."""
    return Problem(
        "too-large", Span(0, 0), f"more than {limit // 1024} KiB: not read", "a prompt file is text a person wrote"
    )


def _undecodable(data: bytes, error: UnicodeDecodeError) -> Document:
    text = data.decode(errors="replace")
    at = len(data[: error.start].decode())
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    message = (
        "not UTF-8: this is UTF-16" if wide else f"not UTF-8: the byte 0x{data[error.start]:02x} cannot stand here"
    )
    problem = Problem("not-utf8", Span(at, at + 1), message, "save the file as UTF-8")
    return Document(text, problems=(problem,), is_exact=False)


def _split(text: str, max_frontmatter: int) -> Document:
    start = 1 if text.startswith(BOM) else 0
    without = Document(text, body_start=_first_character(text, start))
    opening = _OPENING.match(text, start)
    if not opening:
        return without
    closing = _CLOSING.search(text, opening.end() - 1)
    if not closing:
        blank = _BLANK_LINES.match(text, opening.end())
        if not _KEY.match(text, blank.end() if blank else opening.end()):
            return without
        message = "the frontmatter is opened here and never closed"
        help = "close it with a line of three dashes, starting in column 1"
        fix = _closing(text, opening)
        return Document(text, problems=(Problem("unclosed-frontmatter", Span(start, start + 3), message, help, fix),))
    span = Span(opening.end(), max(closing.start() + 1, opening.end()))
    body_start = _first_character(text, closing.end())
    if span.end - span.start > max_frontmatter:
        message = f"a frontmatter of more than {max_frontmatter // 1024} KiB: not read"
        help = "the text of a prompt belongs below the closing dashes"
        return Document(
            text, span, body_start=body_start, problems=(Problem("too-large", Span(start, start + 3), message, help),)
        )
    return _with_entries(text, span, body_start)


def _closing(text: str, opening: re.Match[str]) -> Fix:
    """The fix that closes a block before its first line that is no key, comment, list item, blank or indented line."""
    block = _BELONGING.match(text, opening.end())
    at = block.end() if block else opening.end()
    end = LINE_END.search(opening[0])
    newline = end[0] if end else "\n"
    before = "" if text[at - 1] in "\r\n" else newline
    return replacement(Span(at, at), f"{before}---{newline}", is_safe=False)


def _first_character(text: str, start: int) -> int:
    white = _WHITE.match(text, start)
    return white.end() if white else start


def _with_entries(text: str, span: Span, body_start: int) -> Document:
    source = block(text[span.start : span.end], span.start)
    try:
        node = compose(source.text)
    except (yaml.YAMLError, TooDeep) as error:
        return Document(text, span, body_start=body_start, problems=faults.explain(source, error))
    if node is None:
        return Document(text, span, body_start=body_start)
    root = Value(node, source)
    problems = tuple(check(root))
    if root.entries is None and not problems:
        kind = "a list" if root.items is not None else "a single text"
        message = f"the frontmatter is {kind}, not keys with values"
        place = root.to_line_end()
        problems = (
            Problem("frontmatter-not-a-mapping", place, message, "write `key: value` lines, a blank after each colon"),
        )
    return Document(text, span, None if problems else root, body_start, problems)
