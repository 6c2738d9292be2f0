"""`kbp serve` as a process: what goes over the wire on stdio and over HTTP, to each revision."""

import contextlib
import http.client
import json
import os
import queue
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from conftest import LIBRARY, Kbp, Tree
from serving import FORM, KBP, LEGACY, MODERN, REVISIONS, Json, Piped, Server, enveloped, environment, opening, running

from kbp.server.tokens import new_token, read_tokens

KB = """---
title: Debug it
description: d
arguments:
- {name: app, description: The workload, required: true}
- {name: level, required: true}
- {name: since, default: 1h}
model: x
---
Look at {{ app }} ({{ level }}) since {{ since }}.
"""
FILES = {
    "a/prompts/debug.md": KB,
    "a/prompts/plain.md": "---\ndescription: p\n---\nPlain.\n",
    "b/commands/free.md": "---\nargument-hint: '[low|high]'\n---\nGo $ARGUMENTS\n",
    "b/commands/broken.md": "---\nx: [\n---\n",
    "libraries.yaml": """plugins:
- {name: a, source: a, category: ops, tags: [x]}
- {name: b, source: b, category: dev, tags: [x, y]}
libraries:
- {name: l, plugins: [a]}
- {name: m, plugins: [b]}
- {name: far, plugins: [far]}
""".replace("libraries:", "- {name: far, source: 'git://elsewhere/x'}\nlibraries:")
    + "sources:\n- {name: git, url: 'git+https://example.test/x'}\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("served")
    for name, text in FILES.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("log"), "--library-config", str(folder / "libraries.yaml"), "-v") as server:
        yield server


DEBUG: Json = {
    "name": "l_debug",
    "description": "d",
    "arguments": [
        {"name": "app", "description": "The workload", "required": True},
        {"name": "level", "required": True},
        {"name": "since"},
    ],
}
LATER = {
    "title": "Debug it",
    "_meta": {
        "kbp/dialect": "kb",
        "kbp/defaults": {"since": "1h"},
        "kbp/library": "l",
        "kbp/category": "ops",
        "kbp/tags": ["x"],
    },
}


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_listed_prompt(revision: str, server: Server) -> None:
    client = server.wire(revision)
    result = client.result("prompts/list")
    assert result["prompts"][0] == {**DEBUG, **(LATER if revision >= "2025-06-18" else {})}
    assert [prompt["name"] for prompt in result["prompts"]] == ["l_debug", "l_plain", "m_free"]
    modern = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    rest = {key: value for key, value in result.items() if key not in ("prompts", "_meta")}
    assert rest == (modern if revision == MODERN else {})


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_prompt_is_given(revision: str, server: Server) -> None:
    result = server.wire(revision).result(
        "prompts/get", {"name": "l_debug", "arguments": {"app": "loki", "level": "high", "since": "", "other": "x"}}
    )
    result.pop("_meta", None)
    text = "Look at loki (high) since 1h.\n"
    modern = {"resultType": "complete"} if revision == MODERN else {}
    assert result == {
        "description": "d",
        "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
        **modern,
    }


@pytest.mark.parametrize("capabilities", [{}, FORM])
@pytest.mark.parametrize("revision", LEGACY)
def test_missing_arguments_are_all_named(revision: str, capabilities: Json, server: Server) -> None:
    error = server.wire(revision, capabilities=capabilities).error(
        "prompts/get", {"name": "l_debug", "arguments": {"app": ""}}
    )
    assert error["code"] == -32602
    assert error["message"] == "l_debug needs 2 arguments that were not given: app, level"
    assert error["data"] == {"prompt": "l_debug", "arguments": ["app", "level"]}


# Questions

CAN = [FORM, {"elicitation": {}}, {"elicitation": {"form": {}, "url": {}}}]
CANNOT = [{}, {"elicitation": {"url": {}}}, {"sampling": {}}]


@pytest.mark.parametrize("capabilities", CAN)
def test_missing_arguments_are_asked_for(capabilities: Json, server: Server) -> None:
    result = server.wire(capabilities=capabilities).result("prompts/get", {"name": "l_debug"})
    result.pop("_meta", None)
    schema = {
        "type": "object",
        "properties": {"app": {"type": "string", "description": "The workload"}, "level": {"type": "string"}},
        "required": ["app", "level"],
    }
    params = {"mode": "form", "message": "l_debug needs 2 arguments", "requestedSchema": schema}
    asked = {"arguments": {"method": "elicitation/create", "params": params}}
    assert result == {"resultType": "input_required", "inputRequests": asked}


@pytest.mark.parametrize("capabilities", CANNOT)
def test_who_cannot_be_asked_is_told(capabilities: Json, server: Server) -> None:
    error = server.wire(capabilities=capabilities).error("prompts/get", {"name": "l_debug"})
    assert (error["code"], error["data"]["arguments"]) == (-32602, ["app", "level"])


