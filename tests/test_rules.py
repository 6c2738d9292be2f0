"""Every rule: its manual's own examples, and the conformance table."""

import base64
import contextlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import BROKEN, LIBRARY, Tree

import kbp
from kbp.commands import linting
from kbp.diagnostics import Severity
from kbp.dialects import DIALECTS, dialect_called
from kbp.files import Manner, PromptFile
from kbp.library import load_all
from kbp.linter.choice import Choice
from kbp.linter.fixer import fix
from kbp.linter.rules import RULES
from kbp.linter.rules.base import Example, Rule
from kbp.linter.run import lint
from kbp.output.diagnostics import FORMATS
from kbp.search import Search, Surroundings, find_in_folder, find_in_project, find_paths

TABLE = Path(__file__).parent / "cases" / "lint.jsonl"
CASES = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]

# No example can show these: they have tests of their own.
WITHOUT_EXAMPLES = {"unreadable-file", "too-large", "secret", "dangling-link"}
CLAUDE = DIALECTS["claude"]


def load(top: Path, paths: list[str]) -> list[PromptFile]:
    around, search = Surroundings(top), Search()
    for path in paths:
        search.add(around.place_of(top / path, named=top))
    return list(load_all(search, lambda path: Manner(skills=True)).files)


def fired(rule: Rule, examples: list[Example], tree: Tree) -> set[str]:
    """The paths of the examples in which the rule finds something, as the only one of those that run by default."""
    top = tree({example.path: example.data for example in examples})
    search = Search()
    with contextlib.chdir(top):
        if rule.check_skipped:
            find_in_project(top, search)
        files = load(top, [example.path for example in examples if example.path.endswith(".md")])
        report = lint(files, Choice(tuple({*Choice().rules, rule}), targets=(CLAUDE,)), search.skipped)
    assert {diagnostic.rule for diagnostic in report.diagnostics} <= {rule.name}
    return {diagnostic.path for diagnostic in report.diagnostics}


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_a_manual_says_what_and_why_and_shows_it(rule: Rule) -> None:
    assert rule.summary
    assert len(rule.summary) <= 120
    assert len(rule.manual.split("\n\n")) > 1
    kinds = {example.is_good for example in rule.examples}
    assert kinds == (set() if rule.name in WITHOUT_EXAMPLES else {True, False})


@pytest.mark.parametrize("rule", [rule for rule in RULES.values() if not rule.check_across], ids=lambda rule: rule.name)
def test_a_rule_finds_its_bad_examples_and_not_its_good_ones(rule: Rule, tree: Tree) -> None:
    for example in rule.examples:
        assert fired(rule, [example], tree) == (set() if example.is_good else {example.path})


@pytest.mark.parametrize("rule", [rule for rule in RULES.values() if rule.check_across], ids=lambda rule: rule.name)
def test_a_rule_over_files_finds_its_bad_examples_together(rule: Rule, tree: Tree) -> None:
    bad = [example for example in rule.examples if not example.is_good]
    assert fired(rule, bad, tree) == {example.path for example in bad}


@pytest.mark.parametrize("rule", [rule for rule in RULES.values() if rule.check_across], ids=lambda rule: rule.name)
def test_a_rule_over_files_is_silent_on_its_good_examples(rule: Rule, tree: Tree) -> None:
    assert fired(rule, [example for example in rule.examples if example.is_good], tree) == set()


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_good_examples_are_good_to_all_other_rules(rule: Rule, tree: Tree) -> None:
    good = [example for example in rule.examples if example.is_good and example.path.endswith(".md")]
    top = tree({example.path: example.data for example in good})
    assert lint(load(top, [example.path for example in good])).diagnostics == ()


