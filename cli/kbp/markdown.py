"""Where a Markdown text is code."""

import re
from collections.abc import Iterator

from kbp.text import Span, Spans

_FENCE = re.compile(r"[ \t]*(?:[-*+>][ \t]+)*(`{3,}|~{3,})")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_INLINE = re.compile(r"`[^`\r\n]+`")


def code(text: str, start: int = 0) -> Spans:
    """The fenced blocks and inline code of a text. A fence that nothing closes goes on to the end."""
    return Spans(_code(text, start))


def _code(text: str, start: int) -> Iterator[Span]:
    fence: str | None = None
    opened = at = start
    while at < len(text):
        line = _LINE.match(text, at)
        end = line.end() if line else len(text)
        mark = _FENCE.match(text, at, end)
        if fence is None and mark:
            fence, opened = mark[1], at
        elif fence is not None and mark and mark[1].startswith(fence) and not text[mark.end() : end].strip():
            yield Span(opened, end)
            fence = None
        elif fence is None:
            yield from (Span(*inline.span()) for inline in _INLINE.finditer(text, at, end))
        at = end
    if fence is not None:
        yield Span(opened, len(text))
