"""Rules about arguments and how they are declared."""

import re
from collections.abc import Iterator

from kbp.diagnostics import Finding, Severity
from kbp.files import PromptFile
from kbp.linter.rules.base import found_in_reading, rule
from kbp.linter.rules.frontmatter import misplaced_block
from kbp.linter.rules.positions import counts_from_one
from kbp.model import FREE_TEXT, Argument, Kind, Template
from kbp.text import Fix, Span, replacement


@found_in_reading(needs="checked placeholders", fixes="unsafe", unless=misplaced_block)
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
    if counts_from_one(file):  # one fault, one finding
        return
    placed = set(_placed(file.template))
    for argument in file.template.arguments:
        is_spelt = file.dialect is None or file.dialect.spell(argument.name) is not None  # else an `argument-name`
        if argument.span is not None and argument.name not in placed and is_spelt:
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


@found_in_reading(needs="required", fixes="unsafe")
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


@rule(Severity.WARNING, needs="required")
def argument_key(file: PromptFile) -> Iterator[Finding]:
    """An argument has a `name`, and may have `description`, `required` and `default`.

    Every other key of it is ignored: an MCP argument is a text, with no type and no choices.

    Bad `prompts/scale.md`:

        ---
        description: Scale a service
        arguments:
        - name: count
          type: integer
        ---
        Scale to {{ count }}.

    Good `prompts/scale.md`:

        ---
        description: Scale a service
        arguments:
        - name: count
          description: A whole number.
        ---
        Scale to {{ count }}.
    """
    entry = file.document.frontmatter.get("arguments")
    known = file.dialect.argument_keys if file.dialect else frozenset()
    for item in (entry.value.items if entry else None) or ():
        for each in item.entries or ():
            if each.key not in known and each.key != "<<":
                message = f"`{each.key}` means nothing in an argument"
                yield Finding(each.key_span, message, f"an argument has {', '.join(sorted(known))}")


@rule(Severity.WARNING, needs="declared arguments", fixes="safe")
def argument_name(file: PromptFile) -> Iterator[Finding]:
    """A declared name must be one that a placeholder can spell.

    In kb that is a letter or underscore, then letters, digits, underscores. In a Claude Code command a comma or a
    dollar becomes part of the name: `arguments: $QUERY` declares `$QUERY`, which `$QUERY` in the body does not match.

    Bad `commands/recall.md`:

        ---
        description: Recall what is known
        arguments: $TOPIC
        ---
        Recall everything about $TOPIC.

    Good `commands/recall.md`:

        ---
        description: Recall what is known
        arguments: TOPIC
        ---
        Recall everything about $TOPIC.
    """
    for argument in file.template.arguments if file.template and file.dialect else ():
        if argument.span is not None and file.dialect and file.dialect.spell(argument.name) is None:
            bare = re.sub(r"[^A-Za-z0-9_]+", "_", argument.name).strip("_")
            help = f"call it `{bare}`" if bare and not bare.isdigit() else "give it a name of letters"
            message = f"no placeholder of a {file.dialect.name} file can spell `{argument.name}`"
            yield Finding(_one_line(file, argument.span), message, help, fix=_without_dollar(file, argument))


def _without_dollar(file: PromptFile, argument: Argument) -> Fix | None:
    """The fix that takes the dollar from a name that is fine without it."""
    bare = argument.name.removeprefix("$")
    names = {each.name for each in file.template.arguments} if file.template else set()
    if argument.span is None or bare in {argument.name, *names} or not (file.dialect and file.dialect.spell(bare)):
        return None
    alone = re.compile(rf"(?<![^\s\"'\[,]){re.escape(argument.name)}(?![^\s\"'\],])")
    written = alone.search(file.document.text, argument.span.start, argument.span.end)
    return replacement(Span(written.start(), written.start() + 1), "") if written else None
