"""The YAML block of a prompt file as values with places, source text kept.

The block is composed, never constructed: no value is built that nobody asks for, so an impossible date is text and an
alias bomb costs nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import yaml

from kbp.characters import WHITE
from kbp.text import LINE_END, Problem, Span, replacement

MAX_DEPTH = 100
MAX_MERGED = 100_000
"""How many entries merge keys may bring in, all of them together."""
MAX_TABBED = 64 * 1024
"""How long a block may be to be read by PyYAML's own parser too, which is slow."""
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_YAML = "tag:yaml.org,2002:"
_NULL, _BOOL, _MERGE = _YAML + "null", _YAML + "bool", _YAML + "merge"
# A tag that is written out (`!!bool maybe`) does not make these of another text.
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {
    spelling: meaning
    for words, meaning in ((("true", "yes", "on"), True), (("false", "no", "off"), False))
    for word in words
    for spelling in (word, word.capitalize(), word.upper())
}
_WORD = re.compile(r"\S+")
_KNOWN_TAGS = frozenset(
    _YAML + kind
    for kind in (
        *("null", "bool", "int", "float", "binary", "timestamp", "str", "value"),
        *("merge", "seq", "map", "omap", "pairs", "set"),
    )
)
# What libyaml takes, and PyYAML's own parser and others do not: tabs between words, a comment right behind `|` or `>`.
_TAKEN_BY_LIBYAML = re.compile(r"\t|[|>][-+0-9]*#")
# YAML 1.1 takes the first three for line ends, where a prompt file has LF, CRLF and CR alone, and drops the last.
_MISREAD = "\x85\u2028\u2029\ufeff"


class TooDeep(Exception):
    """The block nests deeper than MAX_DEPTH; `offset` is the character where it does."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Block:
    """The text between the dashes, where it starts in the file, and what stands in for signs YAML would misread."""

    source: str
    shift: int
    restore: dict[int, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text as YAML may read it, every character at its own offset."""
        disguise = {ord(original): chr(code) for code, original in self.restore.items()}
        return self.source.translate(disguise) if disguise else self.source


def block(source: str, shift: int) -> Block:
    """The block `source`, which starts at character `shift` of its file."""
    found = [character for character in _MISREAD if character in source]
    if not found:
        return Block(source, shift)
    spelt = source.lower()  # an escape such as `\ue000` gives a character too
    unused = (code for code in range(0xE000, 0xF8FF) if chr(code) not in source and f"{code:x}" not in spelt)
    return Block(source, shift, dict(zip(unused, found, strict=False)))


@dataclass(frozen=True)
class Entry:
    """One `key: value` line of a mapping; `merged` when it came in by a merge key."""

    key: str
    key_span: Span
    value: "Value"
    merged: bool = False


