"""Live servers: `hard_server.py` through every switch, over stdio and over HTTP, with what the client really sent."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from conftest import Kbp, Result
from live_servers import Hard, Peer, peers

from kbp.live import session

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")


@pytest.fixture(autouse=True)
def short_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that let `server/discover` unanswered are not waited for long."""
    monkeypatch.setattr(session, "PROBE", 1.0)


@pytest.fixture
def peer(transport: str, tmp_path: Path) -> Iterator[Peer]:
    """Makes servers on the transport of a case."""
    with ExitStack() as stack:
        yield peers(transport, tmp_path, stack)


@pytest.fixture
def stdio(tmp_path: Path) -> Iterator[Peer]:
    with ExitStack() as stack:
        yield peers("stdio", tmp_path, stack)


@pytest.fixture
def http(tmp_path: Path) -> Iterator[Peer]:
    with ExitStack() as stack:
        yield peers("mcp", tmp_path, stack)


ALL = ("stdio", "mcp", "events", "sse")
Check = Callable[[Result, Hard], bool]


@dataclass(frozen=True)
class Row:
    """A server with switches, a command line, and what has to come of it.

    `out` is all of stdout, `err` a part of stderr; `check` looks at the result, and at what was sent.
    """

    name: str
    command: str
    switches: dict[str, object] = field(default_factory=dict)
    code: int = 0
    out: str | None = None
    err: str = ""
    check: Check = lambda result, hard: True
    on: tuple[str, ...] = ("stdio", "mcp", "events")


def names(result: Result) -> list[str]:
    return result.out.split("\n")[:-1]


def content(result: Result) -> Any:
    return json.loads(result.out)


def cursors(hard: Hard) -> list[object]:
    return [message["params"].get("cursor") for message in hard.sent("prompts/list")]


def agreed(hard: Hard) -> str:
    """The revision that was spoken, as the server saw it."""
    message = hard.sent("prompts/list")[0]
    meta = message["params"].get("_meta", {})
    return str(meta.get("io.modelcontextprotocol/protocolVersion", "legacy"))


def answers(result: Result) -> Any:
    """What the prompt `ask` got as replies."""
    return json.loads(result.out.removeprefix("Answers: "))


PLAIN = "Say hello.\n"
ASK = "render ask -a topic=x"
# "roots" and "sampling" are never declared, so a server that keeps the rules never asks for them
MRTR: list[tuple[str, str, int, str, Check]] = [
    # the script, the answers given, exit code, a part of stderr, what the server got
    ("form", "--answer topic=cats", 0, "", lambda r, h: answers(r)["q-form"]["content"] == {"topic": "cats"}),
    ("form", "--answer topic=c", 2, "the answer topic: this is at least 2 characters", lambda r, h: True),
    ("form", "", 3, "Missing required argument: topic (-32602)", lambda r, h: len(h.sent("prompts/get")) == 1),
    ("form", "--answer other=1", 2, "answer it:  --answer topic=VALUE", lambda r, h: True),
    (
        "form2",
        "--answer count=3 --answer sure=no",
        0,
        "",
        lambda r, h: answers(r)["q-form2"]["content"] == {"count": 3, "level": "low", "sure": False},
    ),
    ("form2", "--answer count=3.5", 2, "the answer count: this is a whole number", lambda r, h: True),
    ("form2", "--answer count=3 --answer level=mid", 2, "'mid' is none of low, high", lambda r, h: True),
    (
        "form3",
        "--answer tags=a,c --answer size=Large --answer ratio=0.5 --answer mail=a@b.example",
        0,
        "",
        lambda r, h: (
            answers(r)["q-form3"]["content"] == {"tags": ["a", "c"], "size": "l", "ratio": 0.5, "mail": "a@b.example"}
        ),
    ),
    ("form3", "--answer tags=a --answer mail=nobody", 2, "the answer mail: this is no email", lambda r, h: True),
    ("two", "--answer topic=cats --answer count=2", 0, "", lambda r, h: set(answers(r)) == {"q-form", "q-form2"}),
    ("state,state,form", "--answer topic=cats", 0, "", lambda r, h: len(h.sent("prompts/get")) == 4),
    ("nostate", "--answer topic=cats", 0, "", lambda r, h: "requestState" not in h.sent("prompts/get")[1]["params"]),
    (
        "form,...",
        "--answer topic=cats",
        3,
        "asked for more input than 10 times",
        lambda r, h: len(h.sent("prompts/get")) == 11,
    ),
    (
        "form,...",
        "--answer topic=cats --max-rounds 2",
        3,
        "more input than 2 times",
        lambda r, h: len(h.sent("prompts/get")) == 3,
    ),
    ("url", "--answer topic=cats", 0, "", lambda r, h: True),
    ("sampling", "--answer topic=cats", 3, "Missing required argument", lambda r, h: True),
    ("roots", "--answer topic=cats", 3, "Missing required argument", lambda r, h: True),
    ("vendor", "--answer topic=cats", 3, "asks for example.test/ask, which kbp does not do", lambda r, h: True),
    ("empty", "--answer topic=cats", 3, "wants more input and does not say which", lambda r, h: True),
]

