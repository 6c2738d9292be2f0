"""What `kbp serve` serves, where, and to whom."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbp import configuration as configurations
from kbp import settings
from kbp.commands.console import Console, Stop
from kbp.commands.options import Reading, declaration, nothing_found
from kbp.display import said_of
from kbp.files import Manner, Roots
from kbp.libraries import served
from kbp.library import Library, load_all
from kbp.search import Search, find_paths
from kbp.server import log
from kbp.server.stock import Loader, Unreadable

if TYPE_CHECKING:
    import socket

    from kbp.server.http import Doors
    from kbp.server.tokens import Tokens

CLIENTS = ("claude", "vscode", "json")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Web:
    """Where a server is reached over HTTP, and by whom."""

    http: Annotated[
        str | None,
        typer.Option("--http", metavar="HOST:PORT", help="Serve over HTTP, at /mcp, instead of stdin and stdout."),
    ] = None
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allowed-host", metavar="NAME", help="A name that clients call it by, as behind a proxy. Repeatable."
        ),
    ] = None
    allowed_origin: Annotated[
        list[str] | None,
        typer.Option("--allowed-origin", metavar="URL", help="A web page that may call it. Repeatable."),
    ] = None
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="Let in only who shows a token that is named in FILE."),
    ] = None

    def faults(self) -> list[str]:
        """What is wrong with these options."""
        faults: list[str] = []
        if self.http is None:
            given = {"--allowed-host": self.allowed_host, "--allowed-origin": self.allowed_origin}
            faults += [f"{option} is for a server over HTTP: give --http too" for option, each in given.items() if each]
        else:
            faults += _address_faults(self.http)
        for host in self.allowed_host or ():
            if not host or "/" in host or not host.isprintable() or " " in host:
                faults.append(f"--allowed-host {host!r}: a name, without http:// and without a path")
        for origin in self.allowed_origin or ():
            scheme, mark, rest = origin.partition("://")
            if scheme not in ("http", "https") or not mark or not rest or "/" in rest:
                faults.append(f"--allowed-origin {origin!r}: it is like https://app.example, without a path")
        return faults

    @property
    def address(self) -> tuple[str, int]:
        """The host and the port to listen at."""
        host, port = _split(self.http or "")
        return host, int(port)

    def listener(self) -> "socket.socket":
        """A socket that listens there.

        Raises:
            Stop: it cannot be had.
        """
        from kbp.server.http import bound

        try:
            return bound(*self.address)
        except OSError as error:
            raise Stop(f"--http {self.http}: {said_of(error)}") from None

    def is_open(self) -> bool:
        """Whether other machines can reach it, and no token is needed."""
        return self.address[0] not in _LOOPBACK and self.token_file is None

    def doors(self, tokens: "Callable[[], Tokens] | None") -> "Doors":
        """Who may come in."""
        from kbp.server.http import Doors

        host = self.address[0]
        hosts = [*(self.allowed_host or ()), *([f"[{host}]" if ":" in host else host] if _is_name(host) else [])]
        return Doors(tuple(hosts), tuple(self.allowed_origin or ()), tokens)

    def url(self, port: int | None = None) -> str:
        """The address of the server for a client on this machine."""
        host, named = self.address
        host = "127.0.0.1" if host in ("0.0.0.0", "", "::") else host  # noqa: S104
        return f"http://{f'[{host}]' if ':' in host else host}:{port or named}/mcp"


def _split(address: str) -> tuple[str, str]:
    host, colon, port = address.rpartition(":")
    if not colon:
        host, port = "", address
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", port


def _address_faults(address: str) -> list[str]:
    host, port = _split(address)
    if not (port.isascii() and port.isdigit() and int(port) < 65536) or not host.isprintable() or " " in host:
        return [f"--http {address}: it is HOST:PORT, as in 127.0.0.1:8000"]
    return []


def _is_name(host: str) -> bool:
    """Whether a client can call the server by the address that it listens at."""
    return host not in ("0.0.0.0", "::")  # noqa: S104


@dataclass
class Reader:
    """Reads what is served, again and again: the paths, else the project, else the libraries of a file.

    The user's own folders are served only where they are named.
    """

    reading: Reading
    paths: Sequence[str]
    library_config: Path | None
    skills: bool
    console: Console

    def __post_init__(self) -> None:
        self._here = Path.cwd()
        self._project = Roots().marked(self._here) or self._here
        self._was_read = False
        self._loader = Loader()

    def read(self) -> Sequence[served.Served]:
        """The libraries to serve.

        Raises:
            Stop: there is nothing to serve, the first time.
            Unreadable: they cannot be read, later.
        """
        try:
            libraries = self._libraries()
        except (Stop, OSError) as stop:
            if not self._was_read:
                raise
            raise Unreadable("; ".join(stop.faults) if isinstance(stop, Stop) else said_of(stop)) from None
        self._was_read = True
        self._loader.forget()
        return libraries

    def watched(self) -> list[Path]:
        """The files that say what there is to serve."""
        configuration = self.console.configuration
        return [path for path in (self.library_config, configuration.path) if path is not None]

    def _libraries(self) -> Sequence[served.Served]:
        configuration = replace(self.console).configuration if self._was_read else self.console.configuration
        if self.library_config is None:
            found = self._files(configuration)
            if not self._was_read and not any(each.is_prompt for each in found.files):
                raise nothing_found(found, "kbp serve PATH")
            return (served.of_files(found, self.reading.library or ""),)
        return served.serve(declaration(self.library_config), self._manner(configuration), self._loader.load)

    def _manner(self, configuration: configurations.Configuration) -> Callable[[Path], Manner]:
        return lambda path: self.reading.manner(path, configuration, skills=self.skills)

    def _files(self, configuration: configurations.Configuration) -> Library:
        if self.paths:
            search = self.reading.find_named(self.paths, configuration, skills=self.skills)
        else:
            if not self._project.is_dir():
                raise Stop(f"{self._project}: there is no such folder")
            search = Search(level=1, excluded=configuration.excluded, skills=self.skills)
            for fault in find_paths(settings.extra_paths(), self.reading.given_root, search):
                log.warning("KBP_PATH", what=fault)
            search.level = 2
            self.reading.find_configured(search, configuration)
            search.level = 3
            self.reading.find_project(search, self._here)
        return load_all(search, self._manner(configuration), self._loader.load)


def client_configuration(client: str, name: str, web: Web, arguments: Sequence[str]) -> str:
    """What a client wants in its configuration to reach the server that is started by these arguments.

    Args:
        client: `claude` for a `.mcp.json`, `vscode` for a `.vscode/mcp.json`, `json` for the entry alone.
        name: what the client calls the server.
        web: where it is reached, when that is over HTTP.
        arguments: what starts it on stdin and stdout, behind `kbp serve`.
    """
    entry: dict[str, Any]
    inputs: list[dict[str, Any]] = []
    if web.http is not None:
        entry = {"type": "http", "url": web.url()}
        if web.token_file is not None:
            token = "${input:kbp-token}" if client == "vscode" else "${KBP_TOKEN}"
            entry["headers"] = {"Authorization": f"Bearer {token}"}
            inputs = [{"id": "kbp-token", "type": "promptString", "description": "Token of kbp", "password": True}]
    else:
        program = shutil.which("kbp")
        command = [program] if program else [sys.executable, "-m", "kbp"]
        entry = {"type": "stdio", "command": command[0], "args": [*command[1:], *arguments]}
    if client == "vscode":
        content = {"servers": {name: entry}, **({"inputs": inputs} if inputs else {})}
    else:
        content = entry if client == "json" else {"mcpServers": {name: entry}}
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def absolute(path: str | Path) -> str:
    """A path as it is wherever the server is started."""
    return os.path.abspath(path)  # noqa: PTH100 (resolve() would follow links)
