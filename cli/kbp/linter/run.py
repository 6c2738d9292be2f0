"""Rules run over prompt files."""

from collections.abc import Iterable, Sequence

from kbp.diagnostics import Diagnostic, Finding, Report
from kbp.files import PromptFile
from kbp.linter.rules import RULES
from kbp.linter.rules.base import Rule
from kbp.linter.suppression import suppressions


def lint(files: Sequence[PromptFile], rules: Sequence[Rule] = tuple(RULES.values())) -> Report:
    """What the rules find in the files, sorted by path and place; of a file that is no prompt, that it is none."""
    prompts = [file for file in files if file.is_prompt]
    others = [file for file in files if not file.is_prompt]
    found: list[Diagnostic] = []
    for rule in rules:
        among = [file for file in (others if rule.of_others else prompts) if _looks_at(rule, file)]
        if rule.check is not None:
            found += [_diagnostic(rule, file, finding) for file in among for finding in rule.check(file)]
        if rule.check_across is not None:
            found += [_diagnostic(rule, file, finding) for file, finding in rule.check_across(among)]
    found = _said(found, files, rules)
    found.sort(key=lambda diagnostic: (diagnostic.path, diagnostic.span, diagnostic.rule))
    return Report(tuple(found), len(prompts), sum(file.is_refused for file in prompts))


def _said(found: list[Diagnostic], files: Iterable[PromptFile], rules: Sequence[Rule]) -> list[Diagnostic]:
    """What is left when each file has its suppressions, and what the suppressions that hid nothing add."""
    by_path: dict[str, list[Diagnostic]] = {}
    for diagnostic in found:
        by_path.setdefault(diagnostic.path, []).append(diagnostic)
    judged = {rule.name for rule in rules}
    said = []
    for file in files:
        asked = list(suppressions(file))
        own = by_path.pop(file.path, [])
        said += [diagnostic for diagnostic in own if not any(each.hides(diagnostic) for each in asked)]
        unused = [
            each for each in asked if (each.rule in judged or each.rule not in RULES) and not any(map(each.hides, own))
        ]
        for rule in rules:
            if rule.check_unused is not None and file.is_prompt and _looks_at(rule, file):
                said += [_diagnostic(rule, file, finding) for finding in rule.check_unused(unused)]
    return said


def _looks_at(rule: Rule, file: PromptFile) -> bool:
    if file.is_refused and not rule.even_refused:
        return False
    return bool(rule.refusal) or rule.looks_at(file.dialect)


def _diagnostic(rule: Rule, file: PromptFile, finding: Finding) -> Diagnostic:
    return Diagnostic(
        rule.name,
        finding.severity or rule.severity,
        file.path,
        file.document.lines,
        finding.span,
        finding.message,
        finding.help,
        finding.is_secret,
    )
