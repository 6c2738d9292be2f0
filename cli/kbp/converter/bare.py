"""A file as it is converted: without the comments that kbp itself wrote, its frontmatter in lines of one key each."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml

from kbp.converter.base import Converted
from kbp.converter.keep import Kept, kept_in
from kbp.document import Document
from kbp.files import PromptFile, reread
from kbp.frontmatter import Value
from kbp.marks import line_of
from kbp.text import LINE_END, Problem, Span

_SIGNS = re.compile(r"[&*][^\s,\[\]{}]")


@dataclass(frozen=True, slots=True)
class Cut:
    """A change of a text: the span that was replaced, and how many characters stand there now."""

    span: Span
    length: int = 0

    def before(self, offset: int) -> int:
        """Where a character of the changed text was before."""
        if offset >= self.span.start + self.length:
            return offset + self.span.end - self.span.start - self.length
        return min(offset, self.span.start)


@dataclass(frozen=True, slots=True)
class Bare:
    """A file as it is converted.

    Attributes:
        file: the file to convert.
        whole: the file with all that a conversion back must give again.
        kept: the comment that was cut out of it.
        cuts: how its text came from that of the file on disk.
    """

    file: PromptFile
    whole: PromptFile
    kept: Kept | None
    cuts: Sequence[Cut]

    def placed(self, converted: Converted) -> Converted:
        """A conversion with its places where they are in the file on disk."""

        def span(each: Span) -> Span:
            start, end = each.start, each.end
            for cut in reversed(self.cuts):
                start, end = cut.before(start), cut.before(end)
            return Span(start, max(start, end))

        if not self.cuts:
            return converted
        return Converted(
            converted.text,
            tuple(replace(loss, span=span(loss.span)) for loss in converted.losses),
            tuple(replace(problem, span=span(problem.span), fix=None) for problem in converted.problems),
            tuple(replace(note, span=span(note.span)) for note in converted.notes),
        )


def bare_of(file: PromptFile) -> Bare:
    """The file without its mark and the comment that keeps what another dialect said."""
    cuts: list[Cut] = []
    whole = file
    if file.mark is not None:
        whole = _changed(file, line_of(file.document, file.mark.span, is_alone=True), "", cuts)
    bare = whole
    kept = kept_in(whole.document)
    if kept is not None:
        bare = _changed(bare, line_of(bare.document, kept.span, is_alone=kept.is_alone), "", cuts)
    if bare.document.block is not None and _is_odd(bare.document):
        bare = _changed(bare, bare.document.block, _plainly(bare.document), cuts)
    return Bare(bare, whole, kept, cuts)


def _changed(file: PromptFile, span: Span, text: str, cuts: list[Cut]) -> PromptFile:
    cuts.append(Cut(span, len(text)))
    before = file.document.text
    return reread(file, before[: span.start] + text + before[span.end :])


def _is_odd(document: Document) -> bool:
    """Whether keys of the frontmatter cannot be taken out line by line: it is in brackets, indented, or has anchors."""
    block, root = document.block, document.root
    if block is None or root is None:
        return False
    columns = {document.lines.position(entry.key_span.start).column for entry in root.entries or ()}
    if columns - {1}:
        return True
    written = document.text[block.start : block.end]
    if not _SIGNS.search(written):
        return False
    try:
        return any(isinstance(token, yaml.AnchorToken | yaml.AliasToken) for token in yaml.scan(written))
    except yaml.YAMLError:  # a character that kbp reads and the scanner does not
        return False


def _plainly(document: Document) -> str:
    """The frontmatter written anew, a line a key. Comments are lost."""
    content = {key: _plain(entry.value) for key, entry in document.frontmatter.items()}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=float("inf"))
    end = LINE_END.search(document.text)
    return text.replace("\n", end[0]) if end else text


def _plain(value: Value) -> Any:
    """A value as Python has it, its scalars as they are written."""
    if value.items is not None:
        return [_plain(item) for item in value.items]
    if value.mapping is not None:
        return {key: _plain(entry.value) for key, entry in value.mapping.items()}
    return value.text if value.boolean is None else value.boolean


def not_written(message: str, span: Span) -> Problem:
    """The fault of a file that no other text of the same meaning was found for."""
    return Problem("not-convertible", span, f"it cannot be written otherwise: {message}", "write it more plainly")
