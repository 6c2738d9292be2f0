"""`kbp.connect`: what the `hot` language's client does, typed; from threads and from async code."""

import asyncio
import json
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from live_servers import Hard, Peer, http_server, peers, stdio_command

import kbp as api
from kbp.live import session

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")


@pytest.fixture(params=["stdio", "mcp"])
def connect(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., tuple[api.Client, Hard]]]:
    """Makes a client of a `hard_server.py` with switches, and gives the server too."""
    with ExitStack() as stack:
        peer: Peer = peers(request.param, tmp_path, stack)

        def make(options: dict[str, Any] | None = None, **switches: object) -> tuple[api.Client, Hard]:
            hard = peer(**switches)
            where = hard.options[1]
            server = shlex.split(where) if hard.options[0] == "--server-cmd" else where
            return stack.enter_context(api.connect(server, **(options or {}))), hard

        yield make


Connect = Callable[..., tuple[api.Client, Hard]]


def test_nothing_happens_before_something_is_asked(connect: Connect) -> None:
    client, hard = connect()
    assert not hard.sent()
    assert client.revision == "2026-07-28"
    assert client.server_info["name"] == "hard-server"
    assert client.capabilities is not None
    assert "prompts" in client.capabilities


@pytest.mark.parametrize("revision", REVISIONS)
def test_each_revision_can_be_pinned(connect: Connect, revision: str) -> None:
    client, _ = connect({"revision": revision})
    assert client.revision == revision
    assert client.get_prompt("plain")[0].content["text"] == "Say hello."


def test_pages_one_by_one(connect: Connect) -> None:
    client, hard = connect(PAGE=10, CURSOR="empty")
    first = client.list_page()
    second = client.list_page(first.next_cursor)
    third = client.list_page(second.next_cursor)
    assert (first.next_cursor, third.next_cursor) == ("", None)
    assert [len(page.prompts) for page in (first, second, third)] == [10, 10, 5]
    assert [message["params"].get("cursor") for message in hard.sent("prompts/list")] == [None, "", second.next_cursor]
    assert first.answer.result["ttlMs"] == 60000
    assert first.seconds == 60


def test_all_pages(connect: Connect) -> None:
    client, _ = connect(PAGE=7)
    prompts = client.list_all()
    titled = next(prompt for prompt in prompts if prompt.name == "titled")
    assert len(prompts) == 25
    assert (titled.title, titled.arguments[0].title, titled.meta["example.test/n"]) == (
        "A Titled Prompt",
        "Environment",
        3,
    )
    assert titled.wire is not None
    assert titled.wire["icons"]


def test_a_list_without_an_end_gives_what_was_read(connect: Connect) -> None:
    client, _ = connect(PAGE=5, CURSOR="endless")
    with pytest.raises(api.Endless, match="more than 3 pages") as raised:
        client.list_all(max_pages=3)
    assert len(raised.value.listing.prompts) == 25
    with pytest.raises(api.Endless, match="more than 10 prompts"):
        client.list_all(max_prompts=10)


def test_a_prompt_and_its_whole_result(connect: Connect) -> None:
    client, _ = connect(EXTRA=1)
    (message,) = client.get_prompt("greet", {"name": "Ada"})
    assert (message.role, message.content["text"]) == ("user", "Greet Ada in a warm tone.")
    assert (message.content["x-hard"], message.extra) == ("content", {"x-hard": "message"})
    answer = client.get_result("greet", {"name": "Ada", "tone": ""})
    assert answer.result["x-hard"] == "result"
    assert answer.text.startswith('{"messages": [{"role": "user"')


def test_only_text_is_a_value(connect: Connect) -> None:
    client, hard = connect()
    with pytest.raises(TypeError, match="the value of a is int, not text"):
        client.get_prompt("echo", {"a": 5})  # type: ignore[dict-item]
    assert not hard.sent()


def answering(content: dict[str, Any], asked: list[api.Question]) -> Callable[[api.Question], api.Reply]:
    def handler(question: api.Question) -> api.Reply:
        asked.append(question)
        return api.Reply("accept", content)

    return handler


