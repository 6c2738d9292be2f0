"""The settings of a project: where they are found, what they may say, what is wrong with them."""

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from conftest import Kbp, Tree

from kbp.configuration import SETTINGS, Wrong, allows, find, load, schema
from kbp.diagnostics import Finding, Severity
from kbp.dialects import names
from kbp.files import PromptFile
from kbp.linter.choice import fresh
from kbp.linter.rules import RULES
from kbp.linter.rules.base import rule

PROMPT = "---\ndescription: d\n---\nbody\n"
ONE_BASED = "---\ndescription: d\nargument-hint: x\n---\nGo $1.\n"

FILES = [
    # the files there are, the one that holds for the folder `a/b`
    ({"a/kbp.toml": "", "kbp.toml": ""}, "a/kbp.toml"),
    ({"a/.kbp.toml": "", "a/kbp.toml": ""}, "a/kbp.toml"),
    ({"a/.kbp.toml": ""}, "a/.kbp.toml"),
    ({"a/pyproject.toml": "[tool.kbp.lint]\n", "kbp.toml": ""}, "a/pyproject.toml"),
    ({"a/pyproject.toml": "[tool.other]\n", "kbp.toml": ""}, "kbp.toml"),
    ({"a/kbp.toml/x": "", "kbp.toml": ""}, "kbp.toml"),
]


@pytest.mark.parametrize(("files", "expected"), FILES)
def test_the_nearest_file_holds(files: dict[str, str], expected: str, tree: Tree) -> None:
    top = tree({"a/b/x": "", **files})
    assert find(top / "a/b") == top / expected


def test_values_lie_below_their_table_and_know_their_lines(tree: Tree) -> None:
    text = '[tool.other]\nx = 1\n[tool.kbp]\npaths = ["p"]\n[tool.kbp.lint]\nstrict = true\n'
    found = load(tree({"pyproject.toml": text}) / "pyproject.toml")
    assert (found.value("paths"), found.value("lint.strict"), found.value("exclude")) == (["p"], True, [])
    assert found.lines == {"paths": 4, "lint.strict": 6}


WRONG = [
    ("pahts = []", ["1: there is no setting `pahts`; did you mean `paths`?"]),
    ("\n[lint]\nselct = []", ["3: there is no setting `lint.selct`; did you mean `lint.select`?"]),
    ("paths = 'a'", ["1: `paths` is not a list of texts"]),
    ("lint = 3", ["1: `lint` is a table: write [lint]"]),
    ("[lint]\nstrict = 'yes'", ["2: `lint.strict` is not true or false"]),
    ("max-file = true", ["1: `max-file` is not a number from 1 to 2^40"]),
    ("[lint.severity]\nx = 3", ["1: `lint.severity` is not a table of texts"]),
    ("[dialect]\n'x' = 'copilt'", ["1: `dialect`: 'x': there is no dialect 'copilt'; did you mean 'copilot'?"]),
    ("[tool.kbp]\n", [" a table [tool.kbp] belongs into pyproject.toml: leave `tool.kbp` out here"]),
    ("max-file = 99999999999999999999999", ["1: `max-file` is not a number from 1 to 2^40"]),
    ("exclude = ['[a']", ["1: `exclude`: '[a': a bracket that nothing closes"]),
    ("required-version = 'new'", ["1: `required-version` is no version or range of versions, as `>=0.1,<0.3`"]),
    ("a = 1\nb = 2", ["1: there is no setting `a`", "2: there is no setting `b`"]),
]


@pytest.mark.parametrize(("text", "faults"), WRONG)
def test_what_is_wrong_is_told_with_its_line(text: str, faults: list[str], tree: Tree) -> None:
    path = tree({"kbp.toml": text}) / "kbp.toml"
    with pytest.raises(Wrong) as wrong:
        load(path, names())
    assert list(wrong.value.faults) == [f"{path}:{fault}" for fault in faults]


@pytest.mark.parametrize("data", [b"=", b"\xff", b"x = " + b"[" * 5000])
def test_what_is_no_toml_is_told(data: bytes, tree: Tree) -> None:
    path = tree({"kbp.toml": data}) / "kbp.toml"
    with pytest.raises(Wrong, match="not TOML"):
        load(path)


@pytest.mark.parametrize("text", ["tool = 1", "[tool]\nkbp = 3", "[[tool.kbp]]"])
def test_a_table_that_is_none_is_told(text: str, tree: Tree) -> None:
    with pytest.raises(Wrong, match="is no table"):
        load(tree({"pyproject.toml": text}) / "pyproject.toml")


def test_a_new_rule_is_an_info_for_one_minor_version() -> None:
    @rule(Severity.ERROR, since="0.2.0")
    def brand_new(file: PromptFile) -> Iterator[Finding]:
        """It is new."""
        yield from ()

    assert [fresh([brand_new], version) for version in ("0.2.0", "0.2.7", "0.3.0")] == [
        {"brand-new": Severity.INFO},
        {"brand-new": Severity.INFO},
        {},
    ]
    assert fresh(RULES.values(), "0.1.3") == {}


