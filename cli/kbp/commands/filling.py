"""A prompt file filled in and printed."""

import shlex
from collections.abc import Sequence

from kbp import renderer
from kbp.commands.asking import Asker
from kbp.commands.console import Console, Stop
from kbp.commands.given import missing_arguments
from kbp.commands.way import Way
from kbp.display import fit, safe_line
from kbp.files import PromptFile
from kbp.model import Kind, Template
from kbp.output.messages import FORMATS, Rendered
from kbp.renderer import MissingArguments, Piece, TooLarge
from kbp.values import Values


def filled(
    file: PromptFile, template: Template, values: Values, asker: Asker, command: Sequence[str]
) -> tuple[Piece, ...]:
    """The body filled. A person on a terminal is asked for what is missing.

    Args:
        file: the prompt file.
        template: its template.
        values: what was given.
        asker: asks the person.
        command: the name of the prompt as it was typed, and the options that say where it is.

    Raises:
        Stop: something is wrong with the values, or some are missing: all of it is one error.
    """
    asker.complete(template.arguments, values)
    try:
        pieces = renderer.fill(template, values.given, file.library, file.folder)
    except MissingArguments as error:
        missing = tuple(argument for argument in error.arguments if argument.name not in values.attempted)
        if not missing:
            raise Stop(values.faults) from None
        raise missing_arguments(missing, values, command) from None
    except TooLarge as error:
        raise Stop([*values.faults, f"{command[0]} cannot be rendered: {error}"]) from None
    if values.faults:
        raise Stop(values.faults)
    return pieces


def print_filled(
    template: Template, pieces: Sequence[Piece], way: Way, console: Console, *, explain: bool = False
) -> None:
    """Print the messages of a filled prompt, and tell what there is to tell of it.

    Raises:
        Stop: they cannot be printed.
    """
    rendered = Rendered(template.description, renderer.messages(pieces))
    text = FORMATS[way.format](rendered)
    for loss in rendered.losses:
        console.warn(loss)
    if any(placeholder.kind is Kind.SHELL for placeholder in template.placeholders):
        console.hint("hint: the body has shell lines (!`…`): they are text here, and nothing is run")
    for piece in pieces if explain else ():
        if piece.placeholder is not None or piece.origin == "appended":
            console.explain(_explained(piece))
    way.deliver(text, console, is_text=way.is_text)


def tell_words(template: Template, words: Sequence[str], console: Console) -> None:
    """A word that looks like a value by name is taken for a word; say so, as it is seldom meant."""
    names = {argument.name for argument in template.arguments}
    for word in words:
        if word.partition("=")[0] in names and "=" in word:
            typed = safe_line(shlex.quote(word))
            console.hint(f"hint: {typed} is taken as a word; a value by name is -a {typed}")


def _explained(piece: Piece) -> str:
    """One placeholder, and where its text came from."""
    raw = piece.placeholder.raw if piece.placeholder else "(end of the body)"
    is_told = piece.origin in ("given", "default", "appended", "plugin root", "unescaped")
    value = f" '{fit(safe_line(piece.text), 60)}'" if is_told else ""
    return f"{safe_line(raw)}  {piece.origin}{value}"
