"""Broken frontmatter: which fault is named, and where. The other half: blocks that must not be called broken."""

import pytest

from kbp.document import read

BROKEN = [
    # the block, the faults as (rule, line of the file, text)
    ("argument-hint: [a] [b]", [("unquoted-hint", 2, "[a] [b]")]),
    ("argument-hint: [a|b] <c>", [("unquoted-hint", 2, "[a|b] <c>")]),
    ("argument-hint: <a: b>", [("unquoted-hint", 2, "<a: b>")]),
    ("argument-hint: {{ x }}", [("unquoted-hint", 2, "{{ x }}")]),
    ("argument-hint: !now", [("unquoted-hint", 2, "!now")]),
    ("argument-hint: | a | b", [("unquoted-hint", 2, "| a | b")]),
    ("argument-hint: %x", [("unquoted-hint", 2, "%x")]),
    ("'argument-hint': [a] [b]", [("unquoted-hint", 2, "[a] [b]")]),
    ("description: a: b", [("unquoted-value", 2, "a: b")]),
    ("description: a: b  ", [("unquoted-value", 2, "a: b")]),
    ("description: *bold* move", [("unquoted-value", 2, "*bold* move")]),
    ("description: &", [("unquoted-value", 2, "&")]),
    ("description: `x`", [("unquoted-value", 2, "`x`")]),
    ("description: [", [("unquoted-value", 2, "[")]),
    ("description: {{NAME}}", [("unquoted-value", 2, "{{NAME}}")]),
    ("description: {{NAME}} and more", [("unquoted-value", 2, "{{NAME}} and more")]),
    ("tags:\n- {{ a }}", [("unquoted-value", 3, "{{ a }}")]),
    ("arguments:\n- name: a\n  description: Look: here", [("unquoted-value", 4, "Look: here")]),
    ("arguments:\n- name: @a", [("unquoted-value", 3, "@a")]),
    ("description: a: b\nargument-hint: [c] [d]", [("unquoted-value", 2, "a: b"), ("unquoted-hint", 3, "[c] [d]")]),
    (
        "a: b: c\nd: e: f\ng: h: i",
        [("unquoted-value", 2, "b: c"), ("unquoted-value", 3, "e: f"), ("unquoted-value", 4, "h: i")],
    ),
    ("description: one\ntwo", [("indented-continuation", 3, "two")]),
    ("description: one\ntwo\nmodel: x", [("indented-continuation", 3, "two")]),
    ("a:\n\t- b", [("tab-indent", 3, "\t")]),
    ("\ta: b", [("tab-indent", 2, "\t")]),
    ("{{ x }}\ndescription: d", [("key-type", 2, "{{ x }}")]),
    ("description: d\n{{ x }}", [("key-type", 3, "{{ x }}")]),
    ("{{ x }}", [("key-type", 2, "{ x }")]),
    ("? [a]\n: b", [("key-type", 2, "[a]")]),
    ("~: x", [("key-type", 2, "~")]),
    ("null: x", [("key-type", 2, "null")]),
    (": x", [("key-type", 2, ": x")]),
    ("description: d\n: x", [("key-type", 3, ": x")]),
    ('description: "a "b" c"', [("frontmatter-syntax", 2, None)]),
    ("description: 'a' b", [("frontmatter-syntax", 2, None)]),
    ('description: "open', [("frontmatter-syntax", 2, None)]),
    ("tools: ['a', 'b'", [("frontmatter-syntax", 2, None)]),
    ("arguments: [a] [b]", [("frontmatter-syntax", 2, None)]),
    ("description: a: b\n  goes on", [("frontmatter-syntax", 2, None)]),
    ("description: d\n- item", [("frontmatter-syntax", 3, None)]),
    ("x: !!python/name:os.system", [("frontmatter-syntax", 2, "!!python/name:os.system")]),
    ("x: !!js/function a", [("frontmatter-syntax", 2, "!!js/function")]),
    ("x: !<tag:a,b:c> d", [("frontmatter-syntax", 2, "!<tag:a,b:c>")]),
    ("x: !Sub [a]", [("frontmatter-syntax", 2, "!Sub")]),
    ("<<: 3", [("frontmatter-syntax", 2, "<<")]),
    ("a: b\n...\nc: d", [("frontmatter-syntax", None, None)]),
    ("a:\tb", [("frontmatter-syntax", 2, None)]),
    ("a: \x07b", [("frontmatter-syntax", 2, None)]),
    ("a: " + "[" * 101 + "]" * 101, [("frontmatter-syntax", 2, "[")]),
    ("a: " + "[" * 50_000, [("frontmatter-syntax", 2, "[")]),
    ("- a\n- b", [("frontmatter-not-a-mapping", 2, "- a")]),
    ("~", [("frontmatter-not-a-mapping", 2, "~")]),
    ("just words", [("frontmatter-not-a-mapping", 2, "just words")]),
    ("description:no blank", [("frontmatter-not-a-mapping", 2, "description:no blank")]),
]

