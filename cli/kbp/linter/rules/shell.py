"""Rules about shell lines, which Claude Code runs and kbp never does."""

import re
from collections.abc import Iterator

from kbp.diagnostics import Finding, Severity
from kbp.files import PromptFile
from kbp.linter.rules.base import rule
from kbp.model import Kind
from kbp.text import Span, Spans

_MAX_SHOWN = 60
_FENCE_END = re.compile(r"[\r\n][ \t]*```[ \t]*(?=[\r\n]|\Z)")


def commands_of(file: PromptFile) -> Spans:
    """Where the commands of shell lines and shell blocks stand, which Claude Code runs."""
    return Spans(_commands(file))


def _commands(file: PromptFile) -> Iterator[Span]:
    text = file.document.text
    end = 0
    for placeholder in file.template.placeholders if file.template else ():
        if placeholder.kind is Kind.SHELL and placeholder.hint is not None and placeholder.span.end >= end:
            yield Span(placeholder.span.end, placeholder.span.end + len(placeholder.hint))
        elif placeholder.kind is Kind.SHELL and placeholder.hint is None:
            if placeholder.span.end < end:  # inside the block before
                continue
            close = _FENCE_END.search(text, placeholder.span.end)
            end = close.start() if close else len(text)
            yield Span(placeholder.span.end, end)


@rule(Severity.WARNING, needs="positions")
def argument_in_shell(file: PromptFile) -> Iterator[Finding]:
    """A typed value should not reach a shell.

    Claude Code fills placeholders before it runs a `!` line, so what is typed is run: quotes, semicolons and all.

    Bad `commands/log.md`:

        ---
        description: Look at the log
        allowed-tools: Bash(git log:*)
        ---
        The log: !`git log $0`

    Good `commands/log.md`:

        ---
        description: Look at the log
        allowed-tools: Bash(git log:*)
        ---
        The log: !`git log -20`
        Look for $ARGUMENTS.
    """
    commands = commands_of(file)
    for placeholder in file.template.placeholders if file.template else ():
        is_typed = placeholder.kind in (Kind.NAMED, Kind.POSITION, Kind.FREE_TEXT)
        if is_typed and commands.holds(placeholder.span.start):
            message = f"`{placeholder.raw}` puts what is typed into a command that Claude Code runs"
            yield Finding(placeholder.span, message, "ask the model to run the command instead")


@rule(Severity.INFO, needs="positions")
def shell_not_allowed(file: PromptFile) -> Iterator[Finding]:
    """A shell line should be covered by `allowed-tools`.

    Claude Code asks before it runs any other, and a denied one aborts the whole command.

    Bad `commands/today.md`:

        ---
        description: What day it is
        allowed-tools: Read
        ---
        Today is !`date`. Plan $ARGUMENTS.

    Good `commands/today.md`:

        ---
        description: What day it is
        allowed-tools: Bash(date:*)
        ---
        Today is !`date`. Plan $ARGUMENTS.
    """
    patterns = list(_allowed(file))
    for span in _commands(file):
        for line in file.document.text[span.start : span.end].splitlines():
            command = line.strip()
            if command and not command.startswith("#") and not any(_covers(each, command) for each in patterns):
                shown = command if len(command) <= _MAX_SHOWN else command[:_MAX_SHOWN] + "…"
                start = " ".join(word for word in command.split()[:2] if word.replace("-", "").isalnum())
                allow = f"allow it: `Bash({start or command.split()[0]}:*)`"
                yield Finding(span, f"no entry of `allowed-tools` covers `{shown}`", allow)
                break


def _allowed(file: PromptFile) -> Iterator[str]:
    entry = file.document.frontmatter.get("allowed-tools")
    for value in (entry.value.items or (entry.value,)) if entry else ():
        yield from re.findall(r"[A-Za-z_]\w*(?:\([^)]*\))?", value.text or "")


def _covers(pattern: str, command: str) -> bool:
    if pattern in ("Bash", "Bash(*)", "Bash(:*)"):
        return True
    inside = re.fullmatch(r"Bash\((.*?)(:\*|\*)?\)", pattern)
    if not inside:
        return False
    typed, allowed = (text.replace('"', "").replace("'", "") for text in (command, inside[1]))
    return typed.startswith(allowed) if inside[2] else typed == allowed
