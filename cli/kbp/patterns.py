"""Patterns of paths, as ignore files and settings have them: those of git.

They are matched part by part, each part in one pass. One regular expression for a whole pattern, as the libraries make
it, takes hours on a hostile line and a long path.
"""

import fnmatch
import os
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MAX_PATTERNS = 10_000
_ANY_FOLDERS = None
_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "xdigit": "0-9A-Fa-f",
    "space": " \t",
    "blank": " \t",
}
_TOKEN = re.compile(r"\\(?P<escaped>.)|\[(?P<set>[!^]?\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*)\]|\*+|.", re.DOTALL)
_STARS = re.compile(r"\*\*+")
_CLASS = re.compile(r"\[:([a-z]+):\]")


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One line: its parts, of which `_ANY_FOLDERS` is any number of folders; what it says of what fits.

    `is_name` says whether it has no slash and so fits a name at any depth.
    """

    parts: tuple[re.Pattern[str] | None, ...]
    takes_back: bool
    is_for_folders: bool
    is_name: bool

    def fits(self, parts: Sequence[str], is_folder: bool) -> bool:
        return (is_folder or not self.is_for_folders) and _fit(self.parts, parts)


def _fit(pattern: Sequence[re.Pattern[str] | None], parts: Sequence[str]) -> bool:
    """Whether the parts of a path fit those of a pattern. Of several `**` the last one alone is ever tried again."""
    at = here = 0
    again: tuple[int, int] | None = None
    while here < len(parts):
        if at < len(pattern) and pattern[at] is _ANY_FOLDERS:
            again = (at + 1, here)
            at += 1
        elif at < len(pattern) and (part := pattern[at]) is not None and part.match(parts[here]):
            at, here = at + 1, here + 1
        elif again is not None:
            again = (again[0], again[1] + 1)
            at, here = again
        else:
            return False
    return at == len(pattern)


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns that hold below a folder. One without a slash fits at any depth, a later one wins, `!` takes back."""

    folder: str
    patterns: tuple[_Pattern, ...]
    names: re.Pattern[str]
    """Fits the name of a file or folder that a pattern without a slash may fit: most of all names fit none."""

    def verdict(self, path: str, *, is_folder: bool = False) -> bool | None:
        """Whether the absolute path fits, False when a pattern takes it back; None when none says anything."""
        return self._verdict(self._parts(path), is_folder)

    def hold(self, path: str) -> bool:
        """Whether the file at the absolute path fits, or a folder that it lies in does."""
        parts = self._parts(path)
        return any(self._verdict(parts[:depth], depth < len(parts)) for depth in range(1, len(parts) + 1))

    def _parts(self, path: str) -> list[str]:
        start = self.folder.rstrip(os.sep) + os.sep
        inside = path[len(start) :] if path.startswith(start) else os.path.relpath(path, self.folder)
        return inside.split(os.sep)  # noqa: PTH206 (speed)

    def _verdict(self, parts: Sequence[str], is_folder: bool) -> bool | None:
        may_be_named = self.names.match(parts[-1]) is not None
        for pattern in reversed(self.patterns):
            if (may_be_named or not pattern.is_name) and pattern.fits(parts, is_folder):
                return not pattern.takes_back
        return None


def verdict(among: Sequence[Patterns], path: str, *, is_folder: bool = False) -> bool:
    """Whether a path fits: the last patterns that say anything decide."""
    for patterns in reversed(among):
        said = patterns.verdict(path, is_folder=is_folder)
        if said is not None:
            return said
    return False


def compiled(lines: Iterable[str], folder: str) -> tuple[Patterns, list[tuple[int, str]]]:
    """The patterns, and the lines that are none: their numbers from 1, and why."""
    patterns: list[_Pattern] = []
    faults: list[tuple[int, str]] = []
    for number, line in enumerate(lines, start=1):
        written = _without_end(line)
        if not written or written.startswith("#"):
            continue
        if len(patterns) == MAX_PATTERNS:
            faults.append((number, f"more than {MAX_PATTERNS} patterns"))
            break
        try:
            patterns.append(_compiled(written))
        except (ValueError, re.error) as error:
            faults.append((number, str(error)))
    names = [f"(?:{each.parts[-1].pattern})" for each in patterns if each.is_name and each.parts[-1] is not None]
    return Patterns(folder, tuple(patterns), re.compile("|".join(names) or "(?!)")), faults


def _without_end(line: str) -> str:
    """The line without the blanks at its end, but for one that a backslash keeps."""
    bare = line.rstrip(" ")
    backslashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if backslashes % 2 and len(bare) < len(line) else bare


def _compiled(written: str) -> _Pattern:
    takes_back = written.startswith("!")
    text = written.removeprefix("!")
    is_for_folders = text.endswith("/")
    text = text.removesuffix("/")
    if not text.strip("/"):
        raise ValueError("it names nothing")
    is_anchored = "/" in text
    names = text.removeprefix("/").split("/")
    parts = [_ANY_FOLDERS if _STARS.fullmatch(name) else _part(name) for name in names]
    if not is_anchored:
        parts.insert(0, _ANY_FOLDERS)
    if parts[-1] is _ANY_FOLDERS:  # everything inside, not the folder itself
        parts.append(_part("*"))
    return _Pattern(tuple(parts), takes_back, is_for_folders, not is_anchored and len(names) == 1)


def _part(name: str) -> re.Pattern[str]:
    """One part of a pattern. The regular expression never goes back over a star."""
    if name.endswith("\\") and (len(name) - len(name.rstrip("\\"))) % 2:
        raise ValueError("a backslash at its end")
    glob = "".join(_token(match) for match in _TOKEN.finditer(name))
    with warnings.catch_warnings(action="ignore"):  # of sets that look as if they were nested
        return re.compile(fnmatch.translate(glob))


def _token(match: re.Match[str]) -> str:
    """A piece of a part as `fnmatch` takes it."""
    if match["escaped"] is not None:
        return f"[{match['escaped']}]" if match["escaped"] in "*?[" else match["escaped"]
    if match["set"] is None:
        if match[0] == "[":
            raise ValueError("a bracket that nothing closes")
        return "*" if match[0][0] == "*" else match[0]
    signs = _CLASS.sub(lambda found: _CLASSES.get(found[1], ""), match["set"])
    negation = "!" if signs[:1] in ("!", "^") else ""
    signs = re.sub(r"\\(.)", r"\1", signs[len(negation) :])
    if signs[:1] in ("!", "^"):  # a sign like the others where it does not come first
        signs = signs[1:] + signs[0]
    if re.search(r"(.)-(.)", signs) and any(a > b for a, b in re.findall(r"(.)-(.)", signs)):
        raise ValueError(f"a range that is none in [{match['set']}]")
    return f"[{negation}{signs}]"
