"""One text asked for on the terminal: in as many lines as it has, with an editor and earlier answers at hand."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from kbp.ask.terminal import edited
from kbp.display import fit, safe_line

if TYPE_CHECKING:
    from prompt_toolkit.completion import Completer
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from questionary import Question

Asked = TypeVar("Asked")
Validate = Callable[[str], bool | str]
"""Says whether a text will do: True, or what is wrong with it."""


class Back(Exception):
    """The person wants the question before this one; `typed` is what stands in this one, None where it is no text."""

    def __init__(self, typed: str | None = None) -> None:
        super().__init__(typed)
        self.typed = typed


def in_turn(
    questions: Sequence[Callable[[Asked | None], Asked]],
    unfinished: Callable[[str], Asked],
    *,
    can_go_back: bool = False,
) -> list[Asked]:
    """The answers to questions that are asked one by one. Each is given what was answered to it, or typed, before.

    Args:
        questions: each asks, and gives the answer.
        unfinished: makes an answer of what is typed and left standing.
        can_go_back: whether the first one may be left.

    Raises:
        Back: the person wants what was before the first one, if they can go back there.
        KeyboardInterrupt: they leave.
        EOFError: they end the input.
    """
    answers: list[Asked | None] = [None] * len(questions)
    at = 0
    while at < len(questions):
        try:
            answers[at] = questions[at](answers[at])
        except Back as back:
            if at == 0 and can_go_back:
                raise
            if back.typed is not None:
                answers[at] = unfinished(back.typed)
            at = max(at - 1, 0)
            continue
        at += 1
    return [answer for answer in answers if answer is not None]


def answered(question: "Question") -> Any:
    """The answer to a question of questionary that takes no text. It may be left for the one before it.

    Raises:
        Back: the person wants the question before.
        KeyboardInterrupt: they leave.
        EOFError: they end the input.
    """
    from prompt_toolkit.key_binding import KeyBindings, merge_key_bindings

    keys = KeyBindings()

    @keys.add("s-tab", eager=True)
    def back(event: "KeyPressEvent") -> None:
        _leave(event, None)

    known = question.application.key_bindings
    question.application.key_bindings = merge_key_bindings([known, keys]) if known else keys
    return question.unsafe_ask()


def ask_text(
    label: str,
    io: Mapping[str, Any],
    *,
    default: str = "",
    validate: Validate = lambda text: True,
    completer: "Completer | None" = None,
    completes_while_typing: bool = False,
    earlier: Sequence[str] = (),
) -> str:
    """The text that a person types.

    Args:
        label: the question, safe on a terminal.
        io: the keywords of a terminal.
        default: what stands there already.
        validate: says whether a text will do, once Enter is pressed.
        completer: gives what Tab offers.
        completes_while_typing: whether every key does as Tab does.
        earlier: what Up brings back, the last one first.

    Raises:
        Back: they want the question before.
        KeyboardInterrupt: they leave.
        EOFError: they end the input.
    """
    import questionary
    from prompt_toolkit.history import InMemoryHistory

    question = questionary.text(
        label,
        default=default,
        validate=validate,
        validate_while_typing=False,
        completer=completer,
        complete_while_typing=completes_while_typing,
        history=InMemoryHistory(list(reversed(earlier))),
        key_bindings=_keys(),
        enable_suspend=True,
        **io,
    )
    return str(question.unsafe_ask())


def shortened(label: str, io: Mapping[str, Any]) -> str:
    """A question on one line, safe on a terminal, as long as it leaves room to answer on this one."""
    size = io["output"].get_size()
    room = max(size.columns * max(size.rows // 2, 1) - 4, 8)
    return fit(safe_line(label), room) + ":"


def _keys() -> "KeyBindings":
    """Alt-Enter makes a new line, Ctrl-X Ctrl-E opens an editor, Shift-Tab and Esc-Esc lead to the question before."""
    from prompt_toolkit.application import run_in_terminal
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.validation import ValidationError

    keys = KeyBindings()

    @keys.add("escape", "enter")
    def new_line(event: "KeyPressEvent") -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-x", "c-e")
    async def edit(event: "KeyPressEvent") -> None:
        buffer = event.current_buffer
        text = await run_in_terminal(lambda: edited(buffer.text), in_executor=True)
        if text is None:
            buffer.validation_error = ValidationError(message="no editor, or it failed: VISUAL or EDITOR names one")
            return
        buffer.text = text
        buffer.cursor_position = len(text)
        buffer.validate_and_handle()

    @keys.add("c-u")
    def clear(event: "KeyPressEvent") -> None:
        event.current_buffer.delete_before_cursor(event.current_buffer.cursor_position)

    @keys.add("s-tab", eager=True)
    @keys.add("escape", "escape")
    def back(event: "KeyPressEvent") -> None:
        _leave(event, event.current_buffer.text)

    return keys


def _leave(event: "KeyPressEvent", typed: str | None) -> None:
    """Leave a question for the one before it, with what stands in it."""
    event.app.erase_when_done = True
    event.app.exit(exception=Back(typed))
