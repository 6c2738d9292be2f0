"""Who may come in to `kbp serve --http`, and what comes of those who should not: hosts, tokens, faults, crowds."""

import contextlib
import json
import os
import signal
import socket
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Tree
from serving import MODERN, Server, enveloped, running

from kbp.server import tokens

FIRST = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("doors")
    (top / "prompts").mkdir()
    (top / "prompts/a.md").write_text("---\ndescription: d\narguments: [{name: x, required: true}]\n---\nA {{ x }}\n")
    return top


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with running(folder, str(folder / "prompts"), "--no-watch") as server:
        yield server


def posted(server: Server, body: bytes, path: str = "/mcp", **headers: str) -> tuple[int, bytes]:
    sent = {**FIRST, **{name.replace("_", "-"): value for name, value in headers.items()}}
    status, answer, _ = server.request("POST", path, body, sent)
    return status, answer


def modern(method: str, params: Any = None, number: Any = 1) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": enveloped(params, {})}).encode()


# Hosts and origins

OTHERS: list[tuple[dict[str, str], int]] = [
    ({"Host": "evil.example"}, 421),
    ({"Host": "evil.example:8000"}, 421),
    ({"Host": "127.0.0.1.evil.example"}, 421),
    ({"Host": "localhost:1@evil.example"}, 421),
    ({"Host": "localhost:evil"}, 421),
    ({"Host": "localhost:80:evil"}, 421),
    ({"Host": "user@localhost"}, 421),
    ({"Host": ""}, 421),
    ({"Host": "[::1"}, 421),
    ({"Host": "evil..example"}, 421),
    ({"Host": "*"}, 421),
    ({"Host": "localhost"}, 200),
    ({"Host": "LocalHost:1234"}, 200),
    ({"Host": "localhost."}, 200),
    ({"Host": "[::1]:80"}, 200),
    ({"Host": "[0:0:0:0:0:0:0:1]"}, 200),
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "file://"}, 403),
    ({"Origin": "https://evil~x"}, 403),
    ({"Origin": ""}, 403),
    ({"Origin": "http://localhost.evil.example"}, 403),
    ({"Origin": "http://localhost:3000.evil.example"}, 403),
    ({"Origin": "http://localhost:@evil.example"}, 403),
    ({"Origin": "http://localhost:3000"}, 200),
    ({"Host": "evil.example", "Origin": "http://localhost"}, 421),
]


@pytest.mark.parametrize("path", ["/health", "/metrics", "/mcp"])
@pytest.mark.parametrize(("headers", "status"), OTHERS)
def test_hosts_and_origins_are_checked(headers: dict[str, str], status: int, path: str, server: Server) -> None:
    if path == "/mcp":
        more = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "server/discover"}
        got = server.request("POST", path, modern("server/discover"), {**FIRST, **more, **headers})[0]
    else:
        got = server.request("GET", path, headers=headers)[0]
    assert got == status


@pytest.mark.parametrize("name", ["Host", "Origin"])
def test_two_names_are_none(name: str, server: Server) -> None:
    lines = ["GET /health HTTP/1.1", "Host: localhost", "Origin: http://localhost", "Connection: close"]
    lines.append(f"{name}: http://localhost" if name == "Origin" else f"{name}: localhost")
    with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = connection.recv(1000)
    assert answer.startswith(b"HTTP/1.1 403" if name == "Origin" else b"HTTP/1.1 4")


def test_what_is_refused_is_told_with_what_helps(server: Server) -> None:
    since = len(server.log.read_text())
    server.request("GET", "/health", headers={"Host": "prompts.example:443"})
    server.request("GET", "/health", headers={"Origin": "https://app.example"})
    server.request("GET", "/nothing")
    posted(server, b"{", MCP_Protocol_Version=MODERN)
    said = server.told("status=400", since=since)
    assert 'help="--allowed-host prompts.example"' in said
    assert 'help="--allowed-origin https://app.example"' in said
    assert "status=404" in said
    assert 'kbp_refused_total{status="421"}' in server.get("/metrics")[1].decode()


