"""The manual of the rules: one page a rule, a table of all."""

from collections.abc import Iterable

from kbp.dialects import DIALECTS
from kbp.linter.rules.base import Rule
from kbp.output.jsontext import dump


def page(rule: Rule) -> str:
    """The manual of one rule as Markdown."""
    where = f" in {', '.join(rule.dialects)} files" if rule.dialects else ""
    refuses = "; a file with it does not become a prompt" if rule.refuses else ""
    return f"# {rule.name}\n\n{rule.severity}{where}{refuses}\n\n{rule.manual}\n"


def table(rules: Iterable[Rule]) -> str:
    """All rules as a Markdown table."""
    lines = ["| rule | severity | dialects | what it wants |", "|---|---|---|---|"]
    for rule in rules:
        severity = f"{rule.severity}, refused" if rule.refuses else str(rule.severity)
        summary = rule.summary.replace("|", "\\|")
        lines.append(f"| `{rule.name}` | {severity} | {', '.join(rule.dialects) or 'all'} | {summary} |")
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
            "refuses": rule.refuses,
            "dialects": list(rule.dialects),
            "summary": rule.summary,
            "manual": rule.manual,
        }
        for rule in rules
    ]
    return dump(content)
