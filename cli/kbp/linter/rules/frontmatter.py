"""Rules about the file and its frontmatter block."""

import itertools
import re
from collections.abc import Iterator

from kbp.characters import BOM, WHITE
from kbp.diagnostics import Finding, Severity
from kbp.dialects import DIALECTS
from kbp.document import Document
from kbp.files import PromptFile
from kbp.frontmatter import Entry, Value
from kbp.linter.rules.base import found_in_reading, rule
from kbp.text import LINE_END, Edit, Fix, Lines, Span, replacement


@found_in_reading()
def frontmatter_syntax(file: PromptFile) -> Iterator[Finding]:
    """The frontmatter must be valid YAML.

    Claude Code tries to repair a broken block line by line; where it cannot, every key is lost and the body is sent
    alone. VS Code reads some broken lines that no YAML parser takes. Every other reader skips the file, and so does
    kbp: the parser's reason stands at its line and column. A tag that would build an object is refused in the same way,
    and nothing is ever executed.

    Bad `commands/ask.md`:

        ---
        description: "Ask the "why" question"
        ---
        Ask why $ARGUMENTS.

    Good `commands/ask.md`:

        ---
        description: Ask the "why" question
        ---
        Ask why $ARGUMENTS.
    """
    yield from ()


@found_in_reading(needs="free text", fixes="safe")
def unquoted_hint(file: PromptFile) -> Iterator[Finding]:
    """An `argument-hint` that YAML cannot read as it stands must be quoted.

    `[app]` is a list in YAML, and nothing may follow a list: `[app] [since]` breaks the whole block. This one line is
    the commonest fault of real command files. Claude Code repairs it (not in a file with CRLF line ends), VS Code reads
    it as a list and shows no hint, every other reader skips the file.

    Bad `commands/rotate.md`:

        ---
        description: Rotate a key
        argument-hint: [key-id] [--force]
        ---
        Rotate $ARGUMENTS.

    Good `commands/rotate.md`:

        ---
        description: Rotate a key
        argument-hint: "[key-id] [--force]"
        ---
        Rotate $ARGUMENTS.
    """
    yield from ()


@found_in_reading(fixes="safe")
def unquoted_value(file: PromptFile) -> Iterator[Finding]:
    """A value that YAML cannot read as it stands must be quoted.

    A colon and a blank inside a value, or one of `@`, a back-tick, `*`, `&`, `!`, `%`, `{{` at its start, means
    something else to YAML, and the whole block is lost with it. Claude Code and VS Code show the text as it was meant,
    every other reader skips the file.

    Bad `commands/triage.md`:

        ---
        description: Triage a ticket: label it, then answer
        ---
        Triage $ARGUMENTS.

    Good `commands/triage.md`:

        ---
        description: "Triage a ticket: label it, then answer"
        ---
        Triage $ARGUMENTS.
    """
    yield from ()


@found_in_reading(fixes="unsafe")
def unclosed_frontmatter(file: PromptFile) -> Iterator[Finding]:
    """A frontmatter that is opened must be closed.

    The block ends at a line of exactly three dashes that starts in column 1. Without one, Claude Code sends the keys to
    the model as text, and VS Code takes the whole file for keys and sends nothing.

    Bad `commands/open.md`:

        ---
        description: Open a ticket

        Open a ticket for $ARGUMENTS.

    Good `commands/open.md`:

        ---
        description: Open a ticket
        ---
        Open a ticket for $ARGUMENTS.
    """
    yield from ()


