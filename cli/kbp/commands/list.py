"""`kbp list`: the prompts there are."""

import difflib
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from kbp import dialects
from kbp.commands.console import DONE, Console, Stop, collecting
from kbp.commands.listing import Listing
from kbp.commands.live import Live, not_for_live
from kbp.commands.options import bad_choice
from kbp.commands.sources import STDIN, Sources, tell_files
from kbp.display import counted, safe_line
from kbp.files import shown
from kbp.library import Library, twins
from kbp.live.source import Listing as Found
from kbp.model import Prompt
from kbp.output.prompts import LIST_FORMATS, Row, columns, matcher, page_as_json

_UNBOUNDED = 10_000


def list_prompts(
    console: Console,
    sources: Sources,
    live: Live,
    listing: Listing,
    pattern: Annotated[
        str | None,
        typer.Argument(metavar="PATTERN", help="A part of a name or description, a glob, or /regex/."),
    ] = None,
    format: Annotated[
        str, typer.Option("-f", "--format", metavar="|".join(LIST_FORMATS), help="How prompts are printed.")
    ] = "table",
    only_dialect: Annotated[
        str | None,
        typer.Option("--only-dialect", metavar="|".join(dialects.names()[1:]), help="Only prompts of that dialect."),
    ] = None,
    generated: Annotated[
        bool, typer.Option("--generated", help="Generated prompts too, beside their sources.")
    ] = False,
    shadowed: Annotated[
        bool, typer.Option("--shadowed", help="The prompts whose name a stronger source serves.")
    ] = False,
    skipped: Annotated[bool, typer.Option("--skipped", help="The files that are not served, with the reason.")] = False,
    no_pager: Annotated[bool, typer.Option("--no-pager", help="Do not page a long list.")] = False,
) -> int:
    """List the prompts of the project, its plugins and your own folders.

    \b
      kbp list                     name, dialect, arguments, description
      kbp list log                 those with "log" in the name or description
      kbp list 'deploy*' --format names
      kbp list --skipped           what is not served, and why
      kbp list --server docs       the prompts of a live server

    An argument `app!` is required, `since=1h` has a default, `[...]` is the text typed after the command.
    """
    faults = [*live.faults(), *listing.faults(is_live=live.is_given)]
    if faults and not live.is_given:
        raise Stop(faults)
    faults += sources.faults(reads_stdin=STDIN in (sources.path or []))
    faults += bad_choice("--format", format, LIST_FORMATS)
    if only_dialect is not None:
        faults += bad_choice("--only-dialect", only_dialect, dialects.names()[1:])
    if shadowed and skipped:
        faults.append("--shadowed and --skipped: give one of them")
    if (shadowed or skipped) and (pattern is not None or only_dialect is not None or format != "table"):
        faults.append("--shadowed and --skipped show a table of their own: give no PATTERN, --format or --only-dialect")
    if live.is_given:
        faults += not_for_live(sources)
        options = {
            "--only-dialect": only_dialect,
            "--generated": generated,
            "--shadowed": shadowed,
            "--skipped": skipped,
        }
        faults += [
            f"{each} is for prompt files: leave it out with a server" for each, value in options.items() if value
        ]
        if faults:
            raise Stop(faults)
        return _list_live(console, live, listing, pattern, format, no_pager=no_pager)
    with collecting(faults):
        found = sources.find(console)
    if faults:
        raise Stop(faults)
    tell_files(found.files, console)
    if skipped:
        _print_whole(("PATH", "REASON"), _skipped(found), "nothing is skipped", console)
    elif shadowed:
        rows = [(file.name, file.path, winner.path) for file, winner in found.shadowed()]
        _print_whole(("NAME", "PATH", "SHADOWED BY"), rows, "nothing is shadowed", console)
    else:
        chosen = _chosen(replace(found, generated=generated), pattern, only_dialect)
        console.page(LIST_FORMATS[format](chosen, console.cells), no_pager=no_pager)
        console.hint(_summary(found, chosen))
    return DONE


def _list_live(
    console: Console, live: Live, listing: Listing, pattern: str | None, format: str, *, no_pager: bool
) -> int:
    """List the prompts of a server."""

    def show(found: Found) -> None:
        _show_live(found, console, live, pattern, format, no_pager=no_pager)

    return listing.read(live, console, show)


def _show_live(found: Found, console: Console, live: Live, pattern: str | None, format: str, *, no_pager: bool) -> None:
    chosen = _matching(list(found.prompts), pattern, ["kbp", "list", *live.spelt()])
    is_json = format == "json"
    text = page_as_json(chosen, found.next_cursor) if is_json else LIST_FORMATS[format](chosen, console.cells)
    console.page(text, no_pager=no_pager)
    more = f"; the next page: --page {shlex.quote(found.next_cursor)}" if found.next_cursor is not None else ""
    console.hint(safe_line(counted(len(chosen), "prompt") + more))


def _print_whole(headings: Row, rows: Sequence[Row], nothing: str, console: Console) -> None:
    """Print rows in columns of which nothing is cut off."""
    if rows:
        console.print(columns(headings, rows, _UNBOUNDED if console.cells else None))
    else:
        console.hint(nothing)


def _summary(found: Library, chosen: Sequence[Prompt]) -> str:
    folders = len({Path(prompt.meta["kbp/path"]).parent for prompt in chosen})
    left = len(_skipped(found))
    more = f", {counted(left, 'file')} skipped (`kbp list --skipped`)" if left else ""
    return f"{counted(len(chosen), 'prompt')} in {counted(folders, 'folder')}{more}"


def _chosen(found: Library, pattern: str | None, only_dialect: str | None) -> list[Prompt]:
    dialect = dialects.dialect_called(only_dialect) if only_dialect else None
    return _matching(
        [prompt for prompt in found.prompts() if dialect is None or dialect.name == prompt.meta["kbp/dialect"]], pattern
    )


def _matching(prompts: list[Prompt], pattern: str | None, command: Sequence[str] = ("kbp", "list")) -> list[Prompt]:
    """The prompts that a pattern fits. The command is what lists them all.

    Raises:
        Stop: it fits none, or is no regular expression.
    """
    if pattern is None:
        return prompts
    try:
        chosen = list(filter(matcher(pattern), prompts))
    except (re.error, OverflowError, RecursionError) as error:
        raise Stop(f"{pattern} is not a regular expression: {error}") from None
    if not chosen:
        near = difflib.get_close_matches(pattern, [prompt.name for prompt in prompts], n=3)
        help = [f"  did you mean: {', '.join(near)}?"] if near else []
        if os.path.exists(pattern):
            help.append(f"  to list the prompts in it: kbp list -p {shlex.quote(pattern)}")
        help.append(f"  {counted(len(prompts), 'prompt')} found; `{safe_line(shlex.join(command))}` shows them")
        raise Stop(f"no prompt matches '{pattern}'", help=help)
    return chosen


def _skipped(found: Library) -> list[tuple[str, str]]:
    """The paths that are not served, each with the reason."""
    rows = [(shown(skipped.path), skipped.reason) for skipped in found.search.skipped]
    for file in found.files:
        if not file.is_prompt:
            rows.append((file.path, file.detection.why))
        elif file.is_refused:
            problem = file.problems[0]
            line = file.document.lines.position(problem.span.start).line
            rows.append((f"{file.path}:{line}", f"{problem.rule}: {problem.message}"))
    rows += [(file.path, f"generated from {file.mark.source}") for file in twins(found.files) if file.mark]
    rows += [(file.path, f"name-collision: {winner.path} serves `{file.name}`") for file, winner in found.collisions()]
    return sorted(rows)
