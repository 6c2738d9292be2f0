"""The fields of a form that a server asks to fill in: what they take, and texts read as their JSON values."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from kbp.live.base import Json
from kbp.live.questions import Question

Kind = Literal["text", "number", "integer", "boolean", "choice", "choices"]
_YES, _NO = ("true", "yes", "y", "1", "on"), ("false", "no", "n", "0", "off")
_MAX_PATTERN, _MAX_MATCHED, _MAX_REPEATS = 200, 1000, 2
_FORMATS = {
    "email": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+"),
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"),
    "date": re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"),
    "date-time": re.compile(
        r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)?"
    ),
}


@dataclass(frozen=True)
class Field:
    """One field of a form, by the JSON schema that a server gives of it (flat, as MCP has it from 2025-06-18 on)."""

    name: str
    schema: Json
    required: bool = False

    @property
    def title(self) -> str:
        """What a person sees of it."""
        title = self.schema.get("title")
        return title if isinstance(title, str) and title else self.name

    @property
    def description(self) -> str:
        """What it is for."""
        description = self.schema.get("description")
        return description if isinstance(description, str) else ""

    @property
    def has_default(self) -> bool:
        """Whether the server says what counts when nothing is answered."""
        return self.schema.get("default") is not None

    @property
    def default(self) -> Any:
        """What counts when nothing is answered, in its JSON type."""
        return self.schema.get("default")

    @cached_property
    def kind(self) -> Kind:
        """What it takes."""
        type = self.schema.get("type")
        if isinstance(type, list):
            type = next((each for each in type if each != "null"), None)
        if type == "array":
            return "choices"
        if self.choices:
            return "choice"
        kinds: dict[object, Kind] = {"number": "number", "integer": "integer", "boolean": "boolean"}
        return kinds.get(type, "text") if isinstance(type, str) else "text"

    @property
    def takes(self) -> str:
        """What it takes, in words; nothing for any text."""
        if self.choices:
            names = ", ".join(str(value) for value, _ in self.choices)
            return f"some of {names}" if self.kind == "choices" else f"one of {names}"
        kinds = {"number": "a number", "integer": "a whole number", "boolean": "yes or no", "choices": "a list: a,b"}
        words = [kinds.get(self.kind) or str(self.schema.get("format") or "")]
        low, high = self.schema.get("minimum"), self.schema.get("maximum")
        words += [f"from {low}"] if low is not None else []
        words += [f"to {high}"] if high is not None else []
        return " ".join(word for word in words if word)

    @cached_property
    def choices(self) -> tuple[tuple[Any, str], ...]:
        """The values to choose from, each with its title; empty where any will do."""
        items = self.schema.get("items") if self.schema.get("type") == "array" else self.schema
        return tuple(_choices(items if isinstance(items, dict) else {}))


def _choices(schema: Json) -> Iterator[tuple[Any, str]]:
    values, titles = schema.get("enum"), schema.get("enumNames")
    if isinstance(values, list):
        names = titles if isinstance(titles, list) else []
        yield from ((value, str(names[at] if at < len(names) else value)) for at, value in enumerate(values))
        return
    for key in ("oneOf", "anyOf"):
        options = schema.get(key)
        for option in options if isinstance(options, list) else ():
            if isinstance(option, dict) and "const" in option:
                yield option["const"], str(option.get("title", option["const"]))


def fields_of(question: Question) -> tuple[Field, ...]:
    """The fields of a question, in the order of the server."""
    return tuple(Field(name, schema, name in question.required) for name, schema in question.properties.items())


def read(field: Field, text: str) -> Any:
    """The value that a text is for a field, in its JSON type.

    Raises:
        ValueError: it is none; the message says what the field takes.
    """
    match field.kind:
        case "boolean":
            value: Any = _boolean(text)
        case "integer":
            value = _number(text, int, "a whole number")
        case "number":
            value = _number(text, _json_number, "a number")
        case "choice":
            value = _chosen(field, text.strip())
        case "choices":
            parts = _list(text)
            value = [_chosen(field, part) for part in parts] if field.choices else parts
        case _:
            value = text
    check(field, value)
    return value


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word not in (*_YES, *_NO):
        raise ValueError("this is yes or no")
    return word in _YES


def _number(text: str, read: Any, said: str) -> Any:
    try:
        return read(text.strip())
    except ValueError:
        raise ValueError(f"this is {said}") from None


def _json_number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        number = float(text)
    if not math.isfinite(number):
        raise ValueError
    return number


def _list(text: str) -> list[str]:
    if text.lstrip().startswith("["):
        try:
            parts = json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError("this is no JSON list") from None
        return list(map(str, parts))
    return [part.strip() for part in text.split(",") if part.strip()]


def _chosen(field: Field, text: str) -> Any:
    for value, title in field.choices:
        if text in (str(value), title):
            return value
    raise ValueError(f"'{text}' is none of {', '.join(str(value) for value, _ in field.choices)}")


def check(field: Field, value: Any) -> None:
    """See that a value is one that a field takes.

    Raises:
        ValueError: it is not; the message says what the field takes.
    """
    for fault in _faults(field, value):
        raise ValueError(fault)


def _faults(field: Field, value: Any) -> Iterator[str]:
    types: dict[Kind, tuple[tuple[type, ...], str]] = {
        "text": ((str,), "a text"),
        "number": ((int, float), "a number"),
        "integer": ((int,), "a whole number"),
        "boolean": ((bool,), "yes or no"),
        "choices": ((list,), "a list"),
    }
    if field.kind in types:
        wanted, said = types[field.kind]
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            yield f"this is {said}"
            return
    if field.choices:
        known = [each for each, _ in field.choices]
        for part in value if field.kind == "choices" else [value]:
            if part not in known:
                yield f"'{part}' is none of {', '.join(map(str, known))}"
    yield from _bounds(field.schema, value)
    if isinstance(value, str) and field.kind == "text":
        yield from _shape(field.schema, value)


def _bounds(schema: Json, value: Any) -> Iterator[str]:
    """What lies beyond the smallest and the largest that a field takes."""
    if isinstance(value, bool):
        return
    is_number = isinstance(value, int | float)
    least, most = ("minimum", "maximum") if is_number else ("minLength", "maxLength")
    unit = "" if is_number else " characters"
    if isinstance(value, list):
        least, most, unit = "minItems", "maxItems", " of them"
    size = value if is_number else len(value) if isinstance(value, str | list) else 0
    low, high = schema.get(least), schema.get(most)
    if isinstance(low, int | float) and size < low:
        yield f"this is at least {low}{unit}"
    if isinstance(high, int | float) and size > high:
        yield f"this is at most {high}{unit}"


def _shape(schema: Json, value: str) -> Iterator[str]:
    """What a text does not look like. A pattern that is hostile or no regular expression is left to the server."""
    shape = _FORMATS.get(str(schema.get("format")))
    if shape is not None and not shape.fullmatch(value):
        yield f"this is no {schema['format']}"
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and len(pattern) <= _MAX_PATTERN and len(value) <= _MAX_MATCHED and _is_plain(pattern):
        try:
            fits = re.search(pattern, value) is not None
        except (re.error, OverflowError, RecursionError):
            return
        if not fits:
            yield f"this does not match {pattern}"


def _is_plain(pattern: str) -> bool:
    """Whether a pattern repeats no group, and little besides: what does could take for ever."""
    return re.search(r"\)[*+?{]", pattern) is None and len(re.findall(r"[*+{]", pattern)) <= _MAX_REPEATS
