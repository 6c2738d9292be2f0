"""Rules about the keys of the frontmatter."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from kbp.diagnostics import Finding, Severity
from kbp.dialects.base import quoting
from kbp.files import PromptFile
from kbp.frontmatter import quoted
from kbp.linter.rules.base import found_in_reading, rule, rule_across
from kbp.linter.rules.catalogue import is_document
from kbp.linter.rules.frontmatter import misplaced_block
from kbp.linter.rules.text import is_pointer
from kbp.text import Span


@found_in_reading(refusal="mostly refused", fixes="safe")
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


@rule(Severity.WARNING, also="info without a frontmatter")
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
    if file.template is None or file.template.description is not None or file.has_own_folder:  # a `skill-name`
        return
    if misplaced_block(file) or is_pointer(file) or is_document(file):  # one fault, one finding
        return
    entry = document.frontmatter.get("description")
    if entry is not None and entry.value.text is not None:  # blank: a `key-type`
        return
    is_bare = document.block is None or (file.mark is not None and not document.frontmatter)
    severity = Severity.INFO if is_bare else None
    message = "no description: Claude Code shows the first line of the body instead, other clients show nothing"
    span = entry.key_span if entry else Span(document.lines.span(1).start, document.lines.span(1).end)
    yield Finding(span, message, "add `description: …` to the frontmatter", severity)


@rule(Severity.ERROR, needs="free text", fixes="safe")
def list_hint(file: PromptFile) -> Iterator[Finding]:
    """An `argument-hint` in brackets must be quoted.

    Without quotes `[project]` is a list of one: Claude Code shows it without its brackets, VS Code calls it an error
    and shows no hint, Copilot CLI drops the command.

    Bad `commands/new.md`:

        ---
        description: Start a project
        argument-hint: [project]
        ---
        Start $ARGUMENTS.

    Good `commands/new.md`:

        ---
        description: Start a project
        argument-hint: "[project]"
        ---
        Start $ARGUMENTS.
    """
    entry = file.document.frontmatter.get("argument-hint")
    if entry is not None and entry.value.items is not None:
        written = file.document.text[entry.value.span.start : entry.value.span.end]
        span = entry.value.to_line_end() if "\n" in written else entry.value.span
        help = f"quote it: {quoted(written)}" if "\n" not in written else "write it as one text in quotes"
        message = "`argument-hint` is a list: its brackets are lost"
        yield Finding(Span(entry.key_span.start, span.end), message, help, fix=quoting(entry.value))


@rule_across(Severity.INFO, also="warning for two files of one name")
def name_differs(files: Sequence[PromptFile]) -> Iterator[tuple[PromptFile, Finding]]:
    """A `name` key should be the name of the file, or not be there.

    VS Code calls the prompt by it, Claude Code and MCP call it by its file. Two files of a plugin or project with one
    `name` are a warning: VS Code then shows two prompts that nobody can tell apart.

    Bad `.github/prompts/upgrade.prompt.md`:

        ---
        name: Upgrade everything
        description: Upgrade
        ---
        Upgrade ${input:what}.

    Good `.github/prompts/upgrade.prompt.md`:

        ---
        name: upgrade
        description: Upgrade
        ---
        Upgrade ${input:what}.
    """
    by_name: dict[tuple[Path, str], list[PromptFile]] = {}
    for file in files:
        entry = file.document.frontmatter.get("name")
        if entry is not None and entry.value.text and not file.has_own_folder:
            by_name.setdefault((file.place.unit or file.place.root, entry.value.text), []).append(file)
    for (_, name), alike in by_name.items():
        for file in alike:
            key, own = file.document.frontmatter["name"].key_span, file.stem
            if len(alike) > 1:
                others = ", ".join(other.path for other in alike if other is not file)
                message = f"`name` is `{name}` here and in {others}: VS Code shows two prompts of one name"
                yield file, Finding(key, message, "give each its own name", Severity.WARNING)
            elif name != own:
                message = f"`name` is `{name}`, the file gives `{own}`: VS Code uses the first, others the second"
                yield file, Finding(key, message, "make them equal, or remove the key")


@rule(Severity.WARNING, needs="positions")
def tool_pattern(file: PromptFile) -> Iterator[Finding]:
    """The parentheses of a tool pattern must balance.

    `Bash(git add:*, Read` allows neither: Claude Code asks for every call.

    Bad `commands/commit.md`:

        ---
        description: Commit
        allowed-tools: Bash(git add:*, Read
        ---
        Commit $ARGUMENTS.

    Good `commands/commit.md`:

        ---
        description: Commit
        allowed-tools: Bash(git add:*), Read
        ---
        Commit $ARGUMENTS.
    """
    for key in ("allowed-tools", "disallowed-tools"):
        entry = file.document.frontmatter.get(key)
        values = (entry.value.items or (entry.value,)) if entry else ()
        for value in values:
            text = value.text or ""
            if entry and text.count("(") != text.count(")"):
                yield Finding(entry.key_span, f"the parentheses of `{text[:60]}` do not balance", "close each of them")
