"""Suppressions written into files for all that is found in them now."""

from collections.abc import Iterable

from kbp.diagnostics import Diagnostic
from kbp.files import PromptFile
from kbp.linter.rules import RULES
from kbp.text import LINE_END, Edit, Span


def suppressing(file: PromptFile, diagnostics: Iterable[Diagnostic]) -> Edit | None:
    """The edit that adds a comment which hides the findings; None without a frontmatter, where none can stand."""
    block, text = file.document.block, file.document.text
    names = sorted({each.rule for each in diagnostics if not RULES[each.rule].check_unused})  # those are of comments
    if block is None or not names:
        return None
    first = LINE_END.search(text)
    return Edit(Span(block.start, block.start), f"# kbp: ignore[{', '.join(names)}]{first[0] if first else ''}")
