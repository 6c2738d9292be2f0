"""The behaviours of the system that `kbp serve` follows, row by row: what it does alike, and what it does otherwise.

The rows are those of a description of that system (A: reading, B: publishing, C: own dialect, D: Claude, E: Copilot,
F: detecting, G: values, H: the wire, I: finding). Each has a case here, a test elsewhere, or a reason why it is not so.
"""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from conftest import TESTS, Kbp, Tree
from serving import MODERN

from kbp import dialects, files
from kbp.files import Manner, Place
from kbp.server.bodies import Body
from kbp.server.revisions import wire_prompt


@dataclass(frozen=True)
class Case:
    """A file, and what is served of it: fields of its prompt, what it becomes for values, or why it is skipped."""

    row: str
    path: str
    text: str | bytes
    published: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    rendered: str | None = None
    skipped: str | None = None


def kb(declared: str, body: str) -> str:
    return f"---\ndescription: d\narguments:\n{declared}\n---\n{body}"


APP = "- {name: app, description: The workload, required: true}\n- {name: since, default: 1h}"
FREE = {"name": "arguments", "description": "Everything typed after the command."}
BOMB = "---\na: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)

CASES = [
    Case("A1", "prompts/x.md", "---\ndescription: d\n---\nBody.\n", {"description": "d"}, rendered="Body.\n"),
    Case("A4", "prompts/x.md", "---\n---\n", {"name": "x"}, rendered=""),
    Case("A7", "prompts/x.md", "---\n---\na\n---\nb\n---\n", rendered="a\n---\nb\n---\n"),
    Case("A8", "prompts/x.md", "---\n---\n\n \t\n  a\n\n\n", rendered="a\n\n\n"),
    Case("A9", "prompts/x.md", b"---\r\ndescription: d\r\n---\r\na\rb\r\n", {"description": "d"}, rendered="a\nb\n"),
    Case("A9", "prompts/x.md", b"---\n---\n\xe9\n", skipped="UTF-8"),
    Case("A11", "prompts/x.md", "---\nx: &a d\ndescription: *a\n---\na\n", {"description": "d"}),
    Case("A11", "prompts/x.md", "---\nx: &a {description: d}\n<<: *a\n---\na\n", {"description": "d"}),
    Case("A11", "prompts/x.md", "---\nx: !!python/object/apply:os.system [id]\n---\na\n", skipped="tag"),
    Case("A11", "prompts/x.md", "---\nx: " + "[" * 2000 + "\n---\na\n", skipped=""),
    Case("A11", "prompts/x.md", f"{BOMB}description: d\n---\na\n", {"description": "d"}),
    *(
        Case("A12", "prompts/x.md", f"---\ndescription: {bad}\n---\na\n", skipped="")
        for bad in ("a: b", "*x", "@x", "%x", "{{ x }}", "[a", "\tx: y\n\tz")
    ),
    Case("A13", "prompts/x.md", "---\ndescription: a\ndescription: b\n---\na\n", {"description": "b"}),
    Case("A18", "prompts/x.md", "---\n---\n!`touch /tmp/kbp-never`\n", rendered="!`touch /tmp/kbp-never`\n"),
    Case("B1", "prompts/a.b.md", "x\n", {"name": "a.b"}),
    Case("B1", "prompts/Two Words.md", "x\n", {"name": "Two Words"}),
    Case("B1", "prompts/x.prompt.md", "x\n", {"name": "x"}),
    Case("B1", "prompts/x.PROMPT.md", "x\n", {"name": "x.PROMPT"}),
    Case("B3", "prompts/x.md", "---\nname: other\n---\na\n", {"name": "x"}),
    Case("B4", "prompts/x.md", "---\ndescription: |\n  a\n  b   c\n---\na\n", {"description": "a b c"}),
    Case("B4", "prompts/x.md", "---\ndescription:\n---\n# Title\n", {"description": None}),
    Case("B4", "prompts/x.md", "---\ndescription: 5\n---\na\n", {"description": "5"}),
    Case("B4", "prompts/x.md", "---\ndescription: 2026-01-01\n---\na\n", {"description": "2026-01-01"}),
    Case("B4", "prompts/x.md", "---\ndescription: [a]\n---\na\n", skipped="description"),
    Case("B5", "prompts/x.md", "---\ntitle: T\n---\na\n", {"title": "T"}),
    Case("B5", "commands/x.md", "---\ntitle: T\n---\na\n", {"title": None}),
    Case(
        "B6",
        "prompts/x.md",
        kb(APP, "{{ since }} {{ app }}"),
        {"arguments": [{"name": "app", "description": "The workload", "required": True}, {"name": "since"}]},
    ),
    Case("B7", "commands/x.md", "---\narguments: [a]\n---\n$a\n", {"arguments": [{"name": "a"}]}),
    Case("B7", "prompts/x.prompt.md", "${input:a:A?}\n", {"arguments": [{"name": "a", "description": "A?"}]}),
    *(
        Case("C1", "prompts/x.md", f"---\narguments: {bad}\n---\n{{{{ a }}}}\n", skipped="")
        for bad in ("{a: b}", "true", "[{name: a}, 5]")
    ),
    Case("C2", "prompts/x.md", kb("- {description: a}", "a\n"), skipped="name"),
    Case("C2", "prompts/x.md", kb("- {name: 5}", "a\n"), {"arguments": [{"name": "5"}]}),
    *(
        Case(
            "C3", "prompts/x.md", kb(f"- {{name: a, required: true, default: {each}}}", "{{ a }}\n"), skipped="default"
        )
        for each in ("x", "''", "null")
    ),
    Case("C5", "prompts/x.md", kb("- {name: a, default: [x]}", "{{ a }}\n"), skipped="default"),
    Case("C5", "prompts/x.md", kb("- {name: a, default: null}", "[{{ a }}]\n"), rendered="[]\n"),
    Case("C6", "prompts/x.md", kb("- {name: a_1, default: x}", "{{a_1}}{{\n a_1\t}}"), rendered="xx"),
    Case(
        "C7",
        "prompts/x.md",
        kb("- {name: a, default: x}", "{{ a.b }} {{ a|b }} {{ é }} {{}}"),
        rendered="{{ a.b }} {{ a|b }} {{ é }} {{}}",
    ),
    Case(
        "C8", "prompts/x.md", kb("- {name: a}", "{{ c }} {{ b }} {{ c }} {{ A }}"), skipped="`{{ b }}` is not declared"
    ),
    Case(
        "C9",
        "prompts/x.md",
        kb("- {name: a, default: x}", '{app="x"} |= {{{ a }}} {"a": {}}'),
        rendered='{app="x"} |= {x} {"a": {}}',
    ),
    Case("C10", "prompts/x.md", kb(APP, "{{ app }} {{ since }}"), values={"app": "a"}, rendered="a 1h"),
    Case("C10", "prompts/x.md", kb("- {name: a}", "[{{ a }}]"), rendered="[]"),
    Case("C11", "prompts/x.md", kb("- {name: a}", "no\n"), {"arguments": [{"name": "a"}]}),
    Case(
        "C12",
        "prompts/x.md",
        kb("- {name: a, default: x}", "$ARGUMENTS $a $0 ${input:a}"),
        rendered="$ARGUMENTS $a $0 ${input:a}",
    ),
    Case("C12", "commands/x.md", "{{ a }} ${input:a}\n", rendered="{{ a }} ${input:a}\n"),
    Case("D1", "commands/x.md", "---\narguments: a  b\n---\n$b$a\n", {"arguments": [{"name": "a"}, {"name": "b"}]}),
    Case("D1", "commands/x.md", "---\narguments: [5]\n---\na\n", skipped="arguments"),
    Case("D1", "commands/x.md", "---\narguments: [{name: a}]\n---\na\n", skipped="arguments"),
    Case("D2", "commands/x.md", "a\n", {"arguments": [FREE]}),
    Case("D2", "commands/x.md", "---\narguments: [a]\n---\n$ARGUMENTS\n", {"arguments": [{"name": "a"}, FREE]}),
    Case("D2", "commands/x.md", "---\narguments: [a]\n---\n$0\n", {"arguments": [{"name": "a"}, FREE]}),
    Case("D2", "commands/x.md", "---\narguments: [a]\n---\n$a\n", {"arguments": [{"name": "a"}]}),
    Case(
        "D2",
        "commands/x.md",
        "---\narguments: [arguments, a]\n---\n$0\n",
        {"arguments": [{"name": "arguments"}, {"name": "a"}]},
    ),
    Case(
        "D3",
        "commands/x.md",
        "---\nargument-hint: what\n---\na\n",
        {"arguments": [{"name": "arguments", "description": "what"}]},
    ),
    Case("D3", "commands/x.md", "---\nargument-hint: ''\n---\na\n", {"arguments": [FREE]}),
    Case(
        "D4",
        "commands/x.md",
        "---\nargument-hint: [a, b]\n---\na\n",
        {"arguments": [{"name": "arguments", "description": "a b"}]},
    ),
    Case("D4", "commands/x.md", "---\nargument-hint: {a: b}\n---\na\n", skipped="argument-hint"),
    Case("D4", "commands/x.md", "---\nargument-hint: [a] [b]\n---\na\n", skipped=""),
    Case(
        "D4",
        "commands/x.md",
        "---\nargument-hint: <a> [b]\n---\na\n",
        {"arguments": [{"name": "arguments", "description": "<a> [b]"}]},
    ),
    Case(
        "D5",
        "commands/x.md",
        "---\narguments: [a]\n---\n$a $ab $A ${a}\n",
        values={"a": "x"},
        rendered="x $ab $A ${a}\n",
    ),
    Case("D6", "commands/x.md", "$5.00 $0. $0,\n", values={"arguments": "x"}, rendered="$5.00 x. x,\n"),
    Case(
        "D7",
        "commands/x.md",
        "---\narguments: [a, b]\n---\n$1 $ARGUMENTS[0]\n",
        values={"a": "x", "b": "y"},
        rendered="y x\n",
    ),
    Case("D7", "commands/x.md", "$1 $ARGUMENTS[0]\n", values={"arguments": "x  y z"}, rendered="y x\n"),
    Case(
        "D9", "commands/x.md", "<$ARGUMENTS> $ARGUMENTS[x]\n", values={"arguments": "a  b"}, rendered="<a  b> a  b[x]\n"
    ),
    Case(
        "D10",
        "commands/x.md",
        "---\narguments: [a]\n---\n$a|$ARGUMENTS\n",
        values={"a": "x", "arguments": "y"},
        rendered="x|y\n",
    ),
    Case(
        "D11", "commands/x.md", "a $5.00 $word\n", values={"arguments": "x"}, rendered="a $5.00 $word\n\n\nARGUMENTS: x"
    ),
    Case("D11", "commands/x.md", "---\narguments: [a]\n---\nno\n", values={"a": "x"}, rendered="no\n"),
    Case("D16", "commands/x.md", "---\narguments: [a]\n---\n[$a$0$ARGUMENTS]\n", rendered="[]\n"),
    Case("E1", "x.prompt.md", "---\narguments: [z]\n---\n${input:a}\n", {"arguments": [{"name": "a"}]}),
    Case(
        "E2",
        "x.prompt.md",
        "${input:b} ${input:a:A?} ${input:b:B?} ${input:b:Other}\n",
        {"arguments": [{"name": "b", "description": "B?"}, {"name": "a", "description": "A?"}]},
    ),
    Case("E3", "x.prompt.md", "${input:a}${input:a:A?}[${input:b}]\n", values={"a": "x"}, rendered="xx[]\n"),
    Case(
        "E4",
        "x.prompt.md",
        "${input:-a} ${input:a b} ${input:é} ${input:a-1:b:c\nd}\n",
        values={"a-1": "x"},
        rendered="${input:-a} ${input:a b} ${input:é} x\n",
    ),
    Case(
        "E5",
        "x.prompt.md",
        "---\nargument-hint: what\n---\ngo",
        {"arguments": [{"name": "arguments", "description": "what"}]},
        {"arguments": "x"},
        "go\n\nx",
    ),
    Case("E5", "x.prompt.md", "---\nargument-hint: ''\n---\ngo", {"arguments": [FREE]}),
    Case("E6", "x.prompt.md", "go", {"arguments": None}, {"arguments": "x"}, "go"),
    Case(
        "E7",
        "x.prompt.md",
        "${input:arguments:A?}",
        {"arguments": [{"name": "arguments", "description": "A?"}]},
        {"arguments": "x"},
        "x",
    ),
    Case("G1", "prompts/x.md", kb("- {name: a, default: d}", "{{ a }}"), values={"a": ""}, rendered="d"),
    Case("G1", "prompts/x.md", kb("- {name: a, default: d}", "[{{ a }}]"), values={"a": " "}, rendered="[ ]"),
    Case("G1", "commands/x.md", "---\narguments: [a]\n---\n[$a]", values={"a": "0"}, rendered="[0]"),
    Case("G2", "prompts/x.md", kb("- {name: a, default: d}", "{{ a }}"), values={"z": "x"}, rendered="d"),
    Case(
        "G3",
        "prompts/x.md",
        kb("- {name: a}\n- {name: b}", "{{ a }}{{ b }}"),
        values={"a": "{{ b }}\\1$0", "b": "y"},
        rendered="{{ b }}\\1$0y",
    ),
    Case("G3", "commands/x.md", "$ARGUMENTS", values={"arguments": "$ARGUMENTS \\$0"}, rendered="$ARGUMENTS \\$0"),
    *(
        Case(
            "G4",
            path,
            f"{head}${{CLAUDE_PLUGIN_ROOT}}/a $CLAUDE_PLUGIN_ROOT",
            rendered="skill://lib/a $CLAUDE_PLUGIN_ROOT",
        )
        for path, head in (("prompts/x.md", kb("- {name: a}", "")), ("commands/x.md", ""), ("x.prompt.md", ""))
    ),
    Case("G5", "commands/x.md", "${CLAUDE_SKILL_DIR}/a", rendered="${CLAUDE_SKILL_DIR}/a"),
    Case(
        "G6",
        "x.prompt.md",
        "${selection} ${file} ${workspaceFolder} #file:a #tool:b",
        rendered="${selection} ${file} ${workspaceFolder} #file:a #tool:b",
    ),
    Case(
        "G6",
        "commands/x.md",
        "@a ${CLAUDE_PROJECT_DIR} ${CLAUDE_SESSION_ID}",
        rendered="@a ${CLAUDE_PROJECT_DIR} ${CLAUDE_SESSION_ID}",
    ),
]