def test_pages_of_this_machine_may_call_it(server: Server) -> None:
    page = "http://localhost:6274"
    _, _, headers = server.request("GET", "/health", headers={"Origin": page})
    assert headers["access-control-allow-origin"] == page
    asked = {"Origin": page, "Access-Control-Request-Method": "POST"}
    assert server.request("OPTIONS", "/mcp", headers=asked)[0] == 200
    assert server.request("OPTIONS", "/mcp", headers={**asked, "Host": "evil.example"})[0] == 421


def test_who_asks_whether_it_is_ready_may_call_it_as_they_like(server: Server) -> None:
    assert server.request("GET", "/ready", headers={"Host": "10.0.0.7:8000"})[0] == 200


def test_behind_a_proxy(folder: Path) -> None:
    options = ["--allowed-host", "Prompts.example", "--allowed-origin", "https://App.example:443"]
    with running(folder, str(folder / "prompts"), "--no-watch", *options) as server:
        assert server.request("GET", "/health", headers={"Host": "Prompts.Example"})[0] == 200
        assert server.request("GET", "/health", headers={"Host": "prompts.example:443"})[0] == 200
        assert server.request("GET", "/health", headers={"Host": "other.example"})[0] == 421
        status, _, headers = server.request("GET", "/health", headers={"Origin": "https://app.example"})
        assert (status, headers["access-control-allow-origin"]) == (200, "https://app.example")
        asked = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
        asked["Access-Control-Request-Headers"] = "authorization, mcp-protocol-version"
        status, _, headers = server.request("OPTIONS", "/mcp", headers=asked)
        assert status == 200
        assert "authorization" in headers["access-control-allow-headers"].lower()
        refused = server.request("OPTIONS", "/mcp", headers={**asked, "Origin": "https://evil.example"})
        assert refused[0] == 403
        assert server.request("GET", "/health", headers={"Origin": "https://app.example:443"})[0] == 200
        assert server.request("GET", "/health", headers={"Origin": "null"})[0] == 403


# Tokens


