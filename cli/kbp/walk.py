"""A folder walked: its files in order, ignored ones left out, links followed as far as the root goes."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kbp.display import said_of

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SHOWN_DOT_FOLDERS = frozenset({".github", ".claude", ".agents"})
_MAX_IGNORE_FILE = 1024 * 1024
IGNORE_FILES = (".gitignore", ".kbpignore")


@dataclass(frozen=True, slots=True)
class Skipped:
    """A path that was passed over, and why; `is_fault` when it is broken and hides prompts that should be found."""

    path: Path
    reason: str
    is_fault: bool = False


@dataclass(frozen=True, slots=True)
class _Ignores:
    """The patterns of one folder's ignore files."""

    folder: str
    spec: "GitIgnoreSpec"


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to enter: its path, what it really is, the patterns that hold in it, and the real folders above it."""

    path: str
    real: str
    ignores: tuple[_Ignores, ...]
    above: frozenset[str]


@dataclass(slots=True)
class Walk:
    """One walk through a folder.

    `files` are the paths of the files below it, sorted; `folders` every folder entered, it first; `skipped` the
    links that lead nowhere, in a loop or out of `boundary`; `unreadable` the folders that could not be read.
    """

    top: Path
    boundary: Path
    files: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unreadable: list[Skipped] = field(default_factory=list)
    _followed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        ignores = list(_from_above(self.top))
        if _is_ignored(str(self.top), True, ignores):  # named outright all the same
            ignores = []
        real = os.path.realpath(self.top)
        pending = [_Folder(str(self.top), real, tuple(ignores), frozenset({real}))]
        while pending:
            pending += self._enter(pending.pop())
        self.files.sort()

    def _enter(self, folder: _Folder) -> Iterator[_Folder]:
        """Take the files of the folder, give the folders in it."""
        try:
            with os.scandir(folder.path) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            self.unreadable.append(Skipped(Path(folder.path), f"the folder cannot be read: {said_of(error)}"))
            return
        self.folders.append(Path(folder.path))
        ignores = (*folder.ignores, *_of_folder(folder.path, {entry.name for entry in entries}))
        for entry in entries:
            is_folder = self._is_folder(entry, folder.above)
            if is_folder is None or _is_hidden(entry.name, is_folder) or _is_ignored(entry.path, is_folder, ignores):
                continue
            if is_folder:
                real = os.path.realpath(entry.path) if entry.is_symlink() else os.path.join(folder.real, entry.name)  # noqa: PTH118 (speed)
                yield _Folder(entry.path, real, ignores, folder.above | {real})
            else:
                self.files.append(Path(entry.path))

    def _is_folder(self, entry: os.DirEntry[str], above: frozenset[str]) -> bool | None:
        """Whether the entry is a folder to enter (True), a file (False), or nothing to follow (None)."""
        if not entry.is_symlink():
            return entry.is_dir()
        reason = link_fault(entry.path, self.boundary)
        target = os.path.realpath(entry.path)
        is_folder = os.path.isdir(target)
        if reason is None and is_folder and target in above:
            reason = "a symbolic link that leads back to a folder above it"
        if reason is not None:
            if entry.name.endswith(".md") or is_folder:
                self.skipped.append(Skipped(Path(entry.path), reason))
            return None
        if is_folder and target in self._followed:
            return None
        self._followed.add(target)
        return is_folder


def link_fault(path: str, boundary: Path) -> str | None:
    """Why the symbolic link at `path` is not followed; None when it leads to something below `boundary`."""
    try:
        target = os.path.realpath(path, strict=True)
    except FileNotFoundError:
        return f"a symbolic link that leads nowhere ({_target(path)})"
    except OSError:
        return "a symbolic link in a loop"
    if not Path(target).is_relative_to(os.path.realpath(boundary)):
        return f"a symbolic link that leads out of the root ({_target(path)})"
    return None


def _target(path: str) -> str:
    """What the link says, as long as it is there."""
    try:
        return os.readlink(path)  # noqa: PTH115 (a Path would lose what the link says)
    except OSError:
        return "it is gone"


def _is_hidden(name: str, is_folder: bool) -> bool:
    return name.startswith(".") and not (is_folder and name in SHOWN_DOT_FOLDERS)


def _is_ignored(path: str, is_folder: bool, ignores: Sequence[_Ignores]) -> bool:
    for ignore in reversed(ignores):  # the nearest ignore file that says anything decides
        inside = os.path.relpath(path, ignore.folder).replace(os.sep, "/") + ("/" if is_folder else "")
        verdict = ignore.spec.check_file(inside).include
        if verdict is not None:
            return verdict
    return False


def _from_above(top: Path) -> Iterator[_Ignores]:
    """The ignore files of the folders above, from the repository's root down."""
    above = list(top.parents)
    roots = [at for at, folder in enumerate(above) if os.path.exists(folder / ".git")]
    if os.path.exists(top / ".git") or not roots:
        return
    for folder in reversed(above[: roots[0] + 1]):
        yield from _of_folder(str(folder), {name for name in IGNORE_FILES if os.path.isfile(folder / name)})


def _of_folder(folder: str, names: set[str]) -> Iterator[_Ignores]:
    for name in IGNORE_FILES:
        if name in names:
            from pathspec import GitIgnoreSpec

            try:
                path = Path(folder) / name
                if not os.path.isfile(path):
                    continue
                with path.open("rb") as file:
                    lines = file.read(_MAX_IGNORE_FILE).decode(errors="replace").splitlines()
                yield _Ignores(folder, GitIgnoreSpec.from_lines(lines))
            except (
                OSError,
                ValueError,
                re.error,
            ):  # no pattern, or no file any more: it ignores nothing
                continue
