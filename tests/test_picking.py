"""`kbp pick` on a real terminal: whole conversations, from the picker to the output."""

import itertools
import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest
from conftest import LIBRARY, TESTS, Golden, Kbp
from live_servers import Hard, stdio_command
from pictures import svg_of
from terminals import KBP, PATIENCE, Terminal

from kbp import history
from kbp.commands.asking import Past, tell_command
from kbp.commands.calling import Call, Calling
from kbp.commands.console import Console
from kbp.commands.given import Given
from kbp.commands.live import Live
from kbp.commands.way import Way
from kbp.display import quoted, safe
from kbp.live.base import Unreachable
from kbp.live.source import LiveSource
from kbp.model import Argument

DEBUG = """---
description: Debug the logs of a workload
arguments:
- {name: app, description: The workload to look at., required: true}
- {name: since, default: 1h}
- {name: note}
---
<{{ app }}> <{{ since }}> <{{ note }}>
"""
FILES = {
    "prompts/debug.md": DEBUG,
    "prompts/plain.md": "---\ndescription: No arguments at all\n---\nJust this.\n",
    "prompts/日本_レビュー.md": "---\ndescription: 広い名前\narguments: [{name: x}]\n---\n日本の{{ x }}\n",
    "commands/incident.md": "---\ndescription: Open one\n---\nOpen $ARGUMENTS\n",
}
Dialogue = Sequence[tuple[str, Sequence[str]]]
Screen = Callable[..., Terminal]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "lib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "lib"


@pytest.fixture
def screen(folder: Path, home: Path) -> Iterator[Screen]:
    made: list[Terminal] = []

    def make(columns: int = 80, rows: int = 24) -> Terminal:
        made.append(Terminal(folder, columns, rows))
        return made[-1]

    yield make
    for each in made:
        each.__exit__(None, None, None)


PICKED: Dialogue = [
    ("prompt:", ["=deb", "Enter"]),
    ("? app (required)", ["=loki", "Enter"]),
    ("? since [1h]", ["Enter"]),
    ("? note", ["=n 1", "Enter"]),
]
OUT = "<loki> <1h> <n 1>\n"
LINE = "kbp render debug -a app=loki -a note='n 1'\n"


@pytest.mark.parametrize("color", ["auto", "never"])
@pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 10), (20, 5)])
def test_a_prompt_is_picked_and_filled_in(size: tuple[int, int], color: str, screen: Screen, folder: Path) -> None:
    terminal = screen(*size)
    terminal.run("pick", "--color", color, shell="> out 2> err")
    listed = terminal.wait("prompt:")
    assert "Esc leave" in terminal.wait("4/4")
    assert ("│" in listed) == (size[0] >= 90)
    assert ("─────" in listed) == (size == (80, 24))
    terminal.answer(PICKED)
    assert terminal.done() == 0
    assert (folder / "out").read_text() == OUT
    assert (folder / "err").read_text() == LINE
    assert "? prompt: debug" in terminal.screen() or size[1] < 10


COLORS = [
    ("auto", {}, True),
    ("never", {}, False),
    ("auto", {"NO_COLOR": "1"}, False),
    ("always", {"NO_COLOR": "1"}, True),
]


@pytest.mark.parametrize(("flag", "environment", "expected"), COLORS)
def test_colours_are_as_wanted(flag: str, environment: dict[str, str], expected: bool, screen: Screen) -> None:
    terminal = screen()
    terminal.run("pick", "--color", flag, **environment)
    terminal.wait("4/4")
    assert has_color(terminal.screen(color=True)) == expected
    terminal.answer([("4/4", ["=deb", "Enter"])])
    terminal.wait("? app (required)")
    assert has_color(terminal.screen(color=True)) == expected


def has_color(text: str) -> bool:
    """Whether a screen has sequences that name a colour: 30 to 38 and 90 to 97."""
    return any(
        30 <= int(number) <= 38 or 90 <= int(number) <= 97
        for sequence in text.split("\x1b[")[1:]
        for number in sequence.partition("m")[0].split(";")
        if number.isdigit()
    )


INPUTS = ["", "< /dev/null", "<&-", "< <(sleep 60)", "< file"]
OUTPUTS = ["> out", "| cat > out"]
ERRORS = ["2> err", "2>&-", ""]


@pytest.mark.parametrize("streams", [" ".join(each) for each in itertools.product(INPUTS, ERRORS, OUTPUTS)])
def test_only_the_result_is_on_stdout(streams: str, screen: Screen, folder: Path) -> None:
    (folder / "file").write_text("x\n\n\n")
    terminal = screen()
    terminal.run("pick", shell=streams)
    terminal.answer(PICKED)
    assert terminal.done() == 0
    assert (folder / "out").read_text() == OUT
    assert not (folder / "err").exists() or (folder / "err").read_text() == LINE


