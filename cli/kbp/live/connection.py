"""A configured server reached: the channel, the session, what is remembered of the server, and the end of it all."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kbp import memory
from kbp.live import lists
from kbp.live.base import Channel, Json, LiveError, Login
from kbp.live.questions import Handler
from kbp.live.server import Server, without_secrets
from kbp.live.session import AUTO, TIMEOUT, Session
from kbp.live.source import Listing, LiveSource

_ERAS = "eras"


@dataclass(frozen=True)
class Manner:
    """How a server is spoken to.

    Attributes:
        revision: `auto`, `legacy`, or a revision.
        timeout: how many seconds an answer may take; None: any time.
        handler: who answers questions of the server, None when nobody does.
        visit: shows a person the address of a login, None when nobody is there.
        notified: is given each notification.
        headers: what goes with each HTTP request besides what is configured.
        takes_urls: whether the handler can send a person to an address.
        ended: is given the channel before it is closed.
    """

    revision: str = AUTO
    timeout: float | None = TIMEOUT
    handler: Handler | None = None
    visit: Callable[[str], None] | None = None
    notified: Callable[[Json], None] = lambda message: None
    headers: Mapping[str, str] = field(default_factory=dict)
    takes_urls: bool = True
    ended: Callable[[Channel], None] = lambda channel: None


@contextlib.contextmanager
def connected(
    server: Server, manner: Manner, resolved: Server | None = None, channel: Channel | None = None
) -> Iterator[LiveSource]:
    """The prompts of a server, while it is connected.

    Args:
        server: the server as it is configured, which is what is remembered of it by.
        manner: how it is spoken to.
        resolved: the same with its variables replaced; as it is configured by default.
        channel: what leads to it, if it is open already; it is closed all the same.

    Raises:
        LiveError: it cannot be reached, or speaks another protocol.
    """
    with contextlib.ExitStack() as stack:
        channel = channel or _channel(resolved or server, manner)
        stack.callback(channel.close)
        stack.callback(manner.ended, channel)
        session = Session(
            channel,
            revision=manner.revision,
            is_known_silent=lambda: memory.recall(_ERAS, server.key) is not None,
            timeout=manner.timeout,
            handler=manner.handler,
            takes_urls=manner.takes_urls,
            notified=manner.notified,
        )
        try:
            session.connect()
        except LiveError:
            memory.forget(_ERAS, server.key)
            raise
        if session.was_silent:
            memory.remember(_ERAS, server.key, "legacy")
        revision = session.peer.revision

        def kept(found: Listing) -> None:
            key = lists.key_of(resolved or server, manner.headers, manner.revision)
            lists.remember(key, found.prompts, found.seconds, revision)

        yield LiveSource(session, server.key, keepers=[kept])


def _channel(server: Server, manner: Manner) -> Channel:
    """A channel to a server."""
    if server.url is None:
        from kbp.live.stdio import started

        return started(server.command, server.env, Path(server.cwd) if server.cwd else None)
    from kbp.live.http import Http

    named = {name.lower() for name in manner.headers}
    headers = {name: value for name, value in server.headers.items() if name.lower() not in named} | {**manner.headers}
    auth, login = None, Login()
    if not any(name.lower() == "authorization" for name in headers):
        from kbp.live.oauth import provider

        auth = provider(server.url, manner.visit, login)
    return Http(server.url, headers, is_sse=server.is_sse, auth=auth, login=login, timeout=manner.timeout)


def of_command(command: tuple[str, ...]) -> Server:
    """The server that a command line starts."""
    return Server(command[0], command)


def of_url(url: str, *, is_sse: bool = False) -> Server:
    """The server at an address."""
    return Server(without_secrets(url), url=url, is_sse=is_sse)