def test_wrong_settings_end_a_command_with_2(kbp: Kbp, tree: Tree) -> None:
    top = tree({"kbp.toml": "[lint]\nselct = []\n", "prompts/a.md": PROMPT})
    for command in ("lint", "list", "config"):
        result = kbp(command, *(["show"] if command == "config" else []), cwd=top)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"error: {top / 'kbp.toml'}:2: there is no setting `lint.selct`")
    assert kbp("lint", "--no-config", cwd=top).code == 0
    assert kbp("rules", cwd=top).code == 0
    assert kbp("config", "schema", cwd=top).code == 0


def test_rules_that_there_are_not_are_told_with_where_they_stand(kbp: Kbp, tree: Tree) -> None:
    text = '[lint]\nselect = ["unquoted-hnt"]\nignore = ["x"]\n[lint.severity]\nsecret = "fatal"\ny = "info"\n'
    text += '[lint.per-file-ignores]\n"*.md" = ["z"]\n'
    top = tree({"kbp.toml": text, "prompts/a.md": PROMPT})
    result = kbp("lint", "--extend-select", "unusd-argument", cwd=top)
    where = top / "kbp.toml"
    assert (result.code, sorted(result.err.splitlines())) == (
        2,
        [
            "error: --extend-select: there is no rule 'unusd-argument'; did you mean 'unused-argument'?",
            f"error: {where}: lint.ignore: there is no rule 'x'",
            f"error: {where}: lint.per-file-ignores: there is no rule 'z'",
            f"error: {where}: lint.select: there is no rule 'unquoted-hnt'; did you mean 'unquoted-hint'?",
            f"error: {where}: lint.severity: secret cannot be 'fatal'; it is one of error, warning, info, off",
            f"error: {where}: lint.severity: there is no rule 'y'",
        ],
    )


CHOICES = [
    # the settings below [lint], the options, the rules that find something in a command that counts from 1
    ("", [], ["one-based-index"]),
    ("", ["--extend-select", "dropped-over-mcp,free-text-over-mcp"], ["free-text-over-mcp", "one-based-index"]),
    ("", ["--select", "free-text-over-mcp"], ["free-text-over-mcp"]),
    ("", ["--select", "all", "--ignore", "one-based-index"], ["free-text-over-mcp"]),
    ("", ["--ignore", "one-based-index"], []),
    ('select = ["free-text-over-mcp"]', [], ["free-text-over-mcp"]),
    ('select = ["free-text-over-mcp"]', ["--select", "secret"], []),
    ('extend-select = ["free-text-over-mcp"]', [], ["free-text-over-mcp", "one-based-index"]),
    ('ignore = ["one-based-index"]', [], []),
    ('[lint.severity]\none-based-index = "off"', [], []),
    ('[lint.per-file-ignores]\n"commands/*.md" = ["one-based-index"]', [], []),
    ('[lint.per-file-ignores]\n"commands/" = ["all"]', [], []),
    ('ignore = ["one-based-index"]', ["--select", "one-based-index"], ["one-based-index"]),
    ('[lint.severity]\none-based-index = "off"', ["--extend-select", "one-based-index"], ["one-based-index"]),
    ('[lint.per-file-ignores]\n"./commands/*.md" = ["one-based-index"]', [], []),
    ('[lint.per-file-ignores]\n"prompts/*.md" = ["one-based-index"]', [], ["one-based-index"]),
]


@pytest.mark.parametrize(("settings", "options", "rules"), CHOICES)
def test_rules_are_chosen(kbp: Kbp, tree: Tree, settings: str, options: list[str], rules: list[str]) -> None:
    top = tree({"kbp.toml": f"[lint]\n{settings}\n", "commands/a.md": ONE_BASED})
    result = kbp("lint", "-f", "json", *options, cwd=top)
    assert sorted(each["rule"] for each in json.loads(result.out)["diagnostics"]) == rules


def test_a_severity_and_strictness_are_set(kbp: Kbp, tree: Tree) -> None:
    top = tree({"kbp.toml": '[lint.severity]\none-based-index = "error"\n', "commands/a.md": ONE_BASED})
    assert kbp("lint", cwd=top).code == 1
    assert "error[one-based-index]" in kbp("lint", cwd=top).out
    (top / "kbp.toml").write_text("[lint]\nstrict = true\n")
    assert kbp("lint", cwd=top).code == 1
    (top / "kbp.toml").write_text("")
    assert (kbp("lint", cwd=top).code, kbp("lint", "--strict", cwd=top).code) == (0, 1)


