"""A prompt in another dialect: the records of the contract, and what holds of every file."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import LIBRARY, TESTS
from hypothesis import given, settings
from hypothesis import strategies as st

from kbp.converter.base import Loss, skill_name
from kbp.converter.run import convert
from kbp.diagnostics import Severity
from kbp.dialects import DIALECTS
from kbp.files import Manner, Place, PromptFile, read
from kbp.library import load_all
from kbp.linter.run import lint
from kbp.model import Kind
from kbp.renderer import render
from kbp.search import Search, find_paths

CASES = [json.loads(line) for line in (TESTS / "cases" / "convert.jsonl").read_text(encoding="utf-8").splitlines()]


def load(path: str, text: str, dialect: str | None = None) -> PromptFile:
    manner = Manner(DIALECTS[dialect] if dialect else None, skills=True)
    return read(text.encode(), Place(Path("/r") / path, Path("/r"), outright=dialect is not None), manner)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_file_is_converted_as_its_case_says(case: dict[str, Any]) -> None:
    file = load(case["path"], case["file"])
    converted = convert(file, DIALECTS[case["to"]])
    expected = case["expect"]
    if expected.get("refused"):
        assert converted.text is None
        assert [file.document.lines.position(each.span.start).line for each in converted.problems] == expected["lines"]
        return
    assert converted.text is not None, converted.problems
    after = load("x/SKILL.md" if case["to"] == "skill" else "x.md", converted.text, case["to"])
    block = after.document.block
    found = yaml.safe_load(after.document.text[block.start : block.end]) if block else None
    assert found == expected["frontmatter"]
    _, _, body = converted.text.partition("\n---\n")
    assert body == expected["body"]
    assert {loss.what for loss in converted.losses if loss.kind == "lost"} == set(expected["losses"])


@pytest.mark.parametrize(
    ("stem", "name"),
    [("Review PR", "review-pr"), ("a_b.c", "a-b-c"), ("größe", "gr-e"), ("---", ""), ("x" * 70, "x" * 64), ("é", "")],
)
def test_a_skill_is_called_in_lower_case_letters_digits_and_dashes(stem: str, name: str) -> None:
    assert skill_name(stem) == name


# What holds of every file

KEYS = [
    "description: d",
    "description: 'a: b'",
    "title: T",
    "model: m",
    "x-a: [1, 2]",
    "# c",
    "",
    "name: n",
    "tools: [x]",
]
KEYS += ["allowed-tools: Read", "agent: x", 'argument-hint: "[a] [b]"', "argument-hint: what", "description: # none"]
ARGUMENTS = {
    "kb": [
        "arguments: [{name: app}]",
        "arguments:\n- name: app\n  description: Which one?\n  required: true\n- name: since\n  default: 1h",
        "arguments: [{name: arguments, description: What}]",
        "arguments: [{name: app}, {name: arguments}]",
    ],
    "claude": ["arguments: [app, since]", "arguments: app", "arguments: [a-b, größe]", "arguments: [arguments, app]"],
    "copilot": [],
    "skill": ["arguments: [app]"],
}
PIECES = [
    "$app", "$since", "$ARGUMENTS", "$0", "$1", "$ARGUMENTS[0]", "\\$app", "\\$5.00", "$5.00", "$other", "\\", "{", "}",
    "{{ app }}", "{{since}}", "{{ arguments }}", "{{ .Values.x }}", "${input:app}", "${input:app:Which?}", "${input:x}",
    "${file}", "#file:a.md", "@a/b.md", "!`ls`", "```\n", "text", " ", "\n", "s", "[", "$", "`", "é",
    "${CLAUDE_PLUGIN_ROOT}",
]  # fmt: skip
PLACES = {"kb": "prompts/p.md", "claude": "commands/p.md", "copilot": "prompts/p.prompt.md", "skill": "p/SKILL.md"}


@st.composite
def prompts(draw: st.DrawFn) -> PromptFile:
    dialect = draw(st.sampled_from(list(DIALECTS)))
    keys = draw(st.lists(st.sampled_from(KEYS), max_size=4, unique_by=lambda line: line.partition(":")[0]))
    if ARGUMENTS[dialect] and draw(st.booleans()):
        keys.insert(draw(st.integers(0, len(keys))), draw(st.sampled_from(ARGUMENTS[dialect])))
    body = "".join(draw(st.lists(st.sampled_from(PIECES), max_size=8)))
    block = "".join(f"{line}\n" for line in keys)
    text = f"---\n{block}---\n{body}" if keys or draw(st.booleans()) else body
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    mark = draw(st.sampled_from(["", "", "", "\ufeff"]))
    return load(PLACES[dialect], mark + text.replace("\n", newline), dialect)


def values_of(names: Iterable[str], value: str) -> dict[str, str]:
    return {name: f"{value}{at}" for at, name in enumerate(sorted(names))}


def check_meaning(before: PromptFile, after: PromptFile) -> None:
    """Nothing was reported as lost: both publish and render the same, but for free text that nothing shows."""
    assert before.template is not None
    assert after.template is not None
    assert after.template.description == before.template.description or before.template.description is None
    own, other = (
        {each.name for each in template.arguments if not each.is_free_text}
        for template in (before.template, after.template)
    )
    assert own - {"arguments"} == other - {"arguments"}
    for value in ("x", 'two "words" $0 {{ app }}'):
        given = values_of(own - {"arguments"}, value)
        assert [each.content["text"] for each in render(before.template, {**given})] == [
            each.content["text"] for each in render(after.template, {**given})
        ]
        shows = any(part.kind is Kind.FREE_TEXT for part in before.template.placeholders)
        if shows or "arguments" in own:
            given["arguments"] = value
            assert render(before.template, given) == render(after.template, given)


def gist(file: PromptFile, first: PromptFile) -> tuple[object, ...]:
    """What a file says, wherever it says it; a skill gets a description where the first one had none."""
    assert file.template is not None
    assert first.template is not None
    arguments = sorted(replace(each, span=None).__repr__() for each in file.template.arguments)
    description = file.template.description if first.template.description is not None else None
    return description, arguments, file.document.body


def concerns_meaning(loss: Loss) -> bool:
    """Whether a loss names a difference of the names, the description or the messages."""
    is_key = loss.where == "not written" and loss.what not in ("description", "the files beside it")
    return not is_key and loss.what not in ("required", "argument description", "argument order", "default")


def check_conversion(file: PromptFile, *, inline_defaults: bool = False) -> None:
    if file.template is None:
        return
    errors = [each for each in lint([file]).diagnostics if each.severity is Severity.ERROR]
    for name, target in DIALECTS.items():
        converted = convert(file, target)
        if target is file.dialect:
            assert (converted.text, converted.losses) == (file.document.text, ())
            continue
        if converted.text is None:
            assert converted.problems
            continue
        path = PLACES[name] if name != "skill" else f"{skill_name(file.stem)}/SKILL.md"
        after = load(path, converted.text, name)
        assert after.template is not None
        found = [each.rule for each in lint([after]).diagnostics if each.severity is Severity.ERROR]
        assert not found or errors, (name, found, converted.text)
        if not any(concerns_meaning(loss) for loss in converted.losses):
            check_meaning(file, after)
        assert convert(after, target).text == converted.text
        back = convert(after, file.dialect or target)
        if back.text is not None and not (converted.losses or back.losses):  # there and back, and there again
            again = convert(load(file.place.path.as_posix(), back.text, file.dialect and file.dialect.name), target)
            if again.text is not None:
                assert gist(load(path, again.text, name), after) == gist(after, after), back.text
        kept = convert(file, target, keep=True, inline_defaults=inline_defaults)
        assert kept.text is not None
        again = load(path, kept.text, name)
        assert inline_defaults or again.template == replace(
            after.template, body=again.template.body if again.template else ()
        )
        assert convert(again, file.dialect or target).text == file.document.text


@given(prompts(), st.booleans())
@settings(max_examples=500, deadline=None)
def test_a_converted_file_means_the_same_or_says_what_it_lost(file: PromptFile, inline_defaults: bool) -> None:
    check_conversion(file, inline_defaults=inline_defaults)


def test_the_library_of_the_tests_is_converted() -> None:
    search = Search()
    find_paths([str(LIBRARY)], None, search)
    files = load_all(search).files
    assert len(files) == 29
    for file in files:
        check_conversion(file)


# What a comment keeps

SOURCE = "---\n# ours\ndescription: d\nmodel: m # kept\narguments: [app]\n---\n\nLook at $app, \\$5.00.\n"


def kept_as_kb() -> str:
    text = convert(load("commands/p.md", SOURCE), DIALECTS["kb"], keep=True).text
    assert text is not None
    return text


def test_a_comment_keeps_what_the_target_cannot_say_and_gives_it_back() -> None:
    text = kept_as_kb()
    assert "model" not in text.replace("model: m", "")
    assert text.count("---") == 2
    assert lint([load("prompts/p.md", text)]).diagnostics == ()
    assert convert(load("prompts/p.md", text), DIALECTS["claude"]).text == SOURCE


def test_an_edit_wins_over_what_a_comment_keeps() -> None:
    edited = kept_as_kb().replace("Look at", "Look hard at").replace("description: d", "description: e")
    assert convert(load("prompts/p.md", edited), DIALECTS["claude"]).text == (
        "---\n# ours\ndescription: e\narguments: [app]\nmodel: m # kept\n---\n\nLook hard at $app, \\$5.00.\n"
    )


FORGED = [
    ('"head":"', '"head":"../../etc/passwd'),
    ('"size":', '"size":-'),
    ('"size":', '"size":9999'),
    ('"from":"claude"', '"from":"../../x"'),
    ('"from":"claude"', '"from":3'),
    ('{"from"', '{{"from"'),
    ('"body":[[', '"body":[[-5,2,"x"],['),
    ("description: d\\n", "description: forged\\n"),
]


@pytest.mark.parametrize(("written", "forged"), FORGED, ids=range(len(FORGED)))
def test_a_comment_that_was_damaged_or_forged_says_nothing(written: str, forged: str) -> None:
    text = kept_as_kb()
    assert written in text
    line = next(line for line in text.split("\n") if line.startswith("# kbp:1"))
    bad = text.replace(line, line.replace(written, forged, 1))
    result = convert(load("prompts/p.md", bad), DIALECTS["claude"]).text
    assert result is not None
    assert "forged" not in result.replace(line.replace(written, forged, 1), "")
    assert result.endswith("Look at $app, \\$5.00.\n")


def test_free_text_that_moves_behind_the_other_arguments_is_an_order_that_changes() -> None:
    file = load(
        "prompts/p.md", "---\narguments: [{name: arguments}, {name: app}]\n---\n{{ arguments }}{{ app }}\n", "kb"
    )
    losses = convert(file, DIALECTS["claude"]).losses
    assert [(loss.kind, loss.what, loss.where) for loss in losses] == [
        ("approximated", "argument order", "app, arguments")
    ]
