"""The manual of the rules: one page a rule, a table of all."""

from collections.abc import Iterable

from kbp.dialects import DIALECTS
from kbp.linter.rules.base import Rule
from kbp.output.jsontext import dump


def page(rule: Rule) -> str:
    """The manual of one rule as Markdown."""
    where = f" in {_dialects(rule)} files" if rule.needs else ""
    refusal = f"; {rule.refusal}: such a file does not become a prompt" if rule.refusal else ""
    return f"# {rule.name}\n\n{rule.severity}{where}{refusal}\n\n{rule.manual}\n"


def _dialects(rule: Rule) -> str:
    """The dialects that the rule looks at."""
    return ", ".join(dialect.name for dialect in DIALECTS.values() if rule.looks_at(dialect))


def table(rules: Iterable[Rule]) -> str:
    """All rules as a Markdown table."""
    lines = ["| rule | severity | dialects | what it wants |", "|---|---|---|---|"]
    for rule in rules:
        severity = ", ".join(part for part in (rule.severity, rule.refusal) if part)
        summary = rule.summary.replace("|", "\\|")
        lines.append(f"| `{rule.name}` | {severity} | {_dialects(rule) if rule.needs else 'all'} | {summary} |")
    return "\n".join(lines) + "\n"


def dialects() -> str:
    """The dialects as a Markdown table: how each writes an argument, and what it can say."""
    abilities = sorted({ability for dialect in DIALECTS.values() for ability in dialect.expresses})
    lines = [
        "| dialect | files | an argument | " + " | ".join(abilities) + " |",
        "|---|---|---|" + "---|" * len(abilities),
    ]
    for dialect in DIALECTS.values():
        says = ["yes" if ability in dialect.expresses else "–" for ability in abilities]
        lines.append(f"| `{dialect.name}` | {dialect.title} | `{dialect.spell('app')}` | {' | '.join(says)} |")
    return "\n".join(lines) + "\n"


def as_json(rules: Iterable[Rule]) -> str:
    """The rules as a JSON list."""
    content = [
        {
            "name": rule.name,
            "severity": rule.severity,
            "refusal": rule.refusal or None,
            "dialects": [dialect.name for dialect in DIALECTS.values() if rule.looks_at(dialect)],
            "summary": rule.summary,
            "manual": rule.manual,
        }
        for rule in rules
    ]
    return dump(content)
