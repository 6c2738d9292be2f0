"""What libraries serve: the prompts of their plugins, each under the name of its library."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kbp import dialects
from kbp.files import Manner, PromptFile
from kbp.libraries.file import Address, Declaration, DeclaredLibrary, DeclaredPlugin
from kbp.library import Library, load_all
from kbp.manifests import Declared, ManifestFault, marketplace_plugins
from kbp.search import Search, find_in_plugin

_OWN_DIALECT = {"mcp-kb": "kb"}


@dataclass(frozen=True)
class Plugin:
    """A plugin of a library.

    Attributes:
        id: its name, or `entry@library` for one of a marketplace.
        prompts: its prompt files, named for the library.
        error: why nothing of it is read, None when it is.
    """

    id: str
    prompts: Library = field(default_factory=lambda: Library(()))
    error: str | None = None


@dataclass(frozen=True)
class Served:
    """A library with the plugins that it serves.

    Attributes:
        name: the first part of the names of its prompts.
        plugins: those it serves, in order.
        passed: what it does not serve, with the reason.
        conflicts: the plugins that are left out whole, as a prompt of theirs has a name that an earlier one serves.
    """

    name: str
    plugins: tuple[Plugin, ...] = ()
    passed: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[PromptFile, ...]:
        """The prompt files of all its plugins, refused ones and what is no prompt too."""
        return tuple(file for plugin in self.plugins for file in plugin.prompts.files)


def serve(declared: Declaration, manner: Callable[[Path], Manner] = lambda path: Manner()) -> tuple[Served, ...]:
    """The libraries that a file declares. Nothing is fetched: what lies elsewhere is passed over with the reason.

    Args:
        declared: what the file says.
        manner: how the file at a path is read, apart from its dialect and library.
    """
    return tuple(_served(library, declared, manner) for library in declared.libraries)


@dataclass(frozen=True)
class _Found:
    """A plugin before its files are read."""

    id: str
    address: Address
    patterns: tuple[str, ...] | None = None
    dialect: str = "auto"
    commands: Declared | None = None


def _served(library: DeclaredLibrary, declared: Declaration, manner: Callable[[Path], Manner]) -> Served:
    passed: list[str] = []
    conflicts: list[str] = []
    plugins: list[Plugin] = []
    taken: dict[str, str] = {}
    for found in _plugins(library, declared, passed):
        plugin = _read(found, library.name, manner)
        if plugin.error is not None:
            passed.append(f"plugin {plugin.id}: {plugin.error}")
            continue
        names = [file.name for file in plugin.prompts.served]
        clash = next((name for name in names if name in taken), None)
        if clash is not None:
            conflicts.append(f"plugin {plugin.id} is left out: {taken[clash]} serves `{clash}` already")
            continue
        taken |= dict.fromkeys(names, plugin.id)
        plugins.append(plugin)
    return Served(library.name, tuple(plugins), tuple(passed), tuple(conflicts))


def _plugins(library: DeclaredLibrary, declared: Declaration, passed: list[str]) -> Iterator[_Found]:
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
            passed.append(f"plugin {name}: there is no library {of} with a marketplace")
        else:
            among = [each for each in _of_marketplace(of, marketplaces[of], []) if each.id == name]
            if not among:
                passed.append(f"plugin {name}: the marketplace of {of} has no {entry}")
            yield from among
    for plugin in declared.plugins:
        if _fits(plugin, library):
            yield _found(plugin)


def _found(plugin: DeclaredPlugin) -> _Found:
    return _Found(plugin.name, plugin.source, plugin.prompts, plugin.dialect)


def _fits(plugin: DeclaredPlugin, library: DeclaredLibrary) -> bool:
    """Whether the selector of a library fits a plugin: each kind that it names, any of the words of a kind."""
    if not library.categories and not library.tags:
        return False
    is_category = not library.categories or plugin.category in library.categories
    return is_category and (not library.tags or bool(library.tags & plugin.labels))


def _of_marketplace(library: str, source: Address, passed: list[str]) -> Iterator[_Found]:
    if source.folder is None:
        passed.append(f"the marketplace {source.text} is not read here: nothing is fetched")
        return
    try:
        entries, lost = marketplace_plugins(source.folder)
    except ManifestFault as fault:
        passed.append(str(fault))
        return
    passed += [each.reason for each in lost]
    if not entries and not lost:
        passed.append(f"there is no marketplace in {source.text}")
    for each in entries:
        name = each.entry.get("name")
        if each.entry.get("strict") is False:
            passed.append(f"plugin {name!r}: it is not strict, which is not read here")
        elif not isinstance(name, str) or not name or "@" in name or "/" in name:
            passed.append(f"plugin {name!r}: this is no name")
        else:
            address = Address(str(each.folder), each.folder)
            yield _Found(f"{name}@{library}", address, commands=each.declared)


def _read(found: _Found, library: str, manner: Callable[[Path], Manner]) -> Plugin:
    plugin = Plugin(found.id)
    folder = found.address.folder
    if folder is None:
        return replace(plugin, error=f"{found.address.text} is not read here: nothing is fetched")
    if not folder.is_dir():
        return replace(plugin, error=f"there is no folder {found.address.text}")
    try:
        search: Search = find_in_plugin(folder, found.patterns, found.commands)
    except ManifestFault as fault:
        return replace(plugin, error=str(fault))
    word = _OWN_DIALECT.get(found.dialect, found.dialect)
    given = dialects.dialect_called(word) if word != "auto" else None

    def manner_of(path: Path) -> Manner:
        made = replace(manner(path), library=library)
        return replace(made, given=given) if given is not None else made

    return replace(plugin, prompts=load_all(search, manner_of))


def files_of(libraries: Sequence[Served]) -> Library:
    """The prompt files of all libraries, as one."""
    search = Search(looked_in=[])
    for library in libraries:
        for plugin in library.plugins:
            search.skipped += plugin.prompts.search.skipped
            search.looked_in += plugin.prompts.search.looked_in
    return Library(tuple(file for library in libraries for file in library.files), search)