@dataclass(frozen=True)
class Value:
    """One YAML value with its place. A value brought in by an alias stands where it was written."""

    node: yaml.Node
    block: Block

    @property
    def span(self) -> Span:
        """Where the value is written, its quotes included."""
        return Span(self.node.start_mark.index + self.block.shift, self.node.end_mark.index + self.block.shift)

    @property
    def text(self) -> str | None:
        """The text of a scalar: a plain one's source, a quoted or block one's value. None for anything else."""
        if not isinstance(self.node, yaml.ScalarNode) or self.is_null:
            return None
        value: str = self.node.value
        return value.translate(self.block.restore) if self.block.restore else value

    @property
    def is_null(self) -> bool:
        """Whether this is `null`, `~` or nothing at all: absent."""
        return isinstance(self.node, yaml.ScalarNode) and self.node.tag == _NULL and self.node.value in _NULLS

    @property
    def is_plain(self) -> bool:
        """Whether this is a scalar without quotes."""
        return isinstance(self.node, yaml.ScalarNode) and not self.node.style

    @property
    def boolean(self) -> bool | None:
        """What a plain true, false, yes, no, on or off says, in PyYAML's spellings; None for anything else."""
        if not self.is_plain or self.node.tag != _BOOL:
            return None
        return _BOOLEANS.get(self.node.value)

    @property
    def scalars(self) -> Iterator["Value"]:
        """The scalars in it, those of lists and mappings too."""
        if self.items is not None:
            for item in self.items:
                yield from item.scalars
        elif self.entries is not None:
            for entry in self.entries:
                yield from entry.value.scalars
        else:
            yield self

    @cached_property
    def items(self) -> tuple["Value", ...] | None:
        """The items of a list, None for anything else."""
        if not isinstance(self.node, yaml.SequenceNode):
            return None
        return tuple(Value(item, self.block) for item in self.node.value)

    @cached_property
    def entries(self) -> tuple[Entry, ...] | None:
        """The entries of a mapping as written, repeated ones and merge keys too; None for anything else."""
        if not isinstance(self.node, yaml.MappingNode):
            return None
        return tuple(self._entry(key, value) for key, value in self.node.value)

    @cached_property
    def mapping(self) -> dict[str, Entry] | None:
        """The entries of a mapping by key: the later of two equal keys, merge keys resolved; None for anything else."""
        if not isinstance(self.node, yaml.MappingNode):
            return None
        found: dict[str, Entry] = {}
        for node in _with_merged(self.node):
            own = {entry.key: entry for entry in (self._entry(*pair) for pair in node.value if pair[0].tag != _MERGE)}
            for key, entry in own.items():
                if key not in found:
                    found[key] = entry if node is self.node else Entry(key, entry.key_span, entry.value, merged=True)
        return found

    def to_line_end(self) -> Span:
        """From where the value starts to the end of that line, trailing blanks left out."""
        start, source = self.node.start_mark.index, self.block.source
        end = LINE_END.search(source, start)
        line = source[start : end.start() if end else len(source)].rstrip(WHITE)
        return Span(self.span.start, self.span.start + len(line))

    def _entry(self, key: yaml.Node, value: yaml.Node) -> Entry:
        name = Value(key, self.block)
        return Entry(name.text or "", name.span, Value(value, self.block))


def _with_merged(node: yaml.MappingNode) -> Iterator[yaml.MappingNode]:
    """The mapping and those that its merge keys bring in, strongest first, each once however often it is named."""
    pending: list[yaml.Node] = [node]
    seen: set[int] = set()
    while pending:
        mapping = pending.pop()
        if id(mapping) in seen or not isinstance(mapping, yaml.MappingNode):
            continue
        seen.add(id(mapping))
        yield mapping
        for key, value in mapping.value:  # the last merge key ends up on top, as of two equal keys the later counts
            if key.tag == _MERGE:
                pending.extend(reversed(value.value) if isinstance(value, yaml.SequenceNode) else [value])


def compose(text: str) -> yaml.Node | None:
    """The node tree of a YAML text, None when it is empty.

    Raises:
        yaml.YAMLError: the text is not YAML.
        TooDeep: it nests deeper than MAX_DEPTH levels.
    """
    if sum(map(text.count, "[{:-?")) > MAX_DEPTH:  # each level needs one of these
        _check_depth(text)
    if LOADER is not yaml.SafeLoader and len(text) <= MAX_TABBED and _TAKEN_BY_LIBYAML.search(text):
        yaml.compose(text, Loader=yaml.SafeLoader)
    node: yaml.Node | None = yaml.compose(text, Loader=LOADER)
    return node


def _check_depth(text: str) -> None:
    depth = 0
    try:
        for event in yaml.parse(text, Loader=LOADER):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > MAX_DEPTH:
                    raise TooDeep(event.start_mark.index if event.start_mark else 0)
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.MarkedYAMLError as error:  # libyaml reads ahead, and has a limit of its own
        if error.problem and "nesting depth" in error.problem and error.problem_mark:
            raise TooDeep(error.problem_mark.index) from None
        raise


def check(root: Value) -> list[Problem]:
    """What a composed block holds that no prompt file may: foreign tags, keys that are not text, impossible merges."""
    problems: list[Problem] = []
    pending: list[tuple[yaml.Node, str | None]] = [(root.node, None)]
    seen = {id(root.node)}
    left = MAX_MERGED
    while pending:
        node, key = pending.pop()
        left -= _merged_size(node, left)
        if left < 0:
            message = f"merge keys bring in more than {MAX_MERGED} entries: not read"
            return [Problem("frontmatter-syntax", Value(node, root.block).to_line_end(), message, "write the keys out")]
        problems += _check_node(Value(node, root.block), key, is_root=node is root.node)
        for name, child in _children(node):
            plain_scalar = isinstance(child, yaml.ScalarNode) and child.tag in _KNOWN_TAGS
            if not plain_scalar and id(child) not in seen:
                seen.add(id(child))
                pending.append((child, name if node is root.node else key))
    return sorted(problems, key=lambda problem: problem.span)


