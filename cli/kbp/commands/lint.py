"""`kbp lint`: what is wrong with prompt files."""

from pathlib import Path
from typing import Annotated

import typer

from kbp.commands.console import DONE, TO_REPORT, Console, Stop, collecting
from kbp.commands.options import STDIN, Reading, bad_choice, nothing_found, tell_files, tell_search
from kbp.diagnostics import Severity
from kbp.display import safe_line
from kbp.files import shown
from kbp.library import Library
from kbp.linter import run
from kbp.output.diagnostics import FORMATS, summary
from kbp.search import Search


def lint(
    console: Console,
    reading: Reading,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATHS", help="Files, folders or globs; - is one file on stdin. None: the project."),
    ] = None,
    format: Annotated[
        str, typer.Option("-f", "--format", metavar="|".join(FORMATS), help="How findings are printed.")
    ] = "full",
) -> int:
    """Find what is wrong with prompt files.

    \b
      kbp lint                            the project and every plugin in it
      kbp lint prompts/ 'teams/*/commands/*.md'
      kbp lint --format json > findings.json
      cat new.md | kbp lint - --stdin-filename commands/new.md

    Exit code 1 when there are errors; warnings and infos alone are 0. `kbp rules NAME` explains a finding.
    """
    faults = [*reading.faults(reads_stdin=STDIN in (paths or [])), *bad_choice("--format", format, FORMATS)]
    with collecting(faults):
        found = _find(reading, paths or [], console)
    if faults:
        raise Stop(faults)
    tell_search(found.search, console)
    tell_files(found.files, console)
    if not console.verbose:
        for skipped in found.search.skipped:
            if not skipped.is_fault:
                console.hint(f"skipped {safe_line(shown(skipped.path))}: {safe_line(skipped.reason)}")
    if not any(file.is_prompt for file in found.files):
        raise nothing_found(found, "kbp lint PATH")
    for root in found.search.looked_in if not paths else ():
        if root != Path.cwd():
            console.hint(f"note: looked in the project {shown(root)}; `kbp lint .` looks in this folder")
    report = run.lint(found.files)
    console.print(FORMATS[format](report, console.use_color))
    console.hint(summary(report))
    is_broken = any(skipped.is_fault for skipped in found.search.skipped)
    return TO_REPORT if report.count(Severity.ERROR) or is_broken else DONE


def _find(reading: Reading, paths: list[str], console: Console) -> Library:
    if paths:
        stdin = reading.from_stdin(console) if STDIN in paths else None
        return reading.load(reading.find_named(paths), stdin)
    search = Search()
    reading.find_project(search)
    return reading.load(search)
