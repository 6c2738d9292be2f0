"""The command line: every subcommand in the order of the help."""

import contextlib
import itertools
import os
import sys
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path

import typer

from kbp import __version__
from kbp.commands.bundles import before_command, bundled
from kbp.commands.config import config
from kbp.commands.console import WRONG_REQUEST, Console, ReaderGone, Stop, drop
from kbp.commands.convert import convert
from kbp.commands.diff import diff
from kbp.commands.lint import lint
from kbp.commands.list import list_prompts
from kbp.commands.new import new
from kbp.commands.render import render
from kbp.commands.rules import rules
from kbp.commands.server import server
from kbp.commands.show import show

BUG, LEFT = 70, 130

HELP = """Lint, convert and render prompt files: kb ({{ name }}), Claude Code ($ARGUMENTS), Copilot (${input:name}).

\b
  kbp lint                          what is wrong with the prompts of this project
  kbp convert commands/ --to copilot
  kbp list                          which prompts there are
  kbp render debug -a app=loki      one of them, filled in
"""

app = typer.Typer(
    name="kbp",
    add_completion=False,
    rich_markup_mode=None,
    help=HELP,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


app.callback()(before_command())
app.command("lint")(bundled(lint))
app.command("convert")(bundled(convert))
app.command("render")(bundled(render))
app.command("list")(bundled(list_prompts))
app.command("show")(bundled(show))
app.command("diff")(bundled(diff))
app.command("new")(bundled(new))
app.command("server")(bundled(server))
app.command("rules")(bundled(rules))
app.command("config")(bundled(config))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and give its exit code. A bug is told in one line, or raised with `--debug`."""
    _speak_utf8()
    console = Console(_color(arguments))
    os.environ.pop("_KBP_COMPLETE", None)  # asks Typer for a completion that it does not have
    try:
        if not arguments:
            return _help()
        with _blaming_stdout(console):
            code = app(list(arguments), prog_name="kbp", standalone_mode=False)
    except Stop as stop:
        console.fail(stop.faults, stop.help)
        return stop.code
    except typer.TyperException as error:
        help = [f"  `{_command_path(error)} --help` shows what it takes"]
        if _command_path(error) == "kbp render" and "no such option" in _usage(error):
            help.append("  words that start with a dash go behind --, as in: kbp render NAME -- -5")
        console.fail([_usage(error)], help)
        return error.exit_code
    except (ReaderGone, SystemExit):  # Typer leaves so when nobody reads its help
        drop(sys.stdout)
        return 0
    except (KeyboardInterrupt, typer.Abort):
        return LEFT
    except Exception as error:  # the one place where a bug is caught
        if "--debug" in arguments:
            raise
        said = " ".join(f"{type(error).__name__}: {error}".split())
        console.fail(
            [f"kbp {__version__} failed: {said}"], ["  this is a bug in kbp; run it again with --debug to see where"]
        )
        return BUG
    return int(code or 0)


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
            app(["--help"], prog_name="kbp", standalone_mode=False)
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


def _speak_utf8() -> None:
    """Print UTF-8 whatever the locale; bytes of file names that are not go through as they came."""
    # Closed by the caller: a result that goes nowhere is a fault, what is told beside it is not.
    sys.stdout = sys.stdout or Path(os.devnull).open()  # noqa: SIM115 (as long as the process)
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # no file, or no such thing
            os.set_blocking(stream.fileno(), True)  # some callers hand over pipes that do not wait
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            errors = "surrogateescape" if stream is sys.stdout else "backslashreplace"
            stream.reconfigure(encoding="utf-8", errors=errors, newline="\n")
