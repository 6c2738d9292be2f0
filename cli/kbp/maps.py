"""Maps of names and values in files: JSON and YAML, numbers and booleans as the text they are."""

import json
from collections.abc import Iterable

import yaml

from kbp import frontmatter
from kbp.frontmatter import TooDeep, Value

Pairs = list[tuple[str, str | None]]


def from_json(text: str, label: str, faults: list[str]) -> Pairs:
    """The names and values of a JSON object. What is wrong with it goes to the faults, below the label."""
    try:
        # Numbers stay the text they are, and pairs keep both of two equal names.
        content = json.loads(text, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=_Object)
    except (ValueError, RecursionError) as error:
        faults.append(f"{label}: not JSON: {error}")
        return []
    if not isinstance(content, _Object):
        faults.append(f"{label}: not a map of names and values")
        return []
    return _checked(((name, _scalar(value), isinstance(value, list)) for name, value in content.pairs), label, faults)


class _Object(list[object]):
    """A JSON object as its pairs."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__()
        self.pairs = pairs


def _scalar(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else None


def from_yaml(text: str, label: str, faults: list[str]) -> Pairs:
    """The same of a YAML map."""
    block = frontmatter.block(text, 0)
    try:
        node = frontmatter.compose(block.text)
    except TooDeep:
        faults.append(f"{label}: nested too deep")
        return []
    except yaml.YAMLError as error:
        faults.append(f"{label}: not YAML: {_said(error)}")
        return []
    root = Value(node, block) if node is not None else None
    problems = frontmatter.check(root) if root else []
    if root is None or root.entries is None or problems:
        faults.append(f"{label}: " + (problems[0].message if problems else "not a map of names and values"))
        return []
    values = (
        (entry.key, entry.value.text, entry.value.items is not None or entry.value.entries is not None)
        for entry in root.entries
    )
    return _checked(values, label, faults)


def _said(error: yaml.YAMLError) -> str:
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    if mark is None or not isinstance(error, yaml.MarkedYAMLError):
        return " ".join(str(error).split())
    return f"{error.problem} (line {mark.line + 1}, column {mark.column + 1})"


def _checked(values: Iterable[tuple[str, str | None, bool]], label: str, faults: list[str]) -> Pairs:
    """The pairs that hold a text or nothing, each name once."""
    found: dict[str, str | None] = {}
    for name, value, is_collection in values:
        if is_collection:
            faults.append(f"{label}: the value of {name} is a list or a map; an argument is text")
        elif name in found:
            faults.append(f"{label}: {name} is given twice")
        else:
            found[name] = value
    return list(found.items())
