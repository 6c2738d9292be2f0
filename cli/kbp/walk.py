"""A folder walked: its files in order, ignored ones left out, links followed as far as the root goes."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kbp.characters import BOM
from kbp.display import said_of
from kbp.patterns import Patterns, compiled, verdict

DANGLING_LINK = "dangling-link"
_MAX_LINKS = 20
"""How many links to one folder are followed: plugins share a folder, and a folder of links to one folder is no use."""
SHOWN_DOT_FOLDERS = frozenset({".github", ".claude", ".agents"})
_MAX_IGNORE_FILE = 1024 * 1024
IGNORE_FILES = (".gitignore", ".kbpignore")


@dataclass(frozen=True, slots=True)
class Skipped:
    """A path that was passed over, and why.

    Attributes:
        path: what was passed over, or the file that names it.
        reason: why.
        is_fault: whether it is broken and hides prompts that should be found.
        rule: the rule of lint that reports it, if one does.
        written: what stands in the file at `path` that names what was passed over.
        offset: the character of that file at which it is broken.
    """

    path: Path
    reason: str
    is_fault: bool = False
    rule: str | None = None
    written: str | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to enter: its path, what it really is, the patterns that hold in it, and the real folders above it.

    `is_linked` says whether a symbolic link led to it, or to a folder above it.
    """

    path: str
    real: str
    ignores: tuple[Patterns, ...]
    above: frozenset[str]
    is_linked: bool = False


@dataclass(slots=True)
class Walk:
    """One walk through a folder, in which what is `excluded` is left out, and what ignore files ignore.

    `files` are the paths of the files below it, sorted; `folders` every folder entered, it first; `skipped` the
    links that lead nowhere, in a loop or out of `boundary`, and lines of ignore files that cannot be used; `unreadable`
    the folders that could not be read; `links` what the files really are that a symbolic link led to.
    """

    top: Path
    boundary: Path
    excluded: Patterns | None = None
    files: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unreadable: list[Skipped] = field(default_factory=list)
    links: dict[Path, Path] = field(default_factory=dict)
    _followed: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        repository = None if os.path.exists(self.top / ".git") else _repository(self.top)
        ignores = list(_from_above(self.top, repository, self.skipped)) if repository else []
        # Named outright all the same.
        if verdict(ignores, str(self.top), is_folder=True):
            ignores = []
        if self._is_excluded(str(self.top), is_folder=True):
            self.excluded = None
        real = os.path.realpath(self.top)
        above = frozenset({real, *map(str, Path(real).parents)})
        pending = [_Folder(str(self.top), real, tuple(ignores), above)]
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
        ignores = (*folder.ignores, *_of_folder(folder.path, {entry.name for entry in entries}, self.skipped))
        for entry in entries:
            is_folder = self._is_folder(entry, folder)
            if is_folder is None or _is_hidden(entry.name, is_folder):
                continue
            is_ignored = verdict(ignores, entry.path, is_folder=is_folder)
            if is_ignored or self._is_excluded(entry.path, is_folder=is_folder):
                continue
            is_linked = folder.is_linked or entry.is_symlink()
            real = os.path.realpath(entry.path) if entry.is_symlink() else os.path.join(folder.real, entry.name)  # noqa: PTH118 (speed)
            if is_folder:
                yield _Folder(entry.path, real, ignores, folder.above | {real}, is_linked)
            else:
                self.files.append(Path(entry.path))
                if is_linked:
                    self.links[Path(entry.path)] = Path(real)

    def _is_excluded(self, path: str, *, is_folder: bool) -> bool:
        return self.excluded is not None and bool(self.excluded.verdict(path, is_folder=is_folder))

    def _is_folder(self, entry: os.DirEntry[str], folder: _Folder) -> bool | None:
        """Whether the entry is a folder to enter (True), a file (False), or nothing to follow (None)."""
        if not entry.is_symlink():
            return entry.is_dir()
        reason = link_fault(entry.path, self.boundary)
        target = os.path.realpath(entry.path)
        is_folder = os.path.isdir(target)
        if reason is None and is_folder and target in folder.above:
            reason = "a symbolic link that leads back to a folder above it"
        if reason is not None:
            if entry.name.endswith(".md") or is_folder:
                self.skipped.append(Skipped(Path(entry.path), reason, rule=DANGLING_LINK))
            return None
        link = os.path.join(folder.real, entry.name)  # noqa: PTH118 (speed)
        links = self._followed.setdefault(target, set())
        if is_folder and link in links:  # each link once, however many ways lead to it
            return None
        links.add(link)
        if is_folder and len(links) > _MAX_LINKS:
            self.skipped.append(Skipped(Path(entry.path), f"more than {_MAX_LINKS} links lead to {target}"))
            return None
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
    except FileNotFoundError:
        return "it is gone"
    except OSError:  # no link itself, but below one
        return os.path.realpath(path)


def _is_hidden(name: str, is_folder: bool) -> bool:
    return name.startswith(".") and not (is_folder and name in SHOWN_DOT_FOLDERS)


def is_ignored(path: Path, root: Path, excluded: Patterns | None = None) -> bool:
    """Whether a walk would leave out the file at the absolute path: it, or a folder that it lies in, is ignored.

    The ignore files of its repository count, or without one those from the root down.
    """
    top = _repository(path) or root
    kinds = list(_from_above(path, top, [])), [excluded] if excluded else []
    within = [each for each in (path, *path.parents) if each != top and each.is_relative_to(top)]
    return any(verdict(kind, str(each), is_folder=each is not path) for kind in kinds for each in within)


def _repository(path: Path) -> Path | None:
    """The root of the repository around a file or folder."""
    return next((folder for folder in path.parents if os.path.exists(folder / ".git")), None)


def _from_above(path: Path, top: Path, unusable: list[Skipped]) -> Iterator[Patterns]:
    """The ignore files of the folders above, from one of them down."""
    for folder in reversed([each for each in path.parents if each.is_relative_to(top)]):
        yield from _of_folder(str(folder), set(IGNORE_FILES), unusable)


def _of_folder(folder: str, names: set[str], unusable: list[Skipped]) -> Iterator[Patterns]:
    """The patterns of the folder's own ignore files.

    As in git, lines end at line feeds alone, a mark at the start is none, and what is no pattern ignores nothing.
    """
    for name in IGNORE_FILES:
        path = Path(folder) / name
        if name not in names or not os.path.isfile(path):
            continue
        try:
            with path.open("rb") as file:
                text = file.read(_MAX_IGNORE_FILE).decode(errors="replace")
        except OSError:  # no file any more
            continue
        lines = (line.removesuffix("\r") for line in text.removeprefix(BOM).split("\n"))
        patterns, faults = compiled(lines, folder)
        unusable += [Skipped(path, f"line {number} ignores nothing: {reason}") for number, reason in faults]
        yield patterns
