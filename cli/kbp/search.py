"""Where prompt files are: paths that were named, a project and its plugins, the user's folders."""

import difflib
import glob
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from kbp import settings
from kbp.dialects import skill
from kbp.dialects.copilot import SUFFIX
from kbp.display import said_of
from kbp.files import Place, Roots, shown
from kbp.manifests import MANIFEST_PATH, Declared, ManifestFault, marketplace_plugins, plugin_commands
from kbp.patterns import Patterns, compiled
from kbp.walk import DANGLING_LINK, Skipped, Walk, link_fault

_SKILLS = ((".claude", "skills"), (".github", "skills"), (".agents", "skills"))
PROMPT_FOLDERS = frozenset({"prompts", "commands"})
_MAX_SUGGESTIONS = 20


@dataclass
class Search:
    """What was found so far: places of prompt files in order, paths passed over with a reason, notes for a person.

    `looked_in` are the folders that were searched, `folders` all that were walked below them.
    `level` is that of the places added next: a search that goes on in a weaker source raises it. What is `excluded` is
    left out where folders are walked; `skills` says whether Agent Skills are looked for too; `stays_inside` that links
    lead nowhere above a folder that was named, where no mark above it says what it belongs to.
    """

    places: list[Place] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    looked_in: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    level: int = 0
    excluded: Patterns | None = None
    skills: bool = False
    stays_inside: bool = False
    _seen: dict[object, int] = field(default_factory=dict)
    _links: dict[Path, Path] = field(default_factory=dict)
    _boundary: Path | None = None

    def pass_over(self, walk: Walk, root: Path, *, whole: bool = False) -> None:
        """Take what a walk left out. An unreadable folder where prompts are kept counts as an unreadable file."""
        for each in walk.skipped:
            is_prompts = whole or PROMPT_FOLDERS.intersection(Place(each.path, root).relative.parts)
            self.skipped.append(replace(each, rule=each.rule if is_prompts else None))
        self._links |= walk.links
        self.folders += walk.folders
        self._boundary = walk.boundary
        for folder in walk.unreadable:
            if whole or PROMPT_FOLDERS.intersection(Place(folder.path, root).relative.parts):
                self.add(Place(folder.path, root))
            else:
                self.skipped.append(folder)

    def add(self, place: Place) -> None:
        """Take a place, unless that file was found before.

        One that a symbolic link led to is another file only where it is another prompt: of another name or plugin, or
        in another kind of folder. Where it is the same, its own path stands for it.
        """
        kinds = PROMPT_FOLDERS.intersection(place.relative.parts)
        real = self._links.get(place.path, place.path)
        prompt = (real, place.unit or place.root, place.path.name, kinds)
        at = self._seen.get(place.path, self._seen.get(prompt))
        if not place.outright:
            place = replace(place, boundary=self._boundary)
        if at is None:
            self._seen[place.path] = self._seen[prompt] = len(self.places)
            self.places.append(replace(place, level=self.level))
        elif (place.path == real and self.places[at].path in self._links) or place.outright:
            self._seen[place.path] = at
            self.places[at] = replace(place, level=self.places[at].level)


# Plugins


def _merged(entries: list[Declared | None], folder: Path) -> Declared | None:
    """The commands of a plugin: what its marketplace entries declare wins over what its manifest does."""
    lists = [entry for entry in entries if entry is not None]
    if not lists:
        return plugin_commands(folder)
    paths = frozenset(path for entry in lists for path in entry.entries)
    return Declared(paths, lists[0].source, tuple(lost for entry in lists for lost in entry.lost))


def _lost(declared: Declared | None) -> list[Skipped]:
    """The declared commands that are not there."""
    if declared is None:
        return []
    return [Skipped(declared.source, reason, rule=MANIFEST_PATH, written=text) for text, reason in declared.lost]


