"""Questions of a server: what a field takes, and what a person answers on a real terminal."""

import json
import shlex
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Tree
from live_servers import stdio_command
from terminals import Terminal

from kbp.ask.questions import _ask_field, _Raw
from kbp.ask.text import in_turn
from kbp.live.forms import Field, check, fields_of, read
from kbp.live.questions import Question, question_of

TEXT, NUMBER, INTEGER = {"type": "string"}, {"type": "number"}, {"type": "integer"}
SIZES = {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]}
TAGS = {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1, "maxItems": 2}

READ = [
    (TEXT, "x", "x"),
    (TEXT, "", ""),
    (TEXT, " two  words ", " two  words "),
    ({}, "x", "x"),
    ({"type": ["string", "null"]}, "x", "x"),
    (INTEGER, "5", 5),
    (INTEGER, " -5 ", -5),
    (NUMBER, "5", 5),
    (NUMBER, "0.5", 0.5),
    (NUMBER, "1e3", 1000.0),
    ({"type": "boolean"}, "yes", True),
    ({"type": "boolean"}, "False", False),
    ({"type": "boolean"}, "0", False),
    ({"enum": ["low", "high"]}, "high", "high"),
    ({"enum": ["l", "h"], "enumNames": ["Low", "High"]}, "High", "h"),
    ({"enum": [1, 2]}, "2", 2),
    (SIZES, "l", "l"),
    (SIZES, "Large", "l"),
    ({"anyOf": [{"const": "a"}]}, "a", "a"),
    (TAGS, "a, b", ["a", "b"]),
    (TAGS, '["b"]', ["b"]),
    ({"type": "array", "items": TEXT}, "x,y", ["x", "y"]),
    ({"type": "string", "format": "email"}, "a@b.example", "a@b.example"),
    ({"type": "string", "format": "date"}, "2026-02-28", "2026-02-28"),
    ({"type": "string", "format": "date-time"}, "2026-02-28T10:00:00Z", "2026-02-28T10:00:00Z"),
    ({"type": "string", "format": "uri"}, "https://example.test", "https://example.test"),
    ({"type": "string", "format": "unheard-of"}, "x", "x"),
    ({"type": "string", "pattern": "^a+$"}, "aaa", "aaa"),
    (
        {"type": "string", "pattern": "(a+)+$"},
        "a" * 40 + "b",
        "a" * 40 + "b",
    ),  # would take for ever: left to the server
    ({"type": "string", "pattern": "((a+)b?)+$"}, "a" * 29 + "!", "a" * 29 + "!"),
    ({"type": "string", "pattern": "a*a*a*a*b"}, "a" * 1000, "a" * 1000),
    ({"type": "string", "pattern": "("}, "x", "x"),
    ({"type": "string", "minLength": "2"}, "x", "x"),
]


@pytest.mark.parametrize(("schema", "text", "value"), READ)
def test_a_text_is_read_as_what_the_field_takes(schema: dict[str, Any], text: str, value: object) -> None:
    found = read(Field("f", schema), text)
    assert (found, type(found)) == (value, type(value))


REFUSED = [
    (INTEGER, "x", "this is a whole number"),
    (INTEGER, "5.5", "this is a whole number"),
    (NUMBER, "nan", "this is a number"),
    (NUMBER, "inf", "this is a number"),
    ({"type": "boolean"}, "perhaps", "this is yes or no"),
    ({"enum": ["low", "high"]}, "mid", "'mid' is none of low, high"),
    (TAGS, "a,c", "'c' is none of a, b"),
    (TAGS, "", "this is at least 1 of them"),
    (TAGS, "[", "this is no JSON list"),
    ({"type": "string", "minLength": 2}, "x", "this is at least 2 characters"),
    ({"type": "string", "maxLength": 2}, "xyz", "this is at most 2 characters"),
    ({**INTEGER, "minimum": 1}, "0", "this is at least 1"),
    ({**NUMBER, "maximum": 1.5}, "2", "this is at most 1.5"),
    ({"type": "string", "format": "email"}, "nobody", "this is no email"),
    ({"type": "string", "format": "date"}, "2026-13-01", "this is no date"),
    ({"type": "string", "format": "uri"}, "not a uri", "this is no uri"),
    ({"type": "string", "pattern": "^a+$"}, "b", "this does not match ^a+$"),
]


