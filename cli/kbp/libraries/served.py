"""What libraries serve: the prompts of their plugins, each under the name of its library."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kbp import dialects
from kbp.display import counted
from kbp.files import Manner, Place, PromptFile, load, shown
from kbp.libraries.file import Address, Declaration, DeclaredLibrary, DeclaredPlugin
from kbp.library import Library, load_all, twins
from kbp.manifests import Declared, ManifestFault, manifest_of, marketplace_plugins
from kbp.search import Search, find_in_plugin
from kbp.walk import DANGLING_LINK, Skipped

_MAX_REASONS = 10
_OWN_DIALECT = {"mcp-kb": "kb"}


@dataclass(frozen=True)
class Plugin:
    """A plugin of a library.

    Attributes:
        id: its name, or `entry@library` for one of a marketplace.
        prompts: its prompt files, named for the library.
        error: why it cannot be read, None when it is read, or lies elsewhere.
        category: the one that it declares.
        labels: its tags and keywords.
    """

    id: str
    prompts: Library = field(default_factory=lambda: Library(()))
    error: str | None = None
    category: str | None = None
    labels: frozenset[str] = frozenset()

    def skipped(self) -> Iterator["Left"]:
        """The files that are not served, by their paths in the plugin."""
        for file in self.prompts.files:
            path = str(file.place.relative)
            if not file.is_prompt:
                yield Left(path, file.detection.why)
            elif file.is_refused:
                line = file.document.lines.position(file.problems[0].span.start).line
                reasons = [problem.message for problem in file.problems]
                more = f"; and {len(reasons) - _MAX_REASONS} more" if len(reasons) > _MAX_REASONS else ""
                yield Left(path, "; ".join(reasons[:_MAX_REASONS]) + more, line, is_fault=True)
        for file, winner in self.prompts.collisions():
            reason = f"{winner.place.relative} serves `{file.name}`"
            yield Left(str(file.place.relative), reason, is_fault=True)
        for each in self.prompts.search.skipped:
            yield left(each)


@dataclass(frozen=True)
class Left:
    """What is not served: its path in its plugin, the reason, the line, and whether somebody should see to it."""

    path: str
    reason: str
    line: int | None = None
    is_fault: bool = False


def left(skipped: Skipped) -> Left:
    """What a search passed over. Where a link leads is nobody's business but the owner's."""
    reason = skipped.reason.partition(" (")[0] if skipped.rule == DANGLING_LINK else skipped.reason
    return Left(skipped.path.name, reason, is_fault=skipped.is_fault or skipped.rule is not None)


@dataclass(frozen=True)
class Served:
    """A library with the plugins that it serves.

    Attributes:
        name: the first part of the names of its prompts.
        plugins: those of it, in order; of one with an error there are no prompts.
        passed: what it does not serve, by what it is called.
        conflicts: the plugins that are left out whole, as a prompt of theirs has a name that an earlier one serves.
        search: where its plugins were looked for.
    """

    name: str
    plugins: tuple[Plugin, ...] = ()
    passed: tuple[Left, ...] = ()
    conflicts: tuple[str, ...] = ()
    search: Search = field(default_factory=Search)

    @property
    def files(self) -> tuple[PromptFile, ...]:
        """The prompt files of all its plugins, refused ones and what is no prompt too."""
        return tuple(file for plugin in self.plugins for file in plugin.prompts.files)


def serve(
    declared: Declaration,
    manner: Callable[[Path], Manner] = lambda path: Manner(),
    load: Callable[[Place, Manner], PromptFile] = load,
    before: Sequence[Served] = (),
) -> tuple[Served, ...]:
    """The libraries that a file declares. Nothing is fetched: what lies elsewhere is passed over with the reason.

    Args:
        declared: what the file says.
        manner: how the file at a path is read, apart from its dialect and library.
        load: reads a file.
        before: what was served before: a plugin that cannot be read now keeps its prompts.
    """
    last = {(library.name, plugin.id): plugin for library in before for plugin in library.plugins}
    reader = _Reader(manner, load, last)
    return tuple(_served(library, declared, reader) for library in declared.libraries)


@dataclass(frozen=True)
class _Reader:
    """How files are read."""

    manner: Callable[[Path], Manner]
    load: Callable[[Place, Manner], PromptFile]
    last: Mapping[tuple[str, str], Plugin]


@dataclass(frozen=True)
class _Found:
    """A plugin before its files are read."""

    id: str
    address: Address
    category: str | None = None
    labels: frozenset[str] = frozenset()
    patterns: tuple[str, ...] | None = None
    dialect: str = "auto"
    commands: Declared | None = None


def _served(library: DeclaredLibrary, declared: Declaration, reader: _Reader) -> Served:
    passed: list[Left] = []
    conflicts: list[str] = []
    plugins: list[Plugin] = []
    taken: dict[str, str] = {}
    for found in _plugins(library, declared, passed):
        if found.address.folder is None:
            passed.append(Left(found.id, f"{found.address.text} is not read here: nothing is fetched"))
            continue
        plugin = _read(found, found.address.folder, library.name, reader)
        if plugin.error is not None:
            passed.append(Left(found.id, plugin.error, is_fault=True))
        names = [file.name for file in plugin.prompts.served]
        clash = next((name for name in names if name in taken), None)
        if clash is not None:
            lost = counted(len(names), "prompt")
            conflicts.append(f"plugin {plugin.id} is left out with {lost}: {taken[clash]} serves `{clash}` already")
            continue
        taken |= dict.fromkeys(names, plugin.id)
        plugins.append(plugin)
    marketplace = library.source.folder if library.source is not None else None
    search = Search(folders=[marketplace] if marketplace is not None else [])
    return Served(library.name, tuple(plugins), tuple(passed), tuple(conflicts), search)


def _plugins(library: DeclaredLibrary, declared: Declaration, passed: list[Left]) -> Iterator[_Found]:
    """The plugins of a library in order: those of its marketplace, those it names, those its selector fits."""
    if library.source is not None:
        yield from _of_marketplace(library.name, library.source, passed)
    by_name = {plugin.name: plugin for plugin in declared.plugins}
    marketplaces = {each.name: each.source for each in declared.libraries if each.source is not None}
    for name in library.plugins:
        entry, mark, of = name.partition("@")
        if not mark:
            yield _found(by_name[name])
        elif of not in marketplaces:
            passed.append(Left(name, f"there is no library {of} with a marketplace", is_fault=True))
        else:
            among = [each for each in _of_marketplace(of, marketplaces[of], []) if each.id == name]
            if not among:
                passed.append(Left(name, f"the marketplace of {of} has no {entry}", is_fault=True))
            yield from among
    for plugin in declared.plugins:
        if _fits(plugin, library):
            yield _found(plugin)


def _found(plugin: DeclaredPlugin) -> _Found:
    return _Found(plugin.name, plugin.source, plugin.category, plugin.labels, plugin.prompts, plugin.dialect)


def _fits(plugin: DeclaredPlugin, library: DeclaredLibrary) -> bool:
    """Whether the selector of a library fits a plugin: each kind that it names, any of the words of a kind."""
    if not library.categories and not library.tags:
        return False
    is_category = not library.categories or plugin.category in library.categories
    return is_category and (not library.tags or bool(library.tags & plugin.labels))


def _of_marketplace(library: str, source: Address, passed: list[Left]) -> Iterator[_Found]:
    if source.folder is None:
        passed.append(Left(source.text, "this marketplace is not read here: nothing is fetched"))
        return
    try:
        entries, lost = marketplace_plugins(source.folder)
    except ManifestFault as fault:
        passed.append(Left(source.text, str(fault), is_fault=True))
        return
    passed += map(left, lost)
    if not entries and not lost:
        passed.append(Left(source.text, "there is no marketplace in it", is_fault=True))
    for each in entries:
        name = each.entry.get("name")
        if each.entry.get("strict") is False:
            passed.append(Left(repr(name), "it is not strict, which is not read here"))
        elif not isinstance(name, str) or not name or "@" in name or "/" in name:
            passed.append(Left(repr(name), "this is no name of a plugin", is_fault=True))
        else:
            address = Address(str(each.folder), each.folder)
            yield _Found(f"{name}@{library}", address, *_told(each.entry), commands=each.declared)


def _told(entry: Mapping[str, Any]) -> tuple[str | None, frozenset[str]]:
    """The category, the tags and the keywords that a manifest or an entry of a marketplace has."""
    category = entry.get("category")
    words: list[str] = []
    for key in ("tags", "keywords"):
        value = entry.get(key)
        words += [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
    return category if isinstance(category, str) else None, frozenset(words)


def _read(found: _Found, folder: Path, library: str, reader: _Reader) -> Plugin:
    plugin = Plugin(found.id, category=found.category, labels=found.labels)
    last = reader.last.get((library, found.id), replace(plugin, prompts=Library((), Search(looked_in=[folder]))))
    if not folder.is_dir():
        return replace(last, error=f"there is no folder {found.address.text}")
    try:
        search: Search = find_in_plugin(folder, found.patterns, found.commands)
        labels = found.labels | _told(manifest_of(folder))[1]
    except ManifestFault as fault:
        return replace(last, error=str(fault))
    if not search.places and found.patterns is None and found.commands is None:
        reason = "there are no prompts in it: it has no prompts/, commands/, .claude/commands/ or .github/prompts/"
        search.skipped.append(Skipped(folder, reason, is_fault=True))
    word = _OWN_DIALECT.get(found.dialect, found.dialect)
    given = dialects.dialect_called(word) if word != "auto" else None

    def manner_of(path: Path) -> Manner:
        made = replace(reader.manner(path), library=library)
        return replace(made, given=given) if given is not None else made

    return replace(plugin, labels=labels, prompts=load_all(search, manner_of, reader.load))


def of_files(found: Library, name: str) -> Served:
    """Files that were found in folders, as a library of that name ("" for none): each project or plugin is a plugin.

    A generated file is left out beside its source.
    """
    left_out = set(map(id, twins(found.files)))
    groups: dict[Path, list[PromptFile]] = {}
    for file in sorted(found.files, key=lambda file: file.place.level):
        if id(file) not in left_out:
            groups.setdefault(file.place.unit or file.place.root, []).append(file)
    told: dict[Path, tuple[str | None, frozenset[str]]] = {}
    for top in found.search.looked_in:
        with contextlib.suppress(ManifestFault):
            told |= {each.folder: _told(each.entry) for each in marketplace_plugins(top)[0]}
    plugins: list[Plugin] = []
    for folder, files in groups.items():
        taken = {plugin.id for plugin in plugins}
        id_ = folder.name if folder.name not in taken else shown(folder)
        category, labels = told.get(folder, (None, frozenset()))
        with contextlib.suppress(ManifestFault):
            labels |= _told(manifest_of(folder))[1]
        plugins.append(Plugin(id_, Library(tuple(files)), None, category, labels))
    passed = tuple(replace(left(each), path=shown(each.path)) for each in found.search.skipped)
    return Served(name, tuple(plugins), passed, search=found.search)


def files_of(libraries: Sequence[Served]) -> Library:
    """The prompt files of all libraries, as one."""
    search = Search(looked_in=[])
    for library in libraries:
        for plugin in library.plugins:
            search.skipped += plugin.prompts.search.skipped
            search.looked_in += plugin.prompts.search.looked_in
    return Library(tuple(file for library in libraries for file in library.files), search)
