"""The options that every command takes, and the words that others are checked against."""

import contextlib
import dataclasses
import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from kbp import __version__, settings
from kbp.commands.console import Console, Stop
from kbp.display import said_of

_MAX_TOLD = 10


def _print_version(wanted: bool) -> None:
    if wanted:
        Console().print(f"kbp {__version__}\n")
        raise typer.Exit


@dataclasses.dataclass(frozen=True)
class Common:
    """What every command takes."""

    directory: Annotated[
        Path | None,
        typer.Option("-C", "--directory", metavar="DIR", help="Run as if started in DIR."),
    ] = None
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No hints and no summary; errors stay.")] = False
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Tell where was looked, what was skipped and what was dropped.")
    ] = False
    color: Annotated[str, typer.Option("--color", metavar="auto|always|never", help="When to print colours.")] = "auto"
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", envvar="KBP_CONFIG", help="The settings; found by their name."),
    ] = None
    no_config: Annotated[bool, typer.Option("--no-config", help="Use no settings.")] = False
    no_input: Annotated[bool, typer.Option("--no-input", envvar="KBP_NO_INPUT", help="Never ask a question.")] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an unexpected failure.")] = False
    version: Annotated[
        bool,
        typer.Option("-V", "--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False

    def over(self, before: "Common") -> "Common":
        """These options, with those given before the name of the command where they say something more."""
        given = {
            each.name: value
            for each in dataclasses.fields(self)
            if (value := getattr(before, each.name)) != each.default and getattr(self, each.name) == each.default
        }
        return dataclasses.replace(self, **given)

    def console(self) -> Console:
        """Where the command prints."""
        verbose = self.verbose or settings.is_debug_log()
        return Console(self.color, self.quiet, verbose, self.directory, self.config, not self.no_config, self.no_input)


def bad_choice(option: str, value: str, choices: Iterable[str]) -> list[str]:
    """What is wrong with the value of an option that takes one of a few words; nothing when it is one of them."""
    words = list(choices)
    if value in words:
        return []
    near = difflib.get_close_matches(value.lower(), words, n=1)
    takes = f"; it takes {', '.join(words)}" if len(words) <= _MAX_TOLD else ""
    return [f"{option}: there is no '{value}'" + (f"; did you mean '{near[0]}'?" if near else takes)]


def check_folder() -> None:
    """See that the current folder is there.

    Raises:
        Stop: it was removed.
    """
    try:
        Path.cwd()
    except OSError as error:
        raise Stop(f"the current folder cannot be used: {said_of(error)}") from None


@contextlib.contextmanager
def in_folder(folder: Path | None) -> Iterator[None]:
    """Run in another folder.

    Raises:
        Stop: there is no such folder.
    """
    if folder is None:
        yield
        return
    try:
        change = contextlib.chdir(folder)
        change.__enter__()
    except OSError as error:
        raise Stop(f"-C {folder}: {said_of(error)}") from None
    try:
        yield
    finally:
        change.__exit__(None, None, None)
