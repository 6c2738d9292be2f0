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
from kbp.live.server import VARIABLE, Input, Server, can_be_header

_MAX_FILE = 32 * 1024 * 1024
_HTTP_TYPES = ("http", "streamable-http", "streamableHttp")


@dataclass(frozen=True)
class Catalogue:
    """The servers that are configured, the files that were read, and what is wrong with them.

    `shadowed` are the servers whose name stands in a stronger file too.
    """

    servers: tuple[Server, ...] = ()
    files: tuple[Path, ...] = ()
    faults: tuple[str, ...] = ()
    shadowed: tuple[Server, ...] = ()

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
        found += _servers(project.value("servers"), project.path, project.folder, faults, is_trusted=False)
    own = settings.own_folder() / configuration.OWN_FILE
    in_project = [root / name for name in (".mcp.json", ".vscode/mcp.json", "mcp.json")]
    for path in (*in_project, own, *settings.server_files()):
        is_trusted = path not in in_project
        if not path.is_file():
            continue
        files.append(path)
        if path == own:
            named = configuration.load_own().value("servers")
            found += _servers(named, path, root, faults, is_trusted=True)
            continue
        try:
            found += _of_file(path, root, faults, is_trusted=is_trusted)
        except (OSError, ValueError, RecursionError) as error:
            faults.append(f"{path}: {said_of(error) if isinstance(error, OSError) else f'not JSON: {error}'}")
    strongest: dict[str, Server] = {}
    for server in found:
        strongest.setdefault(server.name, server)
    shadowed = tuple(server for server in found if strongest[server.name] is not server)
    return Catalogue(tuple(strongest.values()), tuple(files), tuple(faults), shadowed)


def _of_file(path: Path, root: Path, faults: list[str], *, is_trusted: bool) -> list[Server]:
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
                found += _servers(entries, path, root, faults, is_trusted=is_trusted, inputs=inputs)
    return found


def _servers(
    entries: Mapping[str, Any],
    path: Path,
    folder: Path,
    faults: list[str],
    *,
    is_trusted: bool,
    inputs: tuple[Input, ...] = (),
) -> list[Server]:
    """The servers of a table; an entry that cannot be used is a fault."""
    found: list[Server] = []
    for name, entry in entries.items():
        base = Server(name, origin=path, is_trusted=is_trusted, inputs=inputs, folder=folder)
        try:
            found.append(_server(entry, base))
        except ValueError as error:
            faults.append(f"{path}: server '{name}': {error}")
    return found


def _server(entry: Any, base: Server) -> Server:
    """The server that an entry names.

    Raises:
        ValueError: it cannot be used.
    """
    if not isinstance(entry, dict):
        raise ValueError("it is no table")
    kind, command, url = (entry.get(key) for key in ("type", "command", "url"))
    url = entry.get("serverUrl") if url is None else url
    if kind not in (None, "stdio", "sse", *_HTTP_TYPES):
        raise ValueError(f"its type {kind!r} is none that kbp speaks: stdio, http, sse")
    is_program = kind == "stdio" or (kind is None and url is None)
    if is_program and isinstance(command, str) and command:
        rest = tuple(_argument(each) for each in _typed(entry, "args", list, []))
        cwd = _typed(entry, "cwd", str, None)
        return replace(base, command=(command, *rest), env=_texts(entry, "env"), cwd=cwd)
    if not is_program and isinstance(url, str) and url:
        return replace(base, url=url, headers=_texts(entry, "headers"), is_sse=kind == "sse")
    raise ValueError("it has no command" if is_program else "it has no url")


def _typed(entry: Mapping[str, Any], key: str, kind: type, default: Any) -> Any:
    value = entry.get(key)
    if value is None:
        return default
    if not isinstance(value, kind) or (isinstance(value, str) and "\0" in value):
        raise ValueError(f"its {key} is no {'list' if kind is list else 'table' if kind is dict else 'text'}")
    return value


def _argument(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("its args are not all texts")
    return str(value)


def _texts(entry: Mapping[str, Any], key: str) -> dict[str, str]:
    """The texts of a table; numbers and booleans as JSON writes them."""
    found: dict[str, str] = {}
    for name, value in _typed(entry, key, dict, {}).items():
        if not isinstance(value, str | int | float):
            raise ValueError(f"{name} of its {key} is no text")
        found[str(name)] = value if isinstance(value, str) else json.dumps(value)
        if "\0" in name + found[str(name)] or (key == "env" and ("=" in name or not name)):
            raise ValueError(f"{name!r} of its {key} is none that can be set")
    return found


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

_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\\?\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\\?\Z))|,(?=\s*[}\]])')


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
        elif id not in answered and wanted.variable in environment:
            answered[id] = environment[wanted.variable]
        elif id not in answered and ask is None:
            if wanted.default is None:
                faults.append(f"{where}: the input '{id}' is asked for on a terminal; else set {wanted.variable}")
            return wanted.default or ""
        elif id not in answered and ask is not None:
            answered[id] = ask(wanted)
        return answered.get(id, "")

    def filled(text: str) -> str:
        return re.sub(VARIABLE, value, text)

    def header(name: str, text: str) -> str:
        value = filled(text).strip()
        if not can_be_header(value):
            faults.append(f"{where}: its header {name} has characters that no header can have")
        return value

    own = str(server.folder) if server.folder and not server.is_trusted else None
    made = replace(
        server,
        command=tuple(map(filled, server.command)),
        env={name: filled(text) for name, text in server.env.items()},
        cwd=os.path.join(server.folder or "", os.path.expanduser(filled(server.cwd))) if server.cwd else own,  # noqa: PTH111, PTH118
        url=filled(server.url) if server.url else None,
        headers={name: header(name, text) for name, text in server.headers.items()},
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
