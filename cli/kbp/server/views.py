"""What clients see of the prompts on offer: those in their scope, in the words of their revision."""

import bisect
import json
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from kbp.server.offers import Offer, Offers
from kbp.server.revisions import wire_prompt
from kbp.server.scope import Scope, seen

PAGE = 1_000
"""How many prompts a page of the list has."""
_MAX_SCOPES = 64


class View:
    """The prompts that are seen in a scope."""

    def __init__(self, offers: Offers, names: Sequence[str], texts: dict[str, dict[str, bytes]]) -> None:
        self._offers = offers
        self._names = names
        self._known = frozenset(names)
        self._texts = texts

    def find(self, name: str) -> Offer | None:
        """The prompt of that name, if it is seen."""
        return self._offers.prompts[name] if name in self._known else None

    def names(self) -> Sequence[str]:
        """The names of all of them, in order."""
        return self._names

    def page(self, after: str | None) -> tuple[Sequence[str], bool]:
        """The names of a page: of those behind a name. And whether there are more."""
        start = 0 if after is None else bisect.bisect_right(self._names, after)
        return self._names[start : start + PAGE], start + PAGE < len(self._names)

    def wire(self, names: Sequence[str], revision: str) -> list[dict[str, Any]]:
        """Prompts as a client of a revision is told of them."""
        return [wire_prompt(self._offers.prompts[name].prompt, revision) for name in names]

    def text(self, names: Sequence[str], revision: str) -> bytes:
        """The same as JSON: each prompt is written once."""
        texts = self._texts.setdefault(revision, {})
        for name in names:
            if name not in texts:
                wire = wire_prompt(self._offers.prompts[name].prompt, revision)
                texts[name] = json.dumps(wire, separators=(",", ":")).encode()
        return b"[" + b",".join(texts[name] for name in names) + b"]"


class Views:
    """The views of the offers there are, by their scopes; those that were used last are kept."""

    def __init__(self) -> None:
        self._offers: Offers | None = None
        self._texts: dict[str, dict[str, bytes]] = {}
        self._views: OrderedDict[Scope, View] = OrderedDict()

    def of(self, offers: Offers, scope: Scope) -> View:
        """What is seen of offers in a scope.

        Raises:
            UnknownScope: it names what there is not.
        """
        if self._offers is not offers:
            self._offers, self._texts, self._views = offers, {}, OrderedDict()
        view = self._views.get(scope)
        if view is None:
            view = self._views[scope] = View(offers, list(seen(offers, scope)), self._texts)
        self._views.move_to_end(scope)
        while len(self._views) > _MAX_SCOPES:
            self._views.popitem(last=False)
        return view