def data_of(case: dict[str, Any]) -> bytes | None:
    """The bytes of the file of a case, None where it is a link."""
    if "file_base64" in case:
        return base64.b64decode(case["file_base64"])
    return case["file"].encode() if case["file"] is not None else None


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_file_has_the_findings_of_its_case(case: dict[str, Any], tree: Tree) -> None:
    data = data_of(case)
    top = tree({".git/HEAD": "", **case.get("siblings", {}), **({case["path"]: data} if data is not None else {})})
    for path, target in case.get("links", {}).items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).symlink_to(target)
    prompts = [path for path in case.get("siblings", {}) if path.endswith(".md")]
    search = Search()
    if data is None or any(path.endswith(".json") for path in case.get("siblings", {})):
        find_in_folder(top, None, search)
        files: Sequence[PromptFile] = load_all(search).files
    else:
        files = load(top, [case["path"], *prompts])
    enabled = [RULES[name] for name in case.get("config", {}).get("enable", [])]
    target = case.get("config", {}).get("target")
    targets = (DIALECTS[target],) if target else ()
    report = lint(files, Choice((*Choice().rules, *enabled), targets=targets), search.skipped)
    found = {
        (diagnostic.rule, str(diagnostic.severity), diagnostic.start.line)
        for diagnostic in report.diagnostics
        if diagnostic.rule not in case.get("unchecked", [])
    }
    wanted = [each for each in case["diagnostics"] if each["rule"] in RULES]
    anywhere = {(each["rule"], each["severity"]) for each in wanted if each["line"] is None}
    found = {(rule, severity, None if (rule, severity) in anywhere else line) for rule, severity, line in found}
    assert found == {(each["rule"], each["severity"], each["line"]) for each in wanted}


FIXED = [
    (case, finding)
    for case in CASES
    for finding in case["diagnostics"]
    if ("fix" in finding or "fixed_file" in finding) and finding["rule"] in RULES
]


@pytest.mark.parametrize(("case", "finding"), FIXED, ids=[f"{case['id']}-{each['rule']}" for case, each in FIXED])
def test_a_fix_leaves_the_line_or_the_file_of_its_case(
    case: dict[str, Any], finding: dict[str, Any], tree: Tree
) -> None:
    data = data_of(case)
    assert data is not None
    (file,) = load(tree({case["path"]: data}), [case["path"]])
    others = tuple(RULES.values()) if finding["rule"] == "unused-suppression" else ()
    fixed = fix(file, Choice((RULES[finding["rule"]], *others)), unsafe=True)
    assert fixed.counts[finding["rule"]] > 0
    if "fixed_file" in finding:
        assert fixed.after.document.text == finding["fixed_file"]
    else:
        before, after = file.document.text.split("\n"), fixed.after.document.text.split("\n")
        before[finding["line"] - 1] = finding["fix"]
        assert after == before


def test_the_table_shows_fixes() -> None:
    assert len(FIXED) > 40


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_the_fixes_of_a_rule_are_what_its_table_says(rule: Rule, tree: Tree) -> None:
    choice = Choice(tuple(RULES.values()) if rule.check_unused else (rule,))
    seen = set()
    for example in rule.examples:
        for file in load(tree({example.path: example.data}), [example.path]):
            for diagnostic in lint([file], choice).diagnostics:
                if diagnostic.rule == rule.name and diagnostic.fix is not None:
                    seen.add("safe" if diagnostic.fix.is_safe else "unsafe")
    kinds = set(rule.fixes.split(" or ")) - {""}
    assert seen <= kinds
    assert seen or not kinds or rule.name in {"duplicate-key", "frontmatter-not-first"}


def test_most_of_the_table_is_checked() -> None:
    assert len(CASES) > 195
    rules = {each["rule"] for case in CASES for each in case["diagnostics"]}
    assert set(RULES) - rules <= WITHOUT_EXAMPLES


@pytest.mark.parametrize("dialect", ["auto", "kb", "claude", "copilot"])
def test_every_refused_file_has_an_error_whatever_dialect_it_is_read_as(dialect: str) -> None:
    search = Search()
    find_paths([str(BROKEN)], None, search)
    library = load_all(search, lambda path: Manner(dialect_called(dialect)))
    report = lint(library.files)
    erroneous = {each.path for each in report.diagnostics if each.severity is Severity.ERROR}
    refused = {file.path for file in library.files if file.is_refused}
    assert refused <= erroneous
    assert len(refused) == report.refused >= 10


