"""Real servers for tests of the live room: `hard_server.py` on stdio and over HTTP, and what was sent to it."""

import importlib.util
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent
HARD = TESTS / "hard_server.py"


@dataclass(frozen=True)
class Hard:
    """A `hard_server.py` that is to be reached: the options of kbp that name it, and its log."""

    options: tuple[str, ...]
    log: Path

    def sent(self, method: str | None = None) -> list[dict[str, Any]]:
        """The messages that it was sent, those of one method alone if one is given."""
        messages = [each["msg"] for each in self._entries("in")]
        return [each for each in messages if method is None or each.get("method") == method]

    def notes(self) -> list[Any]:
        """What it noted of itself."""
        return [each["msg"] for each in self._entries("note")]

    def _entries(self, direction: str) -> list[dict[str, Any]]:
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        return [entry for line in lines if (entry := json.loads(line))["dir"] == direction]

    def is_alive(self) -> bool:
        """Whether a process that has this log is left."""
        mark = f"HARD_LOG={self.log}".encode()
        for environment in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark in environment.read_bytes().split(b"\0"):
                    return True
            except OSError:
                continue
        return False


def _blocks() -> dict[str, Any]:
    """The content blocks of `hard_server.py`, by their kind."""
    spec = importlib.util.spec_from_file_location("hard_server", HARD)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.BLOCKS)


BLOCKS = _blocks()

Peer = Callable[..., Hard]
"""Makes a server with switches: `peer(CURSOR="repeat", PAGE=5)`."""


def stdio_command(log: Path, **switches: object) -> list[str]:
    """The command that starts a `hard_server.py` with these switches."""
    given = {"LOG": log, **switches}
    return ["env", *(f"HARD_{name}={value}" for name, value in given.items()), sys.executable, str(HARD)]


@contextmanager
def http_server(folder: Path, *options: str, **switches: object) -> Iterator[str]:
    """The address of a `hard_server.py` over HTTP, without a path."""
    port = folder / "port"
    environment = {**os.environ, **{f"HARD_{name}": str(value) for name, value in switches.items()}}
    command = [sys.executable, str(TESTS / "hard_http.py"), str(port), *options]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            yield f"http://127.0.0.1:{wait_for(port)}"
        finally:
            process.kill()
    port.unlink()


def wait_for(path: Path, seconds: float = 20.0) -> str:
    """The text of a file, once it is there."""
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} does not come"
        time.sleep(0.02)
    return path.read_text(encoding="utf-8").strip()


def peers(transport: str, folder: Path, stack: ExitStack) -> Peer:
    """What makes servers on a transport: `stdio`, or `mcp`, `events`, `sse` over HTTP."""

    def peer(*options: str, **switches: object) -> Hard:
        log = folder / "log.jsonl"
        if transport == "stdio":
            return Hard(("--server-cmd", shlex.join(stdio_command(log, **switches))), log)
        url = stack.enter_context(http_server(folder, *options, LOG=log, **switches))
        return Hard(("--server", f"{url}/{transport}", *(["--sse"] if transport == "sse" else [])), log)

    return peer