def follows_convention(path: PurePosixPath, *, skills: bool = False) -> bool:
    """Whether a path below a project or plugin is where prompts, or `skills` too, are kept by convention."""
    parts = path.parts
    if skills and skill.FILE.fullmatch(path.name) and (parts[0] == "skills" or parts[:2] in _SKILLS):
        return True
    if len(parts) < 2 or path.suffix != ".md":
        return False
    if parts[:2] == (".github", "prompts"):
        return len(parts) == 3 and path.name.endswith(SUFFIX)
    return parts[0] in PROMPT_FOLDERS or parts[:2] == (".claude", "commands")


class Surroundings:
    """What lies above files: their roots, and the manifests and marketplaces that speak of them.

    `skipped` are the manifests that cannot be used, and what they name that is not there.
    """

    def __init__(self, given_root: Path | None = None) -> None:
        self.skipped: list[Skipped] = []
        self._roots = Roots(given_root)
        self._entries: dict[Path, dict[Path, list[Declared | None]]] = {}
        self._commands: dict[Path, Declared | None] = {}
        self._manifests: dict[Path, bool] = {}
        self._units: dict[tuple[str, Path | None], Path] = {}

    def place_of(self, path: Path, *, named: Path | None = None) -> Place:
        """The place of the file at `path`, there or not. `named` is the folder it was found in, if any."""
        key = str(path.parent), named
        unit = self._units.get(key)  # all files of a folder have one
        if unit is None:
            root = self._roots.root_of(path, _unmarked_root(path, named))
            unit = self._units[key] = self.unit_of(path, root)
        declared = self.declared(unit)
        is_declared = declared is not None and declared.holds(Place(path, unit).relative)
        return Place(path, self._roots.given or unit, unit, declared=is_declared, outright=named is None)

    def unit_of(self, path: Path, root: Path) -> Path:
        """The innermost plugin folder below the root that the file at `path` lies in; the root when it lies in none."""
        marketplaces = self._marketplaces(path.parent)
        for folder in path.parents:
            if folder == root:
                break
            if self._has_manifest(folder) or any(folder in entries for entries in marketplaces):
                return folder
        return root

    def declared(self, unit: Path) -> Declared | None:
        """The commands that a plugin or project declares: by marketplaces above it, else by its own manifest.

        None when nothing is said of them, and the conventions hold.
        """
        if unit not in self._commands:
            self._commands[unit] = None
            by_entries = [declared for entries in self._marketplaces(unit) for declared in entries.get(unit, [])]
            try:
                if by_entries or self._has_manifest(unit):
                    self._commands[unit] = _merged(by_entries, unit)
                    self.skipped += _lost(self._commands[unit])
            except ManifestFault as fault:
                self.skipped.append(_broken(fault))
        return self._commands[unit]

    def look_at(self, folder: Path) -> None:
        """Look at the manifest and the marketplace of a folder, and at the plugins that they name."""
        if self._has_manifest(folder):
            self.declared(folder)
        for plugin in self._entries_of(folder):
            self.declared(plugin)

    def _has_manifest(self, folder: Path) -> bool:
        if folder not in self._manifests:
            self._manifests[folder] = has_manifest(folder)
        return self._manifests[folder]

    def _marketplaces(self, folder: Path) -> list[dict[Path, list[Declared | None]]]:
        """The plugins that marketplaces in the folder and above it name."""
        return [entries for each in (folder, *folder.parents) if (entries := self._entries_of(each))]

    def _entries_of(self, folder: Path) -> dict[Path, list[Declared | None]]:
        """The plugins that a marketplace in the folder names, each with what its entries declare."""
        if folder not in self._entries:
            self._entries[folder] = {}
            try:
                plugins, passed = marketplace_plugins(folder)
                self.skipped += passed
                for plugin in plugins:
                    self._entries[folder].setdefault(plugin.folder, []).append(plugin.declared)
            except ManifestFault as fault:
                self.skipped.append(_broken(fault))
        return self._entries[folder]


def _broken(fault: ManifestFault) -> Skipped:
    return Skipped(fault.path, str(fault), is_fault=True, rule=MANIFEST_PATH, offset=fault.offset)


# Finding


