"""`kbp show`: all there is to know of one prompt."""

from collections.abc import Callable
from typing import Annotated

import typer

from kbp.commands.calling import listed
from kbp.commands.choice import choose
from kbp.commands.console import DONE, Console, Stop, collecting
from kbp.commands.live import Live, live_name, not_for_live
from kbp.commands.options import bad_choice
from kbp.commands.sources import STDIN, Sources
from kbp.files import PromptFile
from kbp.model import mcp_prompt
from kbp.output.jsontext import dump
from kbp.output.prompts import live_page, one_as_json, page


def _as_json(file: PromptFile, color: bool) -> str:
    """The MCP Prompt object; what kbp adds stands in its `_meta`."""
    prompt = file.prompt
    return dump(mcp_prompt(prompt) if prompt else {})


def _path(file: PromptFile, color: bool) -> str:
    return file.path + "\n"


FORMATS: dict[str, Callable[[PromptFile, bool], str]] = {"text": page, "json": _as_json, "path": _path}
SOURCE = "source"


def show(
    console: Console,
    sources: Sources,
    live: Live,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A prompt's name, or a path.")],
    format: Annotated[
        str, typer.Option("-f", "--format", metavar="text|json|source|path", help="What is printed of the prompt.")
    ] = "text",
) -> int:
    """Show what one prompt publishes, and how it is read.

    Also why it is read as that dialect, which keys are dropped, and its body.

    \b
      kbp show debug
      kbp show prompts/debug.md --format json     the MCP Prompt object
      kbp show debug --format path
      kbp show --server docs review               a prompt of a live server
    """
    live, name = live_name(live, name, console)
    if live.is_given:
        return _show_live(name, live, console, format, not_for_live(sources))
    faults = live.faults()
    faults += sources.faults(reads_stdin=STDIN in (name, *(sources.path or [])))
    faults += bad_choice("--format", format, (*FORMATS, SOURCE))
    with collecting(faults):
        file, _ = choose(name, sources, console)
    if faults:
        raise Stop(faults)
    if format == SOURCE:
        console.print_text(file.document.text)
    elif format == "path":
        console.print_text(FORMATS[format](file, False))
    else:
        console.print(FORMATS[format](file, console.use_color))
    return DONE


def _show_live(name: str, live: Live, console: Console, format: str, faults: list[str]) -> int:
    """Show what a server says of one of its prompts."""
    faults += [*live.faults(), *bad_choice("--format", format, (*FORMATS, SOURCE))]
    if format in ("path", SOURCE):
        faults.append(f"--format {format}: a prompt of a server has no file")
    if faults:
        raise Stop(faults)
    with live.opened(console, doing="to list its prompts") as source:
        prompt = listed(source, name, live)
        server = f"{source.session.peer.name} ({source.session.peer.revision})"
        console.print(one_as_json(prompt) if format == "json" else live_page(prompt, server, console.use_color))
    return DONE
