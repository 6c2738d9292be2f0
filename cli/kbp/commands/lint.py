"""`kbp lint`: what is wrong with prompt files."""

import difflib
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from kbp import settings
from kbp.commands.changed import changed_files
from kbp.commands.console import DONE, TO_REPORT, Console, Stop, collecting, write_whole
from kbp.commands.linting import FORMATS, Choosing, Fixing, Narrowing, Reporting
from kbp.commands.options import STDIN, Reading, nothing_found, tell_files, tell_search
from kbp.diagnostics import Report, Severity
from kbp.display import counted, safe_line, said_of
from kbp.files import PromptFile, read_bytes, shown
from kbp.library import Library
from kbp.linter import baseline, run
from kbp.linter.choice import Choice
from kbp.linter.fixer import Fixed, edited, fix
from kbp.linter.ignores import suppressing
from kbp.output import diagnostics
from kbp.output.ci import github, hidden_by_github
from kbp.output.diagnostics import summary
from kbp.search import Search
from kbp.text import LINE_END
from kbp.walk import is_ignored


def lint(
    console: Console,
    reading: Reading,
    choosing: Choosing,
    fixing: Fixing,
    reporting: Reporting,
    narrowing: Narrowing,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATHS", help="Files, folders or globs; - is one file on stdin. None: the project."),
    ] = None,
) -> int:
    """Find what is wrong with prompt files, and fix it.

    \b
      kbp lint                            the project and every plugin in it
      kbp lint prompts/ 'teams/*/commands/*.md'
      kbp lint --diff                     what --fix would change
      kbp lint --format sarif > kbp.sarif
      cat new.md | kbp lint - --stdin-filename commands/new.md

    Exit code 1 when there are errors; warnings and infos alone are 0. `kbp rules NAME` explains a finding.
    """
    named = paths or []
    reads_stdin = STDIN in named
    faults = [*reading.faults(reads_stdin=reads_stdin), *fixing.faults(reads_stdin=reads_stdin), *reporting.faults()]
    with collecting(faults):
        choice = choosing.choice(console.configuration, faults)
        known = _known(reporting, console)
        found = _find(reading, named, narrowing, console)
    if faults:
        raise Stop(faults)
    reported = {rule.name for rule in choice.rules}
    tell_search(found.search, console, reported)
    tell_files(found.files, console)
    chosen = _narrowed(found.files, narrowing)
    if not any(file.is_prompt or file.place.outright for file in chosen):
        if not (narrowing.allow_empty or narrowing.changes_only):
            raise nothing_found(found, "kbp lint PATH")
        console.hint("no prompt files to look at")
    if reporting.show_files:
        console.print("".join(safe_line(file.path) + "\n" for file in chosen if file.is_prompt))
        return DONE
    _tell_place(found.search, named, reported, console)
    fixed = _fixed(chosen, choice, fixing)
    if fixing.diff:
        return _show_diff(fixed, console)
    after = {id(each.before): each.after for each in fixed}
    files = [after.get(id(file), file) for file in found.files]
    report = run.lint(files, choice, found.search.skipped)
    if len(chosen) < len(found.files):
        report = _about([after.get(id(file), file) for file in chosen], report)
    stdin = found.files[-1] if reads_stdin else None
    if fixing.fix:
        _write(fixed, stdin, console)
    if fixing.add_ignores:
        report = _add_ignores(chosen, report, console)
    report = _without_known(report, known, reporting, console)
    if fixing.fix and stdin is not None:
        console.print_text(after.get(id(stdin), stdin).document.text)
    _print(report, reporting, console, to_stderr=fixing.fix and reads_stdin)
    is_broken = any(skipped.is_fault and skipped.rule not in reported for skipped in found.search.skipped)
    is_changed = fixing.exit_non_zero_on_fix and bool(fixed)
    return TO_REPORT if is_broken or is_changed or _has_to_report(report, reporting, console) else DONE


