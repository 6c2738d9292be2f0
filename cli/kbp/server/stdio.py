"""A server of prompts on stdin and stdout."""

import os
import signal
import sys

from kbp.server import log
from kbp.server.app import App

_GRACE_SECONDS = 0.2


def run(app: App) -> None:
    """Answer what comes on stdin until it is closed. The process ends when a signal asks for it."""
    import anyio

    async def main() -> None:
        async with anyio.create_task_group() as group:
            if sys.platform != "win32":  # where a loop cannot wait for signals
                group.start_soon(_heed_end)
            await _serve(app)
            group.cancel_scope.cancel()

    anyio.run(main)


async def _serve(app: App) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
        await app.server.run(read, write, app.server.create_initialization_options())


async def _heed_end() -> None:
    """End on the signals that ask for it, when what is under way has had its time."""
    import anyio

    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for number in signals:
            log.info("ending")
            await anyio.sleep(_GRACE_SECONDS)
            sys.stderr.flush()
            os._exit(128 + number)  # a thread waits for stdin, and holds up everything else