ANSWERS: list[tuple[Any, str]] = [
    ({"action": "accept", "content": {"app": "loki", "level": "high"}}, "Look at loki (high) since 1h.\n"),
    (
        {"action": "accept", "content": {"app": "loki", "level": "high", "since": "9h"}},
        "Look at loki (high) since 1h.\n",
    ),
    ({"action": "accept", "content": {"app": 5, "level": True}}, "Look at 5 (true) since 1h.\n"),
    ({"action": "accept", "content": {"app": "loki"}}, ""),
    ({"action": "accept", "content": {"app": "loki", "level": ""}}, ""),
    ({"action": "accept", "content": {"app": "loki", "level": ["a"]}}, ""),
    ({"action": "accept"}, ""),
    ({"action": "decline"}, ""),
    ({"action": "cancel"}, ""),
    ({"action": "decline", "content": {"app": "loki", "level": "high"}}, ""),
]


@pytest.mark.parametrize(("answer", "text"), ANSWERS)
def test_an_answer_joins_the_arguments(answer: Any, text: str, server: Server) -> None:
    params = {"name": "l_debug", "arguments": {}, "inputResponses": {"arguments": answer, "other": answer}}
    got = server.wire(capabilities=FORM).call("prompts/get", params)
    if text:
        assert got["result"]["messages"][0]["content"]["text"] == text
    else:
        assert got["error"]["code"] == -32602
        assert "level" in got["error"]["data"]["arguments"]


def test_what_was_given_stands_beside_the_answer(server: Server) -> None:
    answer = {"action": "accept", "content": {"level": "high", "app": "other"}}
    params = {"name": "l_debug", "arguments": {"app": "loki"}, "inputResponses": {"arguments": answer}}
    result = server.wire(capabilities=FORM).result("prompts/get", params)
    assert result["messages"][0]["content"]["text"] == "Look at loki (high) since 1h.\n"


def test_an_answer_to_another_question_is_none(server: Server) -> None:
    params = {"name": "l_debug", "inputResponses": {"x": {"action": "accept", "content": {"app": "a", "level": "b"}}}}
    assert server.wire(capabilities=FORM).result("prompts/get", params)["resultType"] == "input_required"


# Names and scopes

