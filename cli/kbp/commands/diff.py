"""`kbp diff`: prompts by their meaning: two of them, or those of files and those of a server."""

import contextlib
import difflib
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from kbp.commands.console import DONE, TO_REPORT, Console, Stop, collecting
from kbp.commands.diffing import Finding, against_server, side_named
from kbp.commands.live import Live, live_name
from kbp.commands.options import bad_choice
from kbp.commands.sources import STDIN, Sources
from kbp.comparison import Difference, differences
from kbp.display import counted, pad, safe, safe_line, width
from kbp.output.jsontext import dump

FORMATS = ("text", "json")
_SHORT = 60


def diff(
    console: Console,
    sources: Sources,
    live: Live,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="A B", help="Two prompts: names, paths, or SERVER:NAME. With a server: paths of files."),
    ] = None,
    format: Annotated[
        str, typer.Option("-f", "--format", metavar="|".join(FORMATS), help="How differences are printed.")
    ] = "text",
) -> int:
    """Compare two prompts by what they publish and what they become.

    Or all those of files with those that a server serves. Description, arguments, and the messages for the same values
    count; names, dialects and spelling do not.

    \b
      kbp diff prompts/debug.md commands/debug.md
      git show HEAD:prompts/debug.md | kbp diff - prompts/debug.md --stdin-filename prompts/debug.md
      kbp diff prompts/debug.md docs:debug       a file, and a prompt of the server `docs`
      kbp diff --server docs prompts/            does the server serve what these files say?

    Exit code 1 when they differ.
    """
    named = names or []
    there = next((found for found, _ in (live_name(live, name, console) for name in named) if found.is_given), live)
    faults = there.faults() + sources.faults(reads_stdin=STDIN in (*named, *(sources.path or [])))
    faults += bad_choice("--format", format, FORMATS)
    if named.count(STDIN) > 1:
        faults.append("stdin can be read once: one path is -")
    if not live.is_given and len(named) != 2:
        verb = "are" if len(named) > 1 else "is"
        faults.append(f"two prompts are compared, and {len(named) or 'none'} {verb} named: kbp diff A B")
    if live.is_given:
        if faults:
            raise Stop(faults)
        return _print_findings(*against_server(named, sources, live, console), format, console)
    with contextlib.ExitStack() as stack:
        with collecting(faults):
            sides = [side_named(name, sources, live, console, stack) for name in named[:2]]
        if faults:
            raise Stop(faults)
        (one, first), (other, second) = sides
        found = list(differences(one, other))
    if format == "json":
        console.print(dump({"differences": _content(found)}))
    else:
        console.print("".join(_told(each) for each in found))
    how_many = counted(len(found), "difference") if found else "no difference"
    console.hint(f"{how_many} between {safe_line(first)} and {safe_line(second)}")
    return TO_REPORT if found else DONE


def _content(found: Sequence[Difference]) -> list[dict[str, Any]]:
    return [{"what": each.what, "first": each.first, "second": each.second} for each in found]


def _print_findings(findings: Sequence[Finding], compared: int, format: str, console: Console) -> int:
    """Print what a server does not serve as files have it, a line each."""
    if format == "json":
        content = [
            {"name": each.name, "state": each.state}
            | ({"path": each.path} if each.path else {})
            | ({"differences": _content(each.differences)} if each.differences else {})
            for each in findings
        ]
        console.print(dump({"prompts": content}))
    else:
        room = max((width(safe_line(each.name)) for each in findings), default=0)
        console.print("".join(f"{each.state:8} {pad(safe_line(each.name), room)}  {_why(each)}\n" for each in findings))
    differ = f"{len(findings)} differ" if findings else "none differs"
    console.hint(f"{counted(compared, 'prompt')} compared with the server, {differ}")
    return TO_REPORT if findings else DONE


def _why(finding: Finding) -> str:
    if finding.path is None:
        return "on the server alone"
    if not finding.differences:
        return f"{safe_line(finding.path)}: not on the server"
    return f"{safe_line(finding.path)}: {safe_line('; '.join(map(_in_short, finding.differences)))}"


def _in_short(difference: Difference) -> str:
    """What differs, and how, as far as that is short."""
    texts = (difference.first, difference.second)
    if texts == (None, None) or any(text and ("\n" in text or len(text) > _SHORT) for text in texts):
        return difference.what
    return f"{difference.what}: {_short(difference.first)} -> {_short(difference.second)}"


def _told(difference: Difference) -> str:
    """One difference: short texts beside each other, longer ones line by line."""
    first, second = difference.first, difference.second
    if not any("\n" in (text or "") for text in (first, second)):
        return f"{safe_line(difference.what)}: {_short(first)} -> {_short(second)}\n"
    lines = _lines(first or "", second or "")
    return f"{safe_line(difference.what)}:\n" + "".join(f"  {safe(line)}\n" for line in lines)


def _short(text: str | None) -> str:
    return "(none)" if text is None else safe_line(text) or "(empty)"


def _lines(first: str, second: str) -> Sequence[str]:
    ours, theirs = first.split("\n"), second.split("\n")
    return list(difflib.unified_diff(ours, theirs, lineterm="", n=1))[2:]
