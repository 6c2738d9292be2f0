"""The dialects, and which of them a file is in."""

import itertools
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from kbp.dialects import claude, copilot, kb, skill
from kbp.dialects.base import Dialect
from kbp.document import Document
from kbp.text import Problem

DIALECTS = {dialect.name: dialect for dialect in (kb.DIALECT, claude.DIALECT, copilot.DIALECT, skill.DIALECT)}

# Whom a path and the keys are put to first, and whom the body is.
_BY_NAME_AND_KEYS = (skill.DIALECT, copilot.DIALECT, claude.DIALECT, kb.DIALECT)
_BY_BODY = (kb.DIALECT, copilot.DIALECT, claude.DIALECT)
_FALLBACK = kb.DIALECT

SKILL = "an Agent Skill"
_OTHER_KINDS = (
    (skill.FILE, SKILL),
    (re.compile(r".*\.agent\.md"), "an agent file"),
    (re.compile(r".*\.chatmode\.md"), "a chat mode"),
    (re.compile(r".*\.instructions\.md|copilot-instructions\.md"), "an instructions file"),
)
INSTRUCTION_KEYS = ("applyTo", "globs")
"""The keys that say that a file is instructions, unless its name or place says that it is a prompt."""


Signal = Literal["given", "path", "keys", "body", "none"]


@dataclass(frozen=True, slots=True)
class Detection:
    """Which dialect a file is in, and why.

    `dialect` is None for what is no prompt, and where a refused file left it open. `signal` is the kind of
    signal that decided, strongest first.
    """

    dialect: Dialect | None
    why: str
    problem: Problem | None = None
    is_prompt: bool = True
    signal: Signal = "none"


def dialect_called(word: str) -> Dialect | None:
    """The dialect of that name (`mcp-kb` is kb). None for `auto`.

    Raises:
        KeyError: there is no such dialect.
    """
    if word == "auto":
        return None
    return next((dialect for dialect in DIALECTS.values() if word in dialect.aliases), None) or DIALECTS[word]


def names() -> tuple[str, ...]:
    """Every word that `dialect_called` takes."""
    return ("auto", *(word for dialect in DIALECTS.values() for word in (dialect.name, *dialect.aliases)))


def other_kind(path: PurePosixPath) -> str | None:
    """What a file is that its name (or an `agents` or `.claude/rules` folder) says is no prompt; None for a prompt."""
    for pattern, kind in _OTHER_KINDS:
        if pattern.fullmatch(path.name):
            return kind
    if path.suffix != ".md" or path.name.endswith(copilot.SUFFIX):
        return None
    folders = path.parts[:-1]
    if any(pair == (".claude", "rules") for pair in itertools.pairwise(folders)):
        return "a Claude Code rule"
    innermost = next((folder for folder in reversed(folders) if folder in ("agents", "commands", "prompts")), None)
    return "an agent file" if innermost == "agents" else None


def detect(
    document: Document,
    path: PurePosixPath,
    *,
    given: Dialect | None = None,
    outright: bool = False,
    declared: bool = False,
    skills: bool = False,
) -> Detection:
    """Which dialect the document at `path` (relative to its root) is in: the strongest signal decides.

    Args:
        document: the file as read; when its frontmatter could not be, only names and paths can speak.
        path: where it lies below its root.
        given: the dialect that configuration or the command line says.
        outright: whether `given` was said of this very file, which then is a prompt whatever it is called.
        declared: whether a plugin manifest or a marketplace declares it a command.
        skills: whether an Agent Skill is a prompt too.
    """
    kind = other_kind(path)
    if kind and not (given and outright) and not (kind == SKILL and skills):
        return Detection(None, kind, is_prompt=False)
    if given:
        return Detection(given, "the dialect was given", signal="given")
    for dialect in _BY_NAME_AND_KEYS:
        why = dialect.owns_path(path, declared)
        if why:
            return Detection(dialect, why, signal="path")
    if document.problems:
        return Detection(None, "it could not be read")
    return _by_content(document)


def _by_content(document: Document) -> Detection:
    instructions = next((key for key in document.frontmatter if key in INSTRUCTION_KEYS), None)
    if instructions:
        return Detection(None, f"an instructions file (key {instructions})", is_prompt=False)
    for dialect in _BY_NAME_AND_KEYS:
        why = dialect.owns_frontmatter(document)
        if why:
            return Detection(dialect, why, signal="keys")
    mixed = _mixed_arguments(document)
    if mixed:
        return Detection(None, "arguments are names and objects", mixed)
    for dialect in _BY_BODY:
        why = dialect.owns_body(document)
        if why:
            return Detection(dialect, why, signal="body")
    return Detection(_FALLBACK, "nothing says otherwise")


def _mixed_arguments(document: Document) -> Problem | None:
    entry = document.frontmatter.get("arguments")
    kinds = {item.mapping is not None for item in (entry.value.items if entry else None) or ()}
    if entry is None or len(kinds) < 2:
        return None
    message = "`arguments` mixes names (Claude Code) and objects (kb)"
    return Problem(
        "arguments-shape", entry.key_span, message, "write all of them as names, or all as objects with a `name`"
    )
