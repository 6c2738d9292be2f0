"""Fixes applied to a file: span edits, pass after pass, each kept only if the file is the better for it."""

from bisect import bisect, insort
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kbp.diagnostics import Diagnostic, Severity
from kbp.files import PromptFile, reread
from kbp.linter.choice import Choice
from kbp.linter.run import lint
from kbp.text import Edit, Span

_MAX_PASSES = 100
_MAX_ALONE = 100
_MAX_FAILED = 300


@dataclass(frozen=True)
class Fixed:
    """A file as the fixes leave it, and how many findings of each rule they were for.

    `is_copy` says that another path leads to the same file, which is fixed by that one.
    """

    before: PromptFile
    after: PromptFile
    counts: Counter[str]
    is_copy: bool = False


def fix(file: PromptFile, choice: Choice, *, unsafe: bool = False) -> Fixed:
    """The file with the safe fixes of the rules applied, and the unsafe ones too if asked for.

    A pass applies what does not overlap, and passes are made until nothing changes. Fixes are kept only if the file
    then reads, is still the prompt it was, and the rules have so much less to say of it.
    """
    return _Fixing(file, choice, unsafe).run()


class _Fixing:
    def __init__(self, file: PromptFile, choice: Choice, unsafe: bool) -> None:
        self.before = self.file = file
        self.choice = choice.of_one_file()
        self.unsafe = unsafe
        self.counts: Counter[str] = Counter()
        self.failed: set[tuple[str, int]] = set()

    def run(self) -> Fixed:
        for _ in range(_MAX_PASSES if self.file.document.is_exact else 0):
            found = self._found()
            wanted = [each for each in found if self._is_wanted(each)]
            failed = len(self.failed)
            is_kept = wanted and any(self._apply(group, found) for group in self._groups(wanted))
            if not is_kept and (len(self.failed) == failed or len(self.failed) >= _MAX_FAILED):
                break
        return Fixed(self.before, self.file, self.counts)

    def _found(self) -> tuple[Diagnostic, ...]:
        return lint([self.file], self.choice, reveal=True).diagnostics

    def _is_wanted(self, diagnostic: Diagnostic) -> bool:
        fix = diagnostic.fix
        return fix is not None and (fix.is_safe or self.unsafe) and _key(diagnostic) not in self.failed

    def _groups(self, wanted: Sequence[Diagnostic]) -> Iterable[list[Diagnostic]]:
        """What to try together, until something is kept: all of it, what keeps the file from reading, each alone."""
        together = _apart(wanted)
        yield together
        faults = {problem.rule for problem in self.file.document.problems}
        reading = [each for each in together if each.rule in faults]
        if 1 < len(reading) < len(together):
            yield reading
        if len(together) > 1:
            yield from ([each] for each in wanted[:_MAX_ALONE])

    def _apply(self, group: Sequence[Diagnostic], found: Sequence[Diagnostic]) -> bool:
        """Apply fixes together and say whether they are kept."""
        edits = [edit for diagnostic in group if diagnostic.fix for edit in diagnostic.fix.edits]
        after = reread(self.file, edited(self.file.document.text, edits))
        if self._is_better(after, group, found):
            self.file = after
            self.counts.update(diagnostic.rule for diagnostic in group)
            return True
        if len(group) == 1:
            self.failed.add(_key(group[0]))
        return False

    def _is_better(self, after: PromptFile, group: Sequence[Diagnostic], found: Sequence[Diagnostic]) -> bool:
        before = self.file
        if after.document.problems or not after.is_prompt or (before.template is not None and after.template is None):
            return False
        if before.dialect is not None and after.dialect is not before.dialect:
            return False
        left = lint([after], self.choice, reveal=True).diagnostics
        had, has = (Counter(diagnostic.rule for diagnostic in each) for each in (found, left))
        if not before.document.problems and _errors(left) > _errors(found):
            return False
        return all(has[rule] <= had[rule] - count for rule, count in Counter(each.rule for each in group).items())


def _key(diagnostic: Diagnostic) -> tuple[str, int]:
    """What tells a finding apart from one pass to the next: how far from the end of the text it stands."""
    return diagnostic.rule, len(diagnostic.lines.text) - diagnostic.span.start


def _errors(diagnostics: Iterable[Diagnostic]) -> int:
    return sum(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)


def _apart(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Those whose edits do not touch one another: of two that do, the first."""
    chosen: list[Diagnostic] = []
    taken: list[Span] = []  # in order, and apart
    for diagnostic in diagnostics:
        spans = [edit.span for edit in diagnostic.fix.edits] if diagnostic.fix else []
        if not any(_touches(span, taken) for span in spans):
            chosen.append(diagnostic)
            for span in spans:
                insort(taken, span)
    return chosen


def _touches(span: Span, taken: Sequence[Span]) -> bool:
    """Whether the span meets one of those taken: the next one before it, or behind."""
    at = bisect(taken, span)
    return any(span.start <= other.end and other.start <= span.end for other in taken[max(at - 1, 0) : at + 1])


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with edits made that do not overlap."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit.span):
        parts += [text[at : edit.span.start], edit.text]
        at = edit.span.end
    return "".join([*parts, text[at:]])
