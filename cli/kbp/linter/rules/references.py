"""Rules about the files that a prompt points at."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from kbp.diagnostics import Finding, Severity
from kbp.files import PromptFile
from kbp.linter.rules.base import rule
from kbp.text import Span

_LINK = re.compile(r"\]\((?P<target>[^()\s<>]{1,1000})\)")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[#/~]|//")
_FILLED_IN = ("{", "$", "<", "*")


@rule(Severity.WARNING, is_default=False)
def missing_file(file: PromptFile) -> Iterator[Finding]:
    """A file that a prompt points at should be there.

    `#file:` and the links of Markdown are relative to the prompt file, `@path` to the root of the project. What stands
    in code, addresses, people (`@octo`) and packages (`@scope/name`) are left alone.

    Bad `.github/prompts/check.prompt.md`:

        ---
        description: Check our rules
        ---
        Check against #file:rules-of-ours.md now.

    Good `.github/prompts/check.prompt.md`:

        ---
        description: Check our rules
        ---
        Check against #file:check.prompt.md now.
    """
    document = file.document
    if not {"@", "#", "]"} & set(document.text[document.body_start :]):
        return
    for span, target, base in _references(file):
        if not document.code.holds(span.start) and not _is_there(base, target):
            written = document.text[span.start : span.end]
            yield Finding(span, f"`{written}` leads nowhere", "correct the path, or add the file")


def _references(file: PromptFile) -> Iterator[tuple[Span, str, Path]]:
    """What points at a file: where it stands, the path, and the folder that it is relative to."""
    document, beside = file.document, file.place.path.parent
    for placeholder in file.template.placeholders if file.template else ():
        raw = placeholder.raw
        if raw.startswith("#file:"):
            yield placeholder.span, raw.removeprefix("#file:").rstrip(".,;:!?)"), beside
        elif raw.startswith("@") and "." in raw.rpartition("/")[2]:
            yield placeholder.span, raw[1:], file.place.root
    for match in _LINK.finditer(document.text, document.body_start):
        target = match["target"].partition("#")[0]
        if target and not _ADDRESS.match(target) and not any(sign in target for sign in _FILLED_IN):
            yield Span(*match.span("target")), target, beside


def _is_there(base: Path, target: str) -> bool:
    return os.path.exists(os.path.join(base, target))  # noqa: PTH118 (a target may be absolute)
