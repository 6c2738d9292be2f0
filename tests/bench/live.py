"""How long one call of a prompt takes, end to end, against a bare exchange with the same server, in turn.

    .venv/bin/python tests/bench/live.py [ROUNDS] [OTHER COMMAND...]

Prints medians and the ratios to quote. OTHER COMMAND is timed in the same rounds, as another client that calls the same
prompt. Not a test: figures depend on the machine, ratios hardly do.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

SERVER = str(Path(__file__).parent.parent / "hard_server.py")
BARE = """
import json, subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
PREFIX = "io.modelcontextprotocol/"
META = {PREFIX + "protocolVersion": "2026-07-28", PREFIX + "clientInfo": {"name": "bare", "version": "1"},
        PREFIX + "clientCapabilities": {}}
def ask(id, method, **params):
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, "_meta": META}}
    server.stdin.write(json.dumps(message).encode() + b"\\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())["result"]
ask(1, "server/discover")
ask(2, "prompts/list")
print(ask(3, "prompts/get", name="greet", arguments={"name": "Ada"})["messages"][0]["content"]["text"])
server.stdin.close()
server.wait()
"""


def seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    kbp = [sys.executable, "-m", "kbp", "render", "greet", "-a", "name=Ada"]
    commands = {
        "bare exchange": [sys.executable, "-c", BARE, sys.executable, SERVER],
        "kbp render --server-cmd": [*kbp, "--server-cmd", f"{sys.executable} {SERVER}"],
    }
    if sys.argv[2:]:
        commands["the other client"] = sys.argv[2:]
    found: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            taken = seconds(command)
            if turn:  # the first one warms up
                found[name].append(taken)
    bare = found["bare exchange"]
    for name, times in found.items():
        ratios = [one / other for one, other in zip(times, bare, strict=True)]
        print(
            f"{name:25} {statistics.median(times) * 1000:6.0f} ms   {statistics.median(ratios):.2f} times the bare one"
        )


main()