FRONTMATTER_OR_NOT = [
    # what stands before and in a block that does not start on the first line, whether it is one
    ("\n---\ndescription: d\n---\nx", True),
    ("<!-- c -->\n---\ndescription: d\n---\nx", True),
    ("# c\n---\nmodel: m\ndescription: d\n---\nx", True),
    ("~~~md\n---\nagent: a\n---\nx\n~~~", True),
    ("# Deploy\n\n---\nNote: never on Fridays.\n\n---\n\nDeploy it.", False),
    ("# Deploy\n\n---\n\ndescription: d\n\n---\n", False),
    ("# Deploy\n\n---\ndescription: d\n", False),
    ("Words.\n---\ndescription: d\n---\n", False),
]


@pytest.mark.parametrize(("text", "is_block"), FRONTMATTER_OR_NOT)
def test_only_a_block_with_a_key_of_prompt_files_is_misplaced(text: str, is_block: bool, tree: Tree) -> None:
    report = lint(load(tree({"commands/a.md": text}), ["commands/a.md"]), Choice((RULES["frontmatter-not-first"],)))
    assert len(report.diagnostics) == is_block


WAYS_OUT = [
    ("prompts/a.md", "$ARGUMENTS", "kb", "write `{{ arguments }}` and declare it under `arguments`"),
    ("commands/a.md", "{{ARGUMENTS}}", "auto", "write `$ARGUMENTS`"),
    ("commands/a.md", "${input:area}", "auto", "write `$area` and declare it under `arguments`"),
    ("a.prompt.md", "$ARGUMENTS", "auto", "write `${input:arguments}`"),
]


@pytest.mark.parametrize(("path", "body", "dialect", "way_out"), WAYS_OUT)
def test_a_foreign_placeholder_is_told_with_a_way_out_that_works(
    path: str, body: str, dialect: str, way_out: str, tree: Tree
) -> None:
    file = kbp.load(tree({path: f"---\ndescription: d\n---\n{body}"}) / path, dialect=dialect)
    (finding,) = lint([file], Choice((RULES["foreign-placeholder"],))).diagnostics
    assert finding.help == way_out


def test_the_library_of_the_tests_is_clean() -> None:
    search = Search()
    find_paths([str(LIBRARY)], None, search)
    report = lint(load_all(search).files)
    assert (report.diagnostics, report.files) == ((), 29)


def test_an_unreadable_and_a_too_large_file_are_findings_and_the_run_goes_on(tree: Tree) -> None:
    top = tree({"prompts/folder.md/x": "", "prompts/large.md": b"x" * (16 * 1024 * 1024 + 1), "prompts/good.md": "x"})
    report = lint(load(top, ["prompts/folder.md", "prompts/large.md", "prompts/good.md", "prompts/gone.md"]))
    assert [(each.rule, each.message) for each in report.diagnostics] == [
        ("unreadable-file", "cannot be read: a folder, not a file"),
        ("unreadable-file", "cannot be read: no such file or directory"),
        (
            "missing-description",
            "no description: Claude Code shows the first line of the body instead, other clients show nothing",
        ),
        ("too-large", "more than 16384 KiB: not read"),
    ]
    assert (report.files, report.refused) == (4, 3)


# Put together at run time, so that no scanner takes this file for one with secrets.
SIGNS = "Q1w2E3r4T5y6U7i8O9p0"
SECRETS = [
    "AK" + "IA" + SIGNS[:16].upper(),
    "gh" + "p_" + SIGNS + SIGNS[:16],
    "github" + "_pat_" + SIGNS * 4,
    "glp" + "at-" + SIGNS,
    "sk-" + "ant-" + SIGNS * 2,
    "sk-" + SIGNS * 2 + "AbC",
    "AI" + "za" + SIGNS + SIGNS[:15],
    "xo" + "xb-" + SIGNS * 2,
    "np" + "m_" + SIGNS + SIGNS[:16],
    "-----BEGIN RSA " + "PRIVATE KEY-----",
]


