"""What a rule is: one function whose docstring is its manual."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kbp.diagnostics import Finding, Severity
from kbp.dialects.base import Ability, Dialect
from kbp.files import PromptFile
from kbp.linter.suppression import Suppression
from kbp.walk import Skipped

FIRST = "0.1.0"
"""The version that brought the first rules."""
Check = Callable[[PromptFile], Iterator[Finding]]
CheckUnused = Callable[[list[Suppression]], Iterator[Finding]]
CheckAcross = Callable[[Sequence[PromptFile]], Iterator[tuple[PromptFile, Finding]]]
CheckSkipped = Callable[[Skipped, str], Finding]
CheckTo = Callable[[PromptFile, Dialect], Iterator[Finding]]
Fixes = Literal["", "safe", "unsafe", "safe or unsafe"]

_EXAMPLE = re.compile(
    r"^(?P<kind>Bad|Good) `(?P<path>[^`]+)`(?P<raw> as bytes)?:\n\n(?P<text>(?:(?: {4}.*)?\n)+)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Example:
    """A file of a rule's manual: whether it is a good one, where it lies, and its bytes."""

    is_good: bool
    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Rule:
    """One check and its manual.

    Attributes:
        name: its only id, in kebab case.
        severity: that of its findings unless one says otherwise.
        needs: what a dialect must express for the rule to look at its files; None: it looks at all.
        refusal: which of its findings keep a file from becoming a prompt; empty: none does.
        manual: what it wants and why, with examples.
        check: the findings in one file.
        check_across: the findings in all files of a run together.
        check_unused: the findings about suppressions of a file that hid nothing.
        even_refused: whether it looks at files that are refused for another reason.
        check_skipped: the finding about a path of its name that the search passed over, given the text of that file.
        check_to: the findings in one file that is to be converted to a dialect.
        of_others: whether it looks at the files that are no prompts, and at them alone.
        fixes: what its fixes are, empty when it has none.
        also: which of its findings have another severity.
        is_default: whether it is run when nothing is selected.
        since: the version that brought it; until the next minor version its findings are infos.
    """

    name: str
    severity: Severity
    manual: str
    needs: Ability | None = None
    refusal: str = ""
    check: Check | None = None
    check_across: CheckAcross | None = None
    check_unused: CheckUnused | None = None
    check_skipped: CheckSkipped | None = None
    check_to: CheckTo | None = None
    even_refused: bool = False
    of_others: bool = False
    fixes: Fixes = ""
    also: str = ""
    is_default: bool = True
    since: str = FIRST

    def looks_at(self, dialect: Dialect | None) -> bool:
        """Whether the rule is about files of that dialect; None is a file whose dialect was left open."""
        return self.needs is None or dialect is None or self.needs in dialect.expresses

    @property
    def summary(self) -> str:
        """The first sentence of the manual."""
        return self.manual.partition("\n")[0].removesuffix(".")

    @property
    def examples(self) -> tuple[Example, ...]:
        """The files of the manual."""
        return tuple(_example(match) for match in _EXAMPLE.finditer(self.manual + "\n"))


def _example(match: re.Match[str]) -> Example:
    text = "".join(line[4:] + "\n" for line in match["text"].rstrip("\n").splitlines())
    data = text.encode("latin-1").decode("unicode_escape").encode("latin-1") if match["raw"] else text.encode()
    return Example(match["kind"] == "Good", match["path"], data)


def rule(
    severity: Severity,
    *,
    needs: Ability | None = None,
    even_refused: bool = False,
    fixes: Fixes = "",
    also: str = "",
    is_default: bool = True,
    since: str = FIRST,
) -> Callable[[Check], Rule]:
    """Make a rule of a function over one file. It is named after the function and described by its docstring."""

    def make(check: Check) -> Rule:
        return Rule(
            _name(check),
            severity,
            _manual(check),
            needs,
            check=check,
            even_refused=even_refused,
            fixes=fixes,
            also=also,
            is_default=is_default,
            since=since,
        )

    return make


def rule_of_others(severity: Severity, *, also: str = "") -> Callable[[Check], Rule]:
    """Make a rule of a function over a file that is no prompt."""

    def make(check: Check) -> Rule:
        return Rule(_name(check), severity, _manual(check), check=check, of_others=True, also=also)

    return make


def found_in_reading(
    severity: Severity = Severity.ERROR,
    *,
    needs: Ability | None = None,
    refusal: str = "refused",
    fixes: Fixes = "",
    unless: Callable[[PromptFile], object] = lambda file: None,
) -> Callable[[Check], Rule]:
    """Make a rule that reports the problems of its name that reading and parsing left, each an error.

    The function may yield further findings, which have the rule's severity. `unless` something else is wrong with a
    file, from which the problems follow.
    """

    def make(more: Check) -> Rule:
        name = _name(more)

        def check(file: PromptFile) -> Iterator[Finding]:
            for problem in () if unless(file) else file.problems:
                if problem.rule == name:
                    yield Finding(problem.span, problem.message, problem.help, Severity.ERROR, fix=problem.fix)
            yield from more(file)

        return Rule(name, severity, _manual(more), needs, refusal, check, even_refused=True, fixes=fixes)

    return make


def rule_across(severity: Severity, *, also: str = "") -> Callable[[CheckAcross], Rule]:
    """Make a rule of a function over all files of a run."""

    def make(check: CheckAcross) -> Rule:
        return Rule(_name(check), severity, _manual(check), check_across=check, also=also)

    return make


def rule_of_conversion(severity: Severity) -> Callable[[CheckTo], Rule]:
    """Make a rule of a function over one file and a dialect that it is to be converted to. It is off by default."""

    def make(check: CheckTo) -> Rule:
        return Rule(_name(check), severity, _manual(check), check_to=check, is_default=False)

    return make


def rule_of_suppressions(severity: Severity, *, fixes: Fixes = "") -> Callable[[CheckUnused], Rule]:
    """Make a rule of a function over the suppressions of a file that hid nothing."""

    def make(check: CheckUnused) -> Rule:
        return Rule(_name(check), severity, _manual(check), check_unused=check, fixes=fixes)

    return make


def found_in_search(severity: Severity) -> Callable[[CheckSkipped], Rule]:
    """Make a rule of a function over a path that the search passed over under its name."""

    def make(check: CheckSkipped) -> Rule:
        return Rule(_name(check), severity, _manual(check), check_skipped=check)

    return make


def _name(function: Callable[..., object]) -> str:
    return function.__name__.replace("_", "-")


def _manual(function: Callable[..., object]) -> str:
    """The docstring without the indentation of its code; tabs of its examples stay."""
    return "\n".join(line.removeprefix("    ") for line in (function.__doc__ or "").strip().splitlines())
