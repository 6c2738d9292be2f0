"""What a dialect is, and what all of them share: text keys, client placeholders, one scan of the body."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from kbp.document import Document
from kbp.frontmatter import Entry, Value, quoted
from kbp.model import Kind, Placeholder, Template
from kbp.text import LINE_END, Fix, Problem, Span, replacement, squeeze, with_unix_line_ends

STOCK_HINT = "Everything typed after the command."

Ability = Literal[
    "declared arguments",
    "argument description",
    "required",
    "default",
    "free text",
    "positions",
    "title",
    "checked placeholders",
    "inputs",
    "own folder",
]


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a dialect makes of a document: a template, and its problems.

    Without a template the problems refuse the file; beside one they are those that it can live with.
    """

    template: Template | None = None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Home:
    """Where the files of a dialect are kept by convention.

    Attributes:
        folder: their folder below a project.
        in_plugin: their folder below a Claude Code plugin.
        ending: what follows the name of a prompt in the path of its file.
        is_flat: whether nothing below a folder of that folder is found.
    """

    folder: str
    in_plugin: str
    ending: str
    is_flat: bool = False


@dataclass(frozen=True, slots=True)
class Dialect:
    """One spelling of prompt files.

    Its abilities are what a prompt in it can have; one with an `own folder` is called like that, and its `name` and
    `description` keys are required.

    Attributes:
        name: the word for it in options and output.
        title: what it is, for a person.
        home: where its files are kept.
        keys: the keys that it knows.
        parse: the template in a document whose frontmatter could be read.
        owns_path: why a path (relative to its root, and whether a manifest declares it a command) makes a file its
            own, or None.
        owns_frontmatter: why the keys do, or None.
        owns_body: why the live placeholders of the body do, or None.
        foreign: its placeholders in a text of another dialect that a person surely meant for this one.
        spell: how it writes the argument of that name, None when it cannot.
        expresses: what it can say.
        aliases: other words for it.
        client: the program that resolves what only a client can in its files, None: no one program.
        argument_keys: the keys of an argument that is an object.
        renamed: keys that a client has given another name, with that name.
    """

    name: str
    title: str
    home: Home
    keys: frozenset[str]
    parse: Callable[[Document], Parsed]
    owns_path: Callable[[PurePosixPath, bool], str | None]
    owns_frontmatter: Callable[[Document], str | None]
    owns_body: Callable[[Document], str | None]
    foreign: Callable[[Document], Iterator[Placeholder]]
    spell: Callable[[str], str | None]
    expresses: frozenset[Ability]
    aliases: tuple[str, ...] = ()
    client: str | None = None
    argument_keys: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)


def in_file_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems by where they stand."""
    return tuple(sorted(problems, key=lambda problem: problem.span))


def nothing_owned(path: PurePosixPath, declared: bool) -> str | None:
    """No path is the dialect's own."""
    return None


def text_of(document: Document, key: str, problems: list[Problem]) -> str | None:
    """The value of a text key on one line; None when it is absent, null or blank. A list or mapping is a problem."""
    entry = document.frontmatter.get(key)
    if entry is None or entry.value.is_null:
        return None
    if entry.value.text is None:
        problems.append(wrong_type(entry, "text"))
        return None
    return squeeze(entry.value.text) or None


def description_of(document: Document, problems: list[Problem], tolerated: list[Problem]) -> str | None:
    """The `description` on one line. A blank one is tolerated: it counts as absent, and VS Code calls it an error."""
    entry = document.frontmatter.get("description")
    description = text_of(document, "description", problems)
    if entry is not None and description is None and entry.value.text is not None:
        tolerated.append(
            Problem("key-type", entry.key_span, "`description` is blank", "say what the prompt does, or remove the key")
        )
    return description


def odd_name(document: Document) -> Iterator[Problem]:
    """The fault of a `name` that is a list or mapping, which no client can use and none needs."""
    entry = document.frontmatter.get("name")
    if entry is not None and entry.value.text is None and not entry.value.is_null:
        yield wrong_type(entry, "text")


def hint_of(document: Document, problems: list[Problem]) -> str | None:
    """The `argument-hint` on one line, a list joined with blanks; None when it is absent, null or blank."""
    entry = document.frontmatter.get("argument-hint")
    if entry is None or entry.value.items is None:
        return text_of(document, "argument-hint", problems)
    texts = [item.text for item in entry.value.items if not item.is_null]
    if None in texts:
        problems.append(wrong_type(entry, "text or a list of texts"))
    return squeeze(" ".join(text for text in texts if text is not None)) or None