def _merged_size(node: yaml.Node, limit: int) -> int:
    """How many entries the merge keys of a mapping bring in and look at, counted no further than the limit."""
    size = 0
    if isinstance(node, yaml.MappingNode) and any(key.tag == _MERGE for key, _ in node.value):
        for mapping in _with_merged(node):
            merged = (value for key, value in mapping.value if key.tag == _MERGE)
            size += len(mapping.value) + sum(len(each.value) for each in merged if isinstance(each, yaml.SequenceNode))
            if size > limit:
                break
    return size


def _children(node: yaml.Node) -> Iterator[tuple[str | None, yaml.Node]]:
    if isinstance(node, yaml.SequenceNode):
        yield from ((None, child) for child in node.value)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield None, key
            yield key.value if isinstance(key, yaml.ScalarNode) else None, value


def _check_node(value: Value, key: str | None, *, is_root: bool) -> Iterator[Problem]:
    node = value.node
    if node.tag not in _KNOWN_TAGS:
        yield _foreign_tag(value, key)
    elif isinstance(node, yaml.MappingNode):
        if not is_root and value.block.source.startswith("{{", node.start_mark.index):
            yield unquoted(
                "a value that opens with `{{` is a mapping inside a mapping", value.to_line_end(), value.block, key
            )
            return
        for name_node, content in node.value:
            name = Value(name_node, value.block)
            if name.text is None:
                yield key_that_is(
                    "null" if name.is_null else "a list" if name.items is not None else "a mapping", name.span
                )
            elif name_node.tag == _MERGE and not _can_merge(content):
                message = "not YAML: a merge key `<<` takes a mapping or a list of mappings"
                yield Problem("frontmatter-syntax", name.span, message, 'a key of that name is written "<<"')


def _can_merge(node: yaml.Node) -> bool:
    parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
    return all(isinstance(part, yaml.MappingNode) for part in parts)


def _foreign_tag(value: Value, key: str | None) -> Problem:
    written = _WORD.search(value.block.source, value.node.start_mark.index)
    tag = written[0] if written else ""
    if value.is_plain and tag.startswith("!") and not tag.startswith(("!!", "!<")):
        return unquoted("a value that opens with `!` is a YAML tag", value.span, value.block, key)
    help = "remove the tag: only the standard YAML types are read, and nothing is ever built or run"
    return Problem(
        "frontmatter-syntax", Span(value.span.start, value.span.start + len(tag)), f"the tag `{tag}` is refused", help
    )


def key_that_is(kind: str, span: Span) -> Problem:
    """The fault of a key that is null, a list or a mapping."""
    return Problem("key-type", span, f"a key is {kind}, not text", "write the key as text, in quotes if need be")


def unquoted(cause: str, span: Span, block: Block, key: str | None) -> Problem:
    """The fault of a value that needs quotes; `argument-hint` has a rule of its own because it is the commonest."""
    rule = "unquoted-hint" if key == "argument-hint" else "unquoted-value"
    start = span.start - block.shift
    value = block.source[start : span.end - block.shift]
    line_start = max(block.source.rfind("\n", 0, start), block.source.rfind("\r", 0, start)) + 1
    if block.source[line_start] in " \t-":
        fate = "Claude Code repairs no indented line and loses every key"
    elif "\r\n" in block.source:
        fate = "Claude Code repairs nothing in a file with CRLF line ends and loses every key"
    else:
        fate = "Claude Code repairs the line"
    help = f"quote it: {quoted(value)} ({fate}, other readers skip the file)"
    return Problem(rule, span, f"not YAML: {cause}", help, replacement(span, quoted(value)))


def quoted(value: str) -> str:
    """The text as a quoted YAML scalar: in double quotes, or single when it holds a double quote or backslash."""
    if '"' in value or "\\" in value:
        return "'" + value.replace("'", "''") + "'"
    return f'"{value}"'
