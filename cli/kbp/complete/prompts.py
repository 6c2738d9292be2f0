"""The names of the prompts of a project, by the names of their files: nothing is read but what is shown beside them.

This is a quick likeness of what `kbp.search` finds: ignore files count as far as they name folders plainly, a plugin
has what lies in its conventional folders, and files that are refused are there too.
"""

from __future__ import annotations

import os

from kbp import shelf
from kbp.complete import folders

TYPE_CHECKING = False  # as type checkers know it

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kbp.complete.engine import Candidates, Line

_COPILOT, _ENDING = ".prompt.md", ".md"
_MARKS = (".claude-plugin", ".git", "kbp.toml", ".kbp.toml")
_SHOWN = frozenset({".github", ".claude", ".agents"})
_MAX_FOLDERS, _MAX_DESCRIBED, _HEAD = 2_000, 200, 2_048


class Prompts:
    """The prompts that a command line means: of its `-p`, else of everywhere."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._ignored: set[str] = set()

    def described(self, typed: str) -> Candidates:
        """The names that go on from what is typed, each with its description, where there are not too many."""
        prefix = self._prefix
        found: dict[str, str] = {}
        for path in self._files():
            name = prefix + _stem(path)
            if name.startswith(typed):
                found.setdefault(name, path)
        found = dict(sorted(found.items()))
        is_read = len(found) <= _MAX_DESCRIBED
        return [(name, _description(path) if is_read else "") for name, path in found.items()]

    def path_of(self, word: str) -> str | None:
        """The file that a word names: a path, or a prompt."""
        if "/" in word or word.endswith(_ENDING):
            return word if os.path.isfile(word) else None
        wanted = word.removeprefix(self._prefix)
        return next((path for path in self._files() if _stem(path) == wanted), None)

    @property
    def _prefix(self) -> str:
        library = self._line.last("--library")
        return f"{library}_" if library else ""

    def _files(self) -> Iterator[str]:
        if self._line.last("--library-config"):  # names that are not those of files
            return
        named = [*self._line.given.get("-p", []), *self._line.given.get("--path", [])]
        if named:
            for each in named:
                yield from self._below(each)
            return
        for each in os.environ.get("KBP_PATH", "").split(os.pathsep):
            if each:
                yield from self._below(each)
        here = os.getcwd()  # noqa: PTH109
        paths, excluded = _configured(here, self._line.config)
        self._ignored = set(excluded)
        for path in paths:
            yield from self._below(path)
        root = root_of(here)
        yield from self._project(root or here, is_whole=root is not None)
        if "--project-only" not in self._line.flags:
            yield from self._own()

    def _below(self, path: str) -> Iterator[str]:
        """The prompts that a path names."""
        if os.path.isfile(path):
            yield path
            return
        files = list(self._walk(path))
        parts = set(os.path.abspath(path).split("/"))  # noqa: PTH100
        if parts.isdisjoint(("prompts", "commands")):
            top = len(path.rstrip(os.sep)) + 1
            files = [each for each in files if _is_conventional(each[top:])] or files
        yield from files

    def _project(self, root: str, *, is_whole: bool) -> Iterator[str]:
        """The prompts in the conventional folders of a project, and of the plugins in it."""
        self._ignored |= _ignored(root)
        seen: set[str] = set()
        for folder in [root, *(_marketplace(root) if is_whole else ())]:
            seen.add(folder)
            yield from self._plugin(folder, root, is_whole=is_whole)
        for folder in self._plugins(root) if is_whole else ():
            if folder not in seen:
                yield from self._plugin(folder, root, is_whole=True)

    def _plugin(self, folder: str, root: str, *, is_whole: bool) -> Iterator[str]:
        declared = _declared(folder, root) if is_whole else None
        if declared is not None:
            yield from declared
            return
        for name in ("prompts", "commands", ".claude/commands", ".github/prompts"):
            yield from self._convention(folder, name)

    def _convention(self, root: str, name: str) -> Iterator[str]:
        for path in self._walk(f"{root}/{name}"):
            if path.endswith(_COPILOT if name == ".github/prompts" else _ENDING):
                yield path

    def _own(self) -> Iterator[str]:
        """The prompts in the user's own folders."""
        yield from self._convention(folders.home(), ".claude/commands")
        for path in self._walk(f"{folders.editor()}/prompts"):
            if path.endswith(_COPILOT):
                yield path
        yield from self._convention(folders.own(), "prompts")

    def _plugins(self, root: str) -> Iterator[str]:
        """The folders below the root that are plugins of their own."""
        pending, count = [root], 0
        while pending and count < _MAX_FOLDERS:
            folder = pending.pop()
            count += 1
            try:
                with os.scandir(folder) as entries:
                    below = {each.name: each.path for each in entries if each.is_dir(follow_symlinks=False)}
            except OSError:
                continue
            if ".claude-plugin" in below and folder != root:
                yield folder
            for name, path in sorted(below.items(), reverse=True):
                if name[0] != "." and name not in ("prompts", "commands") and not self._is_ignored(name, path):
                    pending.append(path)

    def _walk(self, top: str) -> Iterator[str]:
        """The Markdown files below a folder, in sorted order."""
        pending, count = [top.rstrip("/") or "/"], 0
        while pending and count < _MAX_FOLDERS:
            count += 1
            try:
                with os.scandir(pending.pop()) as entries:
                    found = sorted(entries, key=_name)
            except OSError:
                continue
            below = []
            for entry in found:
                name = entry.name
                if (name[0] == "." and name not in _SHOWN) or (self._ignored and self._is_ignored(name, entry.path)):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    below.append(entry.path)
                elif name.endswith(_ENDING) and entry.is_file():
                    yield entry.path
            pending += reversed(below)

    def _is_ignored(self, name: str, path: str) -> bool:
        return name in self._ignored or path in self._ignored


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.removesuffix(_COPILOT) if name.endswith(_COPILOT) else name.removesuffix(_ENDING)


