"""What each format prints: golden texts over the two libraries of the tests, and messages that no file makes."""

import json
import re
import time

import pytest
from conftest import BROKEN, LIBRARY, Golden, Kbp, Tree

from kbp.app import COMMANDS
from kbp.commands import linting
from kbp.linter.rules import RULES
from kbp.model import Message
from kbp.output import manual, messages, prompts
from kbp.output.messages import Rendered


@pytest.mark.parametrize("format", linting.FORMATS)
def test_lint_of_the_broken_library(kbp: Kbp, golden: Golden, format: str) -> None:
    result = kbp("lint", "--format", format, ".", cwd=BROKEN)
    assert result.code == 1
    golden(f"lint.{format}", result.out)
    assert result.err.startswith(
        "Found 22 errors, 7 warnings and 1 info in 24 files; 13 files refused. "
        "7 can be fixed with `kbp lint --fix`, 4 more with `--unsafe-fixes`.\n"
    )


@pytest.mark.parametrize("format", prompts.LIST_FORMATS)
def test_list_of_the_library(kbp: Kbp, golden: Golden, format: str) -> None:
    result = kbp("list", "--format", format, cwd=LIBRARY)
    assert (result.code, result.err) == (0, "29 prompts in 11 folders\n")
    golden(f"list.{format}", result.out)


@pytest.mark.parametrize("name", ["debug", "incident", "review", "drain"])
def test_show_of_one_prompt(kbp: Kbp, golden: Golden, name: str) -> None:
    for format in ("text", "json"):
        result = kbp("show", name, "--format", format, cwd=LIBRARY)
        assert (result.code, result.err) == (0, "")
        golden(f"show-{name}.{format}", result.out)


@pytest.mark.parametrize("format", messages.FORMATS)
def test_render_of_one_prompt(kbp: Kbp, golden: Golden, format: str) -> None:
    result = kbp("render", "debug", "-a", "app=loki", "--format", format, cwd=LIBRARY)
    assert (result.code, result.err) == (0, "")
    golden(f"render.{format}", result.out)


def test_skipped_files_of_the_broken_library(kbp: Kbp, golden: Golden) -> None:
    golden("list-skipped.table", kbp("list", "--skipped", cwd=BROKEN).out)


def test_the_manuals(golden: Golden) -> None:
    golden("rules.md", "\n".join(manual.page(rule) for rule in RULES.values()))


@pytest.mark.parametrize("command", [*COMMANDS, ""])
def test_the_help(kbp: Kbp, golden: Golden, command: str) -> None:
    result = kbp(*command.split(), "--help")
    assert (result.code, result.err) == (0, "")
    golden(f"help-{command or 'kbp'}.text", result.out)


# The caret

CARETS = [
    # frontmatter and body, the line as printed, the carets below it
    ("\t{{ x }}", "    {{ x }}", "    ^^^^^^^"),
    ("a\t{{ x }}", "a    {{ x }}", "     ^^^^^^^"),
    ("日本 {{ x }}", "日本 {{ x }}", "     ^^^^^^^"),
    ("e\u0301 {{ x }}", "e\u0301 {{ x }}", "  ^^^^^^^"),
    ("\x1b[31m {{ x }}", r"\x1b[31m {{ x }}", "         ^^^^^^^"),
    ("{{\nx }} y", "{{", "^^"),
    ("a" * 500 + " {{ x }}", "…" + "a" * 39 + " {{ x }}", " " * 41 + "^^^^^^^"),
    ("{{ x }} " + "b" * 500, "{{ x }} " + "b" * 158 + "…", "^^^^^^^"),
]


@pytest.mark.parametrize(("body", "line", "caret"), CARETS)
def test_the_caret_stands_below_what_is_wrong(kbp: Kbp, tree: Tree, body: str, line: str, caret: str) -> None:
    top = tree({"kbp.toml": "", "prompts/a.md": "---\ndescription: d\n---\n" + body})
    (snippet,) = re.findall(r"\n  \|\n4 \| (.*)\n  \| (.*)\n", kbp("lint", "prompts/a.md", cwd=top).out)
    assert snippet == (line, caret)


