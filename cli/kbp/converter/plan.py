"""Which file each source becomes, and what stands there now."""

import os
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath

from kbp import document as documents
from kbp.converter.base import NOWHERE, Converted, Loss, skill_name
from kbp.converter.run import convert
from kbp.dialects.base import Dialect
from kbp.files import MARKERS, PromptFile, read_bytes, shown
from kbp.marks import is_edited, mark_of, marked, sum_of
from kbp.search import PROMPT_FOLDERS, has_manifest
from kbp.text import Problem

ReadAt = Callable[[Path, bytes], PromptFile]
"""Reads bytes as the file that they would be at a path."""


class State(StrEnum):
    """How what stands at a path compares to what is to be written there.

    `stale` is a generated file that nobody edited, `taken` one that kbp did not generate from this source, `blocked`
    what is not written over even when that is asked for.
    """

    MISSING = "missing"
    CURRENT = "current"
    STALE = "stale"
    EDITED = "edited"
    TAKEN = "taken"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Target:
    """A dialect to convert to, and where its files go.

    Attributes:
        dialect: what is converted to.
        out: the folder for all files; None: the dialect's own folder in the project or plugin of each source.
        inside: the folder that nothing may be written outside of, links followed.
        in_place: whether each file takes the place of its source.
    """

    dialect: Dialect
    out: Path | None = None
    inside: Path | None = None
    in_place: bool = False


@dataclass(frozen=True, slots=True)
class Spelling:
    """How files are written.

    Attributes:
        mark: whether a generated file says so.
        keep: whether a comment keeps what the target cannot say.
        inline_defaults: whether defaults are written for a person to read where the target has none.
    """

    mark: bool = True
    keep: bool = False
    inline_defaults: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """What becomes of one source.

    Attributes:
        source: what is converted.
        target: where to.
        path: the file that it becomes.
        converted: its text before it was marked, what is lost, and why there is none.
        text: what is to stand in the file; None when it cannot be converted.
        state: what stands there now.
        reason: why the file is `taken` or `blocked`.
    """

    source: PromptFile
    target: Target
    path: Path
    converted: Converted
    text: str | None = None
    state: State = State.MISSING
    reason: str = ""


def plan(source: PromptFile, target: Target, spelling: Spelling) -> Output:
    """What becomes of a source. Nothing is written."""
    path = path_of(source, target)
    name = stem_of(source, target)
    converted = convert(source, target.dialect, keep=spelling.keep, name=name, inline_defaults=spelling.inline_defaults)
    if source.has_own_folder and "own folder" not in target.dialect.expresses and _has_files_beside(source):
        lost = Loss("lost", "the files beside it", NOWHERE, "not written")
        converted = replace(converted, losses=(*converted.losses, lost))
    output = Output(source, target, path, converted)
    if converted.text is None:
        return output
    text = converted.text
    if path == source.place.path and not target.in_place:  # in the dialect already, where it should be
        return replace(output, text=text, state=State.CURRENT)
    if spelling.mark and not target.in_place and os.path.lexists(source.place.path):
        way = PurePosixPath(Path(os.path.relpath(source.place.path, path.parent)).as_posix())
        try:
            text = marked(documents.read(text.encode()), way, sum_of(source.document.text))
        except ValueError as error:
            fault = Problem("not-convertible", source.document.lines.span(1), f"{error}", "leave the mark out")
            return replace(output, converted=Converted(None, problems=(fault,)))
    return now(replace(output, text=text))


def _has_files_beside(file: PromptFile) -> bool:
    try:
        return len(os.listdir(file.place.path.parent)) > 1  # noqa: PTH208
    except OSError:
        return False


# Where files go


def folders_of(file: PromptFile) -> tuple[str, ...]:
    """The folders of a file below the innermost `commands` or `prompts` folder; none when it lies in neither."""
    folders = file.place.relative.parts[:-1]
    at = max((place for place, folder in enumerate(folders) if folder in PROMPT_FOLDERS), default=len(folders))
    return folders[at + 1 :]


def stem_of(source: PromptFile, target: Target) -> str:
    """What the target is called: like its source, with the folders in front where the target has none."""
    if target.in_place or not target.dialect.home.is_flat:
        return source.stem
    return "-".join((*folders_of(source), source.stem))


def path_of(source: PromptFile, target: Target) -> Path:
    """The path of the file that a source becomes."""
    home, name = target.dialect.home, stem_of(source, target)
    if "own folder" in target.dialect.expresses:
        name = skill_name(name) or name
    if target.in_place:
        folder = source.place.path.parent
        folder = folder.parent if source.has_own_folder else folder
    else:
        folder = target.out or own_folder(base_of(source), target.dialect)
        folder = folder if home.is_flat else folder.joinpath(*folders_of(source))
    return folder / f"{name}{home.ending}"


