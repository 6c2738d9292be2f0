"""The prompts of a live server, as a source of prompts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kbp.live.base import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Answer,
    BadAnswer,
    Json,
    LiveError,
    NoPrompts,
    Refusal,
    TimedOut,
    elements_of,
)
from kbp.live.session import MAX_ROUNDS, Session
from kbp.model import Argument, Message, Prompt

MAX_PAGES = 1_000
MAX_PROMPTS = 100_000
_COMPLETION_SECONDS = 2.0
_MAX_LIFE = 10**12


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list of prompts.

    Attributes:
        prompts: those on it.
        next_cursor: what asks for the next page, None on the last one; an empty text is a cursor too.
        answer: the page as it came.
        seconds: how long it may be kept, as the server says.
        warnings: what is odd about it.
    """

    prompts: tuple[Prompt, ...]
    next_cursor: str | None
    answer: Answer
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """The prompts of a server, and what was odd about the list.

    `seconds` is how long it may be kept; `next_cursor` asks for what was not read.
    """

    prompts: tuple[Prompt, ...]
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    next_cursor: str | None = None


class Endless(BadAnswer):
    """A list that does not end, or broke off; `listing` has what was read."""

    def __init__(self, message: str, listing: Listing) -> None:
        super().__init__(message)
        self.listing = listing


@dataclass
class LiveSource:
    """The prompts of the server at the other end of a session.

    `key` is what is remembered of the server by, `label` what it is called where something is told of it; `keepers` are
    given each whole list that was read.
    """

    session: Session
    key: str = ""
    label: str = "the server"
    keepers: list[Callable[[Listing], None]] = field(default_factory=list)
    _listing: Listing | None = field(default=None, repr=False)

    def list_page(self, cursor: str | None = None) -> Page:
        """One page of the list; the first one without a cursor.

        Raises:
            NoPrompts: the server offers none.
            LiveError: as `Session.request`.
        """
        self.session.check_prompts()
        try:
            answer = self.session.request("prompts/list", {} if cursor is None else {"cursor": cursor})
        except Refusal as refusal:
            if refusal.code == METHOD_NOT_FOUND:
                raise NoPrompts("the server offers no prompts: it knows no prompts/list") from None
            raise
        entries = answer.result.get("prompts")
        if not isinstance(entries, list):
            raise BadAnswer("the server answered with no list of prompts", answer)
        following, ttl = answer.result.get("nextCursor"), answer.result.get("ttlMs")
        written = elements_of(answer.text, "prompts")
        texts = written if len(written) == len(entries) else [None] * len(entries)
        made = (prompt_of(each, text) for each, text in zip(entries, texts, strict=True))
        prompts = tuple(prompt for prompt in made if prompt is not None)
        if following is not None and not isinstance(following, str):
            raise BadAnswer("the server names its next page by what is no text", answer)
        life = min(max(ttl, 0), _MAX_LIFE) / 1000 if isinstance(ttl, int | float) and ttl == ttl else 0.0
        odd = len(entries) - len(prompts)
        warnings = (f"the server lists {odd} without a name",) if odd else ()
        return Page(prompts, following, answer, life, warnings)

    def list_all(
        self, max_pages: int = MAX_PAGES, max_prompts: int = MAX_PROMPTS, *, until: str | None = None
    ) -> Listing:
        """All pages of the list. A list that changes while it is read is read anew, once.

        Args:
            max_pages: how many pages it may have.
            max_prompts: how many prompts it may have.
            until: a name; what comes behind the page with it is not read.

        Raises:
            Endless: the server repeats a cursor, there are more pages or prompts than the bounds, or a page fails.
            LiveError: as `list_page`.
        """
        try:
            listing = self._pages(max_pages, max_prompts, until)
        except Endless as broken:
            if not isinstance(broken.__cause__, Refusal) or broken.__cause__.code != INVALID_PARAMS:
                raise
            listing = self._pages(max_pages, max_prompts, until)  # the cursor is no longer good: the list changed
        if listing.next_cursor is None:
            self._listing = listing
        if until is None:
            for keep in self.keepers:
                keep(listing)
        return listing

    def first_pages(self, count: int) -> Listing:
        """The first pages of the list, as many as are asked for.

        Raises:
            LiveError: as `list_page`.
        """
        return self._pages(count, MAX_PROMPTS, None, is_bound=False)

    def _pages(self, max_pages: int, max_prompts: int, until: str | None, *, is_bound: bool = True) -> Listing:
        found: dict[str, Prompt] = {}
        warnings: list[str] = []
        seen: set[str] = set()
        cursor: str | None = None
        seconds = float("inf")

        def so_far() -> Listing:
            return Listing(tuple(found.values()), tuple(warnings), 0.0 if cursor is not None else seconds, cursor)

        for _ in range(max_pages):
            try:
                page = self.list_page(cursor)
            except LiveError as error:
                if cursor is None:
                    raise
                raise Endless(f"the server broke off its list after {len(found)} prompts: {error}", so_far()) from error
            for prompt in page.prompts:
                if prompt.name in found:
                    warnings.append(f"the server lists {prompt.name} more than once: the first one counts")
                found.setdefault(prompt.name, prompt)
            warnings += page.warnings
            seconds = min(seconds, page.seconds)
            cursor = page.next_cursor
            if len(found) > max_prompts:
                raise Endless(f"the server lists more than {max_prompts} prompts", so_far())
            if cursor is None or until in found:
                return so_far()
            if cursor in seen:
                raise Endless(f"the server repeats the cursor {cursor!r}: its list does not end", so_far())
            seen.add(cursor)
        if is_bound:
            raise Endless(f"the server lists more than {max_pages} pages", so_far())
        return so_far()

    def prompts(self) -> Sequence[Prompt]:
        """All prompts of the server, listed once."""
        return (self._listing or self.list_all()).prompts

    def find(self, name: str) -> Prompt | None:
        """The prompt of that name as the server lists it."""
        prompts = (self._listing or self.list_all(until=name)).prompts
        return next((prompt for prompt in prompts if prompt.name == name), None)

    def result(
        self, name: str, arguments: Mapping[str, str], max_rounds: int = MAX_ROUNDS, *, is_listed: bool = True
    ) -> Answer:
        """The whole result of a prompt, as it came. It need not be listed where that is said."""
        if is_listed:
            self.session.check_prompts()
        return self.session.get(name, arguments, max_rounds)

    def messages(self, name: str, arguments: Mapping[str, str | None]) -> Sequence[Message]:
        """What the prompt of that name becomes. An argument that is None is not sent."""
        given = {key: value for key, value in arguments.items() if value is not None}
        return messages_of(self.result(name, given).result)[0]

    def complete(
        self,
        name: str,
        argument: str,
        value: str,
        context: Mapping[str, str] | None = None,
        seconds: float = _COMPLETION_SECONDS,
    ) -> list[str]:
        """The values that the server offers for what is typed of an argument, `context` being the values of the others.

        There are none where it offers none, refuses, or takes longer than these seconds.

        Raises:
            Unreachable: the server is gone.
        """
        peer = self.session.peer
        if peer.capabilities is not None and "completions" not in peer.capabilities and peer.revision != "2024-11-05":
            return []
        params: Json = {"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": argument, "value": value}}
        if context and peer.revision >= "2025-06-18":
            params["context"] = {"arguments": dict(context)}
        try:
            answer = self.session.request("completion/complete", params, seconds=seconds)
        except (Refusal, TimedOut, BadAnswer):
            return []
        completion = answer.result.get("completion")
        values = completion.get("values") if isinstance(completion, dict) else None
        return [each for each in values if isinstance(each, str)] if isinstance(values, list) else []


