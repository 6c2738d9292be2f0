"""`hard_server.py` over HTTP: answers as JSON at /mcp, as events at /events; the older transport at /sse.

    python hard_http.py PORT_FILE [--status N] [--token TOKEN]

It starts one `hard_server.py`, passes each message on to it as it came, and passes its lines back as they are written.
The port that it listens on is written to PORT_FILE. `--status` answers every request with that status; with `--token`
it wants `Authorization: Bearer TOKEN`, and answers 401 without. `--headers FILE` notes the headers of each message.
`--server FILE` is another server on stdio; `--hang METHOD` never takes a message of that method, `--expire N` answers
the Nth message with 404. /moved sends on to /mcp, /silent is an event stream without events.
"""

import argparse
import json
import queue
import subprocess
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("port_file")
parser.add_argument("--status", type=int)
parser.add_argument("--token")
parser.add_argument("--headers")
parser.add_argument("--server", default=str(Path(__file__).with_name("hard_server.py")))
parser.add_argument("--hang")
parser.add_argument("--expire", type=int)
OPTIONS = parser.parse_args()

SERVER = subprocess.Popen([sys.executable, OPTIONS.server], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
LOCK = threading.Lock()
OPEN: dict[str, "queue.Queue[bytes | None]"] = {}
STREAMS: list["queue.Queue[bytes | None]"] = []
POSTED: list[bytes] = []


def read_server() -> None:
    """Give each line of the server to the request that it answers; what it asks itself, to all that wait."""
    for line in SERVER.stdout:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if not isinstance(message, dict):
            continue
        waiting = OPEN.get(json.dumps(message.get("id"))) if "method" not in message else None
        targets = [*([waiting] if waiting else list(OPEN.values())), *STREAMS]
        for target in targets:
            target.put(line.strip())
    for target in [*OPEN.values(), *STREAMS]:
        target.put(None)


def send(body: bytes) -> None:
    with LOCK:
        try:
            SERVER.stdin.write(body.replace(b"\n", b" ") + b"\n")
            SERVER.stdin.flush()
        except OSError:
            pass


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        pass

    def answer(self, status: int, body: bytes = b"", kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def is_refused(self) -> bool:
        if OPTIONS.status:
            self.answer(OPTIONS.status)
        elif OPTIONS.token and self.headers.get("Authorization") != f"Bearer {OPTIONS.token}":
            self.answer(401, WWW_Authenticate='Bearer realm="hard"')
        else:
            return False
        return True

    def event(self, data: bytes, name: bytes = b"message") -> None:
        chunk = b"event: " + name + b"\ndata: " + data + b"\n\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.wfile.flush()

    def begin_events(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def do_GET(self) -> None:
        if self.is_refused():
            return
        if self.path == "/silent":
            self.begin_events()
            time.sleep(60)
        if self.path != "/sse":
            self.answer(405)
            return
        lines: queue.Queue[bytes | None] = queue.Queue()
        STREAMS.append(lines)
        self.begin_events()
        self.event(b"/messages", b"endpoint")
        try:
            while (line := lines.get()) is not None:
                self.event(line)
        except OSError:
            pass
        finally:
            STREAMS.remove(lines)

    def do_DELETE(self) -> None:
        self.answer(200)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.path = urllib.parse.urlsplit(self.path).path  # a proxy is asked for whole addresses
        POSTED.append(body)
        if OPTIONS.headers:
            with Path(OPTIONS.headers).open("a") as file:
                file.write(json.dumps({name.lower(): value for name, value in self.headers.items()}) + "\n")
        if self.is_refused():
            return
        if self.path == "/moved":
            self.answer(307, Location="/mcp")
            return
        is_expired = OPTIONS.expire and len(POSTED) == OPTIONS.expire
        if self.path not in ("/mcp", "/events", "/messages") or is_expired:
            self.answer(404)
            return
        if OPTIONS.hang and OPTIONS.hang.encode() in body:
            time.sleep(60)
        message = json.loads(body)
        if "method" not in message or "id" not in message or self.path == "/messages":
            send(body)
            self.answer(202)
            return
        lines: queue.Queue[bytes | None] = queue.Queue()
        key = json.dumps(message["id"])
        OPEN[key] = lines
        send(body)
        try:
            self.pass_back(lines)
        except OSError:
            pass
        finally:
            OPEN.pop(key, None)

    def pass_back(self, lines: "queue.Queue[bytes | None]") -> None:
        """The answer, as events from the first on if something else comes before it."""
        is_stream = self.path == "/events"
        if is_stream:
            self.begin_events()
        while True:
            line = lines.get()
            if line is None:
                self.close_connection = True
                return
            is_answer = "method" not in json.loads(line)
            if is_answer and not is_stream:
                self.answer(200, line)
                return
            if not is_stream:
                is_stream = True
                self.begin_events()
            self.event(line)
            if is_answer:
                self.wfile.write(b"0\r\n\r\n")
                return


class Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that is gone


def main() -> None:
    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=read_server, daemon=True).start()
    temporary = Path(OPTIONS.port_file + ".new")
    temporary.write_text(str(server.server_address[1]))
    temporary.replace(OPTIONS.port_file)
    server.serve_forever()


main()
