"""Rules run over prompt files."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kbp.diagnostics import Diagnostic, Finding, Report
from kbp.files import PromptFile, read_bytes, shown
from kbp.linter.choice import Choice
from kbp.linter.rules import RULES
from kbp.linter.rules.base import Rule
from kbp.linter.rules.safety import secrets_in
from kbp.linter.suppression import suppressions
from kbp.text import Lines, Problem
from kbp.walk import Skipped

DEFAULT = Choice()


def lint(
    files: Sequence[PromptFile], choice: Choice = DEFAULT, skipped: Iterable[Skipped] = (), *, reveal: bool = False
) -> Report:
    """What the rules find in the files, sorted by path and place; of a file that is no prompt, that it is none.

    Args:
        files: the prompt files, and others that were found with them.
        choice: the rules to run.
        skipped: what the search for the files passed over.
        reveal: whether findings may hold secrets; those that are printed must not.
    """
    prompts = [file for file in files if file.is_prompt]
    others = [file for file in files if not file.is_prompt]
    found: list[Diagnostic] = []
    alike = _alike(prompts)
    for rule in choice.rules:
        among = others if rule.of_others else [each for files in alike if _looks_at(rule, files[0]) for each in files]
        if rule.check is not None:
            found += [_diagnostic(rule, file, finding, choice) for file in among for finding in rule.check(file)]
        if rule.check_to is not None:
            check = rule.check_to
            pairs = ((file, target) for file in among for target in choice.targets)
            found += [
                _diagnostic(rule, file, finding, choice) for file, target in pairs for finding in check(file, target)
            ]
        if rule.check_across is not None:
            found += [_diagnostic(rule, file, finding, choice) for file, finding in rule.check_across(among)]
    found = _said(found, files, choice)
    found += _of_search(skipped, choice)
    if not reveal:
        found = list(_without_secrets(found))
    found.sort(key=lambda diagnostic: (diagnostic.path, diagnostic.span, diagnostic.rule))
    return Report(tuple(found), len(prompts), sum(file.is_refused for file in prompts))


def _alike(files: Iterable[PromptFile]) -> list[list[PromptFile]]:
    """The files in groups that a rule looks at or does not: of one dialect, refused or not."""
    groups: dict[tuple[str, bool], list[PromptFile]] = {}
    for file in files:
        groups.setdefault((file.dialect.name if file.dialect else "", file.is_refused), []).append(file)
    return list(groups.values())


def _said(found: list[Diagnostic], files: Sequence[PromptFile], choice: Choice) -> list[Diagnostic]:
    """What is left when each file has its suppressions, and what the suppressions that hid nothing add."""
    by_path: dict[str, list[Diagnostic]] = {}
    for diagnostic in found:
        by_path.setdefault(diagnostic.path, []).append(diagnostic)
    # Of files that were named one by one, others that they collide with may not be there.
    is_part = any(file.place.outright for file in files)
    judged = {rule.name for rule in choice.rules if not (is_part and rule.check_across)}
    said = []
    for file in files:
        asked = list(suppressions(file))
        own = by_path.pop(file.path, [])
        if not asked and not own:
            continue
        left = [diagnostic for diagnostic in own if not any(each.hides(diagnostic) for each in asked)]
        unused = [
            each for each in asked if (each.rule in judged or each.rule not in RULES) and not any(map(each.hides, own))
        ]
        for rule in choice.rules:
            if rule.check_unused is not None and file.is_prompt and _looks_at(rule, file):
                left += [_diagnostic(rule, file, finding, choice) for finding in rule.check_unused(unused)]
        ignored = choice.ignored(file.place.path)
        said += [diagnostic for diagnostic in left if diagnostic.rule not in ignored]
    return said


def _of_search(skipped: Iterable[Skipped], choice: Choice) -> list[Diagnostic]:
    """What the rules find in what was passed over."""
    rules = {rule.name: rule for rule in choice.rules if rule.check_skipped is not None}
    found = []
    for each in dict.fromkeys(skipped):
        rule = rules.get(each.rule or "")
        if rule is None or rule.check_skipped is None:
            continue
        data = read_bytes(each.path)
        text = "" if isinstance(data, Problem) else data.decode(errors="replace")
        if rule.name in choice.ignored(each.path):
            continue
        finding = rule.check_skipped(each, text)
        severity = choice.severity(rule, finding.severity)
        place = shown(each.path), Lines(text), finding.span
        found.append(Diagnostic(rule.name, severity, *place, finding.message, finding.help))
    return found


def _without_secrets(found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """The diagnostics with no secret of their file in their words, lines and fixes."""
    known: dict[int, re.Pattern[str] | None] = {}
    for diagnostic in found:
        key = id(diagnostic.lines)
        if key not in known:
            known[key] = secrets_in(diagnostic.lines.text)
        pattern = known[key]
        if pattern is None:
            yield diagnostic
            continue
        fix = diagnostic.fix
        holds = fix is not None and any(pattern.search(edit.text) for edit in fix.edits)
        line = diagnostic.lines.line(diagnostic.start.line)
        yield replace(
            diagnostic,
            message=pattern.sub("…", diagnostic.message),
            help=pattern.sub("…", diagnostic.help) if diagnostic.help else None,
            is_secret=diagnostic.is_secret or pattern.search(line) is not None,
            fix=None if holds else fix,
        )


def _looks_at(rule: Rule, file: PromptFile) -> bool:
    if file.is_refused and not rule.even_refused:
        return False
    return bool(rule.refusal) or rule.looks_at(file.dialect)


def _diagnostic(rule: Rule, file: PromptFile, finding: Finding, choice: Choice) -> Diagnostic:
    return Diagnostic(
        rule.name,
        choice.severity(rule, finding.severity),
        file.path,
        file.document.lines,
        finding.span,
        finding.message,
        finding.help,
        finding.is_secret,
        finding.fix,
    )
