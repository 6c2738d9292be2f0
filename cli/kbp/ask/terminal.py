"""The person's terminal, opened by itself so that stdin and stdout stay free for data."""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from kbp import settings

_TERMINAL = "/dev/tty"


class Gone(Exception):
    """There is no terminal to ask on."""


def may_ask(*, no_input: bool = False) -> bool:
    """Whether a person can be asked: nobody forbids it, and there is a terminal."""
    if no_input or settings.forbids_questions():
        return False
    try:
        os.close(os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


@contextlib.contextmanager
def terminal() -> Iterator[dict[str, Any]]:
    """The keywords that put a question of questionary or prompt_toolkit on the terminal.

    Raises:
        Gone: there is none.
    """
    from prompt_toolkit.input import create_input
    from prompt_toolkit.output import create_output

    with contextlib.ExitStack() as stack:
        try:
            keys = stack.enter_context(open(_TERMINAL, encoding="utf-8", errors="surrogateescape"))  # noqa: PTH123
            screen = stack.enter_context(open(_TERMINAL, "w", encoding="utf-8", errors="replace"))  # noqa: PTH123
        except OSError as error:
            raise Gone(str(error)) from None
        yield {"input": create_input(keys), "output": create_output(screen)}


def tell(text: str) -> None:
    """Write lines on the terminal, which are safe on it already."""
    with contextlib.suppress(OSError), open(_TERMINAL, "w", encoding="utf-8", errors="replace") as screen:  # noqa: PTH123
        screen.write(text)
