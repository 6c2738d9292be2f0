import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbp.document import MAX_FILE, read
from kbp.text import Span


def test_a_file_is_frontmatter_and_body() -> None:
    document = read(b"---\ndescription: d\n---\n\n  body\n\n")
    assert document.block == Span(4, 19)
    assert document.frontmatter["description"].value.text == "d"
    assert document.body == "body\n\n"
    assert document.text[document.body_start :] == "body\n\n"


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("", ""),
        ("plain\n", "plain\n"),
        ("\n\n plain", "plain"),
        ("\ufeff---\nx: 1\n---\nbody", "body"),
        ("---\n---\n", ""),
        ("--- \t\nx: 1\n---\t\nbody", "body"),
        ("---\r\nx: 1\r\n---\r\na\r\nb\r\n", "a\nb\n"),
        ("---\rx: 1\r---\ra\rb\r", "a\nb\n"),
        ("----\nx: 1\n----\nbody", "----\nx: 1\n----\nbody"),
        ("---yaml\nx: 1\n---\nbody", "---yaml\nx: 1\n---\nbody"),
        (" ---\nx: 1\n---\nbody", "---\nx: 1\n---\nbody"),
        ("---\n\nwords\n", "---\n\nwords\n"),
        ("---", "---"),
        ("---\n  key: v\n", "---\n  key: v\n"),
        ("---\n \t\n\t'key': v\n", "---\n \t\n\t'key': v\n"),
        ("---\n\fkey: v\n", "---\n\fkey: v\n"),
        ("---\n'a\nb': v\n", "---\n'a\nb': v\n"),
        ("---\nx: 1\n---\n---\ny: 2\n---\n", "---\ny: 2\n---\n"),
    ],
)
def test_the_body_is_what_stands_below_the_closing_dashes(text: str, body: str) -> None:
    document = read(text.encode())
    assert document.problems == ()
    assert document.body == body


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"caf\xe9", "not-utf8"),
        ("text".encode("utf-16"), "not-utf8"),
        (b"a\0b", "not-utf8"),
        (b"---\nx: 1\n ---\nbody", "unclosed-frontmatter"),
        (b"---\n\n\nkey: v\n", "unclosed-frontmatter"),
        (b"---\n'a key': v\n", "unclosed-frontmatter"),
        (b"---\r\n \t\r\nkey:\r\n", "unclosed-frontmatter"),
        (b"---\rkey:", "unclosed-frontmatter"),
        (b"x" * (MAX_FILE + 1), "too-large"),
        (b"---\nx: " + b"y" * 1024 * 1024 + b"\n---\n", "too-large"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_read_is_a_problem(data: bytes, rule: str) -> None:
    assert [problem.rule for problem in read(data).problems] == [rule]


def test_utf16_is_named() -> None:
    assert "UTF-16" in read("text".encode("utf-16")).problems[0].message


def test_spans_count_characters_of_the_file() -> None:
    document = read("\ufeff---\ndescription: é😀\nnext: 'q'\n---\n".encode())
    entry = document.frontmatter["next"]
    assert document.text[entry.key_span.start : entry.key_span.end] == "next"
    assert document.text[entry.value.span.start : entry.value.span.end] == "'q'"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("010", "010"), ("12:30", "12:30"), ("2.50", "2.50"), ("1_000", "1_000"), ("true", "true"),
        ("2026-01-01", "2026-01-01"), ("'q  q'", "q  q"), ('"a\\nb"', "a\nb"), ("null", None), ("~", None), ("", None),
        ("!!str", ""), ("[a]", None), ("{a: b}", None), ("!!null foo", "foo"), ("!!null", None), ("!!str null", "null"),
    ],
)  # fmt: skip
def test_a_value_is_the_text_its_author_wrote(written: str, text: str | None) -> None:
    assert read(f"---\nx: {written}\n---\n".encode()).frontmatter["x"].value.text == text