@pytest.mark.parametrize(("schema", "text", "said"), REFUSED)
def test_a_text_that_the_field_does_not_take_is_refused(schema: dict[str, Any], text: str, said: str) -> None:
    with pytest.raises(ValueError, match=r".+") as raised:
        read(Field("f", schema), text)
    assert str(raised.value) == said


WRONG_TYPES = [
    (TEXT, 5),
    (INTEGER, "5"),
    (INTEGER, 5.5),
    (INTEGER, True),
    (NUMBER, "x"),
    ({"type": "boolean"}, 1),
    (TAGS, "a"),
]


@pytest.mark.parametrize(("schema", "value"), WRONG_TYPES)
def test_a_value_of_another_type_is_refused(schema: dict[str, Any], value: object) -> None:
    with pytest.raises(ValueError, match="this is"):
        check(Field("f", schema), value)


QUESTIONS: list[tuple[Any, bool]] = [
    ({"message": "m", "requestedSchema": {"properties": {"a": TEXT}, "required": ["a"]}}, True),
    ({"mode": "form", "message": "m", "requestedSchema": {}}, True),
    ({"mode": "url", "message": "m", "url": "https://h"}, True),
    ({"mode": "url", "message": "m"}, False),
    ({"mode": "other", "requestedSchema": {}}, False),
    ({"message": "m"}, False),
    (None, False),
    ({"requestedSchema": {"properties": {"a": 5, "b": TEXT}, "required": "b"}}, True),
]


@pytest.mark.parametrize(("params", "is_known"), QUESTIONS)
def test_a_question_is_known_by_its_kind(params: Any, is_known: bool) -> None:
    found = question_of("k", params, "s")
    assert (found is not None) == is_known
    assert found is None or [field.name for field in fields_of(found)] in ([], ["a"], ["b"])


def test_a_field_says_what_a_person_sees() -> None:
    (field,) = fields_of(Question("k", "s", "m", {"a": {"title": "A", "description": "D", "default": 5}}, ("a",)))
    assert (field.title, field.description, field.default, field.required) == ("A", "D", 5, True)


# On a terminal


@pytest.fixture
def terminal(tmp_path: Path, home: Path) -> Iterator[Terminal]:
    with Terminal(tmp_path) as made:
        yield made


def hard(tmp_path: Path, **switches: object) -> list[str]:
    return ["--server-cmd", shlex.join(stdio_command(tmp_path / "log.jsonl", **switches))]


ANSWER = ("Your reply", ["Enter"])
FORM2 = [("level", ["Down", "Enter"]), ("count (required)", ["=7", "Enter"]), ("sure", ["=n", "Enter"])]

CONVERSATIONS: list[tuple[str, list[tuple[str, Sequence[str]]], dict[str, Any]]] = [
    (
        "form",
        [("More for the prompt, please (form)", ["Enter"]), ("Topic (required)", ["=cats", "Enter"])],
        {"topic": "cats"},
    ),
    (
        "form",
        [ANSWER, ("Topic (required)", ["=c", "Enter"]), ("at least 2 characters", ["=ats", "Enter"])],
        {"topic": "cats"},
    ),
    ("form2", [ANSWER, *FORM2], {"level": "high", "count": 7, "sure": False}),
    (
        "form2",
        [
            ANSWER,
            ("level", ["Enter"]),
            ("count", ["=x", "Enter"]),
            ("a whole number", ["BSpace", "=3", "Enter"]),
            ("sure", ["Enter"]),
        ],
        {"level": "low", "count": 3, "sure": True},
    ),
    (
        "form2",
        [
            ANSWER,
            ("level", ["Down", "Enter"]),
            ("count (required)", ["=7", "BTab"]),
            ("level", ["Enter"]),  # what was chosen stands there
            ("count (required)", ["Enter"]),
            ("sure", ["BTab"]),
            ("count (required)", ["BSpace", "=3", "Enter"]),  # what was typed stands there
            ("sure", ["=n", "Enter"]),
        ],
        {"level": "high", "count": 3, "sure": False},
    ),
    (
        "form3",
        [
            ANSWER,
            ("tags (required)", ["Enter"]),
            ("tags is required", ["Space", "Down", "Down", "Space", "Enter"]),
            ("mail", ["Enter"]),
            ("size", ["Down", "Down", "Enter"]),
            ("ratio", ["=0.5", "Enter"]),
        ],
        {"tags": ["a", "c"], "size": "l", "ratio": 0.5},
    ),
]


