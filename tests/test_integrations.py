"""Where lint runs: hooks of pre-commit and prek, the action, the problem matcher. The real programs run them."""

import json
import os
import pwd
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import BROKEN, TESTS, Kbp

TOP = TESTS.parent
HOOKS: list[dict[str, Any]] = yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
BROKEN_FILE = "---\ndescription: d\nargument-hint: [a] [b]\n---\nGo $ARGUMENTS.\n"
FIXED_FILE = BROKEN_FILE.replace("[a] [b]", '"[a] [b]"')

NAMES = [
    ("prompts/a.md", True),
    ("team/prompts/deep/er/a b.md", True),
    ("commands/a.md", True),
    (".claude/commands/git/a.md", True),
    ("plugins/x/commands/a.md", True),
    (".github/prompts/a.prompt.md", True),
    ("a.prompt.md", True),
    ("docs/a.md", False),
    ("README.md", False),
    ("prompts.md", False),
    ("my-prompts/a.md", False),
    ("prompts/a.txt", False),
    ("prompts/a.md.bak", False),
    ("aprompt.md", False),
]


@pytest.mark.parametrize("hook", [hook for hook in HOOKS if "files" in hook], ids=lambda hook: hook["id"])
@pytest.mark.parametrize(("name", "matches"), NAMES)
def test_a_hook_gets_prompt_files_alone(hook: dict[str, Any], name: str, matches: bool) -> None:
    assert bool(re.search(hook["files"], name)) is matches


def git(folder: Path, *arguments: str) -> None:
    author = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *author, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of kbp as it stands now, which the hooks are installed from."""
    folder = tmp_path_factory.mktemp("source")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=TOP, capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if not name.startswith("tests/") and (TOP / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((TOP / name).read_bytes())
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "kbp")
    return folder


@pytest.mark.parametrize("program", ["pre-commit", "prek"])
def test_the_hooks_run(program: str, source: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = tmp_path_factory.mktemp("cache")
    env = {**os.environ, "PRE_COMMIT_HOME": str(cache), "PREK_HOME": str(cache), "CI": "true"}
    env["HOME"] = pwd.getpwuid(os.geteuid()).pw_dir  # where pip has its settings
    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=source, capture_output=True, text=True, check=True)
    hooks = [{"id": hook["id"], "verbose": True} for hook in HOOKS]
    config = {"repos": [{"repo": str(source), "rev": revision.stdout.strip(), "hooks": hooks}]}
    (tmp_path / ".pre-commit-config.yaml").write_text(json.dumps(config), encoding="utf-8")
    (tmp_path / "commands").mkdir()
    (tmp_path / "commands/a b.md").write_text(BROKEN_FILE, encoding="utf-8")
    (tmp_path / "commands/ignored.md").write_text(BROKEN_FILE, encoding="utf-8")
    (tmp_path / ".kbpignore").write_text("ignored.md\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("---\nkey: [a] [b]\n---\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A", "-f")

    def run(hook: str) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).parent / program), "run", "--all-files", hook]
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=300)

    found = run("kbp-lint")
    assert found.returncode == 1, found.stdout + found.stderr
    assert "commands/a b.md:3:16: error[unquoted-hint]" in found.stdout
    assert "Found 1 error in 1 file; 1 file refused." in found.stdout
    fixed = run("kbp-fix")
    assert fixed.returncode == 1, fixed.stdout + fixed.stderr  # a file was changed
    assert (tmp_path / "commands/a b.md").read_text(encoding="utf-8") == FIXED_FILE
    assert (tmp_path / "commands/ignored.md").read_text(encoding="utf-8") == BROKEN_FILE
    git(tmp_path, "add", "-A", "-f")
    assert (run("kbp-lint").returncode, run("kbp-fix").returncode) == (0, 0)

    (tmp_path / "kbp.toml").write_text('[convert]\ntargets = [{ to = "copilot" }]\n', encoding="utf-8")
    missing = run("kbp-convert-check")
    assert missing.returncode == 1
    assert ".github/prompts/a b.prompt.md (commands/a b.md): is not there yet" in missing.stdout
    made = subprocess.run([sys.executable, "-m", "kbp", "convert"], cwd=tmp_path, capture_output=True, check=False)
    assert made.returncode == 0
    assert run("kbp-convert-check").returncode == 0


def test_the_problem_matcher_reads_the_first_line_of_each_finding(kbp: Kbp) -> None:
    (matcher,) = json.loads((TOP / ".github/problem-matcher.json").read_text(encoding="utf-8"))["problemMatcher"]
    (pattern,) = matcher["pattern"]
    regexp = re.compile(pattern["regexp"])
    findings = json.loads(kbp("lint", "-f", "json", ".", cwd=BROKEN).out)["diagnostics"]
    for format in ("full", "concise"):
        lines = kbp("lint", "-f", format, ".", cwd=BROKEN).out.splitlines()
        found = [match for line in lines if (match := regexp.match(line))]
        assert [
            (match[pattern["file"]], int(match[pattern["line"]]), int(match[pattern["column"]]), match[pattern["code"]])
            for match in found
        ] == [(each["path"], each["line"], each["column"], each["rule"]) for each in findings]


def test_the_action_lints_what_it_is_told(tmp_path: Path) -> None:
    action = yaml.safe_load((TOP / "action.yml").read_text(encoding="utf-8"))
    _, lint, upload = action["runs"]["steps"]
    assert upload["with"]["sarif_file"] == "${{ inputs.sarif }}"
    runner = tmp_path / "runner"
    (runner / "kbp/bin").mkdir(parents=True)
    (runner / "kbp/bin/kbp").write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m kbp "$@"\n', encoding="utf-8"
    )
    (runner / "kbp/bin/kbp").chmod(0o755)
    (tmp_path / "commands").mkdir()
    (tmp_path / "commands/a b.md").write_text(BROKEN_FILE, encoding="utf-8")
    (tmp_path / "commands/c.md").write_text(FIXED_FILE, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(TOP / "cli"), "RUNNER_TEMP": str(runner), "GITHUB_ACTIONS": "true"}

    def run(paths: str, args: str, sarif: str) -> subprocess.CompletedProcess[str]:
        given = {"PATHS": paths, "ARGS": args, "SARIF": sarif}
        command = ["bash", "-e", "-o", "pipefail", "-c", lint["run"]]
        return subprocess.run(command, cwd=tmp_path, env={**env, **given}, capture_output=True, text=True, check=False)

    everything = run("", "", "")
    assert everything.returncode == 1
    assert (
        "::error file=commands/a b.md,line=3,endLine=3,col=16,endColumn=23,title=kbp unquoted-hint::"
        in everything.stdout
    )
    assert run("commands/c.md\n", "--strict -q", "out.sarif").returncode == 0
    assert json.loads((tmp_path / "out.sarif").read_text(encoding="utf-8"))["runs"][0]["results"] == []
    assert run("commands/a b.md\ncommands/c.md\n", "--exit-zero", "").returncode == 0
