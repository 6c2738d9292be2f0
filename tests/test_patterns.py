"""Patterns of paths: what git says of them decides."""

import random
import subprocess
import time
from pathlib import Path

import pytest

from kbp.patterns import MAX_PATTERNS, compiled

PATHS = ["a", "b", "ab", "a/b", "a/b/c", "b/a/ab", "x/a", "x/y/b", "x/y/z/a", "a.md", "x/a.md", "x/y/a.md", "a b"]
PATHS += ["[a]", "a\\b", "x/*", "!a", "x/!a", "#a", "aa", "aaa", "A"]
PIECES = [
    "a",
    "b",
    "x",
    "*",
    "**",
    "?",
    "[ab]",
    "[!a]",
    "[^b]",
    "[a-x]",
    "[[:alpha:]]",
    "\\*",
    "\\a",
    "\\!",
    "\\#",
    ".md",
]
PIECES += ["\\ ", "[]a]", "[\\!a]", "!", "#", " ", "\u00e4"]


def generated(count: int) -> list[str]:
    """Lines of ignore files, some of them odd, the same ones in each run."""
    chance = random.Random(7)
    lines = []
    for _ in range(count):
        parts = ["".join(chance.choices(PIECES, k=chance.randint(1, 3))) for _ in range(chance.choice([1, 1, 2, 3]))]
        parts = [chance.choice([part, part, part, "**"]) for part in parts]
        lines.append(chance.choice(["", "", "", "!", "/"]) + "/".join(parts) + chance.choice(["", "", "", "/", " "]))
    return lines


def test_a_path_fits_a_pattern_where_git_says_so(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    asked = "\0".join(PATHS).encode()
    for line in generated(250):
        (tmp_path / ".gitignore").write_text(line + "\n", encoding="utf-8")
        command = ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "--stdin", "-z"]
        done = subprocess.run(command, input=asked, capture_output=True, check=False)
        ignored = set(done.stdout.decode().split("\0")) - {""}
        patterns, _ = compiled([line], str(tmp_path))
        assert {path for path in PATHS if patterns.hold(str(tmp_path / path))} == ignored, line


HOSTILE = [
    ("a****************************b", "/p/prompts/" + "a" * 200),
    ("*a*a*a*a*a*a*b", "/p/" + "a" * 250),
    ("**/*a*a*a/*a*a*a/*a*a*a/x", "/p/" + "/".join(["a" * 100] * 8) + "/y"),
    ("/".join(["**", "a"] * 50), "/p/" + "/".join(["a"] * 1500) + "/b"),
    ("?" * 5000, "/p/" + "a" * 250),
]


@pytest.mark.parametrize(("line", "path"), HOSTILE, ids=[line[:20] for line, _ in HOSTILE])
def test_no_pattern_takes_long(line: str, path: str) -> None:
    start = time.monotonic()
    assert compiled([line], "/p")[0].verdict(path) is None
    assert time.monotonic() - start < 5


def test_a_file_of_patterns_is_bounded() -> None:
    patterns, faults = compiled(["*a*a*ab"] * (MAX_PATTERNS + 5), "/p")
    assert faults == [(MAX_PATTERNS + 1, "more than 10000 patterns")]
    start = time.monotonic()
    assert patterns.verdict("/p/" + "a" * 200) is None
    assert time.monotonic() - start < 5


def test_a_later_pattern_wins_and_the_last_may_take_back() -> None:
    patterns, _ = compiled(["*.md", "!keep.md", "/x/"], "/p")
    assert [patterns.verdict(f"/p/{path}") for path in ("a.md", "d/keep.md", "x", "b.txt")] == [True, False, None, None]
    assert patterns.hold("/p/x/y/keep.md") is True