NAMES = [
    "nothing",
    "debug",
    "m_debug",
    "",
    "../a/prompts/debug",
    "l_debug.md",
    "l_debug\x00",
    "日本",
    "\x1b[31m",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
def test_an_unknown_prompt_is_refused(name: str, revision: str, server: Server) -> None:
    error = server.wire(revision).error("prompts/get", {"name": name})
    assert error["code"] == -32602
    assert len(error["message"]) < 400
    assert error["message"].startswith("there is no prompt")


def test_a_name_of_any_length_is_refused(server: Server) -> None:
    error = server.wire("2025-11-25").error("prompts/get", {"name": "x" * 1_000_000})
    assert error["code"] == -32602
    assert len(error["message"]) < 400


@pytest.mark.parametrize("revision", REVISIONS)
def test_what_is_out_of_scope_is_not_known(revision: str, server: Server) -> None:
    client = server.wire(revision, "?library=m")
    assert client.names() == ["m_free"]
    inside = client.error("prompts/get", {"name": "nothing"})
    outside = client.error("prompts/get", {"name": "l_plain"})
    assert outside["message"].replace("l_plain", "nothing") == inside["message"]
    assert outside["code"] == inside["code"] == -32602
    assert client.get("m_free", arguments="on") == "Go on\n"
    assert server.wire(revision, "?library=m", headers={"X-MCP-Library": "l"}).names() == ["l_debug", "l_plain"]


@pytest.mark.parametrize("method", ["prompts/list", "prompts/get", "tools/list", "resources/list", "server/discover"])
def test_an_unknown_scope_fails_every_request(method: str, server: Server) -> None:
    params = {"name": "l_plain"} if method == "prompts/get" else {}
    error = server.wire(query="?library=none").error(method, params)
    assert error["code"] == -32602
    assert "libraries: far, l, m" in error["message"]
    opened = server.wire("2025-11-25", "?tags=none").opened
    assert "tags: x, y" in opened["error"]["message"]


# The tool mirror


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_tools_give_what_the_prompts_give(revision: str, server: Server) -> None:
    hidden, client = server.wire(revision), server.wire(revision, "?prompts=off&library=l")
    assert hidden.result("tools/list")["tools"] == []
    by_header = server.wire(revision, headers={"X-MCP-Prompts": "off"})
    tools = client.result("tools/list")["tools"]
    assert by_header.result("tools/list")["tools"] == tools
    assert [tool["name"] for tool in tools] == ["list_prompts", "get_prompt"]
    assert ("title" in tools[0]) is (revision >= "2025-06-18")
    assert ("annotations" in tools[0]) is (revision >= "2025-03-26")
    listed = client.result("tools/call", {"name": "list_prompts", "arguments": {}})
    assert json.loads(listed["content"][0]["text"])["prompts"] == client.result("prompts/list")["prompts"]
    assert ("structuredContent" in listed) is (revision >= "2025-06-18")
    arguments = {"name": "l_debug", "arguments": {"app": "loki", "level": 5, "since": None}}
    got = json.loads(client.result("tools/call", {"name": "get_prompt", "arguments": arguments})["content"][0]["text"])
    assert got["messages"][0]["content"]["text"] == "Look at loki (5) since 1h.\n"
    assert got["description"] == "d"
    # callable while it is hidden
    assert "l_debug" in hidden.result("tools/call", {"name": "list_prompts"})["content"][0]["text"]


TOOL_FAULTS: list[tuple[str, Any, str]] = [
    ("get_prompt", {"name": "l_debug"}, "needs 2 arguments"),
    ("get_prompt", {"name": "m_free"}, "there is no prompt"),
    ("get_prompt", {}, "name is no text"),
    ("get_prompt", {"name": "l_debug", "arguments": []}, "needs 2"),
    ("get_prompt", {"name": "l_debug", "arguments": ["x"]}, "no object"),
    ("get_prompt", {"name": "l_debug", "arguments": {"app": {}}}, "app"),
    ("list_prompts", {"cursor": 5}, "cursor"),
    ("list_prompts", {"cursor": "%%"}, "cursor"),
    ("nothing", {}, "there is no tool"),
]


@pytest.mark.parametrize(("tool", "arguments", "fault"), TOOL_FAULTS)
def test_a_mistake_is_an_error_of_the_tool(tool: str, arguments: Any, fault: str, server: Server) -> None:
    client = server.wire(query="?prompts=off&library=l", capabilities=FORM)
    result = client.result("tools/call", {"name": tool, "arguments": arguments})
    assert result["isError"] is True  # and no question
    assert fault in result["content"][0]["text"]


# Completion, capabilities, and what clients ask for whatever is declared


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-11-25", MODERN])
def test_values_are_completed(revision: str, server: Server) -> None:
    client = server.wire(revision)

    def values(name: str, argument: str, value: str) -> list[str]:
        params = {"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": argument, "value": value}}
        found: list[str] = client.result("completion/complete", params)["completion"]["values"]
        return found

    assert values("l_debug", "since", "") == ["1h"]
    assert values("l_debug", "since", "2") == []
    assert values("l_debug", "app", "") == []
    assert values("m_free", "arguments", "") == ["low", "high"]
    assert values("m_free", "none", "") == []
    params = {"ref": {"type": "ref/prompt", "name": "none"}, "argument": {"name": "a", "value": ""}}
    assert client.error("completion/complete", params)["code"] == -32602


@pytest.mark.parametrize("revision", LEGACY)
def test_a_handshake_declares_what_is_there(revision: str, server: Server) -> None:
    opened = server.wire(revision).opened["result"]
    assert opened["protocolVersion"] == revision
    declared = opened["capabilities"]
    assert declared["prompts"] == {"listChanged": True}
    assert ("completions" in declared) is (revision != LEGACY[0])
    assert "logging" not in declared


def test_discovery_declares_what_is_there(server: Server) -> None:
    result = server.wire().result("server/discover")
    assert result["supportedVersions"] == [MODERN]
    assert result["capabilities"]["prompts"] == {"listChanged": True}
    assert result["capabilities"]["tools"] == {"listChanged": False}


@pytest.mark.parametrize("revision", REVISIONS)
def test_lists_of_other_things_are_empty(revision: str, server: Server) -> None:
    client = server.wire(revision)
    assert client.result("tools/list")["tools"] == []
    assert client.result("resources/list")["resources"] == []
    assert client.result("resources/templates/list")["resourceTemplates"] == []


# What operators see


def test_health_says_what_is_served_and_what_not(server: Server) -> None:
    health = server.health()
    assert health["status"] == "ok"  # what lies elsewhere, and a file that was never good, are known
    assert health["counts"] == {"libraries": 3, "plugins": 2, "prompts": 3}
    assert health["libraries"]["l"] == {"prompts": 2, "plugins": ["a"], "skipped": [], "conflicts": []}
    (far,) = health["libraries"]["far"]["skipped"]
    assert far["path"] == "far"
    assert "nothing is fetched" in far["reason"]
    assert health["plugins"]["b"]["category"] == "dev"
    assert health["plugins"]["b"]["tags"] == ["x", "y"]
    (skipped,) = health["plugins"]["b"]["skipped"]
    assert (skipped["path"], skipped["line"]) == ("commands/broken.md", 2)
    assert "YAML" in skipped["reason"]