def test_input_is_given_when_the_server_asks(connect: Connect) -> None:
    asked: list[api.Question] = []
    client, hard = connect(MRTR="form,two,url")
    (message,) = client.get_with_input("ask", {"topic": "x"}, answering({"topic": "cats", "count": 2}, asked))
    assert message.content["text"].startswith("Answers: ")
    assert [question.key for question in asked] == ["q-form", "q-form", "q-form2", "q-url"]
    assert asked[-1].url == "https://login.example.test/go?x=1"
    last = hard.sent("prompts/get")[-1]["params"]["inputResponses"]
    assert last["q-url"]["action"] == "accept"


def test_input_by_hand(connect: Connect) -> None:
    client, hard = connect({"handler": lambda question: api.Reply("cancel")}, MRTR="form")
    first = client.get_result("ask", {"topic": "x"})
    assert first.result["resultType"] == "input_required"
    replies = {"q-form": {"action": "accept", "content": {"topic": "dogs"}}}
    second = client.get_result(
        "ask", {"topic": "x"}, input_responses=replies, request_state=first.result["requestState"]
    )
    assert '"topic": "dogs"' in second.result["messages"][0]["content"]["text"]
    assert hard.sent("prompts/get")[1]["params"]["requestState"] == first.result["requestState"]


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_person_may_say_no(connect: Connect, action: Any) -> None:
    client, _ = connect(MRTR="form")
    with pytest.raises(api.Refusal, match=f"the client answered {action}"):
        client.get_with_input("ask", {"topic": "x"}, lambda question: api.Reply(action))


def test_rounds_are_bounded(connect: Connect) -> None:
    client, hard = connect(MRTR="form,...")
    with pytest.raises(api.BadAnswer, match="more input than 3 times"):
        client.get_with_input("ask", {"topic": "x"}, answering({"topic": "cats"}, []), max_rounds=3)
    assert len(hard.sent("prompts/get")) == 4


def test_what_a_handler_raises_comes_through(connect: Connect) -> None:
    client, _ = connect(MRTR="form")

    def handler(question: api.Question) -> api.Reply:
        raise RuntimeError(question.message)

    with pytest.raises(RuntimeError, match="More for the prompt"):
        client.get_with_input("ask", {"topic": "x"}, handler)


def test_an_older_server_asks_while_it_works(tmp_path: Path) -> None:
    with ExitStack() as stack:
        hard = peers("stdio", tmp_path, stack)(REVISION="2025-06-18", ELICIT=1)
        client = stack.enter_context(api.connect(shlex.split(hard.options[1]), timeout=3.0))

        def slow(question: api.Question) -> api.Reply:
            time.sleep(3.2)
            return api.Reply("accept", {"topic": "cats"})

        assert client.get_prompt("plain")
        (message,) = client.get_with_input("ask", {}, slow)  # what a person thinks is not the server's time
        assert message.content["text"] == "About cats"
        assert len(hard.sent("initialize")) == 2, "it was not told anew that somebody answers"
        with pytest.raises(api.Refusal, match="elicitation: decline"):
            client.get_with_input("ask", {}, lambda question: api.Reply("decline"))


COMPLETIONS = [
    ({}, ("greet", "tone", "", {"name": "Ada"}), ["warm", "dry", "loud", "for-Ada"]),
    ({}, ("greet", "tone", "d", None), ["dry"]),
    ({}, ("echo", "a", "na", None), ["naïve value"]),
    ({"COMPLETE": "many"}, ("greet", "tone", "value", None), [f"value-{at:03d}" for at in range(100)]),
    ({"COMPLETE": "absent"}, ("greet", "tone", "", None), []),
    ({"COMPLETE": "error"}, ("greet", "tone", "", None), []),
    ({"COMPLETE": "junk"}, ("greet", "tone", "", None), []),
    ({"REVISION": "2025-03-26"}, ("greet", "tone", "", {"name": "Ada"}), ["warm", "dry", "loud"]),
    ({"REVISION": "2024-11-05"}, ("greet", "tone", "d", None), ["dry"]),
]


