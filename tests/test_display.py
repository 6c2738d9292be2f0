import json

import pytest

from kbp.display import UNSAFE, fit, pad, safe, safe_line, width
from kbp.output.jsontext import dump


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 😀", "plain é 😀"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\rb", r"a\rb"),
        ("\x9b31m \x7f", r"\x9b31m \x7f"),
        ("\u202eevil\u2066", r"\u202eevil\u2066"),
        ("\udcff", r"\udcff"),
        ("a\u2028b", r"a\u2028b"),
    ],
)
def test_what_could_steer_a_terminal_is_spelt_out(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_on_one_line_breaks_are_spelt_out_too() -> None:
    assert safe_line("a\tb\nc") == r"a\tb\nc"


def test_width_counts_cells() -> None:
    assert [width(text) for text in ("abc", "日本", "e\u0301", "😀")] == [3, 4, 1, 2]


@pytest.mark.parametrize(
    ("text", "cells", "cut"),
    [("abcdef", 6, "abcdef"), ("abcdef", 4, "abc…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("abc", 0, "")],
)
def test_a_text_is_cut_to_fit(text: str, cells: int, cut: str) -> None:
    assert fit(text, cells) == cut


def test_a_text_is_padded_to_cells() -> None:
    assert pad("日", 4) == "日  "


def test_json_holds_no_character_that_could_steer_a_terminal_and_says_the_same() -> None:
    content = {"a": "é \x1b \x9b \u202e \x7f \udcff \u2028 \n"}
    text = dump(content)
    assert not UNSAFE.search(text)
    assert "é" in text
    assert json.loads(text) == content