def test_a_folder_that_goes_is_told_without_its_path(tree: Tree) -> None:
    plugins = "plugins: [{name: p, source: p}, {name: gone, source: gone}]\n"
    top = tree({"p/prompts/a.md": "A\n", "l.yaml": plugins + "libraries: [{name: l, plugins: [p, gone]}]\n"})
    (top / "p/prompts/l.md").symlink_to("/etc/hostname")
    with running(top, "--library-config", str(top / "l.yaml")) as server:
        health = server.health()
        assert health["status"] == "degraded"
        assert health["plugins"]["gone"]["status"] == "error"
        (top / "p").rename(top / "away")
        wait_for("a plugin that is gone", lambda: server.health()["plugins"]["p"]["status"] == "error")
        assert server.wire().get("l_a") == "A\n"
        text = server.get("/health")[1].decode()
        assert str(top) not in text
        assert "/etc" not in text
        assert "warning skipped" in server.told("there is no folder p")


def test_ready_and_metrics(server: Server) -> None:
    client = server.wire()
    client.get("l_plain")
    client.call("prompts/get", {"name": "no such prompt"})
    client.call("no/such/method")
    assert server.get("/ready") == (200, b"ready\n")
    text = server.get("/metrics")[1].decode()
    assert 'kbp_prompt_gets_total{prompt="l_plain"}' in text
    assert 'kbp_requests_total{method="prompts/get",outcome="-32602"}' in text
    assert 'method="other"' in text
    assert "no such prompt" not in text
    assert "kbp_prompts 3.0" in text


def test_requests_are_told_without_their_values(server: Server) -> None:
    since = len(server.log.read_text())
    server.wire().get("l_debug", app="a secret", level="high")
    said = server.told("prompts/get", since=since)
    assert "prompt=l_debug" in said
    assert "secret" not in said
    assert re.search(r"ms=\d", said)


def test_dropped_keys_are_told_once_to_those_who_want_more(server: Server) -> None:
    assert server.log.read_text().count("dropped path=prompts/debug.md keys=model") == 1


# Over stdio


@pytest.mark.parametrize("revision", LEGACY)
def test_stdio_of_older_revisions(revision: str, folder: Path) -> None:
    with Piped(str(folder / "a/prompts")) as client:
        assert client.open(revision)["result"]["protocolVersion"] == revision
        listed = client.call("prompts/list")["result"]["prompts"]
        assert [prompt["name"] for prompt in listed] == ["debug", "plain"]
        assert ("title" in listed[0]) is (revision >= "2025-06-18")
        got = client.call("prompts/get", {"name": "plain"})["result"]
        assert got["messages"][0]["content"]["text"] == "Plain.\n"
        assert client.call("prompts/get", {"name": "debug"})["error"]["code"] == -32602


def test_stdio_of_the_modern_revision(folder: Path) -> None:
    with Piped(str(folder / "a/prompts"), "--library", "ops") as client:
        assert client.call("server/discover", enveloped({}, {}))["result"]["supportedVersions"] == [MODERN]
        listed = client.call("prompts/list", enveloped({}, {}))["result"]
        assert [prompt["name"] for prompt in listed["prompts"]] == ["ops_debug", "ops_plain"]
        assert listed["prompts"][0]["_meta"]["kbp/library"] == "ops"
        asked = client.call("prompts/get", enveloped({"name": "ops_debug"}, FORM))["result"]
        assert asked["resultType"] == "input_required"


def test_stdout_holds_messages_only_and_the_end_of_stdin_ends_it(folder: Path) -> None:
    with Piped(str(folder / "a/prompts"), "-v") as client:
        assert client.process.stdin is not None
        client.send({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": enveloped({}, {})})
        client.read()
        client.process.stdin.close()
        out, err = client.process.stdout, client.process.stderr
        assert out is not None
        assert err is not None
        assert (out.read(), client.process.wait(10)) == (b"", 0)
        told = err.read().decode().splitlines()
        assert "serving prompts=2" in told[0]
        assert any("method=server/discover" in line for line in told)


def test_what_is_under_way_is_answered_after_the_last_of_stdin(folder: Path) -> None:
    lines = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening("2025-11-25", {})}]
    lines += [{"jsonrpc": "2.0", "method": "notifications/initialized"}]
    lines += [{"jsonrpc": "2.0", "id": at, "method": "prompts/get", "params": {"name": "plain"}} for at in range(1, 21)]
    given = "".join(json.dumps(line) + "\n" for line in lines).encode()
    command = [*KBP, "serve", str(folder / "a/prompts")]
    done = subprocess.run(command, input=given, capture_output=True, env=environment(), timeout=30)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert {answer["id"] for answer in answers if "result" in answer} == set(range(21))


