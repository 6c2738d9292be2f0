"""Real clients of `kbp serve`: the SDK's on all five revisions, kbp's own, and the inspector."""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import Kbp
from node_tools import installed
from serving import KBP, LEGACY, MODERN, REVISIONS, Server, environment, running

import kbp as api

if TYPE_CHECKING:
    from mcp import ClientSession

INSPECTOR, NODE_22 = "@modelcontextprotocol/inspector@2.12.0", "node@22.23.3"
FILES = {
    "a/prompts/debug.md": "---\ntitle: Debug\ndescription: d\narguments:\n"
    "- {name: app, description: The workload, required: true}\n"
    "- {name: since, default: 1h}\n---\nLook at {{ app }} since {{ since }}.\n",
    "b/commands/free.md": "---\nargument-hint: '[low|high]'\n---\nGo $ARGUMENTS\n",
    "libraries.yaml": "plugins:\n- {name: a, source: a, tags: [x]}\n- {name: b, source: b}\n"
    "libraries:\n- {name: l, plugins: [a]}\n- {name: m, plugins: [b]}\n",
}
NAMES = ["l_debug", "m_free"]


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("clients")
    for name, text in FILES.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top / "libraries.yaml"


@pytest.fixture(scope="module")
def server(config: Path) -> Iterator[Server]:
    with running(config.parent, "--library-config", str(config)) as server:
        yield server


# The SDK


def _over_stdio(config: Path) -> Any:
    """What starts the server for the SDK. (It takes for stderr what that was when it was first imported.)"""
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client

    arguments = [*KBP[1:], "serve", "--library-config", str(config)]
    return stdio_client(
        StdioServerParameters(command=KBP[0], args=arguments, env=environment()), errlog=sys.__stderr__ or sys.stderr
    )


Use = Callable[["ClientSession"], Awaitable[None]]


async def _with_session(transport: str, revision: str, config: Path, url: str, use: Use, **more: Any) -> None:
    """Use a session of the SDK that speaks a revision, over a transport."""
    import mcp_types as types
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    if transport == "stdio":
        streams: Any = _over_stdio(config)
    else:
        streams = streamable_http_client(url)
    async with streams as (read, write, *_), ClientSession(read, write, read_timeout_seconds=20, **more) as session:
        if revision == MODERN:
            await session.discover()
        else:
            about = types.InitializeRequestParams(
                protocol_version=revision,
                capabilities=types.ClientCapabilities(),
                client_info=types.Implementation(name="t", version="0"),
            )
            session.adopt(await session.send_request(types.InitializeRequest(params=about), types.InitializeResult))
            await session.send_notification(types.InitializedNotification())
        assert session.protocol_version == revision
        await use(session)


async def _everything(session: "ClientSession") -> None:
    import mcp_types as types
    from mcp import MCPError

    listed = (await session.list_prompts()).prompts
    assert [prompt.name for prompt in listed] == NAMES
    assert (listed[0].title == "Debug") is (str(session.protocol_version) >= "2025-06-18")
    got = await session.get_prompt("l_debug", {"app": "loki"})
    assert [getattr(message.content, "text", None) for message in got.messages] == ["Look at loki since 1h.\n"]
    with pytest.raises(MCPError) as caught:
        await session.get_prompt("l_debug", {})
    assert caught.value.error.code == -32602
    assert "app" in caught.value.error.message
    assert (await session.list_tools()).tools == []
    if session.protocol_version != LEGACY[0]:
        ref = types.PromptReference(type="ref/prompt", name="m_free")
        completed = await session.complete(ref, {"name": "arguments", "value": "l"})
        assert completed.completion.values == ["low"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("revision", REVISIONS)
def test_the_sdk_on_each_revision(revision: str, transport: str, server: Server, config: Path) -> None:
    import anyio

    anyio.run(functools.partial(_with_session, transport, revision, config, server.url, _everything))


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_sdk_is_asked_back(transport: str, server: Server, config: Path) -> None:
    import anyio
    import mcp_types as types
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    asked: list[str] = []

    async def answer(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"app": "asked"})

    async def main() -> None:
        streams: Any = _over_stdio(config) if transport == "stdio" else streamable_http_client(server.url)
        async with Client(streams, elicitation_callback=answer) as client:
            got = await client.get_prompt("l_debug", {})
            assert getattr(got.messages[0].content, "text", None) == "Look at asked since 1h.\n"

    anyio.run(main)
    assert asked == ["l_debug needs 1 argument"]


