"""`kbp edit`: the file of a prompt in the person's editor."""

from typing import Annotated

import typer

from kbp import settings
from kbp.ask.terminal import run
from kbp.commands.choice import find_file
from kbp.commands.console import DONE, Console, Stop
from kbp.commands.options import STDIN, Sources
from kbp.display import said_of
from kbp.files import PromptFile


def edit(
    console: Console,
    sources: Sources,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A prompt's name, or a path.")],
) -> int:
    """Open the file of a prompt in your editor ($VISUAL or $EDITOR), one that is refused too.

    \b
      kbp edit debug
    """
    if name == STDIN:
        raise Stop("stdin cannot be edited: name a prompt, or a path")
    return edit_file(find_file(name, sources, console), console)


def edit_file(file: PromptFile, console: Console) -> int:
    """Open a file in the person's editor. What the editor exits with is told, and the exit code.

    Raises:
        Stop: there is no editor, or it cannot be started.
    """
    editor = settings.editor()
    if not editor:
        raise Stop("there is no editor", help=["  VISUAL or EDITOR names one, as in EDITOR='code --wait'"])
    try:
        code = run([*editor, str(file.place.path)])
    except OSError as error:
        raise Stop(f"{editor[0]} cannot be started: {said_of(error)}") from None
    if code != 0:
        console.warn(f"{editor[0]} ended with {code}")
    return DONE if code == 0 else code
