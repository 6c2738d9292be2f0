"""Rules about what a file would lose in another dialect."""

from collections.abc import Iterator

from kbp.converter.run import convert
from kbp.diagnostics import Finding, Severity
from kbp.dialects.base import Dialect
from kbp.files import PromptFile
from kbp.linter.rules.base import rule_of_conversion
from kbp.text import Span


@rule_of_conversion(Severity.WARNING)
def lossy_conversion(file: PromptFile, target: Dialect) -> Iterator[Finding]:
    """A prompt should mean the same in the dialect that it is converted to.

    With `--to DIALECT`, or for the targets in the settings, it finds what `kbp convert` would report as lost,
    approximated or gained there, and what cannot be converted at all.

    Bad `prompts/debug.md`:

        ---
        description: Debug an app
        arguments:
        - name: app
          required: true
        ---
        Debug {{ app }}.

    Good `prompts/debug.md`:

        ---
        description: Debug an app
        arguments:
        - name: app
        ---
        Debug {{ app }}.
    """
    if file.template is None or file.mark is not None:
        return
    converted = convert(file, target)
    for problem in converted.problems:
        yield Finding(problem.span, f"this cannot be converted to {target.name}: {problem.message}", problem.help)
    for loss in converted.losses:
        span = loss.span if loss.span.end else Span(0, file.document.lines.span(1).end)
        yield Finding(span, f"{loss.kind} in {target.name}: {loss.what} -> {loss.where}")
