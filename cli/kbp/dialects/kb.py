"""The kb dialect: `{{ name }}`, and arguments that can be required or have a default."""

import difflib
import re
from collections.abc import Iterator

from kbp.characters import WHITE
from kbp.dialects.base import (
    Dialect,
    Home,
    Parsed,
    description_of,
    dropped,
    in_file_order,
    nothing_owned,
    odd_name,
    scan,
    scanner,
    text_of,
)
from kbp.document import Document
from kbp.frontmatter import Entry, Value
from kbp.model import Argument, Kind, Placeholder, Template
from kbp.text import Edit, Fix, Problem, Span, replacement, squeeze

# Looking for the nearest name takes its time: a file with more of either was not written by a person.
_MAX_SUGGESTIONS = 50
_MAX_SUGGESTED = 60
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACEHOLDER = rf"\{{(?P<placeholder>\{{[{WHITE}]*+(?P<name>[A-Za-z_][A-Za-z0-9_]*+)[{WHITE}]*+\}}\}})"
_SCANNER = scanner(_PLACEHOLDER)
_LIVE = re.compile(_PLACEHOLDER)
# `${{ github.ref }}`, `{% if %}` and `{{#each}}` belong to other template languages, and so do plain names beside them.
_OTHER_TEMPLATES = re.compile(r"\{%|\{\{[#/^>.&!\[-]|\{\{\s*\w+(?:\.\w|\s*\|)")


def parse(document: Document) -> Parsed:
    """The template of a kb file; undeclared placeholders and faulty arguments refuse it."""
    problems: list[Problem] = []
    tolerated = list(odd_name(document))
    arguments = _arguments(document, problems)
    title, description = text_of(document, "title", problems), description_of(document, problems, tolerated)
    body = scan(document, _SCANNER, _own)
    if not any(problem.rule in ("arguments-shape", "argument-entry") for problem in problems):
        problems += _undeclared(body, [argument.name for argument in arguments])
    if problems:
        return Parsed(None, in_file_order(problems))
    left = dropped(document, ("title", "description", "arguments"))
    return Parsed(Template(title, description, tuple(arguments), body, dropped=left), in_file_order(tolerated))


def _own(match: re.Match[str]) -> Placeholder:
    return Placeholder(Kind.NAMED, match[0], Span(match.start(), match.end()), name=match["name"])


def _undeclared(body: tuple[str | Placeholder, ...], declared: list[str]) -> Iterator[Problem]:
    known = set(declared)
    suggestions = _MAX_SUGGESTIONS
    for part in body:
        if isinstance(part, Placeholder) and part.name is not None and part.name not in known:
            known.add(part.name)
            suggestions -= 1
            near = _nearest(part.name, declared) if suggestions >= 0 else []
            help = (
                f"`{near[0]}` is declared; did you mean `{{{{ {near[0]} }}}}`?"
                if near
                else "declare it under `arguments`"
            )
            fix = _renaming(body, part.name, near[0]) if near else None
            yield Problem("undeclared-placeholder", part.span, f"`{part.raw}` is not declared", help, fix)


def _renaming(body: tuple[str | Placeholder, ...], name: str, new: str) -> Fix:
    """The fix that gives the placeholders of a name another one wherever they stand."""
    edits = []
    for part in body:
        if isinstance(part, Placeholder) and part.name == name:
            start = part.span.start + part.raw.index(name)
            edits.append(Edit(Span(start, start + len(name)), new))
    return Fix(tuple(edits), is_safe=False)


def _nearest(name: str, declared: list[str]) -> list[str]:
    candidates = [each for each in declared[:_MAX_SUGGESTIONS] if len(each) <= _MAX_SUGGESTED]
    return difflib.get_close_matches(name, candidates, n=1) if len(name) <= _MAX_SUGGESTED else []


