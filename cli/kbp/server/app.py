"""A stock of prompts as an MCP server, whatever carries its messages."""

import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from kbp import __version__
from kbp.live.base import LEGACY
from kbp.server import log, mirror
from kbp.server.handlers import PAGE_TEXT, Handlers
from kbp.server.splice import mark
from kbp.server.stock import Stock

if TYPE_CHECKING:
    import mcp_types
    from mcp.server.connection import Connection
    from mcp.server.context import CallNext, HandlerResult
    from mcp.server.lowlevel import Server
    from mcp.server.subscriptions import ListenHandler

    from kbp.server.handlers import Context
    from kbp.server.metrics import Metrics
    from kbp.server.watch import Line

_SECONDS = 60.0
"""How long one request may take; streams of changes have no end."""
_NOTIFY_SECONDS = 5.0
LISTEN = "subscriptions/listen"


class App:
    """A server of prompts: `server` answers requests, `changed` tells clients that the list is another.

    Args:
        stock: what is served.
        background: what runs beside the answers as long as the server does.
        metrics: what counts them.
        is_logged: whether each request is told, or only to those who want more.
    """

    def __init__(
        self,
        stock: Stock,
        background: Callable[["App"], Any] | None = None,
        metrics: "Metrics | None" = None,
        *,
        is_logged: bool = True,
    ) -> None:
        from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

        self.stock = stock
        self.handlers = Handlers(stock)
        self.metrics = metrics
        self.told: set[Line] = set()
        self._background = background
        self._tell = log.info if is_logged else log.debug
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus)
        self._connections: set[Connection] = set()
        self.server = self._made()

    @property
    def listening(self) -> "ListenHandler":
        """The streams of changes of modern clients."""
        return self._listening

    def _made(self) -> "Server[Any]":
        import mcp_types as types

        server = _server_class()("kbp", version=__version__, lifespan=self._lifespan)
        handlers = self.handlers
        paged = types.PaginatedRequestParams
        server.add_request_handler("prompts/list", paged, handlers.list_prompts)
        server.add_request_handler("prompts/get", types.GetPromptRequestParams, handlers.get_prompt)
        server.add_request_handler("completion/complete", types.CompleteRequestParams, handlers.complete)
        server.add_request_handler("tools/list", paged, handlers.list_tools)
        server.add_request_handler("tools/call", types.CallToolRequestParams, handlers.call_tool)
        server.add_request_handler("resources/list", paged, handlers.list_resources)
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, handlers.read_resource)
        server.add_request_handler("resources/templates/list", paged, handlers.list_resource_templates)
        server.add_request_handler(LISTEN, types.SubscriptionsListenRequestParams, self._listening)
        server.add_notification_handler("notifications/initialized", types.NotificationParams, self._remember)
        server.middleware[:] = [self._observe]  # instead of spans that nobody collects
        return server

    @contextlib.asynccontextmanager
    async def _lifespan(self, server: "Server[Any]") -> AsyncIterator[dict[str, Any]]:
        import anyio

        async with anyio.create_task_group() as group:
            if self._background is not None:
                group.start_soon(self._background, self)
            try:
                yield {}
            finally:
                group.cancel_scope.cancel()

    # Requests

    async def _observe(self, ctx: "Context", call_next: "CallNext") -> "HandlerResult":
        """Answer a request in time and in scope, tell of it, and count it. What fails in it stays inside."""
        import anyio
        from mcp import MCPError
        from mcp_types import INTERNAL_ERROR
        from pydantic import ValidationError

        if ctx.request_id is None:
            return await call_next(ctx)
        start = time.perf_counter()
        outcome = "ok"
        try:
            self.handlers.scope_of(ctx)
            if ctx.method == LISTEN:
                return await call_next(ctx)
            with anyio.fail_after(_SECONDS):
                return _finished(ctx, await call_next(ctx))
        except MCPError as error:
            outcome = str(error.error.code)
            raise
        except ValidationError:
            outcome = "-32602"
            raise
        except Exception as error:
            outcome = str(INTERNAL_ERROR)
            said = "it took too long" if isinstance(error, TimeoutError) else "internal error"
            log.error("failed", method=ctx.method, kind=type(error).__name__)
            raise MCPError(code=INTERNAL_ERROR, message=said) from None
        finally:
            self._told(ctx, outcome, time.perf_counter() - start)

    def _told(self, ctx: "Context", outcome: str, seconds: float) -> None:
        """Tell and count a request: whose it was, which prompt it named and how long it took, never a value."""
        name = _prompt_named(ctx)
        user = ctx.request.scope.get("user") if ctx.request is not None else None
        self._tell(
            "request",
            method=ctx.method,
            prompt=name,
            token=getattr(user, "username", None),
            outcome=outcome,
            ms=round(seconds * 1000, 1),
        )
        if self.metrics is not None:
            given = name if outcome == "ok" and name in self.stock.offers.prompts else None
            is_get = ctx.method in ("prompts/get", "tools/call")
            self.metrics.count(ctx.method, outcome, seconds, given if is_get else None)

    # Changes

    async def _remember(self, ctx: "Context", params: "mcp_types.NotificationParams") -> None:
        """Keep the connection of a client that has shaken hands, as long as it is there."""
        connection = ctx.session._connection  # the SDK has no other way to what outlives the request
        self._connections.add(connection)
        connection.exit_stack.callback(self._connections.discard, connection)

    async def changed(self) -> None:
        """Tell all clients that the list of prompts is another, in the way of their revision."""
        import anyio
        from mcp.server.subscriptions import PromptsListChanged

        await self._bus.publish(PromptsListChanged())
        async with anyio.create_task_group() as group:
            for connection in list(self._connections):
                group.start_soon(_notify, connection)


