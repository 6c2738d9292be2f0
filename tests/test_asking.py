"""Missing arguments, asked for on a real terminal."""

import asyncio
import os
import re
import shlex
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

import pytest
from conftest import LIBRARY, TESTS
from live_servers import Hard, stdio_command
from terminals import KBP, Terminal

from kbp.ask import terminal as terminals
from kbp.ask.arguments import _completer
from kbp.model import Argument
from kbp.values import Answer, answer_of

TWO = """---
description: Two
arguments:
- {name: app, description: The workload, required: true}
- {name: zone, required: true}
- {name: since, default: 1h}
---
<{{ app }}> <{{ zone }}> <{{ since }}>
"""
Dialogue = list[tuple[str, Sequence[str]]]


@pytest.fixture
def two(tmp_path: Path, home: Path) -> Iterator[tuple[Terminal, Path]]:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/two.md").write_text(TWO)
    with Terminal(tmp_path) as made:
        yield made, tmp_path / "out"


AGAIN = "<ab> <z> <1h>\n"
CONVERSATIONS: list[tuple[str, Dialogue, str]] = [
    ("", [("app (required) The workload:", ["=a", "Enter"]), ("zone (required):", ["=z", "Enter"])], "<a> <z> <1h>\n"),
    ("-a zone=z", [("app", ["=a b", "Enter"])], "<a b> <z> <1h>\n"),
    ("-a zone=z", [("app", ["Enter"]), ("app is required", ["=a", "Enter"])], "<a> <z> <1h>\n"),
    ("-a zone=z -a since=2h", [("app", ["=one", "M-Enter", "=two", "Enter"])], "<one\ntwo> <z> <2h>\n"),
    (
        "",
        [("app", ["=a", "Enter"]), ("zone", ["BTab"]), ("app", ["=b", "Enter"]), ("zone", ["=z", "Enter"])],
        "<ab> <z> <1h>\n",
    ),
]


@pytest.mark.parametrize(("given", "dialogue", "expected"), CONVERSATIONS)
def test_a_person_is_asked_for_what_is_missing(
    given: str, dialogue: Dialogue, expected: str, two: tuple[Terminal, Path]
) -> None:
    terminal, out = two
    terminal.run("render", "two", *shlex.split(given), shell="> out 2> err")
    terminal.answer(dialogue)
    assert terminal.done() == 0, (out.parent / "err").read_text()
    assert out.read_text() == expected


def test_lines_that_are_pasted_are_one_value(two: tuple[Terminal, Path]) -> None:
    terminal, out = two
    terminal.run("render", "two", "-a", "zone=z", shell="> out")
    terminal.wait("app")
    terminal.paste("first\nsecond\n日本")
    terminal.wait("日本")
    terminal.keys("Enter")
    assert terminal.done() == 0
    assert out.read_text() == "<first\nsecond\n日本> <z> <1h>\n"


STREAMS = [
    "< /dev/null > out 2> err",
    "> out < /dev/zero 2> err",
    "2> err | cat > out",
    "> out 2> err <&-",
    "> out 2>&-",
]


@pytest.mark.parametrize("streams", STREAMS)
def test_the_streams_stay_free_for_data(streams: str, two: tuple[Terminal, Path]) -> None:
    terminal, out = two
    terminal.run("render", "two", "-a", "zone=z", shell=streams)
    terminal.answer([("app", ["=a", "Enter"])])
    assert terminal.done() == 0
    assert out.read_text() == "<a> <z> <1h>\n"


@pytest.mark.parametrize(("keys", "code"), [(["C-c"], 130), (["=x", "C-c"], 130), (["C-d"], 1)])
def test_a_person_leaves(keys: list[str], code: int, two: tuple[Terminal, Path]) -> None:
    terminal, out = two
    terminal.run("render", "two", shell="> out 2> err")
    terminal.answer([("app", keys)])
    assert terminal.done() == code
    assert out.read_text() + (out.parent / "err").read_text() == ""


@pytest.mark.parametrize("options", [["--no-input"], ["-a", "nothing=1"]])
def test_nobody_is_asked_where_that_is_of_no_use(options: list[str], two: tuple[Terminal, Path]) -> None:
    terminal, out = two
    terminal.run("render", "two", *options, shell="> out 2> err")
    assert terminal.done() == 2
    assert "needs 2 arguments that were not given" in (out.parent / "err").read_text()


def test_a_server_offers_values_while_a_person_types(two: tuple[Terminal, Path]) -> None:
    terminal, out = two
    hard = Hard(("--server-cmd", shlex.join(stdio_command(out.parent / "log"))), out.parent / "log")
    terminal.run("render", "need", *hard.options, shell="> out")
    terminal.answer([("app (required) The workload", ["=al"]), ("alpha", ["Tab", "Enter", "Enter"])])
    assert terminal.done() == 0
    assert out.read_text() == "Look at alpha since 1h.\n"
    assert hard.sent("completion/complete")[-1]["params"]["argument"] == {"name": "app", "value": "al"}


FORBIDDEN = [("CI", "true"), ("KBP_NO_INPUT", "1"), ("TERM", "dumb"), ("TERM", "")]


