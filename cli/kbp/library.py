"""Prompt files found in paths, projects, plugins and the user's folders, as one source of prompts."""

import difflib
import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from kbp import renderer, settings
from kbp.dialects.base import Dialect
from kbp.files import Place, PromptFile, Roots, load, shown
from kbp.manifests import Declared, ManifestFault, marketplace_plugins, plugin_commands
from kbp.model import Message, Prompt
from kbp.walk import Skipped, Walk, link_fault

PROMPT_FOLDERS = frozenset({"prompts", "commands"})


class NotFound(LookupError):
    """No prompt, or no path, of that name; or more than one. `candidates` are what was nearly meant or all that was."""

    def __init__(self, message: str, candidates: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


@dataclass
class Search:
    """What was found so far: places of prompt files in order, paths passed over with a reason, remarks for a person.

    `level` is that of the places added next: a search that goes on in a weaker source raises it.
    """

    places: list[Place] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    looked_in: list[Path] = field(default_factory=list)
    level: int = 0
    _seen: set[Path] = field(default_factory=set)

    def add(self, place: Place) -> None:
        """Take a place, unless that path was found before."""
        if place.path not in self._seen:
            self._seen.add(place.path)
            self.places.append(replace(place, level=self.level))


# Plugins


@dataclass(frozen=True)
class Plugins:
    """The plugin folders below a walked folder and what each declares as its commands; None: the conventions hold."""

    declared: Mapping[Path, Declared | None]
    skipped: tuple[Skipped, ...] = ()

    def of(self, path: Path) -> Path | None:
        """The innermost plugin folder that the file lies in."""
        return next((folder for folder in path.parents if folder in self.declared), None)


def find_plugins(walk: Walk) -> Plugins:
    """The plugins below a walked folder: those with a manifest, and those a marketplace names by a relative source."""
    declared: dict[Path, Declared | None] = {}
    skipped: list[Skipped] = []
    by_entries: dict[Path, list[Declared | None]] = {}
    for folder in walk.folders:
        if (folder / ".claude-plugin" / "plugin.json").is_file():
            declared[folder] = None
        try:
            plugins, passed = marketplace_plugins(folder)
        except ManifestFault as fault:
            skipped.append(Skipped(folder, str(fault)))
            continue
        skipped += [Skipped(path, reason) for path, reason in passed]
        for plugin in plugins:
            by_entries.setdefault(plugin.folder, []).append(plugin.declared)
    for folder in {*declared, *by_entries}:
        try:
            declared[folder] = _merged(by_entries.get(folder, []), folder)
        except ManifestFault as fault:
            skipped.append(Skipped(folder, str(fault)))
            declared[folder] = Declared(())
    return Plugins(declared, tuple(skipped))


def _merged(entries: list[Declared | None], folder: Path) -> Declared | None:
    """The commands of a plugin: what its marketplace entries declare wins over what its manifest does."""
    lists = [entry for entry in entries if entry is not None]
    if not lists:
        return plugin_commands(folder)
    return Declared(tuple(path for entry in lists for path in entry.entries))


def follows_convention(path: PurePosixPath) -> bool:
    """Whether a path below a project or plugin is where prompts are kept by convention."""
    parts = path.parts
    if len(parts) < 2 or path.suffix != ".md":
        return False
    if parts[:2] == (".github", "prompts"):
        return len(parts) == 3 and path.name.endswith(".prompt.md")
    return parts[0] in PROMPT_FOLDERS or parts[:2] == (".claude", "commands")


# Finding


def find_in_project(root: Path, search: Search) -> None:
    """The prompts of a project and of every plugin in it, by manifest, marketplace and convention."""
    search.looked_in.append(root)
    walk = Walk(root, root)
    plugins = find_plugins(walk)
    search.skipped += [*walk.skipped, *plugins.skipped]
    for path in walk.files:
        unit = plugins.of(path) or root
        place = Place(path, unit)
        declared = plugins.declared.get(unit)
        if declared is None and follows_convention(place.relative):
            search.add(place)
        elif declared is not None and declared.holds(place.relative):
            search.add(Place(path, unit, declared=True))


def find_beside(folder: Path, search: Search) -> None:
    """The prompts in the conventional folders of a folder that is no project: nothing else of it is walked."""
    search.looked_in.append(folder)
    for name in ("prompts", ".github/prompts", "commands", ".claude/commands"):
        if (folder / name).is_dir():
            walk = Walk(folder / name, folder)
            search.skipped += walk.skipped
            for path in walk.files:
                place = Place(path, folder)
                if follows_convention(place.relative):
                    search.add(place)


def find_in_folder(folder: Path, given_root: Path | None, search: Search) -> None:
    """The prompts below a folder that was named outright, looked for at any depth."""
    above = given_root or Roots().marked(folder)
    walk = Walk(folder, above or folder)
    plugins = find_plugins(walk)
    roots = Roots(given_root, frozenset(plugins.declared))
    search.skipped += [*walk.skipped, *plugins.skipped]
    search.looked_in.append(folder)
    markdown = [path for path in walk.files if path.suffix == ".md"]
    whole = bool(PROMPT_FOLDERS.intersection(_parts_below(folder, above or folder.parent)))
    places = [_place(path, folder, plugins, roots) for path in markdown]
    wanted = [place for place in places if whole or place.declared or _looks_like_prompt(place.path, folder)]
    if markdown and not wanted:
        search.remarks.append(f"no prompts or commands folder in {shown(folder)}: every .md file below it is taken")
        wanted = places
    for place in wanted:
        search.add(place)


def _place(path: Path, folder: Path, plugins: Plugins, roots: Roots) -> Place:
    unit = plugins.of(path)
    declared = plugins.declared[unit] if unit else None
    is_declared = unit is not None and declared is not None and declared.holds(Place(path, unit).relative)
    return Place(path, roots.root_of(path, folder.parent), declared=is_declared)


def _parts_below(path: Path, root: Path) -> tuple[str, ...]:
    return path.relative_to(root).parts if path.is_relative_to(root) else ()


def _looks_like_prompt(path: Path, folder: Path) -> bool:
    return path.name.endswith(".prompt.md") or bool(PROMPT_FOLDERS.intersection(path.relative_to(folder).parts[:-1]))


def find_paths(paths: Iterable[str], given_root: Path | None, search: Search) -> list[str]:
    """The prompts that paths name: files, folders, globs. Gives a message for each path that names nothing."""
    faults: list[str] = []
    for text in paths:
        path = Path(os.path.abspath(text))  # noqa: PTH100 (resolve() would follow links)
        if path.is_dir():
            find_in_folder(path, given_root, search)
        elif os.path.lexists(path):
            _find_file(path, given_root, search, faults)
        else:
            matches = sorted(glob.glob(text, recursive=True)) if glob.has_magic(text) else []  # noqa: PTH207 (absolute patterns)
            for match in matches:
                if Path(match).is_file():
                    _find_file(Path(os.path.abspath(match)), given_root, search, faults)  # noqa: PTH100
            if not matches:
                faults.append(_no_such_path(text))
    return faults


def _find_file(path: Path, given_root: Path | None, search: Search, faults: list[str]) -> None:
    root = Roots(given_root).root_of(path, path.parent.parent)
    reason = link_fault(str(path), path.parent) if path.is_symlink() and not path.exists() else None
    if reason:
        faults.append(f"{shown(path)} is {reason}")
        return
    unit = _plugin_above(path, root)
    search.add(Place(path, root, declared=unit, outright=True))


def _plugin_above(path: Path, root: Path) -> bool:
    """Whether the manifest of the plugin at `root` declares the file a command."""
    try:
        declared = plugin_commands(root) if (root / ".claude-plugin").is_dir() else None
    except ManifestFault:
        return False
    return declared is not None and declared.holds(Place(path, root).relative)


def _no_such_path(text: str) -> str:
    if glob.has_magic(text):
        return f"nothing matches '{text}'"
    folder = Path(text).parent
    try:
        near = difflib.get_close_matches(Path(text).name, os.listdir(folder), n=1)  # noqa: PTH208
    except OSError:
        near = []
    return f"there is no file or folder '{text}'" + (f"; did you mean '{folder / near[0]}'?" if near else "")


def find_in_user_folders(search: Search) -> None:
    """The prompts of the user's own folders."""
    for folder, root, suffix in settings.user_folders():
        if folder.is_dir():
            walk = Walk(folder, root)
            search.skipped += walk.skipped
            search.looked_in.append(folder)
            for path in walk.files:
                if path.name.endswith(suffix):
                    search.add(Place(path, root))


def find_in_plugin(root: Path, patterns: Sequence[str] | None = None) -> Search:
    """The prompts of one plugin: those its `patterns` match, else what its manifest declares, else the conventions.

    Raises:
        ManifestFault: the manifest cannot be used.
    """
    walk = Walk(root, root)
    search = Search(skipped=list(walk.skipped), looked_in=[root])
    commands = plugin_commands(root)
    for path in walk.files:
        relative = Place(path, root).relative
        if patterns is not None:
            wanted = path.suffix == ".md" and any(_matches(relative, pattern) for pattern in patterns)
        else:
            wanted = commands.holds(relative) if commands is not None else follows_convention(relative)
        if wanted:
            search.add(Place(path, root, declared=commands is not None and commands.holds(relative)))
    return search


def _matches(path: PurePosixPath, pattern: str) -> bool:
    """Whether the path fits a pattern in which `**` stands for any folders, and as last part for everything below."""
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(["/" + pattern.removeprefix("./")]).match_file(str(path))


# Prompts


@dataclass(frozen=True)
class Library:
    """The prompt files that were found, as a source of prompts.

    `files` are all of them in order. Of two prompts that one client would merge — of one plugin or root, or of one
    library — the first in sorted order serves the name.
    """

    files: tuple[PromptFile, ...]
    search: Search = field(default_factory=Search)

    @property
    def served(self) -> tuple[PromptFile, ...]:
        """The prompts on offer, in order of their names."""
        lost = {id(file) for file, _ in (*self.collisions(), *self.shadowed())}
        return tuple(sorted(self._prompts(lost), key=lambda file: (file.name, file.path)))

    def _prompts(self, lost: set[int]) -> Iterator[PromptFile]:
        return (file for file in self.files if file.template is not None and id(file) not in lost)

    def collisions(self) -> list[tuple[PromptFile, PromptFile]]:
        """The prompts whose name is taken within their plugin, root or library, each with the one that serves it."""
        return [(file, group[0]) for group in colliding(self.files) for file in group[1:]]

    def shadowed(self) -> list[tuple[PromptFile, PromptFile]]:
        """The prompts whose name a stronger source serves too, each with the one that serves it."""
        taken: dict[str, PromptFile] = {}
        shadowed: list[tuple[PromptFile, PromptFile]] = []
        for file in sorted((file for file in self.files if file.template), key=_rank):
            first = taken.setdefault(file.name, file)
            if first.place.level < file.place.level:
                shadowed.append((file, first))
        return shadowed

    def prompts(self) -> list[Prompt]:
        """The prompts on offer as an MCP client sees them."""
        return [file.prompt for file in self.served if file.prompt is not None]

    def messages(self, name: str, arguments: Mapping[str, str | None]) -> Sequence[Message]:
        """What the prompt of that name becomes.

        Raises:
            NotFound: no prompt, or more than one, has the name.
            renderer.MissingArguments: a required argument has no value.
        """
        file = self.find(name)
        if file.template is None:
            raise NotFound(f"{name} is refused")
        return renderer.render(file.template, arguments, file.library)

    def find(self, name: str) -> PromptFile:
        """The file of the prompt that is exposed as `name`, else of the only one with that stem.

        A refused file is found too, when nothing else has its name.

        Raises:
            NotFound: none has it, or more than one.
        """
        for among in (self.served, tuple(file for file in self.files if file.is_refused)):
            for kind in (_exposed_name, _stem):
                found = [file for file in among if kind(file) == name]
                if len(found) == 1:
                    return found[0]
                if found:
                    raise NotFound(f"{len(found)} prompts are called '{name}'", [file.path for file in found])
        raise NotFound(f"no prompt is called '{name}'", self.nearest(name))

    def nearest(self, name: str) -> list[str]:
        """The three nearest prompts, each with its path."""
        paths = {_exposed_name(file): file.path for file in self.served}
        stems = {_stem(file): _exposed_name(file) for file in self.served}
        near = difflib.get_close_matches(name, [*paths, *stems], n=6, cutoff=0.5)
        names = list(dict.fromkeys(word if word in paths else stems[word] for word in near))[:3]
        return [f"{word} ({paths[word]})" for word in names]


def _exposed_name(file: PromptFile) -> str:
    return file.name


def _stem(file: PromptFile) -> str:
    return file.name.removeprefix(f"{file.library}_") if file.library else file.name


def _rank(file: PromptFile) -> tuple[int, Path]:
    return file.place.level, file.place.path


def colliding(files: Iterable[PromptFile]) -> list[list[PromptFile]]:
    """The groups of prompts that one client would merge: equal names in one library, or in one plugin or root."""
    groups: dict[tuple[str, str], list[PromptFile]] = {}
    for file in files:
        if file.template is not None:
            groups.setdefault((file.library or str(file.place.root), file.name), []).append(file)
    return [sorted(group, key=_rank) for group in groups.values() if len(group) > 1]


def load_all(search: Search, *, given: Dialect | None = None, library: str | None = None) -> Library:
    """The library of all places found, each file loaded."""
    return Library(tuple(load(place, given=given, library=library) for place in search.places), search)
