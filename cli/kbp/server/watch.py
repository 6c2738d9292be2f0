"""A stock that follows its files: looked at again and again, and read anew when they are other ones."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from kbp.server import log
from kbp.server.stock import look

if TYPE_CHECKING:
    from kbp.server.app import App
    from kbp.server.stock import Stock

Line = tuple[Callable[..., None], str, tuple[tuple[str, str | None], ...]]
"""What tells an event, the event, and its fields."""
_PAUSE, _SETTLE, _MAX_SETTLE = 0.5, 0.1, 2.0
_SHARE = 25
"""Looking takes one part in so many of the time, at most."""


async def follow(app: "App", *, is_watching: bool, on_hangup: Callable[[], None] = lambda: None) -> None:
    """Keep the stock of a server as its files are, as long as it runs.

    Files are looked at by their times and sizes, which works on folders from another machine too. On SIGHUP all is read
    anew, whatever they say, and `on_hangup` is called.
    """
    import anyio

    async with anyio.create_task_group() as group:
        if is_watching:
            group.start_soon(_watch, app)
        if sys.platform != "win32" and threading.current_thread() is threading.main_thread():
            group.start_soon(_heed_hangup, app, on_hangup)


async def _watch(app: "App") -> None:
    import anyio
    from anyio import to_thread

    pause = _PAUSE
    while True:
        await anyio.sleep(pause)
        start = time.perf_counter()
        now = await to_thread.run_sync(look, list(app.stock.stamps), abandon_on_cancel=True)
        pause = max(_PAUSE, _SHARE * (time.perf_counter() - start))
        if now != app.stock.stamps:
            await _settle(app)
            await renew(app, "files changed")


async def _settle(app: "App") -> None:
    """Wait until what is being written is written."""
    import anyio
    from anyio import to_thread

    end = time.monotonic() + _MAX_SETTLE
    last = await to_thread.run_sync(look, list(app.stock.stamps), abandon_on_cancel=True)
    while time.monotonic() < end:
        await anyio.sleep(_SETTLE)
        now = await to_thread.run_sync(look, list(app.stock.stamps), abandon_on_cancel=True)
        if now == last:
            return
        last = now


async def renew(app: "App", why: str) -> None:
    """Read all prompts anew, where it holds up no request, and tell clients when their list is another."""
    from anyio import to_thread

    try:
        is_another = await to_thread.run_sync(app.stock.renew, abandon_on_cancel=True)
    except Exception as error:  # what was read before is still served
        log.error("reading failed", kind=type(error).__name__)
        return
    tell_stock(app, why)
    if is_another:
        await app.changed()


def tell_stock(app: "App", why: str) -> None:
    """Tell what is served now, and what is not and why: what was told the last time is not told again."""
    log.info(why, prompts=len(app.stock.offers.prompts))
    lines = list(_lines(app.stock))
    for line in lines:
        if line not in app.told:
            tell, event, fields = line
            tell(event, **dict(fields))
    app.told = set(lines)


def _lines(stock: "Stock") -> Iterator[Line]:
    def line(tell: Callable[..., None], event: str, **fields: str | None) -> Line:
        return tell, event, tuple(fields.items())

    offers = stock.offers
    if stock.fault is not None:
        yield line(log.error, "the prompts before are still served", why=stock.fault)
    for conflict in (*offers.conflicts, *(each for library in offers.libraries for each in library.conflicts)):
        yield line(log.warning, "conflict", what=conflict)
    for path, reason in offers.kept:
        yield line(log.warning, "the last good version is served", path=path, why=reason)
    for library in offers.libraries:
        for passed in library.passed:
            yield line(log.info, "passed over", library=library.name or None, what=passed)
        for plugin in library.plugins:
            for path, reason in plugin.skipped():
                yield line(log.info, "skipped", plugin=plugin.id, path=path, why=reason)
            for file in plugin.prompts.served:
                if file.template is not None and file.template.dropped:
                    keys = ", ".join(file.template.dropped)
                    yield line(log.debug, "dropped", path=str(file.place.relative), keys=keys)


async def _heed_hangup(app: "App", on_hangup: Callable[[], None]) -> None:
    import anyio

    with anyio.open_signal_receiver(signal.SIGHUP) as signals:
        async for _ in signals:
            on_hangup()
            await renew(app, "read anew")
