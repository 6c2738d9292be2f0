"""One run of kbp: its streams made ready, and whatever ends it told and turned into an exit code."""

import contextlib
import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path

from kbp import __version__
from kbp.commands.console import TO_REPORT, Console, Left, ReaderGone, Stop, drop

BUG, LEFT = 70, 130


def leaving(action: Callable[[], int]) -> int:
    """Do something that a person may leave.

    Raises:
        Left: they do, by Ctrl-C or Ctrl-D, or a signal ends the process.
    """
    try:
        return action()
    except KeyboardInterrupt as left:  # with the exit code of the signal that it stands for
        raise Left(int(left.args[0]) if left.args else LEFT) from None
    except EOFError:
        raise Left(TO_REPORT) from None


def guarded(console: Console, action: Callable[[], int], *, debug: bool = False) -> int:
    """Do what a command line asks for, and give its exit code. A bug is told in one line, or raised with `debug`."""
    try:
        return leaving(action)
    except Stop as stop:
        console.fail(stop.faults, stop.help)
        return stop.code
    except (ReaderGone, SystemExit):  # Typer leaves so when nobody reads its help
        drop(sys.stdout)
        return 0
    except Left as left:
        return left.code
    except Exception as error:  # the one place where a bug is caught
        if debug:
            raise
        said = " ".join(f"{type(error).__name__}: {error}".split())
        console.fail(
            [f"kbp {__version__} failed: {said}"], ["  this is a bug in kbp; run it again with --debug to see where"]
        )
        return BUG


def speak_utf8() -> None:
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
