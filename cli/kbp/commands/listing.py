"""How much of a live server's list of prompts is read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import typer

from kbp.commands.bundles import given_options
from kbp.commands.console import DONE, SERVER_FAILED, Console
from kbp.commands.live import Live, without_server
from kbp.display import safe_line
from kbp.live.source import Endless, LiveSource
from kbp.live.source import Listing as Found


@dataclass(frozen=True)
class Listing:
    """Which pages are read; all by default."""

    pages: Annotated[
        int | None, typer.Option("--pages", metavar="N", min=1, help="The first N pages of a server's list.")
    ] = None
    page: Annotated[
        str | None, typer.Option("--page", metavar="CURSOR", help="The page of a server's list that a cursor names.")
    ] = None
    partial: Annotated[
        bool, typer.Option("--partial", help="When a server's list breaks off or has no end, print what was read.")
    ] = False

    def faults(self, *, is_live: bool) -> list[str]:
        """What is wrong with these options."""
        if not is_live:
            return without_server(self)
        given = given_options(self)
        return [f"{' and '.join(given)}: give one of them"] if len(given) > 1 else []

    def read(self, live: Live, console: Console, show: Callable[[Found], None]) -> int:
        """Show what was read of the list, before the server is ended, and give the exit code.

        Raises:
            Stop: the server fails.
        """
        code = DONE
        with live.opened(console, doing="to list its prompts") as source:
            try:
                found = self._found(source)
            except Endless as broken:
                if not self.partial:
                    if broken.listing.prompts:
                        broken.help = (*broken.help, "  --partial prints what was read of it")
                    raise
                found, code = broken.listing, SERVER_FAILED
                console.fail([safe_line(str(broken))], map(safe_line, broken.help))
            console.warn_of(found.warnings)
            show(found)
        return code

    def _found(self, source: LiveSource) -> Found:
        if self.page is not None:
            page = source.list_page(self.page)
            return Found(page.prompts, page.warnings, next_cursor=page.next_cursor)
        return source.first_pages(self.pages) if self.pages is not None else source.list_all()
