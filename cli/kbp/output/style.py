"""Colours of terminal text, by what a piece of it means."""

from typing import Literal

import typer

Meaning = Literal["error", "warning", "info", "path", "strong", "faint", "argument", "resolved", "kept"]

_STYLES: dict[Meaning, dict[str, object]] = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "info": {"fg": "cyan", "bold": True},
    "path": {"bold": True},
    "strong": {"bold": True},
    "faint": {"dim": True},
    "argument": {"fg": "green", "bold": True},
    "resolved": {"fg": "blue", "bold": True},
    "kept": {"fg": "magenta"},
}


def styled(text: str, meaning: Meaning, color: bool) -> str:
    """The text in the colours of its meaning, as it is without colour."""
    return typer.style(text, **_STYLES[meaning]) if color else text  # type: ignore[arg-type]  # a table of keywords