ROWS = [
    Row("plain", "render plain", out=PLAIN, on=ALL),
    # listing
    Row("no prompts", "list", {"PROMPTS": "none"}, out="", err="0 prompts"),
    Row("groups", "list -f names", {"PROMPTS": "basic"}, out="plain\ngreet\necho\nneed\nbare\n"),
    Row(
        "5,000 prompts on 51 pages",
        "list -f names",
        {"MANY": 5000, "PAGE": 100},
        check=lambda r, h: len(names(r)) == 5025 and len(cursors(h)) == 51 and len(set(map(str, cursors(h)))) == 51,
    ),
    Row("5,000 prompts on one page", "list -f names", {"MANY": 5000}, check=lambda r, h: len(names(r)) == 5025, on=ALL),
    Row("pages", "list -f names", {"PAGE": 10}, check=lambda r, h: len(names(r)) == 25 and len(cursors(h)) == 3),
    Row(
        "the last page has a null cursor",
        "list -f names",
        {"PAGE": 10, "CURSOR": "null"},
        check=lambda r, h: len(names(r)) == 25,
    ),
    Row(
        "an empty cursor is a cursor",
        "list -f names",
        {"PAGE": 5, "CURSOR": "empty"},
        check=lambda r, h: len(names(r)) == 25 and cursors(h)[1] == "",
    ),
    Row(
        "an empty cursor can be given",
        "list -f names --page=",
        {"PAGE": 5, "CURSOR": "empty"},
        check=lambda r, h: cursors(h) == [""],
    ),
    Row(
        "one page",
        "list -f json --page YXQ6NQ==",
        {"PAGE": 5},
        check=lambda r, h: len(content(r)["prompts"]) == 5 and content(r)["nextCursor"] == "YXQ6MTA=",
    ),
    Row(
        "the first pages",
        "list -f names --pages 2",
        {"PAGE": 5},
        err="--page YXQ6MTA=",
        check=lambda r, h: len(names(r)) == 10,
    ),
    Row("a cursor that repeats", "list", {"PAGE": 5, "CURSOR": "repeat"}, 3, "", "repeats the cursor 'same-again'"),
    Row(
        "what was read of it",
        "list -f names --partial",
        {"PAGE": 5, "CURSOR": "repeat"},
        3,
        err="repeats the cursor",
        check=lambda r, h: len(names(r)) == 5,
    ),
    Row("a list without an end", "list", {"CURSOR": "endless"}, 3, "", "lists more than 1000 pages"),
    Row(
        "a prompt met twice",
        "list -f names",
        {"PAGE": 5, "CURSOR": "dup"},
        err="more than once: the first one counts",
        check=lambda r, h: len(names(r)) == len(set(names(r))) == 25,
    ),
    Row(
        "a list that changes while it is read",
        "list",
        {"PAGE": 5, "CURSOR": "expire"},
        3,
        "",
        "broke off its list after 5 prompts: Cursor expired",
        lambda r, h: cursors(h) == [None, "YXQ6NQ==", None, "YXQ6NQ=="],
    ),
    Row(
        "no more is read than it takes", "render plain", {"PAGE": 5}, out=PLAIN, check=lambda r, h: len(cursors(h)) == 1
    ),
    Row(
        "no capability",
        "list",
        {"CAPABILITY": "absent"},
        3,
        "",
        "offers no prompts",
        lambda r, h: not h.sent("prompts/list"),
    ),
    Row("no capability, but prompts", "list", {"CAPABILITY": "undeclared"}, 3, "", "offers no prompts"),
    Row("a capability without prompts", "list", {"CAPABILITY": "hollow"}, 3, "", "offers no prompts"),
    Row("a life below zero", "list -f names", {"TTL": "-5:public"}, check=lambda r, h: len(names(r)) == 25),
    Row("no life", "list -f names", {"TTL": "none"}, check=lambda r, h: len(names(r)) == 25),
    Row("tools are not asked for", "list -f names", {"TOOLS": 1}, check=lambda r, h: not h.sent("tools/list")),
    Row(
        "a list that changes",
        "list -f names",
        {"CHANGE": 1, "REVISION": "legacy"},
        check=lambda r, h: len(names(r)) == 26,
    ),
    # what the server adds and leaves out
    Row(
        "fields that a revision does not have",
        "show titled -f json --revision 2024-11-05",
        {"LEAK": 1},
        check=lambda r, h: (
            {"title", "icons", "_meta"} <= content(r).keys() and content(r)["arguments"][0]["title"] == "Environment"
        ),
    ),
    Row(
        "unknown fields of a list",
        "list -f json",
        {"EXTRA": 1},
        check=lambda r, h: (
            all("x-hard" in each for each in content(r)["prompts"])
            and content(r)["prompts"][1]["arguments"][0]["x-hard"] is True
        ),
    ),
    Row(
        "unknown fields of a result",
        "render plain -f json",
        {"EXTRA": 1},
        check=lambda r, h: (
            content(r)["x-hard"] == "result"
            and content(r)["messages"][0]["x-hard"] == "message"
            and content(r)["messages"][0]["content"]["x-hard"] == "content"
        ),
    ),
    Row(
        "unknown fields of a message",
        "render plain -f jsonl",
        {"EXTRA": 1},
        check=lambda r, h: content(r)["x-hard"] == "message",
    ),
    # calling
    Row("no messages", "render empty", out="", err="hint: the prompt has no messages"),
    Row("two megabytes", "render huge", check=lambda r, h: len(r.out) == 2_000_001),
    Row(
        "a megabyte is all that the older transport takes", "render huge", {}, 3, "", "1048576 byte limit", on=("sse",)
    ),
    Row("an error", "render plain", {"ERROR": "-32603:it broke"}, 3, "", "refused plain: it broke (-32603)", on=ALL),
    Row("what an error says more", "render plain", {"ERROR": "-1"}, 3, "", 'it says more: {"hint": "scripted"'),
    Row(
        "a message that doubles its code",
        "render plain",
        {"ERROR": "-5:MCP error -5: MCP error -5: no"},
        3,
        "",
        "plain: no (-5)",
    ),
    Row("slow", "render plain", {"DELAY": 0.5}, out=PLAIN),
    Row(
        "too slow",
        "render plain --timeout 1.5",
        {"DELAY": 5},
        3,
        "",
        "did not answer prompts/get within 1.5 seconds",
        lambda r, h: soon(lambda: bool(h.sent("notifications/cancelled"))),
        on=("stdio",),  # over HTTP the request's own stream is closed instead
    ),
    Row(
        "too slow on an older revision",
        "render plain --timeout 1.5",
        {"DELAY": 5, "REVISION": "legacy"},
        3,
        "",
        "did not answer prompts/get within 1.5 seconds",
        lambda r, h: soon(lambda: bool(h.sent("notifications/cancelled"))),
    ),
    Row("no answer", "render plain --timeout 1.5", {"HANG": "prompts/get"}, 3, "", "did not answer prompts/get"),
    Row("no list", "list --timeout 1.5", {"HANG": "prompts/list"}, 3, "", "did not answer prompts/list", on=ALL),
    Row("slow to start", "render plain", {"START_DELAY": 1}, out=PLAIN),
    Row("an id as text", "render plain", {"BADID": "string"}, out=PLAIN),
    Row("no id", "render plain --timeout 1.5", {"BADID": "null"}, 3, "", "did not answer", on=("stdio",)),
    Row("another id as well", "render plain", {"BADID": "other"}, out=PLAIN, on=("stdio",)),
    Row("an answer that comes twice", "render plain", {"BADID": "twice"}, out=PLAIN, on=ALL),
    *(
        Row(f"noise: {kind}", "render plain", {"NOISE": kind}, out=PLAIN)
        for kind in ("log", "progress", "vendor", "list_changed")
    ),
    *(
        Row(f"noise on an older revision: {kind}", "render plain", {"NOISE": kind, "REVISION": "legacy"}, out=PLAIN)
        for kind in ("log", "progress", "vendor", "list_changed")
    ),
    Row(
        "a ping is answered",
        "render plain",
        {"NOISE": "ping", "REVISION": "legacy"},
        out=PLAIN,
        check=lambda r, h: {"ping answered": True} in h.notes(),
        on=("stdio", "events", "mcp"),
    ),
    Row("the log of a server", "render plain -v", {"NOISE": "log", "REVISION": "legacy"}, err="[server] working"),
    Row("a name that is not listed", "render nothing", {}, 2, "", "the server has no prompt called 'nothing'"),
    Row("an argument that is not listed", "render plain -a x=1", {}, 2, "", "the prompt has no argument x"),
    Row("called all the same", "render nothing --allow-unknown", {}, 3, "", "refused nothing: Unknown prompt: nothing"),
    Row("called without what it needs", "render need --allow-unknown", {}, 3, "", "Missing required argument: app"),
    Row("called where the list breaks off", "render plain --allow-unknown", {"CURSOR": "expire", "PAGE": 1}, out=PLAIN),
    Row("called where no list is", "render plain --allow-unknown", {"CAPABILITY": "hollow"}, out=PLAIN),
    Row("called where none is declared", "render plain --allow-unknown", {"CAPABILITY": "undeclared"}, out=PLAIN),
    Row("nobody can be asked", ASK, {"MRTR": "form"}, 3, "", "it was told that nobody can be asked"),
    Row(
        "a list that breaks off can be had", "list", {"CURSOR": "repeat"}, 3, "", "--partial prints what was read of it"
    ),
    # defects of results
    Row("content without a type", "render plain", {"RESULT": "notype"}, err="message 1 has content without a type"),
    Row(
        "content that is a list",
        "render plain",
        {"RESULT": "list"},
        out="Say hello.\n\nsecond block\n",
        err="a list of content blocks",
    ),
    Row(
        "a role that is none",
        "render plain",
        {"RESULT": "badrole"},
        out="[system]\nfrom the system\n\n[user]\nSay hello.\n",
        err="message 1 has the role 'system'",
    ),
    Row("no messages at all", "render plain", {"RESULT": "nomessages"}, 3, "", "answered with no messages"),
    Row("messages that are null", "render plain", {"RESULT": "nullmessages"}, 3, "", "answered with no messages"),
    Row(
        "a result all the same",
        "render plain --result",
        {"RESULT": "nomessages"},
        check=lambda r, h: "messages" not in content(r),
    ),
    Row(
        "an image without data",
        "render plain",
        {"RESULT": "nodata"},
        check=lambda r, h: '[image] {"type": "image"' in r.out,
    ),
    Row(
        "a result of an unknown type", "render plain", {"RESULT": "badtype"}, 3, "", "the unknown result type 'someday'"
    ),
    Row("a result without a type", "render plain", {"RESULT": "noresulttype"}, out=PLAIN),
    # crashes
    Row(
        "a crash",
        "render plain",
        {"CRASH": "prompts/get", "STDERR": 20},
        3,
        "",
        "ended with exit code 3 before it answered",
        on=("stdio",),
    ),
    Row(
        "its last words",
        "render plain",
        {"CRASH": "prompts/get", "STDERR": 20},
        3,
        "",
        "    " + "e" * 20,
        on=("stdio",),
    ),
    Row(
        "a crash in an answer",
        "render plain",
        {"CRASH": "prompts/get:mid"},
        3,
        "",
        "ended with exit code 3",
        on=("stdio",),
    ),
    Row("a crash behind it", "render plain", {"CRASH": "prompts/get:after"}, out=PLAIN, on=("stdio",)),
    Row("a crash over HTTP", "render plain", {"CRASH": "prompts/get"}, 3, "", "the server", on=("mcp", "events")),
    Row("a crash in the list", "list", {"CRASH": "prompts/list"}, 3, "", "ended with exit code 3", on=("stdio",)),
    Row("a crash at once", "list", {"CRASH": "server/discover"}, 3, "", "ended with exit code 3", on=("stdio",)),
    Row("a megabyte of stderr", "render plain", {"STDERR": 1_000_000}, out=PLAIN, on=("stdio",)),
    Row("its stderr shown", "render plain --server-log", {"STDERR": 5}, out=PLAIN, err="[server] eeeee", on=("stdio",)),
    Row("a switch that is wrong", "list", {"CURSOR": "none"}, 3, "", "HARD_CURSOR=none: one of", on=("stdio",)),
    # what is no message
    *(
        Row(f"garbage: {kind}", "render plain", {"GARBAGE": kind}, out=PLAIN, on=("stdio",))
        for kind in (
            "banner",
            "between",
            "blank",
            "nonutf8",
            "json",
            "crlf",
            "split",
            "bom",
            "banner,between,nonutf8,json,bom",
        )
    ),
    Row(
        "garbage is counted", "render plain -v", {"GARBAGE": "between"}, err="lines that are no messages", on=("stdio",)
    ),
    # questions
    *(
        Row(f"asked: {script} {given}", f"{ASK} {given}", {"MRTR": script}, code, None, err, check)
        for script, given, code, err, check in MRTR
        if script != "url"
    ),
    Row(
        "a URL is not declared where nobody can go there",
        f"{ASK} --answer topic=x",
        {"MRTR": "url"},
        2,
        "",
        "run it on a terminal",
    ),
    Row(
        "asked all the same",
        ASK,
        {"MRTR": "form", "MRTR_FORCE": 1},
        3,
        "",
        "asks, and nobody is there to answer: More for the prompt",
        lambda r, h: h.sent("prompts/get")[0]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] == {},
    ),
    Row(
        "what is declared when somebody answers",
        f"{ASK} --answer topic=cats",
        {"MRTR": "form"},
        check=lambda r, h: (
            h.sent("prompts/get")[0]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
            == {"elicitation": {"form": {}}}
        ),
    ),
    Row(
        "an answer that nothing asks for", "render plain --answer x=1", out=PLAIN, err="nothing asked for the answer x"
    ),
    Row(
        "sampling all the same",
        f"{ASK} --answer topic=x",
        {"MRTR": "sampling", "MRTR_FORCE": 1},
        3,
        "",
        "asks for sampling/createMessage",
    ),
    Row(
        "the state comes back as it was",
        f"{ASK} --answer topic=cats",
        {"MRTR": "form"},
        check=lambda r, h: (
            h.sent("prompts/get")[1]["params"]["requestState"].startswith(" ~é")
            and h.sent("prompts/get")[0]["id"] != h.sent("prompts/get")[1]["id"]
        ),
    ),
    Row(
        "asked on an older revision",
        "render ask --answer topic=cats",
        {"REVISION": "legacy", "ELICIT": 1},
        out="About cats\n",
        check=lambda r, h: h.sent("initialize")[0]["params"]["capabilities"] == {"elicitation": {"form": {}}},
        on=ALL,
    ),
    Row(
        "not asked on an older revision",
        "render ask -a topic=",
        {"REVISION": "legacy", "ELICIT": 1},
        3,
        "",
        "Missing required argument: topic (-32602)",
        lambda r, h: h.sent("initialize")[0]["params"]["capabilities"] == {},
    ),
    # revisions
    Row(
        "slow to start, on the newest revision alone",
        "list -f names",
        {"START_DELAY": 2, "REVISION": "2026-07-28"},
        check=lambda r, h: len(names(r)) == 25 and len(h.sent("initialize")) == 1,
        on=("stdio",),  # over HTTP the server was started before
    ),
    Row(
        "any",
        "server info",
        {"REVISION": "both"},
        err="",
        check=lambda r, h: r.out.startswith("revision  2026-07-28 (no sessions)\n"),
    ),
    *(
        Row(f"a server of {revision}", "list -f names", {"REVISION": revision}, check=lambda r, h: len(names(r)) == 25)
        for revision in ("legacy", *REVISIONS)
    ),
    *(
        Row(
            f"pinned to {revision}",
            f"list -f names --revision {revision}",
            check=lambda r, h, revision=revision: (  # type: ignore[misc]
                agreed(h) == "2026-07-28"
                if revision == "2026-07-28"
                else h.sent("initialize")[0]["params"]["protocolVersion"] == revision and agreed(h) == "legacy"
            ),
        )
        for revision in REVISIONS
    ),
    Row(
        "pinned to what it does not speak",
        "list --revision 2025-03-26",
        {"REVISION": "2025-11-25"},
        3,
        "",
        "speaks 2025-11-25 where 2025-03-26 was asked for",
    ),
    Row(
        "pinned too new",
        "list --revision 2026-07-28",
        {"REVISION": "legacy"},
        3,
        "",
        "speaks an older revision than 2026-07-28; leave out --revision",
    ),
    Row(
        "pinned too old",
        "list --revision legacy",
        {"REVISION": "2026-07-28"},
        3,
        "",
        "speaks 2026-07-28 alone; leave out --revision",
    ),
    Row("a revision of the future", "list", {"REVISION": "future"}, 3, "", "speaks another protocol: 2099-01-01"),
]


