"""The manual of the rules: one page a rule, a table of all."""

from collections.abc import Iterable

from kbp.dialects import DIALECTS
from kbp.linter.rules.base import Rule
from kbp.output.jsontext import dump


def page(rule: Rule) -> str:
    """The manual of one rule as Markdown."""
    where = f" in {_dialects(rule)} files" if rule.needs else ""
    refusal = f"; {rule.refusal}: such a file does not become a prompt" if rule.refusal else ""
    also = f"; {rule.also}" if rule.also else ""
    state = "" if rule.is_default else "; off unless it is selected"
    return f"# {rule.name}\n\n{rule.severity}{where}{also}{refusal}{state}\n\n{rule.manual}\n\n{_use(rule)}\n"


_FIXES = {
    "safe": "`kbp lint --fix` repairs it.",
    "unsafe": "`kbp lint --fix --unsafe-fixes` fixes it.",
    "safe or unsafe": "`kbp lint --fix` fixes the plain case, `--unsafe-fixes` the others.",
}


def _use(rule: Rule) -> str:
    """How the rule's findings are fixed, and how it is switched on or off."""
    fixed = f"{_FIXES[rule.fixes]}\n\n" if rule.fixes else ""
    if not rule.is_default:
        setting = f'`extend-select = ["{rule.name}"]` below `[lint]` in `kbp.toml`'
        return f"{fixed}Switch it on: `--extend-select {rule.name}`, or {setting}."
    if rule.check_skipped:
        return (
            f'{fixed}Switch it off: `--ignore {rule.name}`, or `ignore = ["{rule.name}"]` below `[lint]` in `kbp.toml`.'
        )
    return (
        f"{fixed}Switch it off: in a frontmatter by the comment `# kbp: ignore[{rule.name}]`, in a run by "
        f'`--ignore {rule.name}`, in `kbp.toml` by `ignore = ["{rule.name}"]` below `[lint]`.'
    )


def _dialects(rule: Rule) -> str:
    """The dialects that the rule looks at."""
    return ", ".join(dialect.name for dialect in DIALECTS.values() if rule.looks_at(dialect))


def table(rules: Iterable[Rule]) -> str:
    """All rules as a Markdown table."""
    lines = ["| rule | severity | dialects | fix | what it wants |", "|---|---|---|---|---|"]
    for rule in rules:
        severity = ", ".join(
            part for part in (rule.severity, rule.also, rule.refusal, "" if rule.is_default else "off") if part
        )
        summary = rule.summary.replace("|", "\\|")
        where = _dialects(rule) if rule.needs else "all"
        lines.append(f"| `{rule.name}` | {severity} | {where} | {rule.fixes or '–'} | {summary} |")
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
            "also": rule.also or None,
            "refusal": rule.refusal or None,
            "default": rule.is_default,
            "fix": rule.fixes or None,
            "dialects": [dialect.name for dialect in DIALECTS.values() if rule.looks_at(dialect)],
            "summary": rule.summary,
            "manual": rule.manual,
        }
        for rule in rules
    ]
    return dump(content)