def find_in_project(root: Path, search: Search, *, given_root: Path | None = None) -> None:
    """The prompts of a project and of every plugin in it, by manifest, marketplace and convention."""
    search.looked_in.append(root)
    walk = Walk(root, root, search.excluded)
    search.pass_over(walk, root)
    around = Surroundings()
    for folder in walk.folders:
        around.look_at(folder)
    for path in walk.files:
        if path.suffix == ".md":
            unit = around.unit_of(path, root)
            _add_served(Place(path, unit), around.declared(unit), search, given_root)
    search.skipped += around.skipped


def _add_served(place: Place, declared: Declared | None, search: Search, given_root: Path | None = None) -> None:
    """Take a file of a plugin or project if it is declared, or lies where the conventions have it when nothing is."""
    is_declared = declared is not None and declared.holds(place.relative)
    is_conventional = declared is None and follows_convention(place.relative)
    if is_declared or is_conventional or (search.skills and follows_convention(place.relative, skills=True)):
        search.add(Place(place.path, given_root or place.root, place.root, declared=is_declared))


def find_beside(folder: Path, search: Search) -> None:
    """The prompts in the conventional folders of a folder that is no project: nothing else of it is walked."""
    search.looked_in.append(folder)
    skills = ("skills", *map("/".join, _SKILLS)) if search.skills else ()
    for name in ("prompts", ".github/prompts", "commands", ".claude/commands", *skills):
        if os.path.isdir(folder / name):
            fault = link_fault(str(folder / name), folder)
            if fault:
                search.skipped.append(Skipped(folder / name, fault, rule=DANGLING_LINK))
                continue
            walk = Walk(folder / name, folder, search.excluded)
            search.pass_over(walk, folder)
            for path in walk.files:
                place = Place(path, folder)
                if follows_convention(place.relative, skills=search.skills):
                    search.add(place)


def find_in_folder(folder: Path, given_root: Path | None, search: Search) -> None:
    """The prompts below a folder that was named outright, looked for at any depth."""
    search.looked_in.append(folder)
    marked = given_root or Roots().marked(folder)
    root = marked or folder.parent
    walk = Walk(folder, marked or folder if search.stays_inside else root, search.excluded)
    whole = bool(PROMPT_FOLDERS.intersection(_parts_below(folder, marked)))
    search.pass_over(walk, root, whole=whole or folder not in walk.folders)
    around = Surroundings(given_root)
    places = [around.place_of(path, named=folder) for path in walk.files if path.suffix == ".md"]
    search.skipped += around.skipped
    wanted = [place for place in places if whole or place.declared or _looks_like_prompt(place.path, folder, search)]
    if places and not wanted:
        search.notes.append(f"no prompts or commands folder in {shown(folder)}: every .md file below it is taken")
        wanted = places
    for place in wanted:
        search.add(place)


def _parts_below(folder: Path, root: Path | None) -> tuple[str, ...]:
    """The folders between the root and the folder, itself too; without a root all above it."""
    if root is None or not folder.is_relative_to(root):
        return folder.parts
    return folder.relative_to(root).parts


def _looks_like_prompt(path: Path, folder: Path, search: Search) -> bool:
    if search.skills and skill.FILE.fullmatch(path.name):
        return True
    return path.name.endswith(SUFFIX) or bool(PROMPT_FOLDERS.intersection(path.relative_to(folder).parts[:-1]))


def find_paths(paths: Iterable[str], given_root: Path | None, search: Search) -> list[str]:
    """The prompts that paths name: files, folders, globs. Gives a message for each path that names nothing."""
    faults: list[str] = []
    around = Surroundings(given_root)
    for text in paths:
        if not text:
            faults.append("an empty path names nothing")
            continue
        path = Path(os.path.abspath(text))  # noqa: PTH100 (resolve() would follow links)
        try:
            path.lstat()
            matches = [path]
        except (FileNotFoundError, NotADirectoryError):
            matches = _matching(text)
            if not matches:
                faults.append(_no_such_path(text, suggest=len(faults) < _MAX_SUGGESTIONS))
        except (OSError, ValueError) as error:
            faults.append(f"'{text}': {said_of(error)}")
            continue
        for match in matches:
            fault = (
                link_fault(str(match), _root_of(match, given_root)) if match != path and os.path.islink(match) else None
            )
            if fault:
                search.skipped.append(Skipped(match, fault, rule=DANGLING_LINK))
            elif os.path.isdir(match):
                find_in_folder(match, given_root, search)
            else:
                _find_file(match, around, search, faults)
    search.skipped += around.skipped
    return faults