@pytest.mark.parametrize(
    ("written", "boolean"),
    [
        ("true", True), ("Yes", True), ("ON", True), ("false", False), ("no", False), ("Off", False),
        ("!!bool yes", True), ("!!bool maybe", None), ("!!str yes", None),
        ("'yes'", None), ("tRUE", None), ("y", None), ("1", None),
    ],
)  # fmt: skip
def test_a_boolean_is_one_of_the_words_of_yaml(written: str, boolean: bool | None) -> None:
    assert read(f"---\nx: {written}\n---\n".encode()).frontmatter["x"].value.boolean is boolean


def test_of_two_equal_keys_the_later_counts_and_both_are_there() -> None:
    document = read(b"---\nx: 1\nx: 2\n---\n")
    assert document.frontmatter["x"].value.text == "2"
    assert document.root is not None
    assert [entry.value.text for entry in document.root.entries or ()] == ["1", "2"]


def test_merge_keys_are_resolved_the_nearer_value_first() -> None:
    text = "---\na: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\n<<: [*a, *b]\nx: 0\n---\n"
    found = {key: entry.value.text for key, entry in read(text.encode()).frontmatter.items() if key in "xyz"}
    assert found == {"x": "0", "y": "1", "z": "2"}


def test_of_two_merge_keys_the_later_counts() -> None:
    text = "---\na: &a {x: 1}\nb: &b {x: 2}\n<<: *a\n<<: *b\n---\n"
    entry = read(text.encode()).frontmatter["x"]
    assert (entry.value.text, entry.merged) == ("2", True)


def test_merge_bombs_and_loops_cost_nothing() -> None:
    lines = ["m0: &m0 {k: v}"]
    lines += [f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}]}}" for n in range(1, 40)]
    document = read("\n".join(["---", *lines, "<<: *m39", "---", "body"]).encode())
    assert document.frontmatter["k"].value.text == "v"
    loop = read(b"---\na: &a\n  <<: *a\n  x: 1\n---\n")
    assert loop.problems or loop.frontmatter["a"].value.mapping is not None


MERGES = [
    # a block whose merge keys bring in the square of its size
    "a:\n- &a {name: x, " + ", ".join(f"k{n}: 1" for n in range(500)) + "}\n" + "- <<: *a\n" * 500,
    "z: &z {}\nl: &l [" + ", ".join(["*z"] * 500) + "]\na:\n" + "- {name: a, <<: *l}\n" * 500,
]


@pytest.mark.parametrize("block", MERGES, ids=["entries", "lists"])
def test_merge_keys_bring_in_no_more_than_a_file_is_worth(block: str) -> None:
    (problem,) = read(f"---\n{block}---\n".encode()).problems
    assert problem.message == "merge keys bring in more than 100000 entries: not read"


def test_what_libyaml_alone_takes_is_refused() -> None:
    for block in ("d: |# c\n  text\n", "d: >-#c\n  text\n", "a:\tb\n"):
        assert [problem.rule for problem in read(f"---\n{block}---\n".encode()).problems] == ["frontmatter-syntax"]


def test_a_stand_in_is_no_character_that_an_escape_spells() -> None:
    entry = read('---\nd: "a\u2028b \\ue000 \\UE001 end"\n---\n'.replace("UE001", "U0000E001").encode()).frontmatter[
        "d"
    ]
    assert entry.value.text == "a\u2028b \ue000 \ue001 end"


@given(st.binary(max_size=60).map(lambda data: b"---\n" + data))
def test_reading_bytes_never_raises(data: bytes) -> None:
    document = read(data)
    assert all(0 <= problem.span.start <= len(document.text) for problem in document.problems)


_SIGNS = st.lists(
    st.sampled_from([*"ab:-[]{}&*!|>'\"%@`#?, \t\n\r~<", "\u2028", "é", "---\n", "\nx: ", "\n- "]), max_size=25
).map("".join)


@given(_SIGNS)
def test_reading_odd_frontmatter_never_raises_and_keeps_its_spans_in_the_file(block: str) -> None:
    document = read(f"---\nkey: v\n{block}\n---\nbody".encode())
    for problem in document.problems:
        assert 0 <= problem.span.start <= problem.span.end <= len(document.text)
    for entry in document.frontmatter.values():
        assert 0 <= entry.key_span.start <= entry.key_span.end <= len(document.text)