def test_paths_exclusions_dialects_and_keys_are_set(kbp: Kbp, tree: Tree) -> None:
    settings = 'paths = ["shared"]\nexclude = ["drafts/", "*.tmp.md"]\n[dialect]\n"tools/*" = "copilot"\n'
    settings += '[lint]\nextra-keys = ["owner"]\n'
    top = tree(
        {
            "kbp.toml": settings,
            "shared/prompts/s.md": PROMPT,
            "prompts/a.md": "---\ndescription: d\nowner: me\nwriter: you\n---\nbody\n",
            "prompts/x.tmp.md": PROMPT,
            "prompts/drafts/d.md": PROMPT,
            "prompts/tools/t.agent.md": PROMPT,
            "tools/t.md": "---\ndescription: d\n---\n${input:x}\n",
            "tools/t.agent.md": PROMPT,
        }
    )
    assert kbp("list", "-f", "names", cwd=top).out.split() == ["a", "s"]
    found = json.loads(kbp("lint", "-f", "json", cwd=top).out)["diagnostics"]
    assert [each["message"].split(" is no key")[0] for each in found if each["rule"] == "unknown-key"] == ["`writer`"]
    shown = kbp("show", "tools/t.agent.md", cwd=top)
    assert "tools/t.agent.md (copilot: the settings give it)" in shown.out
    assert (
        kbp("show", "tools/t.md", "--dialect", "claude", cwd=top)
        .out.splitlines()[1]
        .endswith("(claude: the dialect was given)")
    )


def test_bounds_are_set(kbp: Kbp, tree: Tree) -> None:
    top = tree(
        {
            "kbp.toml": "max-file = 20\nmax-frontmatter = 5\n",
            "prompts/a.md": "x" * 21,
            "prompts/b.md": "---\na: bcd\n---\n",
        }
    )
    found = json.loads(kbp("lint", "-f", "json", cwd=top).out)["diagnostics"]
    assert [(each["path"], each["rule"]) for each in found] == [
        ("prompts/a.md", "too-large"),
        ("prompts/b.md", "too-large"),
    ]


def test_a_version_that_is_required_is_the_one_that_runs(kbp: Kbp, tree: Tree) -> None:
    top = tree({"kbp.toml": 'required-version = ">=99"\n', "prompts/a.md": PROMPT})
    result = kbp("lint", cwd=top)
    assert result.code == 2
    assert result.err.startswith(f"error: {top / 'kbp.toml'}: required-version is >=99, and this is kbp ")


@pytest.mark.parametrize(
    ("wanted", "version", "allowed"),
    [("0.1.0", "0.1.0", True), ("0.1.0", "0.1.1", False), (">=0.1,<0.3", "0.2.9", True), ("~=0.1.0", "0.2.0", False)],
)
def test_versions_are_compared(wanted: str, version: str, allowed: bool) -> None:
    assert allows(wanted, version) is allowed


def test_another_file_is_named(kbp: Kbp, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tree({"kbp.toml": "", "other.toml": "[lint]\nstrict = true\n", "commands/a.md": ONE_BASED})
    assert kbp("lint", "--config", "other.toml", cwd=top).code == 1
    monkeypatch.setenv("KBP_CONFIG", str(top / "other.toml"))
    assert kbp("lint", cwd=top).code == 1
    gone = kbp("lint", "--config", "gone.toml", cwd=top)
    assert (gone.code, gone.err.splitlines()[0]) == (2, f"error: {top / 'gone.toml'}: no such file or directory")


def test_the_settings_are_shown_with_where_they_come_from(kbp: Kbp, tree: Tree) -> None:
    top = tree({"kbp.toml": '# ours\npaths = ["p"]\n'})
    lines = kbp("config", "show", cwd=top).out.splitlines()
    assert lines[:2] == ['paths = ["p"]  # kbp.toml:2', "exclude = []  # default"]
    assert len(lines) == len(SETTINGS)
    assert kbp("config", "path", cwd=top).out == f"{top / 'kbp.toml'}\n"


def test_no_settings_are_told(kbp: Kbp, tmp_path: Path) -> None:
    result = kbp("config", "path", cwd=tmp_path)
    assert (result.code, result.out) == (1, "")


def test_the_schema_says_what_the_reader_takes(kbp: Kbp) -> None:
    printed = json.loads(kbp("config", "schema").out)
    assert printed == schema(names())
    jsonschema.Draft202012Validator.check_schema(printed)
    check = jsonschema.Draft202012Validator(printed).is_valid
    assert check({"paths": ["a"], "lint": {"strict": True, "per-file-ignores": {"*": ["x"]}}, "max-file": 3})
    for wrong in (
        {"pahts": []},
        {"paths": "a"},
        {"lint": {"strict": "yes"}},
        {"max-file": 0},
        {"dialect": {"*": "kbb"}},
    ):
        assert not check(wrong)