def test_the_sdk_in_a_scope_and_with_tools(server: Server, config: Path) -> None:
    import anyio

    async def use(session: "ClientSession") -> None:
        assert [prompt.name for prompt in (await session.list_prompts()).prompts] == ["l_debug"]
        assert [tool.name for tool in (await session.list_tools()).tools] == ["list_prompts", "get_prompt"]
        called = await session.call_tool("get_prompt", {"name": "l_debug", "arguments": {"app": "loki"}})
        assert called.structured_content is not None
        assert called.structured_content["messages"][0]["content"]["text"] == "Look at loki since 1h.\n"

    url = f"{server.url}?library=l&tags=x&prompts=off"
    for revision in ("2025-11-25", MODERN):
        anyio.run(functools.partial(_with_session, "http", revision, config, url, use))


# kbp's own client


@pytest.mark.parametrize("revision", ["auto", *REVISIONS])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_kbp_itself(transport: str, revision: str, server: Server, config: Path) -> None:
    command = [*KBP, "serve", "--library-config", str(config)]
    env = {"PYTHONPATH": environment()["PYTHONPATH"]} if transport == "stdio" else None
    with api.connect(command if transport == "stdio" else server.url, revision=revision, env=env) as client:
        assert [prompt.name for prompt in client.list_all()] == NAMES
        assert client.get_prompt("l_debug", {"app": "x"})[0].content["text"] == "Look at x since 1h.\n"
        assert client.revision == (MODERN if revision == "auto" else revision)


def test_kbp_says_that_files_and_server_agree(server: Server, config: Path, kbp: Kbp) -> None:
    same = kbp("diff", "--server", server.url, "--library-config", str(config))
    assert same.code == 0, same.out + same.err
    options = ["--server", server.url, "l_debug"]
    assert kbp("render", *options, "-a", "app=x").out == "Look at x since 1h.\n"
    refused = kbp("render", *options)
    assert refused.code == 2
    assert "app" in refused.err
    answered = kbp("render", *options, "--answer", "app=y")
    assert answered.out == "Look at y since 1h.\n", answered.err
    unknown = kbp("list", "--server", f"{server.url}?library=none")
    assert unknown.code == 3
    assert "libraries: l, m" in unknown.err


# The inspector


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector(transport: str, server: Server, config: Path, tmp_path: Path) -> None:
    bin = installed(INSPECTOR, NODE_22, folder="inspector")

    def inspect(*options: str, query: str = "") -> "subprocess.CompletedProcess[str]":
        stdio = [*KBP, "serve", "--library-config", str(config)]
        target = stdio if transport == "stdio" else [f"{server.url}{query}", "--transport", "http"]
        command = [str(bin / "node"), str(bin / "mcp-inspector"), "--cli", *target, *options]
        given = {**environment(), "PATH": f"{bin}:{os.environ['PATH']}", "HOME": str(tmp_path)}
        return subprocess.run(command, capture_output=True, text=True, timeout=120, env=given)

    listed = inspect("--method", "prompts/list")
    assert [prompt["name"] for prompt in json.loads(listed.stdout)["prompts"]] == NAMES, listed.stderr
    got = inspect("--method", "prompts/get", "--prompt-name", "l_debug", "--prompt-args", "app=loki")
    assert json.loads(got.stdout)["messages"][0]["content"]["text"] == "Look at loki since 1h.\n"
    missing = inspect("--method", "prompts/get", "--prompt-name", "l_debug")
    assert missing.returncode != 0
    assert "l_debug needs 1 argument" in missing.stdout + missing.stderr
    if transport == "http":
        scoped = inspect("--method", "tools/list", query="?library=m&prompts=off")
        assert [tool["name"] for tool in json.loads(scoped.stdout)["tools"]] == ["list_prompts", "get_prompt"]
        tool = ["--method", "tools/call", "--tool-name", "list_prompts"]
        called = json.loads(inspect(*tool, query="?library=m&prompts=off").stdout)
        assert json.loads(called["content"][0]["text"])["prompts"][0]["name"] == "m_free"
