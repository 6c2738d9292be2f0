"""The file that names sources, plugins and libraries, as the server has it that this format comes from (`mcp-kb`).

Three lists, of which prompts need a part: what is only for other things is read and checked, and means nothing here. An
unknown key is a fault, as it is there.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import yaml

from kbp import frontmatter, regular
from kbp.configuration import Wrong
from kbp.display import said_of
from kbp.frontmatter import TooDeep, Value
from kbp.text import Lines

_MAX_FILE = 1024 * 1024
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_SECONDS = re.compile(r"[1-9][0-9]*[smh]")
_SCHEMES = ("git+https", "git+http", "git+file", "webdav+https", "webdav+http", "file")
_FILE = "file"
DIALECTS = ("auto", "mcp-kb", "claude", "copilot")


@dataclass(frozen=True)
class Address:
    """Where prompts are: a folder of this machine; None where it lies behind a source that is not read here."""

    text: str
    folder: Path | None


@dataclass(frozen=True)
class DeclaredPlugin:
    """A plugin: where it is, and what is said of it. `prompts` are patterns; None: its manifest or conventions say."""

    name: str
    source: Address
    category: str | None = None
    labels: frozenset[str] = frozenset()
    prompts: tuple[str, ...] | None = None
    dialect: str = "auto"


@dataclass(frozen=True)
class DeclaredLibrary:
    """A library: plugins by name, those of a marketplace (`source`), or those that a selector fits."""

    name: str
    source: Address | None = None
    plugins: tuple[str, ...] = ()
    categories: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Declaration:
    """What a file declares."""

    path: Path
    plugins: tuple[DeclaredPlugin, ...] = ()
    libraries: tuple[DeclaredLibrary, ...] = ()


def load(path: Path) -> Declaration:
    """What the file at a path declares.

    Raises:
        Wrong: it cannot be read, is not YAML, or says what it cannot; all of it at once, with the lines.
    """
    try:
        text = regular.read(path, _MAX_FILE).decode("utf-8-sig")
        block = frontmatter.block(text, 0)
        node = frontmatter.compose(block.text)
    except regular.TooLong:
        raise Wrong([f"{path}: more than 1 MiB: not read"]) from None
    except OSError as error:
        raise Wrong([f"{path}: {said_of(error)}"]) from None
    except UnicodeDecodeError:
        raise Wrong([f"{path}: not UTF-8"]) from None
    except TooDeep:
        raise Wrong([f"{path}: nested too deep"]) from None
    except yaml.YAMLError as error:
        said = str(getattr(error, "problem", None) or error)
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise Wrong([f"{path}{line}: not YAML: {said}"]) from None
    reader = _Reader(path, Lines(text))
    root = Value(node, block) if node is not None else None
    declared = reader.read(root) if root else Declaration(path)
    if reader.faults:
        raise Wrong(reader.faults)
    return declared


@dataclass
class _Reader:
    """Reads one file; what is wrong with it goes to `faults`."""

    path: Path
    lines: Lines
    faults: list[str] = field(default_factory=list)
    _sources: set[str] = field(default_factory=set)

    def read(self, root: Value) -> Declaration:
        problems = frontmatter.check(root)
        if problems:
            self._fault(root, problems[0].message)
            return Declaration(self.path)
        top = self._keys(root, "the file", {"sources": True, "plugins": True, "libraries": True})
        for entry, keys in self._entries(top.get("sources"), "sources", _SOURCE_KEYS):
            self._source(entry, keys)
        plugins = [
            self._plugin(entry, keys) for entry, keys in self._entries(top.get("plugins"), "plugins", _PLUGIN_KEYS)
        ]
        libraries = [
            self._library(entry, keys)
            for entry, keys in self._entries(top.get("libraries"), "libraries", _LIBRARY_KEYS)
        ]
        names = {plugin.name for plugin in plugins}
        for library in libraries:
            for name in library.plugins:
                if "@" not in name and name not in names:
                    self.faults.append(f"{self.path}: library {library.name!r}: there is no plugin {name!r}")
        return Declaration(self.path, tuple(plugins), tuple(libraries))

    # Shapes

    def _fault(self, value: Value, said: str) -> None:
        self.faults.append(f"{self.path}:{self.lines.position(value.span.start).line}: {said}")

    def _keys(self, value: Value, what: str, known: Mapping[str, bool]) -> dict[str, Value]:
        """The entries of a mapping by key; `known` are the keys it may have."""
        if value.mapping is None:
            self._fault(value, f"{what} is no mapping")
            return {}
        for key, entry in value.mapping.items():
            if key not in known:
                self._fault(entry.value, f"{what} knows no key `{key}`; it has {', '.join(known)}")
        return {key: entry.value for key, entry in value.mapping.items() if key in known and not entry.value.is_null}

    def _entries(
        self, value: Value | None, what: str, known: Mapping[str, bool]
    ) -> Iterator[tuple[Value, dict[str, Value]]]:
        """The entries of a list, each with its keys; those that it must have and has not are faults."""
        names: set[str] = set()
        for each in self._items(value, what):
            keys = self._keys(each, f"an entry of {what}", known)
            missing = [key for key, is_needed in known.items() if is_needed and key not in keys]
            if each.mapping is not None and missing:
                self._fault(each, f"an entry of {what} needs {', '.join(missing)}")
            name = self._text(keys, "name") or ""
            if name and name in names:
                self._fault(keys["name"], f"{what}: {name!r} is there twice")
            names.add(name)
            if name and not _NAME.fullmatch(name):
                rule = "1 to 64 of a-z, 0-9 and inner dashes"
                self._fault(keys["name"], f"{what}: {name!r} is no name: it has {rule}")
            if each.mapping is not None and not missing:
                yield each, keys

    def _items(self, value: Value | None, what: str) -> Sequence[Value]:
        if value is None:
            return ()
        if value.items is None:
            self._fault(value, f"`{what}` is no list")
            return ()
        return value.items

    def _text(self, keys: Mapping[str, Value], key: str) -> str | None:
        value = keys.get(key)
        if value is None:
            return None
        if value.text is None:
            self._fault(value, f"`{key}` is no text")
        return value.text

    def _texts(self, keys: Mapping[str, Value], key: str) -> tuple[str, ...] | None:
        if key not in keys:
            return None
        found = []
        for each in self._items(keys[key], key):
            if each.text is None:
                self._fault(each, f"an entry of `{key}` is no text")
            else:
                found.append(each.text)
        return tuple(found)

    def _choice(self, keys: Mapping[str, Value], key: str, choices: Sequence[str]) -> str | None:
        text = self._text(keys, key)
        if text is not None and text not in choices:
            self._fault(keys[key], f"`{key}` is one of {', '.join(choices)}, not {text!r}")
            return None
        return text

    # Entries

    def _source(self, entry: Value, keys: Mapping[str, Value]) -> None:
        name, url = self._text(keys, "name") or "", self._text(keys, "url") or ""
        self._sources.add(name)
        scheme, mark, rest = url.partition("://")
        if name == _FILE:
            self._fault(keys["name"], "sources: `file` is the name of files of this machine")
        if not mark or scheme not in _SCHEMES:
            self._fault(keys["url"], f"sources: the url starts with one of {', '.join(_SCHEMES)}")
        elif "@" in rest.partition("/")[0]:
            self._fault(keys["url"], "sources: a url has no credentials: they belong into `auth`")
        self._choice(keys, "cache", ("snapshot", "live"))
        refresh = self._text(keys, "refresh")
        if refresh is not None and not _SECONDS.fullmatch(refresh):
            self._fault(keys["refresh"], f"`refresh` is a time as 30s, 5m or 1h, not {refresh!r}")

    def _address(self, keys: Mapping[str, Value]) -> Address | None:
        text = self._text(keys, "source")
        if text is None:
            return None
        scheme, mark, rest = text.partition("://")
        fault: str | None = None
        folder: Path | None = None
        if not mark:  # a path, from the folder of the file: what kbp takes besides
            folder = self.path.parent / text
        elif scheme == _FILE:
            path, _, below = rest.partition("//")
            folder = Path(path, below)
            if not path.startswith("/"):
                fault = f"{text}: a path behind file:// is absolute"
            elif "?" in rest:
                fault = f"{text}: a file has no `?ref=`"
        elif scheme not in self._sources:
            fault = f"{text}: there is no source {scheme!r}"
        if ".." in PurePosixPath(rest if mark else "").parts:
            fault = f"{text}: it leads out of its source"
        if fault:
            self._fault(keys["source"], fault)
        return Address(text, folder)

    def _plugin(self, entry: Value, keys: Mapping[str, Value]) -> DeclaredPlugin:
        patterns = [keys[key] for key in ("prompts", "skills", "files") if key in keys]
        for each in (item for value in patterns for item in value.items or ()):
            text = each.text or ""
            if not text or text.startswith("/") or ".." in PurePosixPath(text).parts:
                self._fault(each, f"{text!r} is no pattern: it is relative, and stays in the plugin")
        labels = [*(self._texts(keys, "tags") or ()), *(self._texts(keys, "keywords") or ())]
        for key in ("skills", "files"):
            self._texts(keys, key)
        for key in ("description", "version"):
            self._text(keys, key)
        return DeclaredPlugin(
            self._text(keys, "name") or "",
            self._address(keys) or Address("", None),
            self._text(keys, "category"),
            frozenset(labels),
            self._texts(keys, "prompts"),
            self._choice(keys, "dialect", DIALECTS) or "auto",
        )

    def _library(self, entry: Value, keys: Mapping[str, Value]) -> DeclaredLibrary:
        selector = self._keys(keys["pluginSelector"], "`pluginSelector`", _SELECTOR_KEYS) if _SELECTOR in keys else {}
        categories = frozenset(self._texts(selector, "categories") or ())
        tags = frozenset(self._texts(selector, "tags") or ())
        self._text(keys, "description")
        if "source" in keys and _SELECTOR in keys:
            self._fault(entry, "a library has a `source` or a `pluginSelector`, not both")
        if not {"source", "plugins", _SELECTOR}.intersection(keys):
            self._fault(entry, "a library has a `source`, `plugins` or a `pluginSelector`")
        if _SELECTOR in keys and not (categories or tags):
            self._fault(keys[_SELECTOR], "`pluginSelector` has `categories` or `tags`")
        return DeclaredLibrary(
            self._text(keys, "name") or "",
            self._address(keys),
            self._texts(keys, "plugins") or (),
            categories,
            tags,
        )


# The keys of each kind of entry, and whether it must have them.
_SELECTOR = "pluginSelector"
_SOURCE_KEYS = {"name": True, "url": True, "auth": False, "cache": False, "refresh": False}
_PLUGIN_KEYS = {
    "name": True,
    "source": True,
    **dict.fromkeys(("description", "category", "tags", "keywords", "version"), False),
    **dict.fromkeys(("skills", "prompts", "files", "dialect"), False),
}
_LIBRARY_KEYS = {"name": True, "description": False, "source": False, "plugins": False, _SELECTOR: False}
_SELECTOR_KEYS = {"categories": False, "tags": False}
