"""Which part of the prompts a client of an HTTP server sees: what its URL and headers say."""

import difflib
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import parse_qsl

from kbp.server.offers import Offer, Offers

HEADERS = {
    "library": "x-mcp-library",
    "categories": "x-mcp-categories",
    "tags": "x-mcp-tags",
    "prompts": "x-mcp-prompts",
}
"""The fields of a scope, each with the header that says the same. Where both are there, the header counts."""
_OFF = frozenset({"off", "false", "0", "no", "none"})
_ON = frozenset({"on", "true", "1", "yes", "all"})
_MAX_FIELDS, _MAX_WORDS, _MAX_WORD, _MAX_TOLD = 64, 64, 200, 20
_MAX_FAULTS, _MAX_SAID, _MAX_OFF, _MAX_COMPARED = 3, 60, 3, 200


class UnknownScope(ValueError):
    """A scope names what there is not; the message says what there is."""


@dataclass(frozen=True)
class Scope:
    """Which prompts a client asks for.

    Attributes:
        libraries: any of these; none given: all.
        categories: any of these; none given: all.
        tags: any of these groups, of which a plugin has all; none given: all.
    """

    libraries: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    tags: frozenset[frozenset[str]] = frozenset()

    def holds(self, offer: Offer) -> bool:
        """Whether a prompt lies in the scope: each field that is given must fit."""
        return (
            (not self.libraries or offer.library in self.libraries)
            and (not self.categories or offer.category in self.categories)
            and (not self.tags or any(group <= offer.labels for group in self.tags))
        )

    def check(self, offers: Offers) -> None:
        """See that what it names is there.

        Raises:
            UnknownScope: it is not.
        """
        plugins = [plugin for library in offers.libraries for plugin in library.plugins]
        kinds = (
            ("library", self.libraries, {library.name for library in offers.libraries}),
            ("category", self.categories, {plugin.category for plugin in plugins}),
            ("tag", frozenset().union(*self.tags), {label for plugin in plugins for label in plugin.labels}),
        )
        unknown = [(kind, name, known) for kind, names, known in kinds for name in sorted(names - known)]
        if unknown:
            more = f"; and {len(unknown) - _MAX_FAULTS} more are not there" if len(unknown) > _MAX_FAULTS else ""
            raise UnknownScope("; ".join(_fault(*each) for each in unknown[:_MAX_FAULTS]) + more)


@dataclass(frozen=True)
class Wish:
    """What a client asks for: a scope, and whether it wants tools, as it knows no prompts."""

    scope: Scope = Scope()
    has_tools: bool = False


def wish_of(query: str, headers: Iterable[tuple[str, str]]) -> Wish:
    """What the query of a URL and the headers of a request ask for.

    Raises:
        UnknownScope: there is no such field, or it has no value, or one that it cannot have.
    """
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise UnknownScope(f"the query has more than {_MAX_FIELDS} fields") from None
    by_field = _grouped(pairs)
    by_header = _grouped((name.lower(), value) for name, value in headers)
    for name in by_field:
        if name not in HEADERS:
            raise UnknownScope(f"there is no field {name[:_MAX_SAID]!r} (fields: {', '.join(HEADERS)})")
    _check_headers(by_header)
    given = {field: by_header.get(header) or by_field.get(field, []) for field, header in HEADERS.items()}
    for field, values in given.items():
        words = [word for value in values for word in _words(value)]
        if len(words) > _MAX_WORDS or any(len(word) > _MAX_WORD for word in words):
            raise UnknownScope(f"{field} has more than {_MAX_WORDS} words, or one of more than {_MAX_WORD} characters")
        if values and not words:
            raise UnknownScope(f"{field} names nothing: leave it out, or say which")
    prompts = {word.lower() for value in given["prompts"] for word in _words(value)}
    if prompts - _OFF - _ON:
        raise UnknownScope("prompts is on or off")
    scope = Scope(
        frozenset(each for value in given["library"] if (each := value.strip())),
        frozenset(each for value in given["categories"] for each in _words(value)),
        frozenset(group for value in given["tags"] if (group := frozenset(_words(value)))),
    )
    return Wish(scope, bool(prompts & _OFF))


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


def _check_headers(names: Iterable[str]) -> None:
    """See that no header is a field mistyped: it would choose nothing, and everything would be seen.

    Raises:
        UnknownScope: one is.
    """
    known = list(HEADERS.values())
    for name in itertools.islice((each for each in names if each.startswith("x-mcp-")), _MAX_FIELDS):
        near = difflib.get_close_matches(name[:_MAX_SAID], known, n=1, cutoff=0.75) if name not in known else []
        if near:
            raise UnknownScope(f"there is no header {name[:_MAX_SAID]!r}; did you mean {near[0]!r}?")


def shown_fields(query: str) -> str | None:
    """The fields of a scope that a query has, as they may be told: nothing else of it."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        return None
    return "&".join(f"{name}={value}" for name, value in pairs if name in HEADERS) or None


def _words(value: str) -> list[str]:
    return [word for each in value.split(",") if (word := each.strip())]


def _fault(kind: str, name: str, known: Iterable[str | None]) -> str:
    names = sorted(each for each in known if each)
    near = nearest(name, names)
    said = f"there is no {kind} {name[:_MAX_SAID]!r}"
    if near is not None:
        said += f"; did you mean {near!r}?"
    names = [each if len(each) <= _MAX_SAID else f"{each[:_MAX_SAID]}…" for each in names]
    more = f" and {len(names) - _MAX_TOLD} more" if len(names) > _MAX_TOLD else ""
    plural = {"library": "libraries", "category": "categories"}.get(kind, f"{kind}s")
    return f"{said} ({plural}: {', '.join(names[:_MAX_TOLD]) or 'none'}{more})"


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of some names that is most like another one, if any is; looked for among those that begin alike."""
    if not 0 < len(name) <= _MAX_SAID:
        return None
    alike = (each for each in names if each[:1] == name[:1] and abs(len(each) - len(name)) <= _MAX_OFF)
    near = difflib.get_close_matches(name, list(itertools.islice(alike, _MAX_COMPARED)), n=1)
    return near[0] if near else None


def seen(offers: Offers, scope: Scope) -> Iterator[str]:
    """The names of the prompts in a scope, in order.

    Raises:
        UnknownScope: it names what there is not.
    """
    scope.check(offers)
    return (name for name, offer in offers.prompts.items() if scope.holds(offer))
