"""The servers that configuration files name: kbp's own, and those of Claude Code, VS Code and Claude Desktop."""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kbp import configuration, settings
from kbp.configuration import Configuration
from kbp.display import said_of
from kbp.live.base import Json
from kbp.live.server import VARIABLE, Input, Server

OWN_FILE = "config.toml"
_MAX_FILE = 32 * 1024 * 1024
_HTTP_TYPES = ("http", "streamable-http", "streamableHttp")


@dataclass(frozen=True)
class Catalogue:
    """The servers that are configured, the strongest of each name first; the files that were read, and their faults."""

    servers: tuple[Server, ...] = ()
    files: tuple[Path, ...] = ()
    faults: tuple[str, ...] = ()

    def find(self, name: str) -> Server | None:
        """The server of that name."""
        return next((server for server in self.servers if server.name == name), None)


class Unset(ValueError):
    """Variables of a server's configuration have no value; `faults` says it of each."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


# Finding them


def catalogue(project: Configuration, root: Path) -> Catalogue:
    """All servers that the settings of a project, the files in its root, and the user's own files name.

    A name counts where it stands first: the settings, `.mcp.json`, `.vscode/mcp.json`, `mcp.json`, then the user's own
    `config.toml`, Claude Code's, VS Code's and Claude Desktop's.

    Raises:
        configuration.Wrong: the user's own settings cannot be used.
    """
    found: list[Server] = []
    files: list[Path] = []
    faults: list[str] = []
    if project.value("servers") and project.path:
        files.append(project.path)
        found += _servers(project.value("servers"), project.path, project.folder, is_trusted=False)
    own = settings.own_folder() / OWN_FILE
    in_project = [root / name for name in (".mcp.json", ".vscode/mcp.json", "mcp.json")]
    for path, is_trusted in [*((path, False) for path in in_project), (own, True), *_of_the_user()]:
        if not path.is_file():
            continue
        files.append(path)
        if path == own:
            found += _servers(configuration.load(path, personal=True).value("servers"), path, root, is_trusted=True)
            continue
        try:
            found += _of_file(path, root, is_trusted=is_trusted)
        except (OSError, ValueError, RecursionError) as error:
            faults.append(f"{path}: {said_of(error) if isinstance(error, OSError) else f'not JSON: {error}'}")
    named: dict[str, Server] = {}
    for server in found:
        named.setdefault(server.name, server)
    return Catalogue(tuple(named.values()), tuple(files), tuple(faults))


def _of_the_user() -> list[tuple[Path, bool]]:
    return [(path, True) for path in settings.server_files()]


def _of_file(path: Path, root: Path, *, is_trusted: bool) -> list[Server]:
    """The servers that a file of another program names: below `mcpServers` or `servers`, for a project or for all."""
    with path.open("rb") as file:
        content = loads(file.read(_MAX_FILE).decode("utf-8-sig"))
    tables = [content]
    projects = content.get("projects") if isinstance(content, dict) else None
    if isinstance(projects, dict):
        tables = [*(projects.get(str(folder)) for folder in (root, *root.parents)), content]
    found: list[Server] = []
    for table in tables:
        for key in ("mcpServers", "servers"):
            entries = table.get(key) if isinstance(table, dict) else None
            if isinstance(entries, dict):
                inputs = _inputs(table.get("inputs"))
                found += _servers(entries, path, root, is_trusted=is_trusted, inputs=inputs)
    return found


def _servers(
    entries: Mapping[str, Any], path: Path, folder: Path, *, is_trusted: bool, inputs: tuple[Input, ...] = ()
) -> list[Server]:
    made = (_server(name, each, path, folder, is_trusted, inputs) for name, each in entries.items())
    return [server for server in made if server is not None]


def _server(
    name: str, entry: Any, path: Path, folder: Path, is_trusted: bool, inputs: tuple[Input, ...]
) -> Server | None:
    """The server that an entry names; None where it has neither a command nor an address."""
    if not isinstance(entry, dict):
        return None
    command, url = entry.get("command"), entry.get("url")
    base = Server(name, origin=path, is_trusted=is_trusted, inputs=inputs, folder=folder)
    if isinstance(url, str) and entry.get("type") != "stdio":
        return replace(base, url=url, headers=_texts(entry.get("headers")), is_sse=entry.get("type") == "sse")
    if not isinstance(command, str) or not command or entry.get("type") in (*_HTTP_TYPES, "sse"):
        return None
    arguments = entry.get("args")
    rest = tuple(map(str, arguments)) if isinstance(arguments, list) else ()
    cwd = entry.get("cwd")
    return replace(
        base, command=(command, *rest), env=_texts(entry.get("env")), cwd=cwd if isinstance(cwd, str) else None
    )


def _texts(table: Any) -> dict[str, str]:
    entries = table.items() if isinstance(table, dict) else ()
    return {str(key): value if isinstance(value, str) else json.dumps(value) for key, value in entries}


def _inputs(entries: Any) -> tuple[Input, ...]:
    """The inputs of VS Code's file."""
    found = [
        Input(
            each["id"],
            str(each.get("description") or each["id"]),
            each["default"] if isinstance(each.get("default"), str) else None,
            each.get("password") is True,
            tuple(map(str, each["options"])) if isinstance(each.get("options"), list) else (),
        )
        for each in (entries if isinstance(entries, list) else ())
        if isinstance(each, dict) and isinstance(each.get("id"), str)
    ]
    return tuple(found)


