"""What a server asks back while it makes a prompt, and what is answered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from kbp.live.base import Json

ELICIT = "elicitation/create"
Action = Literal["accept", "decline", "cancel"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a server to the person.

    Attributes:
        key: what the server calls it.
        server: who asks.
        message: what it says.
        properties: the fields of a form by name, each a JSON schema; empty for a `url`.
        required: the fields that must be filled in.
        url: the address that the person is to visit.
    """

    key: str
    server: str
    message: str
    properties: Mapping[str, Json] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the person answers: whether they do, and the values of a form, each in its JSON type."""

    action: Action
    content: Mapping[str, Any] | None = None

    def as_json(self) -> Json:
        """The reply as the protocol has it."""
        content = {"content": dict(self.content)} if self.content is not None and self.action == "accept" else {}
        return {"action": self.action, **content}


class Unanswered(Exception):
    """A question that cannot be answered; `faults` and `help` say why and what would answer it."""

    def __init__(self, faults: Sequence[str], help: Sequence[str] = ()) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)
        self.help = tuple(help)


Handler = Callable[[Question], Reply]
"""Asks a person one question, or answers it for them."""


def question_of(key: str, params: object, server: str) -> Question | None:
    """The question in the parameters of an elicitation, None when it is of no kind that is known."""
    if not isinstance(params, dict):
        return None
    message = str(params.get("message", ""))
    mode = params.get("mode", "form")
    if mode == "url" and isinstance(params.get("url"), str):
        return Question(key, server, message, url=params["url"])
    schema = params.get("requestedSchema")
    if mode != "form" or not isinstance(schema, dict):
        return None
    properties = schema.get("properties")
    fields = {
        str(name): each
        for name, each in (properties if isinstance(properties, dict) else {}).items()
        if isinstance(each, dict)
    }
    required = schema.get("required")
    names = tuple(name for name in required if isinstance(name, str)) if isinstance(required, list) else ()
    return Question(key, server, message, fields, names)
