"""A stock that follows its files: looked at again and again, and read anew when they are other ones."""

import signal
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any

from kbp.server import log
from kbp.server.stamps import Stamps, look
from kbp.server.stock import Stock

if TYPE_CHECKING:
    from anyio import CapacityLimiter

_PAUSE, _MAX_PAUSE, _SETTLE, _MAX_SETTLE = 0.5, 10.0, 0.1, 2.0
_SHARE = 25
"""Looking takes one part in so many of the time, at most."""
_Line = tuple[Callable[..., None], str, tuple[tuple[str, str | int | None], ...]]
"""What tells an event, the event, and its fields."""


class Keeper:
    """Keeps a stock as its files are, and tells what it serves and what not.

    Args:
        stock: what is kept.
        changed: tells clients that the list of prompts is another.
        is_watching: whether files are looked at, or all is read after a hangup only.
        hangups: say when all is to be read anew.
        on_hangup: what else is read anew then.
    """

    def __init__(
        self,
        stock: Stock,
        changed: Callable[[], Coroutine[Any, Any, None]],
        *,
        hangups: "Hangups",
        is_watching: bool,
        on_hangup: Callable[[], None] = lambda: None,
    ) -> None:
        self._stock = stock
        self._changed = changed
        self._is_watching = is_watching
        self._on_hangup = on_hangup
        self._told: set[_Line] = set()
        self._kept: set[tuple[str, str]] = set()
        self._hangups = hangups

    async def run(self) -> None:
        """Follow the files as long as the server runs.

        They are looked at by their times and sizes, which works on folders from another machine too. After a hangup all
        is read anew, whatever they say.
        """
        import anyio

        async with anyio.create_task_group() as group:
            if self._is_watching:
                group.start_soon(self._watch)
            group.start_soon(self._heed_hangup)

    def tell(self, why: str) -> None:
        """Tell what is served now, and what is not and why: what was told the last time is not told again."""
        if self._stock.fault is None:
            log.info(why, prompts=len(self._stock.offers.prompts))
        lines = dict.fromkeys(_lines(self._stock))
        for tell, event, fields in lines:
            if (tell, event, fields) not in self._told:
                tell(event, **dict(fields))
        self._told = set(lines)
        kept = {(plugin, each.path) for plugin, files in self._stock.kept().items() for each in files}
        offered = {(each.plugin, str(each.file.place.relative)) for each in self._stock.offers.prompts.values()}
        for plugin, path in sorted((self._kept - kept) & offered):
            log.info("is served as it is again", plugin=plugin, path=path)
        self._kept = kept

    async def _watch(self) -> None:
        import anyio

        pause = _PAUSE
        while True:
            await anyio.sleep(pause)
            now, seconds = await self._look()
            pause = min(max(_PAUSE, _SHARE * seconds), _MAX_PAUSE)
            if now != self._stock.stamps:
                await self._settle()
                await self._renew("files changed")

    async def _settle(self) -> None:
        """Wait until what is being written is written."""
        import anyio

        end = time.monotonic() + _MAX_SETTLE
        last, _ = await self._look()
        while time.monotonic() < end:
            await anyio.sleep(_SETTLE)
            now, _ = await self._look()
            if now == last:
                return
            last = now

    async def _look(self) -> tuple[Stamps, float]:
        """The stamps of all files, and how many seconds of a processor that took."""
        from anyio import to_thread

        def timed() -> tuple[Stamps, float]:
            start = time.thread_time()
            return look(list(self._stock.stamps)), time.thread_time() - start

        return await to_thread.run_sync(timed, abandon_on_cancel=True, limiter=_own_thread())

    async def _renew(self, why: str, *, is_hangup: bool = False) -> None:
        """Read all prompts anew, where it holds up no request, and tell clients when their list is another."""
        from anyio import to_thread

        def renew() -> bool:
            if is_hangup:
                self._on_hangup()
            is_another = self._stock.renew()
            self.tell(why)
            return is_another

        try:
            if await to_thread.run_sync(renew, abandon_on_cancel=True, limiter=_own_thread()):
                await self._changed()
        except Exception as error:  # what was read before is still served
            log.error("failed", doing=why, kind=type(error).__name__)

    async def _heed_hangup(self) -> None:
        import anyio

        while True:
            await anyio.sleep(_PAUSE / 2)
            if self._hangups.take():
                await self._renew("read anew", is_hangup=True)


class Hangups:
    """Whether SIGHUP came: noted from now on, instead of ending the process. For the main thread.

    (An event of `threading` has a lock, in which a signal handler may wait for the very code that it interrupts.)
    """

    def __init__(self) -> None:
        self._came = False
        number = getattr(signal, "SIGHUP", None)
        if number is not None:
            signal.signal(number, self._note)

    def _note(self, *_: object) -> None:
        self._came = True

    def take(self) -> bool:
        """Whether one came since the last time: many are one."""
        came, self._came = self._came, False
        return came


def _own_thread() -> "CapacityLimiter":
    """A thread that no request waits for, and that waits for no request."""
    import anyio

    return anyio.CapacityLimiter(1)


def _lines(stock: Stock) -> Iterator[_Line]:
    def line(tell: Callable[..., None], event: str, **fields: str | int | None) -> _Line:
        return tell, event, tuple(fields.items())

    offers = stock.offers
    if stock.fault is not None:
        yield line(log.error, "the prompts before are still served", why=stock.fault)
    for conflict in (*offers.conflicts, *(each for library in offers.libraries for each in library.conflicts)):
        yield line(log.warning, "conflict", what=conflict)
    for plugin_id, left in offers.unnamed:
        yield line(log.warning, "skipped", plugin=plugin_id, path=left.path, why=left.reason)
    for plugin_id, kept in stock.kept().items():
        for each in kept:
            event = "the last good version is served"
            yield line(log.warning, event, plugin=plugin_id, path=each.path, line=each.line, why=each.reason)
    for library in offers.libraries:
        for left in library.passed:
            tell = log.warning if left.is_fault else log.info
            yield line(tell, "skipped", library=library.name or None, path=left.path, why=left.reason)
        for plugin in library.plugins:
            for left in plugin.skipped():
                tell = log.warning if left.is_fault else log.info
                yield line(tell, "skipped", plugin=plugin.id, path=left.path, line=left.line, why=left.reason)
            for file in plugin.prompts.served:
                if file.template is not None and file.template.dropped:
                    keys = ", ".join(file.template.dropped)
                    yield line(log.debug, "dropped", path=str(file.place.relative), keys=keys)
