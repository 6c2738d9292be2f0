"""`kbp render`: a prompt with its arguments filled in."""

import os
import stat
import sys
from pathlib import Path
from typing import Annotated

import typer

from kbp import renderer
from kbp.commands.choice import choose
from kbp.commands.console import DONE, Console, Stop, write_whole
from kbp.commands.options import STDIN, Sources, bad_choice
from kbp.display import fit, pad, safe_line, width
from kbp.files import PromptFile
from kbp.model import Argument, Kind, Template
from kbp.output.diagnostics import counted
from kbp.output.messages import FORMATS, Rendered
from kbp.renderer import MissingArguments, Piece
from kbp.values import Values


def render(
    console: Console,
    sources: Sources,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A prompt's name, or a path.", show_default=False)],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORDS", help="Values as typed after a slash command; a last - is stdin.", show_default=False
        ),
    ] = None,
    arg: Annotated[
        list[str] | None,
        typer.Option(
            "-a", "--arg", metavar="NAME=VALUE", help="A value; @FILE is a file's text, - is stdin.", show_default=False
        ),
    ] = None,
    raw_arg: Annotated[
        list[str] | None,
        typer.Option("-A", metavar="NAME=VALUE", help="A value as it is: @ and - mean nothing.", show_default=False),
    ] = None,
    args: Annotated[
        str | None,
        typer.Option(
            "--args", metavar="FILE", help="A JSON or YAML map of values; - is JSON on stdin.", show_default=False
        ),
    ] = None,
    line: Annotated[
        str | None,
        typer.Option("--line", metavar="TEXT", help="The text typed after the slash command.", show_default=False),
    ] = None,
    defaults: Annotated[bool, typer.Option("--defaults", help="Take every default without asking.")] = False,
    format: Annotated[
        str, typer.Option("-f", "--format", metavar="|".join(FORMATS), help="How messages are printed.")
    ] = "text",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write to FILE, whole or not at all.", show_default=False),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell on stderr where the value of each placeholder came from.")
    ] = False,
) -> int:
    r"""Fill in a prompt and print its messages.

    \b
      kbp render debug -a app=loki
      git diff | kbp render review -a diff=- | llm
      kbp render incident api high "since the deploy"
      kbp render debug --args values.yaml --format anthropic
    """
    faults = bad_choice("--format", format, FORMATS)
    if words and line is not None:
        faults.append("--line and WORDS both give the text after the command: give one of them")
    takes_stdin = STDIN in (name, *(sources.path or []))
    where = sources.faults(reads_stdin=takes_stdin)
    if where:
        raise Stop([*where, *faults])
    file = choose(name, sources, console)
    template = file.template
    if template is None:
        raise Stop(f"{file.path} does not become a prompt")
    taken_by = f"the prompt file {STDIN}" if takes_stdin else None
    values = Values(template.arguments, template.free_text, console.read_stdin, faults, stdin_used_by=taken_by)
    values.assign(arg or [])
    values.assign(raw_arg or [], as_is=True)
    if line is None:
        values.take_words(words or [])
    elif not words:
        values.take_line(line)
    if args is not None:
        values.read_map(args)
    pieces = _filled(file, template, values, name)
    rendered = Rendered(template.description, renderer.messages(pieces))
    text = FORMATS[format](rendered)
    for loss in rendered.losses:
        console.warn(loss)
    _tell(template, pieces, explain, console)
    _put(text, output, is_text=format in ("text", "markdown"), console=console)
    return DONE


def _filled(file: PromptFile, template: Template, values: Values, name: str) -> tuple[Piece, ...]:
    """The body filled; everything that is wrong with the values is one error."""
    try:
        pieces = renderer.fill(template, values.given, file.library)
    except MissingArguments as error:
        if not values.faults:
            raise _missing(name, error.arguments) from None
        missing = [argument.name for argument in error.arguments if argument.name not in values.attempted]
        also = [f"{name} needs a value for {', '.join(missing)}"] if missing else []
        raise Stop([*values.faults, *also]) from None
    if values.faults:
        raise Stop(values.faults)
    return pieces


def _missing(name: str, arguments: tuple[Argument, ...]) -> Stop:
    room = max(width(safe_line(argument.name)) for argument in arguments)
    rows = (f"  {pad(safe_line(each.name), room)}   {safe_line(each.description or '')}".rstrip() for each in arguments)
    first = "-" if _stdin_has_data() else "VALUE"
    forms = " ".join(f"-a {each.name}={first if at == 0 else 'VALUE'}" for at, each in enumerate(arguments))
    verb = "was" if len(arguments) == 1 else "were"
    fault = f"{name} needs {counted(len(arguments), 'argument')} that {verb} not given"
    return Stop(fault, help=[*rows, f"give {'it' if len(arguments) == 1 else 'them'}:  kbp render {name} {forms}"])


def _stdin_has_data() -> bool:
    """Whether stdin is a pipe or a file, which a value could be read from. It is not read for that."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def _tell(template: Template, pieces: tuple[Piece, ...], explain: bool, console: Console) -> None:
    if any(placeholder.kind is Kind.SHELL for placeholder in template.placeholders):
        console.hint("hint: the body has shell lines (!`…`): they are text here, and nothing is run")
    for piece in pieces if explain else ():
        if piece.placeholder is not None or piece.origin == "appended":
            console.explain(_explained(piece))


def _explained(piece: Piece) -> str:
    """One placeholder, and where its text came from."""
    raw = piece.placeholder.raw if piece.placeholder else "(end of the body)"
    value = (
        f" '{fit(safe_line(piece.text), 60)}'"
        if piece.origin in ("given", "default", "appended", "plugin root")
        else ""
    )
    return f"{safe_line(raw)}  {piece.origin}{value}"


def _put(text: str, output: Path | None, *, is_text: bool, console: Console) -> None:
    if output is None:
        if is_text:
            console.print_text(text)
        else:
            console.print(text)
        return
    try:
        write_whole(output, text.encode(errors="surrogateescape"))
    except OSError as error:
        raise Stop(f"-o {output}: {(error.strerror or str(error)).lower()}") from None
