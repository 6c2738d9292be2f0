"""Rules about Copilot's inputs, and placeholders that nothing closes."""

import re
from collections.abc import Iterator

from kbp.diagnostics import Finding, Severity
from kbp.files import PromptFile
from kbp.linter.rules.base import rule
from kbp.model import Kind, Placeholder
from kbp.text import Span, Spans, replacement, squeeze

# One that nothing closes takes its whole line, so that what follows there is not looked at again and again.
_ANY_INPUT = re.compile(r"\$\{input:[^}\r\n]*(?:(?P<closed>\})|(?=[\r\n])|\Z)")


_ONE_INPUT = re.compile(r"\$\{input:[A-Za-z0-9_][A-Za-z0-9_-]*:")


def _inputs(file: PromptFile) -> list[Placeholder]:
    return [each for each in (file.template.placeholders if file.template else ()) if each.kind is Kind.NAMED]


def malformed_in(file: PromptFile) -> Spans:
    """Where the inputs of a file stand that are none, or whose text is cut short: nothing more is said of them."""
    if file.dialect is None or "inputs" not in file.dialect.expresses:
        return Spans(())
    cut = [each.span for each in _inputs(file) if "{" in (each.hint or "")]
    return Spans(sorted([*(Span(*match.span()) for match in _malformed(file)), *cut]))


def _malformed(file: PromptFile) -> Iterator[re.Match[str]]:
    placed = {placeholder.span.start for placeholder in _inputs(file)}
    for match in _ANY_INPUT.finditer(file.document.text, file.document.body_start):
        if match["closed"] and match.start() not in placed:
            yield match


@rule(Severity.WARNING, needs="inputs", fixes="safe")
def malformed_input(file: PromptFile) -> Iterator[Finding]:
    """An input is `${input:name}` or `${input:name:text}`.

    Anything else is sent as it is written: a bar where the colon belongs, no name, a name with blanks. A text ends at
    the first closing brace.

    Bad `.github/prompts/spike.prompt.md`:

        ---
        description: Try something out
        ---
        Write it under ${input:folder|docs/spikes}.

    Good `.github/prompts/spike.prompt.md`:

        ---
        description: Try something out
        ---
        Write it under ${input:folder:Which folder?}.
    """
    for match in _malformed(file):
        if match["closed"]:
            fixed = match[0].replace("|", ":", 1)
            is_one = _ONE_INPUT.match(fixed) is not None
            help = f"write `{fixed}`" if is_one else "write `${input:name}` or `${input:name:text}`"
            bar = match.start() + match[0].find("|")
            fix = replacement(Span(bar, bar + 1), ":") if is_one else None
            yield Finding(Span(*match.span()), f"`{match[0]}` is no input, and is text", help, fix=fix)
    for placeholder in _inputs(file):
        if "{" in (placeholder.hint or ""):
            message = f"the text of `{placeholder.raw}` ends at its first closing brace"
            yield Finding(placeholder.span, message, "leave braces out of it")


@rule(Severity.WARNING, needs="inputs")
def conflicting_inputs(file: PromptFile) -> Iterator[Finding]:
    """One input should have one text.

    The first text of a name becomes the argument's description; another one is never seen.

    Bad `.github/prompts/check.prompt.md`:

        ---
        description: Check a service
        ---
        Check ${input:service:Which service?} and restart ${input:service:The one to restart}.

    Good `.github/prompts/check.prompt.md`:

        ---
        description: Check a service
        ---
        Check ${input:service:Which service?} and restart ${input:service}.
    """
    first: dict[str, str] = {}
    malformed = malformed_in(file)
    for placeholder in _inputs(file):
        if malformed.holds(placeholder.span.start):
            continue
        text = squeeze(placeholder.hint or "")
        known = first.setdefault(placeholder.name or "", text) if text else text
        if text and text != known:
            message = f"`{placeholder.name}` has the text `{known}` already: this one is never seen"
            yield Finding(placeholder.span, message, "give the text once")


@rule(Severity.INFO, needs="inputs")
def default_looking_text(file: PromptFile) -> Iterator[Finding]:
    """The text of an input is its description, not its default.

    No client fills it in. `${input:draft:false}` is shown to a person as an argument described as "false".

    Bad `.github/prompts/open.prompt.md`:

        ---
        description: Open a pull request
        ---
        Open it. Draft: ${input:draft:false}.

    Good `.github/prompts/open.prompt.md`:

        ---
        description: Open a pull request
        ---
        Open it. Draft: ${input:draft:Is it a draft?}.
    """
    seen: set[str] = set()
    for placeholder in _inputs(file):
        text = squeeze(placeholder.hint or "")
        if text and placeholder.name not in seen:
            seen.add(placeholder.name or "")
            if not set(" {") & set(text) and not text.endswith("?"):
                message = f"`{text}` reads as a default, and becomes the description of `{placeholder.name}`"
                yield Finding(placeholder.span, message, "say what is asked for")


_UNCLOSED = re.compile(r"(?:\{\{[ \t]*[A-Za-z_][A-Za-z0-9_]*|\$\{input:[A-Za-z0-9_-]+)[ \t]*(?=[\r\n]|\Z)")


@rule(Severity.WARNING, needs="argument description")
def unclosed_placeholder(file: PromptFile) -> Iterator[Finding]:
    """A placeholder must be closed.

    One that is open at the end of its line is text.

    Bad `prompts/look.md`:

        ---
        description: Look at an app
        arguments:
        - name: app
        ---
        Look at {{ app }} and tell me about {{ app

    Good `prompts/look.md`:

        ---
        description: Look at an app
        arguments:
        - name: app
        ---
        Look at {{ app }} and tell me about {{ app }}
    """
    text, start = file.document.text, file.document.body_start
    if not any(text.find(opening, start) >= 0 for opening in ("{{", "${input:")):
        return
    placed = Spans(placeholder.span for placeholder in (file.template.placeholders if file.template else ()))
    for match in _UNCLOSED.finditer(file.document.text, file.document.body_start):
        if not placed.holds(match.start()):
            yield Finding(Span(*match.span()), f"`{match[0]}` is not closed on its line, and is text", "close it")
