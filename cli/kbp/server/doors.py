"""The way in to a server over HTTP: by its name, from pages that may, with a token, in time and within bounds."""

import contextlib
import ipaddress
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kbp.server import log
from kbp.server.app import TOLD
from kbp.server.splice import Message, Send, splicing
from kbp.server.tokens import Tokens

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 4 * 1024 * 1024
"""How many bytes the body of a request may have."""
LOCAL = ("127.0.0.1", "localhost", "[::1]")
"""The names of this machine, as URLs have them."""
_BODY_SECONDS = 30.0
_SAID = {
    404: "there is nothing at this path",
    408: "the body does not come",
    413: f"the body has more than {MAX_BODY // 1024 // 1024} MiB",
}
_INVALID_REQUEST, _PARSE_ERROR = -32600, -32700
_WHY, _TOKEN = "kbp.why", "kbp.token"


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

    def lets_in_name(self, host: str) -> bool:
        """Whether a Host header names the server."""
        name = host_of(host)
        return name is not None and name in {host_of(each) for each in (*LOCAL, *self.hosts)}

    def lets_in_page(self, origin: str) -> bool:
        """Whether the page of an Origin header may call the server."""
        page = origin_of(origin)
        return page is not None and (page[1] in LOCAL or page in {origin_of(each) for each in self.origins})


class Named:
    """Answers who calls the server by one of its names, from a page that may call it. /ready is open to all."""

    def __init__(self, inner: Asgi, doors: Doors, refused: Callable[[int], None]) -> None:
        self._inner = inner
        self._refused = refused
        self._doors = doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it in."""
        if scope["type"] != "http" or scope["path"] == "/ready":
            await self._inner(scope, receive, send)
            return
        from starlette.responses import PlainTextResponse

        # Blanks around a value are none of it (RFC 9110, 5.5); the parser leaves those behind it.
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        hosts, origins = (
            [value.decode("latin-1") for name, value in scope["headers"] if name == wanted]
            for wanted in (b"host", b"origin")
        )
        if len(hosts) != 1 or not self._doors.lets_in_name(hosts[0]):
            shown = ", ".join(hosts) or "none"
            help = f"--allowed-host {host_of(hosts[0])}" if len(hosts) == 1 and host_of(hosts[0]) else None
            tell_refused(scope, 421, f"Host {shown} is no name of this server", help)
            answer = PlainTextResponse("This server is not called so.\n", status_code=421)
        elif len(origins) > 1 or not all(map(self._doors.lets_in_page, origins)):
            tell_refused(scope, 403, f"Origin {', '.join(origins)} may not call it", f"--allowed-origin {origins[0]}")
            answer = PlainTextResponse("This page may not call this server.\n", status_code=403)
        else:
            await self._inner(scope, receive, send)
            return
        self._refused(answer.status_code)
        await answer(scope, receive, send)


def host_of(text: str) -> str | None:
    """The host of a Host header: in lower case, without its port and a last dot; None of what is none."""
    match = re.fullmatch(r"(\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?(?::[0-9]{1,5})?", text.lower())
    if match is None:
        return None
    if match[1].startswith("["):
        with contextlib.suppress(ValueError):
            return f"[{ipaddress.ip_address(match[1][1:-1])}]"
        return None
    return match[1]


def origin_of(text: str) -> tuple[str, str, str] | None:
    """Scheme, host and port of an Origin, the port being "" where it is that of the scheme; None of what is none."""
    match = re.fullmatch(r"(https?)://(.*?)(?::([0-9]{1,5}))?", text.lower())
    host = host_of(match[2]) if match is not None and ":" not in match[2].partition("]")[2] else None
    if match is None or host is None:
        return None
    port = match[3] or ""
    return match[1], host, "" if port == {"http": "80", "https": "443"}[match[1]] else port


def tell_refused(scope: Scope, status: int, why: str | None, help: str | None = None) -> None:
    """Tell of a request that reached no method of the protocol, with what helps."""
    client = scope.get("client")
    what = f"{scope['method']} {scope['path']}"
    log.warning("refused", status=status, what=what, client=client[0] if client else None, why=why, help=help)


class Guard:
    """Lets in who shows a token, where one is needed.

    /ready says nothing of what is served, and is open to all. A body is read here, in time and within bounds. What is
    refused, or reaches no method of the protocol, is told.
    """

    def __init__(self, inner: Asgi, doors: Doors, refused: Callable[[int], None] = lambda status: None) -> None:
        self._inner = inner
        self._tokens = doors.tokens
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let it in."""
        if scope["type"] != "http" or scope["path"] == "/ready":
            await self._inner(scope, receive, send)
            return
        from starlette.requests import Request
        from starlette.responses import JSONResponse, PlainTextResponse

        request = Request(scope)
        answer = self._identify(request)
        body: bytes | None = b""
        if answer is None:
            status, body = await _body(scope, receive)
            if status:
                answer = PlainTextResponse(f"{_SAID[status]}\n", status_code=status)
            elif scope["method"] == "POST" and body is not None and (fault := _fault_of(body)) is not None:
                code, scope[_WHY] = fault
                error = {"code": code, "message": scope[_WHY]}
                answer = JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, status_code=400)
        if answer is not None:
            self._tell(scope, answer.status_code)
            await answer(scope, receive, send)
        elif body is not None:  # else the client is gone
            await self._pass_on(request, body, receive, send)

    async def _pass_on(self, request: "Request", body: bytes, receive: Receive, send: Send) -> None:
        """Let a request in, and see to its answer: what a stream sends later is for those whose token still holds."""
        scope = request.scope
        parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_whole() -> Message:
            return parts.pop() if parts else await receive()

        status = 0

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            elif message.get("more_body") and not self._is_known(scope):
                message = {"type": "http.response.body", "body": b""}  # the end of the stream
            await send(message)

        await self._inner(scope, receive_whole, splicing(scope, send_on))
        if status >= 400 and TOLD not in scope:
            self._tell(scope, status)

    def _tell(self, scope: Scope, status: int) -> None:
        self._refused(status)
        tell_refused(scope, status, scope.get(_WHY) or _SAID.get(status))

    def _identify(self, request: "Request") -> "Response | None":
        """Note whose token a request shows; the answer to one that shows none that is known."""
        if self._tokens is None:
            return None
        from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
        from mcp.server.auth.provider import AccessToken
        from starlette.responses import JSONResponse

        kind, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip() if kind.lower() == "bearer" else ""
        name = self._tokens().name_of(token) if token else None
        if name is None:
            request.scope[_WHY] = "this token is not known" if token else "a token is needed"
            headers = {"WWW-Authenticate": 'Bearer realm="kbp"'}
            return JSONResponse({"error": request.scope[_WHY]}, status_code=401, headers=headers)
        request.scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))
        request.scope[_TOKEN] = token
        return None

    def _is_known(self, scope: Scope) -> bool:
        """Whether the token of a request that was let in is still one."""
        return self._tokens is None or self._tokens().name_of(scope[_TOKEN]) is not None