_MAX_PREAMBLE = 50
_MAX_BLOCK = 1000
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})[^`]*$")
_FENCE_END = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t]*")
_COMMENT = re.compile(r"[ \t]*(?:#|<!--.*-->[ \t]*$)")
_DASHES = re.compile(r"[ \t]*---[ \t]*$")
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]|$)")
_KEYS = frozenset(key for dialect in DIALECTS.values() for key in dialect.keys)


@rule(Severity.ERROR, even_refused=True, fixes="safe or unsafe")
def frontmatter_not_first(file: PromptFile) -> Iterator[Finding]:
    """The frontmatter must start on the very first line.

    A blank line, a comment or an opening code fence before it, and every client takes the block for prose: the
    description is lost and the keys are sent to the model.

    Bad `commands/late.md`:

        # Be late
        ---
        description: Say that I am late
        ---
        Say that I am late for $ARGUMENTS.

    Good `commands/late.md`:

        ---
        description: Say that I am late
        ---
        Say that I am late for $ARGUMENTS.
    """
    if file.document.block is None and not file.document.problems:
        span = misplaced_block(file)
        if span:
            before = file.document.text[: span.start].strip()
            way_out = "remove the blank lines before it"
            if before:
                first = before.splitlines()[0]
                also = " and the fence that closes it" if _FENCE.match(first) else ""
                way_out = f"remove `{first[:40]}` before it{also}, or move it below"
            message = "the frontmatter does not start on the first line: every client takes it for prose"
            yield Finding(span, message, way_out, fix=_to_the_top(file.document.lines, span))


def _to_the_top(lines: Lines, block: Span) -> Fix | None:
    """The fix that removes what stands before the block: blank lines, or a fence around the whole file."""
    start = 1 if lines.text.startswith(BOM) else 0
    before = Edit(Span(start, block.start), "")
    preamble = lines.text[start : block.start].strip()
    if not preamble:
        return Fix((before,))
    last = lines.span(lines.position(len(lines.text.rstrip(WHITE)) - 1).line)
    is_one_line = not LINE_END.search(preamble)
    if not (is_one_line and _FENCE.match(preamble) and _FENCE_END.fullmatch(lines.text, last.start, last.end)):
        return None
    return Fix((before, Edit(Span(last.start, len(lines.text)), "")), is_safe=False)


def misplaced_block(file: PromptFile) -> Span | None:
    """The opening dashes of a frontmatter that follows blank lines, comments or an opening fence."""
    lines = file.document.lines
    for number in range(1, min(len(lines), _MAX_PREAMBLE) + 1):
        line = lines.line(number)
        if _DASHES.match(line):
            return lines.span(number) if number > 1 and _is_block(lines, number) else None
        if line.strip() and not _COMMENT.match(line) and not _FENCE.match(line):
            return None
    return None


def _is_block(lines: Lines, number: int) -> bool:
    """Whether the dashes on that line open a block that closes and has a key that a prompt file has: no mere rule."""
    inside = itertools.takewhile(
        lambda line: not _DASHES.match(line), map(lines.line, range(number + 1, len(lines) + 1))
    )
    block = list(itertools.islice(inside, _MAX_BLOCK))
    known = any((key := _KEY.match(line)) and key[1] in _KEYS for line in block)
    return known and bool(_KEY.match(block[0])) and number + len(block) < len(lines)


@found_in_reading(fixes="safe")
def indented_continuation(file: PromptFile) -> Iterator[Finding]:
    """A value that goes on over several lines must be indented.

    YAML takes a line in column 1 for a new key. Claude Code loses every key of such a block, and other readers skip the
    file.

    Bad `commands/wrap.md`:

        ---
        description: Wrap up what was done
        and say what is left
        ---
        Wrap up $ARGUMENTS.

    Good `commands/wrap.md`:

        ---
        description: Wrap up what was done
          and say what is left
        ---
        Wrap up $ARGUMENTS.
    """
    yield from ()


@found_in_reading(fixes="safe")
def tab_indent(file: PromptFile) -> Iterator[Finding]:
    """YAML must be indented with blanks, not tabs.

    VS Code accepts a tab, YAML parsers refuse the block.

    Bad `commands/ship.md`:

        ---
        description: Ship it
        allowed-tools:
        \t- Read
        ---
        Ship $ARGUMENTS.

    Good `commands/ship.md`:

        ---
        description: Ship it
        allowed-tools:
          - Read
        ---
        Ship $ARGUMENTS.
    """  # noqa: D301 (the example needs a real tab, which the formatter would replace)
    yield from ()


@rule(Severity.ERROR, even_refused=True, fixes="safe")
def duplicate_key(file: PromptFile) -> Iterator[Finding]:
    """A key must be given once.

    Claude Code and kbp take the later of two equal keys, VS Code the first, and some parsers refuse the file.

    Bad `commands/twice.md`:

        ---
        description: First
        description: Second
        ---
        Do $ARGUMENTS.

    Good `commands/twice.md`:

        ---
        description: Second
        ---
        Do $ARGUMENTS.
    """
    root = file.document.root
    if root is None:
        return
    arguments = file.document.frontmatter.get("arguments")
    yield from _repeated(file, root, "Claude Code takes this one, VS Code the first")
    for argument in (arguments.value.items if arguments else None) or ():
        yield from _repeated(file, argument, "this one counts")


_MAX_EQUAL = 10


def _repeated(file: PromptFile, mapping: Value, outcome: str) -> Iterator[Finding]:
    before: dict[str, list[Entry]] = {}
    for entry in mapping.entries or ():
        if entry.key == "<<":
            continue
        if others := before.get(entry.key):
            line = file.document.lines.position(others[0].key_span.start).line
            message = f"`{entry.key}` is given twice, first on line {line}: {outcome}"
            fix = _without(entry, others, file.document)
            yield Finding(entry.key_span, message, "remove one of them", fix=fix)
        before.setdefault(entry.key, []).append(entry)


def _without(entry: Entry, others: list[Entry], document: Document) -> Fix | None:
    """The fix that removes the line of an entry, if it says what all others do, and nothing else stands on it."""
    lines, text = document.lines, document.text
    line = lines.span(lines.position(entry.key_span.start).line)
    written = text[line.start : line.end].strip(" \t")
    equal = (text[each.key_span.start : each.value.span.end] == written for each in (*others[:_MAX_EQUAL], entry))
    if len(others) > _MAX_EQUAL or not all(equal):
        return None
    following = LINE_END.match(text, line.end)
    return replacement(Span(line.start, following.end() if following else line.end), "")


@found_in_reading()
def frontmatter_not_a_mapping(file: PromptFile) -> Iterator[Finding]:
    """The frontmatter must be keys with values.

    A list or a single text between the dashes says nothing to any client. A colon without a blank after it makes no
    key.

    Bad `prompts/tail.prompt.md`:

        ---
        description:Tail a log
        ---
        Tail ${input:log}.

    Good `prompts/tail.prompt.md`:

        ---
        description: Tail a log
        ---
        Tail ${input:log}.
    """
    yield from ()


@found_in_reading()
def not_utf8(file: PromptFile) -> Iterator[Finding]:
    r"""A prompt file must be UTF-8 text.

    Bytes that are not UTF-8 and NUL bytes are refused: every client would show or send something else.

    Bad `prompts/cafe.md` as bytes:

        Find a caf\xe9.

    Good `prompts/cafe.md`:

        ---
        description: Find a café
        ---
        Find a café.
    """
    yield from ()


@found_in_reading()
def unreadable_file(file: PromptFile) -> Iterator[Finding]:
    """A prompt file must be a file that can be read.

    No permission, a file that went away while the folder was read, or something that is no regular file: it is named,
    and the run goes on with the others.
    """
    yield from ()


@found_in_reading()
def too_large(file: PromptFile) -> Iterator[Finding]:
    """A prompt file has at most 16 MiB, its frontmatter at most 1 MiB.

    Larger files are not read: no person wrote them to be filled in, and no client would send them. Nor is a command
    whose declared names hold dollars and whose body repeats them by the thousand. The settings change the bounds.
    """
    yield from ()
