from pathlib import PurePosixPath

import pytest

from kbp.dialects import detect, dialect_called, names, other_kind
from kbp.dialects.base import Dialect
from kbp.dialects.claude import DIALECT as CLAUDE
from kbp.dialects.copilot import DIALECT as COPILOT
from kbp.dialects.kb import DIALECT as KB
from kbp.dialects.skill import DIALECT as SKILL
from kbp.document import read
from kbp.model import Kind, Template


def template(dialect: Dialect, text: str) -> Template:
    parsed = dialect.parse(read(text.encode()))
    assert parsed.template is not None, parsed.problems
    return parsed.template


def kinds(dialect: Dialect, body: str, frontmatter: str = "") -> list[tuple[Kind, str]]:
    document = template(dialect, f"---\n{frontmatter}\n---\n{body}")
    return [(placeholder.kind, placeholder.raw) for placeholder in document.placeholders]


@pytest.mark.parametrize(
    ("path", "text", "dialect", "why"),
    [
        ("prompts/a.md", "", "kb", "nothing says otherwise"),
        ("commands/a.md", "{{ x }}", "claude", "found under commands/"),
        ("x/commands/y/a.md", "", "claude", "found under commands/"),
        ("commands/a.prompt.md", "", "copilot", "named *.prompt.md"),
        ("Commands/a.md", "", "kb", "nothing says otherwise"),
        ("commands.md", "", "kb", "nothing says otherwise"),
        ("a.md", "---\nagent: x\nargument-hint: y\n---\n", "copilot", "key agent"),
        ("a.md", "---\nmode:\n---\n", "copilot", "key mode"),
        ("a.md", "---\nargument-hint:\narguments: [{name: x}]\n---\n", "claude", "key argument-hint"),
        ("a.md", "---\narguments: [x]\n---\n", "claude", "arguments are names"),
        ("a.md", "---\narguments: x y\n---\n", "claude", "arguments are names"),
        ("a.md", "---\narguments: [{name: x}]\n---\n", "kb", "arguments are objects"),
        ("a.md", "---\narguments: []\n---\n$0", "claude", "placeholder $0"),
        ("a.md", "---\narguments: [[x]]\n---\n${input:x}", "copilot", "placeholder ${input:x}"),
        ("a.md", "---\narguments: [x, [y]]\n---\n", "kb", "nothing says otherwise"),
        ("a.md", "---\narguments: [x, 3, null]\n---\n", "claude", "arguments are names"),
        ("a.md", "{{\u00a0x }}", "kb", "nothing says otherwise"),
        ("a.md", "${input:x} {{ y }}", "kb", "placeholder {{ y }}"),
        ("a.md", "$ARGUMENTS ${input:x}", "copilot", "placeholder ${input:x}"),
        ("a.md", "\\$ARGUMENTS $5.00 $x \\$0", "kb", "nothing says otherwise"),
    ],
)
def test_the_strongest_signal_says_which_dialect_and_why(path: str, text: str, dialect: str, why: str) -> None:
    found = detect(read(text.encode()), PurePosixPath(path))
    assert (found.dialect.name if found.dialect else None, found.why) == (dialect, why)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("SKILL.md", "an Agent Skill"),
        ("x/skill.MD", "an Agent Skill"),
        ("x.agent.md", "an agent file"),
        ("x.chatmode.md", "a chat mode"),
        ("x.instructions.md", "an instructions file"),
        (".github/copilot-instructions.md", "an instructions file"),
        ("agents/x.md", "an agent file"),
        ("commands/agents/x.md", "an agent file"),
        ("agents/commands/x.md", None),
        ("agents/x.prompt.md", None),
        (".claude/rules/x.md", "a Claude Code rule"),
        ("rules/x.md", None),
        ("x.Agent.md", None),
    ],
)
def test_some_names_say_that_a_file_is_no_prompt(path: str, kind: str | None) -> None:
    assert other_kind(PurePosixPath(path)) == kind


def test_a_skill_is_a_prompt_where_it_is_asked_for() -> None:
    path = PurePosixPath(".claude/skills/x/skill.md")
    assert detect(read(b""), path).is_prompt is False
    found = detect(read(b""), path, skills=True)
    assert (found.dialect, found.why) == (SKILL, "named SKILL.md")
    assert kinds(SKILL, "${CLAUDE_SKILL_DIR} $0") == [(Kind.SKILL_FOLDER, "${CLAUDE_SKILL_DIR}"), (Kind.POSITION, "$0")]


