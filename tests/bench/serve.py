"""How fast `kbp serve` answers, beside FastMCP with the same prompts: the ratios of one run on one machine.

    python tests/bench/serve.py [--prompts 2000] [--seconds 5]

Both serve the same prompts over HTTP on loopback, in turn. For each revision one client asks again and again on one
connection (latency), then eight do so side by side, in processes of their own (throughput).
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CLI = Path(__file__).parents[2] / "cli"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
FAST = """
import re, sys
from pathlib import Path
from fastmcp import FastMCP
from fastmcp.prompts.base import Prompt, PromptArgument, Message

class FilePrompt(Prompt):
    body: str
    async def render(self, arguments=None):
        values = arguments or {}
        return [Message(re.sub(r"\\{\\{ (\\w+) \\}\\}", lambda m: values.get(m[1], ""), self.body))]

server = FastMCP("fast")
for path in sorted(Path(sys.argv[2]).glob("*.md")):
    body = path.read_text().split("---\\n", 2)[2]
    server.add_prompt(FilePrompt(name=path.stem, description="Look into the logs of a workload.", body=body, arguments=[
        PromptArgument(name="app", description="The workload.", required=True),
        PromptArgument(name="since", description="How far back.", required=False)]))
server.run("http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="ERROR")
"""
PROMPT = """---
description: Look into the logs of a workload.
arguments:
- {{name: app, description: The workload., required: true}}
- {{name: since, description: How far back., default: 1h}}
---
Look into the logs of {{{{ app }}}} over the last {{{{ since }}}}, number {number}.

{rest}
"""


def write_prompts(folder: Path, count: int) -> None:
    folder.mkdir()
    rest = "Name the first error, what happened before it, and one thing to try next. " * 12
    for number in range(count):
        (folder / f"prompt-{number:05}.md").write_text(PROMPT.format(number=number, rest=rest))


@contextlib.contextmanager
def server(kind: str, folder: Path) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    if kind == "kbp":
        command = [sys.executable, "-m", "kbp", "serve", str(folder), "--http", f"127.0.0.1:{port}", "-q"]
    else:
        command = [sys.executable, "-c", FAST, str(port), str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(CLI)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + 60
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    if time.monotonic() > end:
                        raise
                    time.sleep(0.05)
            yield port
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(10)


class Client:
    """A client of one revision on one connection, which costs as little as it can: requests are written beforehand."""

    def __init__(self, port: int, revision: str) -> None:
        self.revision = revision
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.session = ""
        if revision == LEGACY:
            about = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}
            head, _ = self.answer(self.request("initialize", about))
            names = [line.partition(b": ") for line in head.split(b"\r\n")]
            self.session = next(value for name, _, value in names if name.lower() == b"mcp-session-id").decode()
            self.answer(self.written({"jsonrpc": "2.0", "method": "notifications/initialized"}, {}))
        self.got = self.request("prompts/get", {"name": "prompt-00007", "arguments": {"app": "loki"}})
        self.pages = self.read_pages()

    def request(self, method: str, params: dict[str, Any]) -> bytes:
        headers = {}
        if self.revision == MODERN:
            meta = {"protocolVersion": MODERN, "clientCapabilities": {}, "clientInfo": {"name": "b", "version": "0"}}
            params = {**params, "_meta": {f"io.modelcontextprotocol/{key}": each for key, each in meta.items()}}
            headers = {"Mcp-Method": method, **({"Mcp-Name": params["name"]} if "name" in params else {})}
        return self.written({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, headers)

    def written(self, message: dict[str, Any], headers: dict[str, str]) -> bytes:
        body = json.dumps(message).encode()
        lines = {
            "Host": "127.0.0.1",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": self.revision,
            "Content-Length": str(len(body)),
            **({"Mcp-Session-Id": self.session} if self.session else {}),
            **headers,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body

    def answer(self, request: bytes) -> tuple[bytes, bytes]:
        """The head and the body of an answer."""
        self.socket.sendall(request)
        data = self.socket.recv(1 << 20)
        while b"\r\n\r\n" not in data:
            data += self.socket.recv(1 << 20)
        head, _, body = data.partition(b"\r\n\r\n")
        length = next((line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), None)
        parts, size = [body], len(body)
        if length is not None:
            while size < int(length[15:]):
                parts.append(self.socket.recv(1 << 20))
                size += len(parts[-1])
        elif b"chunked" in head.lower():
            while not (parts[-1] if len(parts[-1]) > 6 else b"".join(parts[-3:])).endswith(b"0\r\n\r\n"):
                parts.append(self.socket.recv(1 << 20))
        return head, b"".join(parts)

    def read_pages(self) -> list[bytes]:
        """The requests that list everything."""
        requests: list[bytes] = []
        self.count, cursor = 0, None
        while True:
            requests.append(self.request("prompts/list", {"cursor": cursor} if cursor else {}))
            _, body = self.answer(requests[-1])
            start, end = body.index(b'{"'), body.rindex(b"}")
            page = json.loads(re.sub(rb"\r\n[0-9a-f]+\r\n", b"", body[start : end + 1]))["result"]
            self.count += len(page["prompts"])
            cursor = page.get("nextCursor")
            if cursor is None:
                return requests

    def list_all(self) -> None:
        for request in self.pages:
            self.answer(request)

    def get(self) -> None:
        _, body = self.answer(self.got)
        if b"logs of loki" not in body:
            raise SystemExit(f"this is no prompt: {body[:300]!r}")


def latency(call: Any, seconds: float) -> float:
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _work(port: int, revision: str, kind: str, seconds: float, counts: Any) -> None:
    client = Client(port, revision)
    call = client.get if kind == "get" else client.list_all
    done = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        call()
        done += 1
    counts.put(done)


def throughput(port: int, revision: str, kind: str, seconds: float) -> float:
    counts: Any = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=_work, args=(port, revision, kind, seconds, counts)) for _ in range(8)]
    for worker in workers:
        worker.start()
    total = sum(counts.get() for _ in workers)
    for worker in workers:
        worker.join()
    return float(total / seconds)


def measure(kind: str, folder: Path, seconds: float, count: int) -> dict[str, float]:
    figures = {}
    with server(kind, folder) as port:
        for revision in (LEGACY, MODERN):
            client = Client(port, revision)
            if client.count != count:
                raise SystemExit(f"{kind} lists {client.count} prompts")
            figures[f"{revision} list, latency"] = latency(client.list_all, seconds)
            figures[f"{revision} get, latency"] = latency(client.get, seconds)
            figures[f"{revision} list, throughput"] = throughput(port, revision, "list", seconds)
            figures[f"{revision} get, throughput"] = throughput(port, revision, "get", seconds)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--prompts", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top, "prompts")
        write_prompts(folder, options.prompts)
        ours, theirs = (measure(kind, folder, options.seconds, options.prompts) for kind in ("kbp", "fastmcp"))
    for name, value in ours.items():
        is_time = name.endswith("latency")
        ratio = theirs[name] / value if is_time else value / theirs[name]
        unit = "ms" if is_time else "a second"
        scale = 1000 if is_time else 1
        print(f"{name:28} kbp {value * scale:9.2f} {unit:8}  FastMCP {theirs[name] * scale:9.2f}  {ratio:5.1f} times")


if __name__ == "__main__":
    main()
