"""`kbp server`: the MCP servers that are configured, and what one of them says of itself."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated

import typer

from kbp.commands.console import DONE, Console, Stop
from kbp.commands.live import Live, known, where
from kbp.commands.options import bad_choice
from kbp.display import safe_line
from kbp.live.base import LEGACY
from kbp.live.servers import described
from kbp.output.jsontext import dump
from kbp.output.prompts import columns

FORMATS = ("text", "json")


def _list(console: Console, live: Live, format: str) -> int:
    """The servers that are configured, and where."""
    if live.is_given:
        raise Stop("`kbp server list` shows all servers: `kbp server info` shows one")
    found = known(console)
    for fault in found.faults:
        console.warn(safe_line(fault))
    for server in found.shadowed:
        stronger = found.find(server.name)
        if stronger is not None:
            console.hint(f"{safe_line(server.name)} of {where(server)} is shadowed by {where(stronger)}")
    if format == "json":
        console.print(dump({"servers": [described(server) for server in found.servers]}))
    elif found.servers:
        rows = [
            (each.name, "stdio" if each.command else "sse" if each.is_sse else "http", each.address, where(each))
            for each in found.servers
        ]
        console.print(columns(("NAME", "TYPE", "STARTS OR REACHES", "FILE"), rows, console.cells))
    else:
        console.hint("no server is configured")
    return DONE


def _info(console: Console, live: Live, format: str) -> int:
    """What a server says of itself, and which revision of the protocol is spoken with it."""
    if not live.is_given:
        raise Stop("which server? `kbp server info NAME`, or a URL, or --server-cmd COMMAND")
    with live.opened(console) as source:
        peer = source.session.peer
        offers = peer.capabilities is None or "prompts" in peer.capabilities
    if format == "json":
        content = {
            "revision": peer.revision,
            "serverInfo": peer.info or None,
            "capabilities": peer.capabilities,
            "instructions": peer.instructions,
        }
        console.print(dump({key: value for key, value in content.items() if value is not None}))
        return DONE
    era = "shakes hands" if peer.revision in LEGACY else "no sessions"
    capabilities = json.dumps(peer.capabilities, ensure_ascii=False) if peer.capabilities is not None else "not asked"
    rows = [
        ("revision", f"{peer.revision} ({era})"),
        (
            "name",
            " ".join(str(peer.info[key]) for key in ("title", "name", "version") if key in peer.info) or "not said",
        ),
        ("prompts", "yes" if offers else "none"),
        ("declares", capabilities),
        *([("tells", peer.instructions)] if peer.instructions else []),
    ]
    console.print("".join(f"{label:9} {safe_line(text)}\n" for label, text in rows))
    return DONE


WHAT: dict[str, Callable[[Console, Live, str], int]] = {"list": _list, "info": _info}


def server(
    console: Console,
    live: Live,
    what: Annotated[str, typer.Argument(metavar="|".join(WHAT), help="What to print of the servers.")],
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A server: as configured, or its URL.")] = None,
    format: Annotated[
        str, typer.Option("-f", "--format", metavar="|".join(FORMATS), help="How it is printed.")
    ] = "text",
) -> int:
    """Print the MCP servers that are configured, or what one of them says of itself.

    \b
      kbp server list               names, what they start or reach, and where that is written
      kbp server info docs          revision, name, capabilities

    Servers are named in [servers.NAME] of kbp.toml or of your own config.toml, and in the files of other programs:
    .mcp.json, .vscode/mcp.json, mcp.json, ~/.claude.json, VS Code's and Claude Desktop's own.
    """
    if name is not None and live.is_given:
        raise Stop("NAME and --server both name a server: give one of them")
    live = replace(live, server=name) if name is not None else live
    faults = [*bad_choice("kbp server", what, WHAT), *live.faults(), *bad_choice("--format", format, FORMATS)]
    if faults:
        raise Stop(faults)
    return WHAT[what](console, live, format)