def test_a_given_dialect_wins_and_overrules_a_name_only_for_a_file_named_outright() -> None:
    document, path = read(b"x"), PurePosixPath("a.agent.md")
    assert detect(document, path, given=CLAUDE, outright=True).dialect is CLAUDE
    assert not detect(document, path, given=CLAUDE).is_prompt
    assert detect(document, PurePosixPath("a.prompt.md"), given=KB).dialect is KB


def test_dialects_are_called_by_their_names_and_aliases() -> None:
    assert names() == ("auto", "kb", "mcp-kb", "claude", "copilot", "skill")
    assert [dialect_called(word) for word in names()] == [None, KB, KB, CLAUDE, COPILOT, SKILL]
    with pytest.raises(KeyError):
        dialect_called("docx")


NAMED, POSITION, FREE_TEXT, CLIENT, SHELL = Kind.NAMED, Kind.POSITION, Kind.FREE_TEXT, Kind.CLIENT, Kind.SHELL

SCANS = [
    # dialect, frontmatter, body, the placeholders
    (KB, "arguments: [{name: x}]", "{{ x }}{{{x}}}", [(NAMED, "{{ x }}"), (NAMED, "{{x}}")]),
    (KB, "", "$0 ${input:x}", []),
    (KB, "", "{{\u00a0x}} {{ x\u00a0}} {{\vx}} {{\x1cx}} {{\x85x}} {{\u2003x}}", []),
    (
        KB,
        "arguments: [{name: x}]",
        "{{\tx}} {{x\f}} {{\r\nx\n}}",
        [(NAMED, "{{\tx}}"), (NAMED, "{{x\f}}"), (NAMED, "{{\r\nx\n}}")],
    ),
    (CLAUDE, "arguments: [' a', '\u00a0b']", "$ a $\u00a0b", [(NAMED, "$ a"), (NAMED, "$\u00a0b")]),
    (
        COPILOT,
        "",
        "${input:a}${input:b:t:u} ${input:} ${input:c d} ${input:e|f}",
        [(NAMED, "${input:a}"), (NAMED, "${input:b:t:u}")],
    ),
    (COPILOT, "", "${input:a:${input:b}", [(NAMED, "${input:a:${input:b}")]),
    (COPILOT, "", "${input:a:no end", []),
    (
        CLAUDE,
        "",
        "$ARGUMENTS $ARGUMENTS[1] $2 $3x",
        [(FREE_TEXT, "$ARGUMENTS"), (POSITION, "$ARGUMENTS[1]"), (POSITION, "$2")],
    ),
    (
        CLAUDE,
        "arguments: [a, ab, a-b, ARGUMENTS]",
        "$a $ab $abc $a-b $ARGUMENTS $ARGUMENTS[0] $a[0]",
        [(NAMED, "$a"), (NAMED, "$ab"), (NAMED, "$a-b"), (NAMED, "$ARGUMENTS"), (POSITION, "$ARGUMENTS[0]")],
    ),
    (CLAUDE, "arguments: ['$Q', größe]", "$$Q $größe", [(NAMED, "$$Q"), (NAMED, "$größe")]),
    (
        CLAUDE,
        "arguments: [a]",
        "\\$a \\\\$a \\$5.00 \\$b",
        [(Kind.ESCAPED, "\\$a"), (NAMED, "$a"), (Kind.ESCAPED, "\\$")],
    ),
    (
        CLAUDE,
        "",
        "${CLAUDE_PLUGIN_ROOT} ${CLAUDE_PROJECT_DIR} ${selection} ${fileBasename}",
        [
            (Kind.PLUGIN_ROOT, "${CLAUDE_PLUGIN_ROOT}"),
            (CLIENT, "${CLAUDE_PROJECT_DIR}"),
            (CLIENT, "${selection}"),
            (CLIENT, "${fileBasename}"),
        ],
    ),
    (
        CLAUDE,
        "arguments: [a]",
        "${CLAUDE_PLUGIN_ROOT}/$a ${file}",
        [(Kind.PLUGIN_ROOT, "${CLAUDE_PLUGIN_ROOT}"), (NAMED, "$a"), (CLIENT, "${file}")],
    ),
    (
        CLAUDE,
        "",
        "#file:a.md #tool:x @docs/a.md a@b.c",
        [(CLIENT, "#file:a.md"), (CLIENT, "#tool:x"), (CLIENT, "@docs/a.md")],
    ),
    (
        KB,
        "arguments: [{name: p}]",
        "#file:{{ p }} #file:docs/{{p}}.md #tool:{{p}} @docs/{{ p }}",
        [
            (NAMED, "{{ p }}"),
            (CLIENT, "#file:docs/"),
            (NAMED, "{{p}}"),
            (NAMED, "{{p}}"),
            (CLIENT, "@docs"),
            (NAMED, "{{ p }}"),
        ],
    ),
    (CLAUDE, "", "#file:x\\$0 @$0", [(CLIENT, "#file:x"), (Kind.ESCAPED, "\\$0"), (POSITION, "$0")]),
    (COPILOT, "", "#file:${input:x}", [(NAMED, "${input:x}")]),
    (CLAUDE, "", "!`ls $0` a!`no`\n```!\nls\n```", [(SHELL, "!`"), (POSITION, "$0"), (SHELL, "```!")]),
]