def _fault_of(body: bytes) -> tuple[int, str] | None:
    """Why a body is not one message of JSON-RPC: the code and the words of the error; None when it is one."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return _PARSE_ERROR, "the body is no JSON"
    if not isinstance(content, dict) or content.get("jsonrpc") != "2.0":
        return _INVALID_REQUEST, "the body is no message of JSON-RPC"
    number, params = content.get("id"), content.get("params")
    if ("id" in content and (isinstance(number, bool) or not isinstance(number, int | str))) or (
        "params" in content and not isinstance(params, dict)
    ):
        return _INVALID_REQUEST, "the id or the params of the message are none that the protocol knows"
    error = content.get("error")
    is_error = isinstance(error, dict) and isinstance(error.get("code"), int) and isinstance(error.get("message"), str)
    is_answer = isinstance(content.get("result"), dict) or is_error
    if isinstance(content.get("method"), str) or ("id" in content and is_answer):
        return None
    return _INVALID_REQUEST, "the message has no method"


async def _body(scope: Scope, receive: Receive) -> tuple[int, bytes | None]:
    """The body of a request, read in time; a status that refuses it; or no body, when the client is gone."""
    import anyio

    if scope["method"] not in ("POST", "PUT", "PATCH", "DELETE"):
        return 0, b""
    body = bytearray()
    with anyio.move_on_after(_BODY_SECONDS):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return 0, None
            body += message.get("body", b"")
            if len(body) > MAX_BODY:
                return 413, None
            if not message.get("more_body", False):
                return 0, bytes(body)
    return 408, None
