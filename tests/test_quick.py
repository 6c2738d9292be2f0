"""The plain call of a started server, done without the rest of kbp: it does what the command line proper does."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import TESTS
from live_servers import Hard, stdio_command

PROPER = "import sys; from kbp.app import run; sys.exit(run(sys.argv[1:]))"
PLAIN = ["render", "plain"]

CALLS: list[tuple[list[str], dict[str, object]]] = [
    (PLAIN, {}),
    (["render", "greet", "-a", "name=Ada"], {}),
    (["render", "greet", "Ada", "dry"], {}),
    (["render", "echo", "-A", "a=@x", "--arg", "b=", "-a", "c=x=y"], {}),
    (["render", "echo", "-a", f"a=@{TESTS / 'library' / 'kbp.toml'}x"], {}),
    (["render", "every"], {}),
    (["render", "every", "--result"], {}),
    (["render", "titled", "-f", "json"], {}),
    (["render", "plain", "--format", "jsonl"], {}),
    (["render", "escape"], {}),
    (["render", "empty"], {}),
    (["render", "plain", "--result", "-f", "json"], {}),
    (["render", "plain", "-f", "nothing"], {}),
    (["render", "nothing"], {}),
    (["render", "greet"], {}),
    (["render", "greet", "-a", "nam=Ada"], {}),
    (["render", "greet", "a", "b", "c"], {}),
    (["render", "greet", "-a", "name"], {}),
    (["render", "greet", "-a"], {}),
    (["render", "greet", "Ada", "-"], {}),
    (["render", "ask", "-a", "topic=x"], {"MRTR": "form"}),
    (["render", "ask", "-a", "topic=x"], {"MRTR": "form", "MRTR_FORCE": 1}),
    (PLAIN, {"ERROR": "-5:no"}),
    (PLAIN, {"CRASH": "prompts/get", "STDERR": 10}),
    (PLAIN, {"CRASH": "prompts/list"}),
    (PLAIN, {"RESULT": "nomessages"}),
    (PLAIN, {"RESULT": "badrole"}),
    (PLAIN, {"RESULT": "badtype"}),
    (PLAIN, {"CAPABILITY": "absent"}),
    (PLAIN, {"REVISION": "legacy", "NOISE": "ping,log"}),
    (PLAIN, {"REVISION": "2026-07-28"}),
    (PLAIN, {"REVISION": "future"}),
    (PLAIN, {"GARBAGE": "banner,nonutf8,bom"}),
    (PLAIN, {"CURSOR": "nowhere"}),
    (["render", "plain", "|", "cat"], {}),
]


def run(how: list[str], arguments: list[str], hard: Hard) -> tuple[int, bytes, bytes]:
    environment = {**os.environ, "PYTHONPATH": str(TESTS.parent / "cli")}
    command = [sys.executable, *how, *arguments, *hard.options]
    done = subprocess.run(command, capture_output=True, env=environment, stdin=subprocess.DEVNULL, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("arguments", "switches"), CALLS, ids=[" ".join(map(str, each)) for each in CALLS])
def test_it_does_what_the_command_line_proper_does(
    arguments: list[str], switches: dict[str, object], tmp_path: Path
) -> None:
    hard = Hard(("--server-cmd", shlex.join(stdio_command(tmp_path / "log", **switches))), tmp_path / "log")
    quick = run(["-m", "kbp"], arguments, hard)
    called = len(hard.sent("prompts/get"))
    proper = run(["-c", PROPER], arguments, hard)
    assert quick == proper
    assert called == len(hard.sent("prompts/get")) - called, "the prompt was called more than once"
    assert not hard.is_alive()


def test_it_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    command = shlex.join(stdio_command(tmp_path / "log"))
    run_it = [sys.executable, "-X", "importtime", "-m", "kbp", *PLAIN, "--server-cmd", command]
    environment = {**os.environ, "PYTHONPATH": str(TESTS.parent / "cli")}
    done = subprocess.run(run_it, capture_output=True, text=True, env=environment, check=True)
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert loaded.isdisjoint(["mcp", "anyio", "asyncio", "httpx2", "pydantic", "typer", "yaml", "rich", "questionary"])


def test_a_result_goes_to_a_full_disk_as_an_error(tmp_path: Path) -> None:
    command = shlex.join(stdio_command(tmp_path / "log"))
    environment = {**os.environ, "PYTHONPATH": str(TESTS.parent / "cli")}
    with Path("/dev/full").open("wb") as full:
        run_it = [sys.executable, "-m", "kbp", *PLAIN, "--server-cmd", command]
        done = subprocess.run(run_it, stdout=full, stderr=subprocess.PIPE, env=environment)
    assert done.returncode == 2
    assert done.stderr == b"error: stdout cannot be written: no space left on device\n"


WRONG = ["sh -c 'x", "", "a | b", "no-such-program", "a\u00a0b"]


@pytest.mark.parametrize("command", WRONG)
def test_a_wrong_command_is_told_as_the_command_line_proper_tells_it(command: str, tmp_path: Path) -> None:
    hard = Hard(("--server-cmd", command), tmp_path / "log")
    assert run(["-m", "kbp"], PLAIN, hard) == run(["-c", PROPER], PLAIN, hard)
