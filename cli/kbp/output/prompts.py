"""Prompts as tables, names, JSON, and as a page about one of them."""

import json
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate

from kbp.dialects.base import STOCK_HINT
from kbp.display import fit, pad, safe, safe_line, width
from kbp.files import PromptFile
from kbp.model import Argument, Kind, Placeholder, Prompt, mcp_prompt
from kbp.output.jsontext import dump, laid_out, on_one_line
from kbp.output.style import Meaning, styled
from kbp.text import Spans

Row = Sequence[str]

HEADINGS = ("NAME", "DIALECT", "ARGUMENTS", "DESCRIPTION")
_NARROWEST = 8
_MAX_SHOWN = 300


def table(prompts: Sequence[Prompt], cells: int | None = None) -> str:
    """The prompts in columns that fit into `cells`; without, separated by tabs and whole.

    Those of a server have no dialect, and no column for it.
    """
    if not prompts:
        return ""
    rows = [_row(prompt) for prompt in prompts]
    if any(prompt.wire is not None for prompt in prompts):
        return columns(_without_dialect(HEADINGS), [_without_dialect(row) for row in rows], cells)
    return columns(HEADINGS, rows, cells)


def names(prompts: Sequence[Prompt], cells: int | None = None) -> str:
    """One name a line, for other programs: only what would break the line is spelt out."""
    return "".join(prompt.name.replace("\r", "\\r").replace("\n", "\\n") + "\n" for prompt in prompts)


def as_json(prompts: Sequence[Prompt], cells: int | None = None) -> str:
    """`{"prompts": [Prompt…]}`, each an MCP Prompt object."""
    return page_as_json(prompts)


def page_as_json(prompts: Sequence[Prompt], next_cursor: str | None = None) -> str:
    """The same, with `nextCursor` where there is more. What came from a server is written as it came."""
    more = f', "nextCursor": {json.dumps(next_cursor)}' if next_cursor is not None else ""
    return laid_out(f'{{"prompts": [{", ".join(map(_json, prompts))}]{more}}}')


def one_as_json(prompt: Prompt) -> str:
    """The MCP Prompt object."""
    return laid_out(_json(prompt))


def _json(prompt: Prompt) -> str:
    return prompt.text or json.dumps(mcp_prompt(prompt), ensure_ascii=False)


def jsonl(prompts: Sequence[Prompt], cells: int | None = None) -> str:
    """One MCP Prompt object a line."""
    return "".join(on_one_line(_json(prompt)) for prompt in prompts)


def markdown(prompts: Sequence[Prompt], cells: int | None = None) -> str:
    """A Markdown table."""
    is_live = any(prompt.wire is not None for prompt in prompts)
    rows: list[Row] = [["Name", "Dialect", "Arguments", "Description"], ["---"] * 4]
    for prompt in prompts:
        name, dialect, arguments, description = _row(prompt)
        rows.append([f"`{name}`", dialect, f"`{arguments}`" if arguments else "", description])
    rows = list(map(_without_dialect, rows)) if is_live else rows
    return "".join("| " + " | ".join(safe_line(cell).replace("|", "\\|") for cell in row) + " |\n" for row in rows)


LIST_FORMATS: dict[str, Callable[[Sequence[Prompt], int | None], str]] = {
    "table": table,
    "names": names,
    "json": as_json,
    "jsonl": jsonl,
    "markdown": markdown,
}