def root_of(folder: str) -> str | None:
    """The nearest folder with a mark of a project or plugin, from this one upwards."""
    while True:
        if any(os.path.exists(f"{folder}/{mark}") for mark in _MARKS) or _has_table(f"{folder}/pyproject.toml"):
            return folder
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return None
        folder = above


def _has_table(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return b"[tool.kbp" in file.read(1 << 20)
    except OSError:
        return False


def _is_conventional(path: str) -> bool:
    return path.endswith(_COPILOT) or not {"prompts", "commands"}.isdisjoint(path.split("/")[:-1])


def _ignored(root: str) -> set[str]:
    """What ignore files of the root name plainly: names, and paths below it; and what is never looked through."""
    found = {"node_modules"}
    for name in (".gitignore", ".kbpignore"):
        if not os.path.isfile(f"{root}/{name}"):
            continue
        try:
            with open(f"{root}/{name}", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                lines = file.read(1 << 16).split("\n")
        except OSError:
            continue
        found |= _plain(root, lines)
    return found


def _plain(root: str, patterns: Iterable[str]) -> set[str]:
    """The names and paths that patterns of an ignore file stand for, of those that say it plainly."""
    found: set[str] = set()
    for pattern in patterns:
        text = pattern.strip().removesuffix("/**").removesuffix("/*").rstrip("/").removeprefix("**/")
        if text and text[0] not in "#!" and not set("*?[").intersection(text):
            found.add(f"{root}/{text.removeprefix('./').lstrip('/')}" if "/" in text else text)
    return found


def _marketplace(root: str) -> list[str]:
    """The plugins that a marketplace names; read anew when its file has changed."""
    path = f"{root}/.claude-plugin/marketplace.json"
    stamp = shelf.stamp_of(path)
    if not stamp:
        return []
    rows = shelf.read("plugins", path, stamp)
    if rows is None:
        from pathlib import Path

        from kbp import manifests

        try:
            rows = [[str(plugin.folder)] for plugin in manifests.marketplace_plugins(Path(root))[0]]
        except manifests.ManifestFault:
            rows = []
        shelf.write("plugins", path, rows, stamp)
    return [row[0] for row in rows]


def _declared(folder: str, root: str) -> list[str] | None:
    """The files that a manifest or marketplace declares of a plugin, read anew when it has changed; None: none does."""
    paths = (f"{folder}/.claude-plugin/plugin.json", f"{root}/.claude-plugin/marketplace.json")
    stamp = " ".join(map(shelf.stamp_of, paths)).strip()
    if not stamp:
        return None
    rows = shelf.read("declared", folder, stamp)
    if rows is None:
        from pathlib import Path

        from kbp.search import Surroundings

        declared = Surroundings().declared(Path(folder))
        entries = sorted(map(str, declared.entries)) if declared is not None else []
        rows = [["by convention" if declared is None else "declared"], *([entry] for entry in entries)]
        shelf.write("declared", folder, rows, stamp)
    if rows[:1] != [["declared"]]:
        return None
    return [path for row in rows[1:] for path in _named_in(f"{folder}/{row[0]}")]


def _named_in(path: str) -> list[str]:
    """The file at a path, or the files in the folder there."""
    if path.endswith(_ENDING):
        return [path] if os.path.isfile(path) else []
    try:
        with os.scandir(path) as entries:
            return sorted(each.path for each in entries if each.name.endswith(_ENDING) and each.is_file())
    except OSError:
        return []


def _configured(here: str, named: str | None) -> tuple[list[str], list[str]]:
    """The paths that the settings name, and what they exclude; read anew when their file has changed."""
    if named is not None:
        path = os.path.abspath(named) if named else ""  # noqa: PTH100
        return _settings_in(path, shelf.stamp_of(path)) if path else ([], [])
    folder = here
    while True:
        for name in ("kbp.toml", ".kbp.toml", "pyproject.toml"):
            path = f"{folder}/{name}"
            stamp = shelf.stamp_of(path)
            if stamp and (name != "pyproject.toml" or _has_table(path)):
                return _settings_in(path, stamp)
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return [], []
        folder = above


def _settings_in(path: str, stamp: str) -> tuple[list[str], list[str]]:
    rows = shelf.read("settings", path, stamp) if stamp else []
    if rows is None:
        from pathlib import Path

        from kbp import configuration, dialects

        try:
            found = configuration.load(Path(path), dialects.names())
        except configuration.Wrong:
            return [], []
        rows = [["path", str(found.folder / each)] for each in found.value("paths")]
        rows += [["exclude", each] for each in sorted(_plain(str(found.folder), found.value("exclude")))]
        shelf.write("settings", path, rows, stamp)
    paths = [row[1] for row in rows if row[0] == "path" and os.path.exists(row[1])]
    return paths, [row[1] for row in rows if row[0] == "exclude"]


def _description(path: str) -> str:
    """The description at the head of a file, as far as it stands on one line."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            head = file.read(_HEAD)
    except OSError:
        return ""
    for line in head.split("\n"):
        if line.startswith("description:"):
            text = line[12:].strip()
            return text[1:-1] if text[:1] in "\"'" and text[-1:] == text[:1] else text
    return ""