def test_thousands_of_findings_on_one_line_are_printed_in_no_time(kbp: Kbp, tree: Tree) -> None:
    body = "".join(f"{{{{ x{n} }}}}" for n in range(5000))
    top = tree({"kbp.toml": "", "prompts/a.md": f"---\ndescription: d\n---\n{body}"})
    start = time.monotonic()
    assert kbp("lint", "prompts/a.md", cwd=top).out.count("^^^^^^") == 5000
    assert time.monotonic() - start < 10


def test_a_line_of_output_cannot_be_forged_by_a_file_name(kbp: Kbp, tree: Tree) -> None:
    top = tree({"kbp.toml": "", "prompts/a\n\x1b[2Jb.md": "{{ x }}"})
    result = kbp("lint", "--format", "concise", cwd=top)
    assert result.out.startswith(r"prompts/a\n\x1b[2Jb.md:1:1: error[undeclared-placeholder]")
    assert result.out.count("\n") == 1


# Messages that come from servers

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}
ODD_AUDIO = {"type": "audio", "data": "aGk=", "mimeType": "audio/ogg"}
LINK = {"type": "resource_link", "uri": "x://y", "name": "Y"}
RESOURCE = {"type": "resource", "resource": {"uri": "x://z", "text": "words"}}
BLOB = {"type": "resource", "resource": {"uri": "x://b", "blob": "aGk="}}
TALK = [
    Message("user", {"type": "text", "text": "hello\n"}),
    Message("user", IMAGE),
    Message("assistant", {"type": "text", "text": "hi"}),
    Message("user", AUDIO),
    Message("user", ODD_AUDIO),
    Message("user", LINK),
    Message("user", RESOURCE),
    Message("user", BLOB),
    Message("user", {"type": "hologram", "x": 1}),
]


@pytest.mark.parametrize("format", messages.FORMATS)
def test_messages_with_all_kinds_of_content(golden: Golden, format: str) -> None:
    rendered = Rendered("A talk", TALK)
    text = messages.FORMATS[format](rendered)
    golden(f"talk.{format}", text + "".join(f"# lost: {loss}\n" for loss in rendered.losses))


def test_json_keeps_every_content_block_as_it_came() -> None:
    content = json.loads(messages.as_json(Rendered(None, TALK)))
    assert content == {"messages": [{"role": message.role, "content": message.content} for message in TALK]}


@pytest.mark.parametrize(("text", "printed"), [("", "\n"), ("a", "a\n"), ("a\n", "a\n"), ("a\n\n", "a\n\n")])
def test_a_single_message_ends_with_one_newline_unless_it_has_its_own(text: str, printed: str) -> None:
    assert messages.text(Rendered(None, [Message("user", {"type": "text", "text": text})])) == printed


# Columns


def test_columns_shrink_from_the_right_and_keep_wide_characters_whole() -> None:
    rows = [("名前", "kb", "app! since=1h", "一番長い説明がここにあります")]
    assert prompts.columns(prompts.HEADINGS, rows, 50).splitlines() == [
        "NAME  DIALECT  ARGUMENTS      DESCRIPTION",
        "名前  kb       app! since=1h  一番長い説明がここ…",
    ]
    assert prompts.columns(prompts.HEADINGS, rows, 30).splitlines()[1] == "名前  kb       app! si…  一番長…"
    for cells in range(1, 60):
        assert all(line for line in prompts.columns(prompts.HEADINGS, rows, cells).splitlines())


def test_columns_without_a_terminal_are_whole_and_separated_by_tabs() -> None:
    assert prompts.columns(("A", "B"), [("x\ty", "z" * 300)], None) == "A\tB\n" + r"x\ty" + "\t" + "z" * 300 + "\n"
