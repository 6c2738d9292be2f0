"""What `kbp lint` writes into prompt files: fixes, and comments that hide findings."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from kbp.commands.console import Console, write_whole
from kbp.diagnostics import Diagnostic
from kbp.display import counted, said_of
from kbp.files import PromptFile, read_bytes, reread
from kbp.linter import run
from kbp.linter.choice import Choice
from kbp.linter.fixer import Fixed, edited, fix
from kbp.linter.ignores import suppressing


def fixed_files(files: Sequence[PromptFile], choice: Choice, *, unsafe: bool) -> list[Fixed]:
    """The files that fixes change. Of several paths that lead to one file, one is fixed and the others read anew."""
    found = run.lint(files, choice.of_one_file(), reveal=True).diagnostics
    fixable = {each.path for each in found if each.fix and (each.fix.is_safe or unsafe)}
    by_file: dict[str, Fixed] = {}
    results = []
    for file in files:
        real = os.path.realpath(file.place.path)
        same = by_file.get(real)
        if same is not None and same.before.document.text == file.document.text:
            results.append(Fixed(file, reread(file, same.after.document.text), same.counts, is_copy=True))
        elif file.path in fixable and (one := fix(file, choice, unsafe=unsafe)).counts:
            by_file[real] = one
            results.append(one)
    return results


def count_of(fixed: Iterable[Fixed]) -> str:
    """How many findings were fixed."""
    return counted(sum(sum(each.counts.values()) for each in fixed if not each.is_copy), "finding")


def write_fixed(fixed: Sequence[Fixed], stdin: PromptFile | None, console: Console) -> list[Fixed]:
    """Write the files that fixes changed, but for the one from stdin, and give those that could not be written."""
    failed = [
        each
        for each in fixed
        if each.before is not stdin
        and not each.is_copy
        and not _replace(each.before, each.after.document.text, console)
    ]
    done = [each for each in fixed if each not in failed and not each.is_copy]
    if done:
        console.hint(f"Fixed {count_of(done)} in {counted(len(done), 'file')}.")
    return failed


def write_ignores(files: Sequence[PromptFile], found: Sequence[Diagnostic], console: Console) -> tuple[set[str], bool]:
    """Write comments that hide what was found, and give the paths of the files, and whether all could be written."""
    by_path: dict[str, list[Diagnostic]] = {}
    for diagnostic in found:
        by_path.setdefault(diagnostic.path, []).append(diagnostic)
    hidden: set[str] = set()
    written: dict[str, bool] = {}
    for file in files:
        edit = suppressing(file, by_path.get(file.path, ()))
        real = os.path.realpath(file.place.path)
        if edit is None or not file.document.is_exact:
            continue
        if real not in written:
            written[real] = _replace(file, edited(file.document.text, [edit]), console)
        if written[real]:
            hidden.add(file.path)
    console.hint(f"Wrote a comment into {counted(sum(written.values()), 'file')}.")
    return hidden, all(written.values())


def _replace(file: PromptFile, text: str, console: Console) -> bool:
    """Write a file anew, if it still is what was read. What keeps it from being written is told."""
    path: Path = file.place.path
    if read_bytes(path, file.manner.max_file) != file.document.text.encode():
        console.fail([f"{file.path} was changed while lint ran: it is left alone"])
        return False
    try:
        write_whole(path, text.encode())
    except OSError as error:
        console.fail([f"{file.path} cannot be written: {said_of(error)}"])
        return False
    return True