@pytest.mark.parametrize(("switches", "asked", "expected"), COMPLETIONS)
def test_values_are_completed(connect: Connect, switches: dict[str, object], asked: Any, expected: list[str]) -> None:
    client, hard = connect(**switches)
    assert client.complete(*asked) == expected
    assert switches.get("COMPLETE") != "absent" or not hard.sent("completion/complete")


def test_a_slow_completion_is_given_up(connect: Connect) -> None:
    client, _ = connect(COMPLETE="slow")
    client.list_page()
    started = time.monotonic()
    assert client.complete("greet", "tone", "", seconds=0.3) == []
    assert time.monotonic() - started < 2
    assert client.get_prompt("plain"), "the connection is no good any more"


def test_a_client_is_shared_by_threads(connect: Connect) -> None:
    client, _ = connect(DELAY=0.05)
    found: list[str] = []

    def get(at: int) -> None:
        found.append(client.get_prompt("echo", {"a": str(at)})[0].content["text"])

    threads = [threading.Thread(target=get, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(found) == [f'{{"a": "{at}"}}' for at in range(8)]


def test_a_client_is_used_from_async_code(connect: Connect) -> None:
    client, _ = connect()

    async def both() -> tuple[int, str]:
        prompts, messages = await asyncio.gather(
            asyncio.to_thread(client.list_all), asyncio.to_thread(client.get_prompt, "plain")
        )
        return len(prompts), str(messages[0].content["text"])

    assert asyncio.run(both()) == (25, "Say hello.")


def test_a_server_that_died_is_started_anew(tmp_path: Path) -> None:
    with api.connect(stdio_command(tmp_path / "log", CRASH="prompts/get")) as client:
        assert len(client.list_all()) == 25
        with pytest.raises(api.Unreachable, match="ended with exit code 3"):
            client.get_prompt("plain")
        assert len(client.list_all()) == 25


FAILURES: list[tuple[dict[str, object], type[Exception], str]] = [
    ({"CAPABILITY": "absent"}, api.NoPrompts, "the server offers no prompts"),
    ({"HANG": "prompts/get"}, api.TimedOut, "did not answer prompts/get within 1.5 seconds"),
    ({"ERROR": "-7:no"}, api.Refusal, "^no$"),
    ({"REVISION": "future"}, api.Unreachable, "speaks another protocol: 2099-01-01"),
    ({"MRTR": "vendor"}, api.BadAnswer, "asks for example.test/ask"),
]


@pytest.mark.parametrize(("switches", "kind", "said"), FAILURES)
def test_each_failure_is_its_own_error(
    connect: Connect, switches: dict[str, object], kind: type[Exception], said: str
) -> None:
    client, _ = connect({"timeout": 1.5} if "HANG" in switches else {}, **switches)
    with pytest.raises(kind, match=said) as raised:
        client.get_prompt("ask" if "MRTR" in switches else "plain", {"topic": "x"} if "MRTR" in switches else None)
    assert isinstance(raised.value, api.LiveError)


def test_a_wrong_server_is_a_wrong_value() -> None:
    with pytest.raises(ValueError, match="there is no revision '2025'"):
        api.connect("http://h", revision="2025")
    with pytest.raises(ValueError, match="no URL of the web; a command is a list"):
        api.connect("uvx server")
    with pytest.raises(ValueError, match="a command has a program"):
        api.connect([])
    with pytest.raises(ValueError, match="env and cwd are for a command"):
        api.connect("http://h", env={"A": "b"})
    with pytest.raises(ValueError, match="headers and sse are for a URL"):
        api.connect(["x"], headers={"A": "b"})
    with pytest.raises(ValueError, match="a time-out is a number of seconds above 0"):
        api.connect(["x"], timeout=0)


def test_an_unreachable_server_is_unreachable() -> None:
    with api.connect("http://127.0.0.1:1/mcp") as client, pytest.raises(api.Unreachable, match="no way to the server"):
        client.list_all()
    with api.connect(["/no/such/program"]) as client, pytest.raises(api.Unreachable, match="cannot be started"):
        client.list_all()


ENVIRONMENT_SERVER = """
import json, os, sys
for line in sys.stdin:
    said = json.dumps([dict(os.environ), os.getcwd()])
    result = {
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"prompts": {}},
        "messages": [{"role": "user", "content": {"type": "text", "text": said}}],
    }
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": result}), flush=True)
"""


def test_a_client_that_is_not_closed_ends_with_the_program(tmp_path: Path) -> None:
    hard = Hard((), tmp_path / "log")
    code = f"import kbp; client = kbp.connect({stdio_command(tmp_path / 'log')!r}); print(len(client.list_all()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "25\n", "")
    assert not hard.is_alive()


def test_a_client_of_a_url_that_is_not_closed_ends_with_the_program(tmp_path: Path) -> None:
    with http_server(tmp_path) as url:
        code = f"import kbp; client = kbp.connect('{url}/mcp'); print(len(client.list_all()))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "25\n", "")


def test_an_older_server_is_told_once_that_somebody_answers(tmp_path: Path) -> None:
    with ExitStack() as stack:
        hard = peers("stdio", tmp_path, stack)(REVISION="legacy", ELICIT=1)
        client = stack.enter_context(api.connect(shlex.split(hard.options[1])))
        for _ in range(3):
            assert client.get_with_input("ask", {}, answering({"topic": "cats"}, []))
        assert len(hard.sent("initialize")) == 1
        with pytest.raises(api.Refusal, match="elicitation: decline"):
            client.get_prompt("ask", {})


def test_a_session_that_has_ended_is_begun_anew(tmp_path: Path) -> None:
    with http_server(tmp_path, "--expire", "5", REVISION="legacy") as url, api.connect(f"{url}/mcp") as client:
        assert len(client.list_all()) == 25
        with pytest.raises(api.Unreachable, match="HTTP 404"):
            client.get_prompt("plain")
        assert client.get_prompt("plain")


def test_a_bound_of_prompts_holds_on_one_page(connect: Connect) -> None:
    client, _ = connect()
    with pytest.raises(api.Endless, match="more than 10 prompts"):
        client.list_all(max_prompts=10)


def test_a_completion_never_fails(tmp_path: Path) -> None:
    with api.connect(["/no/such/program"]) as client:
        assert client.complete("a", "b", "") == []
    with api.connect(stdio_command(tmp_path / "log", CRASH="completion/complete")) as client:
        assert client.complete("greet", "tone", "") == []
        assert client.get_prompt("plain"), "it was not started anew"


def test_a_handler_gives_a_reply(connect: Connect) -> None:
    client, _ = connect(MRTR="form")
    wrong: Any = lambda question: {"action": "accept"}  # noqa: E731
    with pytest.raises(TypeError, match=r"a handler gives a kbp\.Reply, and not dict"):
        client.get_with_input("ask", {"topic": "x"}, wrong)


def test_the_environment_of_a_server_is_what_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBP_SECRET", "x")
    server = tmp_path / "server.py"
    server.write_text(ENVIRONMENT_SERVER)
    with api.connect([sys.executable, str(server)], env={"GIVEN": "1"}, cwd=tmp_path) as client:
        environment, folder = json.loads(client.get_prompt("p")[0].content["text"])
    assert environment["GIVEN"] == "1"
    assert "KBP_SECRET" not in environment
    assert set(environment) <= {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "GIVEN", "LC_CTYPE"}
    assert folder == os.path.realpath(tmp_path)


def test_a_started_server_is_spoken_to_without_the_sdk(tmp_path: Path) -> None:
    code = (
        "import sys, kbp\n"
        f"with kbp.connect({stdio_command(tmp_path / 'log')!r}) as client:\n"
        "    client.get_prompt('plain')\n"
        "heavy = {'mcp', 'anyio', 'asyncio', 'httpx2', 'pydantic', 'yaml', 'typer'}\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & heavy))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_probe_has_its_bound() -> None:
    assert session.PROBE == 5.0
