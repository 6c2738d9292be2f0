"""A server that is started as a program and spoken to over its stdin and stdout, one JSON message a line."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kbp.display import said_of
from kbp.live.base import MAX_MESSAGE, Received, Unreachable, parse_all
from kbp.live.process import INHERITED, start

_PATIENCE = 2.0
_GRACE = 0.1
_CHUNK = 1024 * 1024
_WAITING = 1000
"""How many messages may wait to be read, on either side."""
_TOLD, _LINE = 10, 500
_MAX_LOG = 16 * 1024 * 1024


class Stdio:
    """A channel to a program that runs. `strays` counts the lines that were no messages, `stray` is the first."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.revision: str | None = None
        self.strays = 0
        self.stray = ""
        self._has_answered = self._is_closed = False
        self._log = bytearray()
        self._process = process
        self._messages: queue.Queue[Received | str] = queue.Queue(_WAITING)
        self._outgoing: queue.Queue[bytes | None] = queue.Queue(_WAITING)
        self._gone: str | None = None
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        for work in (self._read, self._write):
            threading.Thread(target=work, daemon=True).start()

    def _listen(self) -> None:
        """Keep what the program writes on stderr, the last of it when it is much."""
        stream = self._process.stderr
        assert stream is not None  # noqa: S101 (it is a pipe)
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(stream.fileno(), _CHUNK):
                self._log += chunk
                del self._log[:-_MAX_LOG]
        with contextlib.suppress(OSError):
            stream.close()

    def _read(self) -> None:
        """Take the lines of the server until there are no more, in a thread of its own."""
        try:
            for line in self._lines():
                received = parse_all(line.decode("utf-8", "replace"))
                for each in received:
                    self._put(each)
                if not received and line.strip():
                    self.stray = self.stray or line[:_LINE].decode("utf-8", "replace").strip()
                    self.strays += 1
        except RecursionError:
            self._put("sent a message that is nested too deep")
        except MemoryError:
            self._put("sent a message that there is no memory for")
        except OverflowError:
            self._put(f"sent a message of more than {MAX_MESSAGE // 1024 // 1024} MiB")
        except (OSError, ValueError):
            self._put("closed its output")
        else:
            self._put("closed its output")
        finally:
            with contextlib.suppress(OSError):
                if self._process.stdout is not None:
                    self._process.stdout.close()

    def _put(self, received: Received | str) -> None:
        """Hand something on; when nobody takes it any more, it is let go."""
        while not self._is_closed:
            with contextlib.suppress(queue.Full):
                self._messages.put(received, timeout=_PATIENCE)
                return

    def _lines(self) -> Iterator[bytes]:
        """The lines on the program's stdout. It is read without a buffer of Python's, which would hold a lock.

        Raises:
            OverflowError: one of them is longer than a message may be.
        """
        assert self._process.stdout is not None  # noqa: S101 (it is a pipe)
        number = self._process.stdout.fileno()
        parts: list[bytes] = []
        size = 0
        while chunk := os.read(number, _CHUNK):
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                yield b"".join([*parts, line])
                parts, size = [], 0
            parts.append(rest)
            size += len(rest)
            if size > MAX_MESSAGE:
                raise OverflowError
        if size:
            yield b"".join(parts)

    def _write(self) -> None:
        """Write messages until there are no more, in a thread of its own: a server may not read what it is sent."""
        stream = self._process.stdin
        assert stream is not None  # noqa: S101 (it is a pipe)
        with contextlib.suppress(OSError, ValueError):
            while (data := self._outgoing.get()) is not None:
                stream.write(data)
                stream.flush()
        with contextlib.suppress(OSError, ValueError):
            stream.close()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message. That nobody reads it shows when the answer is waited for.

        Raises:
            Unreachable: many are not read.
        """
        data = json.dumps(message, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        try:
            self._outgoing.put(data, timeout=_PATIENCE)
        except queue.Full:
            raise Unreachable("the server does not read what it is sent") from None

    def receive(self, seconds: float | None) -> Received | None:
        """The next message, None when none came in time.

        Raises:
            Unreachable: the program is gone.
        """
        if self._gone is not None:
            raise self._ended()
        try:
            received = self._messages.get(timeout=seconds)
        except queue.Empty:
            return None
        if isinstance(received, str):
            self._gone = received
            raise self._ended()
        if received.message.get("method") in ("server/discover", "initialize"):
            raise Unreachable("the server repeats what it is sent: it is no MCP server")
        self._has_answered = True
        return received

    def remarks(self) -> tuple[str, ...]:
        """Lines that help when it does not answer: what it wrote that is no message, and on stderr."""
        help = []
        if self.strays:
            noun = "line that is no message" if self.strays == 1 else "lines that are no messages"
            help.append(f"  on stdout it wrote {self.strays} {noun} of MCP, the first: {self.stray}")
        said = self.said()
        return (*help, *(["  its last lines on stderr:", *(f"    {line}" for line in said)] if said else []))

    def _ended(self) -> Unreachable:
        """Why there is no answer: how the program ended, and what it said last."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        code = self._process.returncode
        how = self._gone if code is None else f"ended with {_ending(code)}"
        help = list(self.remarks())
        if not self._has_answered:
            given = ", ".join(INHERITED)
            help.append(f"  of the environment it is given {given}: add what it needs to its `env`,")
            help.append("  or write --server-cmd 'env NAME=VALUE COMMAND'")
        return Unreachable(f"the server {how} before it answered", tuple(help))

    def said(self, lines: int = _TOLD) -> list[str]:
        """The last lines that the program wrote on stderr, long ones cut."""
        found = self._written(_LINE * lines)[-lines:]
        return [line if len(line) <= _LINE else f"{line[:_LINE]}…" for line in found]

    def log_lines(self) -> list[str]:
        """The lines that the program has written on stderr, of many the last 16 MiB."""
        return self._written(_MAX_LOG)

    def _written(self, size: int) -> list[str]:
        self._listener.join(_GRACE)  # what an ended program has written is there at once
        return bytes(self._log[-size:]).decode("utf-8", "replace").splitlines()

    def close(self) -> None:
        """End the program: by closing its stdin, else by a signal that asks, else by one that does not."""
        self._is_closed = True
        process = self._process
        try:
            with contextlib.suppress(queue.Full):
                self._outgoing.put_nowait(None)
            if not self._ends():
                self._signal(signal.SIGTERM)
                self._ends()
        finally:  # whatever stops the waiting, nothing is left behind
            if process.poll() is None:
                self._signal(signal.SIGKILL)
                process.wait()
            self._signal(signal.SIGTERM)  # what it started and left behind
            if self._signal(0):
                time.sleep(_GRACE)
                self._signal(signal.SIGKILL)

    def _ends(self) -> bool:
        """Whether the program ends before long."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
        return self._process.poll() is not None

    def _signal(self, number: int) -> bool:
        """Send a signal to the program and what it started, and say whether there is any of that."""
        try:
            os.killpg(self._process.pid, number)
        except OSError:
            return False
        return True


def started(command: Sequence[str], env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Stdio:
    """The channel to a program that is started for it.

    Raises:
        Unreachable: it cannot be started.
    """
    try:
        return Stdio(start(command, env, str(cwd) if cwd else None))
    except (OSError, ValueError) as error:
        raise Unreachable(_unstartable(command[0], cwd, error)) from None


def _unstartable(program: str, cwd: Path | None, error: Exception) -> str:
    """Why a program cannot be started."""
    if cwd is not None and not cwd.is_dir():
        return f"{program} cannot be started: there is no folder {cwd}"
    if isinstance(error, FileNotFoundError) and "=" in program:
        return f"there is no program '{program}': write env {program} in front of the command"
    if isinstance(error, FileNotFoundError) and os.sep not in program:
        return f"there is no program '{program}' to start the server with"
    return f"{program} cannot be started: {said_of(error)}"


def _ending(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
