"""A program started as a server: the start alone, which is worth having before anything else is imported."""

import os
import subprocess
from collections.abc import Mapping, Sequence

INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
"""What of the environment a server is given. All else must be listed where it is configured."""


def start(
    command: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | None = None
) -> "tuple[subprocess.Popen[bytes], int]":
    """The running program, in a process group of its own, and the open file that its stderr goes to.

    Raises:
        OSError: it cannot be started.
    """
    given = {name: os.environ[name] for name in INHERITED if name in os.environ} | dict(env or {})
    log = _nameless()
    try:
        process = subprocess.Popen(  # noqa: S603 (what the user names, or has agreed to)
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=given,
            cwd=cwd,
            process_group=0,
            bufsize=0,
        )
    except BaseException:
        os.close(log)
        raise
    return process, log


def _nameless() -> int:
    """A file without a name, open for reading and writing."""
    try:
        return os.open(os.environ.get("TMPDIR") or "/tmp", os.O_TMPFILE | os.O_RDWR, 0o600)  # noqa: S108
    except (AttributeError, OSError):  # no Linux, or a file system that cannot do that
        import tempfile

        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())
