"""Patterns of paths, as ignore files and settings have them: those of git."""

import os
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Matching costs a power of the length of a path for each star. No ignore file that a person wrote has so many.
_MAX_STARS, _MAX_DOUBLE_STARS = 3, 2
_CLASSES = {
    "[:alpha:]": "a-zA-Z",
    "[:digit:]": "0-9",
    "[:alnum:]": "a-zA-Z0-9",
    "[:upper:]": "A-Z",
    "[:lower:]": "a-z",
    "[:xdigit:]": "0-9A-Fa-f",
    "[:space:]": " \t",
    "[:blank:]": " \t",
}
_CLASS = re.compile("|".join(map(re.escape, _CLASSES)))
_STARS = re.compile(r"\*+")


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns that hold below a folder. One without a slash fits at any depth, a later one wins, `!` takes back."""

    folder: str
    spec: "GitIgnoreSpec"

    def verdict(self, path: str, *, is_folder: bool = False) -> bool | None:
        """Whether the absolute path fits, False when a pattern takes it back; None when none says anything."""
        inside = os.path.relpath(path, self.folder).replace(os.sep, "/") + ("/" if is_folder else "")
        return self.spec.check_file(inside).include

    def hold(self, path: str) -> bool:
        """Whether the file at the absolute path fits, or a folder that it lies in does."""
        return bool(self.verdict(path))


def verdict(among: Sequence[Patterns], path: str, *, is_folder: bool = False) -> bool:
    """Whether a path fits: the last patterns that say anything decide."""
    for patterns in reversed(among):
        said = patterns.verdict(path, is_folder=is_folder)
        if said is not None:
            return said
    return False


def compiled(lines: Iterable[str], folder: str) -> tuple[Patterns, list[tuple[int, str]]]:
    """The patterns, and the lines that are none: their numbers from 1, and why."""
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    patterns: list[GitIgnoreSpecPattern] = []
    faults: list[tuple[int, str]] = []
    with warnings.catch_warnings(action="ignore"):  # of the regular expressions that brackets turn into
        for number, written in enumerate(lines, start=1):
            line = _CLASS.sub(lambda found: _CLASSES[found[0]], written)
            if not line:
                continue
            try:
                _check_stars(line)
                patterns.append(GitIgnoreSpecPattern(line))
            except (ValueError, re.error, OverflowError) as error:
                faults.append((number, str(error).lower()))
    return Patterns(folder, GitIgnoreSpec(patterns)), faults


def _check_stars(line: str) -> None:
    parts = [_STARS.sub("*", part) if part != "**" else part for part in line.strip("/").split("/")]
    if parts[:-1].count("**") > _MAX_DOUBLE_STARS or any(part.count("*") > _MAX_STARS for part in parts):
        raise ValueError("more stars than a pattern may have")