def soon(holds: Callable[[], bool], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while not (it_does := holds()) and time.monotonic() < end:
        time.sleep(0.05)
    return it_does


CASES = [pytest.param(row, way, id=f"{way}-{row.name}") for row in ROWS for way in row.on]


@pytest.mark.parametrize(("row", "transport"), CASES)
def test_a_server_that_misbehaves(row: Row, transport: str, peer: Peer, kbp: Kbp) -> None:
    hard = peer(**row.switches)
    command, *rest = shlex.split(row.command)
    result = kbp(command, *rest, *hard.options)
    assert "Traceback" not in result.err
    assert result.code == row.code, result.err
    assert row.out is None or result.out == row.out
    assert row.err in result.err
    assert row.check(result, hard), (result, hard.sent())
    if transport == "stdio":
        assert soon(lambda: not hard.is_alive())


def test_a_silent_server_costs_its_wait_once(stdio: Peer, kbp: Kbp, monkeypatch: pytest.MonkeyPatch) -> None:
    hard = stdio(REVISION="mute-discover")
    assert kbp("render", "plain", *hard.options).out == PLAIN
    assert (len(hard.sent("server/discover")), len(hard.sent("initialize"))) == (1, 1)
    started = time.monotonic()
    assert kbp("render", "plain", *hard.options).out == PLAIN
    assert (len(hard.sent("server/discover")), len(hard.sent("initialize"))) == (2, 2)
    assert time.monotonic() - started < session.PROBE, "it was waited for again"
    assert kbp("render", "plain", "--revision", "2026-07-28", "--timeout", "1.5", *hard.options).code == 3


def test_what_is_remembered_of_a_server_is_forgotten_when_it_fails(stdio: Peer, kbp: Kbp, tmp_path: Path) -> None:
    from kbp import memory
    from kbp.live.connection import of_command

    hard = stdio(REVISION="mute-discover")
    key = of_command(tuple(shlex.split(hard.options[1]))).key
    kbp("list", *hard.options)
    assert memory.recall("eras", key) == "legacy"
    Path(tmp_path / "log.jsonl").unlink()
    (tmp_path / "log.jsonl").mkdir()  # so that the server cannot start
    assert kbp("list", *hard.options).code == 3
    assert memory.recall("eras", key) is None


@pytest.mark.parametrize("switch", ["IGNORE_EOF", "IGNORE_TERM"])
def test_a_server_that_does_not_end_is_ended(switch: str, stdio: Peer, kbp: Kbp) -> None:
    hard = stdio(**{"IGNORE_EOF": 1, switch: 1})
    started = time.monotonic()
    assert kbp("render", "plain", *hard.options).out == PLAIN
    assert time.monotonic() - started < 10
    assert soon(lambda: not hard.is_alive())
    assert "stdin closed" in hard.notes()


def test_a_list_is_kept_as_long_as_the_server_says(stdio: Peer, kbp: Kbp, home: Path) -> None:
    for ttl, is_kept in (("60000:private", True), ("0:private", False), ("-1:private", False), ("none", False)):
        kbp("list", *stdio(TTL=ttl).options)
        kept = list((home / "state/kbp/lists").glob("*.json"))
        assert bool(kept) == is_kept, ttl
        if kept:
            content = json.loads(kept[0].read_text())
            assert 50 < content["until"] - time.time() <= 60
            assert len(content["prompts"]) == 25
            kept[0].unlink()


STATUSES = [
    (401, "wants an authorization (HTTP 401)"),
    (403, "(HTTP 403)"),
    (404, "answers with HTTP 404"),
    (500, "answers with HTTP 500"),
]


@pytest.mark.parametrize(("status", "said"), STATUSES)
def test_the_status_of_a_refusal_is_told(status: int, said: str, http: Peer, kbp: Kbp) -> None:
    result = kbp("list", *http("--status", str(status)).options)
    assert result.code == 3
    assert said in result.err
    assert result.err.count("error:") == 1


def test_a_token_is_sent_and_never_shown(http: Peer, kbp: Kbp) -> None:
    hard = http("--token", "s3cret")
    refused = kbp("list", "--header", "Authorization: Bearer wr0ng", *hard.options)
    assert refused.code == 3
    assert "HTTP 401" in refused.err
    assert 'WWW-Authenticate: Bearer realm="hard"' in refused.err
    assert "wr0ng" not in refused.err
    assert kbp("render", "plain", "--header", "Authorization: Bearer s3cret", *hard.options).out == PLAIN


def test_the_headers_of_the_newest_revision(http: Peer, kbp: Kbp, tmp_path: Path) -> None:
    hard = http("--headers", str(tmp_path / "headers"))
    kbp("render", "naïve", *hard.options)
    sent = [json.loads(line) for line in (tmp_path / "headers").read_text().splitlines()]
    assert [each.get("mcp-method") for each in sent] == ["server/discover", "prompts/list", "prompts/get"]
    assert {each.get("mcp-protocol-version") for each in sent} == {"2026-07-28"}
    assert sent[-1]["mcp-name"].isascii()


def test_a_person_who_leaves_stops_the_server(tmp_path: Path) -> None:
    hard = peers("stdio", tmp_path, ExitStack())(DELAY=20)
    command = [sys.executable, "-m", "kbp", "render", "plain", *hard.options]

    def listen() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a job in the background does not

    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=listen) as process:
        assert soon(lambda: bool(hard.sent("prompts/get")), 20)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert hard.sent("notifications/cancelled")
    assert soon(lambda: not hard.is_alive())


