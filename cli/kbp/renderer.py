"""A template and values become the messages of a prompt."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from kbp import words
from kbp.model import Argument, Kind, Message, Placeholder, Template
from kbp.text import Problem

# A default of a mebibyte in a body of a million placeholders would fill any memory.
MAX_FILLED = 256 * 1024 * 1024

Origin = Literal["text", "given", "default", "not given", "appended", "plugin root", "unescaped", "as written"]


class MissingArguments(ValueError):
    """Required arguments without a value; `arguments` has all of them in file order."""

    def __init__(self, arguments: tuple[Argument, ...]) -> None:
        super().__init__("missing required arguments: " + ", ".join(argument.name for argument in arguments))
        self.arguments = arguments


class UnknownArguments(ValueError):
    """Values for arguments that the prompt does not have; `names` has all of them."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__("unknown arguments: " + ", ".join(names))
        self.names = names


class TooLarge(ValueError):
    """The filled body would have more characters than a prompt may have."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the filled body has more than {limit // 1024 // 1024} million characters")


class Refused(ValueError):
    """A file that does not become a prompt; `problems` says why, and is empty where it is no prompt file at all."""

    def __init__(self, path: str, problems: tuple[Problem, ...]) -> None:
        reasons = "; ".join(f"{problem.rule}: {problem.message}" for problem in problems) or "no prompt file"
        super().__init__(f"{path}: {reasons}")
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a filled body: its text, where that came from, and the placeholder it fills."""

    text: str
    origin: Origin
    placeholder: Placeholder | None = None


def fill(
    template: Template,
    values: Mapping[str, str | None],
    library: str | None = None,
    folder: str = "",
    *,
    limit: int | None = None,
) -> tuple[Piece, ...]:
    """The body filled, piece by piece. An empty or None value counts as not given, an unknown name is ignored.

    Args:
        template: what to fill.
        values: a text for each argument name.
        library: the library it is served under, for `${CLAUDE_PLUGIN_ROOT}`.
        folder: the folder of a skill below its root, for `${CLAUDE_SKILL_DIR}`.
        limit: how many characters the filled body may have; MAX_FILLED if it is not said.

    Raises:
        MissingArguments: a required argument has no value.
        TooLarge: the filled body has more.
    """
    given = {argument.name: value for argument in template.arguments if (value := values.get(argument.name))}
    missing = tuple(argument for argument in template.arguments if argument.required and argument.name not in given)
    if missing:
        raise MissingArguments(missing)
    return _Filling(template, given, library, folder).pieces(limit or MAX_FILLED)


def render(
    template: Template, values: Mapping[str, str | None], library: str | None = None, folder: str = ""
) -> tuple[Message, ...]:
    """The messages of the prompt: one of the user's, one text. Arguments and errors are those of `fill`."""
    return messages(fill(template, values, library, folder))


def messages(pieces: Iterable[Piece]) -> tuple[Message, ...]:
    """The messages that a filled body is: one of the user's, one text."""
    return (Message("user", {"type": "text", "text": "".join(piece.text for piece in pieces)}),)


class _Filling:
    def __init__(self, template: Template, given: Mapping[str, str], library: str | None, folder: str) -> None:
        self.template = template
        self.given = given
        self.library = library
        self.folder = folder
        self.defaults = {argument.name: argument.default for argument in template.arguments}
        self.free_text = given.get(template.free_text or "", "")

    def pieces(self, limit: int) -> tuple[Piece, ...]:
        pieces: list[Piece] = []
        size = 0
        for part in self.template.body:
            pieces.append(Piece(part, "text") if isinstance(part, str) else self.piece(part))
            size += len(pieces[-1].text)
            if size > limit:
                raise TooLarge(limit)
        if self.template.append is not None and self.free_text and not any(map(self.shows_free_text, pieces)):
            pieces.append(Piece(self.template.append + self.free_text, "appended"))
        return tuple(pieces)

    def piece(self, placeholder: Placeholder) -> Piece:
        match placeholder.kind:
            case Kind.NAMED:
                return self.named(placeholder, placeholder.name or "")
            case Kind.FREE_TEXT:
                return Piece(self.free_text, "given" if self.free_text else "not given", placeholder)
            case Kind.POSITION:
                return self.position(placeholder, placeholder.index or 0)
            case Kind.PLUGIN_ROOT if self.library is not None:
                return Piece(f"skill://{self.library}", "plugin root", placeholder)
            case Kind.SKILL_FOLDER if self.library is not None:
                return Piece(f"skill://{self.library}/{self.folder}", "plugin root", placeholder)
            case Kind.ESCAPED:
                return Piece(placeholder.raw[1:], "unescaped", placeholder)
            case _:
                return Piece(placeholder.raw, "as written", placeholder)

    @cached_property
    def words(self) -> list[str]:
        return [] if self.template.positions else words.split(self.free_text)

    def named(self, placeholder: Placeholder, name: str) -> Piece:
        if name in self.given:
            return Piece(self.given[name], "given", placeholder)
        default = self.defaults.get(name)
        return Piece(default or "", "not given" if default is None else "default", placeholder)

    def position(self, placeholder: Placeholder, index: int) -> Piece:
        """The Nth name's value or the Nth word of the free text; past the end it stays (Claude Code since 2.1.210)."""
        if index < len(self.template.positions):
            return self.named(placeholder, self.template.positions[index])
        if index < len(self.words):
            return Piece(self.words[index], "given", placeholder)
        return Piece(placeholder.raw, "as written", placeholder)

    def shows_free_text(self, piece: Piece) -> bool:
        """Whether the free text came through here: with declared names only a placeholder for all of it counts."""
        if piece.placeholder is None or piece.origin == "as written":
            return False
        kinds = (Kind.FREE_TEXT,) if self.template.positions else (Kind.FREE_TEXT, Kind.POSITION)
        return piece.placeholder.kind in kinds
