"""`kbp edit`: the file of a prompt in the person's editor."""

from pathlib import Path
from typing import Annotated

import typer

from kbp import settings
from kbp.ask.terminal import run
from kbp.commands.choice import find_file
from kbp.commands.console import DONE, TO_REPORT, Console, Stop
from kbp.commands.sources import STDIN, Sources
from kbp.display import said_of


def edit(
    console: Console,
    sources: Sources,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A prompt's name, or a path.")],
) -> int:
    """Open the file of a prompt in your editor, one that is refused too.

    \b
      kbp edit debug

    The editor is $VISUAL, else $EDITOR, else one that the system has. 1 when it fails.
    """
    if name == STDIN:
        raise Stop("stdin cannot be edited: name a prompt, or a path")
    return DONE if edit_file(find_file(name, sources, console).place.path, console) else TO_REPORT


def edit_file(path: Path, console: Console) -> bool:
    """Open a file in the person's editor, and say whether that went well. What went wrong is told.

    Raises:
        Stop: there is no editor, or it cannot be started.
    """
    editor = settings.editor()
    if not editor:
        raise Stop("there is no editor", help=["  VISUAL or EDITOR names one, as in EDITOR='code --wait'"])
    try:
        code = run([*editor, str(path)])
    except OSError as error:
        raise Stop(f"{editor[0]} cannot be started: {said_of(error)}") from None
    if code != 0:
        console.warn(f"{editor[0]} ended with {code}")
    return code == 0