def test_a_client_that_reads_no_answers_ends_it(folder: Path) -> None:
    with Piped(str(folder / "a/prompts")) as client:
        client.open("2025-11-25")
        assert client.process.stdout is not None
        client.process.stdout.close()
        client.send({"jsonrpc": "2.0", "id": 5, "method": "ping"})
        assert client.process.wait(10) == 0


ODD: list[Json] = [
    {"method": "notifications/cancelled", "params": {"requestId": [1]}},
    {"method": "notifications/cancelled", "params": {}},
    {"method": "notifications/cancelled"},
    {"method": "ping", "id": {}},
    {"method": "ping", "id": None},
    {"id": 7, "result": {}},
    {"method": "notifications/none", "params": {"x": "\ud800"}},
]


def test_odd_messages_do_not_end_it(folder: Path) -> None:
    with Piped(str(folder / "a/prompts")) as client:
        client.open("2025-11-25")
        for message in ODD:
            client.send({"jsonrpc": "2.0", **message})
        client.write(b"no json\n\xff\xfe\n[]\n" + b"x" * 100_000 + b"\n")
        assert "result" in client.call("ping", number=99)


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_without_stdin_or_stdout_there_is_no_client(closed: str, folder: Path) -> None:
    command = f"{shlex.join([*KBP, 'serve', str(folder / 'a/prompts')])} {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment(), timeout=30)
    assert done.returncode == 2
    assert "one of them is closed" in done.stderr


def test_requests_wait_while_answers_are_not_read(folder: Path) -> None:
    with Piped(str(folder / "a/prompts")) as client:
        client.open("2025-11-25")
        assert client.process.stdin is not None
        os.set_blocking(client.process.stdin.fileno(), False)
        line = json.dumps({"jsonrpc": "2.0", "id": 5, "method": "prompts/list", "params": {}}).encode() + b"\n"
        sent, end = 0, time.monotonic() + 6
        while time.monotonic() < end and sent < 40_000_000:
            number = str(sent).encode()
            try:
                sent += os.write(client.process.stdin.fileno(), line.replace(b'"id": 5', b'"id": ' + number))
            except BlockingIOError:
                time.sleep(0.05)
        assert sent < 250_000


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once(number: signal.Signals, folder: Path) -> None:
    with Piped(str(folder / "a/prompts")) as client:
        client.call("server/discover", enveloped({}, {}))
        client.process.send_signal(number)
        assert client.process.wait(5) == 128 + number


def test_a_folder_is_served_with_all_its_conventions(tmp_path: Path) -> None:
    with Piped(cwd=LIBRARY) as client:
        client.open("2025-11-25")
        names = {prompt["name"] for prompt in client.call("prompts/list")["result"]["prompts"]}
    assert {"debug", "incident", "review", "notes"} <= names  # prompts/, .claude/commands, .github/prompts, deeper ones


def test_the_user_s_own_folders_are_not_served(home: Path, tmp_path: Path) -> None:
    for name in (".claude/commands/mine.md", "config/kbp/prompts/own.md"):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text("x\n")
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/a.md").write_text("x\n")
    with Piped(cwd=tmp_path) as client:
        client.open("2025-11-25")
        assert [prompt["name"] for prompt in client.call("prompts/list")["result"]["prompts"]] == ["a"]


# Live files


