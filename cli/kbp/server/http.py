"""A server of prompts over HTTP, with what operators ask it."""

import contextlib
import json
import socket
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from kbp.server import log
from kbp.server.app import App
from kbp.server.connections import HEAD_SECONDS, patient_protocol
from kbp.server.doors import MAX_BODY, Asgi, Doors, Guard, Named
from kbp.server.health import health

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

PATH = "/mcp"
_GRACE_SECONDS = 3
_IDLE_SECONDS, _MAX_SESSIONS, _MAX_CONNECTIONS = 30 * 60, 4_000, 1_000


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
        max_request_body_size=MAX_BODY,
        session_idle_timeout=_IDLE_SECONDS,
        max_sessions=_MAX_SESSIONS,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # done at the door
        custom_starlette_routes=routes,
    )
    refused = app.metrics.refuse if app.metrics is not None else lambda status: None

    class Shared(CORSMiddleware):
        """Tells browsers what pages may do, by the rule that they are let in by."""

        def is_allowed_origin(self, origin: str) -> bool:
            return doors.lets_in_page(origin)

    shared = Shared(
        Guard(web, doors, refused),
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["*"],
        expose_headers=["Mcp-Session-Id", "WWW-Authenticate"],
    )
    return Named(shared, doors, refused)


def _health(app: App) -> Callable[["Request"], Awaitable["Response"]]:
    """Answers with the state of the server. It is made for one at a time, and for all who ask within a second."""
    import anyio

    lock = anyio.Lock()
    made: list[tuple[float, bytes]] = []

    async def answer(request: "Request") -> "Response":
        from anyio import to_thread
        from starlette.responses import Response

        async with lock:
            if not made or time.monotonic() - made[0][0] > 1:
                text = await to_thread.run_sync(lambda: json.dumps(health(app.stock, app.faults.values()), indent=2))
                made[:] = [(time.monotonic(), text.encode())]
        return Response(made[0][1], media_type="application/json")

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


async def serve(app: App, web: Asgi, listener: socket.socket, url: str) -> None:
    """Answer over HTTP until the process is told to end; what is under way is answered, for a short time.

    Args:
        app: what is served.
        web: the same as a web application.
        listener: where it is asked.
        url: what is told of that.
    """
    import uvicorn

    class Graceful(uvicorn.Server):
        """A server that tells when it is there, and ends the streams of changes before it waits for its clients."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            log.info("listening", url=url)

        async def shutdown(self, sockets: Iterable[socket.socket] | None = None) -> None:
            log.info("ending")
            app.listening.close()
            await super().shutdown(list(sockets) if sockets is not None else None)

    config = uvicorn.Config(
        web,
        http=patient_protocol(app.metrics.refuse if app.metrics is not None else lambda status: None),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        timeout_keep_alive=int(HEAD_SECONDS),
    )
    with contextlib.closing(listener):
        await Graceful(config).serve(sockets=[listener])
