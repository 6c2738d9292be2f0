"""Fixes: what they change, and that they change nothing else."""

import re
from pathlib import Path

import pytest
from conftest import BROKEN, LIBRARY, Tree
from hypothesis import given, settings
from hypothesis import strategies as st

import kbp
from kbp.files import Place, PromptFile, read
from kbp.library import load_all
from kbp.linter.choice import Choice
from kbp.linter.fixer import edited, fix
from kbp.renderer import MissingArguments, render
from kbp.search import Search, find_paths
from kbp.text import Edit, Span

CHOICE = Choice()
# These change only how a text is quoted or set off, and where lines end.
QUOTING = {"unquoted-hint", "unquoted-value", "list-hint", "yaml-1-1-value", "key-type", "value-cut-by-comment"}
QUOTING |= {"indented-continuation", "tab-indent", "mixed-line-endings", "byte-order-mark", "amount-or-code"}
# The manuals of these say that the file then reads, or asks, otherwise.
READ_OTHERWISE = {"frontmatter-not-first", "malformed-input", "argument-name"}

ENTRIES = [
    "description: d", "description: a: b", "description: close #12 now", "description: [a, b]", "description: &x y",
    "argument-hint: [a] [b]", "argument-hint: [a]", 'argument-hint: "[a]"', "argument-hint: <a: b> # note",
    "argument_hint: x", "mode: ask", "model: m # kbp: ignore[list-hint]", "# kbp: ignore[unused-argument, secret]",
    "# a comment", "allowed-tools: Read", "tools: [x", "arguments: $TOPIC", "arguments: [a, b]", "arguments: [$a, b]",
    "arguments:\n- name: a\n  default: 010\n- name: b\n  required: true\n  default: x", "wrapped: one\ntwo",
    "deep:\n\t- x", "key: 'q", "key: \"q\" r", "- item", "bare", "x: *y", "---", "", "  more: 1",
]  # fmt: skip
BODIES = ["Go $ARGUMENTS.", "Go $1 and $2.", "$5.00 `x $1`", "{{ a }} {{ aa }} {{ARGUMENTS}}", "${input:x|y} ${input:}"]
BODIES += ["$servce $a", "a\u200bb", "", "text", "\\$0 $0", "$ARGS"]
PATHS = ["prompts/a.md", "commands/a.md", "prompts/a.prompt.md"]


@st.composite
def files(draw: st.DrawFn) -> PromptFile:
    block = draw(st.lists(st.sampled_from(ENTRIES), max_size=5))
    body = draw(st.lists(st.sampled_from(BODIES), max_size=3))
    before = draw(st.sampled_from(["", "", "", "\n", "\ufeff", "```md\n", "# c\n"]))
    after = "\n```\n" if before.startswith("```") else draw(st.sampled_from(["", "\n", "\n\n"]))
    end = draw(st.sampled_from(["---\n", "---\n", "---", ""]))
    text = before + "\n".join(["---", *block, end]) + "\n".join(body) + after
    newline = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    data = text.replace("\n", newline) + draw(st.sampled_from(["", "", "\n", "\r\n"]))
    return read(data.encode(), Place(Path("/r") / draw(st.sampled_from(PATHS)), Path("/r")))


def letters(text: str) -> str:
    """What a text says, without quotes, backslashes and white space."""
    return re.sub(r"[\s\"'\\\ufeff]", "", text)


def rendered(file: PromptFile) -> object:
    """What becomes of a prompt for one value an argument, and without any."""
    if file.template is None:
        return None
    values = {argument.name: f"<{argument.name}>" for argument in file.template.arguments}
    told: list[object] = [render(file.template, values)]
    try:
        told.append(render(file.template, {}))
    except MissingArguments as error:
        told.append(str(error))
    return told


def check(file: PromptFile, *, unsafe: bool) -> None:
    """What holds of the fixes of any file."""
    fixed = fix(file, CHOICE, unsafe=unsafe)
    after, rules = fixed.after, set(fixed.counts)
    assert (after.document.text == file.document.text) is (not rules)
    assert fix(after, CHOICE, unsafe=unsafe).after.document.text == after.document.text
    if rules:
        assert after.document.problems == ()
    if file.template is not None:
        assert after.template is not None
        assert after.dialect is file.dialect
    if rules <= QUOTING:
        assert letters(after.document.text) == letters(file.document.text)
    if file.template is not None and not unsafe and not rules & READ_OTHERWISE:
        assert rendered(after) == rendered(file)
    if not unsafe and file.document.root is not None:
        before = {("agent" if key == "mode" and "renamed-key" in rules else key) for key in file.document.frontmatter}
        assert before <= set(after.document.frontmatter)


@given(files())
@settings(max_examples=400, deadline=None)
def test_safe_fixes_keep_all_that_a_file_says(file: PromptFile) -> None:
    check(file, unsafe=False)