# HTTP as it is out there


def test_a_server_that_has_moved_is_followed(http: Peer, kbp: Kbp) -> None:
    hard = http()
    moved = hard.options[1].replace("/mcp", "/moved")
    assert kbp("render", "plain", "--server", moved).out == PLAIN


def test_a_proxy_of_the_environment_is_used(http: Peer, kbp: Kbp, monkeypatch: pytest.MonkeyPatch) -> None:
    hard = http()
    monkeypatch.setenv("HTTP_PROXY", hard.options[1].removesuffix("/mcp"))
    assert kbp("render", "plain", "--server", "http://nowhere.invalid/mcp").out == PLAIN


SLOW = [("/silent", (), ["--sse"]), ("/mcp", ("--hang", "notifications/initialized"), ["--revision", "legacy"])]
SLOW += [("/mcp", ("--hang", "prompts/get"), []), ("/mcp", ("--hang", "server/discover"), ["--revision", "2026-07-28"])]


@pytest.mark.parametrize(("path", "how", "options"), SLOW)
def test_a_time_out_bounds_every_wait(
    path: str, how: tuple[str, ...], options: list[str], http: Peer, kbp: Kbp
) -> None:
    server = http(*how).options[1].replace("/mcp", path)
    started = time.monotonic()
    result = kbp("render", "plain", "--server", server, "--timeout", "1", *options)
    assert time.monotonic() - started < 10
    assert (result.code, result.out) == (3, ""), result.err
    assert "within 1 seconds" in result.err


