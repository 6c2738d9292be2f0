"""Rules about what a file says to lint."""

from collections.abc import Iterator

from kbp.diagnostics import Finding, Severity
from kbp.linter.rules.base import rule_of_suppressions
from kbp.linter.suppression import Suppression
from kbp.text import replacement


@rule_of_suppressions(Severity.WARNING, fixes="safe")
def unused_suppression(unused: list[Suppression]) -> Iterator[Finding]:
    """A `# kbp: ignore[rule]` should hide a finding.

    One that hides nothing is left over from a fault that is fixed, or misspelt. On the line of a key it holds for that
    key, on a line of its own for the whole file. A comment in the body would reach the model, so there is none there.

    Bad `commands/go.md`:

        ---
        description: Go somewhere # kbp: ignore[list-hint]
        ---
        Go to $ARGUMENTS.

    Good `commands/go.md`:

        ---
        description: Go somewhere
        argument-hint: [place] # kbp: ignore[list-hint]
        ---
        Go to $ARGUMENTS.
    """
    for suppression in unused:
        named = f"`{suppression.rule}` hides nothing here" if suppression.rule else "the comment names no rule"
        yield Finding(suppression.span, named, "remove it", fix=replacement(suppression.removal, ""))
