"""Findings told apart from one run to the next, and files of those that are known already."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from kbp.diagnostics import Diagnostic, Report

_VERSION = 1
_MAX_FILE = 64 * 1024 * 1024


class Unusable(ValueError):
    """A baseline that cannot be read."""


def fingerprints(
    diagnostics: Iterable[Diagnostic], path_of: Callable[[str], str] = lambda path: path
) -> Iterator[tuple[Diagnostic, str]]:
    """Each diagnostic with what tells it apart: its file, rule and text, and which of several alike it is.

    Line numbers have no part in it, so lines added above change nothing. `path_of` says how a path is taken.
    """
    alike: Counter[tuple[str, str, str]] = Counter()
    for diagnostic in diagnostics:
        text = diagnostic.lines.text[diagnostic.span.start : diagnostic.span.end]
        key = path_of(diagnostic.path), diagnostic.rule, text
        parts = (*key, str(alike[key]))
        alike[key] += 1
        yield diagnostic, hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Known:
    """A finding that a baseline knows: its file, relative to the folder of the baseline, its rule and fingerprint."""

    path: str
    rule: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Scope:
    """What a run looked at: the paths of the files, None for all there are, and the rules."""

    paths: frozenset[str] | None
    rules: frozenset[str]

    def holds(self, known: Known, baseline: Path) -> bool:
        """Whether the run would have found it."""
        paths = None if self.paths is None else {_below(path, baseline) for path in self.paths}
        return known.rule in self.rules and (paths is None or known.path in paths)


def written(report: Report, path: Path, kept: Iterable[Known] = ()) -> str:
    """The text of the baseline at `path` of all that a report says, and of what is kept of an older one."""
    found = [
        Known(_below(diagnostic.path, path), diagnostic.rule, fingerprint)
        for diagnostic, fingerprint in _fingerprints(report, path)
    ]
    both = dict.fromkeys([*kept, *found])
    return json.dumps({"version": _VERSION, "findings": list(map(asdict, both))}, indent=1) + "\n"


def outside(known: Iterable[Known], scope: Scope, path: Path) -> list[Known]:
    """The findings of the baseline at `path` that a run did not look for."""
    return [each for each in known if not scope.holds(each, path)]


def read(path: Path) -> tuple[Known, ...]:
    """The findings that a baseline knows.

    Raises:
        OSError: it cannot be read.
        Unusable: it is no baseline.
    """
    with path.open("rb") as file:
        data = file.read(_MAX_FILE)
    try:
        content = json.loads(data)
        if content["version"] != _VERSION:
            raise Unusable(f"a baseline of version {content['version']}, which this kbp does not know")
        return tuple(
            Known(str(each["path"]), str(each["rule"]), str(each["fingerprint"])) for each in content["findings"]
        )
    except Unusable:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Unusable("no baseline: write one with --write-baseline") from None


def without_known(report: Report, known: Iterable[Known], scope: Scope, path: Path) -> tuple[Report, int]:
    """The report without what the baseline at `path` knows, and how many findings of what was looked at are gone."""
    pairs = list(_fingerprints(report, path))
    there = {fingerprint for _, fingerprint in pairs}
    fingerprints = {each.fingerprint for each in known}
    left = tuple(diagnostic for diagnostic, fingerprint in pairs if fingerprint not in fingerprints)
    gone = sum(each.fingerprint not in there and scope.holds(each, path) for each in known)
    return replace(report, diagnostics=left), gone


def _fingerprints(report: Report, path: Path) -> Iterator[tuple[Diagnostic, str]]:
    return fingerprints(report.diagnostics, lambda each: _below(each, path))


def _below(path: str, baseline: Path) -> str:
    """The path relative to the folder of the baseline, so that it holds wherever kbp is run."""
    return os.path.relpath(path, baseline.absolute().parent).replace(os.sep, "/")
