"""A server of prompts over HTTP: the way in, and what operators ask it."""

import contextlib
import json
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kbp.server import log
from kbp.server.app import App
from kbp.server.health import health
from kbp.server.splice import Message, Send, splicing
from kbp.server.tokens import Tokens

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH = "/mcp"
_MAX_BODY = 4 * 1024 * 1024
_BODY_SECONDS, _HEAD_SECONDS, _GRACE_SECONDS = 30.0, 30.0, 3
_IDLE_SECONDS, _MAX_SESSIONS, _MAX_CONNECTIONS = 30 * 60, 4_000, 4_000
_LOCAL = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Doors:
    """Who may come in.

    Attributes:
        hosts: names by which the server may be called, besides those of this machine.
        origins: web pages that may call it, besides those of this machine.
        tokens: gives the tokens of which one must be shown; None when nobody needs one.
    """

    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    tokens: Callable[[], Tokens] | None = None


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens at an address.

    Raises:
        OSError: it cannot be had.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    # With its protocol, as create_server makes none: only then does asyncio send small answers at once (TCP_NODELAY).
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except BaseException:
        listener.close()
        raise
    return listener


def application(app: App, doors: Doors) -> Asgi:
    """The server as a web application: MCP at /mcp, and /health, /ready and /metrics."""
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.middleware.cors import CORSMiddleware
    from starlette.routing import Route

    routes = [
        Route("/health", _health(app), methods=["GET"]),
        Route("/ready", _ready, methods=["GET"]),
        Route("/metrics", _metrics(app), methods=["GET"]),
    ]
    web: Starlette = app.server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        max_request_body_size=_MAX_BODY,
        session_idle_timeout=_IDLE_SECONDS,
        max_sessions=_MAX_SESSIONS,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # done at the door
        custom_starlette_routes=routes,
    )
    guarded: Asgi = _Guard(web, doors)
    if doors.origins:
        guarded = CORSMiddleware(
            guarded,
            allow_origins=doors.origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["Mcp-Session-Id"],
        )
    return guarded


def _health(app: App) -> Callable[["Request"], Awaitable["Response"]]:
    async def answer(request: "Request") -> "Response":
        from anyio import to_thread
        from starlette.responses import Response

        text = await to_thread.run_sync(lambda: json.dumps(health(app.stock), ensure_ascii=False, indent=2))
        return Response(text.encode("utf-8", "replace"), media_type="application/json")

    return answer


async def _ready(request: "Request") -> "Response":
    from starlette.responses import PlainTextResponse

    return PlainTextResponse("ready\n")


def _metrics(app: App) -> Callable[["Request"], Awaitable["Response"]]:
    async def answer(request: "Request") -> "Response":
        from anyio import to_thread
        from starlette.responses import PlainTextResponse, Response

        if app.metrics is None:
            return PlainTextResponse("there are no metrics: they come with kbp[metrics]\n", status_code=404)
        text = await to_thread.run_sync(app.metrics.text)
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    return answer


class _Guard:
    """Lets in who calls the server by a known name, from a known page, with a token where one is needed.

    /ready says nothing of what is served, and is open to all.
    """

    def __init__(self, inner: Asgi, doors: Doors) -> None:
        from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings

        hosts = [*_LOCAL, *doors.hosts]
        pages = [f"{scheme}://{host}" for scheme in ("http", "https") for host in _LOCAL]
        self._inner = inner
        self._tokens = doors.tokens
        self._security = TransportSecurityMiddleware(
            TransportSecuritySettings(
                allowed_hosts=[*hosts, *(f"{host}:*" for host in hosts)],
                allowed_origins=[*pages, *(f"{page}:*" for page in pages), *doors.origins],
            )
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == "/ready":
            await self._inner(scope, receive, send)
            return
        from starlette.requests import Request

        # Blanks around a value are none of it (RFC 9110, 5.5); the parser leaves those behind it.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        request = Request(scope)
        refused = await self._security.validate_request(request) or self._identify(request)
        if refused is None:
            await self._inner(scope, _in_time(receive), splicing(scope, send))
            return
        who = request.client.host if request.client else None
        log.warning(
            "refused",
            status=refused.status_code,
            path=scope["path"],
            client=who,
            host=request.headers.get("host"),
            origin=request.headers.get("origin"),
        )
        await refused(scope, receive, send)

    def _identify(self, request: "Request") -> "Response | None":
        """Note whose token a request shows; the answer to one that shows none that is known."""
        if self._tokens is None:
            return None
        from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
        from mcp.server.auth.provider import AccessToken
        from starlette.responses import JSONResponse

        kind, _, token = request.headers.get("authorization", "").partition(" ")
        name = self._tokens().name_of(token.strip()) if kind.lower() == "bearer" and token.strip() else None
        if name is None:
            said = "a token is needed" if not token else "this token is not known"
            headers = {"WWW-Authenticate": 'Bearer realm="kbp"'}
            return JSONResponse({"error": said}, status_code=401, headers=headers)
        request.scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))
        return None


def _in_time(receive: Receive) -> Receive:
    """What receives the parts of a request, each in time; a body that does not come is a client that is gone."""
    import anyio

    is_whole = False

    async def receive_in_time() -> Message:
        nonlocal is_whole
        if is_whole:  # what comes now is that the client leaves, and that may take as long as it will
            return await receive()
        with anyio.move_on_after(_BODY_SECONDS):
            message = await receive()
            is_whole = not message.get("more_body", False)
            return message
        return {"type": "http.disconnect"}

    return receive_in_time


async def serve(app: App, web: Asgi, listener: socket.socket) -> None:
    """Answer over HTTP until the process is told to end; what is under way is answered, for a short time."""
    import uvicorn
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class Patient(HttpToolsProtocol):
        """A connection that is closed when no request comes on it."""

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.loop.call_later(_HEAD_SECONDS, self._leave)

        def _leave(self) -> None:
            if self.cycle is None and self.transport is not None:
                self.transport.close()

    class Graceful(uvicorn.Server):
        """A server that ends the streams of changes before it waits for its clients."""

        async def shutdown(self, sockets: Iterable[socket.socket] | None = None) -> None:
            log.info("ending")
            app.listening.close()
            await super().shutdown(list(sockets) if sockets is not None else None)

    config = uvicorn.Config(
        web,
        http=Patient,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        timeout_keep_alive=int(_HEAD_SECONDS),
    )
    with contextlib.closing(listener):
        await Graceful(config).serve(sockets=[listener])
