import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbp.words import join, quote, split


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", []),
        ("  a   b ", ["a", "b"]),
        ("""a "b c" 'd e'""", ["a", "b c", "d e"]),
        ('a"b c"d', ["ab cd"]),
        ('"" x', ["", "x"]),
        ("don't stop it", ["don't stop it"]),
        ("it's 'x y' z", ["its x", "y' z"]),
        (r"a\ b c\\d", ["a b", "c\\d"]),
        (r'"a\"b" c', ['a\\b" c']),
        (r"'a\'b", ["a\\b"]),
        ("a\\", ["a\\"]),
        ("a\u00a0b\u3000c", ["a\u00a0b\u3000c"]),
        ("“a b”", ["“a", "b”"]),
    ],
)
def test_a_line_splits_as_claude_code_splits_it(line: str, words: list[str]) -> None:
    assert split(line) == words


@pytest.mark.parametrize(
    ("word", "quoted"),
    [("a", "a"), ("a b", '"a b"'), ("", '""'), ("it's", '"it\'s"'), ('say "x"', "'say \"x\"'"), ("a\\b", '"a\\b"')],
)
def test_a_word_is_quoted_only_where_it_must_be(word: str, quoted: str) -> None:
    assert quote(word) == quoted


@given(st.lists(st.text(st.sampled_from("ab \t\n\"'\\$é"), max_size=6), min_size=2, max_size=5))
def test_joined_words_split_again(words: list[str]) -> None:
    assert split(join(words)) == words


def test_a_single_word_is_the_text_itself() -> None:
    assert join(["a  b 'c"]) == "a  b 'c"
