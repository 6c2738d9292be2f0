"""Asking a person for the arguments that are missing."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kbp.ask.terminal import may_ask
from kbp.commands.console import Console
from kbp.model import Argument

if TYPE_CHECKING:
    from kbp.ask.arguments import Offers


def ask_missing(
    arguments: Sequence[Argument], given: Mapping[str, str], console: Console, offers: "Offers | None" = None
) -> dict[str, str] | None:
    """The values that a person gives for arguments on the terminal; None when nobody can be asked.

    Args:
        arguments: what is missing.
        given: what is there.
        console: says whether questions are wanted.
        offers: gives the values on offer for what is typed.

    Raises:
        KeyboardInterrupt: the person leaves.
    """
    if not may_ask(no_input=console.no_input):
        return None
    from kbp.ask.arguments import ask_arguments
    from kbp.ask.terminal import terminal

    with terminal() as io:
        return ask_arguments(arguments, given, io, offers)
