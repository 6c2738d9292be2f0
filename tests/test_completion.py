"""Completion: the engine, and Tab really pressed in bash, zsh and fish."""

import importlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from conftest import LIBRARY, TESTS, Kbp
from live_servers import stdio_command
from terminals import PATIENCE, Terminal

from kbp import history, settings, shelf, walk
from kbp.complete import folders, prompts, quoting
from kbp.files import MARKERS

SCRIPTS = TESTS.parent / "completions"
PROMPT = """---
description: Debug it
arguments:
- {name: app, description: The workload, required: true}
- {name: since, default: 2h 30m}
---
{{ app }} {{ since }}
"""
FILES = {
    "prompts/debug.md": PROMPT,
    "prompts/open incident.md": PROMPT,
    'prompts/it\'s "q" $x `y`.md': PROMPT,
    "prompts/日本_レビュー.md": PROMPT,
    "prompts/-dash.md": PROMPT,
    "prompts/u@v.md": PROMPT,
    "other/prompts/elsewhere.md": PROMPT,
    "value one.txt": "x",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "lib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    program, *arguments = stdio_command(tmp_path / "log")
    server = f"[servers.docs]\ncommand = {json.dumps(program)}\nargs = {json.dumps(arguments)}\n"
    (tmp_path / "lib/kbp.toml").write_text(f'paths = ["other/prompts"]\n{server}')
    return tmp_path / "lib"


# Tab, pressed

TABS: list[tuple[str, list[str]]] = [
    ("kbp ren\t", ["render"]),
    ("kbp lint --exit-z\t", ["lint", "--exit-zero"]),
    ("kbp lint --format sar\t", ["lint", "--format", "sarif"]),
    ("kbp lint --format=sar\t", ["lint", "--format=sarif"]),
    ("kbp lint -fsar\t", ["lint", "-fsarif"]),
    ("kbp --color alw\tlist", ["--color", "always", "list"]),
    ("kbp rules unquoted-h\t", ["rules", "unquoted-hint"]),
    ("kbp lint --select unquoted-hint,unquoted-v\t", ["lint", "--select", "unquoted-hint,unquoted-value"]),
    ("kbp config sc\t", ["config", "schema"]),
    ("kbp completions fi\t", ["completions", "fish"]),
    ("kbp render deb\t", ["render", "debug"]),
    ("kbp show else\t", ["show", "elsewhere"]),
    ("kbp render ope\t", ["render", "open incident"]),
    ("kbp render open\\ in\t", ["render", "open incident"]),
    ("kbp render it\t", ["render", 'it\'s "q" $x `y`']),
    ("kbp render 日\t", ["render", "日本_レビュー"]),
    ("kbp edit -- -d\t", ["edit", "--", "-dash"]),
    ("kbp show u@\t", ["show", "u@v"]),
    ("kbp render debug -a app=me@\t", ["render", "debug", "-a", "app=me@home"]),
    ("kbp -C other render el\t", ["-C", "other", "render", "elsewhere"]),
    ("kbp render -p other el\t", ["render", "-p", "other", "elsewhere"]),
    ("kbp render debug -a ap\tx", ["render", "debug", "-a", "app=x"]),
    ("kbp render debug --arg=ap\tx", ["render", "debug", "--arg=app=x"]),
    ("kbp render debug -aap\tx", ["render", "debug", "-aapp=x"]),
    ("kbp render debug -a app=1 -a \t1h", ["render", "debug", "-a", "app=1", "-a", "since=1h"]),
    ("kbp render debug -a since=\t", ["render", "debug", "-a", "since=2h 30m"]),
    ("kbp render debug -a app=kep\t", ["render", "debug", "-a", "app=kept before"]),
    ("kbp render debug -a app=@val\t", ["render", "debug", "-a", "app=@value one.txt"]),
    ("kbp lint pro\t", ["lint", "prompts/"]),
    ("kbp lint val\t", ["lint", "value one.txt"]),
    ("kbp render debug -o val\t", ["render", "debug", "-o", "value one.txt"]),
    ("kbp render --server do\t", ["render", "--server", "docs"]),
    ("kbp render --server docs gre\t", ["render", "--server", "docs", "greet"]),
    ("kbp render --server docs two\t", ["render", "--server", "docs", "two words"]),
    ("kbp render docs:gre\t", ["render", "docs:greet"]),
    ("kbp render docs:greet -a to\tx", ["render", "docs:greet", "-a", "tone=x"]),
    ("kbp server info do\t", ["server", "info", "docs"]),
]
QUOTED: list[tuple[str, list[str]]] = [
    ('kbp render "open in\t', ["render", "open incident"]),
    ("kbp render 'open in\t", ["render", "open incident"]),
    ('kbp render debug -a "since=\t', ["render", "debug", "-a", "since=2h 30m"]),
]
IN_BASH: list[tuple[str, list[str]]] = [
    *QUOTED,
    ("KBP_LOG=x kbp render deb\t", ["kbp", "render", "debug"]),
    ("kbp render 'it\t", ["render", 'it\'s "q" $x `y`']),
]

START = {
    "bash": "bash --norc --noprofile -i",
    "zsh": "zsh -f -i",
    "zsh sourced": "zsh -f -i",
    "fish": "fish --no-config -i",
}
SET_UP = {
    "bash": "PS1='ready> '; . {scripts}/kbp.bash",
    "zsh": "PS1='ready> '; fpath=({scripts} $fpath); autoload -Uz compinit; compinit -u -D",
    "zsh sourced": "PS1='ready> '; . {scripts}/_kbp",
    "fish": "source {scripts}/kbp.fish; function fish_prompt; echo 'ready> '; end; function fish_greeting; end",
}


@pytest.mark.parametrize("shell", START)
def test_tab_completes_in_a_real_shell(shell: str, folder: Path, home: Path, kbp: Kbp) -> None:
    program = START[shell].split()[0]
    if shutil.which(program) is None:
        assert "KBP_ALL_TESTS" not in os.environ, f"there is no {program}"
        pytest.skip(f"there is no {program}")
    history.remember(history.of_file(str(folder / "prompts/debug.md")), {"app": "me@home"})
    history.remember(history.of_file(str(folder / "prompts/debug.md")), {"app": "kept before"})
    assert kbp("list", "--server", "docs", "--yes", cwd=folder).code == 0
    cases = [*TABS, *{"bash": IN_BASH, "fish": []}.get(shell, QUOTED)]
    with Terminal(folder, 200, 40) as terminal:
        press(terminal, shell, folder, home)
        got = {typed: taken(terminal, typed, folder) for typed, _ in cases}
    if shell.startswith("zsh"):
        cases = [(typed, [word.rstrip("/") for word in expected]) for typed, expected in cases]  # its own habit
    wrong = [(typed, expected, got[typed]) for typed, expected in cases if got[typed] != expected]
    assert wrong == []


WRITES = """import json, os, sys
open({new!r}, "w").write(json.dumps(sys.argv[2:]))
os.replace({new!r}, {path!r})
"""


def press(terminal: Terminal, shell: str, folder: Path, home: Path) -> None:
    """Start a shell in which `argv` writes down the words that it is called with."""
    bin = folder.parent / "bin"
    bin.mkdir()
    (bin / "argv.py").write_text(WRITES.format(new=str(folder.parent / "new"), path=str(folder.parent / "argv.json")))
    python = shlex.quote(sys.executable)
    (bin / "argv").write_text(f'#!/bin/sh\nexec {python} -I {shlex.quote(str(bin / "argv.py"))} "$@"\n')
    (bin / "kbp").write_text(f'#!/bin/sh\nexec {python} -m kbp "$@"\n')
    for path in bin.iterdir():
        path.chmod(0o755)
    terminal.start(f"cd {shlex.quote(str(folder))}; export PATH={shlex.quote(str(bin))}:$PATH; exec {START[shell]}")
    while not terminal.screen().strip():  # its own prompt
        time.sleep(0.02)
    terminal.type(SET_UP[shell].format(scripts=shlex.quote(str(SCRIPTS))))
    terminal.keys("Enter")
    terminal.wait("\nready>")


def taken(terminal: Terminal, typed: str, folder: Path) -> list[str] | None:
    """The words that a shell understands once a line is typed in which Tab is pressed."""
    written = folder.parent / "argv.json"
    written.unlink(missing_ok=True)
    quote = next((each for each in "'\"" if typed.split("\t")[0].count(each) % 2), "")
    before, _, after = typed.partition("\t")
    while terminal.screen().split("\n\n")[0].rstrip().rpartition("\n")[2].rstrip() != "ready>":
        time.sleep(0.02)  # what is typed before the prompt is there is shown twice
    terminal.type(before)
    before_tab = terminal.wait(before.rstrip())
    terminal.keys("Tab")
    end = time.monotonic() + PATIENCE
    while terminal.screen() == before_tab and time.monotonic() < end:
        time.sleep(0.02)
    terminal.type(after)
    screen = terminal.screen()
    if quote and not screen.rstrip().endswith(quote):
        terminal.type(quote)
    terminal.keys("C-a")
    terminal.type("argv ")
    terminal.keys("Enter")
    end = time.monotonic() + PATIENCE
    while not written.exists():
        if time.monotonic() > end:
            terminal.keys("C-c")
            return None
        time.sleep(0.02)
    found: list[str] = json.loads(written.read_text())
    return found


# The engine


def complete(*words: str, folder: Path, shell: str = "zsh", **environment: str) -> list[str]:
    """The lines that a Tab press is answered with."""
    arguments = ["bash", words[0], str(len(words[0]))] if shell == "bash" else [shell, "--", *words]
    run = [sys.executable, "-m", "kbp", "__complete", *arguments]
    given = {**os.environ, "PYTHONPATH": str(TESTS.parent / "cli"), **environment}
    done = subprocess.run(
        run, cwd=folder, capture_output=True, text=True, errors="surrogateescape", env=given, check=True
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize("options", [[], ["-p", "prompts"], ["--project-only"], ["--library", "team"]])
def test_the_names_are_those_of_the_list(options: list[str], kbp: Kbp) -> None:
    listed = kbp("list", "--format", "names", *options, cwd=LIBRARY).out.split()
    _, *lines = complete("kbp", "render", *options, "", folder=LIBRARY)
    assert sorted(line.partition("\t")[0] for line in lines) == sorted(set(listed))


def test_the_names_are_those_of_all_places(folder: Path, home: Path, kbp: Kbp) -> None:
    for name in (".claude/commands/mine.md", "config/kbp/prompts/own.md", "config/Code/User/prompts/edits.prompt.md"):
        path = home / name
        path.parent.mkdir(parents=True)
        path.write_text("---\ndescription: x\n---\nHi.\n")
    (home / "config/Code/User/prompts/other.md").write_text("Hi.\n")
    (folder / "plugins/a/.claude-plugin").mkdir(parents=True)
    (folder / "plugins/a/.claude-plugin/plugin.json").write_text('{"name": "a"}')
    for name in (
        "plugins/a/commands/deep/er.md",
        "extra/prompts/more.md",
        ".github/prompts/hub.prompt.md",
        "README.md",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("---\ndescription: x\n---\nHi.\n")
    environment = {"KBP_PATH": str(folder / "extra"), "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}
    _, *lines = complete("kbp", "render", "", folder=folder, **environment)
    names = {line.partition("\t")[0] for line in lines}
    assert {"mine", "own", "edits", "er", "more", "hub", "debug", "elsewhere"} <= names
    assert names.isdisjoint({"other", "README"})


HOSTILE = {
    "prompts/a\nb.md": "x",
    "prompts/\x1b[31mred.md": "x",
    "prompts/fine.md": '---\ndescription: "\x1b]0;title\x07 and\ttab"\n---\n',
    "prompts/broken.md": b"\xff\xfe---\n",
    "prompts/loop.md/x": "x",
}


def test_hostile_names_and_texts_stay_out(tree: Callable[..., Path]) -> None:
    top = tree(HOSTILE)
    (top / "prompts/dangling.md").symlink_to("nowhere")
    (top / "prompts/around").symlink_to("..")
    os.mkfifo(top / "prompts/pipe.md")
    lines = complete("kbp", "render", "", folder=top)
    assert lines == ["plain", "broken\t", "fine\t ]0;title  and tab"]
    assert complete("kbp", "render", "fine", "-a", "", folder=top) == ["plain"]
    assert complete("kbp", "render", "broken", "-a", "x=", folder=top) == ["plain"]
    assert complete("kbp", "render", "none", "-a", "", folder=top) == ["plain"]


ODD: list[tuple[Sequence[str], list[str]]] = [
    ([], ["plain"]),
    (["kbp"], ["plain"]),
    (["kbp", "nothing", ""], ["plain"]),
    (["kbp", "-C", "/nowhere", "render", ""], ["files"]),
    (["kbp", "render", "--nothing=x"], ["plain"]),
    (["kbp", "render", "x", "--header", "x"], ["plain"]),
    (["kbp", "lint", "--format=nothing"], ["plain"]),
    (["kbp", "list", "debug", "more"], ["plain"]),
    (["kbp", "render", "\udcff"], ["files"]),
    (["kbp", "render", "./"], ["files"]),
    (["kbp", "config", "path", ""], ["plain"]),
]


@pytest.mark.parametrize(("words", "expected"), ODD)
def test_odd_lines_are_answered(words: Sequence[str], expected: list[str], folder: Path) -> None:
    assert complete(*words, folder=folder)[:1] == expected


def test_a_tab_press_never_fails(folder: Path) -> None:
    for arguments in (
        [],
        ["bash"],
        ["bash", "kbp", "x"],
        ["fish", "--"],
        ["zsh", "--", "kbp", "render", "x" * 100_000],
    ):
        run = [sys.executable, "-m", "kbp", "__complete", *arguments]
        done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        assert done.stdout in ("files\n", "plain\n") or arguments == ["fish", "--"]


def test_a_tab_press_imports_nothing_that_starts_slowly(folder: Path, kbp: Kbp) -> None:
    slow = {"typing", "re", "dataclasses", "pathlib", "json", "typer", "yaml", "enum", "collections"}
    lines = (["kbp", ""], ["kbp", "render", ""], ["kbp", "render", "debug", "-a", ""], ["kbp", "show", "--server", ""])
    for words in lines:
        complete(*words, folder=folder)  # what is read once
        run = [sys.executable, "-I", "-X", "importtime", "-c", START_UP, *words]
        done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=True)
        loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}
        after = {name for name in loaded if name.partition(".")[0] in slow}
        assert not after, (words, after)
        assert "kbp.complete.engine" in loaded


START_UP = f"""
import sys
sys.path.insert(0, {str(TESTS.parent / "cli")!r})
sys.argv[1:1] = ["__complete", "zsh", "--"]
from kbp.__main__ import main
main()
"""


def test_the_folders_of_the_user_are_those_of_kbp(home: Path) -> None:
    assert Path(shelf.state_folder()) == settings.state_folder()


def test_a_changed_file_is_read_anew(folder: Path) -> None:
    def keys() -> list[str]:
        return [line.partition("=")[0] for line in complete("kbp", "render", "debug", "-a", "", folder=folder)[1:]]

    assert keys() == ["app", "since"]
    (folder / "prompts/debug.md").write_text("---\narguments: [{name: other}]\n---\n{{ other }}\n")
    assert keys() == ["other"]


def test_the_names_of_a_server_are_kept_a_day(folder: Path, kbp: Kbp, monkeypatch: pytest.MonkeyPatch) -> None:
    assert complete("kbp", "render", "--server", "docs", "gre", folder=folder) == ["plain"]
    assert kbp("list", "--server", "docs", "--yes", cwd=folder).code == 0
    assert complete("kbp", "render", "--server", "docs", "gre", folder=folder)[1].startswith("greet\t")
    assert complete("kbp", "render", "--server", "docs", "gre", folder=folder.parent) == ["plain"], "another project"
    monkeypatch.setattr("kbp.complete.servers.LIFE", -1.0)
    assert kbp("list", "--server", "docs", "--yes", cwd=folder).code == 0
    assert complete("kbp", "render", "--server", "docs", "gre", folder=folder) == ["plain"]


LINES = [
    ("kbp a b", ["kbp", "a", "b"]),
    ("kbp a ", ["kbp", "a", ""]),
    ("kbp 'a b", ["kbp", "a b"]),
    ('kbp "a\\"b', ["kbp", 'a"b']),
    ("kbp a\\ b", ["kbp", "a b"]),
    ("kbp a''b", ["kbp", "ab"]),
    ("x | kbp a", ["kbp", "a"]),
    ("X=1 Y=2 kbp a", ["kbp", "a"]),
    ("", [""]),
    ("kbp a\\", ["kbp", "a\\"]),
]


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_a_line_of_bash_is_split(line: str, expected: list[str]) -> None:
    assert quoting.split(line, len(line))[0] == expected
    assert quoting.split(line + " more", len(line))[0] == expected


# Installed


PLACES = [
    ("bash", "data/bash-completion/completions/kbp.bash", ".bashrc"),
    ("zsh", "data/zsh/site-functions/_kbp", ".zshrc"),
    ("fish", "config/fish/completions/kbp.fish", None),
    ("powershell", "config/powershell/kbp.ps1", "config/powershell/profile.ps1"),
]


@pytest.mark.parametrize(("shell", "place", "startup"), PLACES)
def test_a_script_is_installed(
    shell: str, place: str, startup: str | None, kbp: Kbp, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.delenv("ZDOTDIR", raising=False)
    result = kbp("completions", shell, "--install")
    assert (result.code, result.out) == (0, f"{home / place}\n")
    assert (home / place).read_text() == kbp("completions", shell).out
    if startup:
        assert str(home / startup) in result.err
        assert not (home / startup).exists(), "a start-up file was written unasked"
        (home / startup).parent.mkdir(parents=True, exist_ok=True)
        (home / startup).write_text("# mine")
        for _ in range(2):
            assert kbp("completions", shell, "--install", "--yes").code == 0
        mine, line = (home / startup).read_text().splitlines()
        assert (mine, line in result.err) == ("# mine", True)
    (home / place).write_text("mine\n")
    result = kbp("completions", shell, "--install")
    assert (result.code, result.err) == (2, f"error: {home / place} is there already, and is not of kbp\n")
    assert (home / place).read_text() == "mine\n"


WRONG = [
    (["csh"], "there is no 'csh'"),
    (["bash", "--yes"], "--yes goes with --install"),
    (["zhs"], "did you mean 'zsh'"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
def test_wrong_requests_are_told(arguments: list[str], said: str, kbp: Kbp) -> None:
    result = kbp("completions", *arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err


PIPES = ["pyproject.toml", ".gitignore", "kbp.toml", ".kbpignore", ".claude-plugin/marketplace.json"]


@pytest.mark.parametrize("name", PIPES)
def test_a_pipe_in_a_project_is_not_waited_for(name: str, folder: Path) -> None:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    (folder / ".git").mkdir()
    assert "debug\tDebug it" in complete("kbp", "render", "", folder=folder)


def test_what_is_left_out_of_the_list_is_left_out(folder: Path, kbp: Kbp) -> None:
    (folder / "kbp.toml").write_text('exclude = ["prompts/drafts/**"]\n')
    (folder / ".gitignore").write_text("build/\n# none\n*.tmp\nprompts/old\n")
    (folder / "cfg.toml").write_text('paths = ["other/prompts"]\n')
    for name in ("drafts/one", "build/two", "old/three", "kept/four"):
        (folder / f"prompts/{name}.md").parent.mkdir()
        (folder / f"prompts/{name}.md").write_text(PROMPT)
    (folder / ".git").mkdir()
    for options in ([], ["--config", "cfg.toml"], ["--no-config"]):
        _, *lines = complete("kbp", "render", *options, "", folder=folder)
        listed = set(kbp("list", "--format", "names", *options, cwd=folder).out.split("\n"))
        assert {line.partition("\t")[0] for line in lines} == {name for name in listed if name and name[0] != "-"}, (
            options
        )
    _, *lines = complete("kbp", "render", "el", folder=folder, KBP_CONFIG="cfg.toml")
    assert lines == ["elsewhere\tDebug it"]


def test_many_folders_do_not_hide_the_prompts(folder: Path) -> None:
    (folder / ".git").mkdir()
    for number in range(2_100):
        (folder / f"a{number}").mkdir()
    assert "debug\tDebug it" in complete("kbp", "render", "", folder=folder)


def test_a_name_that_would_be_an_option_is_offered_behind_dashes_alone(folder: Path) -> None:
    (folder / "prompts/--output=owned.md").write_text(PROMPT)
    assert not any(line.startswith("-") for line in complete("kbp", "render", "", folder=folder))
    assert "--output=owned\tDebug it" in complete("kbp", "render", "--", "", folder=folder)


def test_what_means_a_file_is_offered_where_it_is_a_text(folder: Path) -> None:
    (folder / "prompts/at.md").write_text('---\narguments: [{name: x, default: "@/etc/passwd"}]\n---\n{{ x }}\n')
    history.remember(history.of_file(str(folder / "prompts/at.md")), {"x": "@@me"})
    history.remember(history.of_file(str(folder / "prompts/at.md")), {"x": "@value one.txt"})
    assert complete("kbp", "render", "at", "-a", "x=", folder=folder)[1:] == ["x=@value one.txt\t"]
    assert complete("kbp", "render", "at", "-A", "x=", folder=folder)[1:] == ["x=@/etc/passwd\t", "x=@me\t"]
    assert complete("kbp", "render", "at", "-A", "x=@v", folder=folder) == ["plain"]


QUOTES = [
    ('kbp render "f', "f!touch", False),
    ('kbp render "f', "f", True),
    ("kbp render 'c", "c'", False),
    ("kbp render c", "c'!", True),
]


@pytest.mark.parametrize(("line", "name", "expected"), QUOTES)
def test_what_an_open_quote_cannot_hold_is_not_offered(line: str, name: str, expected: bool, folder: Path) -> None:
    (folder / f"prompts/{name}.md").write_text(PROMPT)
    assert (len(complete(line, folder=folder, shell="bash")) > 1) == expected


def test_no_secret_is_on_the_shelf(folder: Path, home: Path, kbp: Kbp) -> None:
    command = shlex.join([*stdio_command(folder.parent / "log"), "--token", "s3cr3tvalue"])
    assert kbp("list", "--server-cmd", command).code == 0
    kept = [path for path in (home / "state/kbp").rglob("*") if path.is_file()]
    assert any(path.name.startswith("prompts-") for path in kept)
    assert not [path for path in kept if b"s3cr3tvalue" in path.read_bytes()]
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}


def test_the_shelf_is_bounded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "_MAX_TABLES", 5)
    for number in range(9):
        shelf.write("values", f"file /{number}", [["x", "1"]])
        os.utime(shelf._path("values", f"file /{number}"), (number + 1, number + 1))
    assert len(list((home / "state/kbp/completion").iterdir())) == 5
    assert shelf.read("values", "file /8") == [["x", "1"]]
    assert shelf.read("values", "file /1") is None


@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_the_folders_are_those_of_platformdirs(system: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setenv("LOCALAPPDATA", "C:/local")
    monkeypatch.setenv("APPDATA", "C:/roaming")
    if system == "win32":
        assert folders.own() == "C:/roaming/kbp"
        assert shelf.state_folder().replace("\\", "/") == "C:/local/kbp"
        return
    module, name = {"linux": ("unix", "Unix"), "darwin": ("macos", "MacOS")}[system]
    dirs = getattr(importlib.import_module(f"platformdirs.{module}"), name)("kbp", appauthor=False, roaming=True)
    assert folders.own() == dirs.user_config_dir
    assert shelf.state_folder() == dirs.user_state_dir
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.delenv("XDG_STATE_HOME")
    assert folders.own() == dirs.user_config_dir
    assert shelf.state_folder() == dirs.user_state_dir
    assert f"{folders.editor()}/mcp.json" in folders.server_files()


def test_what_marks_a_project_is_the_same() -> None:
    assert set(prompts._MARKS) == set(MARKERS)
    assert walk.SHOWN_DOT_FOLDERS == prompts._SHOWN


def test_a_relative_state_folder_is_none(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert shelf.state_folder() == str(home / ".local/state/kbp")


def test_a_folder_with_shell_code_in_its_name_is_a_folder(
    kbp: Kbp, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    odd = tmp_path / f"a\"$(touch {tmp_path / 'owned'})'b"
    monkeypatch.setenv("XDG_DATA_HOME", str(odd))
    assert kbp("completions", "bash", "--install", "--yes").code == 0
    line = f". {shlex.quote(str(home / '.bashrc'))}; complete -p kbp"
    done = subprocess.run(["bash", "--norc", "-c", line], capture_output=True, text=True, check=True)
    assert "_kbp kbp" in done.stdout
    assert not (tmp_path / "owned").exists()