@pytest.mark.parametrize(("dialect", "frontmatter", "body", "expected"), SCANS)
def test_one_scan_finds_the_placeholders_of_a_body(
    dialect: Dialect, frontmatter: str, body: str, expected: list[tuple[Kind, str]]
) -> None:
    assert kinds(dialect, body, frontmatter) == expected


@pytest.mark.parametrize("dialect", [KB, CLAUDE, COPILOT], ids=lambda dialect: dialect.name)
def test_spans_and_texts_of_a_body_cover_it_without_a_gap(dialect: Dialect) -> None:
    text = "---\narguments:\n---\r\n\r\nü $0\r\n\\$1 ${input:a:b\r\nc}!`ls`\r\n@x #file:y ${CLAUDE_PLUGIN_ROOT}\r\n"
    document = read(text.encode())
    parsed = dialect.parse(document)
    assert parsed.template is not None
    at = document.body_start
    for part in parsed.template.body:
        if isinstance(part, str):
            at += len(part) + part.count("\n")
        else:
            assert part.span.start == at
            assert document.text[part.span.start : part.span.end] == part.raw
            at = part.span.end
    assert at == len(text)


def test_an_index_of_thousands_of_digits_is_past_the_end() -> None:
    (placeholder,) = template(CLAUDE, "$" + "9" * 5000).placeholders
    assert placeholder.index is not None
    assert placeholder.index > 10**8


def test_names_that_hold_dollars_cost_no_more_than_a_file_is_worth() -> None:
    name = "a" + "$a" * 5000
    parsed = CLAUDE.parse(read(f"---\narguments: ['{name}b']\n---\n{'$a' * 20000}".encode()))
    assert [problem.rule for problem in parsed.problems] == ["too-large"]
    assert kinds(CLAUDE, f"${name} $a", f"arguments: ['{name}']") == [(NAMED, f"${name}")]


def test_a_repeated_claude_name_is_published_once_and_remarked() -> None:
    parsed = CLAUDE.parse(read(b"---\narguments:\n- a\n- b\n- a\n---\n$0$1$2"))
    assert parsed.template is not None
    assert [argument.name for argument in parsed.template.arguments] == ["a", "b", "arguments"]
    assert parsed.template.positions == ("a", "b", "a")
    assert [problem.rule for problem in parsed.problems] == ["duplicate-argument"]


def test_a_hint_list_that_holds_more_than_texts_is_refused() -> None:
    for dialect in (CLAUDE, COPILOT):
        (problem,) = dialect.parse(read(b"---\nargument-hint: [a, {b: c}]\n---\n")).problems
        assert (problem.rule, problem.message) == (
            "key-type",
            "`argument-hint` is a list that holds more than texts, not text or a list of texts",
        )


def test_an_argument_says_where_it_is_declared() -> None:
    document = read(b"---\narguments:\n- name: app\n  default: x\n- {name: zone}\n---\n{{ app }}{{ zone }}")
    parsed = KB.parse(document)
    assert parsed.template is not None
    spans = [argument.span for argument in parsed.template.arguments]
    assert [document.text[span.start : span.end] for span in spans if span] == ["name: app", "{name: zone}"]
