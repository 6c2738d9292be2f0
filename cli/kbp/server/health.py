"""What a server says of itself: which libraries and plugins it serves, and what it does not and why."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from kbp import __version__
from kbp.libraries.served import Left, Plugin, Served
from kbp.server.stock import Stock


def health(stock: Stock, faults: Iterable[str] = ()) -> dict[str, Any]:
    """The state of a server, as `GET /health` gives it. Paths are those in a plugin, or as they were given.

    Args:
        stock: what is served.
        faults: what else is wrong with the server.
    """
    offers = stock.offers
    by_library = Counter(offer.library for offer in offers.prompts.values())
    by_plugin = Counter((offer.library, offer.plugin) for offer in offers.prompts.values())
    unnamed: dict[str, list[Left]] = {}
    for plugin_id, each in offers.unnamed:
        unnamed.setdefault(plugin_id, []).append(each)
    errors = [*([stock.fault] if stock.fault is not None else []), *faults]
    return {
        "status": "ok" if stock.is_whole() and not errors else "degraded",
        "version": __version__,
        "counts": {
            "libraries": len(offers.libraries),
            "plugins": len({plugin.id for library in offers.libraries for plugin in library.plugins}),
            "prompts": len(offers.prompts),
        },
        "errors": errors,
        "libraries": {library.name: _library(library, by_library[library.name]) for library in offers.libraries},
        "plugins": {
            plugin.id: _plugin(plugin, by_plugin[library.name, plugin.id], unnamed.get(plugin.id, []))
            for library in offers.libraries
            for plugin in library.plugins
        },
        "conflicts": list(offers.conflicts),
        "kept": [
            {"plugin": plugin, **_left(Left(each.path, each.reason, each.line))}
            for plugin, kept in stock.kept().items()
            for each in kept
        ],
    }


def _library(library: Served, prompts: int) -> dict[str, Any]:
    return {
        "prompts": prompts,
        "plugins": [plugin.id for plugin in library.plugins],
        "skipped": [_left(each) for each in library.passed],
        "conflicts": list(library.conflicts),
    }


def _plugin(plugin: Plugin, prompts: int, unnamed: Iterable[Left]) -> dict[str, Any]:
    content = {
        "status": "ok" if plugin.error is None else "error",
        "error": plugin.error,
        "prompts": prompts,
        "category": plugin.category,
        "tags": sorted(plugin.labels),
        "skipped": [_left(each) for each in (*plugin.skipped(), *unnamed)],
    }
    return {key: value for key, value in content.items() if value is not None}


def _left(left: Left) -> dict[str, Any]:
    line = {"line": left.line} if left.line is not None else {}
    return {"path": left.path, **line, "reason": left.reason}