def served(top: Path, path: str, text: str | bytes) -> files.PromptFile:
    target = top / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode() if isinstance(text, str) else text)
    return files.load(Place(target, top), Manner(library="lib"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.row)
def test_a_row(case: Case, tmp_path: Path) -> None:
    start = time.monotonic()
    file = served(tmp_path, case.path, case.text)
    if case.skipped is not None:
        assert file.is_refused
        assert case.skipped in " ".join(problem.message for problem in file.problems)
        return
    assert file.template is not None, file.problems
    assert file.prompt is not None
    wire = wire_prompt(file.prompt, MODERN)
    expected = dict(case.published)
    if "name" in expected:
        expected["name"] = f"lib_{expected['name']}"
    assert {key: wire.get(key) for key in expected} == expected
    if case.rendered is not None:
        (message,) = Body(file, file.template).messages(case.values)
        assert (message.role, message.content) == ("user", {"type": "text", "text": case.rendered})  # B8
    assert time.monotonic() - start < 2


DETECTED = [
    ("F2", "commands/x.prompt.md", "a\n", "copilot"),
    ("F3", "commands/deep/x.md", "{{ a }}\n", "claude"),
    ("F3", ".claude/commands/x.md", "---\ntools: [a]\n---\na\n", "claude"),
    ("F5", "prompts/x.md", "---\nagent: a\nargument-hint: b\n---\n$0\n", "copilot"),
    ("F5", "prompts/x.md", "---\ntools: [a]\n---\na\n", "copilot"),
    ("F6", "prompts/x.md", "---\nargument-hint: b\n---\na\n", "claude"),
    ("F6", "prompts/x.md", "---\narguments: [a]\n---\na\n", "claude"),
    ("F6", "prompts/x.md", "---\narguments: a b\n---\na\n", "claude"),
    ("F7", "prompts/x.md", "---\narguments: [{name: a}]\n---\na\n", "kb"),
    ("F7", "prompts/x.md", "---\narguments: []\n---\n$ARGUMENTS\n", "claude"),
    ("F8", "prompts/x.md", "---\narguments: []\n---\n${input:a} $0\n", "copilot"),
    ("F8", "prompts/x.md", "$ARGUMENTS\n", "claude"),
    ("F9", "prompts/x.md", "---\nmodel: x\nallowed-tools: y\n---\n$name $5.00\n", "kb"),
]


@pytest.mark.parametrize(("row", "path", "text", "dialect"), DETECTED)
def test_a_row_of_detection(row: str, path: str, text: str, dialect: str, tmp_path: Path) -> None:
    found = served(tmp_path, path, text).dialect
    assert found is not None
    assert found.name == dialect


def test_f1_a_configured_dialect_wins(tmp_path: Path) -> None:
    (tmp_path / "x.prompt.md").write_text("---\nagent: a\n---\n$ARGUMENTS\n")
    for word in ("claude", "mcp-kb", "copilot"):
        given = dialects.dialect_called(word)
        assert files.load(Place(tmp_path / "x.prompt.md", tmp_path), Manner(given)).dialect is given


def test_f4_a_declared_file_is_claude_s(kbp: Kbp, tree: Tree) -> None:
    top = tree({".claude-plugin/plugin.json": '{"name": "p", "commands": "./prompts"}', "prompts/x.md": "{{ a }}\n"})
    listed = json.loads(kbp("list", "-f", "json", "--project-only", cwd=top).out)["prompts"]
    assert [(prompt["name"], prompt["_meta"]["kbp/dialect"]) for prompt in listed] == [("x", "claude")]


def test_f10_the_dialect_is_decided_once(tmp_path: Path) -> None:
    file = served(tmp_path, "prompts/x.md", "$ARGUMENTS\n")
    assert file.template is not None
    body = Body(file, file.template)
    assert body.messages({"arguments": "a"})[0].content["text"] == "a\n"
    (tmp_path / "prompts/x.md").write_text("${input:a} $ARGUMENTS\n")
    assert body.messages({"arguments": "a"})[0].content["text"] == "${input:a} a\n"


ODD = [
    "---\n5: x\n---\na\n",
    "---\n[a]: b\n---\na\n",
    "---\narguments:\n- {5: a, b: c}\n---\na\n",
    "---\nhandler: x\ncontent: y\n---\na\n",
]


def test_a16_and_a17_no_file_stops_the_others(kbp: Kbp, tree: Tree) -> None:
    top = tree({f"prompts/bad{at}.md": text for at, text in enumerate(ODD)} | {"prompts/good.md": "x\n"})
    names = kbp("list", "-f", "names", "--project-only", cwd=top).out.split()
    assert "good" in names
    skipped = kbp("list", "--skipped", "--project-only", cwd=top).out
    assert all(f"prompts/bad{at}.md" in skipped for at in (1, 2))


# Where the other rows are, and why some are not so

ELSEWHERE = {
    "B8": ("test_seed_rows.py", "test_a_row"),
    "B9": ("test_serve.py", "test_dropped_keys_are_told_once_to_those_who_want_more"),
    "H1": ("test_serve.py", "test_missing_arguments_are_all_named"),
    "H2": ("test_serve.py", "test_missing_arguments_are_asked_for"),
    "H3": ("test_serve.py", "test_an_answer_joins_the_arguments"),
    "H4": ("test_serve.py", "test_who_cannot_be_asked_is_told"),
    "H5": ("test_serve.py", "test_what_is_out_of_scope_is_not_known"),
    "H6": ("test_serve.py", "test_a_listed_prompt"),
    "H7": ("test_serve.py", "test_a_mistake_is_an_error_of_the_tool"),
    "H8": ("test_serve.py", "test_the_tools_give_what_the_prompts_give"),
    "H9": ("test_serving.py", "test_a_scope_chooses"),
    "H10": ("test_serve.py", "test_an_unknown_scope_fails_every_request"),
    "H11": ("test_serving.py", "test_a_body_is_read_again"),
    "I1": ("test_libraries.py", "test_plugins_are_named_or_selected"),
    "I3": ("test_libraries.py", "test_hidden_folders_and_links_out_are_left_out"),
    "I4": ("test_libraries.py", "test_two_files_of_one_name"),
    "I5": ("test_libraries.py", "test_a_plugin_with_a_name_that_is_taken_is_left_out_whole"),
}
OTHERWISE = {
    "A2": "a file without frontmatter is a prompt without a description: both clients run it",
    "A3": "a block that nothing closes is refused when it looks like one, else it is text",
    "A5": "frontmatter starts on the very first line",
    "A6": "three dashes, and no more, open and close a block",
    "A10": "a byte order mark is ignored",
    "A14": "a block that is no mapping is refused",
    "A15": "frontmatter is what stands between lines of dashes, and nothing else",
    "B2": "an empty name is refused",
    "B10": "a name twice is refused in the own dialect, and published once in Claude's",
    "C4": "`required` is true or false in YAML's words, and nothing else",
    "D8": "quotes group words, as the client does",
    "D12": "`$arguments` is text unless it is declared",
    "D13": "a declared `arguments` is a name like any other",
    "D14": "a repeated name is published once, and keeps its positions",
    "D15": "one backslash escapes, as in the client",
    "F0": "where a file is found outranks its keys",
    "F11": "a list of numbers is refused with its own reason",
    "I2": "the conventions are wider: .claude/commands too, and folders below commands",
}
COUNTS = {"A": 18, "B": 10, "C": 12, "D": 16, "E": 7, "F": 11, "G": 6, "H": 11, "I": 5}


def test_every_row_is_accounted_for() -> None:
    rows = {f"{letter}{number}" for letter, count in COUNTS.items() for number in range(1, count + 1)} | {"F0"}
    here = {case.row for case in CASES} | {row for row, *_ in DETECTED} | {"A16", "A17", "F1", "F4", "F10"}
    assert here | ELSEWHERE.keys() | OTHERWISE.keys() == rows
    for file, name in ELSEWHERE.values():
        assert re.search(rf"^def {name}\(", (TESTS / file).read_text(), re.MULTILINE), name
