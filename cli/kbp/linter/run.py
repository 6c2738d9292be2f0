"""Rules run over prompt files."""

from collections.abc import Iterable, Sequence

from kbp.diagnostics import Diagnostic, Finding, Report
from kbp.files import PromptFile
from kbp.linter.rules import RULES
from kbp.linter.rules.base import Rule


def lint(files: Sequence[PromptFile], rules: Iterable[Rule] = RULES.values()) -> Report:
    """What the rules find in the files, sorted by path and place. Files that are no prompts are passed over."""
    prompts = [file for file in files if file.is_prompt]
    found: list[Diagnostic] = []
    for rule in rules:
        among = [file for file in prompts if _looks_at(rule, file)]
        if rule.check is not None:
            found += [_diagnostic(rule, file, finding) for file in among for finding in rule.check(file)]
        if rule.check_across is not None:
            found += [_diagnostic(rule, file, finding) for file, finding in rule.check_across(among)]
    found.sort(key=lambda diagnostic: (diagnostic.path, diagnostic.span, diagnostic.rule))
    return Report(tuple(found), len(prompts), sum(file.is_refused for file in prompts))


def _looks_at(rule: Rule, file: PromptFile) -> bool:
    if file.is_refused and not rule.even_refused:
        return False
    return bool(rule.refusal) or rule.looks_at(file.dialect)


def _diagnostic(rule: Rule, file: PromptFile, finding: Finding) -> Diagnostic:
    severity = finding.severity or rule.severity
    return Diagnostic(rule.name, severity, file.path, file.document.lines, finding.span, finding.message, finding.help)