def _arguments(document: Document, problems: list[Problem]) -> list[Argument]:
    entry = document.frontmatter.get("arguments")
    if entry is None or entry.value.is_null:
        return []
    if entry.value.items is None:
        message = "`arguments` is not a list of arguments"
        help = "write a list whose items have `name`, and `description`, `required`, `default` as needed"
        problems.append(Problem("arguments-shape", entry.key_span, message, help))
        return []
    arguments: list[Argument] = []
    names: dict[str, Span] = {}
    for item in entry.value.items:
        argument = _argument(item, problems)
        if argument is None:
            continue
        name_span = (item.mapping or {})["name"].key_span
        if argument.name in names:
            first = document.lines.position(names[argument.name].start).line
            message = f"two arguments are called `{argument.name}`; the first stands on line {first}"
            problems.append(Problem("duplicate-argument", name_span, message, "rename one of them"))
        names.setdefault(argument.name, name_span)
        arguments.append(argument)
    return arguments


def _argument(item: Value, problems: list[Problem]) -> Argument | None:
    keys = item.mapping
    if keys is None:
        problems.append(_entry_fault(item.span, "an argument is not a mapping", "write `- name: …`"))
        return None
    name = keys.get("name")
    if name is None or not name.value.text:
        place = item.span if name is None else name.key_span
        problems.append(_entry_fault(_first_line(item, place), "an argument has no name", "give it a `name`"))
        return None
    faults: list[Problem] = []
    description = _text(keys, "description", faults)
    default = _text(keys, "default", faults)
    required = _required(keys.get("required"), faults)
    if required and "default" in keys:
        message = f"`{name.value.text}` is required and has a default, which could never be used"
        fix = replacement(keys["required"].value.span, "false", is_safe=False)
        place = _first_line(item, item.span)
        faults.append(Problem("required-with-default", place, message, "remove one of the two", fix))
    problems += faults
    default = (default or "") if "default" in keys else None
    return Argument(
        name.value.text, squeeze(description or "") or None, required, default, _first_line(item, item.span)
    )


def _first_line(item: Value, place: Span) -> Span:
    """The place cut to the line it starts on."""
    return Span(place.start, min(place.end, item.to_line_end().end)) if place.start == item.span.start else place


def _text(keys: dict[str, Entry], key: str, faults: list[Problem]) -> str | None:
    entry = keys.get(key)
    if entry is None or entry.value.is_null:
        return None
    if entry.value.text is None:
        faults.append(_entry_fault(entry.key_span, f"`{key}` is not text", "write it as text, in quotes if need be"))
    return entry.value.text


def _required(entry: Entry | None, faults: list[Problem]) -> bool:
    if entry is None or entry.value.is_null:
        return False
    if entry.value.boolean is None:
        written = f"`{entry.value.text}`" if entry.value.text is not None else "a list or mapping"
        message = f"`required` is {written}, not true or false"
        faults.append(_entry_fault(entry.key_span, message, "write true or false without quotes"))
    return bool(entry.value.boolean)


def _entry_fault(span: Span, message: str, help: str) -> Problem:
    return Problem("argument-entry", span, message, help)


def _owns_frontmatter(document: Document) -> str | None:
    entry = document.frontmatter.get("arguments")
    items = entry.value.items if entry else None
    return "arguments are objects" if items and all(item.mapping is not None for item in items) else None


def _owns_body(document: Document) -> str | None:
    match = _LIVE.search(document.text, document.body_start)
    return f"placeholder {{{{ {match['name']} }}}}" if match else None


def _foreign(document: Document) -> Iterator[Placeholder]:
    if document.text.find("{{", document.body_start) < 0 or _OTHER_TEMPLATES.search(document.text, document.body_start):
        return
    for match in _LIVE.finditer(document.text, document.body_start):
        before = document.text[match.start() - 1 : match.start()]
        is_meant = match["name"].lower() in ("arguments", "args") or not document.code.holds(match.start())
        if is_meant and before not in ("$", "{", "\\"):
            yield _own(match)


def _spell(name: str) -> str | None:
    return f"{{{{ {name} }}}}" if _NAME.fullmatch(name) else None


DIALECT = Dialect(
    name="kb",
    title="kb prompt files",
    home=Home("prompts", "prompts", ".md"),
    keys=frozenset({"title", "description", "arguments"}),
    parse=parse,
    owns_path=nothing_owned,
    owns_frontmatter=_owns_frontmatter,
    owns_body=_owns_body,
    foreign=_foreign,
    spell=_spell,
    expresses=frozenset(
        {"declared arguments", "argument description", "required", "default", "title", "checked placeholders"}
    ),
    aliases=("mcp-kb",),
    argument_keys=frozenset({"name", "description", "required", "default"}),
)