SOUND = [
    "description: a:b, c:d",
    "allowed-tools: Bash(git add:*), Read",
    "argument-hint: <a> [b] | --c",
    "argument-hint: [a, b]",
    'description: "a: b"',
    "description: a #b: c",
    "description: one\n  two",
    "description: |\n  a: b: c\n  [x] [y]",
    "base: &b text\ndescription: *b",
    "base: &b {a: 1}\n<<: *b",
    "created: 2031-13-45",
    "on: yes\n7: x\n2026-01-01: y",
    "a: " + "[" * 99 + "]" * 99,
    "description: a\u2028b: c".replace(": c", "c"),
    "# nothing",
    "",
    "{description: flow}",
]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize(("block", "faults"), BROKEN, ids=[block[:40] for block, _ in BROKEN])
def test_a_broken_block_has_the_fault_its_author_made(
    block: str, faults: list[tuple[str, int | None, str | None]], newline: str
) -> None:
    document = read(f"---\n{block}\n---\nbody\n".replace("\n", newline).encode())
    found = []
    for problem, (_, line, text) in zip(document.problems, faults, strict=True):
        place = document.lines.position(problem.span.start).line if line is not None else None
        written = document.text[problem.span.start : problem.span.end] if text is not None else None
        found.append((problem.rule, place, written))
    assert found == faults


@pytest.mark.parametrize("block", SOUND, ids=[block[:40] for block in SOUND])
def test_a_sound_block_has_none(block: str) -> None:
    assert read(f"---\n{block}\n---\nbody\n".encode()).problems == ()


def test_a_byte_order_mark_inside_the_block_is_a_character_like_any_other() -> None:
    document = read("---\n\ufeffdescription: d\nmodel: a: b\n---\n".encode())
    assert [document.text[each.span.start : each.span.end] for each in document.problems] == ["a: b"]
    document = read("---\n\ufeffdescription: d\nmodel: m\n---\n".encode())
    entry = document.frontmatter["model"]
    assert document.text[entry.key_span.start : entry.key_span.end] == "model"
    assert list(document.frontmatter) == ["\ufeffdescription", "model"]


def test_other_line_ends_of_yaml_are_characters_like_any_other() -> None:
    document = read("---\ndescription: a\u2028b\x85c: d\n---\n".encode())
    assert [problem.rule for problem in document.problems] == ["unquoted-value"]
    document = read("---\ndescription: a\u2028b\x85c\n---\n".encode())
    assert document.frontmatter["description"].value.text == "a\u2028b\x85c"


def test_a_message_quotes_the_value_as_it_should_be_written() -> None:
    (problem,) = read(b'---\nargument-hint: ["a"] [b]\n---\n').problems
    assert problem.help == """quote it: '["a"] [b]' (Claude Code repairs the line, other readers skip the file)"""


FATES = [
    ("description: a: b", "\n", "Claude Code repairs the line, other readers skip the file"),
    ("description: a: b", "\r\n", "Claude Code repairs nothing in a file with CRLF line ends and loses every key"),
    ("arguments:\n- name: @a", "\n", "Claude Code repairs no indented line and loses every key"),
    ("arguments: [a] [b]", "\n", "Claude Code takes the list for one text, whose words are wrong"),
    ('description: "a" b', "\n", "VS Code reads a part"),
    ("a:\tb", "\n", "write a blank for the tab; Claude Code and VS Code read it"),
    ("- a\nb: c", "\n", "Claude Code loses every key and sends the body alone"),
]


@pytest.mark.parametrize(("block", "newline", "fate"), FATES)
def test_a_message_says_what_claude_code_does_with_the_file(block: str, newline: str, fate: str) -> None:
    (problem,) = read(f"---\n{block}\n---\n".replace("\n", newline).encode()).problems
    assert fate in (problem.help or "")
