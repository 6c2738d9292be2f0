"""HTTP connections on which requests come, and answers are read, in time and within bounds."""

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kbp.server import log

HEAD_SECONDS = 30.0
"""How long a head may take to come, and how long an answer may lie unread."""
MAX_HEAD = 64 * 1024
"""How many bytes a head may have; so many may also be lost around the parts of a body."""
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as _Protocol
else:
    _Protocol = object


class Patience(_Protocol):
    """The end of connections of clients that send no request, send too much of one, or read no answer."""

    refused: Callable[[int], None]
    _waits_since: float | None = None
    _head = _pending = _unread = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._waits_since = time.monotonic()
        self._tick()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _tick(self) -> None:
        """Look again and again whether something goes on."""
        left = self.transport.get_write_buffer_size()
        is_late = self._waits_since is not None and time.monotonic() - self._waits_since > HEAD_SECONDS
        if (left and left == self._unread) or (is_late and not left):
            self.transport.abort()
            return
        self._unread = left
        self._timer = self.loop.call_later(HEAD_SECONDS / (1 if left else 4), self._tick)

    # How much of what came is neither head nor body

    def data_received(self, data: bytes) -> None:
        self._pending += len(data)
        super().data_received(data)
        self._pending = max(self._pending, 0)
        if self._head + self._pending > MAX_HEAD and not self.transport.is_closing():
            client = self.client[0] if self.client else None
            log.warning("refused", status=431, client=client, why=f"a head has more than {MAX_HEAD // 1024} KiB")
            self.refused(431)
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def on_message_begin(self) -> None:
        self._head = 0
        if self._waits_since is not None:
            self._waits_since = time.monotonic()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + 4)
        if self._head <= MAX_HEAD:
            super().on_header(name, value)

    def _count(self, size: int) -> None:
        self._head += size
        self._pending -= size

    def on_headers_complete(self) -> None:
        if self._head > MAX_HEAD:  # it came at once: what follows refuses it
            return
        self._head = self._pending = 0
        self._waits_since = None
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._pending -= len(body)
        if self._head <= MAX_HEAD:
            super().on_body(body)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete:  # else another request is answered already
            self._waits_since = time.monotonic()


def patient_protocol(counted: Callable[[int], None]) -> type[asyncio.Protocol]:
    """The HTTP of uvicorn, with patience that has an end. What is refused is counted."""
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class Patient(Patience, HttpToolsProtocol):
        refused = staticmethod(counted)

    return Patient
