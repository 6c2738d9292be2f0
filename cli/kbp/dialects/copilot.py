"""The Copilot dialect: `.prompt.md` files (VS Code 1.138.0), whose arguments are the inputs of the body."""

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from kbp.dialects.base import (
    STOCK_HINT,
    VS_CODE,
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
    wrong_type,
)
from kbp.document import Document
from kbp.model import FREE_TEXT, Argument, Kind, Placeholder, Template
from kbp.text import Problem, Span, squeeze

SUFFIX = ".prompt.md"
APPEND = "\n\n"

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_OPENING = r"\$(?P<input>\{input:(?P<name>[A-Za-z0-9_][A-Za-z0-9_-]*)(?=[:}]))"
_SCANNER = scanner(_OPENING)
_INPUT = re.compile(_OPENING)


def parse(document: Document) -> Parsed:
    """The template of a Copilot prompt file; only keys of a wrong type refuse it."""
    problems: list[Problem] = []
    tolerated = [*odd_name(document), *_wrong_types(document)]
    description = description_of(document, problems, tolerated)
    hint = hint_of(document, problems)
    if problems:
        return Parsed(None, in_file_order(problems))
    body = scan(document, _SCANNER, _reader(document.text))
    arguments = _inputs(part for part in body if isinstance(part, Placeholder) and part.kind is Kind.NAMED)
    free_text = None
    if not arguments and "argument-hint" in document.frontmatter:
        free_text = FREE_TEXT
        arguments = (Argument(FREE_TEXT, hint or STOCK_HINT, is_free_text=True),)
    return Parsed(
        Template(
            description=description,
            arguments=arguments,
            body=body,
            free_text=free_text,
            append=APPEND if free_text else None,
            dropped=dropped(document, ("description", "argument-hint")),
        ),
        in_file_order(tolerated),
    )


def _wrong_types(document: Document) -> Iterator[Problem]:
    """The keys that VS Code calls an error for their type: it then goes without them."""
    for key in ("agent", "mode"):
        entry = document.frontmatter.get(key)
        if entry is not None and entry.value.text is None and not entry.value.is_null:
            yield wrong_type(entry, "text")
    tools = document.frontmatter.get("tools")
    if tools is not None and (
        tools.value.entries is not None or any(item.text is None for item in tools.value.items or ())
    ):
        yield wrong_type(tools, "text or a list of texts")
    model = document.frontmatter.get("model")
    if model is not None and (model.value.entries is not None or model.value.items == ()):
        yield wrong_type(model, "text or a list of texts")


def _inputs(placeholders: Iterator[Placeholder]) -> tuple[Argument, ...]:
    """One argument a name, in order of appearance, described by the first text that is not empty."""
    found: dict[str, str | None] = {}
    for placeholder in placeholders:
        name = placeholder.name or ""
        found[name] = found.get(name) or squeeze(placeholder.hint or "") or None
    return tuple(Argument(name, description) for name, description in found.items())


def _reader(text: str) -> Callable[[re.Match[str]], Placeholder | None]:
    last = text.rfind("}")

    def read(match: re.Match[str]) -> Placeholder | None:
        if match.end() > last:
            return None
        end = text.index("}", match.end())
        hint = text[match.end() + 1 : end] if text[match.end()] == ":" else None
        return Placeholder(
            Kind.NAMED, text[match.start() : end + 1], Span(match.start(), end + 1), name=match["name"], hint=hint
        )

    return read


def _live(document: Document) -> Iterator[Placeholder]:
    read, at = _reader(document.text), document.body_start
    for match in _INPUT.finditer(document.text, at):
        placeholder = read(match) if match.start() >= at else None
        if placeholder:
            at = placeholder.span.end
            yield placeholder


def _owns_path(path: PurePosixPath, declared: bool) -> str | None:
    return f"named *{SUFFIX}" if path.name.endswith(SUFFIX) else None


def _owns_frontmatter(document: Document) -> str | None:
    return next((f"key {key}" for key in document.frontmatter if key in ("agent", "tools", "mode")), None)


def _owns_body(document: Document) -> str | None:
    return next((f"placeholder ${{input:{placeholder.name}}}" for placeholder in _live(document)), None)


def _spell(name: str) -> str | None:
    return f"${{input:{name}}}" if _NAME.fullmatch(name) else None


DIALECT = Dialect(
    name="copilot",
    title="Copilot .prompt.md files",
    home=Home(".github/prompts", ".github/prompts", SUFFIX, is_flat=True),
    keys=frozenset({"name", "description", "argument-hint", "agent", "model", "tools", "mode"}),
    parse=parse,
    owns_path=_owns_path,
    owns_frontmatter=_owns_frontmatter,
    owns_body=_owns_body,
    foreign=_live,
    spell=_spell,
    expresses=frozenset({"argument description", "free text", "inputs"}),
    client=VS_CODE,
    renamed={"mode": "agent"},
)
