"""Colours of terminal text, by what a piece of it means."""

from typing import Literal

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
    if not color:
        return text
    import typer  # which takes longer than many a run

    return typer.style(text, **_STYLES[meaning])  # type: ignore[arg-type]  # a table of keywords
