"""`kbp lint`: what is wrong with prompt files."""

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from kbp import settings
from kbp.commands.changed import HEAD, changed_files, repository
from kbp.commands.console import (
    DONE,
    TO_REPORT,
    WRONG_REQUEST,
    Console,
    Stop,
    collecting,
    collecting_into,
    write_whole,
)
from kbp.commands.fixing import count_of, fixed_files, write_fixed, write_ignores
from kbp.commands.linting import FORMATS, Choosing, Fixing, Narrowing, Reporting
from kbp.commands.sources import STDIN, PipedReading, nothing_found, tell_files, tell_search
from kbp.diagnostics import Report, Severity
from kbp.display import counted, safe_line, said_of
from kbp.files import PromptFile, shown
from kbp.library import Library
from kbp.linter import baseline, run
from kbp.linter.baseline import Known, Scope
from kbp.linter.fixer import Fixed
from kbp.linter.rules import RULES
from kbp.output import diagnostics
from kbp.output.ci import SHOWN_BY_GITHUB, github, hidden_by_github
from kbp.output.diagnostics import summary
from kbp.output.diff import unified
from kbp.search import Search
from kbp.walk import Skipped, is_ignored


def lint(
    console: Console,
    reading: PipedReading,
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
    faults = [*reading.faults(reads_stdin=reads_stdin), *fixing.faults(reads_stdin=reads_stdin)]
    faults += [*reporting.faults(fixing), *narrowing.faults(reads_stdin=reads_stdin)]
    with collecting(faults):
        choice = choosing.choice(console.configuration, faults)
        known = _known(reporting, console)
        found = _find(reading, named, narrowing, console)
    if faults:
        raise Stop(faults)
    reported = {rule.name for rule in choice.rules}
    tell_search(found.search, console, reported)
    tell_files(found.files, console)
    chosen, passed = _narrowed(found, narrowing)
    if not any(file.is_prompt or file.place.outright for file in chosen):
        if not (narrowing.allow_empty or narrowing.changes_only):
            raise nothing_found(found, "kbp lint PATH")
        console.hint("no prompt files to look at")
    if reporting.show_files:
        console.print("".join(safe_line(file.path) + "\n" for file in chosen if file.is_prompt))
        return DONE
    _tell_place(found.search, named, reported, console)
    fixed = fixed_files(chosen, choice, unsafe=fixing.unsafe_fixes) if fixing.fix or fixing.diff else []
    if fixing.diff:
        return _show_diff(fixed, console) if not reporting.exit_zero else _show_diff(fixed, console) and DONE
    stdin = found.files[-1] if reads_stdin else None
    failed = write_fixed(fixed, stdin, console) if fixing.fix else []
    after = {id(each.before): each.after for each in fixed if each not in failed}
    files = [after.get(id(file), file) for file in chosen]
    report = run.lint([after.get(id(file), file) for file in found.files], choice, passed)
    if len(chosen) < len(found.files):
        report = _about(files, report, passed)
    is_whole = True
    if fixing.add_ignores:
        report, is_whole = _with_ignores(chosen, report, console)
    scope = Scope(None if not named and not narrowing.changes_only else _paths(files, passed), frozenset(reported))
    report = _without_known(report, known, scope, reporting, console)
    if fixing.fix and stdin is not None:
        _print_fixed(after.get(id(stdin), stdin), console)
    _print(report, reporting, console, to_stderr=fixing.fix and reads_stdin)
    if failed or not is_whole:
        return WRONG_REQUEST
    is_broken = any(skipped.is_fault and skipped.rule not in reported for skipped in found.search.skipped)
    is_changed = fixing.exit_non_zero_on_fix and bool(fixed)
    has_to_report = is_broken or is_changed or _has_to_report(report, reporting, console)
    return TO_REPORT if has_to_report and not reporting.exit_zero else DONE


def _find(reading: PipedReading, paths: list[str], narrowing: Narrowing, console: Console) -> Library:
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
        kept = [place for place in search.places if not is_ignored(place.path, place.root, excluded)]
        gone = {place.path for place in search.places} - {place.path for place in kept}
        search.skipped += [Skipped(path, "ignored or excluded (--force-exclude)") for path in sorted(gone)]
        search.places = kept
    return reading.load_with(stdin, search, configuration, skills=True)


def _narrowed(found: Library, narrowing: Narrowing) -> tuple[list[PromptFile], list[Skipped]]:
    """The files to look at, and what was passed over that is reported: all, or what git says has changed.

    Of files that were named one by one, the manifests around are not looked at.
    """
    folders = found.search.looked_in
    passed = [each for each in found.search.skipped if any(each.path.is_relative_to(folder) for folder in folders)]
    if not narrowing.changes_only:
        return list(found.files), passed
    changed = changed_files(narrowing.changed_since or HEAD)
    elsewhere = [file for file in found.files if not _real(file.place.path).is_relative_to(repository())]
    if elsewhere:
        raise Stop(f"--changed asks git about this repository, and {elsewhere[0].path} is in no place of it")
    files = [file for file in found.files if _real(file.place.path) in changed]
    return files, [each for each in passed if _real(each.path) in changed or each.path in changed]


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _paths(files: Sequence[PromptFile], passed: Sequence[Skipped]) -> frozenset[str]:
    return frozenset([file.path for file in files] + [shown(each.path) for each in passed])


def _tell_place(search: Search, paths: Sequence[str], reported: Collection[str], console: Console) -> None:
    """Say what was passed over, unless a rule reports it, and which project was looked in, unless it is the folder."""
    for skipped in dict.fromkeys(search.skipped) if not console.verbose else ():
        if not skipped.is_fault and skipped.rule not in reported:
            console.hint(f"skipped {safe_line(shown(skipped.path))}: {safe_line(skipped.reason)}")
    for root in search.looked_in if not paths else ():
        if root != Path.cwd():
            console.hint(f"note: looked in the project {shown(root)}; `kbp lint .` looks in this folder")


# Fixing


def _show_diff(fixed: Sequence[Fixed], console: Console) -> int:
    own = [each for each in fixed if not each.is_copy]
    for each in own:
        console.print_text(unified(each.before.path, each.before.document.text, each.after.document.text))
    console.hint(f"{count_of(own)} would be fixed in {counted(len(own), 'file')}.")
    return TO_REPORT if own else DONE


def _print_fixed(file: PromptFile, console: Console) -> None:
    """Print the file from stdin, fixed or not.

    Raises:
        Stop: its text is not all of it.
    """
    rules = {problem.rule for problem in file.document.problems}
    if not file.document.is_exact or "too-large" in rules:
        raise Stop("the file on stdin is not UTF-8, or too large: it cannot be printed fixed")
    console.print_text(file.document.text)


def _with_ignores(files: Sequence[PromptFile], report: Report, console: Console) -> tuple[Report, bool]:
    """Write comments that hide what was found, and give what is left, and whether all could be written."""
    hidden, is_whole = write_ignores(files, report.diagnostics, console)
    left = tuple(each for each in report.diagnostics if each.path not in hidden or RULES[each.rule].check_unused)
    if left:
        console.hint("What is left can have no comment: see lint.per-file-ignores in the settings.")
    return replace(report, diagnostics=left), is_whole


# Reporting


def _known(reporting: Reporting, console: Console) -> tuple[Path, tuple[Known, ...]] | None:
    """The baseline: its file, and the findings that it knows. One that is written anew may not be there yet."""
    configuration = console.configuration
    path = reporting.baseline or reporting.write_baseline
    if path is None and configuration.value("lint.baseline"):
        path = configuration.folder / configuration.value("lint.baseline")
    if path is None or (reporting.write_baseline and not os.path.exists(path)):
        return None
    try:
        return path, baseline.read(path)
    except baseline.Unusable as error:
        raise Stop(f"{path} is {error}") from None
    except (OSError, ValueError) as error:
        raise Stop(f"the baseline {path}: {said_of(error)}") from None


def _about(files: Sequence[PromptFile], report: Report, passed: Sequence[Skipped]) -> Report:
    """What a report says about some of the files, and about what was passed over."""
    paths = _paths(files, passed)
    diagnostics = tuple(diagnostic for diagnostic in report.diagnostics if diagnostic.path in paths)
    prompts = [file for file in files if file.is_prompt]
    return Report(diagnostics, len(prompts), sum(file.is_refused for file in prompts))


def _without_known(
    report: Report,
    known: tuple[Path, tuple[Known, ...]] | None,
    scope: Scope,
    reporting: Reporting,
    console: Console,
) -> Report:
    """The report without the findings of the baseline; all of it is the baseline when one is written."""
    path = reporting.write_baseline
    if path is not None:
        kept = baseline.outside(known[1], scope, path) if known else []
        _put(path, baseline.written(report, path, kept), "--write-baseline")
        also = f", and kept {counted(len(kept), 'finding')} of what was not looked at" if kept else ""
        console.hint(f"Wrote {counted(len(report.diagnostics), 'finding')} to {path}{also}.")
        return replace(report, diagnostics=())
    if known is None:
        return report
    left, gone = baseline.without_known(report, known[1], scope, known[0])
    hidden = len(report.diagnostics) - len(left.diagnostics)
    console.hint(f"The baseline knows {counted(hidden, 'finding')}.")
    if gone:
        console.hint(f"{counted(gone, 'finding')} of the baseline no longer there: --write-baseline renews it.")
    return left


def _print(report: Report, reporting: Reporting, console: Console, *, to_stderr: bool) -> None:
    """Print the findings, write them to files, and sum them up.

    Raises:
        Stop: some of the files cannot be written.
    """
    form = FORMATS[reporting.format or "full"]
    if reporting.statistics:
        form = diagnostics.statistics_as_json if reporting.format == "json" else diagnostics.statistics
    is_annotated = reporting.format == "github" or (reporting.format is None and settings.is_github())
    text = form(report, console.use_color and not to_stderr)
    if is_annotated and reporting.format is None:  # a line of ours must not be read as one of GitHub's commands
        text = _COMMAND_LIKE.sub("./", text) + github(report)
    if to_stderr:
        console.explain(text.rstrip("\n"))
    else:
        console.print(text)
    faults: list[str] = []
    for each in reporting.output or []:
        format, _, file = each.partition("=")
        with collecting_into(faults):
            _put(Path(file), FORMATS[format](report, False), f"--output {each}")
    console.hint(summary(report))
    if is_annotated and hidden_by_github(report):
        shows = f"GitHub shows {SHOWN_BY_GITHUB} annotations of a kind"
        console.hint(f"{shows}: {hidden_by_github(report)} are in this log alone.")
    if faults:
        raise Stop(faults)


_COMMAND_LIKE = re.compile(r"^(?=::)", re.MULTILINE)


def _put(path: Path, text: str, option: str) -> None:
    try:
        write_whole(path, text.encode("utf-8", "surrogateescape"))
    except (OSError, ValueError, RuntimeError) as error:
        raise Stop(f"{option}: {path}: {said_of(error)}") from None


def _has_to_report(report: Report, reporting: Reporting, console: Console) -> bool:
    """Whether the findings end the run with 1."""
    is_strict = reporting.strict or console.configuration.value("lint.strict")
    return bool(report.count(Severity.ERROR) or (is_strict and report.count(Severity.WARNING)))
