"""The arguments of a prompt, asked for one by one on the terminal, with help at hand."""

import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kbp.display import safe_line
from kbp.model import Argument

if TYPE_CHECKING:
    from prompt_toolkit.completion import CompleteEvent, Completer
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

Offers = Callable[[str, str, Mapping[str, str]], Sequence[str]]
"""Gives the values that are offered for an argument, for what is typed of it and the other values."""
_PAUSE, _LIMIT = 0.12, 2.0


class _Back(Exception):
    """The person wants the question before this one."""


def ask_arguments(
    arguments: Sequence[Argument], given: Mapping[str, str], io: Mapping[str, Any], offers: Offers | None = None
) -> dict[str, str]:
    """The values that a person gives for arguments, in order. An optional one that they leave empty is not given.

    Args:
        arguments: what is asked for.
        given: the values that are there already.
        io: the keywords of a terminal.
        offers: gives the values on offer for an argument.

    Raises:
        KeyboardInterrupt: the person leaves.
        EOFError: they end the input.
    """
    answers: dict[str, str] = {}
    at = 0
    while at < len(arguments):
        argument = arguments[at]
        others = {**given, **{name: value for name, value in answers.items() if name != argument.name}}
        try:
            value = _ask(argument, answers.get(argument.name, ""), others, io, offers)
        except _Back:
            at = max(at - 1, 0)
            continue
        answers.pop(argument.name, None)
        if value:
            answers[argument.name] = value
        at += 1
    return answers


def _ask(
    argument: Argument, typed: str, others: Mapping[str, str], io: Mapping[str, Any], offers: Offers | None
) -> str:
    import questionary

    needed = "(required)" if argument.required else f"[{argument.default}]" if argument.default else ""
    label = " ".join(part for part in (argument.title or argument.name, argument.description, needed) if part)

    def validate(text: str) -> bool | str:
        return bool(text.strip()) or not argument.required or f"{argument.title or argument.name} is required"

    answer = questionary.text(
        f"{safe_line(label)}:",
        default=typed,
        validate=validate,
        validate_while_typing=False,
        completer=_completer(argument, others, offers),
        complete_while_typing=offers is not None,
        key_bindings=_keys(),
        enable_open_in_editor=True,
        tempfile_suffix=".md",
        **io,
    ).unsafe_ask()
    return str(answer)


def _keys() -> "KeyBindings":
    """Alt-Enter makes a new line, Shift-Tab and Esc-Esc lead back to the question before."""
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("escape", "enter")
    def new_line(event: "KeyPressEvent") -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("s-tab")
    @keys.add("escape", "escape")
    def back(event: "KeyPressEvent") -> None:
        event.app.exit(exception=_Back)

    return keys


def _completer(argument: Argument, others: Mapping[str, str], offers: Offers | None) -> "Completer":
    import asyncio

    from prompt_toolkit.application.current import get_app
    from prompt_toolkit.completion import Completer, Completion, PathCompleter
    from prompt_toolkit.document import Document

    paths = PathCompleter(expanduser=True)
    known: dict[str, Sequence[str]] = {}

    class Values(Completer):
        """Paths behind an `@`, else the values on offer, which are asked for after a short pause."""

        def get_completions(self, document: Document, event: "CompleteEvent") -> Iterable[Completion]:
            text = document.text_before_cursor
            return paths.get_completions(Document(text[1:]), event) if text.startswith("@") else ()

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
            for value in known[text]:
                yield Completion(value, start_position=-len(text), display=safe_line(value))

    return Values()
