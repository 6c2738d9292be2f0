"""What `kbp serve` serves, where, and to whom."""

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbp import configuration as configurations
from kbp import settings
from kbp.commands.console import Console, Stop
from kbp.commands.sources import Reading, declaration, nothing_found
from kbp.display import said_of
from kbp.files import Manner, Roots
from kbp.libraries import served
from kbp.library import Library, load_all
from kbp.search import Search, find_paths
from kbp.server import log
from kbp.server.doors import LOCAL, Doors, host_of, origin_of
from kbp.server.loading import Loader
from kbp.server.stock import Harvest, Unreadable

if TYPE_CHECKING:
    import socket

    from kbp.server.tokens import Tokens

CLIENTS = ("claude", "vscode", "json")
_ANY = ("0.0.0.0", "::")  # noqa: S104 (what a server listens at to be reached from everywhere)


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
            given = {
                "--allowed-host": self.allowed_host,
                "--allowed-origin": self.allowed_origin,
                "--token-file": self.token_file,
            }
            faults += [f"{option} is for a server over HTTP: give --http too" for option, each in given.items() if each]
        else:
            faults += _address_faults(self.http)
        for host in self.allowed_host or ():
            if host_of(host) is None:
                faults.append(f"--allowed-host {host!r}: a name in ASCII, without http:// and without a path")
        for origin in self.allowed_origin or ():
            if origin_of(origin) is None:
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
            help = ["  another port, or 0 for any that is free"] if error.errno == errno.EADDRINUSE else []
            raise Stop(f"--http {self.http}: {said_of(error)}", help=help) from None

    def warnings(self) -> Iterator[tuple[str, str]]:
        """What whoever starts it should know of who can reach it, each with what helps."""
        host, _ = self.address
        if _in_url(host) not in LOCAL and self.token_file is None:
            yield "other machines need no token", "--token-file FILE"
        if host in _ANY and not self.allowed_host:
            yield "it is answered by the names of this machine only: 127.0.0.1, localhost", "--allowed-host NAME"

    def doors(self, tokens: "Callable[[], Tokens] | None") -> Doors:
        """Who may come in."""
        host, _ = self.address
        hosts = [*(self.allowed_host or ()), *([] if host in _ANY else [_in_url(host)])]
        return Doors(tuple(hosts), tuple(self.allowed_origin or ()), tokens)

    def url(self, port: int | None = None) -> str:
        """The address of the server for a client: on this machine, or by the name that it has behind a proxy."""
        if port is None and self.allowed_host:
            return f"https://{self.allowed_host[0]}/mcp"
        host, named = self.address
        return f"http://{_in_url('127.0.0.1' if host in _ANY else host)}:{port or named}/mcp"


def _split(address: str) -> tuple[str, str]:
    host, colon, port = address.rpartition(":")
    if not colon:
        host, port = "", address
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", port


def _address_faults(address: str) -> list[str]:
    if "://" in address:
        return [f"--http {address}: it is HOST:PORT, as in 127.0.0.1:8000, without http:// and without a path"]
    host, port = _split(address)
    if not (port.isascii() and port.isdigit() and int(port) < 65536) or not host.isprintable() or " " in host:
        return [f"--http {address}: it is HOST:PORT, as in 127.0.0.1:8000"]
    return []


def _in_url(host: str) -> str:
    """A host as URLs have it."""
    return f"[{host}]" if ":" in host else host


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
        self._loader = Loader()
        self._was_read = False

    def read(self, before: Sequence[served.Served]) -> Harvest:
        """The libraries to serve.

        Raises:
            Stop: there is nothing to serve, the first time.
            Unreadable: they cannot be read, later.
        """
        try:
            libraries = self._libraries(before)
        except (Stop, OSError) as stop:
            self._loader.give_up()
            if not self._was_read:
                raise
            said = "; ".join(stop.faults) if isinstance(stop, Stop) else said_of(stop)
            raise Unreadable(self._relative(said)) from None
        self._was_read = True
        return Harvest(libraries, self._loader.end())

    def resolve_anew(self) -> None:
        """Let folders that are links lead where they lead now, when all is read the next time."""
        self._loader.resolve_anew()

    def watched(self) -> list[Path]:
        """The files that say what there is to serve."""
        configuration = self.console.configuration
        return [path for path in (self.library_config, configuration.path) if path is not None]

    def _relative(self, said: str) -> str:
        """What is said of paths, with those below the folder that the server was started in from there."""
        return said.partition("; did you mean")[0].replace(f"{self._here}{os.sep}", "")

    def _libraries(self, before: Sequence[served.Served]) -> Sequence[served.Served]:
        # A console of its own reads the settings anew.
        configuration = replace(self.console).configuration if self._was_read else self.console.configuration
        if self.library_config is not None:
            manner_of = self._manner(configuration)
            return served.serve(declaration(self.library_config), manner_of, self._loader.load, before)
        found = self._files(configuration)
        is_missed = not self.paths and any(library.files for library in before)
        if not any(each.is_prompt for each in found.files) and (not self._was_read or is_missed):
            raise nothing_found(found, "kbp serve PATH")
        return (served.of_files(found, self.reading.library or ""),)

    def _manner(self, configuration: configurations.Configuration) -> Callable[[Path], Manner]:
        return lambda path: self.reading.manner(path, configuration, skills=self.skills)

    def _files(self, configuration: configurations.Configuration) -> Library:
        search = Search(excluded=configuration.excluded, skills=self.skills, stays_inside=True)
        if self.paths:
            faults = find_paths(self.paths, self.reading.given_root, search)
            if faults:
                raise Stop(faults)
        else:
            if not self._project.is_dir():
                raise Stop(f"{self._project.name}: there is no such folder")
            search.level = 1
            for fault in find_paths(settings.extra_paths(), self.reading.given_root, search):
                if not self._was_read:
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