def test_on_a_terminal_alone_the_result_is_shown(screen: Screen) -> None:
    terminal = screen()
    terminal.run("pick", "plain")
    terminal.answer([("1/4", ["Enter"])])
    assert terminal.done() == 0
    assert "Just this.\n" in terminal.screen()


def test_stdin_may_be_a_value(screen: Screen, folder: Path) -> None:
    (folder / "log").write_text("from stdin\n")
    terminal = screen()
    terminal.run("pick", "deb", "-a", "app=-", "--required-only", shell="< log > out 2> err")
    terminal.answer([("1/4", ["Enter"])])
    assert terminal.done() == 0
    assert (folder / "out").read_text() == "<from stdin> <1h> <>\n"
    assert (folder / "err").read_text() == "kbp render debug -a app=-\n"


LEAVING: list[tuple[Dialogue, int]] = [
    ([("4/4", ["Escape"])], 130),
    ([("4/4", ["C-c"])], 130),
    ([("4/4", ["=deb", "C-c"])], 130),
    ([("4/4", ["=zzz"]), ("nothing fits", ["Enter", "C-c"])], 130),
    ([("4/4", ["C-d"])], 1),
    ([*PICKED[:1], ("? app", ["C-c"])], 130),
    ([*PICKED[:1], ("? app", ["=x", "C-c"])], 130),
    ([*PICKED[:1], ("? app", ["C-d"])], 1),
    ([*PICKED[:2], ("? since", ["C-c"])], 130),
    ([*PICKED[:3], ("? note", ["C-c"])], 130),
    ([*PICKED[:3], ("? note", ["C-d"])], 1),
]


@pytest.mark.parametrize(("dialogue", "code"), LEAVING)
def test_a_person_leaves_at_any_step(dialogue: Dialogue, code: int, screen: Screen, folder: Path) -> None:
    terminal = screen()
    terminal.run("pick", shell="> out 2> err")
    terminal.answer(dialogue)
    assert terminal.done() == code
    assert (folder / "out").read_text() + (folder / "err").read_text() == ""


ANSWERS: list[tuple[str, Dialogue, str]] = [
    ("an empty required one is refused", [("? app", ["Enter"]), ("app is required", ["=a", "Enter"])], "<a> <1h> <>\n"),
    ("a new line", [("? app", ["=a", "M-Enter", "=b", "Enter"])], "<a\nb> <1h> <>\n"),
    ("a file", [("? app", ["=@value.txt", "Enter"])], "<in the file> <1h> <>\n"),
    ("no file", [("? app", ["=@none", "Enter"]), ("there is no file 'none'", ["C-u", "=a", "Enter"])], "<a> <1h> <>\n"),
    ("an at sign", [("? app", ["=@@me", "Enter"])], "<@me> <1h> <>\n"),
    ("a dash", [("? app", ["=-", "Enter"])], "<-> <1h> <>\n"),
    ("a path by Tab", [("? app", ["=@val", "Tab"]), ("@value.txt", ["Enter"])], "<in the file> <1h> <>\n"),
    (
        "back",
        [
            ("? app", ["=a", "Enter"]),
            ("? since", ["BTab"]),
            ("? app (required) The workload to look at: a", ["=b", "Enter"]),
        ],
        "<ab> <1h> <>\n",
    ),
    ("wide ones", [("? app", ["=日本🧑‍🚀", "Enter"])], "<日本🧑‍🚀> <1h> <>\n"),
    ("an editor", [("? app", ["=x", "C-x", "C-e"])], "<x, edited> <1h> <>\n"),
]


@pytest.mark.parametrize(("dialogue", "expected"), [each[1:] for each in ANSWERS], ids=[each[0] for each in ANSWERS])
def test_an_argument_is_answered(dialogue: Dialogue, expected: str, screen: Screen, folder: Path) -> None:
    (folder / "value.txt").write_text("in the file\n")
    terminal = screen()
    terminal.run("pick", "deb", shell="< /dev/null | cat > out 2> err", EDITOR=editor(folder, "printf ', edited' >>"))
    terminal.answer([("1/4", ["Enter"]), *dialogue, ("? since", ["Enter"]), ("? note", ["Enter"])])
    assert terminal.done() == 0
    assert (folder / "out").read_text() == expected


def editor(folder: Path, does: str) -> str:
    """An editor that needs a terminal and does something to the file."""
    path = folder / "an editor"
    path.write_text(f'#!/bin/sh\ntest -t 0 && test -t 1 && test -t 2 || exit 1\n{does} "$1"\n')
    path.chmod(0o755)
    return shlex.quote(str(path))


