"""What a server offers at one time: the prompts of its libraries, each under its name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kbp.files import PromptFile
from kbp.libraries.served import Plugin, Served
from kbp.model import Prompt
from kbp.server.bodies import Body


@dataclass(frozen=True)
class Offer:
    """A prompt on offer, with what a scope asks of it."""

    prompt: Prompt
    library: str
    plugin: str
    category: str | None
    labels: frozenset[str]
    file: PromptFile
    body: Body


@dataclass(frozen=True)
class Offers:
    """The prompts of libraries by their names, in order of their names.

    Attributes:
        libraries: the libraries.
        prompts: the prompts that are served.
        conflicts: the prompts that are not, as another one has their name; a line each.
        kept: the files that cannot be read any more, of which the last good version is served, each with the reason.
    """

    libraries: tuple[Served, ...] = ()
    prompts: Mapping[str, Offer] = field(default_factory=dict)
    conflicts: tuple[str, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()

    def declared(self) -> list[Prompt]:
        """What clients see of the prompts."""
        return [offer.prompt for offer in self.prompts.values()]


def offers_of(libraries: Sequence[Served], before: Offers | None = None) -> Offers:
    """What libraries offer. What was there before and cannot be read now is offered as it was."""
    libraries = tuple(_kept_plugins(library, before) for library in libraries)
    last = {str(offer.file.place.path): offer for offer in before.prompts.values()} if before else {}
    found: dict[str, Offer] = {}
    conflicts: list[str] = []
    kept: list[tuple[str, str]] = []
    for library, plugin in _plugins(libraries):
        for file in plugin.prompts.served:
            _take(_offer(file, library, plugin, last.get(str(file.place.path))), found, conflicts)
    for _, plugin in _plugins(libraries):
        for file in plugin.prompts.files:
            offer = last.get(str(file.place.path)) if file.is_refused else None
            if offer is not None and offer.prompt.name not in found:
                found[offer.prompt.name] = offer
                kept.append((str(file.place.relative), file.problems[0].message))
    return Offers(libraries, dict(sorted(found.items())), tuple(conflicts), tuple(kept))


def _plugins(libraries: Sequence[Served]) -> Iterator[tuple[Served, Plugin]]:
    return ((library, plugin) for library in libraries for plugin in library.plugins)


def _kept_plugins(library: Served, before: Offers | None) -> Served:
    """The library, with the prompts that a plugin had which cannot be read now."""
    last = {
        plugin.id: plugin
        for each in (before.libraries if before else ())
        for plugin in each.plugins
        if each.name == library.name
    }
    plugins = tuple(
        Plugin(each.id, last[each.id].prompts, each.error, each.category, last[each.id].labels)
        if each.error is not None and each.id in last
        else each
        for each in library.plugins
    )
    return replace(library, plugins=plugins)


def _offer(file: PromptFile, library: Served, plugin: Plugin, last: Offer | None) -> Offer | None:
    """A file on offer: as it was, where nothing of it is another."""
    if file.template is None or file.prompt is None:
        return None
    where = (library.name, plugin.id, plugin.category, plugin.labels)
    if last is not None and last.file is file and (last.library, last.plugin, last.category, last.labels) == where:
        return last
    meta: dict[str, Any] = {
        "kbp/dialect": file.prompt.meta["kbp/dialect"],
        "kbp/defaults": file.prompt.meta["kbp/defaults"],
        "kbp/library": library.name or None,
        "kbp/category": plugin.category,
        "kbp/tags": sorted(plugin.labels),
    }
    prompt = replace(file.prompt, meta=meta)
    return Offer(prompt, *where, file, Body(file, file.template))


def _take(offer: Offer | None, found: dict[str, Offer], conflicts: list[str]) -> None:
    if offer is None:
        return
    first = found.setdefault(offer.prompt.name, offer)
    if first is not offer:
        where = f"plugin {offer.plugin}: {offer.file.place.relative}"
        conflicts.append(f"{where} is left out: plugin {first.plugin} serves `{offer.prompt.name}` already")
