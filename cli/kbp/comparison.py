"""Two prompts by their meaning: what they publish, and what they become for the same values."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from kbp.files import PromptFile
from kbp.model import Argument
from kbp.renderer import fill


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that two prompts say otherwise; None where one says nothing of it."""

    what: str
    first: str | None
    second: str | None


@dataclass(frozen=True)
class Side:
    """One of two prompts that are compared.

    Attributes:
        title: what it is called for a person.
        description: what it says of itself.
        arguments: what it takes.
        text: what it becomes for values, as text.
        knows_defaults: whether its arguments say their defaults; those of a server do not.
    """

    title: str | None
    description: str | None
    arguments: tuple[Argument, ...]
    text: Callable[[Mapping[str, str]], str]
    knows_defaults: bool = True


def side_of(file: PromptFile) -> Side:
    """A prompt file as one side of a comparison. It has to be a prompt."""
    template = file.template
    assert template is not None  # noqa: S101 (said above)

    def text(values: Mapping[str, str]) -> str:
        return "".join(piece.text for piece in fill(template, values, file.library, file.folder))

    return Side(template.title, template.description, template.arguments, text)


def differences(one: Side, other: Side) -> Iterator[Difference]:
    """What two prompts publish otherwise, and the messages that differ for the same values.

    Their names, dialects and keys without a meaning over MCP do not count, nor does the end of the last line.
    """
    yield from _unequal("title", one.title, other.title)
    yield from _unequal("description", one.description, other.description)
    yield from _of_arguments(one, other)
    for label, values in _values(one, other):
        texts = (side.text(_given(side, values)) for side in (one, other))
        yield from _unequal(f"message {label}", *(text.removesuffix("\n") for text in texts))


def _unequal(what: str, first: str | None, second: str | None) -> Iterator[Difference]:
    if first != second:
        yield Difference(what, first, second)


def _of_arguments(one: Side, other: Side) -> Iterator[Difference]:
    tells_default = one.knows_defaults and other.knows_defaults
    own, others = ({each.name: each for each in side.arguments} for side in (one, other))
    for name in [*own, *(name for name in others if name not in own)]:
        here, there = own.get(name), others.get(name)
        if here is None or there is None:
            manners = (None if each is None else _manner(each, tells_default=tells_default) for each in (here, there))
            yield Difference(f"argument {name}", *manners)
            continue
        yield from _unequal(f"argument {name}", *(_manner(each, tells_default=tells_default) for each in (here, there)))
        yield from _unequal(f"description of {name}", here.description, there.description)
    common = [name for name in own if name in others]
    order = [name for name in others if name in own]
    yield from _unequal("order of the arguments", ", ".join(common), ", ".join(order))


def _manner(argument: Argument, *, tells_default: bool) -> str:
    is_told = tells_default and argument.default is not None
    default = f", default {argument.default or 'empty'}" if is_told else ""
    return ("required" if argument.required else "optional") + default


def _values(one: Side, other: Side) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Values to try: one for each argument, and none at all but for the required ones."""
    arguments = {each.name: each for each in (*other.arguments, *one.arguments)}
    required = {each.name for each in (*other.arguments, *one.arguments) if each.required}
    everything = {name: f"<{name}>" for name in arguments}
    if everything:
        yield "with a value for each argument", everything
    least = {name: value for name, value in everything.items() if name in required}
    yield "with the required values alone" if least else "without values", least


def _given(side: Side, values: Mapping[str, str]) -> Mapping[str, str]:
    """The values for the arguments that the prompt has."""
    names = {each.name for each in side.arguments}
    return {name: value for name, value in values.items() if name in names}
