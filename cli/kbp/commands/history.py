"""`kbp history`: what was answered for prompts, forgotten."""

from typing import Annotated

import typer

from kbp import history as kept
from kbp.commands.console import DONE, Console, Stop
from kbp.commands.options import bad_choice
from kbp.display import counted, said_of

WHAT = ("clear",)


def history(
    console: Console,
    what: Annotated[str, typer.Argument(metavar="|".join(WHAT), help="What to do with it.")],
) -> int:
    """Forget what was answered for prompts, and which ones were picked.

    \b
      kbp history clear

    Answers are kept in your state folder for you alone, the last 20 of a prompt; none of tokens, passwords, secrets or
    keys. `--no-history` keeps nothing of one run, `history = false` in your own config.toml of all.
    """
    faults = bad_choice("kbp history", what, WHAT)
    if faults:
        raise Stop(faults)
    try:
        count = kept.clear()
    except OSError as error:
        raise Stop(f"what is kept cannot be removed: {said_of(error)}") from None
    console.hint(f"forgot the answers of {counted(count, 'prompt')}")
    return DONE
