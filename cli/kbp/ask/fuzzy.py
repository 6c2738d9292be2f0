"""Which of many entries a person means by a few letters, the likeliest first."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_START, _RUN, _MOST_SKIPPED = 8, 5, 5
_IN_NAME, _WHOLE, _AT_FRONT = 40, 60, 8


@dataclass(frozen=True, slots=True)
class Entry:
    """What is looked through: a name, and what else is said of it. Both are searched, the name first."""

    name: str
    text: str = ""


class Finder:
    """Looks through entries as a person types. What they type on to what they had narrows what was found."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._names = [_folded(entry.name) for entry in entries]
        self._texts = [_folded(entry.text) for entry in entries]
        self._all = range(len(entries))
        self._last: tuple[str, Sequence[int]] = ("", self._all)

    def rank(self, query: str) -> Sequence[int]:
        """The positions of the entries that fit a query, the best first; of equals, the order of the entries.

        Each word of the query has to fit: all its letters stand in order in the name, or it stands in the text.
        """
        query = _folded(query)
        words = query.split()
        if not words:
            return self._all
        last, among = self._last
        found: list[tuple[int, int, int]] = []
        for at in sorted(among) if last and query.startswith(last) else self._all:
            name, total = self._names[at], 0
            for word in words:
                points = _points(word, name, self._texts[at])
                if points is None:
                    break
                total += points
            else:
                found.append((-total, len(name), at))
        found.sort()
        ranked = [at for _, _, at in found]
        self._last = query, ranked
        return ranked


def _folded(text: str) -> str:
    """The text as it is compared: without case, and however its accents are put together."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def _points(word: str, name: str, text: str) -> int | None:
    """How well a word fits: its letters in the name, else the word in the text; None where it does not."""
    at = name.find(word)
    if at >= 0:
        is_start = at == 0 or not name[at - 1].isalnum()
        return _IN_NAME + _WHOLE + len(word) * _RUN + (_START if is_start else 0) + (_AT_FRONT if at == 0 else 0)
    if not _has_letters(word, name):
        return len(word) if word in text else None
    points = _letters(word, name, prefers_starts=True)
    return _IN_NAME + (points if points is not None else _letters(word, name, prefers_starts=False) or 0)


def _has_letters(word: str, name: str) -> bool:
    at = 0
    for letter in word:
        at = name.find(letter, at) + 1
        if at == 0:
            return False
    return True


def _letters(word: str, name: str, *, prefers_starts: bool) -> int | None:
    """How well the letters of a word stand in a name, in order; None: they do not, where starts of words are taken.

    Starts of words and runs count more, letters that are skipped count less.
    """
    points, last = 0, -2
    for letter in word:
        at = name.find(letter, max(last + 1, 0))
        while prefers_starts and at > 0 and at != last + 1 and name[at - 1].isalnum():
            further = name.find(letter, at + 1)
            if further < 0:
                at = name.find(letter, max(last + 1, 0))
                break
            at = further
        if at < 0:
            return None
        if at == last + 1:
            points += _RUN
        elif at == 0 or not name[at - 1].isalnum():
            points += _START
        else:
            points -= min(at - max(last, 0), _MOST_SKIPPED)
        last = at
    return points
