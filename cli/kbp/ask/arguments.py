"""The arguments of a prompt, asked for one by one on the terminal, with help at hand."""

import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kbp.ask.text import Back, ask_text, shortened
from kbp.display import fit, safe_line
from kbp.model import Argument
from kbp.values import answer_of

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent, Completer

Offers = Callable[[str, str, Mapping[str, str]], Sequence[str]]
"""Gives the values that a server offers for an argument, for what is typed of it and the other values."""
Earlier = Callable[[str], Sequence[str]]
"""Gives what was typed for an argument before, the last one first."""
_PAUSE, _LIMIT = 0.12, 2.0
_DEFAULT_CELLS = 40


@dataclass(frozen=True)
class Help:
    """What is at hand while a person types: what a server offers, and what was typed before."""

    offers: Offers | None = None
    earlier: Earlier = lambda name: ()


def ask_arguments(
    arguments: Sequence[Argument], given: Mapping[str, str], io: Mapping[str, Any], help: Help = Help()
) -> dict[str, str]:
    """What a person types for arguments, in order: empty for one that they leave out.

    Args:
        arguments: what is asked for.
        given: the values that are there already.
        io: the keywords of a terminal.
        help: what is at hand while they type.

    Raises:
        KeyboardInterrupt: the person leaves.
        EOFError: they end the input.
    """
    answers: dict[str, str] = {}
    at = 0
    while at < len(arguments):
        argument = arguments[at]
        others = {name: answer_of(text) for name, text in answers.items() if text and name != argument.name}
        try:
            answers[argument.name] = _ask(argument, answers.get(argument.name, ""), {**given, **others}, io, help)
        except Back:
            at = max(at - 1, 0)
            continue
        at += 1
    return {argument.name: answers[argument.name] for argument in arguments}


def _ask(argument: Argument, typed: str, others: Mapping[str, str], io: Mapping[str, Any], help: Help) -> str:
    def validate(text: str) -> bool | str:
        try:
            value = answer_of(text)
        except ValueError as error:
            return safe_line(str(error))
        return bool(value.strip()) or not argument.required or f"{argument.title or argument.name} is required"

    earlier = help.earlier(argument.name)
    return ask_text(
        _label(argument, io),
        io,
        default=typed,
        validate=validate,
        completer=_completer(argument, others, help.offers, earlier),
        completes_while_typing=help.offers is not None,
        earlier=earlier,
    )


def _label(argument: Argument, io: Mapping[str, Any]) -> str:
    """The question, as long as it leaves room to type in on this terminal."""
    needed = f"[{fit(safe_line(argument.default), _DEFAULT_CELLS)}]" if argument.default else ""
    needed = "(required)" if argument.required else needed
    parts = (argument.title or argument.name, needed, (argument.description or "").rstrip(" .:"))
    return shortened(" ".join(part for part in parts if part), io)


def _completer(
    argument: Argument, others: Mapping[str, str], offers: Offers | None, earlier: Sequence[str]
) -> "Completer":
    import asyncio

    from prompt_toolkit.application.current import get_app
    from prompt_toolkit.completion import Completer, Completion, PathCompleter
    from prompt_toolkit.document import Document

    paths = PathCompleter(expanduser=True)
    at_hand = list(dict.fromkeys([*([argument.default] if argument.default else []), *earlier]))
    known: dict[str, Sequence[str]] = {}

    def shown(values: Iterable[str], typed: str) -> Iterable[Completion]:
        return (Completion(value, start_position=-len(typed), display=safe_line(value)) for value in values)

    class Values(Completer):
        """Paths behind an `@`; else what a server offers, after a pause, or the default and what was typed before."""

        def get_completions(self, document: Document, event: "CompleteEvent") -> Iterable[Completion]:
            text = document.text_before_cursor
            if text.startswith("@") and not text.startswith("@@"):
                return paths.get_completions(Document(text[1:]), event)
            return shown((value for value in at_hand if value.startswith(text)), text)

        async def get_completions_async(
            self, document: Document, event: "CompleteEvent"
        ) -> AsyncGenerator[Completion, None]:
            text = document.text_before_cursor
            if text.startswith("@") or offers is None:
                for each in self.get_completions(document, event):
                    yield each
                return
            if text not in known:
                await asyncio.sleep(_PAUSE)
                if get_app().current_buffer.document.text_before_cursor != text:
                    return  # typed on meanwhile: it is asked for anew
                started = time.monotonic()
                found = await asyncio.to_thread(offers, argument.name, text, others)
                known[text] = found if time.monotonic() - started < _LIMIT else ()
            for each in shown(known[text] or [value for value in at_hand if value.startswith(text)], text):
                yield each

    return Values()
