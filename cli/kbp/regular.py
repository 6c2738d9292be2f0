"""Regular files, read whole: nothing that has no end, nothing that keeps one waiting, nothing outside a folder."""

import errno
import os
import stat
from pathlib import Path


class TooLong(OSError):
    """A file has more bytes than it may have."""


class Outside(OSError):
    """A file lies outside the folder that links may lead to."""


def read(path: str | Path, limit: int, inside: str | None = None) -> bytes:
    """The bytes of a regular file.

    Args:
        path: the file, or a link to it.
        limit: how many bytes it may have.
        inside: the folder, free of links, in which the file really is, whichever links lead to it; None: anywhere.

    Raises:
        TooLong: it has more bytes.
        Outside: it is elsewhere.
        OSError: it cannot be read, or is no regular file.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            said = "a folder, not a file" if stat.S_ISDIR(mode) else "not a regular file"
            raise OSError(errno.EINVAL, said)
        if inside is not None and not _location(handle, path).startswith(inside.rstrip(os.sep) + os.sep):
            raise Outside(errno.EXDEV, "a symbolic link that leads out of the root")
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    finally:
        os.close(handle)
    if len(data) > limit:
        raise TooLong(errno.EFBIG, f"more than {limit} bytes")
    return data


def _location(handle: int, path: str | Path) -> str:
    """Where an open file really is: asked of the system, as its path may lead elsewhere by now."""
    try:
        return os.readlink(f"/proc/self/fd/{handle}")  # noqa: PTH115 (no path of the file system)
    except OSError:  # no Linux
        return os.path.realpath(path)
