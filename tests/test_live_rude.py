"""Servers that are ruder than `hard_server.py`, and secrets that are nobody's business."""

import json
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
    open("NOTED", "a").write(line)
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
    text = SERVER.replace("BODY", body).replace("IS_LEGACY", str(is_legacy))
    server.write_text(text.replace("NOTED", str(tmp_path / "noted")))
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


BATCH = """
    row = [{"method": "notifications/x"}, {"id": number, "result": result}]
    print(json.dumps([{"jsonrpc": "2.0", **each} for each in row]), flush=True)
    continue
"""


def test_messages_that_come_in_a_row_are_taken_one_by_one(tmp_path: Path, kbp: Kbp) -> None:
    result = kbp("list", "-f", "names", "--server-cmd", written(tmp_path, BATCH, is_legacy=True))
    assert (result.code, result.out) == (0, "p\n"), result.err


ASKING = """
    if is_get: say(id="srv-1", method="ping"); say(id="srv-2", method="elicitation/create", params=QUESTION)
    result["messages"] = []
"""


@pytest.mark.parametrize(("is_legacy", "answered"), [(False, []), (True, ["srv-1", "srv-2"])])
def test_requests_of_a_server_are_answered_where_the_revision_has_them(
    is_legacy: bool, answered: list[str], tmp_path: Path, kbp: Kbp
) -> None:
    server = written(tmp_path, ASKING, is_legacy=is_legacy)
    assert kbp("render", "p", "--answer", "x=1", "--result", "--server-cmd", server).code == 0
    lines = [json.loads(line) for line in (tmp_path / "noted").read_text().splitlines()]
    assert sorted({each["id"] for each in lines if "method" not in each}) == answered


DECLARED = [
    ("2024-11-05", {}),
    ("2025-03-26", {}),
    ("2025-06-18", {"elicitation": {}}),
    ("2025-11-25", {"elicitation": {"form": {}}}),
]


@pytest.mark.parametrize(("revision", "declared"), DECLARED)
def test_what_is_declared_is_what_the_revision_has(
    revision: str, declared: dict[str, object], tmp_path: Path, kbp: Kbp
) -> None:
    hard = peers("stdio", tmp_path, ExitStack())()
    kbp("render", "plain", "--answer", "x=1", "--revision", revision, *hard.options)
    assert hard.sent("initialize")[0]["params"]["capabilities"] == declared


REFUSED_DISCOVERY = [
    ("-32603", [], "refused to start: database is down (-32603)"),
    ("-32603", ["--revision", "2026-07-28"], "refused to start: database is down (-32603)"),
    ("-32021", [], "refused to start: database is down (-32021)"),
    ("-32601", ["--revision", "2026-07-28"], "speaks an older revision than 2026-07-28"),
]


@pytest.mark.parametrize(("code", "options", "said"), REFUSED_DISCOVERY)
def test_a_discovery_that_is_refused_is_told_as_it_is(
    code: str, options: list[str], said: str, tmp_path: Path, kbp: Kbp
) -> None:
    body = f"say(id=number, error={{'code': {code}, 'message': 'database is down'}}); continue"
    result = kbp("list", "--server-cmd", written(tmp_path, body), *options)
    assert result.code == 3
    assert said in result.err


def test_a_question_that_no_answer_is_for_is_not_accepted(tmp_path: Path, kbp: Kbp) -> None:
    body = """
    ask = {"method": "elicitation/create", "params": {"message": "Delete everything?", "requestedSchema": {}}}
    result |= {"resultType": "input_required", "inputRequests": {"q": ask}} if is_get else {}
    """
    result = kbp("render", "p", "--answer", "other=1", "--server-cmd", written(tmp_path, body))
    assert result.code == 2
    assert "the server asks: Delete everything?\n  it can only be answered on a terminal" in result.err


EXACT = """
    if method == "prompts/list":
        text = '{"prompts": [{"name": "p", "n": 1.10, "big": 1e400, "a": 1, "a": 2}, {"name": "q"}]}'
        print('{"jsonrpc":"2.0","id":%d,"result":%s}' % (number, text), flush=True)
        continue
"""


def test_entries_of_a_list_come_out_as_they_are_written(tmp_path: Path, kbp: Kbp) -> None:
    server = written(tmp_path, EXACT)
    entry = '{"name": "p", "n": 1.10, "big": 1e400, "a": 1, "a": 2}'
    assert kbp("list", "-f", "jsonl", "--server-cmd", server).out == entry + '\n{"name": "q"}\n'
    for arguments in (("list", "-f", "json"), ("show", "p", "-f", "json")):
        out = kbp(*arguments, "--server-cmd", server).out
        assert '"n": 1.10,' in out
        assert '"big": 1e400,' in out
        assert out.count('"a": ') == 2


def test_a_message_without_a_role_has_none(tmp_path: Path, kbp: Kbp) -> None:
    body = 'result["messages"] = [{"content": {"type": "text", "text": "x"}}, {"role": "user", "content": {}}]'
    server = written(tmp_path, body)
    assert kbp("render", "p", "-f", "jsonl", "--server-cmd", server).out.startswith('{"content": {"type": "text"')
    assert kbp("render", "p", "--server-cmd", server).out.startswith("[no role]\nx\n")


