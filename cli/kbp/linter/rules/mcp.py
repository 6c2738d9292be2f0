"""Rules about what becomes of a prompt when an MCP server serves it. They are off unless selected."""

from collections.abc import Iterator

from kbp.diagnostics import Finding, Severity
from kbp.files import PromptFile
from kbp.linter.rules.base import rule


@rule(Severity.INFO, is_default=False)
def dropped_over_mcp(file: PromptFile) -> Iterator[Finding]:
    """A key should mean something over MCP.

    A prompt server publishes a name, a title, a description and arguments. A model, tools and the like are for one
    client alone: who gets the prompt from a server gets it without them.

    Bad `commands/check.md`:

        ---
        description: Check types
        model: haiku
        ---
        Check the types of $ARGUMENTS.

    Good `commands/check.md`:

        ---
        description: Check types
        ---
        Check the types of $ARGUMENTS.
    """
    for key in file.template.dropped if file.template else ():
        entry = file.document.frontmatter[key]
        yield Finding(
            entry.key_span, f"`{key}` has no meaning over MCP, and is dropped", "say it in the body if it matters"
        )


@rule(Severity.INFO, is_default=False)
def free_text_over_mcp(file: PromptFile) -> Iterator[Finding]:
    """A prompt that is served should have arguments with names.

    A client that splits what is typed gives one word to each argument: of a prompt whose only argument is the free text
    Claude Code (2.1.332) passes the first word when the prompt comes from a server, and drops the others. Declared
    names get one word each. For free text, convert the prompt into a command of that client.

    Bad `commands/find.md`:

        ---
        description: Find something
        ---
        Find $ARGUMENTS.

    Good `commands/find.md`:

        ---
        description: Find something
        arguments: [what]
        ---
        Find $what.
    """
    arguments = file.template.arguments if file.template else ()
    if len(arguments) == 1 and arguments[0].is_free_text:
        message = "the only argument is the free text: served over MCP, Claude Code passes its first word alone"
        yield Finding(file.document.lines.span(1), message, "declare names, one word each")
