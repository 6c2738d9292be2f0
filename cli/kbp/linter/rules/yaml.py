"""Rules about YAML that readers take for different things."""

import re
from collections.abc import Iterator

import yaml

from kbp.diagnostics import Finding, Severity
from kbp.files import PromptFile
from kbp.frontmatter import LOADER, Entry, quoted
from kbp.linter.rules.base import rule
from kbp.text import LINE_END, Span, replacement

_SUPPRESSION = re.compile(r"[ \t]+#[ \t]*kbp:")
_COMMENT = re.compile(r"[ \t]+#")


def _entries(file: PromptFile) -> Iterator[Entry]:
    """The entries as written, those of the objects under `arguments` too."""
    root = file.document.root
    for entry in (root.entries if root else None) or ():
        yield entry
        for item in entry.value.items or () if entry.key == "arguments" else ():
            yield from item.entries or ()


@rule(Severity.WARNING, even_refused=True, fixes="unsafe")
def value_cut_by_comment(file: PromptFile) -> Iterator[Finding]:
    """An unquoted value must not hold a blank and a `#`.

    YAML takes the rest of the line for a comment, so the end of the description is never seen.

    Bad `commands/close.md`:

        ---
        description: Close issue #12 now
        ---
        Close $ARGUMENTS.

    Good `commands/close.md`:

        ---
        description: "Close issue #12 now"
        ---
        Close $ARGUMENTS.
    """
    document = file.document
    text = document.text
    if document.block is None or "#" not in text[document.block.start : document.block.end]:
        return
    for entry in _entries(file):
        value = entry.value
        if value.text and value.is_plain and value.span.start >= entry.key_span.end and entry.key != "required":
            line = file.document.lines.span(file.document.lines.position(value.span.end).line)
            rest = text[value.span.end : line.end]
            if _COMMENT.match(rest) and not _SUPPRESSION.match(rest):
                message = f"`{rest.strip()}` is a comment to YAML: the value ends before it"
                span = Span(value.span.end, value.span.end + len(rest.rstrip()))
                whole = text[value.span.start : span.end]
                fix = replacement(Span(value.span.start, span.end), quoted(whole), is_safe=False)
                yield Finding(span, message, "quote the value", fix=None if LINE_END.search(whole) else fix)


@rule(Severity.ERROR, even_refused=True)
def early_frontmatter_end(file: PromptFile) -> Iterator[Finding]:
    """Three dashes must not stand inside the frontmatter.

    Claude Code (2.1.332) ends the block at the first three dashes after the opening line, wherever they stand: inside a
    value, in a longer line of dashes, indented. The rest of the block is sent to the model as text.

    Bad `commands/compare.md`:

        ---
        description: Compare before --- after
        argument-hint: file
        ---
        Compare $ARGUMENTS.

    Good `commands/compare.md`:

        ---
        description: Compare before – after
        argument-hint: file
        ---
        Compare $ARGUMENTS.
    """
    block = file.document.block
    if block is None:
        return
    at = file.document.text.find("---", block.start, block.end)
    if at >= 0:
        message = "three dashes inside the frontmatter: Claude Code ends the block here and sends the rest as text"
        yield Finding(Span(at, at + 3), message, "write two dashes, or a dash of another kind")


_FEATURE = re.compile(r"[&*][^\s,\[\]{}]+|![^\s,\[\]{}]*")
_FEATURES = {"&": "an anchor", "*": "an alias", "!": "a tag"}


@rule(Severity.WARNING, even_refused=True)
def yaml_feature(file: PromptFile) -> Iterator[Finding]:
    """Anchors, aliases, merge keys and tags should not be used.

    VS Code knows none of them and shows their signs as text, Claude Code ignores anchors and unknown tags.

    Bad `prompts/go.md`:

        ---
        description: &text Go somewhere
        ---
        Go somewhere.

    Good `prompts/go.md`:

        ---
        description: Go somewhere
        ---
        Go somewhere.
    """
    text, block, root = file.document.text, file.document.block, file.document.root
    if block is None or root is None or not set("&*!<").intersection(text[block.start : block.end]):
        return
    for event in yaml.parse(root.block.text, Loader=LOADER):
        start = block.start + (event.start_mark.index if event.start_mark else 0)
        if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]:
            message = "`<<` is a merge key, which VS Code does not know"
            yield Finding(Span(start, start + 2), message, "write the keys out")
        elif match := _FEATURE.match(text, start):
            message = f"`{match[0]}` is {_FEATURES[match[0][0]]}, which clients read differently"
            yield Finding(Span(*match.span()), message, "write the value out")


# Plain scalars that YAML 1.1 and 1.2 take for different values: booleans, octal, base 60, digits with underscores.
_DIFFERS = re.compile(
    r"y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF"
    r"|[-+]?0[0-7_]+|[-+]?0b[01_]+|0o[0-7]+|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
    r"|[-+]?[0-9][0-9_]*_[0-9_]*(?:\.[0-9_]*)?|[-+]?[0-9]+[eE][0-9]+"
)


@rule(Severity.WARNING, needs="default", fixes="safe")
def yaml_1_1_value(file: PromptFile) -> Iterator[Finding]:
    """A default that YAML 1.1 and 1.2 read differently should be quoted.

    `010` is eight or ten, `1:30` is ninety or a text, `yes` is true or a text. kbp keeps the text as it is written;
    other servers of kb files do not.

    Bad `prompts/wait.md`:

        ---
        description: Wait for a service
        arguments:
        - name: since
          default: 1:30
        ---
        Wait since {{ since }}.

    Good `prompts/wait.md`:

        ---
        description: Wait for a service
        arguments:
        - name: since
          default: "1:30"
        ---
        Wait since {{ since }}.
    """
    arguments = file.document.frontmatter.get("arguments")
    for item in (arguments.value.items if arguments else None) or ():
        entry = (item.mapping or {}).get("default")
        if entry and entry.value.is_plain and entry.value.text and _DIFFERS.fullmatch(entry.value.text):
            message = f"`{entry.value.text}` is another value to YAML 1.1 than to YAML 1.2"
            span = Span(entry.key_span.start, entry.value.span.end)
            fix = replacement(entry.value.span, f'"{entry.value.text}"')
            yield Finding(span, message, f'quote it: "{entry.value.text}"', fix=fix)