DEEP = """
    if is_get:
        deep = "[" * DEPTH + "]" * DEPTH
        print('{"jsonrpc":"2.0","id":%d,"result":{"messages":[],"x":%s}}' % (number, deep), flush=True)
        continue
"""


@pytest.mark.parametrize("depth", [900, 100_000])
@pytest.mark.parametrize("format", ["json", "jsonl", "text"])
def test_what_is_nested_deep_comes_out_or_is_told(depth: int, format: str, tmp_path: Path, kbp: Kbp) -> None:
    server = written(tmp_path, DEEP.replace("DEPTH", str(depth)))
    started = time.monotonic()
    result = kbp("render", "p", "-f", format, "--server-cmd", server)
    assert time.monotonic() - started < 10
    if depth > 10_000:
        assert (result.code, "sent a message that is nested too deep" in result.err) == (3, True)
    else:
        assert result.code == 0, result.err
        assert len(result.out) < 300_000


ODD_RESULTS = [
    '[{"role": "user", "content": {"type": "text", "text": "a\\ud800b"}}]',
    '[{"role": "user", "content": {"type": "resource", "resource": null}}]',
    '[{"role": "user", "content": {"type": "resource", "resource": 3}}]',
    '[{"role": "user\\u202e", "content": {"type": "image\\u001b", "data": "x"}}]',
]


@pytest.mark.parametrize("messages", ODD_RESULTS)
@pytest.mark.parametrize("format", ["text", "markdown", "json", "jsonl", "openai", "anthropic"])
def test_an_odd_message_is_no_bug(messages: str, format: str, tmp_path: Path, kbp: Kbp) -> None:
    body = f"result['messages'] = json.loads({messages!r})"
    result = kbp("render", "p", "-f", format, "--server-cmd", written(tmp_path, body))
    assert result.code == 0, result.err
    assert "\u202e" not in result.err


ODD_LISTS = [
    ("result['ttlMs'] = 10 ** 400", 0, ""),
    ("result['ttlMs'] = float('nan')", 0, ""),
    ("result['nextCursor'] = {'a': 'b'}", 3, "names its next page by what is no text"),
    ("result['nextCursor'] = 5", 3, "names its next page by what is no text"),
    ("result['prompts'] = [{'name': 'p'}] * 1000", 0, "and 979 more like these"),
    ("result['prompts'] = [{'name': 'a\\ud800b'}]", 0, ""),
]


@pytest.mark.parametrize(("body", "code", "said"), ODD_LISTS)
def test_an_odd_list_is_no_bug(body: str, code: int, said: str, tmp_path: Path, kbp: Kbp) -> None:
    for format in ("names", "json", "jsonl", "table"):
        result = kbp("list", "-f", format, "--server-cmd", written(tmp_path, body))
        assert result.code == code, result.err
        assert said in result.err


def test_a_message_of_many_prefixes_takes_no_time(tmp_path: Path, kbp: Kbp) -> None:
    body = "if is_get: say(id=number, error={'code': 5, 'message': 'MCP error 5:' * 200000 + 'x'}); continue"
    started = time.monotonic()
    assert "refused p: x (5)" in kbp("render", "p", "--server-cmd", written(tmp_path, body)).err
    assert time.monotonic() - started < 5


def test_words_without_end_are_cut(tmp_path: Path, kbp: Kbp) -> None:
    body = "if is_get: say(id=number, error={'code': 5, 'message': 'y' * 5000000}); continue"
    assert len(kbp("render", "p", "--server-cmd", written(tmp_path, body)).err) < 50_000


def test_a_server_may_write_on_stderr_for_ever(tmp_path: Path, kbp: Kbp) -> None:
    body = "for _ in range(200 if is_get else 0): sys.stderr.write('x' * 1000000)"
    result = kbp("render", "p", "--result", "--server-cmd", written(tmp_path, body))
    assert result.code == 0, result.err


def test_what_a_server_started_and_left_is_ended_too(tmp_path: Path, kbp: Kbp) -> None:
    child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(61.5)"
    how = "stdout=-3, stderr=-3, stdin=-3"
    body = f"if is_get: import subprocess; subprocess.Popen([sys.executable, '-c', {child!r}], {how})"
    assert kbp("render", "p", "--result", "--server-cmd", written(tmp_path, body)).code == 0
    time.sleep(0.3)
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert b"time.sleep(61.5)" not in command.read_bytes(), "a child is left"
        except OSError:
            continue


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


def test_the_line_that_would_help_has_no_secrets_of_the_address(http: Peer, kbp: Kbp) -> None:
    address = http().options[1].replace("http://", "http://user:s3cret@") + "?token=s3cret"
    for arguments in (("render", "nothing"), ("render", "greet", "-f", "json"), ("list", "zzz")):
        result = kbp(*arguments, "--server", address)
        assert result.code == 2
        assert "s3cret" not in result.err
    assert "-f json" in kbp("render", "greet", "-f", "json", "--server", address).err
