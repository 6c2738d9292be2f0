"""The names of the prompts of a project, by the names of their files: nothing is read but what is shown beside them.

This is a quick likeness of what `kbp.search` finds: ignore files count as far as they name folders plainly, a plugin
has what lies in its conventional folders, and files that are refused are there too.
"""

from __future__ import annotations

import os
import sys

from kbp import shelf

TYPE_CHECKING = False  # as type checkers know it

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kbp.complete.engine import Candidates, Line

_COPILOT, _ENDING = ".prompt.md", ".md"
_MARKS = (".claude-plugin", ".git", "kbp.toml", ".kbp.toml")
_SHOWN = frozenset({".github", ".claude", ".agents"})
_MAX_FOLDERS, _MAX_DESCRIBED, _HEAD = 2_000, 200, 2_048


class Prompts:
    """The prompts that a command line means: of its `-p`, else of everywhere."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._folders = 0

    def described(self, typed: str) -> Candidates:
        """The names that go on from what is typed, each with its description, where there are not too many."""
        prefix = self._line.last("--library")
        found = {f"{prefix}_{name}" if prefix else name: path for name, path in self.paths().items()}
        found = {name: path for name, path in sorted(found.items()) if name.startswith(typed)}
        is_read = len(found) <= _MAX_DESCRIBED
        return [(name, _description(path) if is_read else "") for name, path in found.items()]

    def path_of(self, word: str) -> str | None:
        """The file that a word names: a path, or a prompt."""
        if "/" in word or word.endswith(_ENDING):
            return word if os.path.isfile(word) else None
        prefix = self._line.last("--library")
        return self.paths().get(word.removeprefix(f"{prefix}_") if prefix else word)

    def paths(self) -> dict[str, str]:
        """The files by the names of their prompts; the first one of a name."""
        found: dict[str, str] = {}
        for path in self._files():
            name = os.path.basename(path)  # noqa: PTH119
            stem = name.removesuffix(_COPILOT) if name.endswith(_COPILOT) else name.removesuffix(_ENDING)
            found.setdefault(stem, path)
        return found

    def _files(self) -> Iterator[str]:
        named = [*self._line.given.get("-p", []), *self._line.given.get("--path", [])]
        if named:
            for each in named:
                yield from self._below(each)
            return
        for each in os.environ.get("KBP_PATH", "").split(os.pathsep):
            if each:
                yield from self._below(each)
        here = os.getcwd()  # noqa: PTH109
        for path in _configured(here):
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
        files = [each for each in self._walk(path) if each.endswith(_ENDING)]
        parts = set(os.path.abspath(path).split("/"))  # noqa: PTH100
        if parts.isdisjoint(("prompts", "commands")):
            top = len(path.rstrip(os.sep)) + 1
            files = [each for each in files if _is_conventional(each[top:])] or files
        yield from files

    def _project(self, root: str, *, is_whole: bool) -> Iterator[str]:
        """The prompts in the conventional folders of a project, and of the plugins in it."""
        plugins = dict.fromkeys([*_marketplace(root), *self._plugins(root)]) if is_whole else {}
        for folder in (root, *plugins):
            declared = _declared(folder, root) if is_whole else None
            if declared is not None:
                yield from declared
                continue
            for name in ("prompts", "commands", ".claude/commands", ".github/prompts"):
                yield from self._convention(folder, name)

    def _convention(self, root: str, name: str) -> Iterator[str]:
        for path in self._walk(f"{root}/{name}"):
            if path.endswith(_COPILOT if name == ".github/prompts" else _ENDING):
                yield path

    def _own(self) -> Iterator[str]:
        """The prompts in the user's own folders."""
        home = os.path.expanduser("~")  # noqa: PTH111
        config = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
        editor, own = f"{config}/Code/User", f"{config}/kbp"
        if sys.platform == "darwin":
            support = f"{home}/Library/Application Support"
            editor, own = f"{support}/Code/User", f"{support}/kbp"
        yield from self._convention(home, ".claude/commands")
        for path in self._walk(f"{editor}/prompts"):
            if path.endswith(_COPILOT):
                yield path
        yield from self._convention(own, "prompts")

    def _plugins(self, root: str) -> Iterator[str]:
        """The folders below the root that are plugins of their own."""
        ignored = _ignored(root)
        pending = [root]
        while pending and self._folders < _MAX_FOLDERS:
            folder = pending.pop()
            self._folders += 1
            try:
                with os.scandir(folder) as entries:
                    below = [each.path for each in entries if each.is_dir(follow_symlinks=False)]
            except OSError:
                continue
            names = {path.rpartition("/")[2]: path for path in below}
            if ".claude-plugin" in names and folder != root:
                yield folder
            pending += [path for name, path in sorted(names.items()) if name[0] != "." and name not in ignored]

    def _walk(self, top: str) -> Iterator[str]:
        """The files below a folder, in sorted order."""
        pending = [top.rstrip("/") or "/"]
        while pending and self._folders < _MAX_FOLDERS:
            self._folders += 1
            try:
                with os.scandir(pending.pop()) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except OSError:
                continue
            folders = []
            for entry in found:
                if entry.name[0] == "." and entry.name not in _SHOWN:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.is_file():
                    yield entry.path
            pending += reversed(folders)


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
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return b"[tool.kbp" in file.read(1 << 20)
    except OSError:
        return False


def _is_conventional(path: str) -> bool:
    return path.endswith(_COPILOT) or not {"prompts", "commands"}.isdisjoint(path.split("/")[:-1])


def _ignored(root: str) -> set[str]:
    """The names that ignore files of the root name plainly, and what is never looked through."""
    found = {"node_modules"}
    for name in (".gitignore", ".kbpignore"):
        try:
            with open(f"{root}/{name}", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                lines = file.read(1 << 16).split("\n")
        except OSError:
            continue
        found |= {line.strip().strip("/") for line in lines if line.strip() and line[0] not in "#!"}
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


def _configured(here: str) -> list[str]:
    """The paths that the settings name; read anew when their file has changed."""
    folder = here
    while True:
        for name in ("kbp.toml", ".kbp.toml", "pyproject.toml"):
            path = f"{folder}/{name}"
            stamp = shelf.stamp_of(path)
            if stamp and (name != "pyproject.toml" or _has_table(path)):
                return _paths_of(path, stamp)
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return []
        folder = above


def _paths_of(path: str, stamp: str) -> list[str]:
    rows = shelf.read("settings", path, stamp)
    if rows is None:
        from pathlib import Path

        from kbp import configuration, dialects

        try:
            found = configuration.load(Path(path), dialects.names())
        except configuration.Wrong:
            return []
        rows = [[str(found.folder / each)] for each in found.value("paths")]
        shelf.write("settings", path, rows, stamp)
    return [row[0] for row in rows if os.path.exists(row[0])]


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