@pytest.mark.parametrize(("name", "value"), FORBIDDEN)
def test_the_environment_may_forbid_questions(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KBP_NO_INPUT")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(terminals, "_TERMINAL", "/dev/null")
    assert terminals.may_ask()
    assert not terminals.may_ask(no_input=True)
    monkeypatch.setenv(name, value)
    assert not terminals.may_ask()


def test_without_a_terminal_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KBP_NO_INPUT")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(terminals, "_TERMINAL", str(LIBRARY / "nothing"))
    assert not terminals.may_ask()


def test_a_new_prompt_is_asked_about(tmp_path: Path, home: Path) -> None:
    (tmp_path / "kbp.toml").write_text("")
    with Terminal(tmp_path) as terminal:
        terminal.run("new", "git/commit", shell="> out 2> err")
        terminal.answer([("What does it do?", ["=Commit what is staged", "Enter"]), ("An argument", ["=a b", "Enter"])])
        terminal.answer([("a name is letters", ["C-u", "=scope!", "Enter"]), ("An argument", ["=scope", "Enter"])])
        terminal.answer([("is there already", ["C-u", "=style=short", "Enter"])])
        terminal.wait("style=short")
        terminal.keys("Enter")
        assert terminal.done() == 0, (tmp_path / "err").read_text()
    assert (tmp_path / "out").read_text() == "prompts/git/commit.md\n"
    assert (tmp_path / "prompts/git/commit.md").read_text() == NEW


NEW = """---
description: "Commit what is staged"
arguments:
- name: scope
  required: true
- name: style
  default: short
---
Say here what is to be done.

scope: {{ scope }}

style: {{ style }}
"""


def test_nothing_is_asked_about_a_prompt_that_is_there(tmp_path: Path, home: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/x.md").write_text("mine\n")
    with Terminal(tmp_path) as terminal:
        terminal.run("new", "x", shell="2> err")
        assert terminal.done() == 2
    assert (tmp_path / "err").read_text() == "error: prompts/x.md is there already\n"


# Without a terminal


MATRIX = ["< /dev/null", "<&-", "< <(exec sleep 30 >&- 2>&-)", "< <(echo y)"]


@pytest.mark.parametrize("streams", MATRIX)
@pytest.mark.parametrize("command", ["render two", "pick", "pick two", "render need --server-cmd SERVER"])
def test_without_a_terminal_it_ends_at_once(
    command: str, streams: str, two: tuple[Terminal, Path], tmp_path: Path
) -> None:
    server = shlex.quote(shlex.join(stdio_command(tmp_path / "log")))
    line = f"{shlex.join(KBP)} {command.replace('SERVER', server)} {streams}"
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "KBP_NO_INPUT")}
    environment |= {"TERM": "xterm", "PYTHONPATH": str(TESTS.parent / "cli")}
    run = ["setsid", "-w", "bash", "-c"]
    started = time.monotonic()
    subprocess.run([*run, shlex.join([*KBP, "render", "--help"])], capture_output=True, env=environment, check=True)
    nothing = time.monotonic() - started  # as long as kbp takes on this machine now
    started = time.monotonic()
    done = subprocess.run(
        [*run, line], cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=60, check=False
    )
    took = time.monotonic() - started
    assert (done.returncode, done.stdout) == (2, "")
    assert "kbp render NAME -a NAME=VALUE" in done.stderr if command.startswith("pick") else "give " in done.stderr
    assert "-a app=" in done.stderr or command.startswith("pick")
    assert took < 2 + 2 * nothing, "it waited"


OFFERED = [
    ("@/etc/passwd", None, "", ["@@/etc/passwd"]),
    ("plain", None, "pl", ["plain"]),
    (None, ["@/etc/passwd", "x"], "", ["@@/etc/passwd", "x"]),
    (None, ["@me"], "@@m", ["@@me"]),
]


@pytest.mark.parametrize(("default", "offered", "typed", "expected"), OFFERED)
def test_what_others_offer_never_names_a_file(
    default: str | None, offered: list[str] | None, typed: str, expected: list[str]
) -> None:
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    argument = Argument("x", default=default)

    async def texts() -> list[str]:
        found = completer.get_completions_async(Document(typed), CompleteEvent(completion_requested=True))
        return [each.text async for each in found]

    with mock.patch("prompt_toolkit.application.current.get_app") as app:
        app.return_value.current_buffer.document = Document(typed)
        completer = _completer(argument, {}, (lambda name, text, others: offered) if offered else None, [])
        assert asyncio.run(texts()) == expected
    assert [answer_of(text).value.startswith("@") for text in expected] == [text.startswith("@@") for text in expected]


MEANT = [
    ("a\n", "a", "a"),
    ("a\n\n", "a\n", "a\n"),
    ("@@x", "@@x", "@x"),
    ("-", "-", "-"),
    ("@v.txt", "@v.txt", "in it"),
]


@pytest.mark.parametrize(("typed", "kept", "value"), MEANT)
def test_what_is_typed_means_a_value(
    typed: str, kept: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "v.txt").write_text("in it\n")
    monkeypatch.chdir(tmp_path)
    assert answer_of(typed) == Answer(kept, value)


FAULTY = [
    ("@", "this is a folder"),
    ("@none", "there is no file 'none' (@@… is a text)"),
    ("@pipe", "'pipe' is no file"),
    ("\udcff", "UTF-8"),
]


@pytest.mark.parametrize(("typed", "said"), FAULTY)
def test_what_means_no_value_is_told(typed: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=re.escape(said)):
        answer_of(typed)
