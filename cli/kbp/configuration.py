"""The settings of a project: `kbp.toml`, `.kbp.toml` or `[tool.kbp]` in `pyproject.toml`, read and checked."""

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

from kbp import settings
from kbp.display import said_of
from kbp.patterns import Patterns, compiled

FILES = ("kbp.toml", ".kbp.toml")
PYPROJECT, OWN_FILE = "pyproject.toml", "config.toml"
_MAX_FILE = 1024 * 1024
_MAX_SIZE = 2**40
_TABLE = ("tool", "kbp")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a setting may hold: `fits` says whether a value does, `schema` says it to an editor."""

    name: str
    fits: Callable[[Any], bool]
    schema: Mapping[str, Any]


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MAX_SIZE


def _is_target(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("to"), str):
        return False
    return value.keys() <= {"to", "out"} and isinstance(value.get("out", ""), str)


def _server_faults(value: Any) -> Iterator[str]:
    """What is wrong with one entry of `servers`."""
    if not isinstance(value, dict):
        yield "it is no table"
        return
    for key, each in value.items():
        if key not in _SERVER:
            near = difflib.get_close_matches(key, _SERVER, n=1)
            yield f"there is no `{key}`" + (f"; did you mean `{near[0]}`?" if near else "")
        elif not _SERVER[key].fits(each):
            yield f"`{key}` is not {_SERVER[key].name}"
    if ("url" in value) == ("command" in value) and value.keys() <= _SERVER.keys():
        yield "it has a `url`, or a `command`: one of them"


_TEXTS = {"type": "array", "items": {"type": "string"}}
TEXT = Kind("a text", lambda value: isinstance(value, str), {"type": "string"})
TEXTS = Kind("a list of texts", _are_texts, _TEXTS)
BOOLEAN = Kind("true or false", lambda value: isinstance(value, bool), {"type": "boolean"})
SIZE = Kind("a number from 1 to 2^40", _is_size, {"type": "integer", "minimum": 1, "maximum": _MAX_SIZE})
TEXT_BY_TEXT = Kind(
    "a table of texts",
    lambda value: isinstance(value, dict) and all(isinstance(each, str) for each in value.values()),
    {"type": "object", "additionalProperties": {"type": "string"}},
)
TEXTS_BY_TEXT = Kind(
    "a table of lists of texts",
    lambda value: isinstance(value, dict) and all(map(_are_texts, value.values())),
    {"type": "object", "additionalProperties": _TEXTS},
)
TARGETS = Kind(
    "a list of tables with the texts `to` and `out`",
    lambda value: isinstance(value, list) and all(map(_is_target, value)),
    {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"to": {"type": "string"}, "out": {"type": "string"}},
            "required": ["to"],
            "additionalProperties": False,
        },
    },
)

_SERVER = {
    "url": TEXT,
    "headers": TEXT_BY_TEXT,
    "command": TEXT,
    "args": TEXTS,
    "env": TEXT_BY_TEXT,
    "cwd": TEXT,
    "type": TEXT,
}
SERVERS = Kind(
    "a table of servers, each with a `url` (and `headers`), or a `command` (and `args`, `env`, `cwd`)",
    lambda value: (
        isinstance(value, dict) and not any(fault for each in value.values() for fault in _server_faults(each))
    ),
    {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {name: kind.schema for name, kind in _SERVER.items()},
            "oneOf": [{"required": ["url"]}, {"required": ["command"]}],
            "additionalProperties": False,
        },
    },
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the file: its name, dotted below a table, what it holds, its default, and what it is for.

    A personal one may stand in the user's own file too.
    """

    name: str
    kind: Kind
    default: Any
    help: str
    is_personal: bool = False


SETTINGS = (
    Setting("paths", TEXTS, [], "More files, folders and globs with prompts, besides those of the project."),
    Setting("exclude", TEXTS, [], "Patterns of files and folders that are left out, as in an ignore file."),
    Setting("required-version", TEXT, "", "The versions of kbp that may be used, as `>=0.1,<0.3`."),
    Setting("max-file", SIZE, 16 * 1024 * 1024, "How many bytes a prompt file may have."),
    Setting("max-frontmatter", SIZE, 1024 * 1024, "How many characters a frontmatter may have."),
    Setting("dialect", TEXT_BY_TEXT, {}, "The dialect of the files that a pattern fits."),
    Setting("lint.select", TEXTS, [], "The rules to run instead of the default ones; `all` are all."),
    Setting("lint.extend-select", TEXTS, [], "Rules to run besides."),
    Setting("lint.ignore", TEXTS, [], "Rules not to run."),
    Setting("lint.per-file-ignores", TEXTS_BY_TEXT, {}, "Rules not to run on the files that a pattern fits."),
    Setting("lint.severity", TEXT_BY_TEXT, {}, "A rule's severity: error, warning, info or off."),
    Setting("lint.extra-keys", TEXTS, [], "Keys of a frontmatter that are not unknown."),
    Setting("lint.strict", BOOLEAN, False, "Warnings end a run with 1 too."),
    Setting("lint.baseline", TEXT, "", "A file of findings that are known and not reported."),
    Setting("convert.targets", TARGETS, [], "What `kbp convert` makes: dialects (`to`), and their folders (`out`)."),
    Setting("convert.keep", BOOLEAN, False, "A comment in each generated file keeps what its dialect cannot say."),
    Setting("convert.inline-defaults", BOOLEAN, False, "Defaults are written for a person to read."),
    Setting("servers", SERVERS, {}, "MCP servers by name: a `url`, or a `command` to start.", is_personal=True),
    Setting("history", BOOLEAN, True, "What is answered for a prompt is remembered, for you alone.", is_personal=True),
    Setting("picker.preview", BOOLEAN, True, "The picker shows the prompt that stands out.", is_personal=True),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}