def wrong_type(entry: Entry, wanted: str) -> Problem:
    """The fault of a key that holds a list or mapping where something else is wanted."""
    kind = "a mapping" if entry.value.items is None else "a list" if entry.value.items else "an empty list"
    if wanted.endswith("texts") and entry.value.items:
        kind = "a list that holds more than texts"
    message, help = f"`{entry.key}` is {kind}, not {wanted}", "write it as text, in quotes if need be"
    return Problem("key-type", entry.key_span, message, help, quoting(entry.value) if wanted == "text" else None)


def quoting(value: Value) -> Fix | None:
    """The fix that makes a text of a list or mapping in brackets, as it is written; None of one over several lines."""
    written = value.block.source[value.span.start - value.block.shift : value.span.end - value.block.shift]
    if written[:1] not in ("[", "{") or LINE_END.search(written):
        return None
    return replacement(value.span, quoted(written))


def dropped(document: Document, used: tuple[str, ...]) -> tuple[str, ...]:
    """The keys that the dialect has no use for over MCP, in file order."""
    return tuple(key for key in document.frontmatter if key not in used)


# What only a client can resolve. Each alternative opens with its own character, outside of any group, so that the
# regular expression engine looks for these few characters alone.
_CLIENT = (
    r"\$(?P<variable>\{(?:CLAUDE_[A-Z_]+|selection|selectedText|(?:file|workspaceFolder|relativeFile)[A-Za-z]*)\})"
    r"|#(?P<reference>(?:file|tool):[^\s#`${\\]+)"
    r"|@(?<![^\s(\[\"'`]@)(?P<path>(?:[A-Za-z0-9_.~-]*/)*[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)"
    r"|!(?<![^\s]!)(?P<shell>`(?=(?P<command>[^`\r\n]+)`))"
    r"|`(?P<fence>``!(?=[ \t]*(?:\r\n|\r|\n)))"
)
_CLIENT_GROUPS = ("variable", "reference", "path")
_SHELL_GROUPS = ("shell", "fence")


def scanner(own: str) -> re.Pattern[str]:
    """One pattern that finds the placeholders of the clients and those a dialect spells itself.

    Args:
        own: alternatives that open with a literal character and hold a named group around the rest.
    """
    return re.compile(f"{_CLIENT}|{own}")


def scan(
    document: Document, pattern: re.Pattern[str], own: Callable[[re.Match[str]], Placeholder | None]
) -> tuple[str | Placeholder, ...]:
    """The body as text and placeholders, in one pass. `own` makes a placeholder of a match that is not a client's."""
    text, at = document.text, document.body_start
    parts: list[str | Placeholder] = []
    for match in pattern.finditer(text, at):
        if match.start() < at:  # inside the placeholder before
            continue
        found = client_placeholder(match) or own(match)
        if found is None or found.span.start < at:
            continue
        if found.span.start > at:
            parts.append(with_unix_line_ends(text[at : found.span.start]))
        parts.append(found)
        at = found.span.end
    if at < len(text):
        parts.append(with_unix_line_ends(text[at:]))
    return tuple(parts)


CLAUDE_CODE, VS_CODE = "Claude Code", "VS Code"


def client_of(placeholder: Placeholder) -> str | None:
    """The client that resolves a placeholder; None when it is none of a client."""
    if placeholder.kind is Kind.SHELL or placeholder.raw.startswith(("@", "${CLAUDE_")):
        return CLAUDE_CODE
    return VS_CODE if placeholder.kind is Kind.CLIENT else None


def client_placeholder(match: re.Match[str]) -> Placeholder | None:
    """The placeholder of a match that only a client can resolve, None when the match is the dialect's own."""
    span = Span(match.start(), match.end())
    if match.lastgroup in _SHELL_GROUPS:
        return Placeholder(Kind.SHELL, match[0], span, hint=match["command"])
    if match.lastgroup in _CLIENT_GROUPS:
        kind = Kind.PLUGIN_ROOT if match[0] == "${CLAUDE_PLUGIN_ROOT}" else Kind.CLIENT
        return Placeholder(kind, match[0], span)
    return None
