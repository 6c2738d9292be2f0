"""A server that is reached over HTTP: streamable HTTP, or the older event stream when that is asked for.

The transports are those of the MCP SDK, in a thread of their own; what the server writes is kept as it is written.
"""

import contextlib
import logging
import queue
import threading
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import TimeoutError as FutureTimeout
from typing import TYPE_CHECKING, Any

from kbp.live.base import CANCELLED, MODERN, Login, Received, TimedOut, Unauthorized, Unreachable
from kbp.live.server import without_secrets
from kbp.live.tap import Tap

if TYPE_CHECKING:
    import httpx2
    from anyio.from_thread import BlockingPortal
    from mcp.shared.message import SessionMessage

_NOISY = ("mcp", "client", "httpx2")
_CONNECT_SECONDS = 10.0
_ENDING_SECONDS = 5.0
_ENDING_REASON_SECONDS = 0.1
_CANCEL_SECONDS = 1.0
_MAX_SAID = 300
_MODERN_META = "io.modelcontextprotocol/protocolVersion"


class Http:
    """A channel to a URL.

    Args:
        url: the address.
        headers: what goes with each request.
        is_sse: whether the server has the older transport.
        auth: who gives authorization.
        login: whether a person is logging in, which takes what time it takes.
        timeout: how many seconds connecting and sending may take; None: any time.

    Raises:
        Unreachable: there is no such server.
        TimedOut: it does not take the connection in time.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        is_sse: bool = False,
        auth: "httpx2.Auth | None" = None,
        login: Login | None = None,
        timeout: float | None = None,
    ) -> None:
        for name in _NOISY:  # they log what is told here as an error
            logging.getLogger(name).addHandler(logging.NullHandler())
        self.url, self.shown = url, without_secrets(url)
        self.revision: str | None = None
        self._headers = dict(headers or {})
        self._is_authorized = any(name.lower() == "authorization" for name in self._headers)
        self._auth = auth
        self._login = login or Login()
        self._is_sse = is_sse
        self._timeout = timeout
        self._messages: queue.SimpleQueue[Received | BaseException] = queue.SimpleQueue()
        self._status: tuple[int, str] | None = None
        self._tap = Tap()
        self._write: Any = None
        self._scope: Any = None
        self._opened, self._ended = threading.Event(), threading.Event()
        self._failure: BaseException | None = None
        self._portal: BlockingPortal | None = None
        threading.Thread(target=self._serve, daemon=True).start()  # which a program that ends does not wait for
        if not self._wait_for(self._opened):
            self.close()
            raise self._too_slow("the connection")
        if self._failure is not None:
            self.close()
            raise self._failure

    def _too_slow(self, what: str) -> TimedOut:
        return TimedOut(f"the server at {self.shown} did not take {what} within {self._timeout:g} seconds")

    def _wait_for(self, event: threading.Event) -> bool:
        """Whether an event comes in time. The time of a login does not count."""
        while not event.wait(self._timeout):
            if not self._login.is_open:
                return False
        return True

    def _serve(self) -> None:
        import anyio

        with contextlib.suppress(BaseException):  # what fails is told by the messages
            anyio.run(self._run)
        self._opened.set()
        self._ended.set()

    async def _run(self) -> None:
        """Hold the connection until it is closed, and pass on what comes."""
        import anyio
        from anyio.from_thread import BlockingPortal

        self._scope = anyio.CancelScope()
        try:
            with self._scope:
                async with (
                    BlockingPortal() as self._portal,
                    self._streams() as (read, write),
                    anyio.create_task_group() as group,
                ):
                    self._write = write
                    self._opened.set()
                    group.start_soon(self._pass_on, read)
                    await anyio.sleep_forever()
        except BaseException as error:
            root = _root(error)
            is_person = isinstance(root, KeyboardInterrupt | EOFError)
            self._failure = root if is_person else _told(root, self.shown, self._status, self._is_authorized)
            self._messages.put(self._failure)
        finally:
            self._login.is_open = False
            self._opened.set()

    async def _pass_on(self, read: Any) -> None:
        import anyio

        async for item in read:
            self._messages.put(item if isinstance(item, Exception) else self._received(item))
        await anyio.sleep(_ENDING_REASON_SECONDS)  # for a failure that ended it, which says more
        self._messages.put(Unreachable(f"the server at {self.shown} closed the connection"))

    @contextlib.asynccontextmanager
    async def _streams(self) -> AsyncIterator[tuple[Any, Any]]:
        import httpx2
        from mcp.client.sse import sse_client
        from mcp.client.streamable_http import streamable_http_client

        def client(
            headers: dict[str, str] | None = None,
            timeout: httpx2.Timeout | None = None,
            auth: httpx2.Auth | None = None,
        ) -> httpx2.AsyncClient:
            return httpx2.AsyncClient(
                headers={"Accept-Encoding": "identity", **(headers or {})},
                timeout=httpx2.Timeout(_CONNECT_SECONDS, read=None),
                auth=auth,
                event_hooks={"response": [self._note, self._tap.note]},
            )

        if self._is_sse:
            async with sse_client(self.url, self._headers, auth=self._auth, httpx_client_factory=client) as streams:
                yield streams
            return
        async with (
            client(self._headers, auth=self._auth) as http_client,
            streamable_http_client(self.url, http_client=http_client, max_sse_event_size=None) as streams,
        ):
            yield streams

    async def _note(self, response: "httpx2.Response") -> None:
        """Keep the status of a failed request, which the SDK does not pass on."""
        is_first = self._status is None or self._status[0] not in (401, 403)  # what a login asks comes behind it
        if response.status_code >= 400 and is_first:
            self._status = response.status_code, response.headers.get("www-authenticate", "")

    def _received(self, item: "SessionMessage") -> Received:
        """The message as it was written: the SDK's own reading of it would lose how."""
        content = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        if "method" in content:
            return Received(content)
        number = content.get("id")
        if self._tap.has_taken(number):
            return Received(content)  # it comes a second time, and nobody waits for it
        received = self._tap.take(number)
        if received is None and "error" not in content:
            return Received({})  # the SDK takes what answers another request for the answer to this one
        return received or Received(content, is_local=True)

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message, with the headers that its revision wants.

        Raises:
            Unreachable: the connection is gone.
        """
        from mcp.shared.message import ClientMessageMetadata, SessionMessage
        from mcp_types import jsonrpc_message_adapter

        parsed = jsonrpc_message_adapter.validate_python(dict(message), by_name=False)
        metadata = ClientMessageMetadata(headers=self._message_headers(message))
        self._status = None
        try:
            assert self._portal is not None  # noqa: S101 (it is connected)
            sending = self._portal.start_task_soon(self._write.send, SessionMessage(parsed, metadata))
            sending.result(self._timeout)
        except FutureTimeout:
            sending.cancel()
            raise TimedOut(
                f"the server at {self.shown} did not take a message within {self._timeout:g} seconds"
            ) from None
        except Exception as error:
            raise self._failure or _told(_root(error), self.shown, self._status, self._is_authorized) from None
        if message.get("method") == CANCELLED and self.revision != MODERN:  # there, the end of the request says it
            self._tap.cancelled.wait(_CANCEL_SECONDS)

    def _message_headers(self, message: Mapping[str, Any]) -> dict[str, str]:
        from mcp.shared.inbound import (
            MCP_METHOD_HEADER,
            MCP_NAME_HEADER,
            MCP_PROTOCOL_VERSION_HEADER,
            encode_header_value,
        )

        params = message.get("params") or {}
        is_modern = _MODERN_META in (params.get("_meta") or {})
        revision: str | None = MODERN if is_modern else self.revision
        headers = {MCP_PROTOCOL_VERSION_HEADER: revision} if revision else {}
        if is_modern:
            headers[MCP_METHOD_HEADER] = message["method"]
            if message["method"] == "prompts/get":
                headers[MCP_NAME_HEADER] = encode_header_value(params["name"])
        return headers

    def receive(self, seconds: float | None) -> Received | None:
        """The next message, None when none came in time.

        Raises:
            Unauthorized: the server wants another authorization.
            Unreachable: the connection is gone, or the status of an answer says that there is none.
        """
        received = self._next(seconds)
        if received is None:
            return None
        if isinstance(received, BaseException):
            self._messages.put(received)  # nothing else comes after it
            if isinstance(received, Unreachable | KeyboardInterrupt | EOFError):
                raise received
            raise _told(received, self.shown, self._status, self._is_authorized)
        return self._without_answer(received) if received.is_local else received

    def _without_answer(self, received: Received) -> Received:
        """What stands for an answer that did not come: a status that an older server may mean is passed on.

        Raises:
            Unreachable: there will be none.
        """
        status, self._status = self._status, None
        error = received.message.get("error")
        if status is None:
            said = error.get("message") if isinstance(error, dict) else "no answer"
            raise Unreachable(f"the server at {self.shown} gave no answer: {said}")
        if status[0] in (401, 403) or status[0] >= 500 or self.revision is not None:
            raise _bad_status(self.shown, status, self._is_authorized)
        error = {"code": 0, "message": f"HTTP {status[0]}"}
        return Received({"id": received.message.get("id"), "error": error}, is_local=True)

    def _next(self, seconds: float | None) -> Received | BaseException | None:
        """What comes next. The time of a login does not count."""
        while True:
            logins = self._login.count
            try:
                return self._messages.get(timeout=seconds)
            except queue.Empty:
                if not self._login.is_open and self._login.count == logins:
                    return None

    def remarks(self) -> tuple[str, ...]:
        """Nothing: what a server writes beside its answers stays with it."""
        return ()

    def close(self) -> None:
        """End the connection."""
        with contextlib.suppress(Exception):
            if self._portal is not None and self._scope is not None:
                self._portal.start_task_soon(self._scope.cancel)
                self._ended.wait(_ENDING_SECONDS)


def _root(error: BaseException) -> BaseException:
    """The one error in groups of errors."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def _told(error: BaseException, url: str, status: tuple[int, str] | None, is_authorized: bool) -> Unreachable:
    if isinstance(error, Unreachable):
        return error
    if status is not None:
        return _bad_status(url, status, is_authorized)
    said = " ".join(str(error).split())[:_MAX_SAID] or type(error).__name__
    if "header value" in said:
        said = "a header has characters that no header can have"
    if "pydantic" in said or "validation error" in said:
        said = "what it answers is no message of MCP"
    return Unreachable(f"there is no way to the server at {url}: {said[:1].lower()}{said[1:]}")


def _bad_status(url: str, status: tuple[int, str], is_authorized: bool) -> Unreachable:
    code, challenge = status
    if code in (401, 403):
        help = [f"  it says: WWW-Authenticate: {challenge}"] if challenge else []
        help += [] if is_authorized else ["  give one with --header 'Authorization: Bearer …', or as its `headers`"]
        what = "refuses this authorization" if is_authorized else "wants an authorization"
        return Unauthorized(f"the server at {url} {what} (HTTP {code})", tuple(help))
    ended = ("  its session may have ended",) if code == 404 else ()
    return Unreachable(f"the server at {url} answers with HTTP {code}", ended)
