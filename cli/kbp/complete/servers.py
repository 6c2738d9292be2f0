"""The live servers that a command line may name, and what was listed of them. No server is asked for a Tab press."""

from __future__ import annotations

import os
import time

from kbp import shelf
from kbp.complete import folders
from kbp.complete.prompts import root_of

TYPE_CHECKING = False  # as type checkers know it

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbp.model import Prompt

SERVERS, PROMPTS = "servers", "prompts"
LIFE = 86_400.0
"""How long the names of a list are offered, in seconds: a prompt is looked up anew before it is called."""


def subject_of(label: str) -> str:
    """What a list is kept under: a server as it was named, with the folder where its name means it."""
    is_name = "://" not in label and " " not in label
    here = os.getcwd()  # noqa: PTH109
    return f"{label} {root_of(here) or here}" if is_name else label


def keep(label: str, key: str, found: Sequence[Prompt]) -> None:
    """Keep the names of a list of the server with that key.

    Of each prompt its name and what is said of it are kept, and the same of its arguments.
    """
    rows = [["until", str(time.time() + LIFE), key]]
    for prompt in found:
        rows.append(["prompt", prompt.name, prompt.description or prompt.title or ""])
        for each in prompt.arguments:
            need = "(required) " if each.required else ""
            rows.append(["argument", each.name, f"{need}{each.description or ''}"])
    shelf.write(PROMPTS, subject_of(label), rows)


def prompts(label: str) -> list[tuple[str, str]]:
    """The prompts of the last list of a server, each with what is said of it."""
    return [(row[1], row[2]) for row in _rows(label)[1] if row[0] == "prompt"]


def arguments(label: str, prompt: str) -> tuple[str, list[list[str]]]:
    """The key of a server, and name, help and default of the arguments of a prompt in its last list."""
    key, rows = _rows(label)
    found: list[list[str]] = []
    is_in = False
    for row in rows:
        if row[0] == "prompt":
            is_in = row[1] == prompt
        elif is_in:
            found.append([row[1], row[2], ""])
    return key, found


def _rows(label: str) -> tuple[str, list[list[str]]]:
    head, *rows = shelf.read(PROMPTS, subject_of(label)) or [["until", "0", ""]]
    if head[0] != "until" or len(head) != 3 or float(head[1]) < time.time():
        return "", []
    return head[2], [row for row in rows if len(row) == 3]


def names() -> list[str]:
    """The servers that are configured here; read anew when one of their files has changed."""
    here = os.getcwd()  # noqa: PTH109
    root = root_of(here) or here
    in_project = ("kbp.toml", ".kbp.toml", "pyproject.toml", ".mcp.json", ".vscode/mcp.json", "mcp.json")
    files = [*(f"{root}/{name}" for name in in_project), *folders.server_files()]
    stamp = " ".join(map(shelf.stamp_of, files))
    rows = shelf.read(SERVERS, root, stamp)
    if rows is None:
        rows = [[name] for name in _configured(root)]
        shelf.write(SERVERS, root, rows, stamp)
    return [row[0] for row in rows]


def _configured(root: str) -> list[str]:
    from pathlib import Path

    from kbp import configuration, dialects
    from kbp.live.servers import catalogue

    try:
        path = configuration.find(Path.cwd())
        project = configuration.load(path, dialects.names()) if path else configuration.Configuration()
        return [server.name for server in catalogue(project, Path(root)).servers]
    except configuration.Wrong:
        return []
