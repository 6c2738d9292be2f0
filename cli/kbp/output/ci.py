"""A lint report as what continuous integration reads: GitHub annotations, GitLab code quality, SARIF."""

import os
from typing import Any
from urllib.parse import quote

from kbp import __version__, settings
from kbp.diagnostics import Diagnostic, Report, Severity
from kbp.linter.baseline import fingerprints
from kbp.linter.rules import RULES
from kbp.linter.rules.base import Rule
from kbp.output.jsontext import dump
from kbp.output.manual import page
from kbp.text import Lines, Span

_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_GITLAB = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}
_SARIF = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SHOWN_BY_GITHUB = 10
"""How many annotations of one severity GitHub shows of a step."""


def github(report: Report, color: bool = False) -> str:
    """The annotation lines of GitHub Actions, errors first."""
    order = list(Severity)
    ranked = sorted(report.diagnostics, key=lambda diagnostic: order.index(diagnostic.severity))
    return "".join(map(_annotation, ranked))


def _annotation(diagnostic: Diagnostic) -> str:
    start, end = diagnostic.start, diagnostic.end
    place = {"file": _path(diagnostic.path), "line": start.line, "endLine": end.line}
    if start.line == end.line:
        place |= {"col": start.column, "endColumn": end.column}
    place["title"] = f"kbp {diagnostic.rule}"
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in place.items())
    return f"::{_GITHUB[diagnostic.severity]} {properties}::{_message(diagnostic.said)}\n"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def hidden_by_github(report: Report) -> int:
    """How many annotations GitHub does not show."""
    return sum(max(report.count(severity) - SHOWN_BY_GITHUB, 0) for severity in Severity)


def gitlab(report: Report, color: bool = False) -> str:
    """The code quality report of GitLab."""
    content = [
        {
            "description": f"{diagnostic.rule}: {diagnostic.said}",
            "check_name": diagnostic.rule,
            "fingerprint": fingerprint,
            "severity": _GITLAB[diagnostic.severity],
            "location": {
                "path": _path(diagnostic.path),
                "lines": {"begin": diagnostic.start.line, "end": diagnostic.end.line},
            },
        }
        for diagnostic, fingerprint in fingerprints(report.diagnostics, _path)
    ]
    return dump(content)


def sarif(report: Report, color: bool = False) -> str:
    """The report as SARIF 2.1.0, with the manuals of the rules, fixes and fingerprints."""
    index = {name: at for at, name in enumerate(RULES)}
    results = [
        _result(diagnostic, index[diagnostic.rule], fingerprint)
        for diagnostic, fingerprint in fingerprints(report.diagnostics, _path)
    ]
    driver = {"name": "kbp", "version": __version__, "rules": list(map(_rule, RULES.values()))}
    run = {"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
    return dump({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.manual, "markdown": page(rule)},
        "defaultConfiguration": {"level": _SARIF[rule.severity], "enabled": rule.is_default},
    }


def _result(diagnostic: Diagnostic, index: int, fingerprint: str) -> dict[str, Any]:
    location = {"uri": quote(_path(diagnostic.path).encode("utf-8", "surrogateescape"))}
    region = _region(diagnostic.lines, diagnostic.span)
    result: dict[str, Any] = {
        "ruleId": diagnostic.rule,
        "ruleIndex": index,
        "level": _SARIF[diagnostic.severity],
        "message": {"text": diagnostic.said},
        "locations": [{"physicalLocation": {"artifactLocation": location, "region": region}}],
        "partialFingerprints": {"kbp/v1": fingerprint},
    }
    fix = diagnostic.placed_fix
    if fix is not None:
        replacements = [
            {"deletedRegion": _region(diagnostic.lines, edit.span), "insertedContent": {"text": edit.text}}
            for edit in fix.edits
        ]
        said = "a safe fix" if fix.is_safe else "an unsafe fix"
        change = {"artifactLocation": location, "replacements": replacements}
        result["fixes"] = [{"description": {"text": said}, "artifactChanges": [change]}]
    return result


def _region(lines: Lines, span: Span) -> dict[str, int]:
    start, end = lines.position(span.start), lines.position(span.end)
    return {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}


def _path(path: str) -> str:
    """The path below the checkout, as the service that runs the pipeline counts it."""
    checkout = settings.checkout()
    found = os.path.relpath(path, checkout) if checkout else path
    return (path if found.startswith("..") else found).replace(os.sep, "/")
