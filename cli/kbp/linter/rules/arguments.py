"""Rules about arguments and how they are declared."""

from collections.abc import Iterator

from kbp.diagnostics import Finding, Severity
from kbp.files import PromptFile
from kbp.linter.rules.base import found_in_reading, rule
from kbp.model import FREE_TEXT, Kind, Template
from kbp.text import Span


@found_in_reading(needs="checked placeholders")
def undeclared_placeholder(file: PromptFile) -> Iterator[Finding]:
    """A `{{ name }}` must be declared under `arguments`.

    In kb the author has a way to declare it, so a name that is not declared is a typo: rendered blank, it makes a
    prompt that reads well and asks for the wrong thing.

    Bad `prompts/greet.md`:

        ---
        description: Greet somebody
        arguments:
        - name: name
        ---
        Greet {{ nmae }}.

    Good `prompts/greet.md`:

        ---
        description: Greet somebody
        arguments:
        - name: name
        ---
        Greet {{ name }}.
    """
    yield from ()


@rule(Severity.WARNING, needs="declared arguments")
def unused_argument(file: PromptFile) -> Iterator[Finding]:
    """A declared argument should be placed in the body.

    A person is asked for it, and what they answer goes nowhere.

    Bad `prompts/look.md`:

        ---
        description: Look at an app
        arguments:
        - name: app
        - name: zone
        ---
        Look at {{ app }}.

    Good `prompts/look.md`:

        ---
        description: Look at an app
        arguments:
        - name: app
        - name: zone
        ---
        Look at {{ app }} in {{ zone }}.
    """
    if file.template is None:
        return
    placed = set(_placed(file.template))
    for argument in file.template.arguments:
        if argument.span is not None and argument.name not in placed:
            yield Finding(
                _one_line(file, argument.span),
                f"`{argument.name}` is declared and never placed in the body",
                "place it, or remove it from `arguments`",
            )


def _placed(template: Template) -> Iterator[str]:
    for placeholder in template.placeholders:
        if placeholder.kind is Kind.NAMED and placeholder.name is not None:
            yield placeholder.name
        elif placeholder.kind is Kind.FREE_TEXT:
            yield FREE_TEXT
        elif placeholder.kind is Kind.POSITION and (placeholder.index or 0) < len(template.positions):
            yield template.positions[placeholder.index or 0]


def _one_line(file: PromptFile, span: Span) -> Span:
    line = file.document.lines.span(file.document.lines.position(span.start).line)
    return Span(span.start, min(span.end, line.end))


@found_in_reading(needs="required")
def required_with_default(file: PromptFile) -> Iterator[Finding]:
    """A required argument cannot have a default.

    A required argument is always given, so the default could never be used: one of the two is a mistake.

    Bad `prompts/roll.md`:

        ---
        description: Roll back
        arguments:
        - name: service
          required: true
          default: api
        ---
        Roll back {{ service }}.

    Good `prompts/roll.md`:

        ---
        description: Roll back
        arguments:
        - name: service
          default: api
        ---
        Roll back {{ service }}.
    """
    yield from ()


@found_in_reading(needs="declared arguments", refusal="refused in kb")
def duplicate_argument(file: PromptFile) -> Iterator[Finding]:
    """Two arguments must not have one name.

    A value is given by name, so one of them could never be told from the other. A kb file is refused; in a Claude Code
    command the later one counts for `$N` alone.

    Bad `prompts/move.md`:

        ---
        description: Move a service
        arguments:
        - name: zone
        - name: zone
        ---
        Move it to {{ zone }}.

    Good `prompts/move.md`:

        ---
        description: Move a service
        arguments:
        - name: from
        - name: to
        ---
        Move it from {{ from }} to {{ to }}.
    """
    yield from ()


@found_in_reading(needs="required")
def argument_entry(file: PromptFile) -> Iterator[Finding]:
    """An argument is a mapping with a `name`; `required` is true or false, `default` and `description` are text.

    A quoted "false" is text, which other readers take for true.

    Bad `prompts/ping.md`:

        ---
        description: Ping a host
        arguments:
        - name: host
          required: "false"
        ---
        Ping {{ host }}.

    Good `prompts/ping.md`:

        ---
        description: Ping a host
        arguments:
        - name: host
          required: false
        ---
        Ping {{ host }}.
    """
    yield from ()


@found_in_reading(needs="declared arguments")
def arguments_shape(file: PromptFile) -> Iterator[Finding]:
    """`arguments` is a list of names in a Claude Code command, a list of objects in a kb file, never a mixture.

    Claude Code silently discards what is not text and shifts the names that follow, so values land in the wrong places.

    Bad `commands/wrap.md`:

        ---
        description: Wrap up
        arguments:
        - name: note
          required: true
        ---
        Wrap up with $note.

    Good `commands/wrap.md`:

        ---
        description: Wrap up
        arguments: [note]
        ---
        Wrap up with $note.
    """
    yield from ()