def test_what_is_typed_is_what_the_command_says(screen: Screen, folder: Path, kbp: Kbp) -> None:
    (folder / "value.txt").write_text("in the file\n")
    terminal = screen()
    terminal.run("pick", "deb", "--print", "command", shell="> out 2> err")
    terminal.answer([("1/4", ["Enter"]), ("? app", ["=it's \\ @x", "Enter"]), ("? since", ["=@value.txt", "Enter"])])
    terminal.answer([("? note", ["=@@me", "M-Enter", "=$HOME `x`", "Enter"])])
    assert terminal.done() == 0
    command = (folder / "out").read_text()
    assert (
        command == "kbp render debug -a app='it'\"'\"'s '\"\\\\\"' @x' -a since=@value.txt -A note='@me\n$HOME `x`'\n"
    )
    assert (folder / "err").read_text() == ""
    _, *arguments = shlex.split(command)
    assert kbp(*arguments, cwd=folder).out == "<it's \\ @x> <in the file> <@me\n$HOME `x`>\n"


PRINTED = [("name", "debug\n", 1), ("args", '{"app": "loki", "note": "n 1"}', 4), ("command", LINE, 4)]


@pytest.mark.parametrize(("wanted", "expected", "steps"), PRINTED)
def test_something_else_is_printed(wanted: str, expected: str, steps: int, screen: Screen, folder: Path) -> None:
    terminal = screen()
    terminal.run("pick", "--print", wanted, shell="> out 2> err")
    terminal.answer(PICKED[:steps])
    assert terminal.done() == 0
    out = (folder / "out").read_text()
    assert (json.loads(out) == json.loads(expected)) if wanted == "args" else (out == expected)
    assert (folder / "err").read_text() == ""


def test_the_printed_values_are_values_again(screen: Screen, folder: Path, kbp: Kbp) -> None:
    terminal = screen()
    terminal.run("pick", "--print", "args", shell="> out.json")
    terminal.answer(PICKED)
    assert terminal.done() == 0
    assert kbp("render", "debug", "--args", "out.json", cwd=folder).out == OUT


def test_lines_that_are_pasted_are_one_value(screen: Screen, folder: Path) -> None:
    terminal = screen(40, 10)
    terminal.run("pick", "deb", "--required-only", shell="> out")
    terminal.answer([("1/4", ["Enter"])])
    terminal.wait("? app")
    terminal.paste("one\ntwo\tthree\n\nfour")
    terminal.wait("four")
    terminal.keys("Enter")
    assert terminal.done() == 0
    assert (folder / "out").read_text() == "<one\ntwo\tthree\n\nfour> <1h> <>\n"


def test_what_is_typed_ahead_waits_for_its_question(screen: Screen, folder: Path) -> None:
    terminal = screen()
    terminal.run("pick", shell="> out")
    terminal.wait("4/4")
    terminal.keys("d", "e", "b", "Enter", "a", "Escape", "Enter", "b", "Enter", "2", "h", "Enter", "Enter")
    assert terminal.done() == 0
    assert (folder / "out").read_text() == "<a\nb> <2h> <>\n"


def test_lines_pasted_into_the_picker_pick_nothing(screen: Screen) -> None:
    terminal = screen()
    terminal.run("pick")
    terminal.wait("4/4")
    terminal.paste("deb\n\nzz\n")
    terminal.wait("nothing fits")
    terminal.keys("Escape")
    assert terminal.done() == 130


def test_names_of_any_script_are_found(screen: Screen, folder: Path) -> None:
    terminal = screen()
    terminal.run("pick", shell="> out")
    terminal.answer(
        [("4/4", ["=レビ"]), ("1/4", ["Tab"]), ("prompt: 日本_レビュー", ["Enter"]), ("x", ["=語", "Enter"])]
    )
    assert terminal.done() == 0
    assert (folder / "out").read_text() == "日本の語\n"


def test_moving_goes_round(screen: Screen, folder: Path) -> None:
    terminal = screen()
    terminal.run("pick", "--print", "name", shell="> out")
    terminal.answer(
        [("4/4", ["Up"]), ("› 日本", ["Down", "Down", "Down"]), ("› plain", ["PageUp", "C-n", "C-p", "Down"])]
    )
    terminal.answer([("› incident", ["Enter"])])
    assert terminal.done() == 0
    assert (folder / "out").read_text() == "incident\n"


def test_a_file_is_edited_from_the_picker(screen: Screen, folder: Path) -> None:
    terminal = screen()
    change = "sed -i 's/^Just.*/Now that./; s/No arg/Other arg/'"
    terminal.run("pick", "pla", shell="< /dev/null | cat > out", EDITOR=editor(folder, change))
    terminal.answer([("No arguments", ["C-e"]), ("Other arguments", ["Enter"])])
    assert terminal.done() == 0
    assert (folder / "out").read_text() == "Now that.\n"


