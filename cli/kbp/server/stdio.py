"""A server of prompts on stdin and stdout."""

import os
import select
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from kbp.live.base import CANCELLED
from kbp.server import log
from kbp.server.app import LISTEN, App

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

_GRACE_SECONDS, _LAST_SECONDS, _PAUSE = 0.2, 10.0, 0.02
_MAX_OWED = 64
"""How many answers may be owed before no more requests are read: a client that reads none asks for none."""


def run(app: App) -> NoReturn:
    """Answer what comes on stdin until it is closed, or nobody reads stdout, or a signal ends it."""
    import anyio

    async def main() -> None:
        async with anyio.create_task_group() as group:
            if sys.platform != "win32":  # where a loop cannot wait for signals, and a pipe cannot be polled
                group.start_soon(_heed_end)
                group.start_soon(_heed_reader, os.dup(1))
            await _Exchange(app).run()
            group.cancel_scope.cancel()

    anyio.run(main)
    _end(0)


class _Exchange:
    """The messages between a client and a server, and which answers are owed."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._owed: set[Any] = set()

    async def run(self) -> None:
        """Pass on all that comes and goes."""
        import anyio
        from mcp.server.stdio import stdio_server

        send_in, receive_in = anyio.create_memory_object_stream[Any](0)
        send_out, receive_out = anyio.create_memory_object_stream[Any](0)
        async with stdio_server() as (read, write), anyio.create_task_group() as group:
            group.start_soon(self._pass_in, read, send_in)
            group.start_soon(self._pass_out, receive_out, write)
            server = self._app.server
            await server.run(receive_in, send_out, server.create_initialization_options())
            group.cancel_scope.cancel()

    async def _pass_in(self, read: Any, send: "MemoryObjectSendStream[Any]") -> None:
        """Pass on what comes. After the last of it, what is owed is answered before the end is passed on too."""
        import anyio

        async with send, read:
            async for item in read:
                while len(self._owed) >= _MAX_OWED:
                    await anyio.sleep(_PAUSE)
                self._note(getattr(item, "message", None))
                await send.send(item)
            with anyio.move_on_after(_LAST_SECONDS):
                while self._owed:
                    await anyio.sleep(_PAUSE)

    def _note(self, message: Any) -> None:
        method, number = getattr(message, "method", None), getattr(message, "id", None)
        if method == CANCELLED:
            number = (message.params or {}).get("requestId")
            if isinstance(number, int | str):  # a client sends what it likes
                self._owed.discard(number)
        elif method is not None and method != LISTEN and isinstance(number, int | str):
            self._owed.add(number)

    async def _pass_out(self, receive: "MemoryObjectReceiveStream[Any]", write: Any) -> None:
        async with write:
            async for item in receive:
                await write.send(item)
                if getattr(item.message, "method", None) is None:
                    self._owed.discard(getattr(item.message, "id", None))


async def _heed_end() -> None:
    """End on the signals that ask for it, when what is under way has had its time."""
    import anyio

    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            log.info("ending")
            await anyio.sleep(_GRACE_SECONDS)
            _end(128 + number)


async def _heed_reader(handle: int) -> None:
    """End when nobody reads stdout any more."""
    import anyio

    watched = select.poll()
    watched.register(handle, 0)
    while not watched.poll(0):
        await anyio.sleep(1)
    log.debug("the client is gone")
    _end(0)


def _end(code: int) -> NoReturn:
    """End the process, though a thread waits for stdin or for a file that hangs."""
    sys.stderr.flush()
    os._exit(code)
