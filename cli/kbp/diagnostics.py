"""What lint says: findings of rules, and diagnostics that place them in files."""

from dataclasses import dataclass
from enum import StrEnum

from kbp.characters import BOM
from kbp.text import Fix, Lines, Position, Span


class Severity(StrEnum):
    """How bad a finding is: a client drops or misreads the file; it is surely not meant; it is worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule yields: where, what is wrong, and what to do.

    A `severity` goes over the rule's; the text of what `is_secret` is never printed.
    """

    span: Span
    message: str
    help: str | None = None
    severity: Severity | None = None
    is_secret: bool = False
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding with its rule and file."""

    rule: str
    severity: Severity
    path: str
    lines: Lines
    span: Span
    message: str
    help: str | None = None
    is_secret: bool = False
    fix: Fix | None = None

    @property
    def said(self) -> str:
        """What is wrong, and the way out, on one line."""
        return self.message + (f"; {self.help}" if self.help else "")

    @property
    def placed_fix(self) -> Fix | None:
        """The fix, if lines and columns can say where its edits stand: a byte order mark has no column."""
        if self.fix is None or (
            self.lines.text.startswith(BOM) and any(not each.span.start for each in self.fix.edits)
        ):
            return None
        return self.fix

    @property
    def start(self) -> Position:
        """Line and column of its first character."""
        return self.lines.position(self.span.start)

    @property
    def end(self) -> Position:
        """Line and column just after its last character."""
        return self.lines.position(self.span.end)


@dataclass(frozen=True, slots=True)
class Report:
    """What a lint run found: the diagnostics in order, how many files were read, and how many of them were refused."""

    diagnostics: tuple[Diagnostic, ...]
    files: int
    refused: int

    def count(self, severity: Severity) -> int:
        """How many diagnostics are of that severity."""
        return sum(diagnostic.severity is severity for diagnostic in self.diagnostics)
