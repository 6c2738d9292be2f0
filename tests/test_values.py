import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbp.model import Argument
from kbp.values import MAX_VALUE, Values


def values(*names: str, free_text: str | None = None, stdin: bytes | None = None) -> Values:
    def read(limit: int) -> bytes:
        assert stdin is not None, "stdin was read"
        return stdin[:limit]

    return Values([Argument(name) for name in names], free_text, read)


def test_everything_after_the_first_equals_sign_is_the_value() -> None:
    found = values("a", "b")
    found.assign(["a=x=y ", "b="])
    assert (found.given, found.faults) == ({"a": "x=y ", "b": ""}, [])


@pytest.mark.parametrize(
    ("data", "value"),
    [(b"text\n", "text"), (b"text\r\n", "text"), (b"text\n\n", "text\n"), (b"\xef\xbb\xbftext", "text"), (b"", "")],
)
def test_a_file_and_stdin_lose_a_mark_and_one_newline(tmp_path: Path, data: bytes, value: str) -> None:
    path = tmp_path / "v"
    path.write_bytes(data)
    found = values("a", "b", stdin=data)
    found.assign([f"a=@{path}", "b=-"])
    assert found.given == {"a": value, "b": value}


def test_a_value_taken_as_it_is_may_start_with_a_sign() -> None:
    found = values("a", "b")
    found.assign(["a=@x", "b=-"], as_is=True)
    assert found.given == {"a": "@x", "b": "-"}


def test_a_pipe_can_be_a_value_file() -> None:
    read, write = os.pipe()
    os.write(write, b"from a pipe\n")
    os.close(write)
    found = values("a")
    found.assign([f"a=@/dev/fd/{read}"])
    os.close(read)
    assert found.given == {"a": "from a pipe"}


def test_all_that_is_wrong_is_told(tmp_path: Path) -> None:
    latin = tmp_path / "latin"
    latin.write_bytes(b"caf\xe9")
    found = values("app", "since", "zone", stdin=b"")
    found.assign(
        ["app", "=x", f"app=@{latin}", f"since=@{tmp_path}", "zone=@/no/such/file", "ap=1", "app=-", "since=-"]
    )
    found.assign(["app=1", "zone=2"], as_is=True)
    assert found.faults == [
        "-a app: write it as -a NAME=VALUE",
        "-a =x: write it as -a NAME=VALUE",
        f"-a app=@{latin}: not UTF-8: the byte 0xe9 at offset 3",
        f"-a since=@{tmp_path}: this is a folder",
        "-a zone=@/no/such/file: there is no file '/no/such/file' (-A takes a value as it is)",
        "-a ap=1: the prompt has no argument ap; did you mean app?",
        "-a since=-: stdin can be read once, and -a app=- reads it",
        "app is given by -a and by -A: give it once",
    ]


@pytest.mark.parametrize(
    ("names", "free_text", "words", "given"),
    [
        ("a b", None, ["x", "y z"], {"a": "x", "b": "y z"}),
        ("a b", None, ["x"], {"a": "x"}),
        ("a", None, ["x", "y z"], {"a": "x y z"}),
        ("arguments", "arguments", ["x y"], {"arguments": "x y"}),
        ("arguments", "arguments", ["x", "y z"], {"arguments": 'x "y z"'}),
        ("a b arguments", "arguments", ["x", "y", "z"], {"a": "x", "b": "y", "arguments": "x y z"}),
        ("a arguments", "arguments", ["x", "y z"], {"a": "x", "arguments": 'x "y z"'}),
        ("a", None, ["-"], {"a": "IN"}),
        ("arguments", "arguments", ["look at", "-"], {"arguments": '"look at" IN'}),
    ],
)
def test_words_fill_arguments_as_after_a_slash_command(
    names: str, free_text: str | None, words: list[str], given: dict[str, str]
) -> None:
    found = values(*names.split(), free_text=free_text, stdin=b"IN\n")
    found.take_words(words)
    assert (found.given, found.faults) == (given, [])


def test_a_value_that_is_not_utf8_is_a_fault() -> None:
    found = values("a")
    found.assign(["a=\udcff"])
    found.take_words(["\udcff"])
    assert (found.given, found.faults) == ({}, ["a: the value is not UTF-8", "a word: the value is not UTF-8"])


@pytest.mark.parametrize("text", ['{"a": "\\ud800"}', '{"a": "x", "b": "\\udc00y"}'])
def test_half_a_character_in_a_map_is_a_fault(tmp_path: Path, text: str) -> None:
    (tmp_path / "v.json").write_text(text)
    found = values("a", "b")
    found.read_map(str(tmp_path / "v.json"))
    assert len(found.faults) == 1
    assert found.faults[0].endswith("the value is not UTF-8")


def test_what_never_ends_is_read_up_to_a_bound() -> None:
    found = values("a", "b", stdin=b"x" * (MAX_VALUE + 2))
    found.assign(["a=@/dev/zero", "b=-"])
    found.read_map("/dev/zero")
    assert (found.given, found.faults) == (
        {},
        [
            "-a a=@/dev/zero: more than 64 MiB: not read",
            "-a b=-: more than 64 MiB: not read",
            "--args /dev/zero: more than 16 MiB: not read",
        ],
    )