def columns(headings: Row, rows: Sequence[Row], cells: int | None) -> str:
    """Rows below headings: laid out in `cells` cells, or separated by tabs.

    Where there is no room for all, a column takes at most two fifths of it but for the last, and then they shrink from
    the right.
    """
    lines = [headings, *([safe_line(cell) for cell in row] for row in rows)]
    if cells is None:
        return "".join("\t".join(line) + "\n" for line in lines)
    widths = [max(width(line[at]) for line in lines) for at in range(len(headings))]
    if sum(widths) + 2 * (len(widths) - 1) > cells:
        widths = [min(each, max(cells * 2 // 5, _NARROWEST)) for each in widths[:-1]] + widths[-1:]
    excess = sum(widths) + 2 * (len(widths) - 1) - cells
    for at in reversed(range(len(widths))):
        cut = min(max(excess, 0), max(widths[at] - _NARROWEST, 0))
        widths[at] -= cut
        excess -= cut
    laid_out = (
        "  ".join(pad(fit(cell, room), room) for cell, room in zip(line, widths, strict=True)) for line in lines
    )
    return "".join(line.rstrip() + "\n" for line in laid_out)


def _without_dialect(row: Row) -> Row:
    return (row[0], *row[2:])


def _row(prompt: Prompt) -> Row:
    arguments = " ".join(map(_argument, prompt.arguments))
    return (prompt.name, prompt.meta.get("kbp/dialect", ""), arguments, prompt.description or "")


def _argument(argument: Argument) -> str:
    """An argument in short: `name!` is required, `name=x` has a default, `[...]` is the free text."""
    if argument.is_free_text:
        return "[...]"
    if argument.required:
        return f"{argument.name}!"
    return f"{argument.name}={argument.default}" if argument.default is not None else argument.name


# One prompt


def live_page(prompt: Prompt, server: str, color: bool = False) -> str:
    """All that a server says of one prompt."""
    said = f" — {safe_line(prompt.description)}" if prompt.description else ""
    lines = [styled(safe_line(prompt.name), "strong", color) + said]
    lines += [f"title     {safe_line(prompt.title)}"] if prompt.title else []
    lines.append(f"server    {safe_line(server)}")
    if prompt.arguments:
        room = max(width(safe_line(argument.name)) for argument in prompt.arguments)
        lines.append("arguments")
        for argument in prompt.arguments:
            title = f" ({safe_line(argument.title)})" if argument.title else ""
            lines.append(f"  {pad(safe_line(argument.name), room)}    {_manner(argument)}{title}")
    known = ("name", "title", "description", "arguments")
    for key, value in (prompt.wire or {}).items():
        if key not in known:
            lines.append(f"{pad(safe_line(key), 9)} {fit(safe_line(dump(value, indent=None).rstrip()), _MAX_SHOWN)}")
    return "\n".join(lines) + "\n"


def preview(file: PromptFile) -> str:
    """One prompt at a glance: what it is, its arguments, its body."""
    template, dialect = file.template, file.dialect
    if template is None or dialect is None:
        return ""
    lines = [safe_line(f"{file.name} · {dialect.name} · {file.path}")]
    lines += [safe_line(template.description)] if template.description else []
    room = max((width(safe_line(argument.name)) for argument in template.arguments), default=0)
    for argument in template.arguments:
        need = "required" if argument.required else argument.default or "optional"
        said = f"{pad(safe_line(argument.name), room)}  {fit(safe_line(need[:500]), 40)}  {argument.description or ''}"
        lines.append(safe_line(said[:2000]).rstrip())
    return "\n".join((*lines, "", body(file).strip("\n"))) + "\n"


def refusal(file: PromptFile) -> str:
    """Why a file does not become a prompt, at a glance."""
    lines = file.document.lines
    said = [
        f"{lines.position(each.span.start).line}: {safe_line(each.message)} [{each.rule}]" for each in file.problems
    ]
    return "\n".join([safe_line(f"{file.name} · refused · {file.path}"), "", *said]) + "\n"


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
            yield f"  {pad(safe_line(argument.name), room)}    {_manner(argument)}"
    if template.dropped:
        yield f"dropped   {safe_line(', '.join(template.dropped))} (no meaning over MCP)"
    code = file.document.code
    kept = [shown for placeholder in template.placeholders if (shown := _kept(placeholder, code))]
    if kept:
        yield f"kept as written   {safe_line(', '.join(dict.fromkeys(kept)))}"


def _manner(argument: Argument) -> str:
    parts = ["required" if argument.required else "optional"]
    if argument.default is not None:
        parts[0] += f", default {argument.default or 'empty'}"
    if argument.is_free_text:
        parts[0] += ", free text"
    if argument.description and argument.description != STOCK_HINT:
        parts.append(f"hint: {argument.description}" if argument.is_free_text else argument.description)
    return safe_line("; ".join(parts))


def _kept(placeholder: Placeholder, code: Spans) -> str | None:
    """A reference that only a client resolves, as it is named to a person. In code an `@` is seldom one."""
    if placeholder.raw.startswith("@") and code.holds(placeholder.span.start):
        return None
    if placeholder.kind is Kind.SHELL:
        return f"!`{placeholder.hint}`" if placeholder.hint else placeholder.raw
    return placeholder.raw if placeholder.kind is Kind.CLIENT else None


_MEANINGS: dict[Kind, Meaning] = {
    Kind.NAMED: "argument",
    Kind.POSITION: "argument",
    Kind.FREE_TEXT: "argument",
    Kind.PLUGIN_ROOT: "resolved",
    Kind.SKILL_FOLDER: "resolved",
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


def matcher(pattern: str) -> Callable[[Prompt], bool]:
    """What says whether a prompt fits a pattern: a part of its name or description, a glob over its name, or `/regex/`.

    Raises:
        re.error, OverflowError, RecursionError: the regular expression is none.
    """
    if len(pattern) > 1 and pattern.startswith("/") and pattern.endswith("/"):
        with warnings.catch_warnings(action="ignore"):
            regex = re.compile(pattern[1:-1], re.IGNORECASE)
        return lambda prompt: any(map(regex.search, _searched(prompt)))
    part = pattern.lower()
    if any(sign in pattern for sign in "*?["):
        with warnings.catch_warnings(action="ignore"):
            glob = re.compile(translate(part))
        return lambda prompt: glob.match(prompt.name.lower()) is not None
    return lambda prompt: any(part in text.lower() for text in _searched(prompt))


def _searched(prompt: Prompt) -> tuple[str, str, str]:
    return prompt.name, prompt.title or "", prompt.description or ""
