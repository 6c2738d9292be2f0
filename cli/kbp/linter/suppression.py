"""`# kbp: ignore[rule, rule]` in a frontmatter: what a file asks lint not to say of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kbp.diagnostics import Diagnostic
from kbp.files import PromptFile
from kbp.text import LINE_END, Span

_COMMENT = re.compile(
    r"(?:(?<=[ \t])|(?<=[\r\n])|^)#[ \t]*(?P<asked>kbp:[ \t]*ignore\[(?P<names>[^\]\r\n]*)\])(?P<more>[^\r\n]*)",
    re.MULTILINE,
)
_NAME = re.compile(r"[^\s,]+")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One rule that a comment names.

    Attributes:
        rule: its name as written.
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
    """The suppressions in the frontmatter of a file, in order. Text in quotes is no comment."""
    document = file.document
    if document.block is None or "kbp:" not in document.text[document.block.start : document.block.end]:
        return
    values = [entry.value.span for entry in (document.root.entries if document.root else None) or ()]
    for match in _COMMENT.finditer(document.text, document.block.start, document.block.end):
        if any(span.start <= match.start() < span.end and not _is_nested(file, span) for span in values):
            continue
        lines = _lines_of(file, match.start())
        names = list(_NAME.finditer(document.text, match.start("names"), match.end("names")))
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


def _whole(comment: re.Match[str], text: str) -> Span:
    """The comment and the blanks before it, or the line that it has alone; what else it says stays."""
    more = comment["more"]
    if more.strip():
        return Span(comment.start("asked"), comment.end() - len(more.lstrip()))
    start = len(text[: comment.start()].rstrip(" \t"))
    following = LINE_END.match(text, comment.end())
    is_alone = text[start - 1] in "\r\n" and following is not None
    return Span(start, following.end() if is_alone and following else comment.end())


def _is_nested(file: PromptFile, span: Span) -> bool:
    """Whether the value is a list or mapping over several lines, which may hold comments."""
    lines = file.document.lines
    text = file.document.text[span.start : span.end]
    return text[:1] not in "\"'|>" and lines.position(span.start).line != lines.position(span.end).line


def _lines_of(file: PromptFile, offset: int) -> tuple[int, int] | None:
    """The lines of the key on whose line a comment stands; None when it has a line of its own."""
    lines = file.document.lines
    number = lines.position(offset).line
    if not file.document.text[lines.span(number).start : offset].strip():
        return None
    for entry in (file.document.root.entries if file.document.root else None) or ():
        first = lines.position(entry.key_span.start).line
        if first == number:
            return first, max(first, lines.position(max(entry.value.span.end - 1, 0)).line)
    return number, number