def test_tokens_are_wanted_and_named(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    first, line = tokens.new_token("ci")
    second, other = tokens.new_token("late")
    path.write_text(line + "\n")
    with running(tmp_path, str(folder / "prompts"), "--no-watch", "--token-file", str(path)) as server:
        for header in (
            {},
            {"Authorization": f"Bearer {second}"},
            {"Authorization": first},
            {"Authorization": "Bearer"},
        ):
            for where in ("/mcp", "/health", "/metrics"):
                status, _, headers = server.request("GET", where, headers=header)
                assert (status, headers["www-authenticate"]) == (401, 'Bearer realm="kbp"')
        assert server.get("/ready")[0] == 200
        client = server.wire(headers={"Authorization": f"Bearer {first}"})
        assert client.get("a", x="1") == "A 1\n"
        assert "token=ci" in server.told("prompts/get")
        assert server.request("GET", "/health", headers={"Authorization": f"bearer {first}"})[0] == 200
        path.write_text(f"{other}\n")
        server.process.send_signal(signal.SIGHUP)
        server.told("tokens read")
        assert server.wire(headers={"Authorization": f"Bearer {second}"}).names() == ["a"]
        assert server.request("GET", "/health", headers={"Authorization": f"Bearer {first}"})[0] == 401
        path.write_text("nonsense\n")
        server.process.send_signal(signal.SIGHUP)
        server.told("the tokens before still hold")
        assert server.wire(headers={"Authorization": f"Bearer {second}"}).names() == ["a"]
        said = server.log.read_text()
        assert first not in said
        assert second not in said


def test_a_session_is_its_owner_s(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    mine, line = tokens.new_token("me")
    yours, other = tokens.new_token("you")
    path.write_text(f"{line}\n{other}\n")
    with running(tmp_path, str(folder / "prompts"), "--no-watch", "--token-file", str(path)) as server:
        client = server.wire("2025-11-25", headers={"Authorization": f"Bearer {mine}"})
        assert client.names() == ["a"]
        client.headers = {"Authorization": f"Bearer {yours}"}
        assert client.call("prompts/list")["error"]["message"] == "Session not found"


# Requests that are none

BODIES: list[bytes] = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b'{"jsonrpc": "2.0"}',
    b'{"jsonrpc": "1.0", "id": 1, "method": "prompts/list"}',
    b'{"jsonrpc": "2.0", "id": {}, "method": "prompts/list"}',
    b'{"jsonrpc": "2.0", "id": 1, "method": 5}',
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"1" * 100_000,
    b'[{"jsonrpc": "2.0", "id": 1, "method": "prompts/list"}]',
    b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": "SECRET"}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}',
    b'{"jsonrpc": "2.0", "id": true, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 1, "result": 3}',
    b'{"jsonrpc": "2.0", "id": 1, "error": "SECRET"}',
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body[:30])
@pytest.mark.parametrize("revision", ["2025-11-25", MODERN, "1999-01-01", "x" * 10_000])
def test_a_body_that_is_no_request(body: bytes, revision: str, server: Server) -> None:
    got, answer = posted(server, body, MCP_Protocol_Version=revision)
    assert 400 <= got < 500
    assert b"SECRET" not in answer
    assert b"pydantic" not in answer
    if body:
        assert json.loads(answer)["error"]["code"] in (-32700, -32600)
    assert server.wire().names() == ["a"]


PARAMS: list[tuple[str, Any]] = [
    ("prompts/get", {"name": 5}),
    ("prompts/get", {"name": ["a"]}),
    ("prompts/get", {}),
    ("prompts/get", {"name": "a", "arguments": []}),
    ("prompts/get", {"name": "a", "arguments": {"x": 5}}),
    ("prompts/get", {"name": "a", "arguments": {"x": None}}),
    ("prompts/get", {"name": "a", "inputResponses": []}),
    ("prompts/get", {"name": "a", "inputResponses": {"arguments": 5}}),
    ("prompts/get", {"name": "a", "requestState": {}}),
    ("prompts/list", {"cursor": 5}),
    ("completion/complete", {}),
    ("completion/complete", {"ref": {"type": "ref/nothing"}, "argument": {"name": "x", "value": ""}}),
    ("tools/call", {"name": 5}),
    ("tools/call", {"name": "get_prompt", "arguments": 5}),
]


@pytest.mark.parametrize(("method", "params"), PARAMS)
def test_wrong_parameters_are_invalid(method: str, params: Any, server: Server) -> None:
    for revision in ("2025-11-25", MODERN):
        client = server.wire(revision)
        if revision == MODERN and not isinstance(params.get("name", ""), str):
            client.headers["Mcp-Name"] = "5"
        error = client.call(method, params).get("error")
        if error is None:  # what an older revision does not know is ignored
            assert revision != MODERN
            continue
        assert error["code"] in (-32602, -32600, -32020)
        assert "/" not in error["message"] + str(error.get("data") or "")


def test_a_body_is_bounded(server: Server) -> None:
    large = modern("prompts/get", {"name": "a", "arguments": {"x": "x" * 5_000_000}})
    got, _ = posted(server, large, MCP_Protocol_Version=MODERN, Mcp_Method="prompts/get", Mcp_Name="a")
    assert got == 413
    fits = modern("prompts/get", {"name": "a", "arguments": {"x": "x" * 3_000_000}})
    got, _ = posted(server, fits, MCP_Protocol_Version=MODERN, Mcp_Method="prompts/get", Mcp_Name="a")
    assert got == 200


def test_a_body_without_a_length_is_bounded(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
        lines = [
            "POST /mcp HTTP/1.1",
            "Host: localhost",
            "Transfer-Encoding: chunked",
            "Content-Type: application/json",
        ]
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        before = resident(server.process.pid)
        with contextlib.suppress(OSError):
            for _ in range(1000):
                connection.sendall(chunk)
        assert resident(server.process.pid) - before < 20
    assert "status=413" in server.told("status=413")
    assert server.wire().names() == ["a"]


def pour(server: Server, start: bytes, piece: bytes) -> None:
    """Send a piece again and again, which the server neither takes nor keeps."""
    before, sent = resident(server.process.pid), 0
    with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
        connection.sendall(start)
        with contextlib.suppress(OSError):
            for _ in range(1000):
                connection.sendall(piece)
                sent += len(piece)
    assert sent < 20_000_000
    assert resident(server.process.pid) - before < 20


def test_a_head_is_bounded(server: Server) -> None:
    for start, piece in ((b"GET /health HTTP/1.1\r\n", b"X: " + b"y" * 60_000 + b"\r\n"), (b"GET /", b"x" * 60_000)):
        pour(server, start, piece)
    assert "status=431" in server.told("status=431")


PATHS = ["/", "/mcp/", "/mcp/../health", "/prompts/a.md", "/../../etc/passwd", "/%2e%2e/etc/passwd", "/mcp%00", "//"]


@pytest.mark.parametrize("path", PATHS)
def test_there_are_no_other_paths(path: str, server: Server) -> None:
    status, body = server.get(path)
    assert status in (307, 400, 404, 405, 406)
    assert b"root:" not in body


RAW = [
    b"\x00\x01\x02\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    b"GET /health HTTP/1.1\r\n" + b"X: y\r\n" * 10_000 + b"\r\n",
    b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\n\r\n",
    b"GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
]


@pytest.mark.parametrize("raw", RAW)
def test_what_is_no_http_is_survived(raw: bytes, server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
        try:
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(1000)
        except OSError:
            answer = b""
    assert b" 200 " not in answer.split(b"\r\n")[0]
    assert server.wire().names() == ["a"]


def test_trailers_are_bounded(server: Server) -> None:
    start = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
    for piece in (b"X: " + b"y" * 60_000 + b"\r\n", b"X:\r\n" * 10_000, b"y" * 60_000):
        pour(server, start, piece)


def test_requests_one_behind_the_other(folder: Path, tmp_path: Path) -> None:
    code = "import kbp.server.connections as c; c.HEAD_SECONDS = 1.0\nfrom kbp.__main__ import main\nmain()\n"
    with running(tmp_path, str(folder / "prompts"), code=code) as server:
        ready = b"GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n"
        body = modern("prompts/get", {"name": "a", "arguments": {"x": "x" * 300_000}})
        lines = ["POST /mcp HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in FIRST.items())]
        lines += [f"MCP-Protocol-Version: {MODERN}", "Mcp-Method: prompts/get", "Mcp-Name: a"]
        head = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode()
        with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
            connection.sendall(ready + head + body[:100])
            time.sleep(0.5)
            connection.sendall(body[100:] + ready)
            answer = b""
            while answer.count(b"HTTP/1.1 200") < 3:
                data = connection.recv(1 << 20)
                assert data, answer[:500]
                answer += data
        listen = enveloped({"notifications": {"promptsListChanged": True}}, {})
        body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": listen}).encode()
        lines[-2:] = ["Mcp-Method: subscriptions/listen", f"Content-Length: {len(body)}"]
        with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
            connection.sendall(ready + "\r\n".join([*lines, "", ""]).encode() + body)
            answer = b""
            while b"acknowledged" not in answer:
                data = connection.recv(1 << 20)
                assert data, answer
                answer += data
            time.sleep(3)  # longer than a head may take
            assert server.wire().names() == ["a"]
            assert _is_open(server.process.pid, connection)


def test_a_large_body_with_a_wrong_token_is_told_of_once(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(tokens.new_token("x")[1] + "\n")
    with running(tmp_path, str(folder / "prompts"), "--token-file", str(tmp_path / "tokens")) as server:
        status, _ = posted(server, b" " * 1_000_000, MCP_Protocol_Version=MODERN)
        assert status == 401
        time.sleep(0.3)
        said = server.log.read_text()
        assert said.count("refused") == said.count("status=401") == 1


def test_silent_clients_hold_up_nobody_and_are_left(folder: Path, tmp_path: Path) -> None:
    times = "import kbp.server.connections as c, kbp.server.doors as d; c.HEAD_SECONDS = d._BODY_SECONDS = 2.0\n"
    code = f"{times}from kbp.__main__ import main\nmain()\n"
    with running(tmp_path, str(folder / "prompts"), "--no-watch", code=code) as server:
        part = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
        whole = b"GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n"
        sent = (b"", b"GET /ready HT", part, whole, whole + b"GET /ready HTTP/1.1\r\nX")
        silent = [socket.create_connection(("127.0.0.1", server.port), 20) for _ in range(len(sent) * 20)]
        try:
            for at, connection in enumerate(silent):
                connection.sendall(sent[at % len(sent)])
            assert server.wire().names() == ["a"]
            for at, connection in enumerate(silent):
                answer = b""
                with contextlib.suppress(ConnectionResetError):
                    while data := connection.recv(1000):
                        answer += data
                assert (b" 408 " in answer) is (sent[at % len(sent)] is part)
        finally:
            for connection in silent:
                connection.close()


def test_results_that_nobody_reads_are_dropped(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/a.md").write_text("---\narguments: [{name: x}]\n---\n" + "{{ x }}" * 40 + "\n")
    code = "import kbp.server.connections as c; c.HEAD_SECONDS = 2.0\nfrom kbp.__main__ import main\nmain()\n"
    with running(tmp_path, str(tmp_path / "prompts"), "--no-watch", code=code) as server:
        body = modern("prompts/get", {"name": "a", "arguments": {"x": "x" * 90_000}})
        lines = ["POST /mcp HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in FIRST.items())]
        lines += [
            f"MCP-Protocol-Version: {MODERN}",
            "Mcp-Method: prompts/get",
            "Mcp-Name: a",
            f"Content-Length: {len(body)}",
        ]
        request = "\r\n".join([*lines, "", ""]).encode() + body
        unread = [socket.create_connection(("127.0.0.1", server.port), 20) for _ in range(30)]
        try:
            before = server.wire().get("a", x="y")
            for connection in unread:
                connection.sendall(request)
            time.sleep(1)
            high = resident(server.process.pid)
            end = time.monotonic() + 20
            while any(_is_open(server.process.pid, connection) for connection in unread):
                assert time.monotonic() < end
                time.sleep(0.2)
            assert high < 400
            assert server.wire().get("a", x="y") == before
        finally:
            for connection in unread:
                connection.close()


def _is_open(process: int, connection: socket.socket) -> bool:
    """Whether the server still has its end of a connection."""
    port = f":{connection.getsockname()[1]:04X}"
    rows = [line.split() for line in Path(f"/proc/{process}/net/tcp").read_text().splitlines()[1:]]
    return any(row[2].endswith(port) and row[3] == "01" for row in rows)


# Files that hold up, and folders that are written to


def test_a_file_that_hangs_holds_up_nobody(tree: Tree) -> None:
    top = tree({"lib/prompts/a.md": "A\n", "lib/prompts/b.md": "B\n"})
    with running(top, str(top / "lib"), "--no-watch") as server:
        client = server.wire()
        assert client.get("a") == "A\n"
        (top / "lib/prompts/a.md").unlink()
        os.mkfifo(top / "lib/prompts/a.md")
        assert stat.S_ISFIFO((top / "lib/prompts/a.md").stat().st_mode)
        start = time.monotonic()
        assert client.get("a") == "A\n"
        assert client.get("b") == "B\n"
        assert time.monotonic() - start < 3
        assert server.health()["kept"][0]["path"] == "lib/prompts/a.md"


WRITER = """import sys, time
path = sys.argv[1]
while True:
    with open(path, "w") as file:
        for part in ("---\\ndescr", "iption: d\\n---", "\\nwhole {{ x", " }} text\\n"):
            file.write(part); file.flush(); time.sleep(0.001)
"""


def test_a_writer_is_killed_again_and_again(tree: Tree, tmp_path: Path) -> None:
    import subprocess
    import sys

    whole = "---\ndescription: d\narguments: [{name: x}]\n---\nwhole {{ x }} text\n"
    top = tree({"lib/prompts/a.md": whole, "lib/prompts/b.md": "B\n"})
    with running(top, str(top / "lib")) as server:
        client = server.wire()
        for _ in range(8):
            with subprocess.Popen([sys.executable, "-c", WRITER, str(top / "lib/prompts/a.md")]) as writer:
                end = time.monotonic() + 0.4
                while time.monotonic() < end:
                    got = client.call("prompts/get", {"name": "a", "arguments": {"x": "x"}})
                    assert "result" in got, got
                    assert client.get("b") == "B\n"
                writer.kill()
        (top / "lib/prompts/a.md").write_text(whole)
        end = time.monotonic() + 10
        while client.get("a", x="x") != "whole x text\n" or server.health()["status"] != "ok":
            assert time.monotonic() < end
            time.sleep(0.05)


# Many clients, for long


def resident(process: int) -> int:
    """The memory that a process has, in MiB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


def test_200_clients_for_30_seconds(tree: Tree) -> None:
    text = "---\ndescription: d\narguments: [{name: x}]\n---\nHi {{ x }}\n"
    top = tree({f"lib/prompts/p{number}.md": text for number in range(100)})
    with running(top, str(top / "lib")) as server:
        faults: list[str] = []
        counts = [0] * 200
        end = time.monotonic() + 30

        def work(at: int) -> None:
            import http.client

            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
            name = f"p{at % 100}"
            try:
                while time.monotonic() < end and not faults:
                    if at % 4 == 0:  # an older client: a session of its own, again and again
                        _session(connection, name, faults)
                    else:
                        body = modern("prompts/get", {"name": name, "arguments": {"x": str(at)}})
                        more = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "prompts/get", "Mcp-Name": name}
                        connection.request("POST", "/mcp", body, {**FIRST, **more})
                        answer = connection.getresponse().read()
                        if f"Hi {at}".encode() not in answer:
                            faults.append(f"{at}: {answer[:300]!r}")
                    counts[at] += 1
            except Exception as error:
                faults.append(f"{at}: {type(error).__name__}: {error}")
            finally:
                connection.close()

        workers = [threading.Thread(target=work, args=(at,)) for at in range(200)]
        for worker in workers:
            worker.start()
        time.sleep(10)
        early = resident(server.process.pid)
        for worker in workers:
            worker.join()
        late = resident(server.process.pid)
        assert faults == []
        assert min(counts) > 0
        assert late - early < 20, (early, late)
        assert server.wire().get("p1", x="y") == "Hi y\n"


def _session(connection: Any, name: str, faults: list[str]) -> None:
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
    headers = dict(FIRST)
    for method, params in (
        ("initialize", about),
        ("notifications/initialized", None),
        ("prompts/list", {}),
        ("prompts/get", {"name": name, "arguments": {"x": "old"}}),
    ):
        message = {"jsonrpc": "2.0", "method": method, **({"params": params} if params is not None else {})}
        if not method.startswith("notifications/"):
            message["id"] = 1
        connection.request("POST", "/mcp", json.dumps(message).encode(), headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status not in (200, 202) or b'"error"' in answer:
            faults.append(f"{method}: {answer[:300]!r}")
        headers["Mcp-Session-Id"] = response.getheader("Mcp-Session-Id") or headers.get("Mcp-Session-Id", "")
        headers["MCP-Protocol-Version"] = "2025-11-25"
    connection.request("DELETE", "/mcp", headers=headers)
    connection.getresponse().read()


def test_10_000_prompts(tree: Tree) -> None:
    text = (
        "---\ndescription: d\narguments: [{name: x, required: true}]\n---\n"
        + "Hi {{ x }}. "
        + "And more of it. " * 60
        + "\n"
    )
    top = tree({f"lib/prompts/p{number:05}.md": text for number in range(10_000)})
    with running(top, str(top / "lib")) as server:
        client = server.wire()
        assert len(client.names()) == 10_000
        assert client.get("p09999", x="y").startswith("Hi y.")
        assert resident(server.process.pid) < 400
        (top / "lib/prompts/p00000.md").unlink()
        end = time.monotonic() + 30
        while len(client.names()) != 9_999:
            assert time.monotonic() < end
            time.sleep(0.2)
