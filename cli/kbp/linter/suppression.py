"""`# kbp: ignore[rule, rule]` in a frontmatter: what a file asks lint not to say of it."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from kbp.diagnostics import Diagnostic
from kbp.document import Document
from kbp.files import PromptFile
from kbp.text import LINE_END, Span, Spans

_COMMENT = re.compile(
    r"(?:(?<=[ \t])|(?<=[\r\n])|^)#[ \t]*(?P<asked>kbp:[ \t]*ignore(?![\w-])(?:\[(?P<names>[^\]\r\n]*)\])?)"
    r"(?P<more>[^\r\n]*)",
    re.MULTILINE,
)
_NAME = re.compile(r"[^\s,]+")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One rule that a comment names.

    Attributes:
        rule: its name as written; empty when the comment names none.
        span: where the name stands; the whole comment when it names none.
        lines: the first and last line it holds for, None for the whole file.
        removal: what to take out of the file to be rid of it.
    """

    rule: str
    span: Span
    lines: tuple[int, int] | None
    removal: Span

    def hides(self, diagnostic: Diagnostic) -> bool:
        """Whether the diagnostic is not to be said."""
        if diagnostic.rule != self.rule:
            return False
        return self.lines is None or self.lines[0] <= diagnostic.start.line <= self.lines[1]


def suppressions(file: PromptFile) -> Iterator[Suppression]:
    """The suppressions in the frontmatter of a file, in order. Text that belongs to a value is no comment."""
    document = file.document
    if document.block is None or "kbp:" not in document.text[document.block.start : document.block.end]:
        return
    texts = Spans(_texts(document))
    keys = _Keys(document)
    for match in _COMMENT.finditer(document.text, document.block.start, document.block.end):
        if texts.holds(match.start()):
            continue
        lines = keys.lines_of(match.start())
        names = list(_NAME.finditer(document.text, *match.span("names"))) if match["names"] else []
        for at, name in enumerate(names):
            if len(names) == 1:
                removal = _whole(match, document.text)
            elif at:
                removal = Span(names[at - 1].end(), name.end())
            else:
                removal = Span(name.start(), names[1].start())
            yield Suppression(name[0], Span(name.start(), name.end()), lines, removal)
        if not names:
            yield Suppression("", Span(match.start(), match.end()), lines, _whole(match, document.text))


def _texts(document: Document) -> list[Span]:
    """Where the block holds text in which a `#` starts no comment: scalars, at any depth."""
    if document.root is None:
        return []
    spans: list[Span] = []
    pending: list[yaml.Node] = [document.root.node]
    seen = set(map(id, pending))
    while pending:
        node = pending.pop()
        if isinstance(node, yaml.ScalarNode):
            shift = document.root.block.shift
            spans.append(Span(node.start_mark.index + shift, node.end_mark.index + shift))
            continue
        for each in node.value:
            children = each if isinstance(each, tuple) else (each,)
            pending += [child for child in children if id(child) not in seen]
            seen.update(map(id, children))
    return sorted(spans)


class _Keys:
    """The lines that each key of the frontmatter takes."""

    def __init__(self, document: Document) -> None:
        self._document = document
        lines = document.lines
        self._lines = sorted(
            (first, max(first, lines.position(max(entry.value.span.end - 1, 0)).line))
            for entry in (document.root.entries if document.root else None) or ()
            if (first := lines.position(entry.key_span.start).line)
        )

    def lines_of(self, offset: int) -> tuple[int, int] | None:
        """The lines of the key on whose line a comment stands; None when it has a line of its own."""
        lines = self._document.lines
        number = lines.position(offset).line
        if not self._document.text[lines.span(number).start : offset].strip():
            return None
        at = bisect_right(self._lines, (number, 0))
        if at < len(self._lines) and self._lines[at][0] == number:
            return self._lines[at]
        return number, number


def _whole(comment: re.Match[str], text: str) -> Span:
    """The comment and the blanks before it, or the line that it has alone; what else it says stays."""
    more = comment["more"]
    if more.strip():
        return Span(comment.start("asked"), comment.end() - len(more.lstrip()))
    start = len(text[: comment.start()].rstrip(" \t"))
    following = LINE_END.match(text, comment.end())
    is_alone = text[start - 1] in "\r\n" and following is not None
    return Span(start, following.end() if is_alone and following else comment.end())
