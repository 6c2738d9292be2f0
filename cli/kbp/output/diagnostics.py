"""A lint report as text and as JSON."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from kbp.diagnostics import Diagnostic, Report, Severity
from kbp.display import counted, fit, safe_line, width
from kbp.output.jsontext import dump
from kbp.output.style import styled

_TAB = "    "
_MAX_CELLS = 160
_MAX_SIGNS = 200


def full(report: Report, color: bool = False) -> str:
    """Each finding with its line and a caret, the way out below."""
    return "".join(line + "\n" for diagnostic in report.diagnostics for line in _full(diagnostic, color))


def concise(report: Report, color: bool = False) -> str:
    """Each finding on one line: `path:line:column: severity[rule] message`."""
    return "".join(f"{_head(diagnostic, color)}{_help(diagnostic)}\n" for diagnostic in report.diagnostics)


def as_json(report: Report, color: bool = False) -> str:
    """The report as the JSON object that is documented as a public contract."""
    content = {
        "diagnostics": [_object(diagnostic) for diagnostic in report.diagnostics],
        "files": report.files,
        "refused": report.refused,
    }
    return dump(content)


FORMATS: dict[str, Callable[[Report, bool], str]] = {"full": full, "concise": concise, "json": as_json}


def summary(report: Report) -> str:
    """One sentence: how much was found in how many files."""
    counts = [(report.count(severity), str(severity)) for severity in Severity]
    parts = [counted(count, noun) for count, noun in counts if count]
    found = ", ".join(parts[:-1]) + (" and " if parts[:-1] else "") + parts[-1] if parts else "nothing to report"
    refused = f"; {counted(report.refused, 'file')} refused" if report.refused else ""
    return f"Found {found} in {counted(report.files, 'file')}{refused}.{_fixable(report)}"


def _fixable(report: Report) -> str:
    """What `--fix` could change."""
    fixes = [diagnostic.fix for diagnostic in report.diagnostics if diagnostic.fix is not None]
    safe = sum(fix.is_safe for fix in fixes)
    if not fixes:
        return ""
    if not safe:
        return f" {len(fixes)} can be fixed with `kbp lint --fix --unsafe-fixes`."
    more = f", {len(fixes) - safe} more with `--unsafe-fixes`" if len(fixes) > safe else ""
    return f" {safe} can be fixed with `kbp lint --fix`{more}."


def _head(diagnostic: Diagnostic, color: bool) -> str:
    start = diagnostic.start
    place = styled(f"{safe_line(diagnostic.path)}:{start.line}:{start.column}:", "path", color)
    kind = styled(f"{diagnostic.severity}[{diagnostic.rule}]", diagnostic.severity.value, color)
    return f"{place} {kind} {safe_line(diagnostic.message)}"


def _help(diagnostic: Diagnostic) -> str:
    return f"; {safe_line(diagnostic.help)}" if diagnostic.help else ""


def _full(diagnostic: Diagnostic, color: bool) -> Iterator[str]:
    yield _head(diagnostic, color)
    number = str(diagnostic.start.line)
    margin = " " * len(number)
    line, caret = _snippet(diagnostic)
    if line.strip() and not diagnostic.is_secret:
        yield f"{margin} {styled('|', 'faint', color)}"
        yield f"{styled(f'{number} |', 'faint', color)} {line}"
        yield f"{margin} {styled('|', 'faint', color)} {styled(caret, diagnostic.severity.value, color)}"
    if diagnostic.help:
        yield f"{margin} {styled('=', 'faint', color)} help: {safe_line(diagnostic.help)}"


def _snippet(diagnostic: Diagnostic) -> tuple[str, str]:
    """The line of a finding made safe and cut to what a terminal shows, and the carets below it."""
    start, end = diagnostic.start, diagnostic.end
    text = diagnostic.lines.line(start.line)
    last = end.column - 1 if end.line == start.line else len(text)
    before, marked, after = text[: start.column - 1], text[start.column - 1 : last], text[last:]
    # A line may be long and hold many findings: only what is shown of it is looked at.
    is_cut = len(before) > _MAX_SIGNS
    before, marked, after = before[-_MAX_SIGNS:], marked[:_MAX_SIGNS], after[:_MAX_SIGNS]
    before = "…" + before if is_cut else before
    before, marked, after = _cut_before(_visible(before)), _visible(marked), _visible(after)
    marked = fit(marked, _MAX_CELLS)
    line = fit(before + marked + after, _MAX_CELLS + width(before) + width(marked))
    return line.rstrip(), " " * width(before) + "^" * max(width(marked), 1)


def _cut_before(text: str) -> str:
    """What stands before the finding; of a long line only its last piece."""
    if width(text) <= _MAX_CELLS // 2:
        return text
    return "…" + text[-_MAX_CELLS // 4 :]


def _visible(text: str) -> str:
    return safe_line(text.replace("\t", _TAB))


def _object(diagnostic: Diagnostic) -> dict[str, Any]:
    start, end = diagnostic.start, diagnostic.end
    return {
        "rule": diagnostic.rule,
        "severity": diagnostic.severity,
        "path": diagnostic.path,
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
        "message": diagnostic.said,
        "fix": _fix(diagnostic),
    }


def _fix(diagnostic: Diagnostic) -> dict[str, Any] | None:
    fix = diagnostic.placed_fix
    if fix is None:
        return None
    edits = []
    for edit in fix.edits:
        start, end = diagnostic.lines.position(edit.span.start), diagnostic.lines.position(edit.span.end)
        place = {"line": start.line, "column": start.column, "end_line": end.line, "end_column": end.column}
        edits.append({**place, "text": edit.text})
    return {"safe": fix.is_safe, "edits": edits}


def statistics(report: Report, color: bool = False) -> str:
    """How often each rule found something, the commonest first; `*` marks what has a fix."""
    rows = Counter((diagnostic.rule, diagnostic.severity) for diagnostic in report.diagnostics)
    fixable = Counter((each.rule, each.severity) for each in report.diagnostics if each.fix is not None)
    room = len(str(max(rows.values(), default=0)))
    lines = []
    for (rule, severity), count in sorted(rows.items(), key=lambda row: (-row[1], row[0])):
        mark = " *" if fixable[rule, severity] else ""
        lines.append(f"{count:{room}}  {styled(f'{severity:7}', severity.value, color)}  {rule}{mark}\n")
    return "".join(lines)


def statistics_as_json(report: Report, color: bool = False) -> str:
    """The same as a JSON list."""
    rows = Counter((diagnostic.rule, diagnostic.severity) for diagnostic in report.diagnostics)
    ranked = sorted(rows.items(), key=lambda row: (-row[1], row[0]))
    return dump([{"rule": rule, "severity": severity, "count": count} for (rule, severity), count in ranked])