def test_a_file_is_edited_by_name(screen: Screen, folder: Path, kbp: Kbp, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = screen()
    terminal.run("edit", "plain", shell="< /dev/null > out", EDITOR=editor(folder, "printf 'More.\n' >>"))
    assert terminal.done() == 0
    assert (folder / "prompts/plain.md").read_text().endswith("Just this.\nMore.\n")
    monkeypatch.setenv("EDITOR", "false")
    assert kbp("edit", "plain", cwd=folder).code == 1
    monkeypatch.setenv("EDITOR", "no-such-editor -w")
    result = kbp("edit", "plain", cwd=folder)
    assert (result.code, result.err) == (2, "error: no-such-editor cannot be started: no such file or directory\n")
    assert kbp("edit", "-", cwd=folder).code == 2
    assert "no prompt is called 'plane'" in kbp("edit", "plane", cwd=folder).err


# What is remembered


def test_answers_are_remembered(screen: Screen, folder: Path, home: Path, kbp: Kbp) -> None:
    for app in ("first", "second"):
        terminal = screen()
        terminal.run("pick", "deb", shell="> out")
        terminal.answer(
            [("1/4", ["Enter"]), ("? app", [f"={app}", "Enter"]), ("? since", ["Enter"]), ("? note", ["Enter"])]
        )
        assert terminal.done() == 0
    terminal = screen()
    terminal.run("pick", shell="> out")
    assert terminal.wait("4/4").index("debug") < terminal.screen().index("incident"), "the last one is not the first"
    terminal.answer([("› debug", ["Enter"]), ("? app", ["Up"]), ("second", ["Up"]), ("first", ["Enter"])])
    terminal.answer([("? since", ["Enter"]), ("? note", ["Enter"])])
    assert terminal.done() == 0
    assert (folder / "out").read_text() == "<first> <1h> <>\n"
    files = list((home / "state/kbp/history").iterdir())
    assert [stat.S_IMODE(path.stat().st_mode) for path in files] == [0o600]
    assert stat.S_IMODE(files[0].parent.stat().st_mode) == 0o700
    assert kbp("render", "debug", "--last", cwd=folder).out == "<first> <1h> <>\n"
    assert kbp("render", "debug", "--last", "-a", "app=mine", cwd=folder).out == "<mine> <1h> <>\n"
    result = kbp("history", "clear")
    assert (result.code, result.err) == (0, "forgot the answers of 1 prompt\n")
    assert not list((home / "state/kbp/history").iterdir())
    result = kbp("render", "debug", "--last", cwd=folder)
    assert result.code == 2
    assert result.err.startswith("hint: no answers are remembered for this prompt\nerror: debug needs 1 argument")


OFF: list[tuple[list[str], str]] = [(["--no-history"], ""), ([], "history = false\n")]


@pytest.mark.parametrize(("options", "own"), OFF)
def test_nothing_is_remembered_where_that_is_switched_off(
    options: list[str], own: str, screen: Screen, home: Path, folder: Path
) -> None:
    (home / "config/kbp").mkdir(parents=True)
    (home / "config/kbp/config.toml").write_text(own)
    terminal = screen()
    terminal.run("pick", "deb", *options, shell="> out")
    terminal.answer([("1/4", ["Enter"]), *PICKED[1:]])
    assert terminal.done() == 0
    assert not (home / "state/kbp/history").exists()


def test_secrets_are_not_remembered_nor_told(screen: Screen, home: Path, folder: Path) -> None:
    text = "---\narguments:\n- {name: api_token}\n- {name: app}\n---\n{{ api_token }}{{ app }}\n"
    (folder / "prompts/login.md").write_text(text)
    terminal = screen()
    terminal.run("pick", "login", shell="> out 2> err")
    terminal.answer([("1/5", ["Enter"]), ("? api_token", ["=s3cr3t", "Enter"]), ("? app", ["=loki", "Enter"])])
    assert terminal.done() == 0
    (kept,) = (home / "state/kbp/history").iterdir()
    assert "loki" in kept.read_text()
    assert "s3cr3t" not in kept.read_text()
    hint = "hint: the command below takes API_TOKEN from the environment\n"
    assert (folder / "err").read_text() == hint + 'kbp render login -A api_token="$API_TOKEN" -a app=loki\n'


SECRETS = ["token", "API_KEY", "apiKey", "accessTokenId", "db-password", "secrets", "passwd", "sshKey", "Credentials"]
PUBLIC = ["app", "keyword", "tokenizer_model", "passage", "secretary", "since", "日本"]


@pytest.mark.parametrize(
    ("name", "expected"), [*((each, True) for each in SECRETS), *((each, False) for each in PUBLIC)]
)
def test_secrets_are_known_by_their_name(name: str, expected: bool) -> None:
    assert history.is_secret(name) == expected


def test_what_is_kept_is_bounded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(history.MAX_ANSWERS + 5):
        history.remember("file /a", {"x": str(at)})
    assert history.earlier("file /a", "x") == [str(at) for at in range(24, 4, -1)]
    history.remember("file /a", {"x": "y" * 100_000, "y": "1"})
    assert history.answered("file /a")[0] == {"y": "1"}
    monkeypatch.setattr(history, "MAX_PROMPTS", 3)
    for name in "bcde":
        history.touch(f"file /{name}")
        time.sleep(0.01)
    assert history.latest() == ["file /e", "file /d", "file /c"]


SPOILT = ["", "{", "[]", '{"answers": 5, "at": 1.0}', '{"answers": [5, {"x": 5}], "at": "x"}', "[" * 100_000]


@pytest.mark.parametrize("text", SPOILT)
def test_what_is_kept_may_be_spoilt(text: str, home: Path) -> None:
    history.remember("file /a", {"x": "1"})
    (path,) = (home / "state/kbp/history").iterdir()
    path.write_text(text)
    assert history.answered("file /a") == []
    assert history.latest() == []
    history.remember("file /a", {"x": "2"})
    assert history.answered("file /a") == [{"x": "2"}]


# Live servers


def test_a_prompt_of_a_server_is_picked(screen: Screen, folder: Path) -> None:
    terminal = screen()
    hard = Hard(("--server-cmd", shlex.join(stdio_command(folder / "log"))), folder / "log")
    terminal.run("pick", *hard.options, shell="> out 2> err")
    terminal.answer([("25/25", ["=need"]), ("6/25", ["Enter"]), ("? app (required) The workload", ["=al"])])
    terminal.answer([("alpha", ["Tab", "Enter", "Enter"]), ("? since", ["Enter"])])
    assert terminal.done() == 0, (folder / "err").read_text()
    assert (folder / "out").read_text() == "Look at alpha since 1h.\n"
    options = " ".join(map(quoted, hard.options))
    assert (folder / "err").read_text() == f"kbp render need -a app=alpha {options}\n"


def test_files_and_a_server_are_one_list(screen: Screen, folder: Path) -> None:
    (folder / "kbp.toml").write_text(f"[servers.docs]\ncommand = {json.dumps(stdio_command(folder / 'log')[0])}\n")
    arguments = json.dumps(stdio_command(folder / "log")[1:])
    with (folder / "kbp.toml").open("a") as file:
        file.write(f"args = {arguments}\n")
    terminal = screen()
    terminal.run("pick", "--server", "docs", "--yes", "-p", ".", "--print", "name", shell="> out 2> err")
    terminal.answer([("29/29", ["=docs:pla", "Enter"])])
    assert terminal.done() == 0, (folder / "err").read_text()
    assert (folder / "out").read_text() == "docs:plain\n"


# No terminal


@pytest.mark.parametrize("options", [[], ["deb"], ["--print", "name"], ["--server-cmd", "false"]])
def test_without_a_terminal_it_says_so(options: list[str], kbp: Kbp, folder: Path) -> None:
    result = kbp("pick", *options, cwd=folder)
    assert (result.code, result.out) == (2, "")
    assert "kbp pick asks on a terminal, and there is none that may be asked on" in result.err
    assert "kbp render NAME -a NAME=VALUE" in result.err


WRONG = [
    (["--print", "nmae"], "--print: there is no 'nmae'; did you mean 'name'?"),
    (["-p", "-"], "a prompt on stdin is not one of many"),
    (["--copy", "-o", "x"], "--copy and --output: give one of them"),
    (["--format", "jsn"], "--format: there is no 'jsn'; did you mean 'json'?"),
    (["--server-cmd", "x", "--explain"], "--explain tells of the placeholders of a file"),
]


@pytest.mark.parametrize(("options", "said"), WRONG)
def test_wrong_options_are_told_at_once(options: list[str], said: str, kbp: Kbp, folder: Path) -> None:
    result = kbp("pick", *options, cwd=folder)
    assert (result.code, result.out) == (2, "")
    assert said in result.err


def test_it_is_the_clipboard_of_the_terminal_where_there_is_no_other(screen: Screen, folder: Path) -> None:
    terminal = screen()
    terminal.run("pick", "plain", "--copy", shell="2> err", DISPLAY="", WAYLAND_DISPLAY="", PATH=f"{folder}:/nowhere")
    terminal.answer([("1/4", ["Enter"])])
    assert terminal.done() == 0
    assert terminal.clipboard() == "Just this.\n"
    assert "handed to the terminal's clipboard" in (folder / "err").read_text()


def test_it_is_the_clipboard_of_the_desktop(screen: Screen, folder: Path) -> None:
    program = folder / "xclip"
    program.write_text(f"#!/bin/sh\ncat > {shlex.quote(str(folder))}/copied\n")
    program.chmod(0o755)
    terminal = screen()
    terminal.run("render", "plain", "--copy", shell="> out 2> err", DISPLAY=":9", PATH=f"{folder}:{os.environ['PATH']}")
    assert terminal.done() == 0
    assert ((folder / "copied").read_text(), (folder / "out").read_text()) == ("Just this.\n", "")
    assert (folder / "err").read_text() == "copied to the clipboard (xclip)\n"


def test_the_picture_in_the_readme_is_a_real_screen(tmp_path: Path, home: Path, golden: Golden) -> None:
    shutil.copytree(LIBRARY, tmp_path / "library")
    with Terminal(tmp_path / "library", 100, 18) as terminal:
        terminal.run("pick", EDITOR="vi")
        terminal.answer([("29/29", ["=de"]), ("› debug", [])])
        terminal.wait("one thing to try next")
        picture = svg_of(terminal.screen(color=True), 100, "kbp pick")
        terminal.answer([("debug", ["Escape"])])
        assert terminal.done() == 130
    golden("../../.github/picker.svg", picture)


def test_composed_or_not_a_name_is_found(screen: Screen, folder: Path) -> None:
    (folder / "prompts" / unicodedata.normalize("NFD", "überblick.md")).write_text("---\ndescription: x\n---\nHi.\n")
    terminal = screen()
    terminal.run("pick", unicodedata.normalize("NFC", "Über"), shell="> out")
    terminal.answer([("1/5", ["Enter"])])
    assert terminal.done() == 0
    assert (folder / "out").read_text() == "Hi.\n"


def test_another_prompt_may_be_picked_from_the_first_question(screen: Screen, folder: Path) -> None:
    terminal = screen()
    terminal.run("pick", "deb", shell="> out 2> err")
    terminal.answer([("1/4", ["Enter"]), ("? app", ["BTab"]), ("1/4", ["C-u", "=plain"]), ("› plain", ["Enter"])])
    assert terminal.done() == 0
    assert (folder / "out").read_text() == "Just this.\n"


def test_a_refused_file_is_there_to_be_mended(screen: Screen, folder: Path) -> None:
    (folder / "prompts/broken.md").write_text("---\ndescription: [a] [b]\n---\nMended.\n")
    terminal = screen()
    change = "sed -i 's/\\[a\\] \\[b\\]/fine/'"
    terminal.run("pick", "brok", shell="> out 2> err", EDITOR=editor(folder, change))
    terminal.answer([("broken · refused", ["C-e"]), ("broken · kb", ["Enter"])])
    assert terminal.done() == 0
    assert (folder / "out").read_text() == "Mended.\n"


def test_a_refused_file_that_is_picked_is_told(screen: Screen, folder: Path) -> None:
    (folder / "prompts/broken.md").write_text("---\ndescription: [a] [b]\n---\nMended.\n")
    terminal = screen()
    terminal.run("pick", "brok", shell="> out 2> err")
    terminal.answer([("broken · refused", ["Enter"])])
    assert terminal.done() == 1
    assert "error: prompts/broken.md does not become a prompt" in (folder / "err").read_text()


def test_an_editor_that_fails_leaves_the_picker_there(screen: Screen, folder: Path) -> None:
    terminal = screen()
    terminal.run("pick", "plain", shell="> out", EDITOR="no-such-editor")
    terminal.answer([("1/4", ["C-e"]), ("no-such-editor cannot be started", []), ("› plain", ["Enter"])])
    assert terminal.done() == 0
    assert (folder / "out").read_text() == "Just this.\n"


def test_an_editor_that_fails_in_a_question_is_told(screen: Screen, folder: Path) -> None:
    terminal = screen()
    terminal.run("render", "debug", shell="> out", EDITOR="no-such-editor")
    terminal.answer([("? app", ["=x", "C-x", "C-e"]), ("no editor, or it failed", ["Enter"])])
    assert terminal.done() == 0
    assert (folder / "out").read_text() == "<x> <1h> <>\n"


def test_values_are_read_where_ctrl_c_ends_it(screen: Screen, folder: Path) -> None:
    terminal = screen()
    terminal.run("pick", "deb", "-a", "app=-", "--required-only", shell="> out")
    terminal.answer([("1/4", ["Enter"])])
    terminal.wait("? prompt: debug")
    time.sleep(0.3)  # it reads stdin, which is the terminal
    terminal.keys("C-c")
    assert terminal.done() == 130


def test_what_was_given_does_not_hide_what_was_answered(screen: Screen, folder: Path, kbp: Kbp) -> None:
    for options, dialogue in (
        ([], PICKED[1:]),
        (["-a", "app=x", "--required-only"], []),
        (["--print", "name"], []),
    ):
        terminal = screen()
        terminal.run("pick", "deb", *options, shell="> out")
        terminal.answer([("1/4", ["Enter"]), *dialogue])
        assert terminal.done() == 0
    assert kbp("render", "debug", "--last", cwd=folder).out == OUT


def test_the_last_answers_complete_what_is_given(folder: Path, kbp: Kbp) -> None:
    prompt = history.of_file(str(folder / "prompts/debug.md"))
    history.remember(prompt, {"app": "@value.txt", "since": "", "note": "@@me"})
    (folder / "value.txt").write_text("in it\n")
    assert kbp("render", "debug", "--last", cwd=folder).out == "<in it> <1h> <@me>\n"
    assert kbp("render", "debug", "", "--last", cwd=folder).out == "<in it> <1h> <@me>\n"
    (folder / "value.txt").unlink()
    result = kbp("render", "debug", "--last", cwd=folder)
    assert (result.code, result.out) == (2, "")
    assert "--last: app: there is no file 'value.txt'" in result.err


def test_a_project_cannot_switch_on_what_a_person_switched_off(home: Path, folder: Path, screen: Screen) -> None:
    (home / "config/kbp").mkdir(parents=True)
    (home / "config/kbp/config.toml").write_text("history = false\n")
    (folder / "kbp.toml").write_text("history = true\n")
    terminal = screen()
    terminal.run("render", "debug", shell="> out")
    terminal.answer([("? app", ["=x", "Enter"])])
    assert terminal.done() == 0
    assert not (home / "state/kbp/history").exists()


def test_nothing_but_what_is_kept_is_cleared(home: Path, kbp: Kbp) -> None:
    documents = home / "documents"
    documents.mkdir()
    (documents / "thesis.json").write_text("mine")
    (documents / "folder").mkdir()
    (home / "state/kbp").mkdir(parents=True)
    (home / "state/kbp/history").symlink_to(documents)
    history.remember("file /a", {"x": "1"})
    assert kbp("history", "clear").err == "forgot the answers of 1 prompt\n"
    assert sorted(path.name for path in documents.iterdir()) == ["folder", "thesis.json"]


def test_a_secret_in_a_title_is_one(home: Path) -> None:
    assert history.is_secret("p1", "Password")
    assert not history.is_secret("p1", "Passage")


CLIPBOARDS = [
    ("exit 1", "handed to the terminal's clipboard"),
    ("cat; echo noise >&2", "copied to the clipboard (xclip)"),
    ("cat >/dev/null; sleep 30 &", "copied to the clipboard (xclip)"),
]


@pytest.mark.parametrize(("does", "said"), CLIPBOARDS)
def test_a_clipboard_program_may_misbehave(does: str, said: str, screen: Screen, folder: Path) -> None:
    program = folder / "xclip"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    terminal = screen()
    path = f"{folder}:{os.environ['PATH']}"
    terminal.run("render", "plain", "--copy", shell="2> err | cat > out", DISPLAY=":9", WAYLAND_DISPLAY="", PATH=path)
    terminal.done()
    assert (folder / "out").read_text() == ""
    assert said in (folder / "err").read_text()


def test_an_editor_without_a_terminal_gets_nothing_of_stdin_and_stdout(folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(TESTS.parent / "cli"), "EDITOR": "cat -"}
    run = ["setsid", "-w", *KBP, "edit", "plain"]
    with subprocess.Popen(["sleep", "60"], stdout=subprocess.PIPE) as silent:
        done = subprocess.run(
            run,
            cwd=folder,
            stdin=silent.stdout,
            capture_output=True,
            text=True,
            env=environment,
            timeout=60,
            check=False,
        )
        silent.kill()
    assert (done.returncode, done.stdout) == (0, "")
    assert "Just this." in done.stderr


QUOTED = [
    "a",
    "=l1",
    "",
    "it's \\ x",
    "a\tb\x1b[31m\u202e\n'\\'",
    "x\\'\"; touch PWN #",
    "$HOME `x` !a",
    "%self",
    "日本",
    "\\",
    "'\"'",
]


@pytest.mark.parametrize("shell", ["bash --norc -c", "zsh -f -c", "fish --no-config -c", "env LC_ALL=C bash -c"])
@pytest.mark.parametrize("text", QUOTED)
def test_a_word_is_the_same_in_every_shell(text: str, shell: str, tmp_path: Path) -> None:
    if shutil.which(shell.split()[0]) is None:
        assert "KBP_ALL_TESTS" not in os.environ, f"there is no {shell}"
        pytest.skip("there is no such shell")
    code = f"import sys; open({str(tmp_path / 'got')!r}, 'wb').write(sys.argv[1].encode('utf-8', 'surrogateescape'))"
    (tmp_path / "write.py").write_text(code)
    word = quoted(text)
    assert safe(word) == word
    line = f"{shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / 'write.py'))} {word}"
    subprocess.run([*shell.split(), line], cwd=tmp_path, check=True)
    assert (tmp_path / "got").read_bytes().decode() == text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["got", "write.py"]


LINES: list[tuple[list[str], list[str], str, str]] = [
    (["debug"], ["-a", "app=x y", "-p", "a b"], "kbp render debug -a app='x y' -p 'a b'", ""),
    (["--", "-dash"], ["-a", "app=x"], "kbp render -a app=x -- -dash", ""),
    (["p"], ["-a", "token=@x"], 'kbp render p -A token="$TOKEN"', "takes TOKEN from the environment"),
    (["p"], ["--answer", "pin=1"], 'kbp render p --answer pin="$PIN"', "takes PIN"),
    (["p"], ["--answer", "zone=eu"], "kbp render p --answer zone=eu", ""),
    (["p"], ["--header", "X-Key: …"], "kbp render p --header 'X-Key: env:X_KEY'", "takes X_KEY"),
    (["p"], ["-a", "named=1"], 'kbp render p -A named="$NAMED"', "takes NAMED"),
]


@pytest.mark.parametrize(("words", "options", "line", "said"), LINES)
def test_the_command_is_safe_in_a_script(
    words: list[str], options: list[str], line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert tell_command(words, options, [Argument("named", title="The password")], Console()) == line
    assert said in capsys.readouterr().err


def test_what_a_server_offers_is_bounded_and_may_fail() -> None:
    class Source:
        def __init__(self, found: list[str] | Exception) -> None:
            self.found = found

        def complete(self, *arguments: object) -> list[str]:
            if isinstance(self.found, Exception):
                raise self.found
            return self.found

    call = Call(Console(), Live(), Calling(), Given(), Way(), Past())

    def offers(found: list[str] | Exception) -> list[str]:
        return call._offers(cast(LiveSource, Source(found)), "p", "a", "", {})

    assert offers([f"{at}" for at in range(500)]) == [f"{at}" for at in range(100)]
    assert offers(["x" * 20_000, "y"]) == ["y"]
    assert offers(Unreachable("gone")) == []


def test_what_is_typed_stands_there_when_a_person_comes_back(screen: Screen, folder: Path) -> None:
    terminal = screen()
    terminal.run("pick", "deb", shell="> out")
    terminal.answer(
        [("1/4", ["Enter"]), ("? app", ["=a", "Enter"]), ("? since", ["=half", "BTab"]), ("at: a", ["Enter"])]
    )
    terminal.answer([("[1h]: half", ["=way", "Enter"]), ("? note", ["Enter"])])
    assert terminal.done() == 0
    assert (folder / "out").read_text() == "<a> <halfway> <>\n"


def test_a_terminal_that_goes_away_is_no_bug(screen: Screen, folder: Path) -> None:
    terminal = screen()
    (folder / "run").write_text(f"{shlex.join([*KBP, 'pick'])} > out 2> err; echo $? > code\n")
    terminal.start(f"cd {shlex.quote(str(folder))}; trap '' HUP; unset CI KBP_NO_INPUT; sh run")
    terminal.wait("4/4")
    terminal.__exit__(None, None, None)
    end = time.monotonic() + PATIENCE
    while not (folder / "code").exists() or not (folder / "code").read_text():
        assert time.monotonic() < end
        time.sleep(0.05)
    assert "bug" not in (folder / "err").read_text()
    assert "Traceback" not in (folder / "err").read_text()
    assert (folder / "code").read_text() == "129\n"


def test_a_signal_ends_the_picker(screen: Screen, folder: Path) -> None:
    terminal = screen()
    python, *rest = KBP
    code = "import os, sys; open('pid', 'w').write(str(os.getpid())); os.execv(sys.argv[1], sys.argv[1:])"
    line = shlex.join([python, "-c", code, python, *rest, "pick"])
    terminal.start(f"cd {shlex.quote(str(folder))}; unset CI KBP_NO_INPUT; {line} > out; echo $? > code; sleep 60")
    terminal.wait("4/4")
    os.kill(int((folder / "pid").read_text()), signal.SIGINT)
    end = time.monotonic() + PATIENCE
    while not (folder / "code").exists() or not (folder / "code").read_text():
        assert time.monotonic() < end
        time.sleep(0.05)
    assert (folder / "code").read_text() == "130\n"


def test_another_prompt_may_be_picked_while_values_are_asked_for(screen: Screen, folder: Path) -> None:
    terminal = screen()
    command = stdio_command(folder / "log", COMPLETE="slow")
    terminal.run("pick", "greet", "--timeout", "5", "--server-cmd", shlex.join(command), shell="> out 2> err")
    terminal.answer([("1/25", ["Enter"]), ("? name", ["=x"])])
    time.sleep(0.5)  # the server is asked what it offers
    terminal.answer([("? name", ["BTab"]), ("1/25", ["C-u", "=plain", "Enter"])])
    assert terminal.done() == 0, (folder / "err").read_text()
    assert (folder / "out").read_text() == "Say hello.\n"
