"""The prompts of a server as they are now, and how they are read anew."""

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from kbp import files
from kbp.files import Manner, Place, PromptFile
from kbp.libraries.served import Served
from kbp.manifests import MARKETPLACES, PLUGIN_MANIFESTS
from kbp.server.offers import offers_of
from kbp.walk import IGNORE_FILES

_BESIDE = (".claude-plugin", *PLUGIN_MANIFESTS, *MARKETPLACES, *IGNORE_FILES)
_FRESH_NS = 100_000_000
_Stamp = tuple[int, int, int]
Stamps = dict[str, _Stamp | None]
"""What tells whether a file or folder is still the same, by its path; None of what is not there."""


class Loader:
    """Loads files, those alone that are not as they were the last time."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str | None], tuple[_Stamp, PromptFile]] = {}
        self._used: dict[tuple[str, str | None], tuple[_Stamp, PromptFile]] = {}

    def load(self, place: Place, manner: Manner) -> PromptFile:
        """The file at a place, read in a manner."""
        key, start = (str(place.path), manner.library), time.time_ns()
        stamp = _stamp(key[0])
        known = self._known.get(key)
        if known is not None and known[0] == stamp and known[1].place == place and known[1].manner == manner:
            self._used[key] = known
            return known[1]
        file = files.load(place, manner)
        if stamp is not None and stamp[0] < start - _FRESH_NS:
            self._used[key] = stamp, file
        return file

    def forget(self) -> None:
        """Forget the files that were not loaded since the last time."""
        self._known, self._used = self._used, {}


class Unreadable(Exception):
    """The prompts cannot be read anew; the message says why."""


class Stock:
    """The prompts of a server.

    `offers` are those on offer now; who has them in hand keeps them. `fault` says why the folders could not be read the
    last time, while those before are still offered.
    """

    def __init__(self, read: Callable[[], Sequence[Served]], watched: Iterable[Path] = ()) -> None:
        """Read the prompts.

        Args:
            read: reads all libraries; raises Unreadable.
            watched: files that say which libraries there are.

        Raises:
            Unreadable: they cannot be read.
        """
        self._read = read
        self._watched = [str(path) for path in watched]
        self._reading = threading.Lock()
        self.fault: str | None = None
        start = time.time_ns()
        self.offers = offers_of(read())
        self._stamps = self._looked({}, start)

    def renew(self) -> bool:
        """Read all prompts anew, and say whether what clients see of them has changed. For a thread of its own."""
        with self._reading:
            before, stamps, start = self.offers, look(self._stamps), time.time_ns()
            try:
                self.offers = offers_of(self._read(), before)
                self.fault = None
            except Unreadable as error:
                self.fault = str(error)
            self._stamps = self._looked(stamps, start)
            return self.offers.declared() != before.declared()

    @property
    def stamps(self) -> Stamps:
        """The files and folders that say what there is, as they were when they were read."""
        return self._stamps

    def kept(self) -> list[tuple[str, str]]:
        """The files of which the last good version is served, by their paths in their plugin, each with the reason."""
        bodies = [
            (str(offer.file.place.relative), offer.body.fault)
            for offer in self.offers.prompts.values()
            if offer.body.fault is not None
        ]
        return [*self.offers.kept, *(each for each in bodies if each[0] not in dict(self.offers.kept))]

    def _looked(self, before: Stamps, start: int) -> Stamps:
        """The stamps of all that was read, as they were before; what is new and changes still counts as changed."""
        now = look(self._paths())
        fresh = {path for path, stamp in now.items() if path not in before and stamp and stamp[0] >= start - _FRESH_NS}
        return {path: None if path in fresh else before.get(path, stamp) for path, stamp in now.items()}

    def _paths(self) -> list[str]:
        paths = list(self._watched)
        for library in self.offers.libraries:
            for search in (library.search, *(plugin.prompts.search for plugin in library.plugins)):
                paths += map(str, search.looked_in)
                for folder in map(str, search.folders):
                    paths.append(folder)
                    paths += [f"{folder}/{name}" for name in _BESIDE]
            paths += [str(file.place.path) for file in library.files]
        return paths


def look(paths: Iterable[str]) -> Stamps:
    """The stamp of each path; None of what is not there."""
    return {path: _stamp(path) for path in paths}


def _stamp(path: str) -> _Stamp | None:
    try:
        status = os.stat(path)  # noqa: PTH116 (speed)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
