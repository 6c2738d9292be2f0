"""`kbp serve` as tests reach it: a process of its own on stdio or over HTTP, and a client of the bare wire."""

import base64
import http.client
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from conftest import TESTS

from kbp.live.base import LEGACY, MODERN, REVISIONS

__all__ = ["LEGACY", "MODERN", "REVISIONS"]
KBP = [sys.executable, "-m", "kbp"]
FORM: dict[str, Any] = {"elicitation": {"form": {}}}
_SECONDS = 30.0
Json = dict[str, Any]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(TESTS.parent / "cli")}


def enveloped(params: Mapping[str, Any] | None, capabilities: Mapping[str, Any]) -> Json:
    """Parameters as a modern request has them."""
    about = {"protocolVersion": MODERN, "clientCapabilities": capabilities, "clientInfo": {"name": "t", "version": "0"}}
    return {**(params or {}), "_meta": {f"io.modelcontextprotocol/{key}": value for key, value in about.items()}}


def opening(revision: str, capabilities: Mapping[str, Any]) -> Json:
    """The parameters of a handshake."""
    return {"protocolVersion": revision, "capabilities": capabilities, "clientInfo": {"name": "t", "version": "0"}}


@dataclass
class Server:
    """A running `kbp serve --http`."""

    process: "subprocess.Popen[bytes]"
    log: Path
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def told(self, text: str, seconds: float = _SECONDS, since: int = 0) -> str:
        """What it told on stderr, once a text is in it."""
        end = time.monotonic() + seconds
        while text not in (said := self.log.read_text(encoding="utf-8")[since:]):
            assert self.process.poll() is None, f"it ended with {self.process.returncode}:\n{said}"
            assert time.monotonic() < end, f"{text!r} is not told:\n{said}"
            time.sleep(0.02)
        return said

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, dict[str, str]]:
        """The status, the body and the headers of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            return response.status, response.read(), {name.lower(): value for name, value in response.getheaders()}
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        status, body, _ = self.request("GET", path, headers={n.replace("_", "-"): v for n, v in headers.items()})
        return status, body

    def health(self) -> Json:
        content: Json = json.loads(self.get("/health")[1])
        return content

    def wire(self, revision: str = MODERN, query: str = "", **more: Any) -> "Wire":
        return Wire(self, revision, query, **more)


@contextmanager
def running(folder: Path, *options: str, cwd: Path | None = None, code: str | None = None) -> Iterator[Server]:
    """A `kbp serve --http` on a free port, which ends well; `code` runs it in place of the program."""
    log = folder / f"serve-{time.monotonic_ns()}.log"
    program = KBP if code is None else [sys.executable, "-c", code]
    command = [*program, "serve", "--http", "127.0.0.1:0", *options]
    with log.open("wb") as file, subprocess.Popen(command, cwd=cwd, stderr=file, env=environment()) as process:
        server = Server(process, log)
        try:
            said = server.told("listening")
            server.port = int(said.partition("http://127.0.0.1:")[2].partition("/")[0])
            yield server
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


@dataclass
class Wire:
    """A client over HTTP that checks nothing: messages as they are."""

    server: Server
    revision: str = MODERN
    query: str = ""
    capabilities: Json = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    session: str = ""
    opened: Json = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.revision != MODERN:
            self.opened = self.post("initialize", opening(self.revision, self.capabilities))
            if "result" in self.opened:
                self.post("notifications/initialized", None, is_notification=True)

    def call(self, method: str, params: Mapping[str, Any] | None = None) -> Json:
        """The answer to a request: with `result` or `error`."""
        if self.revision == MODERN:
            params = enveloped(params, self.capabilities)
        return self.post(method, params)

    def result(self, method: str, params: Mapping[str, Any] | None = None) -> Json:
        answer = self.call(method, params)
        assert "result" in answer, answer
        result: Json = answer["result"]
        return result

    def error(self, method: str, params: Mapping[str, Any] | None = None) -> Json:
        answer = self.call(method, params)
        assert "error" in answer, answer
        error: Json = answer["error"]
        return error

    def get(self, name: str, **arguments: str) -> str:
        """The text of a prompt."""
        result = self.result("prompts/get", {"name": name, "arguments": arguments})
        return "".join(message["content"]["text"] for message in result["messages"])

    def names(self) -> list[str]:
        """The names of all prompts, page by page."""
        found: list[str] = []
        cursor: str | None = None
        while True:
            page = self.result("prompts/list", {"cursor": cursor} if cursor is not None else {})
            found += [prompt["name"] for prompt in page["prompts"]]
            cursor = page.get("nextCursor")
            if cursor is None:
                return found

    def post(self, method: str, params: Any, *, is_notification: bool = False) -> Json:
        message: Json = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        if not is_notification:
            message["id"] = 1
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": self.revision,
            **({"Mcp-Session-Id": self.session} if self.session else {}),
            **self.headers,
        }
        if self.revision == MODERN:
            headers["Mcp-Method"] = method
            named = (params or {}).get("name")
            if isinstance(named, str):
                headers["Mcp-Name"] = named if named.isascii() and named.isprintable() else _sentinel(named)
        status, body, sent = self.server.request("POST", f"/mcp{self.query}", json.dumps(message).encode(), headers)
        self.session = sent.get("mcp-session-id", self.session)
        if is_notification:
            assert status == 202, (status, body)
            return {}
        content: Json = json.loads(body)
        return content


def _sentinel(name: str) -> str:
    """A value that no header can have as it is (2026-07-28)."""
    return f"=?base64?{base64.b64encode(name.encode()).decode()}?="


class Piped:
    """A `kbp serve` on stdin and stdout, and a client that checks nothing."""

    def __init__(self, *options: str, cwd: Path | None = None, command: Sequence[str] = (*KBP, "serve")) -> None:
        self.process = subprocess.Popen(
            [*command, *options],
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        self._buffer = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self.process.wait(10)

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Mapping[str, Any]) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def read(self, seconds: float = _SECONDS) -> Json:
        """The next message."""
        assert self.process.stdout is not None
        end = time.monotonic() + seconds
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))
            assert ready, "no message comes"
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            assert data, "it ended"
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        content: Json = json.loads(line)
        return content

    def call(self, method: str, params: Mapping[str, Any] | None = None, number: int = 1) -> Json:
        """The answer to a request; what comes before it is left out."""
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})
        while True:
            message = self.read()
            if message.get("id") == number:
                return message

    def open(self, revision: str, capabilities: Mapping[str, Any] | None = None) -> Json:
        """Shake hands."""
        answer = self.call("initialize", opening(revision, capabilities or {}), 0)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer
