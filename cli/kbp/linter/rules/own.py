"""Rules about what a file says to lint."""

import difflib
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
    from kbp.linter.rules import RULES  # the table holds this rule too

    for suppression in unused:
        if not suppression.rule:
            yield Finding(suppression.span, "the comment names no rule", "write `# kbp: ignore[rule]`")
        elif suppression.rule not in RULES:
            near = difflib.get_close_matches(suppression.rule, RULES, n=1)
            way_out = f"did you mean `{near[0]}`?" if near else "`kbp rules` lists them"
            yield Finding(suppression.span, f"there is no rule `{suppression.rule}`", way_out)
        else:
            fix = replacement(suppression.removal, "")
            yield Finding(suppression.span, f"`{suppression.rule}` hides nothing here", "remove it", fix=fix)
