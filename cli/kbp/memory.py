"""What kbp remembers between runs: small JSON files in the user's state folder that nobody else may read."""

import contextlib
import json
import os
import re
from pathlib import Path
from typing import Any

from kbp import settings

_NEW = ".kbp-new-"
_KEY = re.compile("[0-9a-f]{64}")


def key_of(*parts: object) -> str:
    """A name for what is remembered of something, the same for equal parts."""
    import hashlib

    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def recall(kind: str, key: str) -> Any:
    """What is remembered, None when nothing is or it cannot be read."""
    try:
        path = _path(kind, key)
        return json.loads(path.read_bytes()) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        return None


def remember(kind: str, key: str, content: object) -> bool:
    """Remember something, and say whether that could be done. Where the folder cannot be written, nothing is."""
    import tempfile

    path = _path(kind, key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(prefix=_NEW, dir=path.parent)  # for the user alone, as mkstemp has it
    except OSError:
        return False
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file)
        Path(name).replace(path)
    except (OSError, ValueError, RecursionError):
        with contextlib.suppress(OSError):
            Path(name).unlink()
        return False
    return True


def forget(kind: str, key: str) -> None:
    """Remember it no more."""
    with contextlib.suppress(OSError):
        _path(kind, key).unlink()


def recall_all(kind: str) -> list[Any]:
    """All that is remembered of a kind, in no order."""
    return [content for path in _all(kind) if (content := recall(kind, path.stem)) is not None]


def keep_newest(kind: str, count: int) -> None:
    """Forget all of a kind but the newest ones."""
    if len(paths := _all(kind)) <= count:
        return
    for path in sorted(paths, key=_written)[:-count]:
        with contextlib.suppress(OSError):
            path.unlink()


def forget_all(kind: str) -> int:
    """Forget all of a kind, and give how much that was.

    Raises:
        OSError: it cannot be removed.
    """
    paths = _all(kind)
    left = (settings.state_folder() / kind).glob(f"{_NEW}*")  # half-written
    for path in (*paths, *left):
        path.unlink(missing_ok=True)
    return len(paths)


def _all(kind: str) -> list[Path]:
    try:
        found = (settings.state_folder() / kind).glob("*.json")
        return [path for path in found if _KEY.fullmatch(path.stem) and path.is_file()]  # nothing but what is kbp's own
    except OSError:
        return []


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # gone by now
        return 0.0


def _path(kind: str, key: str) -> Path:
    return settings.state_folder() / kind / f"{key}.json"
