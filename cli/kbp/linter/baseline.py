"""Findings told apart from one run to the next, and files of those that are known already."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
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


def written(report: Report, path: Path) -> str:
    """The text of the baseline at `path` of all that a report says."""
    known = [
        {"path": _below(diagnostic.path, path), "rule": diagnostic.rule, "fingerprint": fingerprint}
        for diagnostic, fingerprint in _fingerprints(report, path)
    ]
    return json.dumps({"version": _VERSION, "findings": known}, indent=1) + "\n"


def read(path: Path) -> frozenset[str]:
    """The fingerprints of the findings that a baseline knows.

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
        return frozenset(str(finding["fingerprint"]) for finding in content["findings"])
    except Unusable:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Unusable("no baseline: write one with --write-baseline") from None


def without_known(report: Report, known: frozenset[str], path: Path) -> tuple[Report, int]:
    """The report without what the baseline at `path` knows, and how many of its findings are gone."""
    pairs = list(_fingerprints(report, path))
    left = tuple(diagnostic for diagnostic, fingerprint in pairs if fingerprint not in known)
    gone = len(known - {fingerprint for _, fingerprint in pairs})
    return replace(report, diagnostics=left), gone


def _fingerprints(report: Report, path: Path) -> Iterator[tuple[Diagnostic, str]]:
    return fingerprints(report.diagnostics, lambda each: _below(each, path))


def _below(path: str, baseline: Path) -> str:
    """The path relative to the folder of the baseline, so that it holds wherever kbp is run."""
    return os.path.relpath(path, baseline.absolute().parent).replace(os.sep, "/")