@pytest.mark.parametrize("token", SECRETS)
def test_a_secret_is_named_and_never_printed(token: str, tree: Tree) -> None:
    file = kbp.load(tree({"prompts/a.md": f"---\ndescription: d\n---\nUse {token} here.\n"}) / "prompts/a.md")
    report = lint([file])
    assert [diagnostic.rule for diagnostic in report.diagnostics] == ["secret"]
    for format in FORMATS.values():
        assert token not in format(report, False)


LEAKS = [
    # what else is found on the line of a secret
    "---\ndescription: Use this: {token}\n---\nGo.\n",
    "---\ndescription: Say hello # {token}\n---\nGo.\n",
    "---\ndescription: d\n---\n${{input:key|{token}}} and $1 {token}\n",
    "---\ndescription: d\nargument-hint: [{token}]\n---\nGo $1 {{{{ {token} }}}}\n",
    "---\n{token}\n---\nGo.\n",
    "---\nx: [{token}\n---\nGo.\n",
]


@pytest.mark.parametrize("token", [SECRETS[1], SECRETS[4]])
@pytest.mark.parametrize("text", LEAKS)
@pytest.mark.parametrize("path", ["prompts/a.md", "commands/a.md", "prompts/a.prompt.md"])
def test_no_other_finding_prints_a_secret(path: str, text: str, token: str, tree: Tree) -> None:
    file = kbp.load(tree({path: text.format(token=token)}) / path)
    report = lint([file])
    assert "secret" in {diagnostic.rule for diagnostic in report.diagnostics}
    for format in linting.FORMATS.values():
        assert token[:16] not in format(report, False)


SAMPLES = ["AKIA" + "IOSFODNN7" + "EXAMPLE", "ghp_" + "x" * 36, "sk-" + "0" * 48]


@pytest.mark.parametrize("token", SAMPLES)
def test_a_sample_of_a_token_is_no_secret(token: str, tree: Tree) -> None:
    file = kbp.load(tree({"prompts/a.md": f"---\ndescription: d\n---\nUse {token} here.\n"}) / "prompts/a.md")
    assert lint([file]).diagnostics == ()


PRICES_AND_POSITIONS = [
    # the body, the dollars that are prices or code
    ("$5.00 and $0", ["$5"]),
    ("$1,250 of $20,000 for $0", ["$1", "$20"]),
    ("$3/million, $0", ["$3"]),
    ("docs/$1/notes and $0", []),
    ("$8K, $125, \\$7.50, $0", []),
    ("$0\n```sh\nx=$1\n```\n", ["$1"]),
    ("Move $1.\n```sh\nmv $1\n```\n", []),
    ("`awk '{print $1}'` $0", ["$1"]),
]


@pytest.mark.parametrize(("body", "dollars"), PRICES_AND_POSITIONS)
def test_prices_and_code_are_told_from_positions(body: str, dollars: list[str], tree: Tree) -> None:
    file = kbp.load(tree({"commands/a.md": f"---\ndescription: d\n---\n{body}"}) / "commands/a.md")
    report = lint([file], Choice((RULES["amount-or-code"],)))
    assert [file.document.text[each.span.start : each.span.end] for each in report.diagnostics] == dollars


# No file takes long. What is quadratic takes minutes on these.
REPEATED = [
    " @a",
    "$1 ",
    "`$1` ",
    "```!\n",
    "$abc ",
    "{",
    "${input:",
    "${input:a}",
    "$",
    "#file:",
    "`",
    "!`a` ",
    "\n",
    "\r",
]
REPEATED += [
    "<!--",
    "---\n",
    "    a\n",
    "../",
    "\\$1",
    "$ARGUMENTS[",
    "{{ a.b }}",
    "${input:a|",
    "\u202e",
    "-----BEGIN ",
    "sk-",
    " ",
    "\t \n",
    "a:",
]


