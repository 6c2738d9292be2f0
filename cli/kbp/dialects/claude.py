"""The Claude dialect: the command files of Claude Code (2.1.332), read as the MCP prompt they become."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath

from kbp.dialects.base import (
    CLAUDE_CODE,
    STOCK_HINT,
    Dialect,
    Home,
    Parsed,
    description_of,
    dropped,
    hint_of,
    in_file_order,
    odd_name,
    scan,
    scanner,
)
from kbp.document import Document
from kbp.frontmatter import Value
from kbp.model import FREE_TEXT, Argument, Kind, Placeholder, Template
from kbp.text import Problem, Span, split_white

# Those of commands and skills that were observed to show, and those documented (2.1.332).
KEYS = frozenset(
    {
        *("description", "argument-hint", "arguments", "name", "model", "effort", "agent", "context", "hooks", "paths"),
        *("allowed-tools", "disallowed-tools", "disable-model-invocation", "user-invocable", "when_to_use", "shell"),
        *("license", "compatibility", "metadata", "display-name", "default-enabled", "fallback"),
    }
)
APPEND = "\n\nARGUMENTS: "

_SCANNER = scanner(r"\$(?P<dollar>(?=[A0-9]))")
_SCANNER_WITH_NAMES = scanner(r"\$(?P<dollar>)")
_BUILT_IN = re.compile(r"\$(?:(?P<free>ARGUMENTS)(?:\[(?P<word>[0-9]+)\])?|(?P<index>[0-9]+)(?![A-Za-z0-9_]))")
# What a placeholder can spell, and nobody means: the comma of a list, the dollar of the placeholder.
_ODD_NAME = re.compile(r"[,$\s]")
_AMOUNT = re.compile(r"\$[0-9]+\.[0-9]")
_WORD_FOLLOWS = re.compile(r"[A-Za-z0-9_\[]")
# The numbers, booleans and nulls of the YAML 1.2 core schema, which the client does not take for names.
_NOT_TEXT = re.compile(
    r"~|null|Null|NULL|true|True|TRUE|false|False|FALSE"
    r"|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)

_Trie = dict[str, "_Trie"]
_END = ""
# Names that hold dollars can be compared with the same text over and over. No file that a person wrote comes near it.
_MAX_COMPARED = 5_000_000


class _TooManyComparisons(Exception):
    pass


def parse(document: Document) -> Parsed:
    """The template of a Claude Code command; arguments that are not names, and keys of a wrong type, refuse it."""
    problems: list[Problem] = []
    tolerated = list(odd_name(document))
    names = _names(document, problems)
    hint = hint_of(document, problems)
    description = description_of(document, problems, tolerated)
    if problems:
        return Parsed(None, in_file_order(problems))
    positions = tuple(name for name, _ in names)
    try:
        body = scan(document, _SCANNER_WITH_NAMES if names else _SCANNER, _reader(document.text, positions))
    except _TooManyComparisons:
        message = "the declared names hold dollars, and the body repeats them too often: not read"
        key = document.frontmatter["arguments"].key_span
        return Parsed(None, (Problem("too-large", key, message, "give the arguments names without a dollar"),))
    first: dict[str, Span] = {}
    for name, span in names:
        if name in first:
            message = f"`{name}` is declared twice: the later one counts for `$N` alone and shifts the rest"
            tolerated.append(Problem("duplicate-argument", span, message, "rename one of them"))
        first.setdefault(name, span)
    arguments = tuple(Argument(name, span=span) for name, span in first.items())
    declares_it = FREE_TEXT in positions
    shows_it = any(isinstance(part, Placeholder) and part.kind in (Kind.FREE_TEXT, Kind.POSITION) for part in body)
    if not declares_it and (not names or shows_it):
        arguments += (Argument(FREE_TEXT, hint or STOCK_HINT, is_free_text=True),)
    free_text = FREE_TEXT if any(argument.name == FREE_TEXT for argument in arguments) else None
    return Parsed(
        Template(
            description=description,
            arguments=arguments,
            body=body,
            positions=positions,
            free_text=free_text,
            append=None if declares_it else APPEND,
            dropped=dropped(document, ("description", "arguments", "argument-hint")),
        ),
        in_file_order(tolerated),
    )


def _names(document: Document, problems: list[Problem]) -> list[tuple[str, Span]]:
    """The declared names with their places, repeated ones too."""
    entry = document.frontmatter.get("arguments")
    if entry is None or entry.value.is_null:
        return []
    if entry.value.items is None and _is_text(entry.value):
        return [(name, entry.value.span) for name in split_white(entry.value.text or "")]
    items = entry.value.items
    if items is None or not all(_is_text(item) and item.text for item in items):
        objects = bool(items) and any(item.mapping is not None for item in items or ())
        shape = "holds objects" if objects else "is not a list of names"
        message = f"`arguments` {shape}: Claude Code discards what is not text and shifts the rest"
        help = "write names that are text and not digits alone, as in `arguments: [app, since]`"
        if objects:
            help += "; objects belong to kb: give the dialect (`--dialect kb`), or move the file out of `commands`"
        problems.append(Problem("arguments-shape", entry.key_span, message, help))
        return []
    return [(item.text or "", item.span) for item in items]


def _is_text(value: Value) -> bool:
    return value.text is not None and not (value.is_plain and _NOT_TEXT.fullmatch(value.text))


def _reader(text: str, names: tuple[str, ...]) -> Callable[[re.Match[str]], Placeholder | None]:
    """What makes a placeholder of a dollar: declared names first, the longest of them, then the built-in ones."""
    trie = _trie(names)
    left = 2 * len(text) + _MAX_COMPARED

    def read(match: re.Match[str]) -> Placeholder | None:
        nonlocal left
        start = match.start()
        escaped = text[start - 1 : start] == "\\" and text[start - 2 : start - 1] != "\\"
        end, compared = _declared(text, start, trie)
        left -= compared
        if left < 0:
            raise _TooManyComparisons
        is_amount = _AMOUNT.match(text, start) is not None  # never a placeholder, not even of a name of digits
        found = None if is_amount else _named(text, start, end) if end else _built_in(text, start)
        if escaped and (found or is_amount):
            end = found.span.end if found else start + 1
            return Placeholder(Kind.ESCAPED, text[start - 1 : end], Span(start - 1, end))
        return found

    return read


def _trie(names: Iterable[str]) -> _Trie:
    """The names character by character: many long names cost no more than the text that is compared with them."""
    trie: _Trie = {}
    for name in names:
        node = trie
        for character in name:
            node = node.setdefault(character, {})
        node[_END] = {}
    return trie


def _declared(text: str, start: int, trie: _Trie) -> tuple[int, int]:
    """Where the longest declared name after the dollar at `start` ends that no word character or bracket follows.

    0 when there is none. The second number is how many characters were compared.
    """
    node, end, found = trie, start + 1, 0
    while end < len(text) and (below := node.get(text[end])) is not None:
        node, end = below, end + 1
        if _END in node and not _WORD_FOLLOWS.match(text, end):
            found = end
    return found, end - start


def _named(text: str, start: int, end: int) -> Placeholder:
    return Placeholder(Kind.NAMED, text[start:end], Span(start, end), name=text[start + 1 : end])


def _built_in(text: str, start: int) -> Placeholder | None:
    match = _BUILT_IN.match(text, start)
    if not match:
        return None
    span, index = Span(match.start(), match.end()), match["word"] or match["index"]
    if index is None:
        return Placeholder(Kind.FREE_TEXT, match[0], span)
    return Placeholder(Kind.POSITION, match[0], span, index=int(index.lstrip("0")[:9] or "0"))


def _live(document: Document) -> Iterator[Placeholder]:
    """The built-in placeholders of the body that no backslash escapes."""
    for part in scan(document, _SCANNER, _reader(document.text, ())):
        if isinstance(part, Placeholder) and part.kind in (Kind.FREE_TEXT, Kind.POSITION):
            yield part


def _owns_path(path: PurePosixPath, declared: bool) -> str | None:
    if "commands" in path.parts[:-1]:
        return "found under commands/"
    return "declared as a command" if declared else None


def _owns_frontmatter(document: Document) -> str | None:
    if "argument-hint" in document.frontmatter:
        return "key argument-hint"
    entry = document.frontmatter.get("arguments")
    if entry is None:
        return None
    items = entry.value.items
    are_names = all(item.is_null or item.text is not None for item in items) if items else bool(entry.value.text)
    return "arguments are names" if are_names else None


def _owns_body(document: Document) -> str | None:
    return next((f"placeholder {placeholder.raw}" for placeholder in _live(document)), None)


def _foreign(document: Document) -> Iterator[Placeholder]:
    # `$1` alone is shell, SQL or money in the other dialects.
    if document.text.find("$ARGUMENTS", document.body_start) < 0:
        return iter(())
    return (placeholder for placeholder in _live(document) if "ARGUMENTS" in placeholder.raw)


def _spell(name: str) -> str | None:
    if name == FREE_TEXT:
        return "$ARGUMENTS"
    return None if _ODD_NAME.search(name) or name.isdigit() else f"${name}"


DIALECT = Dialect(
    name="claude",
    title="Claude Code commands",
    home=Home(".claude/commands", "commands", ".md"),
    keys=KEYS,
    parse=parse,
    owns_path=_owns_path,
    owns_frontmatter=_owns_frontmatter,
    owns_body=_owns_body,
    foreign=_foreign,
    spell=_spell,
    expresses=frozenset({"declared arguments", "free text", "positions"}),
    client=CLAUDE_CODE,
)
