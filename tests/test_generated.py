"""What is made of the command line is not stale, and is in the wheel."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import TESTS, Kbp
from generate import files

from kbp.app import COMMANDS
from kbp.commands.completions import SHELLS, shell_called
from kbp.complete import table


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_what_is_generated_is_not_stale(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == files()[path], "run python tests/generate.py"


def test_the_table_has_every_command() -> None:
    assert list(table.COMMANDS) == list(COMMANDS)
    assert table.COMMANDS["render"][1]["--format"][0] == "text|markdown|json|jsonl|openai|anthropic"
    assert table.COMMANDS["render"][1]["--explain"][0] == ""
    assert table.COMMANDS["render"][2] == ("prompt", "file…")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_scripts_are_what_is_printed(shell: str, kbp: Kbp) -> None:
    script = TESTS.parent / "completions" / shell_called(shell).script
    assert kbp("completions", shell).out == script.read_text(encoding="utf-8")


def test_the_man_page_is_one(tmp_path: Path) -> None:
    page = TESTS.parent / "completions/kbp.1"
    if shutil.which("man") is None:
        assert "KBP_ALL_TESTS" not in os.environ, "there is no man"
        pytest.skip("there is no man")
    run = ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(page)]
    done = subprocess.run(
        run, capture_output=True, text=True, check=False, env={"PATH": "/usr/bin:/bin", "MANWIDTH": "80"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    text = subprocess.run(["man", "-l", str(page)], capture_output=True, text=True, check=True).stdout
    for said in ("kbp pick [OPTIONS] [QUERY]", "--required-only", "git diff | kbp render review -a pr=- | llm", "`kbp"):
        assert said in text, said


def test_the_wheel_has_all_of_it(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(TESTS.parent)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name.partition("/share/")[2] or name for name in archive.namelist()}
    shared = {
        "bash-completion/completions/kbp",
        "zsh/site-functions/_kbp",
        "fish/vendor_completions.d/kbp.fish",
        "man/man1/kbp.1",
    }
    assert {*shared, "kbp/complete/scripts/kbp.ps1", "kbp/complete/scripts/_kbp"} <= names
