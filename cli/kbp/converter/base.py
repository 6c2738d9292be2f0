"""What a conversion works with: the file, its meaning in words of no dialect, what is lost, how things are spelt."""

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Literal

from kbp.dialects.base import Dialect
from kbp.document import Document
from kbp.files import PromptFile
from kbp.frontmatter import quoted
from kbp.model import Argument, Template
from kbp.text import LINE_END, Problem, Span

LossKind = Literal["lost", "approximated", "gained"]
NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Loss:
    """What a converted file says otherwise than its source.

    Attributes:
        kind: whether it is gone, only nearly there, or new.
        what: the key, or the part of the meaning.
        span: where the source says it.
        where: what has become of it.
    """

    kind: LossKind
    what: str
    span: Span
    where: str


@dataclass(frozen=True, slots=True)
class Note:
    """What a person should know of a converted file although its meaning is the same, and where the source says it."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Converted:
    """The text of a converted file, None when it cannot be written; what it lost; why it cannot be written; notes."""

    text: str | None
    losses: tuple[Loss, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(slots=True)
class Pivot:
    """What a file means, in words that belong to no dialect.

    Attributes:
        description: what the prompt does.
        hint: what describes the free text.
        has_free_text: whether the free text is published.
        arguments: the declared ones, by the names that they have in the target.
        renamed: the name in the target of each name of the source.
        is_placed: whether the body shows the free text.
    """

    description: str | None
    hint: str | None
    has_free_text: bool
    arguments: dict[str, Argument] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    is_placed: bool = False


@dataclass
class Job:
    """One file on its way into another dialect: what was found so far, and what stands against it.

    Attributes:
        file: what is converted.
        template: what it means.
        source: its dialect.
        target: the dialect that it is converted to.
        name: what the target is called.
        inline_defaults: whether defaults are written for a person to read where the target has none.
        pivot: its meaning in words of no dialect.
        inlined: the arguments whose default is so written.
        losses: what the target says otherwise.
        problems: why it cannot be written.
        notes: what a person should know besides.
    """

    file: PromptFile
    template: Template
    source: Dialect
    target: Dialect
    name: str
    inline_defaults: bool
    pivot: Pivot
    inlined: set[str] = field(default_factory=set)
    losses: dict[Loss, None] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notes: dict[str, Note] = field(default_factory=dict)

    @property
    def document(self) -> Document:
        """The source as read."""
        return self.file.document

    @property
    def newline(self) -> str:
        """The line end of the source."""
        end = LINE_END.search(self.document.text)
        return end[0] if end else "\n"

    @property
    def is_within_family(self) -> bool:
        """Whether both dialects have Claude's spelling and keys."""
        return {"positions"} <= self.source.expresses & self.target.expresses

    @property
    def asks_for_inputs(self) -> bool:
        """Whether the target has its arguments in the body."""
        return "inputs" in self.target.expresses

    @property
    def has_typed_text(self) -> bool:
        """Whether the target has a placeholder for what is typed after a command."""
        return "positions" in self.target.expresses

    @property
    def has_own_folder(self) -> bool:
        """Whether the target is called like its folder."""
        return "own folder" in self.target.expresses

    def lose(self, kind: LossKind, what: str, span: Span, where: str) -> None:
        """Note a loss, each once."""
        self.losses.setdefault(Loss(kind, what, span, where))

    def note(self, span: Span, text: str) -> None:
        """Note what a person should know, each once."""
        self.notes.setdefault(text, Note(span, text))

    def refuse(self, span: Span, message: str, help: str) -> None:
        """Note why the file cannot be written."""
        self.problems.append(Problem("not-convertible", span, message, help))


def spellable(name: str) -> str:
    """The nearest name that every dialect can spell; empty when nothing is left of it."""
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    bare = re.sub(r"[^A-Za-z0-9_]+", "_", ascii_only).strip("_")
    return f"_{bare}" if bare[:1].isdigit() else bare


def skill_name(stem: str) -> str:
    """The name of the skill that a prompt of that name becomes; empty when nothing is left of it."""
    return re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:64].strip("-")


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_RESERVED = re.compile(r"(?i)y|yes|n|no|on|off|true|false|null")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff]")


def scalar(text: str) -> str:
    """The text as a YAML scalar on one line."""
    if _PLAIN.fullmatch(text) and not _RESERVED.fullmatch(text):
        return text
    if not _CONTROLS.search(text):
        return quoted(text)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'
