"""`kbp convert`: prompt files in another dialect."""

import dataclasses
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from kbp.commands.console import DONE, TO_REPORT, Console, Stop, collecting
from kbp.commands.converting import Converting, Doing
from kbp.commands.generating import Run, tell_refused
from kbp.commands.sources import STDIN, PipedReading, nothing_found, tell_search
from kbp.configuration import Configuration
from kbp.converter.plan import Orphan, Output, ReadAt, Target, clashes, misread, orphans, own_folder, path_of, plan
from kbp.converter.run import convert as convert_file
from kbp.display import counted, safe_line
from kbp.files import PromptFile, Roots, read, read_bytes, shown
from kbp.library import Library, twins
from kbp.output import conversions
from kbp.search import Search, Surroundings
from kbp.walk import Walk


def convert(
    console: Console,
    reading: PipedReading,
    converting: Converting,
    doing: Doing,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATHS", help="Files, folders or globs; - is one file on stdin. None: the project."),
    ] = None,
) -> int:
    """Convert prompt files to another dialect, so that they mean the same, or say what does not.

    \b
      kbp convert commands/incident.md --to copilot       to stdout
      kbp convert commands/ --to copilot                  to .github/prompts
      kbp convert prompts/ --to claude -o .claude/commands
      kbp convert                                         what `convert.targets` in the settings says
      kbp convert --check                                 in CI: is a generated file stale?

    What the dialect cannot say is told as lost, approximated or gained. A generated file says so in a comment; it is
    written over as long as nobody edited it. Files that are in the dialect already are left alone unless named.
    """
    named = paths or []
    faults = [
        *reading.faults(reads_stdin=STDIN in named),
        *converting.faults(named, console.configuration),
        *doing.faults(),
    ]
    if STDIN in named and converting.out is not None and reading.stdin_filename is None:
        faults.append("-o: --stdin-filename says what the file from stdin is called")
    with collecting(faults):
        targets = converting.targets(console.configuration)
        if not targets and not faults and not named:
            raise Stop(
                "--to is missing: the dialect to convert to",
                help=['  or name targets in the settings: convert.targets = [{ to = "copilot" }]'],
            )
        found = _find(reading, named, console)
    if not faults and _goes_to_stdout(found, named, converting):
        faults += _only_for_files(doing, converting, named)
    if faults:
        raise Stop(faults)
    tell_search(found.search, console)
    if _goes_to_stdout(found, named, converting):
        return _print_one(found.files[0], targets[0], converting, doing, console)
    sources = [(source, target) for target in targets for source in _sources(found, target, is_named=bool(named))]
    lost = _orphans(found, targets, sources, reading, named, console.configuration, all_made=converting.to is None)
    if not sources and not lost:
        if converting.allow_empty:
            console.hint("nothing to convert")
            return DONE
        raise _nothing(found, targets)
    spelling = converting.spelling(console.configuration)
    outputs = [plan(source, target, spelling) for source, target in console.progress(sources, "converting")]
    _check_plan(outputs, _reader(reading, console.configuration))
    return Run(outputs, lost, doing, console).run()


# What is converted


def _find(reading: PipedReading, paths: list[str], console: Console) -> Library:
    configuration = console.configuration
    if paths:
        stdin = reading.from_stdin(console) if STDIN in paths else None
        return reading.load_with(
            stdin, reading.find_named(paths, configuration, skills=True), configuration, skills=True
        )
    search = Search(excluded=configuration.excluded, skills=True)
    reading.find_configured(search, configuration)
    reading.find_project(search)
    return reading.load(search, configuration, skills=True)


def _goes_to_stdout(found: Library, paths: Sequence[str], converting: Converting) -> bool:
    is_one = len(paths) == 1 == len(found.files) and found.files[0].place.outright
    return is_one and converting.out is None and not converting.in_place


def _only_for_files(doing: Doing, converting: Converting, paths: Sequence[str]) -> list[str]:
    if not doing.asks_for_files:
        return []
    where = "-o DIR" if STDIN in paths else "-o DIR or --in-place"
    return [f"one file is converted to stdout: give {where} to have it written, checked or compared"]


def _sources(found: Library, target: Target, *, is_named: bool) -> Iterator[PromptFile]:
    """The files to convert: those named outright, and of what was found those not generated, and in other dialects."""
    left_out = {id(file) for file in twins(found.files)}
    for file in found.files:
        if file.generated_from is not None and (not is_named or not os.path.lexists(file.generated_from)):
            left_out.add(id(file))
        if file.has_own_folder and not is_named:  # the skills of a project are read by the model
            left_out.add(id(file))
        is_other = file.is_prompt and file.dialect is not target.dialect and id(file) not in left_out
        if file.place.outright or is_other:
            yield file


