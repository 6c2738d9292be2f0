"""Which file each source becomes, and what stands there now."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath

from kbp import document as documents
from kbp.converter.base import Converted, skill_name
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
    output = Output(source, target, path, converted)
    if converted.text is None:
        return output
    text = converted.text
    if spelling.mark and not target.in_place and os.path.lexists(source.place.path):
        way = PurePosixPath(Path(os.path.relpath(source.place.path, path.parent)).as_posix())
        try:
            text = marked(documents.read(text.encode()), way, sum_of(source.document.text))
        except ValueError as error:
            fault = Problem("not-convertible", source.document.lines.span(1), f"{error}", "leave the mark out")
            return replace(output, converted=Converted(None, problems=(fault,)))
    state, reason = _state(path, text, source, target)
    return replace(output, text=text, state=state, reason=reason)


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


def _state(path: Path, text: str, source: PromptFile, target: Target) -> tuple[State, str]:
    inside = target.inside or base_of(source)
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(inside)):
        return State.BLOCKED, f"a symbolic link leads it out of {shown(inside)}"
    if not os.path.lexists(path):
        return State.MISSING, ""
    data = read_bytes(path, source.manner.max_file)
    if isinstance(data, Problem):
        return State.BLOCKED, data.message
    if data == text.encode():
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
    by_path: dict[Path, list[Output]] = defaultdict(list)
    for output in outputs:
        by_path[output.path].append(output)
    return [(path, group) for path, group in by_path.items() if len(group) > 1]


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
    """A generated file whose source is gone, and whether somebody edited it."""

    file: PromptFile
    is_edited: bool


def orphans(files: Iterable[PromptFile], dialects: Iterable[Dialect]) -> list[Orphan]:
    """The generated files of these dialects whose source is gone, by path."""
    wanted = {dialect.name for dialect in dialects}
    found: dict[Path, Orphan] = {}
    for file in files:
        source = file.generated_from
        is_wanted = file.dialect is not None and file.dialect.name in wanted
        if file.mark is not None and source is not None and is_wanted and not os.path.lexists(source):
            found[file.place.path] = Orphan(file, is_edited(file.document, file.mark))
    return [found[path] for path in sorted(found)]
