"""Rules about the keys of the frontmatter."""

from collections.abc import Iterator

from kbp.diagnostics import Finding, Severity
from kbp.files import PromptFile
from kbp.linter.rules.base import found_in_reading, rule
from kbp.linter.rules.frontmatter import misplaced_block
from kbp.linter.rules.text import is_pointer
from kbp.text import Span


@found_in_reading(refusal="mostly refused")
def key_type(file: PromptFile) -> Iterator[Finding]:
    """A key is text, and its value is of the type that clients read.

    A title, description or hint that is a list or mapping refuses the file (a hint may be a list of texts), and so does
    a key that is null, a list or a mapping. A blank description, a `name` that is not text, and Copilot's `tools`,
    `agent` and `model` of a wrong type are errors to VS Code, which goes without them.

    Bad `commands/pick.md`:

        ---
        description: [Pick, an, environment]
        ---
        Pick $ARGUMENTS.

    Bad `prompts/entry.md`:

        ---
        description: An entry
        {{ NAME }}
        ---
        Write an entry.

    Good `commands/pick.md`:

        ---
        description: "[Pick, an, environment]"
        ---
        Pick $ARGUMENTS.
    """
    yield from ()


@rule(Severity.WARNING)
def missing_description(file: PromptFile) -> Iterator[Finding]:
    """A prompt should have a description.

    It is what a person sees in the menu. Without one, VS Code shows nothing and Claude Code the first line of the body.
    Only worth knowing in a file without any frontmatter.

    Bad `commands/mute.md`:

        ---
        allowed-tools: Read
        ---
        Read $ARGUMENTS quietly.

    Good `commands/mute.md`:

        ---
        description: Read without a word
        allowed-tools: Read
        ---
        Read $ARGUMENTS quietly.
    """
    document = file.document
    if file.template is None or file.template.description is not None or misplaced_block(file) or is_pointer(file):
        return
    entry = document.frontmatter.get("description")
    if entry is not None and entry.value.text is not None:  # blank: a `key-type`
        return
    severity = Severity.INFO if document.block is None else None
    message = "no description: Claude Code shows the first line of the body instead, other clients show nothing"
    span = entry.key_span if entry else Span(document.lines.span(1).start, document.lines.span(1).end)
    yield Finding(span, message, "add `description: …` to the frontmatter", severity)
