"""Prompts as tables, names, JSON, and as a page about one of them."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kbp.display import fit, pad, safe, safe_line, width
from kbp.files import PromptFile
from kbp.model import Argument, Kind, Placeholder, Prompt
from kbp.output.jsontext import dump
from kbp.output.style import Meaning, styled

Row = Sequence[str]

HEADINGS = ("NAME", "DIALECT", "ARGUMENTS", "DESCRIPTION")
_NARROWEST = 8


def table(files: Sequence[PromptFile], cells: int | None = None) -> str:
    """The prompts in columns that fit into `cells`; without, separated by tabs and whole."""
    return columns(HEADINGS, [_row(file) for file in files], cells)


def names(files: Sequence[PromptFile], cells: int | None = None) -> str:
    """One name a line, for other programs: only what would break the line is spelt out."""
    return "".join(file.name.replace("\r", "\\r").replace("\n", "\\n") + "\n" for file in files)


def as_json(files: Sequence[PromptFile], cells: int | None = None) -> str:
    """`{"prompts": [Prompt…]}`, each an MCP Prompt object."""
    return dump({"prompts": _objects(files)})


def jsonl(files: Sequence[PromptFile], cells: int | None = None) -> str:
    """One MCP Prompt object a line."""
    return "".join(dump(prompt, indent=None) for prompt in _objects(files))


def markdown(files: Sequence[PromptFile], cells: int | None = None) -> str:
    """A Markdown table."""
    lines = [
        [f"`{file.name}`", *_row(file)[1:2], f"`{_row(file)[2]}`" if _row(file)[2] else "", _row(file)[3]]
        for file in files
    ]
    rows = [["Name", "Dialect", "Arguments", "Description"], ["---"] * 4, *lines]
    return "".join("| " + " | ".join(safe_line(cell).replace("|", "\\|") for cell in row) + " |\n" for row in rows)


LIST_FORMATS: dict[str, Callable[[Sequence[PromptFile], int | None], str]] = {
    "table": table,
    "names": names,
    "json": as_json,
    "jsonl": jsonl,
    "markdown": markdown,
}


def columns(headings: Row, rows: Sequence[Row], cells: int | None) -> str:
    """Rows below headings: laid out in `cells` cells, the columns shrinking from the right, or separated by tabs."""
    lines = [headings, *([safe_line(cell) for cell in row] for row in rows)]
    if cells is None:
        return "".join("\t".join(line) + "\n" for line in lines)
    widths = [max(width(line[at]) for line in lines) for at in range(len(headings))]
    excess = sum(widths) + 2 * (len(widths) - 1) - cells
    for at in reversed(range(len(widths))):
        cut = min(max(excess, 0), max(widths[at] - _NARROWEST, 0))
        widths[at] -= cut
        excess -= cut
    laid_out = (
        "  ".join(pad(fit(cell, room), room) for cell, room in zip(line, widths, strict=True)) for line in lines
    )
    return "".join(line.rstrip() + "\n" for line in laid_out)


def _row(file: PromptFile) -> Row:
    template = file.template
    if template is None or file.dialect is None:
        return (file.name, "", "", "")
    shown = " ".join(_argument(argument, argument.name == template.free_text) for argument in template.arguments)
    return (file.name, file.dialect.name, shown, template.description or "")


def _argument(argument: Argument, is_free_text: bool) -> str:
    """An argument in short: `name!` is required, `name=x` has a default, `[...]` is the free text."""
    if is_free_text and argument.span is None:
        return "[...]"
    if argument.required:
        return f"{argument.name}!"
    return f"{argument.name}={argument.default}" if argument.default is not None else argument.name


def _objects(files: Sequence[PromptFile]) -> list[dict[str, Any]]:
    return [mcp_prompt(file.prompt) for file in files if file.prompt is not None]


def mcp_prompt(prompt: Prompt) -> dict[str, Any]:
    """The MCP Prompt object; keys that would be null or empty are left out."""
    arguments = [
        _filled({"name": argument.name, "description": argument.description, "required": argument.required or None})
        for argument in prompt.arguments
    ]
    return _filled(
        {
            "name": prompt.name,
            "title": prompt.title,
            "description": prompt.description,
            "arguments": arguments,
            "_meta": _filled(dict(prompt.meta)),
        }
    )


def _filled(content: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if value not in (None, [], {})}


# One prompt


def page(file: PromptFile, color: bool = False) -> str:
    """All there is to know of one prompt: what it publishes, why it is read so, and its body."""
    return "\n".join((*_facts(file, color), "", body(file, color).rstrip("\n"))) + "\n"


def _facts(file: PromptFile, color: bool) -> Iterator[str]:
    template, dialect = file.template, file.dialect
    if template is None or dialect is None:
        return
    said = f" — {safe_line(template.description)}" if template.description else ""
    yield styled(safe_line(file.name), "strong", color) + said
    if template.title:
        yield f"title     {safe_line(template.title)}"
    yield f"file      {safe_line(file.path)} ({dialect.name}: {safe_line(file.detection.why)})"
    if template.arguments:
        yield "arguments"
        room = max(width(safe_line(argument.name)) for argument in template.arguments)
        for argument in template.arguments:
            yield f"  {pad(safe_line(argument.name), room)}    {_manner(file, argument)}"
    if template.dropped:
        yield f"dropped   {safe_line(', '.join(template.dropped))} (no meaning over MCP)"
    kept = [shown for placeholder in template.placeholders if (shown := _kept(placeholder))]
    if kept:
        yield f"kept as written   {safe_line(', '.join(dict.fromkeys(kept)))}"


def _manner(file: PromptFile, argument: Argument) -> str:
    is_free_text = file.template is not None and argument.name == file.template.free_text
    parts = ["required" if argument.required else "optional"]
    if argument.default is not None:
        parts[0] += (
            f", default {argument.default!r}"
            if argument.default != safe_line(argument.default)
            else f", default {argument.default}"
        )
    if is_free_text and argument.span is None:
        parts[0] += ", free text"
        parts.append(f"hint: {argument.description}" if argument.description else "")
    elif argument.description:
        parts.append(argument.description)
    return safe_line("; ".join(part for part in parts if part))


def _kept(placeholder: Placeholder) -> str | None:
    """A reference that only a client resolves, as it is named to a person."""
    if placeholder.kind is Kind.SHELL:
        return f"!`{placeholder.hint}`" if placeholder.hint else placeholder.raw
    return placeholder.raw if placeholder.kind is Kind.CLIENT else None


_MEANINGS: dict[Kind, Meaning] = {
    Kind.NAMED: "argument",
    Kind.POSITION: "argument",
    Kind.FREE_TEXT: "argument",
    Kind.PLUGIN_ROOT: "resolved",
    Kind.CLIENT: "kept",
    Kind.SHELL: "kept",
    Kind.ESCAPED: "faint",
}


def body(file: PromptFile, color: bool = False) -> str:
    """The body as written, its placeholders highlighted by who fills them."""
    if not color or file.template is None:
        return safe(file.document.body)
    parts = (
        styled(safe(part.raw), _MEANINGS[part.kind], color) if isinstance(part, Placeholder) else safe(part)
        for part in file.template.body
    )
    return "".join(parts)


def matches(file: PromptFile, pattern: str) -> bool:
    """Whether the prompt fits a pattern: a part of its name or description, a glob over its name, or `/regex/`.

    Raises:
        re.error: the regular expression is none.
    """
    texts = [file.name, (file.template.description if file.template else None) or ""]
    if len(pattern) > 1 and pattern.startswith("/") and pattern.endswith("/"):
        return any(re.search(pattern[1:-1], text, re.IGNORECASE) for text in texts)
    if any(sign in pattern for sign in "*?["):
        from fnmatch import fnmatchcase

        return fnmatchcase(file.name.lower(), pattern.lower())
    return any(pattern.lower() in text.lower() for text in texts)