def wait_for(what: str, is_so: Any, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def test_files_are_followed(tree: Tree) -> None:
    top = tree({"lib/prompts/a.md": "A\n"})
    with running(top, str(top / "lib")) as server:
        client = server.wire()
        assert client.get("a") == "A\n"
        (top / "lib/prompts/a.md").write_text("B\n")
        assert client.get("a") == "B\n"
        (top / "lib/prompts/b.md").write_text("---\narguments: [{name: x, required: true}]\n---\n{{ x }}\n")
        wait_for("a new prompt", lambda: client.names() == ["a", "b"])
        assert client.error("prompts/get", {"name": "b"})["code"] == -32602
        (top / "lib/prompts/b.md").write_text("---\narguments: [{name: y, default: z}]\n---\n{{ y }}\n")
        wait_for("a new declaration", lambda: client.call("prompts/get", {"name": "b"}).get("result") is not None)
        assert client.get("b") == "z\n"
        (top / "lib/prompts/b.md").write_text("---\narguments: 5\n---\n")
        assert client.get("b") == "z\n"
        wait_for("a broken file in /health", lambda: server.health()["status"] == "degraded")
        assert server.health()["kept"][0]["path"] == "lib/prompts/b.md"
        (top / "lib/prompts/b.md").unlink()
        wait_for("a prompt that is gone", lambda: client.names() == ["a"])
        (top / "lib").rename(top / "gone")
        wait_for("a folder that is gone", lambda: bool(server.health()["errors"]))
        assert client.get("a") == "B\n"
        (top / "gone").rename(top / "lib")
        wait_for("a folder that is back", lambda: not server.health()["errors"])


def test_declarations_stay_without_watching_until_a_hangup(tree: Tree) -> None:
    top = tree({"lib/prompts/a.md": "A\n"})
    with running(top, str(top / "lib"), "--no-watch") as server:
        client = server.wire()
        (top / "lib/prompts/b.md").write_text("B\n")
        time.sleep(1.5)
        assert client.names() == ["a"]
        server.process.send_signal(signal.SIGHUP)
        wait_for("a new prompt", lambda: client.names() == ["a", "b"])
        server.told("read anew")


class Events:
    """The messages of a stream of events, which is open when this is made."""

    def __init__(self, server: Server, method: str, body: Json | None, headers: dict[str, str]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        sent = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json", **headers}
        self._connection.request(method, "/mcp", json.dumps(body).encode() if body else None, sent)
        self._response = self._connection.getresponse()
        assert self._response.status == 200, self._response.read()
        self._messages: queue.Queue[Json | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in self._response:
                if line.startswith(b"data:"):
                    self._messages.put(json.loads(line[5:]))
        self._messages.put(None)

    def next(self, seconds: float = 20.0) -> Json | None:
        """The next message; None at the end of the stream."""
        return self._messages.get(timeout=seconds)

    def method(self) -> Any:
        """The method of the next message."""
        message = self.next()
        assert message is not None, "the stream ended"
        return message["method"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        sock = self._connection.sock
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        self._reader.join(10)
        self._response.close()
        self._connection.close()


def test_modern_clients_are_told_of_changes(tree: Tree) -> None:
    top = tree({"lib/prompts/a.md": "A\n"})
    with running(top, str(top / "lib")) as server:
        params = enveloped({"notifications": {"promptsListChanged": True}}, {})
        body = {"jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": params}
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "subscriptions/listen"}
        with Events(server, "POST", body, headers) as stream:
            assert stream.method() == "notifications/subscriptions/acknowledged"
            (top / "lib/prompts/a.md").write_text("A, edited\n")  # of the body alone nobody need be told
            time.sleep(1.5)
            (top / "lib/prompts/b.md").write_text("B\n")
            assert stream.method() == "notifications/prompts/list_changed"
            assert server.wire().names() == ["a", "b"]
            server.process.send_signal(signal.SIGTERM)
            last = stream.next()
            assert last is not None
            assert last["id"] == 7  # ended in order
            assert server.process.wait(10) == 128 + signal.SIGTERM


def test_older_clients_are_told_of_changes(tree: Tree) -> None:
    top = tree({"lib/prompts/a.md": "A\n"})
    with running(top, str(top / "lib")) as server:
        client = server.wire("2025-11-25")
        headers = {"Mcp-Session-Id": client.session, "MCP-Protocol-Version": "2025-11-25"}
        with Events(server, "GET", None, headers) as stream:
            time.sleep(0.5)
            (top / "lib/prompts/b.md").write_text("B\n")
            assert stream.method() == "notifications/prompts/list_changed"
            assert client.names() == ["a", "b"]


def test_a_stream_ends_for_a_token_that_is_gone(tree: Tree) -> None:
    first, line = new_token("first")
    second, other = new_token("second")
    top = tree({"lib/prompts/a.md": "A\n", "tokens": f"{line}\n{other}\n"})
    with running(top, str(top / "lib"), "--token-file", str(top / "tokens")) as server:
        client = server.wire("2025-11-25", headers={"Authorization": f"Bearer {first}"})
        headers = {"Mcp-Session-Id": client.session, "MCP-Protocol-Version": "2025-11-25", **client.headers}
        with Events(server, "GET", None, headers) as stream:
            (top / "tokens").write_text(f"{other}\n")
            server.process.send_signal(signal.SIGHUP)
            server.told("tokens read")
            (top / "lib/prompts/b.md").write_text("B\n")
            assert stream.next() is None
        (top / "tokens").unlink()
        server.process.send_signal(signal.SIGHUP)
        server.told("the tokens before still hold")
        health = json.loads(server.get("/health", Authorization=f"Bearer {second}")[1])
        assert health["status"] == "degraded"
        assert "token file" in health["errors"][0]


def test_a_link_that_is_pointed_elsewhere_counts_after_a_hangup(tree: Tree) -> None:
    top = tree({"one/prompts/a.md": "one\n", "two/prompts/a.md": "two\n"})
    (top / "current").symlink_to("one")
    with running(top, str(top / "current")) as server:
        client = server.wire()
        assert client.get("a") == "one\n"
        (top / "new").symlink_to("two")
        (top / "new").replace(top / "current")
        time.sleep(1.5)
        assert client.get("a") == "one\n"
        server.process.send_signal(signal.SIGHUP)
        wait_for("the other folder", lambda: client.get("a") == "two\n")


def test_hangups_at_any_time_are_survived(tree: Tree) -> None:
    top = tree({"lib/prompts/a.md": "A\n"})
    with running(top, str(top / "lib"), "--no-watch") as server:
        for _ in range(200):
            server.process.send_signal(signal.SIGHUP)
        (top / "lib/prompts/b.md").write_text("B\n")
        server.process.send_signal(signal.SIGHUP)
        wait_for("a new prompt", lambda: server.wire().names() == ["a", "b"])
        assert server.log.read_text().count("read anew") < 20


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25"])
def test_changes_are_told_over_stdio(revision: str, tree: Tree) -> None:
    top = tree({"lib/prompts/a.md": "A\n"})
    with Piped(str(top / "lib"), "--watch") as client:
        client.open(revision)
        assert len(client.call("prompts/list")["result"]["prompts"]) == 1
        (top / "lib/prompts/b.md").write_text("B\n")
        assert client.read() == {"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"}


# The command line

FAULTS: list[tuple[list[str], str]] = [
    (["--http", "nonsense"], "HOST:PORT"),
    (["--http", "127.0.0.1:99999"], "HOST:PORT"),
    (["--http", "192.0.2.1:0"], "--http 192.0.2.1:0"),
    (["--http", "http://127.0.0.1:8000"], "without http://"),
    (["--allowed-host", "x"], "--http"),
    (["--token-file", "x"], "--http"),
    (["--http", "127.0.0.1:0", "--allowed-host", "bücher.example"], "ASCII"),
    (["--http", "127.0.0.1:0", "--allowed-host", ":80"], "ASCII"),
    (["--http", "127.0.0.1:0", "--allowed-host", "user@h"], "ASCII"),
    (["--http", "127.0.0.1:0", "--allowed-origin", "https://*.example"], "https://app.example"),
    (["--new-token", "x", "--print-config", "claude"], "give one of them"),
    (["--http", "127.0.0.1:0", "--allowed-host", "http://x"], "without http://"),
    (["--http", "127.0.0.1:0", "--allowed-origin", "x"], "https://app.example"),
    (["--http", "127.0.0.1:0", "--token-file", "none"], "none"),
    (["--log-format", "jsn"], "did you mean 'json'"),
    (["--print-config", "vsc"], "vscode"),
    (["--new-token", "a b"], "letter or digit"),
    (["-"], "cannot be served"),
    (["nowhere"], "nowhere"),
    (["--library-config", "none.yaml"], "none.yaml"),
    (["--library-config", "x", "--library", "y"], "--library-config says"),
    (["--library", " x"], "--library"),
]


@pytest.mark.parametrize(("options", "fault"), FAULTS)
def test_a_wrong_command_line(options: list[str], fault: str, kbp: Kbp, tree: Tree) -> None:
    done = kbp("serve", *options, cwd=tree({"prompts/a.md": "x\n"}))
    assert done.code == 2
    assert fault in done.err
    assert done.out == ""


def test_nothing_to_serve(kbp: Kbp, tmp_path: Path) -> None:
    done = kbp("serve", cwd=tmp_path)
    assert done.code == 2
    assert "no prompt files found" in done.err


def test_an_address_that_is_taken(server: Server, kbp: Kbp, folder: Path) -> None:
    done = kbp("serve", str(folder / "a"), "--http", f"127.0.0.1:{server.port}")
    assert done.code == 2
    assert "in use" in done.err


def test_a_token_is_made(kbp: Kbp, tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    first = kbp("serve", "--token-file", path, "--new-token", "ci")
    second = kbp("serve", "--token-file", path, "--new-token", "me")
    assert (first.code, second.code) == (0, 0)
    assert path.stat().st_mode & 0o777 == 0o600
    lines = path.read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["ci", "me"]
    assert first.out.strip() not in path.read_text()
    without = kbp("serve", "--new-token", "x", "-q")
    assert without.out.startswith("kbp_")
    assert "x sha256:" in without.err
    path.write_text("nonsense\n")
    refused = kbp("serve", "--token-file", path, "--new-token", "x")
    assert (refused.code, refused.out) == (2, "")
    assert path.read_text() == "nonsense\n"
    path.write_text("# who may come in")
    assert kbp("serve", "--token-file", path, "--new-token", "x").code == 0
    assert path.read_text().startswith("# who may come in\nx sha256:")
    path.unlink()
    os.mkfifo(path)
    assert "not a regular file" in kbp("serve", "--token-file", path, "--new-token", "x").err
    assert "not a regular file" in kbp("serve", "--http", ":0", "--token-file", path).err
    assert "not a regular file" in kbp("serve", "--library-config", path).err


def test_tokens_that_are_made_at_once_are_all_let_in(tmp_path: Path) -> None:
    command = [*KBP, "serve", "--token-file", "tokens", "--new-token", "x"]
    made = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, env=environment()) for _ in range(6)]
    printed = [process.communicate()[0].decode().strip() for process in made]
    found = read_tokens(tmp_path / "tokens")
    assert all(found.name_of(token) == "x" for token in printed)


def test_a_printed_configuration_starts_the_server(kbp: Kbp, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tree({"lib/prompts/a.md": "A\n", "-odd/prompts/b.md": "B\n"})
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    cases: list[tuple[list[str], str, str]] = [
        (["lib", "--library", "ops"], "ops", "ops_a"),
        (["--", "-odd"], "kbp", "b"),
        ([], "kbp", "a"),
    ]
    for options, server, prompt in cases:
        for client, path in (("claude", ".mcp.json"), ("vscode", ".vscode/mcp.json")):
            cwd = top / "lib" if not options else top
            done = kbp("serve", "--print-config", client, *options, cwd=cwd)
            assert done.code == 0, done.err
            project = top / "client"
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            (project / path).write_text(done.out)
            (project / ".git").mkdir(exist_ok=True)
            listed = kbp("list", "--server", server, "--yes", "-f", "names", cwd=project)
            assert listed.out.split() == [prompt], (options, done.out, listed.err)
            (project / path).unlink()


def test_a_printed_configuration_of_http(kbp: Kbp, tmp_path: Path) -> None:
    assert kbp("serve", "--token-file", "t", "--new-token", "ci", cwd=tmp_path).code == 0

    def printed(client: str, *options: str) -> Any:
        return json.loads(kbp("serve", "--print-config", client, *options, cwd=tmp_path).out)

    headers = {"Authorization": "Bearer ${KBP_TOKEN}"}
    entry = {"type": "http", "url": "http://127.0.0.1:8000/mcp", "headers": headers}
    assert printed("json", "--http", "0.0.0.0:8000", "--token-file", "t") == entry
    vscode = printed("vscode", "--http", "[::1]:1", "--token-file", "t")
    assert vscode["servers"]["kbp"]["url"] == "http://[::1]:1/mcp"
    assert vscode["inputs"][0]["password"] is True
    behind = printed("json", "--http", ":8000", "--allowed-host", "prompts.example")
    assert behind["url"] == "https://prompts.example/mcp"


def test_what_cannot_be_served_is_not_printed(kbp: Kbp, tmp_path: Path) -> None:
    for options in (["nowhere"], ["--library-config", "none.yaml"], ["--http", ":1", "--token-file", "none"], []):
        done = kbp("serve", "--print-config", "claude", *options, cwd=tmp_path)
        assert (done.code, done.out) == (2, ""), options


def test_a_printed_configuration_keeps_the_settings_of_the_project(kbp: Kbp, tree: Tree) -> None:
    top = tree({"kbp.toml": 'exclude = ["**/draft*"]\n', "notes/a.md": "A\n", "notes/draft-b.md": "B\n"})
    entry = json.loads(kbp("serve", "notes", "--print-config", "json", "-v", cwd=top).out)
    assert entry["args"][-5:] == ["-C", str(top), "-v", "serve", str(top / "notes")]
    with Piped(cwd=Path("/"), command=[*KBP, *entry["args"][-5:]]) as client:
        client.open("2025-11-25")
        assert [prompt["name"] for prompt in client.call("prompts/list")["result"]["prompts"]] == ["a"]


def test_logs_as_json(tree: Tree) -> None:
    top = tree({"lib/prompts/a.md": "A\n", "lib/prompts/b.md": "---\nx: [\n---\n"})
    with running(top, str(top / "lib"), "--log-format", "json") as server:
        server.wire().get("a")
        server.told("prompts/get")
        lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    by_event = {line["event"]: line for line in lines}
    assert by_event["serving"]["prompts"] == 1
    assert (by_event["skipped"]["path"], by_event["skipped"]["line"]) == ("lib/prompts/b.md", 2)
    assert by_event["request"]["prompt"] == "a"
    assert all({"time", "level", "event"} <= line.keys() for line in lines)


def test_pages_hold_a_thousand(tree: Tree) -> None:
    top = tree({f"lib/prompts/p{number:05}.md": "x\n" for number in range(2500)})
    with running(top, str(top / "lib"), "--no-watch") as server:
        for revision in ("2025-11-25", MODERN):
            client = server.wire(revision)
            first = client.result("prompts/list")
            assert len(first["prompts"]) == 1000
            assert client.names() == [f"p{number:05}" for number in range(2500)]
            for cursor in ("", "%%", "AAA", "a" * 10_000):
                error = client.call("prompts/list", {"cursor": cursor})
                assert "error" not in error or error["error"]["code"] == -32602
