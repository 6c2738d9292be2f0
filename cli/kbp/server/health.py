"""What a server says of itself: which libraries and plugins it serves, and what it does not and why."""

from collections import Counter
from typing import Any

from kbp import __version__
from kbp.libraries.served import Plugin, Served
from kbp.server.stock import Stock


def health(stock: Stock) -> dict[str, Any]:
    """The state of a server, as `GET /health` gives it. Paths are those in a plugin."""
    offers = stock.offers
    by_library = Counter(offer.library for offer in offers.prompts.values())
    by_plugin = Counter(offer.plugin for offer in offers.prompts.values())
    kept = [{"path": path, "reason": reason} for path, reason in stock.kept()]
    content = {
        "status": "degraded" if stock.fault or kept else "ok",
        "version": __version__,
        "counts": {
            "libraries": len(offers.libraries),
            "plugins": len({plugin.id for library in offers.libraries for plugin in library.plugins}),
            "prompts": len(offers.prompts),
        },
        "error": stock.fault,
        "libraries": {library.name: _library(library, by_library[library.name]) for library in offers.libraries},
        "plugins": {
            plugin.id: _plugin(plugin, by_plugin[plugin.id])
            for library in offers.libraries
            for plugin in library.plugins
        },
        "conflicts": list(offers.conflicts),
        "kept": kept,
    }
    return {key: value for key, value in content.items() if value is not None}


def _library(library: Served, prompts: int) -> dict[str, Any]:
    return {
        "prompts": prompts,
        "plugins": [plugin.id for plugin in library.plugins],
        "skipped": list(library.passed),
        "conflicts": list(library.conflicts),
    }


def _plugin(plugin: Plugin, prompts: int) -> dict[str, Any]:
    content = {
        "status": "ok" if plugin.error is None else "error",
        "error": plugin.error,
        "prompts": prompts,
        "category": plugin.category,
        "tags": sorted(plugin.labels),
        "skipped": [{"path": path, "reason": reason} for path, reason in plugin.skipped()],
    }
    return {key: value for key, value in content.items() if value is not None}
