"""Small tables on disk that a Tab press can read: nothing is imported for it that starts slowly.

A table is rows of short texts. It is kept under what it is of (its subject) as long as its stamp is the same. A broken
or missing one is no table.
"""

from __future__ import annotations

import os
import stat
import sys
import zlib

TYPE_CHECKING = False  # as type checkers know it

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FOLDER = "completion"
VALUES = "values"
"""The kind of the tables of what was typed for the arguments of a prompt, by its identity."""
_MAX_TABLES = 500
"""How many tables of a kind are kept, the newest ones."""


def state_folder() -> str:
    """Where kbp keeps what it remembers between runs."""
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA", ""), "kbp")  # noqa: PTH118
    state = os.environ.get("XDG_STATE_HOME", "").strip()
    if not state.startswith("/"):  # a relative one is none, as the specification has it
        is_mac = sys.platform == "darwin"
        state = os.path.expanduser("~/Library/Application Support" if is_mac else "~/.local/state")  # noqa: PTH111
    return os.path.join(state, "kbp")  # noqa: PTH118


def of_file(path: str) -> str:
    """The identity of the prompt in the file at an absolute path."""
    return f"file {path}"


def of_server(key: str, name: str) -> str:
    """The identity of a prompt of the server with that key."""
    return f"server {key} {name}"


def read(kind: str, subject: str, stamp: str = "") -> list[list[str]] | None:
    """The rows that are kept of a subject; None when there are none, or they have another stamp."""
    path = _path(kind, subject)
    if not os.path.isfile(path):
        return None
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:  # noqa: PTH123
            head, *lines = file.read().removesuffix("\n").split("\n")
    except (OSError, ValueError):
        return None
    return [line.split("\t") for line in lines] if head == _head(subject, stamp) else None


def write(kind: str, subject: str, rows: Iterable[Sequence[str]], stamp: str = "") -> None:
    """Keep rows of a subject, for the user alone. Where the folder cannot be written, nothing is kept."""
    lines = [_head(subject, stamp), *("\t".join(map(_plain, row)) for row in rows)]
    path = _path(kind, subject)
    new = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(handle, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:  # noqa: PTH123
            file.write("\n".join(lines) + "\n")
        os.replace(new, path)  # noqa: PTH105
        _keep_newest(kind)
    except (OSError, ValueError):
        return


def clear(kind: str) -> None:
    """Keep nothing of a kind any more.

    Raises:
        OSError: it cannot be removed.
    """
    for path in _all(kind):
        os.unlink(path)  # noqa: PTH108


def _keep_newest(kind: str) -> None:
    paths = _all(kind)
    if len(paths) > _MAX_TABLES:
        paths.sort(key=lambda path: os.stat(path).st_mtime)  # noqa: PTH116
        for path in paths[: len(paths) - _MAX_TABLES]:
            os.unlink(path)  # noqa: PTH108


def _all(kind: str) -> list[str]:
    """The paths of the tables of a kind, half-written ones too."""
    try:
        with os.scandir(os.path.join(state_folder(), _FOLDER)) as entries:  # noqa: PTH118
            return [entry.path for entry in entries if _is_own(entry.name, kind) and entry.is_file()]
    except FileNotFoundError:
        return []


def _is_own(name: str, kind: str) -> bool:
    """Whether a file is a table of a kind, a half-written one too: nothing else in the folder is touched."""
    number, _, _ = name.removeprefix(f"{kind}-").partition(".")
    return name.startswith(f"{kind}-") and len(number) == 8 and set(number) <= set("0123456789abcdef")


def stamp_of(path: str) -> str:
    """What changes when a file does; empty when there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return ""
    if not stat.S_ISREG(found.st_mode):
        return ""
    return f"{found.st_mtime_ns}.{found.st_size}.{found.st_ino}"


def _path(kind: str, subject: str) -> str:
    number = zlib.crc32(subject.encode("utf-8", "surrogateescape"))
    return os.path.join(state_folder(), _FOLDER, f"{kind}-{number:08x}")  # noqa: PTH118


def _head(subject: str, stamp: str) -> str:
    """The first line of a table: its subject, which may hold a secret, as numbers."""
    data = subject.encode("utf-8", "surrogateescape")
    return f"{zlib.crc32(data):08x}{zlib.adler32(data):08x}.{len(data)}\t{stamp}"


def _plain(text: str) -> str:
    """The text without what parts rows and cells."""
    return text.replace("\t", " ").replace("\n", " ") if "\t" in text or "\n" in text else text
