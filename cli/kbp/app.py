"""The command line: every subcommand in the order of the help."""

import contextlib
import itertools
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module

import typer

from kbp.commands.bundles import before_command, bundled
from kbp.commands.console import WRONG_REQUEST, Console, drop
from kbp.commands.running import LEFT, guarded, speak_utf8

HELP = """Lint, convert and render prompt files: kb ({{ name }}), Claude Code ($ARGUMENTS), Copilot (${input:name}).

\b
  kbp lint                          what is wrong with the prompts of this project
  kbp convert commands/ --to copilot
  kbp pick                          pick a prompt, answer its arguments
  kbp list                          which prompts there are
  kbp render debug -a app=loki      one of them, filled in
  kbp list --server docs            the prompts of a live MCP server
  kbp serve prompts/                these files, as MCP prompts for every client
"""

COMMANDS = {
    "lint": "lint",
    "convert": "convert",
    "render": "render",
    "pick": "pick",
    "list": "list_prompts",
    "show": "show",
    "diff": "diff",
    "new": "new",
    "edit": "edit",
    "serve": "serve",
    "server": "server",
    "rules": "rules",
    "config": "config",
    "history": "history",
    "completions": "completions",
}
"""The subcommands in the order of the help, each with its function in the module of its name."""


def app_of(names: Iterable[str]) -> typer.Typer:
    """The command line with some of the subcommands: a run imports what it needs."""
    app = typer.Typer(
        name="kbp",
        add_completion=False,
        rich_markup_mode=None,
        help=HELP,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(before_command())
    for name in names:
        app.command(name)(bundled(getattr(import_module(f"kbp.commands.{name}"), COMMANDS[name])))
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command line and give its exit code. A bug is told in one line, or raised with `--debug`."""
    speak_utf8()
    console = Console(_color(arguments))
    os.environ.pop("_KBP_COMPLETE", None)  # asks Typer for a completion that it does not have
    return guarded(console, lambda: _run(list(arguments), console), debug="--debug" in arguments)


def _run(arguments: list[str], console: Console) -> int:
    if not arguments:
        return _help()
    named = [name for name in COMMANDS if name in arguments]
    try:
        try:
            return _call(named or list(COMMANDS), arguments, console)
        except typer.TyperException as error:
            if not _concerns_command(error):
                raise
            return _call(list(COMMANDS), arguments, console)  # it is none of those that are named, but for a typo
    except typer.TyperException as error:
        help = [f"  `{_command_path(error)} --help` shows what it takes"]
        if _command_path(error) == "kbp render" and "no such option" in _usage(error):
            help.append("  words that start with a dash go behind --, as in: kbp render NAME -- -5")
        console.fail([_usage(error)], help)
        return int(error.exit_code)
    except typer.Abort:
        return LEFT


def _call(names: Sequence[str], arguments: list[str], console: Console) -> int:
    with _blaming_stdout(console):
        return int(app_of(names)(arguments, prog_name="kbp", standalone_mode=False) or 0)


def _concerns_command(error: typer.TyperException) -> bool:
    """Whether a command line is wrong before its subcommand: its name, or an option in front of it."""
    return _command_path(error) == "kbp"


@contextlib.contextmanager
def _blaming_stdout(console: Console) -> Iterator[None]:
    """See that what Typer prints itself (a help) arrives, and that a stdout that cannot be written is named as such."""
    try:
        yield
    except OSError:
        console.print("")
        raise
    console.flush()


def _help() -> int:
    """Print the help on stderr: a command line without a command is wrong."""
    with contextlib.redirect_stdout(sys.stderr):
        try:
            app_of(COMMANDS)(["--help"], prog_name="kbp", standalone_mode=False)
            sys.stderr.flush()
        except OSError:
            drop(sys.stderr)
    return WRONG_REQUEST


def _usage(error: typer.TyperException) -> str:
    """What Typer says of a wrong command line, in the manner of kbp's own errors."""
    said = error.format_message().strip()
    return said[:1].lower() + said[1:].removesuffix(".")


def _command_path(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return str(context.command_path) if context is not None else "kbp"


def _color(arguments: Sequence[str]) -> str:
    """What `--color` says, for errors that come before any command has its options."""
    given = [text.partition("=")[2] for text in arguments if text.startswith("--color=")]
    given += [value for option, value in itertools.pairwise(arguments) if option == "--color"]
    return next((value for value in given if value in ("always", "never")), "auto")
