"""Servers that are ruder than `hard_server.py`, and secrets that are nobody's business."""

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from conftest import Kbp
from live_servers import Peer, peers

SERVER = """
import json, sys, time

def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

QUESTION = {"message": "m", "requestedSchema": {"properties": {"x": {"type": "string"}}}}
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    result = {"capabilities": {"prompts": {}}, "prompts": [{"name": "p", "arguments": [{"name": "x"}]}]}
    if method is None or number is None:
        continue
    if IS_LEGACY and method == "server/discover":
        say(id=number, error={"code": -32601, "message": "no"})
        continue
    result |= {"protocolVersion": "2025-11-25"} if IS_LEGACY else {"supportedVersions": ["2026-07-28"]}
    is_get = method == "prompts/get"
    BODY
    say(id=number, result=result)
"""

MODERN, LEGACY = False, True
SILENT = "did not answer prompts/get within 1 seconds"
RUDENESS = {
    # what it does: on which kind of revision, the code, what is said
    "reads nothing more": (
        MODERN,
        "if method == 'prompts/list': say(id=number, result=result); time.sleep(60)",
        SILENT,
    ),
    "floods with notifications": (MODERN, "while is_get: say(method='notifications/x')", SILENT),
    "floods with no messages": (MODERN, "while is_get: print('x' * 1000, flush=True)", SILENT),
    "floods with pings": (LEGACY, "while is_get: say(id=7, method='ping')", "the server d"),
    "floods with questions": (
        LEGACY,
        "while is_get: say(id=7, method='elicitation/create', params=QUESTION)",
        "the server asks more often than it may (--max-rounds)",
    ),
    "answers with no object": (MODERN, "result = 5", "answered server/discover with no result"),
    "answers with nothing": (MODERN, "say(id=number); continue", "answered server/discover with no result"),
    "has an error that is none": (
        MODERN,
        "say(id=number, error='bad'); continue",
        "refused to start: it gives no reason (0)",
    ),
    "has an error without words": (
        MODERN,
        "if is_get: say(id=number, error={'code': 'x', 'message': None}); continue",
        "refused p: it gives no reason (0)",
    ),
    "asks for a list": (
        MODERN,
        "result |= {'resultType': 'input_required', 'inputRequests': ['x']} if is_get else {}",
        "wants more input and does not say which",
    ),
    "asks for what is null": (
        MODERN,
        "result |= {'resultType': 'input_required', 'inputRequests': {'q': None}} if is_get else {}",
        "asks for nothing, which kbp does not do",
    ),
    "lists what is no list": (MODERN, "result['prompts'] = {'name': 'p'}", "answered with no list of prompts"),
}


def written(tmp_path: Path, body: str, *, is_legacy: bool = False) -> str:
    """The command of a server that does something on each request."""
    server = tmp_path / "server.py"
    server.write_text(SERVER.replace("BODY", body).replace("IS_LEGACY", str(is_legacy)))
    return shlex.join([sys.executable, str(server)])


@pytest.mark.parametrize("name", RUDENESS)
def test_a_rude_server_ends_with_an_error(name: str, tmp_path: Path, kbp: Kbp) -> None:
    is_legacy, body, said = RUDENESS[name]
    options = ["--server-cmd", written(tmp_path, body, is_legacy=is_legacy), "--timeout", "1", "--answer", "x=1"]
    started = time.monotonic()
    result = kbp("render", "p", "-a", f"x={'y' * 1_000_000}", *options)
    assert time.monotonic() - started < 20
    assert (result.code, result.out) == (3, ""), result.err
    assert said in result.err


NAMELESS = """
    odd = [3, {}, {"name": "y", "required": "x"}]
    result["prompts"] += [7, None, {}, {"name": 5}, {"name": "q", "arguments": odd}]
"""


def test_entries_without_a_name_are_left_out_and_told(tmp_path: Path, kbp: Kbp) -> None:
    result = kbp("list", "--server-cmd", written(tmp_path, NAMELESS))
    assert result.out == "NAME\tARGUMENTS\tDESCRIPTION\np\tx\t\nq\ty\t\n"
    assert "warning: the server lists 4 without a name\n" in result.err


DIGITS = """
    if is_get:
        text = json.dumps(result)[:-1] + ', "messages": [], "n": ' + "9" * 5000
        print('{"jsonrpc":"2.0","id":%d,"result":%s}}' % (number, text), flush=True)
        continue
"""


def test_a_number_of_many_digits_is_no_fault(tmp_path: Path, kbp: Kbp) -> None:
    result = kbp("render", "p", "--result", "--server-cmd", written(tmp_path, DIGITS))
    assert result.code == 0, result.err
    assert result.out.endswith('"messages": [], "n": ' + "9" * 5000 + "}\n")


WORDS = [
    ("echo hello", "on stdout it wrote 1 line that is no message of MCP, the first: hello"),
    ("sh -c 'echo a; echo b; sleep 5'", "on stdout it wrote 2 lines that are no messages of MCP, the first: a"),
    ("cat", "the server repeats what it is sent: it is no MCP server"),
    ("sh -c 'exit 3'", "or write --server-cmd 'env NAME=VALUE COMMAND'"),
]


@pytest.mark.parametrize(("command", "said"), WORDS)
def test_a_program_that_is_no_server_is_told_by_what_it_wrote(command: str, said: str, kbp: Kbp) -> None:
    result = kbp("list", "--server-cmd", command, "--timeout", "1")
    assert result.code == 3
    assert said in result.err


def test_what_it_needs_of_the_environment_is_not_told_of_a_server_that_has_answered(tmp_path: Path, kbp: Kbp) -> None:
    result = kbp("render", "p", "--server-cmd", written(tmp_path, "sys.exit(3) if is_get else None"))
    assert "ended with exit code 3" in result.err
    assert "environment" not in result.err


# Secrets


@pytest.fixture
def http(tmp_path: Path) -> Iterator[Peer]:
    with ExitStack() as stack:
        yield peers("mcp", tmp_path, stack)


SECRETS = [
    ("list", "x", "--server", "http://user:s3cret@127.0.0.1:1/mcp?token=s3cret"),
    ("list", "--server", "http://127.0.0.1:1/mcp", "--header", "Authorization: Bearer s3cret"),
    ("server", "info", "http://user:s3cret@127.0.0.1:1/mcp?token=s3cret"),
]


@pytest.mark.parametrize("arguments", SECRETS)
def test_secrets_are_never_shown(arguments: tuple[str, ...], kbp: Kbp) -> None:
    result = kbp(*arguments)
    assert result.code == 3
    assert "s3cret" not in result.err


def test_the_line_that_would_help_has_no_secrets(http: Peer, kbp: Kbp) -> None:
    hard = http("--token", "s3cret")
    header = ["--header", "Authorization: Bearer s3cret"]
    for arguments in (("render", "nothing"), ("render", "greet"), ("show", "nothing"), ("list", "nothing")):
        result = kbp(*arguments, *header, *hard.options)
        assert result.code == 2
        assert "s3cret" not in result.err
        assert "Authorization: …" in result.err
