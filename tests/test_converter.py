"""A prompt in another dialect: the records of the contract, and what holds of every file."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import TESTS

from kbp.converter.base import skill_name
from kbp.converter.run import convert
from kbp.dialects import DIALECTS
from kbp.files import Manner, Place, PromptFile, read

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
