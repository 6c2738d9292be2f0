"""Which entries a few letters mean, and in which order."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbp.ask.fuzzy import Entry, Finder

PROMPTS = [
    Entry("grafana_debug", "Debug a workload's recent logs in Loki."),
    Entry("grafana_incident", "Open an incident for a workload."),
    Entry("review", "Review a pull request against our conventions."),
    Entry("debug_grafana", "Something else"),
    Entry("日本_レビュー", "Wide"),
    Entry("xab_a", ""),
    Entry("open-pr", "review it"),
]


def names(query: str) -> list[str]:
    return [PROMPTS[at].name for at in Finder(PROMPTS).rank(query)]


RANKED = [
    ("", [entry.name for entry in PROMPTS]),
    ("  ", [entry.name for entry in PROMPTS]),
    ("gdbg", ["grafana_debug"]),
    ("debug", ["debug_grafana", "grafana_debug"]),
    ("DEBUG", ["debug_grafana", "grafana_debug"]),
    ("graf inc", ["grafana_incident"]),
    ("inc graf", ["grafana_incident"]),
    ("loki", ["grafana_debug"]),
    ("review", ["review", "open-pr"]),
    ("レビ", ["日本_レビュー"]),
    ("ab", ["xab_a"]),
    ("op", ["open-pr"]),
    ("opr", ["open-pr"]),
    ("zzz", []),
    ("debug zzz", []),
]


@pytest.mark.parametrize(("query", "expected"), RANKED)
def test_the_likeliest_comes_first(query: str, expected: list[str]) -> None:
    found = names(query)
    assert found[: len(expected)] == expected
    assert bool(found) == bool(expected)


@given(st.text(string.ascii_lowercase + "_ ", max_size=12), st.text("abc_ ", max_size=5))
def test_what_is_found_has_all_letters_in_order(name: str, query: str) -> None:
    found = list(Finder([Entry(name)]).rank(query))
    words = query.split()

    def fits(word: str) -> bool:
        at = iter(name)
        return all(letter in at for letter in word)

    assert bool(found) == all(map(fits, words))


def test_typing_on_narrows_and_going_back_widens() -> None:
    chance = random.Random(7)
    entries = [Entry("".join(chance.choices("abcd_", k=8)), "") for _ in range(300)]
    finder = Finder(entries)
    for query in ("a", "ab", "ab ", "ab c", "ab", "a", "c", "cd", ""):
        assert list(finder.rank(query)) == list(Finder(entries).rank(query)), query
