"""The prompts of a server as they are now, and how they are read anew."""

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from kbp.libraries.served import Served
from kbp.manifests import MARKETPLACES, PLUGIN_MANIFESTS
from kbp.server.loading import Kept
from kbp.server.offers import offers_of
from kbp.server.stamps import Stamps, is_settled, look
from kbp.walk import IGNORE_FILES

_BESIDE = (".claude-plugin", *PLUGIN_MANIFESTS, *MARKETPLACES, *IGNORE_FILES)


class Unreadable(Exception):
    """The prompts cannot be read anew; the message says why."""


@dataclass(frozen=True)
class Harvest:
    """What was read: the libraries, and the files of them that are served as they last were, by their paths."""

    libraries: Sequence[Served]
    kept: Mapping[str, Kept] = field(default_factory=dict)


class Source(Protocol):
    """Where the prompts of a server come from."""

    def read(self, before: Sequence[Served]) -> Harvest:
        """Read all. What was there before and cannot be read stays as it was. Raises Unreadable."""
        ...

    def watched(self) -> Iterable[Path]:
        """The files that say where prompts are."""
        ...


class Stock:
    """The prompts of a server.

    `offers` are those on offer now; who has them in hand keeps them. `fault` says why the folders could not be read the
    last time, while those before are still offered.
    """

    def __init__(self, source: Source) -> None:
        """Read the prompts.

        Raises:
            Unreadable: they cannot be read.
        """
        self._source = source
        self._lock = threading.Lock()
        self.fault: str | None = None
        start = time.time_ns()
        read = source.read(())
        self._kept = read.kept
        self.offers = offers_of(read.libraries)
        self._stamps = self._looked({}, start)

    def renew(self) -> bool:
        """Read all prompts anew, and say whether what clients see of them has changed. For a thread of its own."""
        with self._lock:
            before, stamps, start = self.offers, look(self._stamps), time.time_ns()
            try:
                read = self._source.read(before.libraries)
                self._kept = read.kept
                self.offers = offers_of(read.libraries, before)
                self.fault = None
            except Unreadable as error:
                self.fault = str(error)
            except Exception as error:  # a fault of ours: what was read before is still served
                self.fault = f"internal error ({type(error).__name__})"
            self._stamps = self._looked(stamps, start)
            return self.offers.declared() != before.declared()

    @property
    def stamps(self) -> Stamps:
        """The files and folders that say what there is, as they were when they were read."""
        return self._stamps

    def kept(self) -> dict[str, list[Kept]]:
        """The files of which the last good version is served, by the ids of their plugins."""
        found: dict[str, list[Kept]] = {}
        for offer in self.offers.prompts.values():
            kept = self._kept.get(str(offer.file.place.path))
            if kept is None and offer.body.fault is not None:
                kept = Kept(str(offer.file.place.relative), None, offer.body.fault)
            if kept is not None and kept not in found.setdefault(offer.plugin, []):
                found[offer.plugin].append(kept)
        return found

    def is_whole(self) -> bool:
        """Whether all is served as it is now, and no plugin has an error."""
        plugins = (plugin for library in self.offers.libraries for plugin in library.plugins)
        return self.fault is None and not self.kept() and all(plugin.error is None for plugin in plugins)

    def _looked(self, before: Stamps, start: int) -> Stamps:
        """The stamps of all that was read, as they were before; what is new and changes still counts as changed."""
        now = look(self._paths())
        fresh = {path for path, stamp in now.items() if path not in before and stamp and not is_settled(stamp, start)}
        return {path: None if path in fresh else before.get(path, stamp) for path, stamp in now.items()}

    def _paths(self) -> list[str]:
        paths = [str(path) for path in self._source.watched()]
        for library in self.offers.libraries:
            for search in (library.search, *(plugin.prompts.search for plugin in library.plugins)):
                paths += map(str, search.looked_in)
                for folder in map(str, search.folders):
                    paths.append(folder)
                    paths += [f"{folder}/{name}" for name in _BESIDE]
            paths += [str(file.place.path) for file in library.files]
        return paths
