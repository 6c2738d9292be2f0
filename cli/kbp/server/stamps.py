"""What tells whether a file or folder is still the same."""

import os
import time
from collections.abc import Iterable

Stamp = tuple[int, int, int, int]
"""When it was written and changed, its size, and which it is."""
Stamps = dict[str, Stamp | None]
"""The stamps of paths; None of what is not there."""
_FRESH_NS = 100_000_000


def stamp_of(path: str) -> Stamp | None:
    """The stamp of a path; None when it is not there."""
    try:
        status = os.stat(path)  # noqa: PTH116 (speed)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def look(paths: Iterable[str]) -> Stamps:
    """The stamps of paths."""
    return {path: stamp_of(path) for path in paths}


def is_settled(stamp: Stamp, at: int | None = None) -> bool:
    """Whether a stamp told all at a time (in nanoseconds, now by default): two changes in a row may carry one time."""
    return max(stamp[:2]) < (at if at is not None else time.time_ns()) - _FRESH_NS
