"""The person's clipboard."""

import base64

from kbp.ask.terminal import is_there, tell

_MAX_SEQUENCE = 74_994
"""How many bytes of text terminals take in one OSC 52 sequence: 100,000 bytes of it in all (xterm)."""


class NoClipboard(Exception):
    """There is no clipboard that can be reached."""


def copy(text: str) -> str:
    """Put a text in the clipboard, and say how: by a program of the desktop, else through the terminal.

    Raises:
        NoClipboard: there is neither.
    """
    import pyperclip

    try:
        pyperclip.copy(text)
    except (pyperclip.PyperclipException, OSError, UnicodeError):
        data = text.encode(errors="replace")
        if not is_there():
            raise NoClipboard("there is no clipboard here: no xclip, xsel or wl-copy, and no terminal") from None
        if len(data) > _MAX_SEQUENCE:
            raise NoClipboard("the text is too long for the clipboard of a terminal, and there is no other") from None
        tell(f"\x1b]52;c;{base64.b64encode(data).decode()}\x07")
        return "handed to the terminal's clipboard (where the terminal allows it)"
    return "copied to the clipboard"
