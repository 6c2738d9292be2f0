"""`kbp render`: a prompt with its arguments filled in."""

import shlex
from collections.abc import Sequence
from typing import Annotated

import typer

from kbp import renderer
from kbp.commands.bundles import spelt
from kbp.commands.calling import Calling, call
from kbp.commands.choice import choose
from kbp.commands.console import DONE, Console, Stop, collecting, put
from kbp.commands.given import Given, filled, values_for
from kbp.commands.live import Live, live_name, not_for_live
from kbp.commands.options import STDIN, Sources, bad_choice
from kbp.commands.outcome import Way
from kbp.display import fit, safe_line
from kbp.model import Kind, Template
from kbp.output.messages import FORMATS, Rendered
from kbp.renderer import Piece


def render(
    console: Console,
    sources: Sources,
    live: Live,
    given: Given,
    calling: Calling,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A prompt's name, or a path.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORDS", help="Values as typed after a slash command; a last - is stdin."),
    ] = None,
    format: Annotated[
        str, typer.Option("-f", "--format", metavar="|".join(FORMATS), help="How messages are printed.")
    ] = "text",
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Write to FILE, whole or not at all.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell on stderr where the value of each placeholder came from.")
    ] = False,
) -> int:
    """Fill in a prompt and print its messages.

    \b
      kbp render debug -a app=loki
      git diff | kbp render review -a pr=- | llm
      kbp render incident api high "since the deploy"
      kbp render debug --args values.yaml --format anthropic
      kbp render --server-cmd 'uvx some-server' greet -a name=Ada
    """
    if explain and live.is_given:
        raise Stop("--explain tells of the placeholders of a file, and a server shows none")
    live, name = live_name(live, name, console)
    way = Way(format, output)
    if live.is_given:
        faults = [*live.faults(), *not_for_live(sources), *calling.faults(is_live=True, format=format)]
        faults += bad_choice("--format", format, FORMATS)
        call(console, live, calling, given, name, words or [], way, faults)
        return DONE
    takes_stdin = STDIN in (name, *(sources.path or []))
    faults = [*sources.faults(reads_stdin=takes_stdin), *bad_choice("--format", format, FORMATS)]
    faults += [*live.faults(), *calling.faults(is_live=False, format=format)]
    with collecting(faults):
        file, template = choose(name, sources, console)
    values = values_for(template.arguments, console, faults, f"the prompt file {STDIN}" if takes_stdin else None)
    given.values(words or [], values)
    pieces = filled(file, template, values, [name, *spelt(sources), *way.spelt(console)], console)
    rendered = Rendered(template.description, renderer.messages(pieces))
    text = FORMATS[format](rendered)
    for loss in rendered.losses:
        console.warn(loss)
    _tell_words(template, words or [], console)
    _tell(template, pieces, explain, console)
    put(text, output, is_text=way.is_text, console=console)
    return DONE


def _tell_words(template: Template, words: Sequence[str], console: Console) -> None:
    """A word that looks like a value by name is taken for a word; say so, as it is seldom meant."""
    names = {argument.name for argument in template.arguments}
    for word in words:
        if word.partition("=")[0] in names and "=" in word:
            typed = safe_line(shlex.quote(word))
            console.hint(f"hint: {typed} is taken as a word; a value by name is -a {typed}")


def _tell(template: Template, pieces: tuple[Piece, ...], explain: bool, console: Console) -> None:
    if any(placeholder.kind is Kind.SHELL for placeholder in template.placeholders):
        console.hint("hint: the body has shell lines (!`…`): they are text here, and nothing is run")
    for piece in pieces if explain else ():
        if piece.placeholder is not None or piece.origin == "appended":
            console.explain(_explained(piece))


def _explained(piece: Piece) -> str:
    """One placeholder, and where its text came from."""
    raw = piece.placeholder.raw if piece.placeholder else "(end of the body)"
    is_told = piece.origin in ("given", "default", "appended", "plugin root", "unescaped")
    value = f" '{fit(safe_line(piece.text), 60)}'" if is_told else ""
    return f"{safe_line(raw)}  {piece.origin}{value}"