def test_thousands_of_names_take_no_longer_than_they_should(tmp_path: Path) -> None:
    names = [f"name{n}" for n in range(20_000)]
    (tmp_path / "v.json").write_text(json.dumps(dict.fromkeys(names, "x")))
    known = values(*names)
    known.read_map(str(tmp_path / "v.json"))
    assert (len(known.given), known.faults) == (20_000, [])
    unknown = values(*(f"other{n}" for n in range(20_000)))
    unknown.read_map(str(tmp_path / "v.json"))
    assert len(unknown.faults) == 20_000
    assert unknown.faults[0].endswith("other9 and 19990 more")
    assert unknown.faults[-1].endswith("the prompt has no argument name19999")


@pytest.mark.parametrize(
    ("names", "words", "fault"),
    [
        ("a b", ["x", "y", "z"], "3 words for 2 arguments (a, b): quote words that belong together"),
        ("", ["x"], "the prompt takes no arguments, and 1 word is given"),
        ("a b", ["x", "-"], "the word -: name the argument that takes stdin, as in -a NAME=-"),
    ],
)
def test_words_that_have_no_place_are_a_fault(names: str, words: list[str], fault: str) -> None:
    found = values(*names.split())
    found.take_words(words)
    assert (found.given, found.faults) == ({}, [fault])


@pytest.mark.parametrize(
    ("names", "free_text", "line", "given"),
    [
        ("arguments", "arguments", '  a  "b c" ', {"arguments": 'a  "b c"'}),
        ("x arguments", "arguments", "'a b' c", {"x": "a b", "arguments": "'a b' c"}),
        ("x y", None, "'a b' c", {"x": "a b", "y": "c"}),
        ("x", None, "a 'b c'", {"x": "a b c"}),
        ("arguments", "arguments", "  ", {}),
    ],
)
def test_a_line_is_the_free_text_and_splits_into_words(
    names: str, free_text: str | None, line: str, given: dict[str, str]
) -> None:
    found = values(*names.split(), free_text=free_text)
    found.take_line(line)
    assert (found.given, found.faults) == (given, [])


def test_by_word_and_by_option_is_twice() -> None:
    found = values("a", "b")
    found.assign(["a=1"])
    found.take_words(["x", "y"])
    assert found.faults == ["a is given by -a and by a word: give it once"]


@pytest.mark.parametrize(
    ("name", "text", "given"),
    [
        (
            "v.json",
            '{"a": "x", "b": 1.50, "c": true, "d": null, "e": -0, "f": 1e5}',
            {"a": "x", "b": "1.50", "c": "true", "e": "-0", "f": "1e5"},
        ),
        (
            "v.yaml",
            "a: x\nb: 010\nc: yes\nd: ~\ne: 12:30\nf: 'q'\n",
            {"a": "x", "b": "010", "c": "yes", "e": "12:30", "f": "q"},
        ),
        ("v", '{"a": "x", "b": 2.0}', {"a": "x", "b": "2.0"}),
    ],
)
def test_a_map_of_values_keeps_the_text_of_numbers(tmp_path: Path, name: str, text: str, given: dict[str, str]) -> None:
    (tmp_path / name).write_text(text)
    found = values("a", "b", "c", "d", "e", "f")
    found.read_map(str(tmp_path / name))
    assert (found.given, found.faults) == (given, [])


def test_a_map_on_stdin_is_json_and_what_is_given_already_stays() -> None:
    found = values("a", "b", stdin=b'{"a": "1", "b": "2"}')
    found.assign(["a=x"])
    found.read_map("-")
    assert found.given == {"a": "x", "b": "2"}


@pytest.mark.parametrize(
    ("name", "text", "faults"),
    [
        ("v.json", "[1]", ["not a map of names and values"]),
        ("v.json", "{", ["not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"]),
        (
            "v.json",
            '{"a": [1], "b": {"c": 1}}',
            [
                "the value of a is a list or a map; an argument is text",
                "the value of b is a list or a map; an argument is text",
            ],
        ),
        ("v.json", '{"a": "1", "a": "2"}', ["a is given twice"]),
        ("v.json", '{"x": "1"}', ["the prompt has no argument x; it takes a, b"]),
        ("v.json", "[" * 100_000, None),
        (
            "v.yaml",
            "a: [1]\nb: {c: 1}",
            [
                "the value of a is a list or a map; an argument is text",
                "the value of b is a list or a map; an argument is text",
            ],
        ),
        ("v.yaml", "a: 1\na: 2", ["a is given twice"]),
        ("v.yaml", "- a", ["not a map of names and values"]),
        ("v.yaml", "a: b: c", None),
        ("v.yaml", "a: !!python/name:os.system", ["the tag `!!python/name:os.system` is refused"]),
        ("v.yaml", "a: " + "[" * 200, ["nested too deep"]),
    ],
)
def test_a_map_of_another_shape_is_a_fault(tmp_path: Path, name: str, text: str, faults: list[str] | None) -> None:
    (tmp_path / name).write_text(text)
    found = values("a", "b")
    found.read_map(str(tmp_path / name))
    told = [fault.removeprefix(f"--args {tmp_path / name}: ") for fault in found.faults]
    assert told == faults if faults is not None else len(told) == 1


@given(st.dictionaries(st.sampled_from("abc"), st.text(max_size=8).filter(lambda text: "\0" not in text)))
def test_json_values_arrive_as_they_are(content: dict[str, str]) -> None:
    found = values("a", "b", "c", stdin=json.dumps(content).encode())
    found.read_map("-")
    assert found.given == content