@given(files())
@settings(max_examples=400, deadline=None)
def test_unsafe_fixes_leave_a_file_that_reads_and_nothing_more_to_fix(file: PromptFile) -> None:
    check(file, unsafe=True)


@pytest.mark.parametrize("unsafe", [False, True])
def test_the_files_of_the_tests_keep_what_they_say(unsafe: bool) -> None:
    search = Search()
    find_paths([str(LIBRARY), str(BROKEN)], None, search)
    for file in load_all(search).files:
        check(file, unsafe=unsafe)


NESTED = "---\nhooks:\n- a: >\n    x # kbp: ignore[secret]\n    y\n- 'b # kbp: ignore[secret]'\n---\n"
KEPT = [
    (NESTED, NESTED),
    # a file and the same with its safe fixes: quotes, comments, order and line ends of the rest stay
    (
        "---\r\n# top\r\nz: 'a'   # c\r\nargument-hint: [a] [b]\r\na:   b\r\n---\r\nx",
        "---\r\n# top\r\nz: 'a'   # c\r\nargument-hint: \"[a] [b]\"\r\na:   b\r\n---\r\nx",
    ),
    (
        "---\nargument-hint: [a] [b] # kbp: ignore[list-hint]\n---\n",
        '---\nargument-hint: "[a] [b]"\n---\n',
    ),
    (
        "---\na: x # kbp: ignore[list-hint, secret] because\nb: y\n---\n",
        "---\na: x # because\nb: y\n---\n",
    ),
    ("---\na: x\na: x\nb: 1\n---\n", "---\na: x\nb: 1\n---\n"),
    ("---\na: x # one\na: x # two\n---\n", "---\na: x # one\na: x # two\n---\n"),
    ("---\na: x\na: y\na: x\n---\n", "---\na: x\na: y\na: x\n---\n"),
    ("---\na: x\na: 'x'\n---\n", "---\na: x\na: 'x'\n---\n"),
    ("---\na: b: c\ntools: [x\n---\n", "---\na: b: c\ntools: [x\n---\n"),  # would not read all the same
    ("---\ndeep:\n\t- x\n\t- y\n---\n", "---\ndeep:\n  - x\n  - y\n---\n"),
    ("---\nd: x\r\n---\n\ngo\n", "---\nd: x\n---\n\ngo\n"),
    ("---\nmode: x\nagent: y\n---\n", "---\nmode: x\nagent: y\n---\n"),
    ("---\narguments: [$a, a]\n---\n", "---\narguments: [$a, a]\n---\n"),
]


@pytest.mark.parametrize(("text", "expected"), KEPT, ids=[text[4:30] for text, _ in KEPT])
def test_all_but_the_faulty_characters_stay_as_they_are(text: str, expected: str) -> None:
    path = "prompts/a.prompt.md" if "mode" in text else "commands/a.md"
    file = read(text.encode(), Place(Path("/r") / path, Path("/r")))
    assert fix(file, CHOICE).after.document.text == expected


def test_a_fix_that_makes_an_error_of_a_warning_is_not_kept() -> None:
    text = "---\nargument_hint: a\nargumenthint: b\n---\nGo $0.\n"
    fixed = fix(read(text.encode(), Place(Path("/r/commands/a.md"), Path("/r"))), CHOICE, unsafe=True)
    assert fixed.after.document.text == text.replace("argument_hint", "argument-hint")


def test_fixes_that_are_not_kept_do_not_keep_others_from_being_tried() -> None:
    bad = "".join(f"Go ${{input:x y{n}|c}}\n" for n in range(150))
    text = f"---\ndescription: d\n---\n{bad}Go ${{input:good|c}}\n"
    fixed = fix(read(text.encode(), Place(Path("/r/a.prompt.md"), Path("/r"))), CHOICE)
    assert fixed.after.document.text == text.replace("good|", "good:")


def test_a_file_that_is_not_utf8_is_left_alone() -> None:
    file = read(b"\xef\xbb\xbf---\nd: x\n---\n\xff", Place(Path("/r/commands/a.md"), Path("/r")))
    fixed = fix(file, CHOICE, unsafe=True)
    assert (fixed.after, fixed.counts) == (file, {})


def test_thousands_of_fixes_take_no_time(tree: Tree) -> None:
    top = tree({"commands/a.md": "---\ndescription: d\n---\n" + "It costs $5.00, `x $1`.\n" * 3000})
    fixed = fix(kbp.load(top / "commands/a.md"), CHOICE, unsafe=True)
    assert fixed.counts["amount-or-code"] == 6000


def test_edits_are_made_in_the_order_of_their_places() -> None:
    assert edited("abcd", [Edit(Span(3, 4), "D"), Edit(Span(0, 0), "x"), Edit(Span(1, 2), "")]) == "xacD"
