"""The arguments of a prompt, asked for one by one on the terminal, with help at hand."""

import contextlib
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kbp.ask.text import ask_text, in_turn, shortened
from kbp.dialects.base import STOCK_HINT
from kbp.display import fit, safe_line
from kbp.model import Argument
from kbp.values import Answer, answer_of, literal

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent, Completer

Offers = Callable[[str, str, Mapping[str, str]], Sequence[str]]
"""Gives the values that a server offers for an argument, for what is typed of it and the other values. Never raises."""
Earlier = Callable[[str], Sequence[str]]
"""Gives what was typed for an argument before, the last one first."""
_PAUSE = 0.12
_DEFAULT_CELLS, _MAX_OFFER = 40, 1_000


@dataclass(frozen=True)
class Help:
    """What is at hand while a person types: what a server offers, what was typed before, and a way back."""

    offers: Offers | None = None
    earlier: Earlier = lambda name: ()
    can_go_back: bool = False


def ask_arguments(
    arguments: Sequence[Argument], given: Mapping[str, str], io: Mapping[str, Any], help: Help = Help()
) -> dict[str, Answer]:
    """What a person answers for arguments, in order.

    Args:
        arguments: what is asked for.
        given: the values that are there already.
        io: the keywords of a terminal.
        help: what is at hand while they type.

    Raises:
        Back: the person wants what was before the first question, if they can.
        KeyboardInterrupt: they leave.
        EOFError: they end the input.
    """
    answers: dict[str, Answer] = {}

    def question(argument: Argument) -> Callable[[Answer | None], Answer]:
        def ask(before: Answer | None) -> Answer:
            others = {name: each.value for name, each in answers.items() if each.typed and name != argument.name}
            answers[argument.name] = _ask(argument, before, {**given, **others}, io, help)
            return answers[argument.name]

        return ask

    questions = [question(argument) for argument in arguments]
    in_turn(questions, lambda typed: Answer(typed, ""), can_go_back=help.can_go_back)
    return {argument.name: answers[argument.name] for argument in arguments}


def _ask(
    argument: Argument, before: Answer | None, others: Mapping[str, str], io: Mapping[str, Any], help: Help
) -> Answer:
    meant: dict[str, Answer] = {}

    def validate(text: str) -> bool | str:
        try:
            meant[text] = answer_of(text)
        except ValueError as error:
            return safe_line(str(error))
        return bool(meant[text].value.strip()) or not argument.required or f"{_name(argument)} is required"

    earlier = help.earlier(argument.name)
    typed = ask_text(
        _label(argument, io),
        io,
        default=before.typed if before else "",
        validate=validate,
        completer=_completer(argument, others, help.offers, earlier),
        completes_while_typing=help.offers is not None,
        earlier=earlier,
    )
    return meant[typed]


def _name(argument: Argument) -> str:
    return safe_line(argument.title or argument.name)


def _label(argument: Argument, io: Mapping[str, Any]) -> str:
    """The question, as long as it leaves room to type in on this terminal."""
    needed = f"[{fit(safe_line(argument.default), _DEFAULT_CELLS)}]" if argument.default else "(optional)"
    needed = "(required)" if argument.required else needed
    said = (argument.description or "").rstrip(" .:")
    if argument.is_free_text:
        needed, said = "(optional, free text)", f"hint: {said}" if said and said != STOCK_HINT else ""
    parts = (argument.title or argument.name, needed, said)
    return shortened(" ".join(part for part in parts if part), io)


def _completer(
    argument: Argument, others: Mapping[str, str], offers: Offers | None, earlier: Sequence[str]
) -> "Completer":
    import asyncio

    from prompt_toolkit.application.current import get_app
    from prompt_toolkit.completion import Completer, Completion, PathCompleter
    from prompt_toolkit.document import Document

    paths = PathCompleter(expanduser=True)
    found = [*([literal(argument.default)] if argument.default else []), *earlier]
    at_hand = list(dict.fromkeys(value for value in found if len(value) <= _MAX_OFFER))
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
            if (text.startswith("@") and not text.startswith("@@")) or offers is None:
                for each in self.get_completions(document, event):
                    yield each
                return
            answer = text.removeprefix("@")  # of two
            if text not in known:
                await asyncio.sleep(_PAUSE)
                if get_app().current_buffer.document.text_before_cursor != text:
                    return  # typed on meanwhile: it is asked for anew
                known[text] = [literal(value) for value in await _in_thread(offers, argument.name, answer, others)]
            for each in shown(known[text] or [value for value in at_hand if value.startswith(text)], text):
                yield each

    return Values()


async def _in_thread(offers: Offers, name: str, typed: str, others: Mapping[str, str]) -> Sequence[str]:
    """What is offered, asked for beside the question: nobody waits for it who has answered, or leaves."""
    import asyncio
    import threading

    loop = asyncio.get_running_loop()
    future: asyncio.Future[Sequence[str]] = loop.create_future()

    def give(found: Sequence[str]) -> None:
        if not future.done():
            future.set_result(found)

    def work() -> None:
        try:
            found = offers(name, typed, others)
        except Exception:  # the connection is closed by now, say
            found = ()
        with contextlib.suppress(RuntimeError):  # the question is over
            loop.call_soon_threadsafe(give, found)

    threading.Thread(target=work, daemon=True).start()
    return await future
