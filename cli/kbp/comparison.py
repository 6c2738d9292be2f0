"""Two prompts by their meaning: what they publish, and what they become for the same values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kbp.files import PromptFile
from kbp.model import Argument, Template
from kbp.renderer import fill


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that two prompts say otherwise; None where one says nothing of it."""

    what: str
    first: str | None
    second: str | None


def differences(first: PromptFile, second: PromptFile) -> Iterator[Difference]:
    """What two prompts publish otherwise, and the messages that differ for the same values.

    Their names, dialects and keys without a meaning over MCP do not count.
    """
    one, other = first.template, second.template
    if one is None or other is None:
        return
    yield from _unequal("title", one.title, other.title)
    yield from _unequal("description", one.description, other.description)
    yield from _of_arguments(one, other)
    for label, values in _values(one, other):
        texts = [
            "".join(piece.text for piece in fill(file.template or one, _given(file, values), file.library, file.folder))
            for file in (first, second)
        ]
        yield from _unequal(f"message {label}", *texts)


def _unequal(what: str, first: str | None, second: str | None) -> Iterator[Difference]:
    if first != second:
        yield Difference(what, first, second)


def _of_arguments(one: Template, other: Template) -> Iterator[Difference]:
    own, others = ({each.name: each for each in template.arguments} for template in (one, other))
    for name in [*own, *(name for name in others if name not in own)]:
        here, there = own.get(name), others.get(name)
        if here is None or there is None:
            manners = (None if each is None else _manner(each) for each in (here, there))
            yield Difference(f"argument {name}", *manners)
            continue
        yield from _unequal(f"argument {name}", _manner(here), _manner(there))
        yield from _unequal(f"description of {name}", here.description, there.description)
    common = [name for name in own if name in others]
    order = [name for name in others if name in own]
    yield from _unequal("order of the arguments", ", ".join(common), ", ".join(order))


def _manner(argument: Argument) -> str:
    default = f", default {argument.default or 'empty'}" if argument.default is not None else ""
    return ("required" if argument.required else "optional") + default


def _values(one: Template, other: Template) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Values to try: one for each argument, and none at all but for the required ones."""
    arguments = {each.name: each for each in (*other.arguments, *one.arguments)}
    required = {each.name for each in (*other.arguments, *one.arguments) if each.required}
    everything = {name: f"<{name}>" for name in arguments}
    if everything:
        yield "with a value for each argument", everything
    least = {name: value for name, value in everything.items() if name in required}
    yield "with the required values alone" if least else "without values", least


def _given(file: PromptFile, values: Mapping[str, str]) -> Mapping[str, str]:
    """The values for the arguments that the prompt has."""
    names = {each.name for each in file.template.arguments} if file.template else set()
    return {name: value for name, value in values.items() if name in names}