def _nothing(found: Library, targets: Sequence[Target]) -> Stop:
    prompts = [file for file in found.files if file.is_prompt]
    if not prompts:
        return nothing_found(found, "kbp convert PATH")
    names = list(dict.fromkeys(target.dialect.name for target in targets))
    made = sum(file.mark is not None for file in prompts)
    already = sum(file.mark is None and file.dialect is not None and file.dialect.name in names for file in prompts)
    parts = [f"{already} {'is' if already == 1 else 'are'} in it already"] if already else []
    parts += [f"{made} {'is' if made == 1 else 'are'} generated"] if made else []
    said = f"{counted(len(prompts), 'prompt file')} found" + (f", of which {' and '.join(parts)}" if parts else "")
    return Stop(
        f"nothing to convert to {' and '.join(names)}: {said}", help=["  a file that is named is converted anyway"]
    )


def _reader(reading: PipedReading, configuration: Configuration) -> ReadAt:
    """Reads bytes as the file that they would be at a path, with no dialect given on the command line."""
    as_found = dataclasses.replace(reading, dialect="auto")
    root, around, elsewhere = reading.given_root, Surroundings(reading.given_root), Surroundings()

    def read_at(path: Path, data: bytes) -> PromptFile:
        place = (around if root is None or path.is_relative_to(root) else elsewhere).place_of(path)
        return read(data, place, as_found.manner(path, configuration, skills=True))

    return read_at


def _check_plan(outputs: Sequence[Output], read_at: ReadAt) -> None:
    """See that each source has a path of its own, at which its text is read as what it is.

    Raises:
        Stop: two have the same one, or one is read as something else.
    """
    faults = []
    for path, group in clashes(outputs):
        sources = ", ".join(safe_line(output.source.path) for output in group)
        faults.append(f"{safe_line(shown(path))} would be made of {counted(len(group), 'source')}: {sources}")
    help = ["  rename all but one of them, or convert them to folders of their own with -o"] if faults else []
    real = {os.path.realpath(output.source.place.path): output.source for output in outputs}
    for output in outputs:
        other = real.get(os.path.realpath(output.path))
        if other is not None and output.path != other.place.path and not output.target.in_place:
            faults.append(f"{safe_line(shown(output.path))} is the source {safe_line(other.path)} by a symbolic link")
            help = help or ["  write to another folder with -o"]
    for output, said in misread(outputs, read_at):
        name, where = output.target.dialect.name, safe_line(shown(output.path))
        faults.append(f"{where} would be read as {said}, not as a {name} file")
    if len(help) < len(faults):
        homes = sorted({output.target.dialect.home.folder for output in outputs})
        name = next(iter(sorted({output.target.dialect.name for output in outputs})))
        help.append(f"  a {name} file is found by its folder: {' or '.join(homes)}, or one of that name elsewhere")
        if any(output.target.in_place for output in outputs):
            help.append(f"  instead of --in-place: --keep comment --no-mark -o {homes[0]}, then remove the sources")
    if faults:
        raise Stop(faults, help=[*help, "  nothing was written"])


def _orphans(
    found: Library,
    targets: Sequence[Target],
    sources: Sequence[tuple[PromptFile, Target]],
    reading: PipedReading,
    paths: Sequence[str],
    configuration: Configuration,
    *,
    all_made: bool,
) -> list[Orphan]:
    """The generated files that nothing makes any more and whose source lies, or lay, where was looked.

    With `all_made` the targets are all there should be, and generated files of other dialects are orphans too.
    """
    search, read_at = found.search, _reader(reading, configuration)
    folders = {target.out for target in targets if target.out is not None}
    for folder in search.looked_in:
        root = reading.given_root or Roots().marked(folder) or (folder.parent if paths else folder)
        folders |= {own_folder(root, target.dialect) for target in targets if target.out is None}
    files = list(found.files)
    for folder in folders:
        walked = Walk(folder, folder).files if search.looked_in and os.path.isdir(folder) else []
        data = ((path, read_bytes(path)) for path in walked if path.suffix == ".md")
        files += [read_at(path, each) for path, each in data if isinstance(each, bytes)]
    if not all_made:
        files = [file for file in files if any(file.dialect is target.dialect for target in targets)]
    made = {path_of(source, target) for source, target in sources}
    return [
        orphan
        for orphan in orphans(files, made, all_made=all_made)
        if any(Path(orphan.file.generated_from or "/").is_relative_to(folder) for folder in search.looked_in)
    ]


# One file


def _print_one(file: PromptFile, target: Target, converting: Converting, doing: Doing, console: Console) -> int:
    spelling = converting.spelling(console.configuration)
    converted = convert_file(file, target.dialect, keep=spelling.keep, inline_defaults=spelling.inline_defaults)
    output = Output(file, target, file.place.path, converted, converted.text)
    if converted.text is None:
        tell_refused(output, console)
        return TO_REPORT
    is_refused = doing.strict and bool(converted.losses)
    for line in (*conversions.losses(output), *conversions.notes(output)):
        (console.explain if is_refused else console.hint)(line)
    if is_refused:
        console.fail([f"{file.path} loses {counted(len(converted.losses), 'thing')} (--strict)"])
        return TO_REPORT
    console.print_text(converted.text)
    return DONE
