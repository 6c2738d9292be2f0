"""What a prompt is, whichever dialect or server it came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from kbp.text import Span

FREE_TEXT = "arguments"
"""The name under which the text typed after a command is published."""


class Kind(Enum):
    """What a placeholder stands for."""

    NAMED = "named"
    POSITION = "position"
    FREE_TEXT = "free text"
    PLUGIN_ROOT = "plugin root"
    SKILL_FOLDER = "skill folder"
    CLIENT = "client"
    SHELL = "shell"
    ESCAPED = "escaped"


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A place in a body that is not plain text.

    `raw` is the text as written. `name` is the argument of a NAMED one, `index` the position of a POSITION, from 0.
    `hint` is what the author wrote beside the name (Copilot), or the command of a SHELL line. CLIENT and SHELL
    placeholders are only for a client to resolve and are always emitted raw; an ESCAPED one is emitted without its
    backslash.
    """

    kind: Kind
    raw: str
    span: "Span"
    name: str | None = None
    index: int | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Argument:
    """A named string that a person fills in.

    Attributes:
        default: None when there is none, `""` when an empty one is written.
        span: where a file declares it, None when nothing does.
        is_free_text: whether it is published for what is typed after the command, without being declared.
        title: what a person sees in place of its name.
    """

    name: str
    description: str | None = None
    required: bool = False
    default: str | None = None
    span: "Span | None" = None
    is_free_text: bool = False
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt file understood: what it publishes and how its body is filled. It belongs to no dialect.

    Attributes:
        body: text and placeholders in order; its text has LF line ends.
        positions: the declared names that a POSITION counts, repeated ones too; empty when it counts the words of
            the free text.
        free_text: the argument that holds what is typed after the command, None when the prompt has none.
        append: what goes between the body and a free text that no placeholder shows; None: it is not appended.
        dropped: the keys without a meaning over MCP, in file order, each once.
    """

    title: str | None = None
    description: str | None = None
    arguments: tuple[Argument, ...] = ()
    body: tuple[str | Placeholder, ...] = ()
    positions: tuple[str, ...] = ()
    free_text: str | None = None
    append: str | None = None
    dropped: tuple[str, ...] = ()

    @property
    def placeholders(self) -> tuple[Placeholder, ...]:
        """The placeholders of the body, in order."""
        return tuple(part for part in self.body if isinstance(part, Placeholder))


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as an MCP client sees it.

    `meta` is its `_meta`. Of one that a server lists, `wire` is the whole object, and `text` the JSON that it came as.
    """

    name: str
    title: str | None = None
    description: str | None = None
    arguments: tuple[Argument, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    wire: Mapping[str, Any] | None = None
    text: str | None = None


def mcp_prompt(prompt: Prompt) -> dict[str, Any]:
    """The MCP Prompt object; keys that would be null or empty are left out. One of a server is what it sent."""
    if prompt.wire is not None:
        return dict(prompt.wire)
    arguments = [
        _filled(
            {
                "name": argument.name,
                "title": argument.title,
                "description": argument.description,
                "required": argument.required or None,
            }
        )
        for argument in prompt.arguments
    ]
    return _filled(
        {
            "name": prompt.name,
            "title": prompt.title,
            "description": prompt.description,
            "arguments": arguments,
            "_meta": _filled(dict(prompt.meta)),
        }
    )


def _filled(content: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if value not in (None, [], {})}


@dataclass(frozen=True, slots=True)
class Message:
    """A role and one content block, the block being the JSON object of the wire; `extra` is what else the wire has."""

    role: str
    content: Mapping[str, Any]
    extra: Mapping[str, Any] = field(default_factory=dict)


class PromptSource(Protocol):
    """Where prompts come from."""

    def prompts(self) -> Sequence[Prompt]:
        """The prompts on offer."""
        ...

    def messages(self, name: str, arguments: Mapping[str, str | None]) -> Sequence[Message]:
        """What prompt `name` becomes for these values."""
        ...
