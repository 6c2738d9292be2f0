"""The person's clipboard."""

import base64
import shutil
import subprocess
import sys
from collections.abc import Iterator

from kbp import settings
from kbp.ask.terminal import is_there, tell

_MAX_SEQUENCE = 74_994
"""How many bytes of text terminals take in one OSC 52 sequence: 100,000 bytes of it in all (xterm)."""
_PATIENCE = 5.0


class NoClipboard(Exception):
    """There is no clipboard that can be reached."""


def copy(text: str) -> str:
    """Put a text in the clipboard, and say how: by a program of the desktop, else through the terminal.

    Raises:
        NoClipboard: there is neither.
    """
    data = text.encode(errors="replace")
    for command in _programs():
        if _hand_over(data, command):
            return f"copied to the clipboard ({command[0]})"
    if not is_there():
        raise NoClipboard("there is no clipboard here: no xclip, xsel or wl-copy that works, and no terminal")
    if len(data) > _MAX_SEQUENCE:
        raise NoClipboard("the text is too long for the clipboard of a terminal, and there is no other")
    tell(f"\x1b]52;c;{base64.b64encode(data).decode()}\x07")
    return "handed to the terminal's clipboard (where the terminal allows it)"


def _programs() -> Iterator[list[str]]:
    """The commands of this desktop that take a text for the clipboard."""
    displays = settings.environment()
    if sys.platform == "darwin":
        yield ["pbcopy"]
    elif sys.platform == "win32":
        yield ["clip"]
    if displays.get("WAYLAND_DISPLAY"):
        yield ["wl-copy"]
    if displays.get("DISPLAY"):
        yield from (["xclip", "-selection", "clipboard"], ["xsel", "--clipboard", "--input"])


def _hand_over(data: bytes, command: list[str]) -> bool:
    """Give a text to a program, and say whether it took it. It may go on in the background, so nothing waits for it."""
    if shutil.which(command[0]) is None:
        return False
    nowhere = subprocess.DEVNULL
    try:
        done = subprocess.run(command, input=data, stdout=nowhere, stderr=nowhere, timeout=_PATIENCE, check=False)  # noqa: S603 (a table of our own)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
