"""The values of a prompt's arguments as options of a command, and what is said when some are missing."""

import os
import shlex
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from kbp.commands.console import Console, Stop
from kbp.display import counted, pad, safe_line, width
from kbp.model import Argument
from kbp.values import Values


@dataclass(frozen=True)
class Given:
    """The options that give values."""

    arg: Annotated[
        list[str] | None,
        typer.Option("-a", "--arg", metavar="NAME=VALUE", help="A value; @FILE is a file's text, - is stdin."),
    ] = None
    raw_arg: Annotated[
        list[str] | None, typer.Option("-A", metavar="NAME=VALUE", help="A value as it is: @ and - mean nothing.")
    ] = None
    args: Annotated[
        list[str] | None,
        typer.Option("--args", metavar="FILE", help="A JSON or YAML map of values; - is JSON on stdin."),
    ] = None
    line: Annotated[
        list[str] | None, typer.Option("--line", metavar="TEXT", help="The text after the slash command.")
    ] = None
    defaults: Annotated[bool, typer.Option("--defaults", help="Take every default without asking.")] = False

    def values(self, words: Sequence[str], values: Values) -> Values:
        """All values of these options and of the words, taken in the order of their strength."""
        values.assign(self.arg or [])
        values.assign(self.raw_arg or [], as_is=True)
        if self.line is not None and words:
            values.fail("--line and WORDS both give the text after the command: give one of them")
        elif self.line is not None and len(self.line) > 1:
            values.fail("--line is given twice: give it once")
        elif self.line is not None:
            values.take_line(self.line[0])
        else:
            values.take_words(words)
        for path in self.args or []:
            values.read_map(path)
        return values


def values_for(
    arguments: Sequence[Argument],
    console: Console,
    faults: list[str],
    stdin_used_by: str | None,
    *,
    allow_unknown: bool = False,
) -> Values:
    """Empty values for the arguments of a prompt."""
    free_text = next((argument.name for argument in arguments if argument.is_free_text), None)
    return Values(arguments, free_text, console.read_stdin, faults, stdin_used_by, allow_unknown)


def missing_arguments(arguments: tuple[Argument, ...], values: Values, command: Sequence[str]) -> Stop:
    """The error of missing arguments, with the line that would give them."""
    name, *where = command
    room = max(width(safe_line(argument.name)) for argument in arguments)
    rows = [f"  {pad(safe_line(each.name), room)}   {safe_line(each.description or '')}".rstrip() for each in arguments]
    empty = [each.name for each in arguments if each.name in values.given]
    if empty:
        rows.append(f"an empty value is none: {safe_line(', '.join(empty))}")
    names = {argument.name for argument in arguments}
    forms = [f"{each.name}={'-' if at == 0 and _stdin_has_data() else 'VALUE'}" for at, each in enumerate(arguments)]
    line = ["kbp", "render", name, *values.accepted(but=names), *where]
    line += [token for form in forms for token in ("-a", form)]
    verb = "was" if len(arguments) == 1 else "were"
    fault = f"{name} needs {counted(len(arguments), 'argument')} that {verb} not given"
    them = "it" if len(arguments) == 1 else "them"
    return Stop([*values.faults, fault], help=[*rows, f"give {them}:  {safe_line(shlex.join(line))}"])


def _stdin_has_data() -> bool:
    """Whether stdin is a pipe or a file, which a value could be read from. It is not read for that."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)