def test_a_session_that_has_ended_is_told(http: Peer, kbp: Kbp) -> None:
    result = kbp("render", "plain", *http("--expire", "5", REVISION="legacy").options)
    assert result.code == 3
    assert "answers with HTTP 404\n  its session may have ended" in result.err


def test_headers_are_read_once_and_merged_by_name(http: Peer, kbp: Kbp, home: Path, tmp_path: Path) -> None:
    hard = http("--headers", str(tmp_path / "headers"))
    content = {"mcpServers": {"h": {"url": hard.options[1], "headers": {"AUTHORIZATION": "old", "X-A": "a"}}}}
    (home / ".claude.json").write_text(json.dumps(content))
    reader, writer = os.pipe()
    os.write(writer, b"Bearer new\n")
    os.close(writer)
    assert kbp("render", "plain", "--server", "h", "--header", f"authorization: @/dev/fd/{reader}").out == PLAIN
    os.close(reader)
    sent = json.loads((tmp_path / "headers").read_text().splitlines()[0])
    assert (sent["authorization"], sent["x-a"]) == ("Bearer new", "a")


# Processes


def test_a_process_that_is_ended_ends_its_server(tmp_path: Path) -> None:
    hard = peers("stdio", tmp_path, ExitStack())(DELAY=20, IGNORE_EOF=1)
    for number, code in ((signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        hard.log.unlink(missing_ok=True)
        command = [sys.executable, "-m", "kbp", "render", "plain", *hard.options]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert soon(lambda: bool(hard.sent("prompts/get")), 20)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (code, b"", b"")
        assert soon(lambda: not hard.is_alive())


def test_the_answer_is_there_before_the_server_has_ended(tmp_path: Path) -> None:
    hard = peers("stdio", tmp_path, ExitStack())(IGNORE_EOF=1)
    for arguments in (["render", "plain"], ["render", "plain", "--revision", "auto"], ["list"], ["show", "plain"]):
        command = [sys.executable, "-m", "kbp", *arguments, *hard.options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            assert process.stdout.read(1)
            assert process.poll() is None, arguments


def test_a_program_that_outlives_the_server_is_not_waited_for(tmp_path: Path, kbp: Kbp) -> None:
    server = tmp_path / "server.sh"
    hard = shlex.join([sys.executable, str(Path(__file__).parent / "hard_server.py")])
    server.write_text(f"setsid sleep 30 &\nexec {hard}\n")
    started = time.monotonic()
    assert kbp("render", "plain", "--server-cmd", f"sh {server}").out == PLAIN
    assert time.monotonic() - started < 10
    subprocess.run(["pkill", "-f", "sleep 30"], check=False)