@pytest.mark.parametrize("piece", REPEATED)
@pytest.mark.parametrize("path", ["prompts/a.md", "commands/a.md", "prompts/a.prompt.md"])
def test_no_body_takes_long(tree: Tree, path: str, piece: str) -> None:
    top = tree({path: "---\ndescription: d\narguments: [abd]\n---\n" + piece * 50_000 + "a b"})
    start = time.monotonic()
    kbp.lint(top)
    assert time.monotonic() - start < 15


BLOCKS = [
    "k{n}: v\n",
    "a: [x]\n",
    "# c\n",
    "# kbp: ignore[x]\n",
    "k{n}: a: b\n",
    " a: b\n",
    "a\n",
    "k{n}:\tv\n",
    "k: 'x\n",
    "- a\n",
]


@pytest.mark.parametrize("line", BLOCKS)
@pytest.mark.parametrize("folder", ["prompts", "commands"])
def test_no_frontmatter_takes_long(tree: Tree, folder: str, line: str) -> None:
    block = "".join(line.replace("{n}", str(n)) for n in range(1000))  # less than what is explained at all
    top = tree({f"{folder}/a.md": f"---\n{block}a: x{' ' * 30_000}y\n---\ntext\n"})
    start = time.monotonic()
    kbp.lint(top)
    assert time.monotonic() - start < 15


# What the conformance table does not say of the rules: a path and a text, the rules that find something, in order.
MORE = [
    ("commands/a.md", "---\ndescription: d\nallowed-tools: [&a Read, *a]\n---\nGo $0.\n", ["yaml-feature"] * 2),
    ("commands/a.md", "---\ndescription: d\nx-a:\n- !!str 12\n- '&b'\n- a & b\n---\nGo $0.\n", ["yaml-feature"]),
    ("prompts/a.md", "---\ndescription: d\nx-a: {a: &b {c: d}, e: {<<: *b}}\n---\nx\n", ["yaml-feature"] * 3),
    (
        "prompts/a.md",
        "---\ndescription: d\n---\nCaf\u200bé при\u200bвет क्\u200dष a\ufe0fb 👩\u200d💻\n",
        ["hidden-text"] * 2,
    ),
    ("commands/a.md", "---\ndescription: d\narguments: [text, lang]\n---\n$1 to $2.\n", ["one-based-index"]),
    (
        "commands/a.md",
        '```md\n---\ndescription: d\nargument-hint: "[a]"\n---\n$0 to $1.\n```\n',
        ["frontmatter-not-first"],
    ),
    ("prompts/a.md", "\n---\narguments:\n- name: x\n---\n{{ x }}\n", ["frontmatter-not-first"]),
    ("a.prompt.md", "---\ndescription: d\n---\nSay ${input:y:{{name}}.\n", ["malformed-input"]),
    ("a.prompt.md", "---\ndescription: d\n---\n${input:x:Which one?} ${input:x:foo{a}\n", ["malformed-input"]),
    ("README.md", "Text.\n", ["missing-description"]),
    ("prompts/Changelog.md", "Text.\n", ["document-in-prompts"]),
    ("prompts/a.md", "---\ndescription: d\nmode: x\nglobs: y\n---\nx\n", ["dialect-mixed"]),
    ("commands/a.md", "---\ndescription: d\nallowed-tools: Bash(\"x y\":*)\n---\n!`x y z` $0\n", []),
    ("commands/a.md", "---\ndescription: d\n---\na\rb\nc\n$0\n", []),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text", "rules"), MORE, ids=range(len(MORE)))
def test_a_file_has_these_findings(path: str, text: str, rules: list[str], tree: Tree) -> None:
    top = tree({path: text})
    given = dialect_called("kb") if "globs" in text or path == "README.md" else None
    search = Search()
    search.add(Surroundings(top).place_of(top / path, named=top))
    report = lint(load_all(search, lambda _: Manner(given)).files)
    assert [diagnostic.rule for diagnostic in report.diagnostics] == rules