def _root_of(path: Path, given_root: Path | None) -> Path:
    return Roots(given_root).root_of(path, _unmarked_root(path, None))


def _matching(text: str) -> list[Path]:
    """The paths that a glob matches. `**` does not go through links, and a star matches no hidden file."""
    if not glob.has_magic(text):
        return []
    pattern = Path(text)
    base = Path(pattern.anchor) if pattern.is_absolute() else Path()
    written = set(pattern.parts)
    try:
        matches = list(base.glob(str(pattern.relative_to(base) if pattern.is_absolute() else pattern)))
    except (OSError, ValueError, NotImplementedError, RecursionError):
        return []
    shown_ones = (each for each in matches if not any(part[0] == "." for part in each.parts if part not in written))
    return sorted({Path(os.path.abspath(each)) for each in shown_ones})  # noqa: PTH100


def _unmarked_root(path: Path, named: Path | None) -> Path:
    """The root of a file below no mark: the parent of the folder that was named, or of the file's own.

    A `commands` folder further up is not left out, so that the file is read alike however it is named.
    """
    root = (named or path.parent).parent
    commands = next((folder for folder in path.parents if folder.name == "commands"), None)
    if commands is None or not root.is_relative_to(commands):
        return root
    return commands.parent.parent if commands.parent.name == ".claude" else commands.parent


def has_manifest(folder: Path) -> bool:
    """Whether a folder is a plugin of its own."""
    return os.path.isfile(folder / ".claude-plugin" / "plugin.json")


def _find_file(path: Path, around: Surroundings, search: Search, faults: list[str]) -> None:
    reason = link_fault(str(path), path.parent) if os.path.islink(path) and not os.path.exists(path) else None
    if reason:
        faults.append(f"{shown(path)} is {reason}")
        return
    search.add(around.place_of(path))


def _no_such_path(text: str, *, suggest: bool) -> str:
    if glob.has_magic(text):
        return f"nothing matches '{text}'"
    folder = Path(text).parent
    if not suggest:
        return f"there is no file or folder '{text}'"
    try:
        near = difflib.get_close_matches(Path(text).name, os.listdir(folder), n=1)  # noqa: PTH208
    except OSError:
        near = []
    return f"there is no file or folder '{text}'" + (f"; did you mean '{folder / near[0]}'?" if near else "")


def find_in_user_folders(search: Search) -> None:
    """The prompts of the user's own folders."""
    for folder, root, is_editors in settings.user_folders():
        if os.path.isdir(folder):
            walk = Walk(folder, root, search.excluded)
            search.pass_over(walk, root)
            search.looked_in.append(folder)
            for path in walk.files:
                if path.name.endswith(SUFFIX if is_editors else ".md"):
                    search.add(Place(path, root))


def find_in_plugin(root: Path, patterns: Sequence[str] | None = None, declared: Declared | None = None) -> Search:
    """The prompts of one plugin: those its `patterns` match, else what is declared, else the conventions.

    What a marketplace has `declared` of it goes before what its own manifest does.

    Raises:
        ManifestFault: the manifest cannot be used.
    """
    walk = Walk(root, root)
    search = Search(looked_in=[root])
    search.pass_over(walk, root)
    commands = declared or plugin_commands(root)
    for path in walk.files:
        place = Place(path, root)
        if patterns is None:
            _add_served(place, commands, search)
        elif path.suffix == ".md" and any(_matches(place.relative, pattern) for pattern in patterns):
            is_declared = commands is not None and commands.holds(place.relative)
            search.add(Place(path, root, declared=is_declared))
    return search


def _matches(path: PurePosixPath, pattern: str) -> bool:
    """Whether the path fits a pattern in which `**` stands for any folders, and as last part for everything below."""
    patterns, _ = compiled(["/" + pattern.removeprefix("./")], "/")
    return patterns.hold(f"/{path}")
