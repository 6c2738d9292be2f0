"""Which part of the prompts a client of an HTTP server sees: what its URL and headers say."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_MAX_FIELDS, _MAX_TOLD = 64, 20


class UnknownScope(ValueError):
    """A scope names what there is not; the message says what there is."""


@dataclass(frozen=True)
class Scope:
    """What a client asks for.

    Attributes:
        libraries: any of these; none given: all.
        categories: any of these; none given: all.
        tags: any of these groups, of which a plugin has all; none given: all.
        has_tools: whether the client has no prompts and wants tools in their place.
    """

    libraries: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    tags: frozenset[frozenset[str]] = frozenset()
    has_tools: bool = False

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
        faults = [_fault(kind, name, known) for kind, names, known in kinds for name in sorted(names - known)]
        if faults:
            raise UnknownScope("; ".join(faults[:_MAX_TOLD]))


def scope_of(query: str, headers: Iterable[tuple[str, str]]) -> Scope:
    """The scope that the query of a URL and the headers of a request ask for. A blank value asks for nothing.

    Raises:
        UnknownScope: they are no query.
    """
    try:
        pairs = parse_qsl(query, max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise UnknownScope(f"the query has more than {_MAX_FIELDS} fields") from None
    by_field: dict[str, list[str]] = {}
    for name, value in pairs:
        by_field.setdefault(name, []).append(value)
    by_header: dict[str, list[str]] = {}
    for name, value in headers:
        by_header.setdefault(name.lower(), []).append(value)
    given = {field: by_header.get(header) or by_field.get(field, []) for field, header in HEADERS.items()}
    return Scope(
        frozenset(each for value in given["library"] if (each := value.strip())),
        frozenset(each for value in given["categories"] for each in _words(value)),
        frozenset(group for value in given["tags"] if (group := frozenset(_words(value)))),
        any(value.strip().lower() in _OFF for value in given["prompts"]),
    )


def _words(value: str) -> Iterator[str]:
    return (each.strip() for each in value.split(",") if each.strip())


def _fault(kind: str, name: str, known: Iterable[str | None]) -> str:
    names = sorted(each for each in known if each)
    near: Sequence[str] = difflib.get_close_matches(name, names, n=1)
    said = f"there is no {kind} {name[:100]!r}"
    if near:
        said += f"; did you mean {near[0]!r}?"
    more = f" and {len(names) - _MAX_TOLD} more" if len(names) > _MAX_TOLD else ""
    plural = {"library": "libraries", "category": "categories"}.get(kind, f"{kind}s")
    return f"{said} ({plural}: {', '.join(names[:_MAX_TOLD]) or 'none'}{more})"


Seen = Mapping[str, Offer]
"""The prompts that a client sees, by their names."""


def seen(offers: Offers, scope: Scope) -> Seen:
    """The prompts in a scope.

    Raises:
        UnknownScope: it names what there is not.
    """
    scope.check(offers)
    if not (scope.libraries or scope.categories or scope.tags):
        return offers.prompts
    return {name: offer for name, offer in offers.prompts.items() if scope.holds(offer)}