def _find(reading: Reading, paths: list[str], narrowing: Narrowing, console: Console) -> Library:
    configuration = console.configuration
    if paths:
        stdin = reading.from_stdin(console) if STDIN in paths else None
        search = reading.find_named(paths, configuration, skills=True)
    else:
        stdin, search = None, Search(excluded=configuration.excluded, skills=True)
        reading.find_configured(search, configuration)
        reading.find_project(search)
    if narrowing.force_exclude:
        excluded = configuration.excluded
        search.places = [place for place in search.places if not is_ignored(place.path, place.root, excluded)]
    return reading.load(search, configuration, stdin, skills=True)


def _narrowed(files: Sequence[PromptFile], narrowing: Narrowing) -> list[PromptFile]:
    """The files to look at: all, or those that git says have changed."""
    if not narrowing.changes_only:
        return list(files)
    changed = changed_files(narrowing.changed_since or "HEAD")
    return [file for file in files if Path(os.path.realpath(file.place.path)) in changed]


def _tell_place(search: Search, paths: Sequence[str], reported: Collection[str], console: Console) -> None:
    """Say what was passed over, unless a rule reports it, and which project was looked in, unless it is the folder."""
    for skipped in search.skipped if not console.verbose else ():
        if not skipped.is_fault and skipped.rule not in reported:
            console.hint(f"skipped {safe_line(shown(skipped.path))}: {safe_line(skipped.reason)}")
    for root in search.looked_in if not paths else ():
        if root != Path.cwd():
            console.hint(f"note: looked in the project {shown(root)}; `kbp lint .` looks in this folder")


# Fixing


def _fixed(files: Sequence[PromptFile], choice: Choice, fixing: Fixing) -> list[Fixed]:
    """The files that fixes change."""
    if not (fixing.fix or fixing.diff):
        return []
    found = run.lint(files, choice.of_one_file()).diagnostics
    fixable = {each.path for each in found if each.fix and (each.fix.is_safe or fixing.unsafe_fixes)}
    results = (fix(file, choice, unsafe=fixing.unsafe_fixes) for file in files if file.path in fixable)
    return [each for each in results if each.counts]


def _show_diff(fixed: Sequence[Fixed], console: Console) -> int:
    for each in fixed:
        console.print_text("".join(_diff(each)))
    console.hint(f"{_count(fixed)} would be fixed in {counted(len(fixed), 'file')}.")
    return TO_REPORT if fixed else DONE


def _diff(fixed: Fixed) -> Iterator[str]:
    """The unified diff of a file, as git and patch take it."""
    path = fixed.before.path.replace(os.sep, "/")
    before, after = (_lines(file.document.text) for file in (fixed.before, fixed.after))
    for line in difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"):
        yield line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    """The lines with their ends."""
    ends = [end.end() for end in LINE_END.finditer(text)]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True) if start < end]


def _count(fixed: Sequence[Fixed]) -> str:
    return counted(sum(sum(each.counts.values()) for each in fixed), "finding")


def _write(fixed: Sequence[Fixed], stdin: PromptFile | None, console: Console) -> None:
    """Write the files that fixes changed, but for the one from stdin."""
    for each in fixed:
        if each.before is not stdin:
            _replace(each.before, each.after.document.text)
    if fixed:
        console.hint(f"Fixed {_count(fixed)} in {counted(len(fixed), 'file')}.")


def _replace(file: PromptFile, text: str) -> None:
    """Write a file anew, if it still is what was read.

    Raises:
        Stop: it is not, or cannot be written.
    """
    path = file.place.path
    if read_bytes(path) != file.document.text.encode():
        raise Stop(f"{file.path} was changed while lint ran: it is left alone")
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise Stop(f"{file.path} cannot be written: {said_of(error)}") from None


