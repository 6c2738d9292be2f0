import pytest

from kbp.text import Lines, Position, Span, split_white, squeeze, with_unix_line_ends


@pytest.mark.parametrize(
    ("text", "offset", "position"),
    [
        ("ab\ncd", 0, (1, 1)),
        ("ab\ncd", 2, (1, 3)),
        ("ab\ncd", 3, (2, 1)),
        ("ab\r\ncd", 4, (2, 1)),
        ("ab\rcd", 3, (2, 1)),
        ("a\u2028b\x85c", 4, (1, 5)),
        ("\ufeffab", 1, (1, 1)),
        ("\ufeffab", 0, (1, 1)),
        ("ä😀x", 2, (1, 3)),
        ("", 0, (1, 1)),
        ("a\n", 2, (2, 1)),
    ],
)
def test_an_offset_has_a_line_and_a_column(text: str, offset: int, position: tuple[int, int]) -> None:
    assert Lines(text).position(offset) == Position(*position)


def test_lines_are_given_without_their_ends() -> None:
    lines = Lines("one\r\ntwo\rthree\n")
    assert [lines.line(number) for number in range(1, len(lines) + 1)] == ["one", "two", "three", ""]
    assert lines.span(2) == Span(5, 8)


def test_every_line_end_becomes_lf() -> None:
    assert with_unix_line_ends("a\r\nb\rc\nd") == "a\nb\nc\nd"


@pytest.mark.parametrize(
    ("text", "squeezed"),
    [("  a \t b\r\n c ", "a b c"), ("a\u00a0b", "a\u00a0b"), ("   ", ""), ("a\fb", "a b")],
)
def test_squeezing_puts_a_text_on_one_line(text: str, squeezed: str) -> None:
    assert squeeze(text) == squeezed


def test_white_space_splits_and_nothing_else() -> None:
    assert split_white(" a,\tb\u2003c\n d ") == ["a,", "b\u2003c", "d"]
