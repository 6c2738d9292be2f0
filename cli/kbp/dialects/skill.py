"""Agent Skills that a person may invoke: Claude's spelling in a `SKILL.md`, whose folder gives the name."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from kbp.dialects.base import Dialect, Home, Parsed
from kbp.dialects.claude import DIALECT as CLAUDE
from kbp.document import Document
from kbp.model import Kind, Placeholder

FILE = re.compile(r"(?i)SKILL\.md")
"""The name of a skill's file, in any case."""
FOLDER_VARIABLE = "${CLAUDE_SKILL_DIR}"


def parse(document: Document) -> Parsed:
    """The template of a skill: that of a command in which `${CLAUDE_SKILL_DIR}` is the skill's own folder."""
    parsed = CLAUDE.parse(document)
    if parsed.template is None:
        return parsed
    body = tuple(map(_with_folder, parsed.template.body))
    return Parsed(replace(parsed.template, body=body), parsed.problems)


def _with_folder(part: str | Placeholder) -> str | Placeholder:
    if isinstance(part, Placeholder) and part.raw == FOLDER_VARIABLE:
        return replace(part, kind=Kind.SKILL_FOLDER)
    return part


def _owns_path(path: PurePosixPath, declared: bool) -> str | None:
    return "named SKILL.md" if FILE.fullmatch(path.name) else None


def _owns_nothing(document: Document) -> str | None:
    return None


def _nothing_foreign(document: Document) -> Iterator[Placeholder]:
    return iter(())


DIALECT = Dialect(
    name="skill",
    title="Agent Skills",
    home=Home(".claude/skills", "skills", "/SKILL.md", is_flat=True),
    keys=CLAUDE.keys,
    parse=parse,
    owns_path=_owns_path,
    owns_frontmatter=_owns_nothing,
    owns_body=_owns_nothing,
    foreign=_nothing_foreign,
    spell=CLAUDE.spell,
    expresses=CLAUDE.expresses | {"own folder"},
    client=CLAUDE.client,
)