class Wrong(ValueError):
    """A file of settings that cannot be used; `faults` has all that is wrong with it."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


@dataclass(frozen=True)
class Configuration:
    """What a project's settings say.

    `path` is their file, None when there is none; `values` has what is written, by dotted name.
    """

    path: Path | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)

    def value(self, name: str) -> Any:
        """The value of a setting: what is written, else its default."""
        return self.values.get(name, _BY_NAME[name].default)

    @property
    def folder(self) -> Path:
        """The folder that its paths and patterns are relative to."""
        return self.path.parent if self.path else Path.cwd()

    @cached_property
    def excluded(self) -> Patterns | None:
        """The patterns of what is left out where folders are walked."""
        return self._patterns(self.value("exclude")) if self.value("exclude") else None

    @cached_property
    def dialects(self) -> tuple[tuple[Patterns, str], ...]:
        """The dialects of paths, the patterns that each is for first."""
        return tuple((self._patterns([pattern]), word) for pattern, word in self.value("dialect").items())

    @cached_property
    def per_file_ignores(self) -> tuple[tuple[Patterns, tuple[str, ...]], ...]:
        """The rules not to run on files, the patterns that they are for first."""
        ignores = self.value("lint.per-file-ignores")
        return tuple((self._patterns([pattern]), tuple(rules)) for pattern, rules in ignores.items())

    def _patterns(self, lines: Sequence[str]) -> Patterns:
        return compiled(map(_below, lines), str(self.folder))[0]


def _below(pattern: str) -> str:
    """The pattern without the `./` that people put before a path: it starts at the folder of the settings."""
    takes_back = "!" if pattern.startswith("!") else ""
    bare = pattern.removeprefix("!")
    return f"{takes_back}/{bare.removeprefix('./')}" if bare.startswith("./") else pattern


def find(folder: Path) -> Path | None:
    """The nearest file of settings, in the folder or above it."""
    for each in (folder, *folder.parents):
        for name in FILES:
            if os.path.isfile(each / name):
                return each / name
        if has_table(each / PYPROJECT):
            return each / PYPROJECT
    return None


def load_own() -> Configuration:
    """The settings in the user's own file, which hold in all projects.

    Raises:
        Wrong: they cannot be used.
    """
    path = settings.own_folder() / OWN_FILE
    return load(path, personal=True) if path.is_file() else Configuration()


def has_table(path: Path) -> bool:
    """Whether a `pyproject.toml` is there and has settings of kbp."""
    try:
        if not os.path.isfile(path):
            return False
        return any(line.strip().startswith(("[tool.kbp]", "[tool.kbp.")) for line in _text(path).split("\n"))
    except (OSError, UnicodeDecodeError):
        return False


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_MAX_FILE).decode()


def load(path: Path, dialects: Sequence[str] = (), *, personal: bool = False) -> Configuration:
    """The settings in a file, in which dialects have these names; `personal` is the user's own file.

    Raises:
        Wrong: it cannot be read, is no TOML, or says what no setting is.
    """
    try:
        text = _text(path)
        content = tomllib.loads(text)
    except OSError as error:
        raise Wrong([f"{path}: {said_of(error)}"]) from None
    except (ValueError, RecursionError) as error:
        raise Wrong([f"{path}: not TOML: {error}"]) from None
    prefix = _TABLE if path.name == PYPROJECT else ()
    for name in prefix:
        content = content.get(name, {})
        if not isinstance(content, dict):
            raise Wrong([f"{path}: [{'.'.join(prefix)}] is no table"])
    lines = _lines(text, prefix)
    faults: list[str] = []
    values: dict[str, Any] = {}
    for name, value in _flat(content):
        place = f"{path}:{lines[name]}" if name in lines else str(path)
        own = list(_faults(name, value, path.parent))
        if personal and not own and not _BY_NAME[name].is_personal:
            own = [f"`{name}` belongs to a project: write it in its kbp.toml"]
        if name == "dialect" and not own:
            own = [
                f"`dialect`: '{pattern}': {_no_dialect(word, dialects)}"
                for pattern, word in value.items()
                if word not in dialects
            ]
        if name == "convert.targets" and not own:
            own = [f"`{name}`: {fault}" for target in value for fault in _target_faults(target, dialects)]
            pairs = [(target["to"], target.get("out")) for target in value]
            own += [f"`{name}`: {to} is there twice" for to, out in set(pairs) if pairs.count((to, out)) > 1]
        faults += [f"{place}: {fault}" for fault in own]
        values[name] = value
    if faults:
        raise Wrong(faults)
    return Configuration(path, values, {name: lines[name] for name in values if name in lines})


def _flat(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The settings by their dotted names."""
    for key, value in content.items():
        holds_settings = any(setting.name.startswith(f"{key}.") for setting in SETTINGS)
        if holds_settings and isinstance(value, dict):
            yield from ((f"{key}.{name}", each) for name, each in value.items())
        else:
            yield key, value