def _add_ignores(files: Sequence[PromptFile], report: Report, console: Console) -> Report:
    """Write comments that hide what was found, and give what is left."""
    left = list(report.diagnostics)
    count = 0
    for file in files:
        own = [diagnostic for diagnostic in report.diagnostics if diagnostic.path == file.path]
        edit = suppressing(file, own)
        if edit is None:
            continue
        _replace(file, edited(file.document.text, [edit]))
        left = [diagnostic for diagnostic in left if diagnostic not in own]
        count += 1
    console.hint(f"Wrote a comment into {counted(count, 'file')}.")
    if left:
        console.hint("What is left stands in files without a frontmatter: see lint.per-file-ignores in the settings.")
    return replace(report, diagnostics=tuple(left))


# Reporting


def _known(reporting: Reporting, console: Console) -> tuple[Path, frozenset[str]] | None:
    """The baseline: its file, and the findings that it knows."""
    configuration = console.configuration
    path = reporting.baseline
    if path is None and configuration.value("lint.baseline") and not reporting.write_baseline:
        path = configuration.folder / configuration.value("lint.baseline")
    if path is None:
        return None
    try:
        return path, baseline.read(path)
    except OSError as error:
        raise Stop(f"the baseline {path}: {said_of(error)}") from None
    except baseline.Unusable as error:
        raise Stop(f"{path} is {error}") from None


def _about(files: Sequence[PromptFile], report: Report) -> Report:
    """What a report says about some of the files."""
    paths = {file.path for file in files}
    diagnostics = tuple(diagnostic for diagnostic in report.diagnostics if diagnostic.path in paths)
    prompts = [file for file in files if file.is_prompt]
    return Report(diagnostics, len(prompts), sum(file.is_refused for file in prompts))


def _without_known(
    report: Report, known: tuple[Path, frozenset[str]] | None, reporting: Reporting, console: Console
) -> Report:
    """The report without the findings of the baseline; all of it is the baseline when one is written."""
    if reporting.write_baseline is not None:
        _put(reporting.write_baseline, baseline.written(report, reporting.write_baseline), "--write-baseline")
        console.hint(f"Wrote {counted(len(report.diagnostics), 'finding')} to {reporting.write_baseline}.")
        return replace(report, diagnostics=())
    if known is None:
        return report
    left, gone = baseline.without_known(report, known[1], known[0])
    hidden = len(report.diagnostics) - len(left.diagnostics)
    console.hint(f"The baseline knows {counted(hidden, 'finding')}.")
    if gone:
        console.hint(f"{counted(gone, 'finding')} of the baseline no longer there: --write-baseline renews it.")
    return left


def _print(report: Report, reporting: Reporting, console: Console, *, to_stderr: bool) -> None:
    """Print the findings, write them to files, and sum them up."""
    form = FORMATS[reporting.format or "full"]
    if reporting.statistics:
        form = diagnostics.statistics_as_json if reporting.format == "json" else diagnostics.statistics
    if to_stderr:
        console.explain(form(report, False).rstrip("\n"))
    else:
        console.print(form(report, console.use_color))
    is_annotated = reporting.format == "github" or (reporting.format is None and settings.is_github())
    if is_annotated and reporting.format is None:
        console.print(github(report))
    for text in reporting.output or []:
        format, _, file = text.partition("=")
        _put(Path(file), FORMATS[format](report, False), f"--output {text}")
    console.hint(summary(report))
    if is_annotated and hidden_by_github(report):
        console.hint(f"GitHub shows 10 annotations of a kind: {hidden_by_github(report)} are in this log alone.")


def _put(path: Path, text: str, option: str) -> None:
    try:
        write_whole(path, text.encode("utf-8", "surrogateescape"))
    except (OSError, ValueError, RuntimeError) as error:
        raise Stop(f"{option}: {path}: {said_of(error)}") from None


def _has_to_report(report: Report, reporting: Reporting, console: Console) -> bool:
    """Whether the findings end the run with 1."""
    if reporting.exit_zero:
        return False
    is_strict = reporting.strict or console.configuration.value("lint.strict")
    return bool(report.count(Severity.ERROR) or (is_strict and report.count(Severity.WARNING)))
