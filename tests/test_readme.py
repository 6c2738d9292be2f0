"""The README shows what the commands print: its blocks are run and compared, or written anew with `--update`."""

import contextlib
import doctest
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from conftest import TESTS, Kbp

from kbp.app import COMMANDS
from kbp.commands import linting
from kbp.libraries.file import load
from kbp.linter.rules import RULES
from kbp.output import manual, messages, prompts

README = TESTS.parent / "README.md"
CONSOLE = re.compile(r"(?<=```console\n).*?(?=```\n)", re.DOTALL)
TEST_COMMAND = "python3 -m venv .venv && .venv/bin/pip install -q -e '.[test]' && .venv/bin/python -m pytest -q"
MAIN_COMMAND = "python3 -m venv .venv && .venv/bin/pip install -q . && .venv/bin/kbp lint tests/library"


def run_block(block: str, kbp: Kbp) -> str:
    """The block with what its commands print now: the result, then what stands on stderr."""
    told = []
    for line in block.splitlines():
        if line.startswith("$ kbp "):
            result = kbp(*shlex.split(line.removeprefix("$ kbp ")), cwd=TESTS.parent)
            told.append(f"{line}\n{result.out}{result.err}")
    return "".join(told)


def between(text: str, name: str, content: str) -> str:
    """The text with the content between the marks of that name."""
    return re.sub(
        f"(<!-- {name} -->\n).*?(<!-- /{name} -->)",
        lambda match: f"{match[1]}{content}{match[2]}",
        text,
        flags=re.DOTALL,
    )


def test_the_readme_shows_what_is_printed(
    kbp: Kbp, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")  # it starts kbp
    text = README.read_text(encoding="utf-8")
    now = CONSOLE.sub(lambda block: run_block(block[0], kbp), text)
    now = between(now, "rules", manual.table(RULES.values()))
    now = between(now, "dialects", manual.dialects())
    if request.config.getoption("--update"):
        README.write_text(now, encoding="utf-8")
        text = now
    assert text == now
    assert len(CONSOLE.findall(text)) >= 6


def test_the_python_of_the_readme_runs() -> None:
    text = README.read_text(encoding="utf-8")
    blocks = re.findall(r"```pycon\n(.*?)```\n", text, re.DOTALL)
    assert len(blocks) == 2
    example = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README", str(README), 0)
    told: list[str] = []
    with contextlib.chdir(TESTS.parent):
        doctest.DocTestRunner(verbose=False).run(example, out=told.append)
    assert told == []


def test_the_libraries_of_the_readme_can_be_read(tmp_path: Path) -> None:
    blocks = re.findall(r"```yaml\n((?:#.*\n)?plugins:.*?)```\n", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        (tmp_path / "libraries.yaml").write_text(block)
        assert load(tmp_path / "libraries.yaml").libraries


def test_the_two_commands_are_there_and_ci_calls_the_one_of_the_tests() -> None:
    text = README.read_text(encoding="utf-8")
    assert f"\n{MAIN_COMMAND}\n" in text
    assert f"\n{TEST_COMMAND}\n" in text
    assert TEST_COMMAND in (TESTS.parent / ".ci" / "run").read_text(encoding="utf-8")


def test_every_command_and_format_is_in_the_readme() -> None:
    text = README.read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"kbp {name}" in text
    for format in (*linting.FORMATS, *messages.FORMATS, *prompts.LIST_FORMATS):
        assert re.search(rf"\b{format}\b", text), format