def _target_faults(target: Mapping[str, str], dialects: Sequence[str]) -> Iterator[str]:
    words = [word for word in dialects if word != "auto"]
    if target["to"] not in words:
        yield _no_dialect(target["to"], words)
    out = PurePath(target.get("out", ""))
    if out.is_absolute() or ".." in out.parts or str(out).startswith("~") or not str(out).isprintable():
        yield f"'{out}' leads out of the folder of the settings"


def _no_dialect(word: str, dialects: Sequence[str]) -> str:
    near = difflib.get_close_matches(word.lower(), dialects, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"it is one of {', '.join(dialects)}"
    return f"there is no dialect '{word}'; {hint}"


def _faults(name: str, value: Any, folder: Path) -> Iterator[str]:
    setting = _BY_NAME.get(name)
    if setting is None:
        near = difflib.get_close_matches(name, _BY_NAME, n=1, cutoff=0.75)
        if name == "tool":
            yield "a table [tool.kbp] belongs into pyproject.toml: leave `tool.kbp` out here"
        elif any(each.startswith(f"{name}.") for each in _BY_NAME):
            yield f"`{name}` is a table: write [{name}]"
        else:
            yield f"there is no setting `{name}`" + (f"; did you mean `{near[0]}`?" if near else "")
    elif name == "servers" and isinstance(value, dict):
        for server, entry in value.items():
            yield from (f"`servers.{server}`: {fault}" for fault in _server_faults(entry))
    elif not setting.kind.fits(value):
        yield f"`{name}` is not {setting.kind.name}"
    elif name == "required-version" and value:
        try:
            allows(value, "0")
        except ValueError:
            yield f"`{name}` is no version or range of versions, as `>=0.1,<0.3`"
    elif name in ("exclude", "dialect", "lint.per-file-ignores"):
        for pattern in value:
            yield from (f"`{name}`: '{pattern}': {reason}" for _, reason in compiled([pattern], str(folder))[1])


_HEADER = re.compile(r"[ \t]*\[[ \t]*(?P<table>[^\[\]]+?)[ \t]*\]")
_KEY = re.compile(r"[ \t]*(?P<key>[A-Za-z0-9_.\"'-]+)[ \t]*=")


def _lines(text: str, prefix: tuple[str, ...]) -> dict[str, int]:
    """The lines on which settings are written, as far as a look at the lines can tell."""
    found: dict[str, int] = {}
    table: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if header := _HEADER.match(line):
            table = [part.strip("\"' ") for part in header["table"].split(".")]
            parts = table
        elif key := _KEY.match(line):
            parts = table + [part.strip("\"' ") for part in key["key"].split(".")]
        else:
            continue
        if tuple(parts[: len(prefix)]) == prefix:
            found.setdefault(".".join(parts[len(prefix) :]), number)
    return found


def allows(wanted: str, version: str) -> bool:
    """Whether a version specifier (PEP 440) allows a version; a bare version is that one.

    Raises:
        ValueError: it is none.
    """
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(wanted if wanted[:1] in "=<>!~" else f"=={wanted}").contains(version, prereleases=True)


def schema(dialects: Sequence[str] = ()) -> dict[str, Any]:
    """The JSON Schema of the file, for editors, in which dialects have these names."""
    properties: dict[str, Any] = {}
    for setting in SETTINGS:
        table, _, name = setting.name.rpartition(".")
        empty: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
        where = properties.setdefault(table, empty)["properties"] if table else properties
        kind = dict(setting.kind.schema)
        if setting.name == "dialect" and dialects:
            kind["additionalProperties"] = {"enum": list(dialects)}
        where[name] = {**kind, "description": setting.help, "default": setting.default}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The settings of kbp",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
