"""Rules about the file as text: marks, line ends, what is left of it."""

import re
from collections import Counter
from collections.abc import Iterator

from kbp.characters import BOM
from kbp.diagnostics import Finding, Severity
from kbp.files import PromptFile
from kbp.linter.rules.base import rule
from kbp.text import LINE_END, Edit, Fix, Span, replacement


@rule(Severity.INFO, even_refused=True, fixes="safe")
def byte_order_mark(file: PromptFile) -> Iterator[Finding]:
    r"""A file should not start with a byte order mark.

    VS Code then sees no frontmatter and sends the keys as text, and so did Claude Code up to 2.1.197.

    Bad `commands/read.md` as bytes:

        \xef\xbb\xbf---
        description: Read a page
        ---
        Read $ARGUMENTS.

    Good `commands/read.md`:

        ---
        description: Read a page
        ---
        Read $ARGUMENTS.
    """
    if file.document.text.startswith(BOM):
        message = "the file starts with a byte order mark: VS Code then sees no frontmatter"
        yield Finding(Span(0, 1), message, "save it as UTF-8 without a mark", fix=replacement(Span(0, 1), ""))


@rule(Severity.INFO, even_refused=True, fixes="safe")
def mixed_line_endings(file: PromptFile) -> Iterator[Finding]:
    r"""Line ends should be of one kind.

    Clients keep the line ends of the body, so a mixture reaches the model. A file with CRLF throughout is fine.

    Bad `prompts/go.md` as bytes:

        ---
        description: Go\r
        ---
        Go.

    Good `prompts/go.md`:

        ---
        description: Go
        ---
        Go.
    """
    if "\r" not in file.document.text:
        return
    ends = [end for end in LINE_END.finditer(file.document.text) if end[0] != "\r"]
    other = next((end for end in ends if end[0] != ends[0][0]), None)
    if other is not None:
        names = {"\n": "LF", "\r\n": "CRLF"}
        usual = Counter(end[0] for end in ends).most_common(1)[0][0]
        edits = tuple(Edit(Span(*end.span()), usual) for end in ends if end[0] != usual)
        message = f"the line ends with {names[other[0]]}, those before it with {names[ends[0][0]]}"
        yield Finding(Span(*other.span()), message, "save the file with one kind of line end", fix=Fix(edits))


_POINTER = re.compile(r"(?:\.{1,2}/)+[^\s:*?\"<>|]+|[^\s:*?\"<>|/]+(?:/[^\s:*?\"<>|/]+)+\.md")
_MAX_PATH = 4096


def is_pointer(file: PromptFile) -> bool:
    """Whether the whole file is one relative path."""
    text = file.document.text
    return len(text) <= _MAX_PATH and bool(_POINTER.fullmatch(text.strip()))


@rule(Severity.WARNING)
def pointer_file(file: PromptFile) -> Iterator[Finding]:
    """A file should not be a symbolic link checked out as text.

    Where links are not supported, git writes the path of the target into a file, and that path is sent to the model as
    the prompt.

    Bad `commands/plan.md`:

        ../prompts/plan.prompt.md

    Good `commands/plan.md`:

        ---
        description: Plan a change
        ---
        Plan $ARGUMENTS.
    """
    if is_pointer(file):
        message = f"the whole file is the path `{file.document.text.strip()}`: a symbolic link checked out as text"
        yield Finding(file.document.lines.span(1), message, "check it out with links on, or copy the file it points at")


@rule(Severity.WARNING)
def empty_prompt(file: PromptFile) -> Iterator[Finding]:
    """A prompt should have a body, or take what is typed.

    Over MCP nothing is left of a file that only names an agent or a tool.

    Bad `.github/prompts/plan.prompt.md`:

        ---
        description: Plan a change
        agent: planner
        ---

    Good `.github/prompts/plan.prompt.md`:

        ---
        description: Plan a change
        agent: planner
        ---
        Plan the change.
    """
    if file.template is not None and not file.document.body.strip() and file.template.append is None:
        line = file.document.lines.span(len(file.document.lines))
        first = file.document.lines.span(1)
        yield Finding(
            first if line.start == line.end else line, "the prompt has no body", "write what the model should do"
        )
