"""What a server offers at one time: the prompts of its libraries, each under its name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kbp.files import PromptFile
from kbp.libraries.served import Left, Plugin, Served
from kbp.model import Prompt
from kbp.server.bodies import Body

# Control characters, ends of lines, bytes that are no text, and what turns the direction of text.
_UNSENDABLE = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]"
)


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
        unnamed: the files whose names no client could send, by the ids of their plugins.
    """

    libraries: tuple[Served, ...] = ()
    prompts: Mapping[str, Offer] = field(default_factory=dict)
    conflicts: tuple[str, ...] = ()
    unnamed: tuple[tuple[str, Left], ...] = ()

    def declared(self) -> list[Prompt]:
        """What clients see of the prompts."""
        return [offer.prompt for offer in self.prompts.values()]


def offers_of(libraries: Sequence[Served], before: Offers | None = None) -> Offers:
    """What libraries offer. A prompt of which nothing is another is the one that was offered before."""
    last = before.prompts if before is not None else {}
    found: dict[str, Offer] = {}
    conflicts: list[str] = []
    unnamed: list[tuple[str, Left]] = []
    for library, plugin in _plugins(libraries):
        for file in plugin.prompts.served:
            offer = _offer(file, library, plugin, last.get(file.name))
            if offer is None:
                continue
            if _UNSENDABLE.search(file.name):
                reason = "its name has characters that clients cannot send"
                unnamed.append((plugin.id, Left(ascii(str(file.place.relative)), reason, is_fault=True)))
                continue
            first = found.setdefault(offer.prompt.name, offer)
            if first is not offer:
                where = f"plugin {offer.plugin}: {offer.file.place.relative}"
                conflicts.append(f"{where} is left out: plugin {first.plugin} serves `{offer.prompt.name}` already")
    return Offers(tuple(libraries), dict(sorted(found.items())), tuple(conflicts), tuple(unnamed))


def _plugins(libraries: Sequence[Served]) -> Iterator[tuple[Served, Plugin]]:
    return ((library, plugin) for library in libraries for plugin in library.plugins)


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
    return Offer(replace(file.prompt, meta=meta), *where, file, Body(file, file.template))
