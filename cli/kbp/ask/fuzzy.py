"""Which of many entries a person means by a few letters, the likeliest first."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_START, _RUN, _MOST_SKIPPED = 8, 5, 5
_BUT_STARTS = re.compile(r"(?<=[^\W_])[^\W_]")
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
        self._starts = [_BUT_STARTS.sub("\0", name) for name in self._names]
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
            total = 0
            for word in words:
                points = self._points(word, at)
                if points is None:
                    break
                total += points
            else:
                found.append((-total, len(self._names[at]), at))
        found.sort()
        ranked = [at for _, _, at in found]
        self._last = query, ranked
        return ranked

    def _points(self, word: str, at: int) -> int | None:
        """How well a word fits: its letters in the name, else the word in the text; None where it does not."""
        name = self._names[at]
        place = name.find(word)
        if place >= 0:
            is_start = place == 0 or not name[place - 1].isalnum()
            front = _AT_FRONT if place == 0 else 0
            return _IN_NAME + _WHOLE + len(word) * _RUN + (_START if is_start else 0) + front
        leftmost = _letters(word, name, "")
        if leftmost is None:
            return len(word) if word in self._texts[at] else None
        at_starts = _letters(word, name, self._starts[at])
        return _IN_NAME + (leftmost if at_starts is None else at_starts)


def _folded(text: str) -> str:
    """The text as it is compared: without case, and however its accents are put together."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def _letters(word: str, name: str, starts: str) -> int | None:
    """How well the letters of a word stand in a name, in order; None: they do not, where starts of words are taken.

    Starts of words and runs count more, letters that are skipped count less. `starts` is the name with all blanked out
    but the starts of its words; empty: they are not looked for.
    """
    points, last = 0, -1
    for letter in word:
        at = name.find(letter, last + 1)
        if at < 0:
            return None
        if at == last + 1 and at > 0:
            points += _RUN
        else:
            start = starts.find(letter, at)
            if start >= 0:
                points += _START
                at = start
            else:
                skipped = at - max(last, 0)
                points -= skipped if skipped < _MOST_SKIPPED else _MOST_SKIPPED
        last = at
    return points