# JSON with comments

_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])')


def loads(text: str) -> Any:
    """JSON as editors have it: with comments, and commas behind the last of a row.

    Raises:
        ValueError: it is none.
    """
    try:
        return json.loads(text)
    except ValueError:
        plain = _COMMENT.sub(lambda match: match[1] or re.sub(r"[^\n]", " ", match[0]), text)
        return json.loads(_LAST_COMMA.sub(lambda match: match[1] or " ", plain))


# Variables


def resolved(server: Server, ask: Callable[[Input], str] | None = None) -> Server:
    """The server with its variables replaced by their values.

    Args:
        server: a server as it is configured.
        ask: asks a person for an input; None when nobody can be asked.

    Raises:
        Unset: variables have no value, or an input cannot be asked for.
    """
    environment, faults, answered = settings.environment(), [], {}
    where = f"server '{server.name}' ({server.origin})"

    def value(match: re.Match[str]) -> str:
        if match["folder"]:
            return str((settings.home() if match["folder"] == "userHome" else server.folder) or "")
        if match["input"]:
            return answer(match["input"])
        if match["name"] in environment:
            return environment[match["name"]]
        if match["default"] is None:
            faults.append(f"{where}: the variable {match['name']} is not set")
        return match["default"] or ""

    def answer(id: str) -> str:
        wanted = next((each for each in server.inputs if each.id == id), None)
        if wanted is None:
            faults.append(f"{where}: there is no input '{id}'")
        elif id not in answered and ask is None:
            if wanted.default is None:
                faults.append(f"{where}: the input '{id}' can only be asked for on a terminal")
            return wanted.default or ""
        elif id not in answered and ask is not None:
            answered[id] = ask(wanted)
        return answered.get(id, "")

    def filled(text: str) -> str:
        return re.sub(VARIABLE, value, text)

    made = replace(
        server,
        command=tuple(map(filled, server.command)),
        env={name: filled(text) for name, text in server.env.items()},
        cwd=os.path.join(server.folder or "", os.path.expanduser(filled(server.cwd))) if server.cwd else None,  # noqa: PTH111, PTH118
        url=filled(server.url) if server.url else None,
        headers={name: filled(text) for name, text in server.headers.items()},
    )
    if faults:
        raise Unset(list(dict.fromkeys(faults)))
    return made


def described(server: Server) -> Json:
    """The server as JSON for a person to see: of headers and environment the names alone."""
    content: Json = {"name": server.name}
    content |= {"url": server.address, "type": "sse" if server.is_sse else "http"} if server.url else {}
    content |= {"command": list(server.command), "type": "stdio"} if server.command else {}
    content |= {"headers": sorted(server.headers)} if server.headers else {}
    content |= {"env": sorted(server.env)} if server.env else {}
    return {**content, "file": str(server.origin)} if server.origin else content
