"""The answers of a server over HTTP as they were written, kept beside the SDK's own reading of them."""

import contextlib
import re
import threading
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from kbp.live.base import CANCELLED, MAX_MESSAGE, Received, Unreachable, parse_all

if TYPE_CHECKING:
    import httpx2

_END_OF_EVENT = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")
_MAX_NOTIFICATION = 500
_LINE = re.compile(r"\r\n|\n|\r")


class Tap:
    """What keeps answers: `note` is told of each response, `take` gives the answer to a request.

    `cancelled` is set when the server has taken a cancellation.
    """

    def __init__(self) -> None:
        self._answers: dict[str, Received] = {}
        self._taken: set[str] = set()
        self.cancelled = threading.Event()

    def take(self, number: Any) -> Received | None:
        """The answer to the request of that id as it was written, None when the server wrote none."""
        key = str(number)
        self._taken.add(key)
        return self._answers.pop(key, None)

    def has_taken(self, number: Any) -> bool:
        """Whether the answer to the request of that id was taken already."""
        return str(number) in self._taken

    def keep(self, text: str) -> None:
        """Keep a message, if it answers something."""
        with contextlib.suppress(RecursionError):
            for received in parse_all(text):
                if "method" not in received.message:
                    self._answers[str(received.message.get("id"))] = received

    async def note(self, response: "httpx2.Response") -> None:
        """Pass the body of a response on as before, and keep the answers in it. A hook of the HTTP client."""
        import httpx2

        tap, stream = self, response.stream
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise Unreachable("the server answers in an encoding that was not asked for")
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        with contextlib.suppress(httpx2.RequestNotRead):  # the body of one that was sent on to another address
            if CANCELLED.encode() in response.request.content[:_MAX_NOTIFICATION]:
                self.cancelled.set()
        if kind not in _KINDS or not isinstance(stream, httpx2.AsyncByteStream):
            return
        inner: httpx2.AsyncByteStream = stream

        class Stream(httpx2.AsyncByteStream):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                body = _KINDS[kind]()
                async for chunk in inner:
                    for text in body.feed(chunk):
                        tap.keep(text)
                    yield chunk
                for text in body.end():
                    tap.keep(text)

            async def aclose(self) -> None:
                await inner.aclose()

        response.stream = Stream()


class _Whole:
    """A body that is one JSON text."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[str]:
        self._size += len(chunk)
        _check_size(self._size)
        self._parts.append(chunk)
        return iter(())

    def end(self) -> Iterator[str]:
        yield b"".join(self._parts).decode("utf-8", "replace")


class _Events(_Whole):
    """A body of server-sent events, each of which has a JSON text. A part is looked at once, however it comes."""

    def feed(self, chunk: bytes) -> Iterator[str]:
        self._size += len(chunk)
        _check_size(self._size)
        tail = self._parts[-1][-3:] if self._parts else b""
        if not _END_OF_EVENT.search(tail + chunk):
            self._parts.append(chunk)
            return
        *events, rest = _END_OF_EVENT.split(b"".join(self._parts) + chunk)
        self._parts, self._size = [rest], len(rest)
        for event in events:
            yield from _data(event)

    def end(self) -> Iterator[str]:
        yield from _data(b"".join(self._parts))


def _data(event: bytes) -> Iterator[str]:
    lines = _LINE.split(event.decode("utf-8", "replace"))
    data = [line[5:].removeprefix(" ") for line in lines if line.startswith("data:")]
    if data:
        yield "\n".join(data)


def _check_size(size: int) -> None:
    if size > MAX_MESSAGE:
        raise Unreachable(f"the server sent a message of more than {MAX_MESSAGE // 1024 // 1024} MiB")


_KINDS = {"application/json": _Whole, "text/event-stream": _Events}