def base_of(source: PromptFile) -> Path:
    """The folder that holds the prompts of the source's project: its root if that is marked, else what is nearest."""
    root, path = source.place.root, source.place.path
    if any(os.path.lexists(root / marker) for marker in MARKERS) or not path.is_relative_to(root):
        return root
    folders = [folder for folder in path.parents if folder.name in PROMPT_FOLDERS and folder.is_relative_to(root)]
    if not folders:
        return root
    above = folders[0].parent
    return above.parent if above.name in (".claude", ".github") else above


def own_folder(base: Path, dialect: Dialect) -> Path:
    """The folder of a dialect in a project or plugin."""
    return base / (dialect.home.in_plugin if has_manifest(base) else dialect.home.folder)


# What stands there


def now(output: Output) -> Output:
    """The same with what stands at its path now."""
    state, reason = _state(output.path, output.text or "", output.source, output.target)
    return replace(output, state=state, reason=reason)


def _state(path: Path, text: str, source: PromptFile, target: Target) -> tuple[State, str]:
    inside = target.inside or base_of(source)
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(inside)):
        return State.BLOCKED, f"a symbolic link leads it out of {shown(inside)}"
    if os.path.islink(path):
        return State.BLOCKED, "it is a symbolic link"
    if not os.path.lexists(path):
        return State.MISSING, ""
    if path != source.place.path and os.path.realpath(path) == os.path.realpath(source.place.path):
        return State.BLOCKED, "it is the source itself"
    data = read_bytes(path, source.manner.max_file)
    if isinstance(data, Problem):
        return State.BLOCKED, data.message
    if sum_of(data.decode(errors="replace")) == sum_of(text):
        return State.CURRENT, ""
    if path == source.place.path:
        return (State.STALE, "") if target.in_place else (State.BLOCKED, "it is the source itself")
    document = documents.read(data)
    mark = mark_of(document)
    if mark is None:
        return State.TAKEN, "it is there, and kbp did not generate it"
    maker = Path(os.path.normpath(path.parent / mark.source))
    if maker != source.place.path and os.path.lexists(maker):
        return State.TAKEN, f"it was generated from {shown(maker)}"
    return (State.EDITED, "") if is_edited(document, mark) else (State.STALE, "")


def clashes(outputs: Iterable[Output]) -> list[tuple[Path, list[Output]]]:
    """The paths that several sources would be written to, each with them."""
    by_path: dict[str, list[Output]] = defaultdict(list)
    folds: dict[Path, bool] = {}
    for output in outputs:
        path = output.path
        if path.parent not in folds:
            folds[path.parent] = _folds_case(path.parent)
        by_path[str(path).casefold() if folds[path.parent] else str(path)].append(output)
    return [(group[0].path, group) for group in by_path.values() if len(group) > 1]


def _folds_case(folder: Path) -> bool:
    """Whether names that differ in case alone are one name there, as far as the folders that are there tell."""
    there = next((each for each in (folder, *folder.parents) if os.path.isdir(each)), folder)
    swapped = there.with_name(there.name.swapcase()) if there.name else there
    try:
        return swapped != there and there.samefile(swapped)
    except OSError:
        return False


def misread(outputs: Iterable[Output], read_at: ReadAt) -> Iterator[tuple[Output, str]]:
    """The outputs that would not be read as what they are at their path, each with what they would be read as."""
    for output in outputs:
        if output.text is not None:
            found = read_at(output.path, output.text.encode())
            if found.dialect is not output.target.dialect:
                name = f"a {found.dialect.name} file" if found.dialect else "no prompt file"
                yield output, f"{name} ({found.detection.why})"


@dataclass(frozen=True, slots=True)
class Orphan:
    """A generated file that nothing makes any more.

    Attributes:
        file: the file.
        is_edited: whether somebody edited it.
        has_source: whether its source is there all the same.
    """

    file: PromptFile
    is_edited: bool
    has_source: bool


def is_gone(path: Path) -> bool:
    """Whether there surely is nothing at a path: what cannot be looked at is not gone."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def orphans(files: Iterable[PromptFile], made: Container[Path], *, all_made: bool) -> list[Orphan]:
    """The generated files that nothing makes any more, by path.

    Args:
        files: where to look for them.
        made: the paths that are written.
        all_made: whether these are all that should be there, so that a file whose source is there is an orphan too.
    """
    found: dict[Path, Orphan] = {}
    for file in files:
        source, mark = file.generated_from, file.mark
        if mark is None or source is None or file.place.path in made:
            continue
        has_source = not is_gone(source)
        if all_made or not has_source:
            found[file.place.path] = Orphan(file, is_edited(file.document, mark), has_source)
    return [found[path] for path in sorted(found)]
