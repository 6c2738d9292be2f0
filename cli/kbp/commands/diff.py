"""`kbp diff`: two prompts by their meaning."""

import difflib
from collections.abc import Sequence
from typing import Annotated

import typer

from kbp.commands.choice import choose
from kbp.commands.console import DONE, TO_REPORT, Console, Stop, collecting
from kbp.commands.options import STDIN, Sources, bad_choice
from kbp.comparison import Difference, differences
from kbp.display import counted, safe, safe_line
from kbp.output.jsontext import dump

FORMATS = ("text", "json")


def diff(
    console: Console,
    sources: Sources,
    first: Annotated[str, typer.Argument(metavar="A", help="A prompt's name, or a path.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    format: Annotated[
        str, typer.Option("-f", "--format", metavar="|".join(FORMATS), help="How differences are printed.")
    ] = "text",
) -> int:
    """Compare two prompts by what they publish and what they become.

    Description, arguments, and the messages for the same values count; names, dialects and spelling do not.

    \b
      kbp diff prompts/debug.md commands/debug.md
      git show HEAD:prompts/debug.md | kbp diff - prompts/debug.md --stdin-filename prompts/debug.md

    Exit code 1 when they differ.
    """
    named = [first, second]
    faults = sources.faults(reads_stdin=STDIN in (*named, *(sources.path or [])))
    faults += bad_choice("--format", format, FORMATS)
    if named == [STDIN, STDIN]:
        faults.append("stdin can be read once: one of A and B is -")
    with collecting(faults):
        one, other = (choose(name, sources, console)[0] for name in named)
    if faults:
        raise Stop(faults)
    found = list(differences(one, other))
    if format == "json":
        content = [{"what": each.what, "first": each.first, "second": each.second} for each in found]
        console.print(dump({"differences": content}))
    else:
        console.print("".join(_told(each) for each in found))
    how_many = counted(len(found), "difference") if found else "no difference"
    console.hint(f"{how_many} between {safe_line(one.path)} and {safe_line(other.path)}")
    return TO_REPORT if found else DONE


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
