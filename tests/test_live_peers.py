"""Servers that others made: the reference server of npm on stdio and over HTTP, and one made with FastMCP."""

import json
import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import TESTS, Kbp
from node_tools import installed

import kbp as api

EVERYTHING = "@modelcontextprotocol/server-everything@2026.8.31"
PROMPTS = ["simple-prompt", "args-prompt", "completable-prompt", "resource-prompt"]


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of the reference server, installed when it is not there."""
    return [str(installed(EVERYTHING, folder="everything") / "mcp-server-everything")]


@pytest.fixture(scope="session", params=["stdio", "http"])
def options(request: pytest.FixtureRequest, everything: list[str]) -> Iterator[list[str]]:
    """The options of kbp that name the reference server."""
    if request.param == "stdio":
        yield ["--server-cmd", shlex.join([*everything, "stdio"])]
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PORT": str(port)}
    with subprocess.Popen([*everything, "streamableHttp"], env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for_port(port)
            yield ["--server", f"http://127.0.0.1:{port}/mcp"]
        finally:
            process.kill()


def _wait_for_port(port: int, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < end, "the reference server does not listen"
            time.sleep(0.05)
        else:
            return


def test_the_reference_server_is_listed(options: list[str], kbp: Kbp) -> None:
    assert kbp("list", "-f", "names", *options).out.split() == PROMPTS
    info = json.loads(kbp("server", "info", "-f", "json", *options).out)
    assert info["revision"] == "2025-11-25"
    assert info["serverInfo"]["name"] == "mcp-servers/everything"


CALLS = [
    ("simple-prompt", [], "This is a simple prompt without arguments.\n"),
    ("args-prompt", ["-a", "city=Rome"], "What's weather in Rome?\n"),
    ("args-prompt", ["Rome", "Lazio"], "What's weather in Rome, Lazio?\n"),
    ("completable-prompt", ["Engineering", "Alice"], "Please promote Alice to the head of the Engineering team.\n"),
]


@pytest.mark.parametrize(("name", "values", "expected"), CALLS)
def test_its_prompts_are_called(options: list[str], name: str, values: list[str], expected: str, kbp: Kbp) -> None:
    assert kbp("render", name, *values, *options).out == expected


def test_its_resource_is_embedded(options: list[str], kbp: Kbp) -> None:
    result = json.loads(kbp("render", "resource-prompt", "Text", "1", "-f", "json", *options).out)
    kinds = [message["content"]["type"] for message in result["messages"]]
    assert kinds == ["text", "resource"]
    text = kbp("render", "resource-prompt", "Text", "1", *options).out
    assert "\n\n[resource demo://resource/dynamic/text/1, text/plain]\nResource 1: " in text


def test_its_refusals_are_told(options: list[str], kbp: Kbp) -> None:
    for arguments in (("resource-prompt", "Nothing", "1"), ("args-prompt", "--allow-unknown")):
        result = kbp("render", *arguments, *options)
        assert (result.code, result.out) == (3, "")
        assert f"refused {arguments[0]}: " in result.err


def test_it_completes_values(options: list[str]) -> None:
    server = options[1] if options[0] == "--server" else shlex.split(options[1])
    with api.connect(server) as client:
        assert client.complete("completable-prompt", "department", "E") == ["Engineering"]
        assert client.complete("completable-prompt", "name", "", {"department": "Sales"}) == ["David", "Eve", "Frank"]
        assert client.complete("simple-prompt", "nothing", "") == []
        with pytest.raises(api.Refusal) as refused:
            client.get_prompt("no-such-prompt")
        assert refused.value.code == -32602


FAST = ["--server-cmd", shlex.join([sys.executable, str(TESTS / "fast_server.py")])]


def test_a_server_made_with_fastmcp(kbp: Kbp) -> None:
    listed = json.loads(kbp("list", "-f", "json", *FAST).out)["prompts"]
    assert [(prompt["name"], prompt.get("title")) for prompt in listed] == [("greet", "Greet somebody"), ("talk", None)]
    assert kbp("render", "greet", "Ada", *FAST).out == "Greet Ada in a warm tone.\n"
    assert kbp("render", "talk", *FAST).out == "[user]\n2+2?\n\n[assistant]\n4\n\n[user]\n3+3?\n"
    assert kbp("render", "greet", *FAST).code == 2
    assert kbp("show", "greet", *FAST).out.startswith("greet — A greeting\ntitle     Greet somebody\nserver    fast (")


@pytest.mark.parametrize("revision", ["legacy", "2025-06-18", "2026-07-28"])
def test_a_server_made_with_fastmcp_on_other_revisions(revision: str, kbp: Kbp) -> None:
    result = kbp("render", "greet", "Ada", "dry", "--revision", revision, *FAST)
    assert (result.code, result.out) == (0, "Greet Ada in a dry tone.\n"), result.err


def test_no_program_is_left(tmp_path: Path, kbp: Kbp) -> None:
    copy = tmp_path / "one_of_its_own.py"
    copy.write_text((TESTS / "fast_server.py").read_text())
    assert kbp("list", "--server-cmd", shlex.join([sys.executable, str(copy)])).code == 0
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert str(copy).encode() not in command.read_bytes().split(b"\0")
        except OSError:
            continue
