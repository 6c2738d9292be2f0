"""A stock of prompts as an MCP server, whatever carries its messages."""

import contextlib
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from kbp import __version__
from kbp.live.base import LEGACY
from kbp.server import log, mirror
from kbp.server.handlers import Handlers
from kbp.server.scope import shown_fields
from kbp.server.splice import PAGE_TEXT, mark
from kbp.server.stock import Stock

if TYPE_CHECKING:
    import mcp_types
    from mcp.server.connection import Connection
    from mcp.server.context import CallNext, HandlerResult
    from mcp.server.lowlevel import Server

    from kbp.server.handlers import Context
    from kbp.server.metrics import Metrics

_SECONDS = 60.0
"""How long one request may take; streams of changes have no end."""
_NOTIFY_SECONDS = 5.0
TOLD = "kbp.told"
"""Where a request over HTTP notes that it reached a method, and is told of there."""
LISTEN = "subscriptions/listen"


class App:
    """A server of prompts: `server` answers requests, `changed` tells clients that the list is another.

    Args:
        stock: what is served.
        metrics: what counts requests.
        is_logged: whether each request is told, or only to those who want more.

    Attributes:
        background: what runs beside the answers as long as the server does.
        faults: what is wrong with the server besides its prompts, by what it is about.
        listening: the streams of changes of modern clients.
    """

    def __init__(self, stock: Stock, metrics: "Metrics | None" = None, *, is_logged: bool = True) -> None:
        from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

        self.stock = stock
        self.metrics = metrics
        self.background: Callable[[], Coroutine[Any, Any, None]] | None = None
        self.faults: dict[str, str] = {}
        self.handlers = Handlers(stock)
        self._tell = log.info if is_logged else log.debug
        self._bus = InMemorySubscriptionBus()
        self.listening = ListenHandler(self._bus)
        self._connections: set[Connection] = set()
        self.server = self._made()

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
        server.add_request_handler(LISTEN, types.SubscriptionsListenRequestParams, self.listening)
        server.add_notification_handler("notifications/initialized", types.NotificationParams, self._remember)
        server.middleware[:] = [self._observe]  # instead of spans that nobody collects
        return server

    @contextlib.asynccontextmanager
    async def _lifespan(self, server: "Server[Any]") -> AsyncIterator[dict[str, Any]]:
        import anyio

        async with anyio.create_task_group() as group:
            if self.background is not None:
                group.start_soon(self.background)
            try:
                yield {}
            finally:
                group.cancel_scope.cancel()

    # Requests

    async def _observe(self, ctx: "Context", call_next: "CallNext") -> "HandlerResult":
        """Answer a request in time and in scope, tell of it, and count it. What fails in it stays inside."""
        if ctx.request_id is None:
            return await call_next(ctx)
        if ctx.request is not None:
            ctx.request.scope[TOLD] = True
        start = time.perf_counter()
        outcome, why = "cancelled", None
        is_stream = ctx.method == LISTEN
        try:
            self.handlers.view(ctx)
            if is_stream:
                self._tell("request", method=ctx.method, token=_token(ctx))
                return await call_next(ctx)
            result = await self._answered(ctx, call_next)
            outcome, why = _outcome(result)
            return result
        except Exception as error:
            outcome, why = _code(error)
            raise
        finally:
            if not is_stream:
                self._told(ctx, outcome, why, time.perf_counter() - start)

    async def _answered(self, ctx: "Context", call_next: "CallNext") -> "HandlerResult":
        """The answer to a request, in time. What nobody foresaw is told here, and to the client without its words."""
        import anyio
        from mcp import MCPError
        from mcp_types import INTERNAL_ERROR
        from pydantic import ValidationError

        try:
            with anyio.fail_after(_SECONDS):
                return _finished(ctx, await call_next(ctx))
        except (MCPError, ValidationError):
            raise
        except Exception as error:
            said = "it took too long" if isinstance(error, TimeoutError) else "internal error"
            log.error("failed", doing=ctx.method, kind=type(error).__name__, trace=log.trace(error))
            raise MCPError(code=INTERNAL_ERROR, message=said) from None

    def _told(self, ctx: "Context", outcome: str, why: str | None, seconds: float) -> None:
        """Tell and count a request: whose it was, which prompt it named and how long it took, never a value."""
        name = _prompt_named(ctx)
        self._tell(
            "request",
            method=ctx.method,
            prompt=name,
            token=_token(ctx),
            outcome=outcome,
            why=why,
            scope=shown_fields(ctx.request.url.query) if ctx.request is not None and why is not None else None,
            ms=round(seconds * 1000, 1),
        )
        if self.metrics is not None:
            is_given = outcome == "ok" and ctx.method in ("prompts/get", "tools/call")
            given = name if is_given and name in self.stock.offers.prompts else None
            self.metrics.count(ctx.method, outcome, seconds, given)

    # Changes

    async def _remember(self, ctx: "Context", params: "mcp_types.NotificationParams") -> None:
        """Keep the connection of a client that has shaken hands, as long as it is there."""
        connection = ctx.session._connection  # the SDK has no other way to what outlives the request
        if connection in self._connections:
            return
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


def _outcome(result: "HandlerResult") -> tuple[str, str | None]:
    """How a request ended that was answered with a result, and why if that is no success."""
    if isinstance(result, dict) and result.get("isError"):
        return "tool error", str(result["content"][0].get("text")) if result.get("content") else None
    if isinstance(result, dict) and result.get("resultType") == "input_required":
        return "question", None
    return "ok", None


def _code(error: Exception) -> tuple[str, str | None]:
    """The code of an error, and its words where they hold nothing that a client sent but names."""
    from mcp import MCPError
    from mcp_types import INVALID_PARAMS

    if isinstance(error, MCPError):
        return str(error.error.code), error.error.message
    return str(INVALID_PARAMS), "the parameters are not those of the method"


def _token(ctx: "Context") -> str | None:
    """The name of the token that a request shows."""
    user = ctx.request.scope.get("user") if ctx.request is not None else None
    return getattr(user, "username", None)


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
