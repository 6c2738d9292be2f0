"""Options that name a live server, and the server reached by them."""

import contextlib
import difflib
import functools
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kbp import configuration, memory
from kbp.ask.terminal import may_ask
from kbp.commands.bundles import given_options, spelt
from kbp.commands.console import Console, Stop
from kbp.commands.headers import read_headers, without_value
from kbp.commands.options import bad_choice
from kbp.commands.outcome import telling
from kbp.commands.sources import Sources
from kbp.display import safe_line
from kbp.files import Roots, shown
from kbp.live.base import REVISIONS
from kbp.live.process import split
from kbp.live.server import without_secrets
from kbp.live.session import AUTO, LEGACY_ERA, TIMEOUT

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from kbp.ask.questions import Answers
    from kbp.live.base import Channel
    from kbp.live.connection import Manner
    from kbp.live.server import Input, Server
    from kbp.live.servers import Catalogue
    from kbp.live.source import LiveSource

_CONSENT = "consent"
_MAX_TOLD = 500
_MAX_TIMEOUT = 1_000_000


@dataclass(frozen=True)
class Live:
    """Which server, and how it is spoken to."""

    server: Annotated[
        str | None,
        typer.Option(
            "--server", metavar="NAME|URL", help="An MCP server: as configured (`kbp server list`), or its URL."
        ),
    ] = None
    server_cmd: Annotated[
        str | None,
        typer.Option("--server-cmd", metavar="COMMAND", help="A command that starts an MCP server on stdio."),
    ] = None
    header: Annotated[
        list[str] | None,
        typer.Option(
            "--header",
            metavar="NAME:VALUE",
            help="Sent to the URL; a value is @FILE or env:VAR too, or has ${VAR} in it. Repeatable.",
        ),
    ] = None
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="How long an answer of the server may take.")
    ] = TIMEOUT
    revision: Annotated[
        str, typer.Option("--revision", metavar="auto|legacy|YYYY-MM-DD", help="The revision of the protocol to speak.")
    ] = AUTO
    sse: Annotated[bool, typer.Option("--sse", help="The URL has the older transport of server-sent events.")] = False
    server_log: Annotated[bool, typer.Option("--server-log", help="Show what the server writes on stderr.")] = False
    yes: Annotated[bool, typer.Option("--yes", help="Start what a project's file configures without asking first.")] = (
        False
    )

    @property
    def is_given(self) -> bool:
        """Whether a server is named."""
        return self.server is not None or self.server_cmd is not None

    @property
    def named(self) -> str | None:
        """The name of the server as it is configured; None where it is an address or a command."""
        is_address = self.server is None or self.server.lower().startswith(("http://", "https://"))
        return None if is_address else self.server

    @property
    def has_secret(self) -> bool:
        """Whether the address of the server has parts that are told nowhere."""
        return self.server is not None and without_secrets(self.server) != self.server

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers that are given, those alone that are right."""
        return self._read_headers[0]

    @cached_property
    def _read_headers(self) -> tuple[Mapping[str, str], list[str]]:
        return read_headers(self.header or [])  # once: a file may be a pipe

    def spelt(self) -> list[str]:
        """The options as they would be typed again, the values of headers left out where they are secrets."""
        server = without_secrets(self.server) if self.server else self.server
        headers = [without_value(text) for text in self.header or []] or None
        return spelt(replace(self, server=server, header=headers))

    def faults(self) -> list[str]:
        """What is wrong with these options."""
        if not self.is_given:
            return without_server(self)
        faults = bad_choice("--revision", self.revision, (AUTO, LEGACY_ERA, *REVISIONS))
        if self.server is not None and self.server_cmd is not None:
            faults.append("--server and --server-cmd: give one of them")
        if not 0 < self.timeout <= _MAX_TIMEOUT:
            faults.append(f"--timeout {self.timeout:g}: it is a number of seconds above 0, and at most {_MAX_TIMEOUT}")
        if self.server_cmd is not None:
            faults += _command_faults(self.server_cmd)
            faults += ["--header and --sse are for a URL"] if self.header or self.sse else []
        return faults + self._read_headers[1]

    @contextlib.contextmanager
    def opened(
        self, console: Console, answers: "Answers | None" = None, doing: str = "to connect"
    ) -> "Iterator[LiveSource]":
        """The prompts of the server, while it is connected.

        Args:
            console: where is told what there is to tell.
            answers: who answers questions of the server.
            doing: what is asked of the server, for when it refuses.

        Raises:
            Stop: there is no such server, it may not be started, it cannot be reached, or it fails.
        """
        from kbp.live.connection import connected

        server = self._server(console)
        label = "the server" if self.server_cmd is not None else f"server '{server.name}'"
        resolved = self._agreed(server, console)
        from kbp.complete import servers

        with telling(label, doing), connected(server, self._manner(console, answers), resolved) as source:
            source.label = label
            subject = self.server or self.server_cmd or ""
            source.keepers.append(lambda found: servers.keep(subject, source.key, found.prompts))
            yield source

    def _manner(self, console: Console, answers: "Answers | None") -> "Manner":
        from kbp.live.connection import Manner

        is_there = may_ask(no_input=console.no_input)
        return Manner(
            self.revision,
            self.timeout,
            answers,
            functools.partial(_visit, color=console.color) if is_there else None,
            lambda message: _tell_notification(message, console),
            self.headers,
            takes_urls=is_there,
            ended=lambda channel: self._tell_log(channel, console),
        )

    def _server(self, console: Console) -> "Server":
        from kbp.live import connection

        if self.server_cmd is not None:
            return connection.of_command(tuple(split(self.server_cmd)))
        name = self.server or ""
        if name.lower().startswith(("http://", "https://")):
            if not _is_address(name):
                raise Stop("--server: this is no address")
            return connection.of_url(name, is_sse=self.sse)
        found = known(console)
        server = found.find(name)
        if server is None:
            raise _unknown(name, found)
        if server.url is None and (self.header or self.sse):
            raise Stop(f"--header and --sse are for a URL, and server '{name}' is a command")
        return replace(server, is_sse=True) if self.sse else server

    def _agreed(self, server: "Server", console: Console) -> "Server":
        """The server with its variables replaced, when the person agrees that it is used."""
        from kbp.live.servers import Unset, resolved

        is_there = may_ask(no_input=console.no_input)
        if server.needs_consent and not self.yes and memory.recall(_CONSENT, server.consent_key) is None:
            _ask_consent(server, is_there=is_there, color=console.color)
        try:
            return resolved(server, functools.partial(_ask_input, color=console.color) if is_there else None)
        except Unset as unset:
            raise Stop(unset.faults) from None

    def _tell_log(self, channel: "Channel", console: Console) -> None:
        from kbp.live.stdio import Stdio

        if not isinstance(channel, Stdio):
            return
        if channel.strays:
            console.detail(f"the server wrote {channel.strays} lines that are no messages of MCP")
        if self.server_log:
            for line in channel.log_lines():
                console.explain(f"[server] {safe_line(line)}")


def live_name(live: Live, name: str, console: Console) -> tuple[Live, str]:
    """The options and the name of a prompt, where `server:name` names both.

    Raises:
        Stop: the server that is meant is not configured.
    """
    prefix, colon, rest = name.partition(":")
    if live.is_given or not colon or not prefix or "/" in prefix:
        return live, name
    found = known(console)
    if found.find(prefix) is None:
        is_meant = bool(
            without_server(live) or difflib.get_close_matches(prefix, [each.name for each in found.servers])
        )
        if is_meant and not name.endswith(".md"):
            raise _unknown(prefix, found)
        return live, name
    if not rest:
        raise Stop(f"which prompt of server '{prefix}'? `kbp list --server {prefix}` shows them")
    return replace(live, server=prefix), rest


def not_for_live(sources: Sources) -> list[str]:
    """What is wrong with options that say where prompt files are, where a server is named."""
    return [f"{option} is for prompt files: leave it out with a server" for option in given_options(sources)]


def without_server(bundle: "DataclassInstance") -> list[str]:
    """What is wrong with options of a bundle that only mean something for a server, where none is named."""
    return [f"{option} goes with --server or --server-cmd" for option in given_options(bundle)]


def known(console: Console) -> "Catalogue":
    """The servers that are configured here.

    Raises:
        Stop: settings of kbp are wrong.
    """
    from kbp.live.servers import catalogue

    here = Path.cwd()
    try:
        return catalogue(console.configuration, Roots().marked(here) or here)
    except configuration.Wrong as wrong:
        raise Stop(wrong.faults) from None


def _is_address(url: str) -> bool:
    try:
        return bool(urllib.parse.urlsplit(url).hostname) and url.isprintable()
    except ValueError:
        return False


def _unknown(name: str, found: "Catalogue") -> Stop:
    near = difflib.get_close_matches(name, [server.name for server in found.servers], n=1)
    help = [f"  did you mean '{safe_line(near[0])}'?"] if near else []
    if re.search(r"[:./]", name):
        help.append("  an address starts with http:// or https://")
    help += [f"  {safe_line(server.name)}   {where(server)}" for server in found.servers[:20]]
    help += [f"  {safe_line(fault)}" for fault in found.faults]
    if not found.servers:
        help.append(
            "  no server is configured: looked in kbp.toml, .mcp.json, .vscode/mcp.json, mcp.json, and your own files"
        )
    return Stop(f"no server is called '{safe_line(without_secrets(name))}'", help=help)


def where(server: "Server") -> str:
    """The file that names a server, for a person to see."""
    return safe_line(shown(server.origin)) if server.origin else ""


def _command_faults(command: str) -> list[str]:
    try:
        split(command)
    except ValueError as error:
        return [f"--server-cmd: {str(error).lower()}"]
    return []


# Asking


def _ask_consent(server: "Server", *, is_there: bool, color: str) -> None:
    """Ask whether what a project's file starts may be started, and remember that it may.

    Raises:
        Stop: it may not, or nobody can be asked.
    """
    does = "starts a program" if server.command else "is told what variables hold"
    said = [f"  {safe_line(line)}" for line in _consent_lines(server, whole=is_there)]
    place = memory.key_of(str(server.origin), server.name)
    if memory.recall(_CONSENT, place) is not None:
        said.append("  it has changed since you agreed")
    if not is_there:
        raise Stop(
            f"server '{server.name}' {does}, and nobody has agreed to that yet",
            help=[*said, "  agree on a terminal once, or give --yes"],
        )
    from kbp.ask.questions import agree
    from kbp.ask.terminal import tell

    tell("\n".join([f"server '{safe_line(server.name)}' {does}:", *said]) + "\n")
    if not agree("Go on?", default=False, color=color):
        raise Stop(f"server '{server.name}' is not used")
    memory.remember(_CONSENT, server.consent_key, True)
    memory.remember(_CONSENT, place, True)


def _consent_lines(server: "Server", *, whole: bool) -> Iterator[str]:
    """What a person has to know of a server before they agree to it. `whole` has the values of its environment too."""
    yield server.address
    yield f"as {where(server)} says"
    if server.cwd:
        yield f"in the folder {server.cwd}"
    given = [f"{name}={value}" if "$" in value else name for name, value in server.headers.items()]
    given += [f"{name}={value}" if whole or "$" in value else name for name, value in server.env.items()]
    if given:
        yield f"with {', '.join(given)}"
    if server.uses():
        yield f"told of {', '.join(server.uses())}"


def _ask_input(wanted: "Input", *, color: str) -> str:
    from kbp.ask.questions import ask_value

    return ask_value(
        safe_line(wanted.description),
        default=wanted.default or "",
        is_secret=wanted.is_secret,
        choices=tuple(map(safe_line, wanted.choices)),
        color=color,
    )


def _visit(address: str, *, color: str) -> None:
    """Show a person where to log in."""
    from kbp.ask.questions import agree, open_browser
    from kbp.ask.terminal import tell

    tell(f"the server wants you to log in at\n  {safe_line(address)}\n")
    if agree("Open it in the browser?", color=color):
        open_browser(address)


def _tell_notification(message: Mapping[str, object], console: Console) -> None:
    params = message.get("params")
    if message.get("method") == "notifications/message" and isinstance(params, dict):
        console.detail(f"[server] {safe_line(str(params.get('data')))[:_MAX_TOLD]}")
