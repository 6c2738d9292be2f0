"""What plugin manifests and marketplaces declare: plugins by their folders, commands by their paths."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

PLUGIN_MANIFESTS = (".claude-plugin/plugin.json", "plugin.json")
MARKETPLACES = (
    ".claude-plugin/marketplace.json",
    ".github/plugin/marketplace.json",
    ".agents/plugins/marketplace.json",
)


class ManifestFault(Exception):
    """A manifest or marketplace that cannot be used: `path` says which, the message why."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.path = path


@dataclass(frozen=True, slots=True)
class Declared:
    """The commands that a manifest or a marketplace entry declares, relative to the plugin's folder.

    An entry ending in `.md` is that file, anything else a folder whose direct `.md` files are meant.
    """

    entries: tuple[PurePosixPath, ...]

    def holds(self, path: PurePosixPath) -> bool:
        """Whether the path is declared."""
        return path.suffix == ".md" and (path in self.entries or path.parent in self.entries)


@dataclass(frozen=True, slots=True)
class PluginEntry:
    """A plugin that a marketplace names by a relative source: its folder, and the commands that the entry declares."""

    folder: Path
    declared: Declared | None


def plugin_commands(folder: Path) -> Declared | None:
    """What the manifest of the plugin in `folder` declares under `commands`; None when nothing is said of them.

    Raises:
        ManifestFault: the manifest is not JSON of the right shape.
    """
    for name in PLUGIN_MANIFESTS:
        if (folder / name).is_file():
            return _declared(_object(folder / name), folder / name)
    return None


def marketplace_plugins(folder: Path) -> tuple[list[PluginEntry], list[tuple[Path, str]]]:
    """The plugins of the marketplace in `folder` that lie below it, and the entries passed over with their reasons.

    Raises:
        ManifestFault: the marketplace is not JSON of the right shape.
    """
    path = next((folder / name for name in MARKETPLACES if (folder / name).is_file()), None)
    if path is None:
        return [], []
    plugins = _object(path).get("plugins")
    if not isinstance(plugins, list):
        raise ManifestFault(path, "no list of `plugins`")
    found: list[PluginEntry] = []
    passed: list[tuple[Path, str]] = []
    for entry in plugins:
        where = _source(folder, entry)
        if isinstance(where, Path):
            found.append(PluginEntry(where, _declared(entry, path)))
        else:
            passed.append((path, where))
    return found, passed


def _source(folder: Path, entry: object) -> Path | str:
    """The folder of a marketplace entry, or why it has none here."""
    if not isinstance(entry, dict):
        return "an entry of `plugins` is not an object"
    name, source = entry.get("name"), entry.get("source")
    if not isinstance(source, str) or "://" in source:
        return f"plugin {name!r}: its source is not a folder of this marketplace, and nothing is fetched"
    relative = PurePosixPath(source)
    if relative.is_absolute() or ".." in relative.parts:
        return f"plugin {name!r}: its source {source!r} leads out of the marketplace"
    target = folder / relative
    if not target.is_dir():
        return f"plugin {name!r}: its source {source!r} is not there"
    if not target.resolve().is_relative_to(folder.resolve()):
        return f"plugin {name!r}: its source {source!r} leads out of the marketplace"
    return target


def _declared(manifest: Mapping[str, Any], path: Path) -> Declared | None:
    if "commands" not in manifest:
        return None
    commands = manifest["commands"]
    entries = [commands] if isinstance(commands, str) else commands
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise ManifestFault(path, "`commands` is neither a path nor a list of paths")
    return Declared(tuple(_inside(entries)))


def _inside(entries: list[str]) -> Iterator[PurePosixPath]:
    """The entries that stay below the plugin's folder."""
    for entry in entries:
        path = PurePosixPath(entry)
        if not path.is_absolute() and ".." not in path.parts:
            yield path


def _object(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ManifestFault(path, f"not read: {error}") from error
    if not isinstance(content, dict):
        raise ManifestFault(path, "not a JSON object")
    return content
