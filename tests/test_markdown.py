"""Where a Markdown text is code."""

import pytest

from kbp.markdown import code

TEXTS = [
    # a text in which each x marks a character, whether that is code
    ("```\nx\n```\nx", [True, False]),
    ("```\nx\n~~~\nx\n```\nx", [True, True, False]),
    ("~~~~\nx\n~~~\nx\n~~~~\nx", [True, True, False]),
    ("```sh\nx", [True]),
    ("```\n``` x\nx\n```\nx", [True, True, False]),
    ("`x` x ``x", [True, False, False]),
    ("- ```\n  x\n  ```\nx", [True, False]),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_fences_and_back_ticks_hold_code(text: str, expected: list[bool]) -> None:
    spans = code(text)
    assert [spans.holds(at) for at, character in enumerate(text) if character == "x"] == expected


def test_a_span_ends_before_its_end() -> None:
    spans = code("`a`b")
    assert [spans.holds(at) for at in range(4)] == [True, True, True, False]
