"""Files loaded for a server: those alone that have changed, and the last good version of those that are broken."""

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

from kbp import files
from kbp.files import Manner, Place, PromptFile
from kbp.server.stamps import Stamp, is_settled, stamp_of


@dataclass(frozen=True)
class Kept:
    """A file that is served as it last was: its path in its plugin, the line of its fault if it has one, the reason."""

    path: str
    line: int | None
    reason: str


@dataclass(frozen=True)
class _Loaded:
    stamp: Stamp | None
    place: Place
    manner: Manner
    file: PromptFile
    kept: Kept | None = None


class Loader:
    """Loads files. One that does not become a prompt any more is given as it last did, so that it keeps its name."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, str | None], _Loaded] = {}
        self._now: dict[tuple[str, str | None], _Loaded] = {}
        self._real: dict[str, str] = {}

    def load(self, place: Place, manner: Manner) -> PromptFile:
        """The file at a place, read in a manner."""
        key = str(place.path), manner.library
        before = self._before.get(key)
        # Where a folder, or a file that was named itself, leads the first time, it stays.
        folder = str(place.boundary) if place.boundary is not None else f"{place.path}/.."
        if folder not in self._real:
            found = Path(os.path.realpath(place.path if place.boundary is None else folder))
            self._real[folder] = str(found.parent if place.boundary is None else found)
        manner = replace(manner, inside=self._real[folder])
        loaded = self._loaded(place, manner, before)
        self._now[key] = loaded
        return loaded.file

    def _loaded(self, place: Place, manner: Manner, before: _Loaded | None) -> _Loaded:
        start, stamp = time.time_ns(), stamp_of(str(place.path))
        same = (stamp, place, manner)
        if before is not None and stamp is not None and (before.stamp, before.place, before.manner) == same:
            return before
        file = files.load(place, manner)
        stamp = stamp if stamp is not None and is_settled(stamp, start) else None
        if file.is_refused and before is not None and before.file.template is not None:
            problem = file.problems[0]
            line = file.document.lines.position(problem.span.start).line
            return _Loaded(stamp, place, manner, before.file, Kept(str(place.relative), line, problem.message))
        return _Loaded(stamp, place, manner, file)

    def resolve_anew(self) -> None:
        """Let folders lead where they lead now: whoever serves them says so."""
        self._real.clear()

    def end(self) -> dict[str, Kept]:
        """End a reading of all: forget what was not loaded in it. Gives what is served as it last was, by its path."""
        self._before, self._now = self._now, {}
        return {path: loaded.kept for (path, _), loaded in self._before.items() if loaded.kept is not None}

    def give_up(self) -> None:
        """End a reading that failed: all is as it was before."""
        self._now = {}