def _finished(ctx: "Context", result: "HandlerResult") -> "HandlerResult":
    """The result that the SDK has checked, with what it need not look at, and without what a revision does not define.

    A list of prompts over HTTP was made for this revision, and is put in as it is. A handshake of the oldest revision
    knows no completions.
    """
    if not isinstance(result, dict):
        return result
    if ctx.method == "initialize" and result.get("protocolVersion") == LEGACY[0]:
        result["capabilities"].pop("completions", None)
    if ctx.request is not None and PAGE_TEXT in ctx.request.scope:
        result["prompts"] = mark(ctx.request.scope, ctx.request.scope.pop(PAGE_TEXT))
    return result


async def _notify(connection: "Connection") -> None:
    """Tell one client; one that does not read, or is gone, holds up nobody."""
    import anyio

    with anyio.move_on_after(_NOTIFY_SECONDS), contextlib.suppress(Exception):
        await connection.outbound.notify("notifications/prompts/list_changed", None)


def _prompt_named(ctx: "Context") -> str | None:
    """The prompt that a request names."""
    params = ctx.params or {}
    if ctx.method == "prompts/get":
        name = params.get("name")
    elif ctx.method == "tools/call" and params.get("name") == mirror.GET:
        arguments = params.get("arguments")
        name = arguments.get("name") if isinstance(arguments, dict) else None
    elif ctx.method == "completion/complete":
        ref = params.get("ref")
        name = ref.get("name") if isinstance(ref, dict) else None
    else:
        return None
    return name if isinstance(name, str) else None


def _server_class() -> "type[Server[Any]]":
    """The server of the SDK, which declares what is behind it and no more."""
    import mcp_types as types
    from mcp.server.lowlevel import NotificationOptions, Server

    class PromptServer(Server[Any]):
        def get_capabilities(
            self,
            notification_options: NotificationOptions | None = None,
            experimental_capabilities: dict[str, dict[str, Any]] | None = None,
            extensions: dict[str, dict[str, Any]] | None = None,
            *,
            protocol_version: str | None = None,
        ) -> types.ServerCapabilities:
            return types.ServerCapabilities(
                prompts=types.PromptsCapability(list_changed=True),
                tools=types.ToolsCapability(list_changed=False),
                resources=types.ResourcesCapability(subscribe=False, list_changed=False),
                completions=types.CompletionsCapability(),
            )

    return PromptServer
