"""Which rules are run, how bad what they find is, and on which files they are not."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kbp import __version__
from kbp.configuration import Configuration
from kbp.diagnostics import Severity
from kbp.dialects import dialect_called
from kbp.dialects.base import Dialect
from kbp.linter.rules import RULES
from kbp.linter.rules.base import FIRST, Rule
from kbp.patterns import Patterns

ALL, OFF = "all", "off"


@dataclass(frozen=True)
class Choice:
    """The rules of a run.

    Attributes:
        rules: those to run.
        severities: what goes over a rule's own severity and that of its findings.
        per_file: rules whose findings in the files that patterns fit are not said.
        targets: the dialects that files are to be converted to.
    """

    rules: tuple[Rule, ...] = tuple(rule for rule in RULES.values() if rule.is_default)
    severities: Mapping[str, Severity] = field(default_factory=dict)
    per_file: tuple[tuple[Patterns, tuple[str, ...]], ...] = ()
    targets: tuple[Dialect, ...] = ()

    def of_one_file(self) -> "Choice":
        """The same without the rules that look at several files."""
        return replace(self, rules=tuple(rule for rule in self.rules if rule.check_across is None))

    def severity(self, rule: Rule, own: Severity | None) -> Severity:
        """How bad a finding of the rule is, which may have a severity of its own."""
        return self.severities.get(rule.name) or own or rule.severity

    def ignored(self, path: Path) -> frozenset[str]:
        """The rules whose findings in the file at the path are not said."""
        return frozenset(name for patterns, rules in self.per_file if patterns.hold(str(path)) for name in rules)


def choose(
    configuration: Configuration,
    faults: list[str],
    *,
    select: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    to: Dialect | None = None,
) -> Choice:
    """The choice that the settings and the command line make; what is no rule is put to the faults.

    The command line wins: a selection on it replaces that of the settings, and what it names is run, ignored or not.
    A dialect to convert to runs the rules about that; without one they look at the targets in the settings.
    """
    where = f"{configuration.path}: " if configuration.path else ""
    default = {rule.name for rule in RULES.values() if rule.is_default}
    names = set(_rules(configuration.value("lint.select"), f"{where}lint.select", faults)) or default
    names |= set(_rules(configuration.value("lint.extend-select"), f"{where}lint.extend-select", faults))
    severities = _severities(configuration.value("lint.severity"), f"{where}lint.severity", faults)
    off = {name for name, severity in severities.items() if severity is None}
    names -= off | set(_rules(configuration.value("lint.ignore"), f"{where}lint.ignore", faults))
    if select:
        names = set(_rules(select, "--select", faults))
    names |= set(_rules(extend_select, "--extend-select", faults))
    of_conversion = {rule.name for rule in RULES.values() if rule.check_to is not None}
    words = [dialect_called(each["to"]) for each in configuration.value("convert.targets")]
    targets = [to] if to else [each for each in words if each]
    names = names | of_conversion if to else names if targets else names - of_conversion
    names -= set(_rules(ignore, "--ignore", faults))
    for _, rules in configuration.per_file_ignores:
        _rules(rules, f"{where}lint.per-file-ignores", faults)
    per_file = tuple(
        (patterns, tuple(RULES) if ALL in rules else rules) for patterns, rules in configuration.per_file_ignores
    )
    return Choice(
        tuple(rule for rule in RULES.values() if rule.name in names),
        {**fresh(RULES.values(), __version__), **{name: each for name, each in severities.items() if each}},
        per_file,
        tuple(targets),
    )


def _rules(words: Sequence[str], where: str, faults: list[str]) -> list[str]:
    """The rules that are named, one after the other or parted by commas."""
    names = [name.strip() for word in words for name in word.split(",") if name.strip()]
    if words and not names:
        faults.append(f"{where}: no rule is named")
    faults += [_unknown(name, where) for name in names if name not in RULES and name != ALL]
    return list(RULES) if ALL in names else [name for name in names if name in RULES]


def _unknown(name: str, where: str) -> str:
    near = difflib.get_close_matches(name.lower().replace("_", "-"), RULES, n=1)
    return f"{where}: there is no rule '{name}'" + (f"; did you mean '{near[0]}'?" if near else "")


def _severities(written: Mapping[str, str], where: str, faults: list[str]) -> dict[str, Severity | None]:
    """The severities by rule; None: off."""
    found: dict[str, Severity | None] = {}
    words = [*map(str, Severity), OFF]
    for name, word in written.items():
        if name not in RULES:
            faults.append(_unknown(name, where))
        elif word not in words:
            faults.append(f"{where}: {name} cannot be '{word}'; it is one of {', '.join(words)}")
        else:
            found[name] = None if word == OFF else Severity(word)
    return found


def fresh(rules: Iterable[Rule], version: str) -> dict[str, Severity]:
    """The rules that came with this minor version, which say nothing worse than an info until the next one.

    A rule that an update adds must not fail a pipeline. All those of the first version are old.
    """
    minor = version.split(".")[:2]
    return {rule.name: Severity.INFO for rule in rules if rule.since.split(".")[:2] == minor and rule.since != FIRST}
