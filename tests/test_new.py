"""`kbp new`: a first file, where its clients look."""

import sys
from pathlib import Path

import pytest
from conftest import Kbp, Tree

ASKED = ("--description", "Debug an app", "--argument", "app!", "--argument", "since=1h: now")


@pytest.mark.parametrize(
    ("dialect", "path", "holds"),
    [
        ("kb", "prompts/git/debug.md", '- name: app\n  required: true\n- name: since\n  default: "1h: now"\n'),
        ("claude", ".claude/commands/git/debug.md", "arguments: [app, since]\n"),
        ("copilot", ".github/prompts/git-debug.prompt.md", "app: ${input:app}\n"),
        ("skill", ".claude/skills/git-debug/SKILL.md", "name: git-debug\n"),
    ],
)
def test_a_first_file_is_one_that_lint_finds_nothing_in(
    kbp: Kbp, tree: Tree, dialect: str, path: str, holds: str
) -> None:
    top = tree({"kbp.toml": "", "deep/er/x": ""})
    made = kbp("new", "git/debug", "--dialect", dialect, *ASKED, cwd=top / "deep/er")
    assert (made.code, made.out) == (0, f"../../{path}\n")
    assert ("cannot say required: app becomes optional" in made.err) is (dialect != "kb")
    text = (top / path).read_text()
    assert holds in text
    assert 'description: "Debug an app"\n' in text
    assert kbp("lint", ".", cwd=top).err == "Found nothing to report in 1 file.\n"
    again = kbp("new", "git/debug", "--dialect", dialect, cwd=top)
    assert (again.code, again.err) == (2, f"error: {path} is there already\n")
    assert (top / path).read_text() == text


def test_nothing_but_a_name_is_needed(kbp: Kbp, tree: Tree) -> None:
    top = tree({".claude-plugin/plugin.json": "{}"})
    assert kbp("new", "look-around", "--dialect", "claude", cwd=top).out == "commands/look-around.md\n"
    text = (top / "commands/look-around.md").read_text()
    assert text == '---\ndescription: "Look around"\n---\nSay here what is to be done.\n'


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("../x",), "'../x' is no name for a prompt"),
        (("/etc/x",), "'/etc/x' is no name for a prompt"),
        (("a//b",), "'a//b' is no name for a prompt"),
        ((".x",), "'.x' is no name for a prompt"),
        (("a\x1bb",), "'a\\x1bb' is no name for a prompt"),
        (("my prompt",), "'my prompt' is no name for a prompt"),
        (("x", "--argument", "a", "--argument", "a"), "--argument: `a` is given twice"),
        (("agents/x",), "prompts/agents/x.md would be read as no prompt file: an agent file"),
        (("commands/x",), "prompts/commands/x.md would be read as a claude file: found under commands/"),
        (("x.prompt", "--dialect", "claude"), ".claude/commands/x.prompt.md would be read as a copilot file"),
        (("x", "--description", "a\udcff"), "'a\\udcff' is not UTF-8"),
        (("x.md",), "'x.md' is a file: give the name without its ending"),
        (("",), "'' is no name for a prompt"),
        (("x", "--dialect", "claud"), "--dialect: there is no 'claud'; did you mean 'claude'?"),
        (("x", "--argument", "a=1!"), "--argument 'a=1!': a required argument has no default"),
        (
            ("x", "--argument", "a b"),
            "--argument 'a b': a name is letters, digits and underscores; did you mean 'a_b'?",
        ),
        (("x", "--argument", "=1"), "--argument '=1': write NAME, NAME=DEFAULT or NAME!"),
        (("é", "--dialect", "skill"), "'é' leaves no name for a skill"),
        (("x", "--edit"), "--edit: there is no editor: VISUAL or EDITOR names one"),
    ],
)
def test_wrong_requests(
    kbp: Kbp, tree: Tree, arguments: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.setenv("PATH", "")
    top = tree({"kbp.toml": ""})
    done = kbp("new", *arguments, cwd=top)
    assert done.code == 2
    assert f"error: {said}" in done.err
    assert [path.name for path in top.iterdir()] == ["kbp.toml"]


def test_the_editor_opens_it(kbp: Kbp, tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sys; open(sys.argv[1], 'a').write('Edited.\\n')"
    monkeypatch.setenv("VISUAL", f'"{sys.executable}" -c "{program}"')
    top = tree({"kbp.toml": ""})
    assert kbp("new", "x", "--edit", cwd=top).code == 0
    assert (top / "prompts/x.md").read_text().endswith("Edited.\n")


def test_nothing_is_written_out_of_the_project(kbp: Kbp, tree: Tree) -> None:
    top = tree({"r/kbp.toml": "", "elsewhere/x": ""})
    (top / "r/.claude").symlink_to(top / "elsewhere")
    done = kbp("new", "x", "--dialect", "claude", cwd=top / "r")
    assert (done.code, "leads out of . by a symbolic link" in done.err) == (2, True)
    assert [path.name for path in (top / "elsewhere").iterdir()] == ["x"]