@pytest.mark.parametrize(("script", "dialogue", "content"), CONVERSATIONS)
def test_a_person_fills_in_a_form(
    script: str, dialogue: list[tuple[str, Sequence[str]]], content: dict[str, Any], terminal: Terminal, tmp_path: Path
) -> None:
    terminal.run("render", "ask", "-a", "topic=x", *hard(tmp_path, MRTR=script), shell="< /dev/null > out 2> err")
    terminal.answer(dialogue)
    assert terminal.done() == 0, (tmp_path / "err").read_text()
    answers = json.loads((tmp_path / "out").read_text().removeprefix("Answers: "))
    assert answers[f"q-{script}"] == {"action": "accept", "content": content}


SAID_NO = [
    (["Down", "Enter"], 3, "the client answered decline"),
    (["Down", "Down", "Enter"], 3, "answered cancel"),
    (["C-c"], 130, ""),
]


@pytest.mark.parametrize(("keys", "code", "said"), SAID_NO)
def test_a_person_says_no(keys: list[str], code: int, said: str, terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("render", "ask", "-a", "topic=x", *hard(tmp_path, MRTR="form"), shell="> out 2> err")
    terminal.answer([("Your reply", keys)])
    assert terminal.done() == code
    assert (tmp_path / "out").read_text() == ""
    assert said in (tmp_path / "err").read_text()
    assert "Traceback" not in (tmp_path / "err").read_text()


def test_ctrl_c_in_a_field_leaves_the_whole_run(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("render", "ask", "-a", "topic=x", *hard(tmp_path, MRTR="form"), shell="> out 2> err")
    terminal.answer([ANSWER, ("Topic", ["=ca", "C-c"])])
    assert terminal.done() == 130
    assert (tmp_path / "out").read_text() + (tmp_path / "err").read_text() == ""


def test_ctrl_d_in_a_field_leaves_with_one(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("render", "ask", "-a", "topic=x", *hard(tmp_path, MRTR="form"), shell="> out 2> err")
    terminal.answer([ANSWER, ("Topic", ["C-d"])])
    assert terminal.done() == 1
    assert (tmp_path / "out").read_text() == ""
    assert "Traceback" not in (tmp_path / "err").read_text()


def test_a_person_is_sent_to_an_address(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("render", "ask", "-a", "topic=x", *hard(tmp_path, MRTR="url"), shell="> out")
    terminal.wait("https://login.example.test/go?x=1")
    terminal.answer([("Visit login.example.test?", ["Down", "Enter"])])
    assert terminal.done() == 0
    assert (tmp_path / "out").read_text() == 'Answers: {"q-url": {"action": "accept"}}\n'


def test_an_older_server_waits_while_a_person_thinks(terminal: Terminal, tmp_path: Path) -> None:
    options = hard(tmp_path, REVISION="2025-06-18", ELICIT=1)
    terminal.run("render", "ask", "-a", "topic=", "--timeout", "1", *options, shell="> out")
    terminal.wait("Your reply")
    time.sleep(1.2)
    terminal.answer([ANSWER, ("Topic (required)", ["=cats", "Enter"])])
    assert terminal.done() == 0
    assert (tmp_path / "out").read_text() == "About cats\n"


def test_what_is_asked_is_safe_on_a_terminal(terminal: Terminal, tmp_path: Path) -> None:
    server = tmp_path / "server.py"
    server.write_text(HOSTILE)
    terminal.run("render", "p", "--server-cmd", shlex.join(["python3", str(server)]), shell="> out")
    screen = terminal.wait("Your reply")
    assert r"\x1b[2Jgone" in screen
    terminal.keys("Enter")
    assert r"\x1b]0;t\x07Title" in terminal.wait("Title")


HOSTILE = r"""
import json, sys
E = "\x1b"
for line in sys.stdin:
    message = json.loads(line)
    question = {"method": "elicitation/create", "params": {"message": E + "[2Jgone", "requestedSchema": {
        "properties": {"f": {"type": "string", "title": E + "]0;t\x07Title"}}, "required": ["f"]}}}
    result = {"supportedVersions": ["2026-07-28"], "capabilities": {"prompts": {}}, "prompts": [{"name": "p"}]}
    if message["method"] == "prompts/get":
        result = {"resultType": "input_required", "inputRequests": {"q": question}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


# Consent and inputs


def test_a_person_agrees_once_to_what_a_project_starts(terminal: Terminal, tree: Tree, tmp_path: Path) -> None:
    command, *arguments = stdio_command(tmp_path / "log")
    top = tree(
        {".mcp.json": json.dumps({"mcpServers": {"h": {"command": command, "args": arguments}}}), ".git/HEAD": ""}
    )
    dialogues: list[tuple[list[tuple[str, Sequence[str]]], int]] = [
        ([("Go on?", ["Enter"])], 2),
        ([("starts a program:", []), ("hard_server.py", []), ("Go on?", ["=y", "Enter"])], 0),
        ([], 0),
    ]
    for dialogue, code in dialogues:
        with Terminal(top) as again:
            again.run("list", "--server", "h", "-f", "names", shell="> out 2> err")
            again.answer(dialogue)
            assert again.done() == code, (top / "err").read_text()
            assert (top / "out").read_text().startswith("plain\n") == (code == 0)


def test_an_input_is_asked_for_and_a_secret_is_not_shown(terminal: Terminal, tree: Tree, tmp_path: Path) -> None:
    command, *arguments = stdio_command(tmp_path / "log")
    content = {
        "inputs": [{"id": "key", "type": "promptString", "description": "The key", "password": True}],
        "servers": {"h": {"command": command, "args": arguments, "env": {"HARD_MANY": "${input:key}"}}},
    }
    top = tree({".vscode/mcp.json": json.dumps(content), ".git/HEAD": ""})
    with Terminal(top) as again:
        again.run("list", "--server", "h", "-f", "names", "--yes", shell="> out")
        again.wait("The key")
        again.type("13")
        assert "13" not in again.wait("**")
        again.keys("Enter")
        assert again.done() == 0
    assert len((top / "out").read_text().splitlines()) == 38


LEFT_AND_TAKEN = [
    ({"type": "boolean", "default": False}, "\x1b[Z\r", False),
    ({"type": "boolean", "default": True}, "\x1b[Z\r", True),
    ({"type": "string", "enum": ["a", "b"], "default": "b"}, "\x1b[Z\r", "b"),
    ({"type": "string", "default": "x"}, "y\x1b[Z\r", "xy"),
]


@pytest.mark.parametrize(("schema", "keys", "expected"), LEFT_AND_TAKEN)
def test_a_field_that_is_left_keeps_its_default_or_what_is_typed(schema: Any, keys: str, expected: Any) -> None:
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    field = Field("f", schema)
    with create_pipe_input() as pipe:
        pipe.send_text(keys)
        io = {"input": pipe, "output": DummyOutput()}
        (answer,) = in_turn([lambda before: _ask_field(field, io, before)], _Raw)
    assert answer.value(field) == expected
