"""What plugin manifests and marketplaces declare: plugins by their folders, commands by their paths."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from kbp import regular
from kbp.display import counted, said_of
from kbp.walk import Skipped

MANIFEST_PATH = "manifest-path"
_MAX_MANIFEST = 16 * 1024 * 1024
PLUGIN_MANIFESTS = (".claude-plugin/plugin.json", "plugin.json")
MARKETPLACES = (
    ".claude-plugin/marketplace.json",
    ".github/plugin/marketplace.json",
    ".agents/plugins/marketplace.json",
)


class ManifestFault(Exception):
    """A manifest or marketplace that cannot be used: `path` says which, the message why, `offset` where."""

    def __init__(self, path: Path, reason: str, offset: int = 0) -> None:
        super().__init__(reason)
        self.path = path
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Declared:
    """The commands that a manifest or a marketplace entry declares, relative to the plugin's folder.

    An entry ending in `.md` is that file, anything else a folder whose direct `.md` files are meant. `lost` has those
    that lead nowhere or out of the plugin, each with the reason.
    """

    entries: frozenset[PurePosixPath]
    source: Path
    lost: tuple[tuple[str, str], ...] = ()

    def holds(self, path: PurePosixPath) -> bool:
        """Whether the path is declared."""
        return path.suffix == ".md" and (path in self.entries or path.parent in self.entries)


@dataclass(frozen=True, slots=True)
class PluginEntry:
    """A plugin that a marketplace names by a relative source: its folder, the commands of its entry, and the entry."""

    folder: Path
    declared: Declared | None
    entry: Mapping[str, Any] = field(default_factory=dict)


def plugin_commands(folder: Path) -> Declared | None:
    """What the manifest of the plugin in `folder` declares under `commands`; None when nothing is said of them.

    Raises:
        ManifestFault: the manifest is not JSON of the right shape.
    """
    for name in PLUGIN_MANIFESTS:
        if os.path.isfile(folder / name):
            return _declared(_object(folder / name), folder / name, folder)
    return None


def manifest_of(folder: Path) -> Mapping[str, Any]:
    """The manifest of the plugin in `folder`, empty when it has none.

    Raises:
        ManifestFault: it is not JSON of the right shape.
    """
    path = next((folder / name for name in PLUGIN_MANIFESTS if os.path.isfile(folder / name)), None)
    return _object(path) if path is not None else {}


def marketplace_plugins(folder: Path) -> tuple[list[PluginEntry], list[Skipped]]:
    """The plugins of the marketplace in `folder` that lie below it, and what was passed over of it.

    A plugin whose entry declares its commands wrongly is there without them.

    Raises:
        ManifestFault: the marketplace is not JSON of the right shape.
    """
    path = next((folder / name for name in MARKETPLACES if os.path.isfile(folder / name)), None)
    if path is None:
        return [], []
    plugins = _object(path).get("plugins")
    if not isinstance(plugins, list):
        raise ManifestFault(path, "no list of `plugins`")
    found: list[PluginEntry] = []
    passed: list[Skipped] = []
    elsewhere = 0
    for entry in plugins:
        where = _source(folder, entry)
        if where is None:
            elsewhere += 1
        elif isinstance(where, str):
            source = entry.get("source") if isinstance(entry, dict) else None
            passed.append(Skipped(path, where, rule=MANIFEST_PATH if source else None, written=source))
        else:
            try:
                declared = _declared(entry, path, where)
            except ManifestFault as fault:
                declared = None
                reason = f"plugin {entry.get('name')!r}: {fault}"
                passed.append(Skipped(path, reason, is_fault=True, rule=MANIFEST_PATH))
            found.append(PluginEntry(where, declared, entry))
    if elsewhere:
        passed.append(Skipped(path, f"the source of {counted(elsewhere, 'plugin')} is elsewhere: nothing is fetched"))
    return found, passed


def _source(folder: Path, entry: object) -> Path | str | None:
    """The folder of a marketplace entry, or why it has none; None when its source is not in this marketplace."""
    if not isinstance(entry, dict):
        return "an entry of `plugins` is not an object"
    name, source = entry.get("name"), entry.get("source")
    if source is None:
        return f"plugin {name!r} has no source"
    if not isinstance(source, str) or "://" in source:
        return None
    relative = PurePosixPath(source)
    target = folder / relative
    if relative.is_absolute() or ".." in relative.parts or not _is_below(target, folder):
        return f"plugin {name!r}: its source {source!r} leads out of the marketplace"
    return target if os.path.isdir(target) else f"plugin {name!r}: its source {source!r} is not there"


def _declared(manifest: Mapping[str, Any], path: Path, plugin: Path) -> Declared | None:
    if "commands" not in manifest:
        return None
    commands = manifest["commands"]
    texts = [commands] if isinstance(commands, str) else commands
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ManifestFault(path, "`commands` is neither a path nor a list of paths")
    entries: list[PurePosixPath] = []
    lost: list[tuple[str, str]] = []
    for text in texts:
        entry = PurePosixPath(text)
        if entry.is_absolute() or ".." in entry.parts:
            lost.append((text, f"`commands` names {text!r}, which leads out of the plugin"))
            continue
        entries.append(entry)
        if not _exists(plugin / entry):
            lost.append((text, f"`commands` names {text!r}, which is not there"))
    return Declared(frozenset(entries), path, tuple(lost))


def _is_below(path: Path, folder: Path) -> bool:
    """Whether a path lies below a folder when links are followed. What cannot be a path lies nowhere."""
    try:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
    except (OSError, ValueError):
        return False


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _object(path: Path) -> dict[str, Any]:
    try:
        # A number of thousands of digits is no fault.
        content = json.loads(regular.read(path, _MAX_MANIFEST), parse_int=float)
    except RecursionError:
        raise ManifestFault(path, "not read: nested too deep") from None
    except json.JSONDecodeError as error:
        raise ManifestFault(path, f"not JSON: {error.msg.lower()}", error.pos) from None
    except (OSError, ValueError) as error:
        raise ManifestFault(path, f"not read: {said_of(error)}") from error
    if not isinstance(content, dict):
        raise ManifestFault(path, "not a JSON object")
    return content
