"""The person's terminal, opened by itself so that stdin and stdout stay free for data."""

import contextlib
import errno
import os
from collections.abc import Iterator, Sequence
from typing import Any

from kbp import settings

_TERMINAL = "/dev/tty"
_HUNG_UP = 129
"""The exit code of a process whose terminal hung up."""


class Gone(Exception):
    """There is no terminal to ask on."""


def may_ask(*, no_input: bool = False) -> bool:
    """Whether a person can be asked: nobody forbids it, and there is a terminal."""
    return not no_input and not settings.forbids_questions() and is_there()


def is_there() -> bool:
    """Whether there is a terminal."""
    try:
        os.close(os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


@contextlib.contextmanager
def terminal(color: str = "auto") -> Iterator[dict[str, Any]]:
    """The keywords that put a question of questionary or prompt_toolkit on the terminal; `color` is the flag `--color`.

    What is typed before a question is there waits for it: the terminal neither shows it nor takes it for signals.

    Raises:
        Gone: there is none.
    """
    from prompt_toolkit.input import create_input
    from prompt_toolkit.output import ColorDepth, create_output

    try:
        with contextlib.ExitStack() as stack:
            try:
                keys = stack.enter_context(open(_TERMINAL, encoding="utf-8", errors="surrogateescape"))  # noqa: PTH123
                screen = stack.enter_context(open(_TERMINAL, "w", encoding="utf-8", errors="replace"))  # noqa: PTH123
            except OSError as error:
                raise Gone(str(error)) from None
            wanted = ColorDepth.DEPTH_4_BIT if color == "always" else None  # else prompt_toolkit asks the environment
            depth = wanted if settings.use_color(color, True) else ColorDepth.DEPTH_1_BIT
            typed = create_input(keys)
            stack.enter_context(typed.raw_mode())
            yield {"input": typed, "output": create_output(screen), "color_depth": depth}
    except OSError as error:
        if error.errno not in (errno.EIO, errno.ENXIO):
            raise
        raise KeyboardInterrupt(_HUNG_UP) from None  # the terminal is gone, and the person with it


def tell(text: str) -> None:
    """Write lines on the terminal, which are safe on it already."""
    with contextlib.suppress(OSError), open(_TERMINAL, "w", encoding="utf-8", errors="replace") as screen:  # noqa: PTH123
        screen.write(text)


def run(command: Sequence[str]) -> int:
    """Run a program of the person in their terminal, wherever stdin and stdout lead, and give its exit code.

    Raises:
        OSError: it cannot be started.
    """
    import subprocess

    with contextlib.ExitStack() as stack:
        try:
            keys = screen = stack.enter_context(open(_TERMINAL, "r+b", buffering=0)).fileno()  # noqa: PTH123
        except OSError:  # an editor with windows of its own needs none
            keys, screen = subprocess.DEVNULL, 2
        return subprocess.run(command, check=False, stdin=keys, stdout=screen, stderr=screen).returncode  # noqa: S603 (the user's own command)


def edited(text: str) -> str | None:
    """The text after a person edited it in their editor, without its last line end; None when that did not happen."""
    import tempfile
    from pathlib import Path

    editor = settings.editor()
    if not editor:
        return None
    with tempfile.TemporaryDirectory(prefix="kbp-") as folder:
        path = Path(folder, "answer.md")
        try:
            path.write_text(text, encoding="utf-8", errors="surrogateescape")
            if run([*editor, str(path)]) != 0:
                return None
            return path.read_text(encoding="utf-8", errors="surrogateescape").removesuffix("\n")
        except OSError:
            return None
