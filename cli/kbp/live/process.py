"""A program started as a server: the start alone, which is worth having before anything else is imported."""

import os
import subprocess
from collections.abc import Mapping, Sequence

INHERITED = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
"""What of the environment a server is given. All else must be listed where it is configured."""


_SHELL_SIGNS = ("|", "||", "&", "&&", ";", ">", ">>", "<")


def split(command: str) -> list[str]:
    """The words of a command line, which no shell reads.

    Raises:
        ValueError: it has none, closes no quotation, or means a shell.
    """
    import shlex

    words = shlex.split(command)
    if not words:
        raise ValueError("it is empty")
    sign = next((word for word in words if word in _SHELL_SIGNS), None)
    if sign is not None:
        raise ValueError(f"no shell reads it, and '{sign}' is one's: write sh -c '…'")
    return words


def start(
    command: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | None = None
) -> "subprocess.Popen[bytes]":
    """The running program, in a process group of its own, with pipes to all its streams.

    Raises:
        OSError, ValueError: it cannot be started.
    """
    given = {name: os.environ[name] for name in INHERITED if name in os.environ} | dict(env or {})
    return subprocess.Popen(  # noqa: S603 (what the user names, or has agreed to)
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=given,
        cwd=cwd,
        process_group=0,
        bufsize=0,
    )