def prompt_of(content: Any, text: str | None = None) -> Prompt | None:
    """The prompt that an entry of a list is; None for what has no name. Fields of a wrong type count as absent.

    Args:
        content: the entry.
        text: the JSON text that it is written as.
    """
    if not isinstance(content, dict) or not isinstance(content.get("name"), str):
        return None
    entries = content.get("arguments")
    arguments = tuple(
        Argument(each["name"], _text(each, "description"), each.get("required") is True, title=_text(each, "title"))
        for each in (entries if isinstance(entries, list) else ())
        if isinstance(each, dict) and isinstance(each.get("name"), str)
    )
    meta = content.get("_meta")
    return Prompt(
        content["name"],
        _text(content, "title"),
        _text(content, "description"),
        arguments,
        meta if isinstance(meta, dict) else {},
        content,
        text,
    )


def _text(content: Json, key: str) -> str | None:
    value = content.get(key)
    return value if isinstance(value, str) else None


def messages_of(result: Json) -> tuple[list[Message], list[str]]:
    """The messages of a result, and what is odd about them. Nothing is left out."""
    entries = result.get("messages")
    odd: list[str] = []
    if not isinstance(entries, list):
        return [], ["the result has no messages"]
    messages: list[Message] = []
    for at, entry in enumerate(entries, start=1):
        content = entry if isinstance(entry, dict) else {"content": entry}
        role, blocks = content.get("role"), content.get("content")
        if role not in ("user", "assistant"):
            odd.append(f"message {at} has the role {role!r}, which no revision knows")
        if isinstance(blocks, list):
            odd.append(f"message {at} has a list of content blocks, where the protocol has one")
        for block in blocks if isinstance(blocks, list) else [blocks]:
            if not isinstance(block, dict) or not isinstance(block.get("type"), str):
                odd.append(f"message {at} has content without a type")
            extra = {key: value for key, value in content.items() if key not in ("role", "content")}
            whole = block if isinstance(block, dict) else {"value": block}
            messages.append(Message(role if isinstance(role, str) else "", whole, extra))
    return messages, odd
