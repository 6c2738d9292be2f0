"""The Python side of live servers: list prompts, and get them."""

import contextlib
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self, TypeVar

from kbp.live.base import LEGACY, Answer, Json, LiveError, Unreachable
from kbp.live.connection import Manner, connected
from kbp.live.questions import Handler
from kbp.live.server import Server
from kbp.live.session import MAX_ROUNDS
from kbp.live.source import Listing, LiveSource, Page, messages_of
from kbp.model import Message, Prompt

Value = TypeVar("Value")


class Client:
    """A server's prompts. It connects when something is first asked of it, and ends with its `with` block, or `close`.

    One that is forgotten ends with the program.

    All methods wait for their answer. From async code, call them in a thread (`asyncio.to_thread`): any number of
    threads may share one client, whose requests then go one after the other.
    """

    def __init__(self, server: Server, manner: Manner) -> None:
        self._server = server
        self._manner = manner
        self._lock = threading.RLock()
        self._stack = contextlib.ExitStack()
        weakref.finalize(self, self._stack.close)  # who forgets to close it leaves no server behind
        self._source: LiveSource | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection, and the server if it was started for it. What is asked afterwards connects anew."""
        with self._lock:
            self._source = None
            self._stack.close()

    def _do(self, action: Callable[[LiveSource], Value], handler: Handler | None = None) -> Value:
        """Do something with the connection. One that has no handler yet gets it; an older server hears of it anew."""
        with self._lock:
            if handler is not None and self._source is not None:
                self._source.session.handler = handler
                if self._source.session.peer.revision in LEGACY and not self._source.session.has_declared:
                    self.close()
            if self._source is None:
                manner = self._manner if handler is None else replace(self._manner, handler=handler)
                self._source = self._stack.enter_context(connected(self._server, manner))
            try:
                return action(self._source)
            except Unreachable:
                self.close()
                raise
            finally:
                if handler is not None and self._source is not None:
                    self._source.session.handler = self._manner.handler

    @property
    def revision(self) -> str:
        """The revision that is spoken, as `2026-07-28`."""
        return self._do(lambda source: source.session.peer.revision)

    @property
    def capabilities(self) -> Json | None:
        """What the server declares."""
        return self._do(lambda source: source.session.peer.capabilities)

    @property
    def server_info(self) -> Json:
        """The server's name, title and version, as far as it says them."""
        return self._do(lambda source: source.session.peer.info)

    def list_page(self, cursor: str | None = None) -> Page:
        """One page of the prompts; the first one without a cursor. An empty cursor is a cursor.

        Raises:
            LiveError: the server cannot be reached, or fails.
        """
        return self._do(lambda source: source.list_page(cursor))

    def list_all(self, max_pages: int = 1_000, max_prompts: int = 100_000) -> tuple[Prompt, ...]:
        """The prompts of all pages.

        Raises:
            Endless: the list has no end within these bounds, or breaks off; its `listing` has what was read.
            LiveError: the server cannot be reached, or fails.
        """
        found: Listing = self._do(lambda source: source.list_all(max_pages, max_prompts))
        return found.prompts

    def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> tuple[Message, ...]:
        """The messages of a prompt. Questions of the server go to the handler that `connect` was given.

        Args:
            name: the prompt.
            arguments: a text for each argument; an empty one is sent as it is.

        Raises:
            Refusal: the server answers with an error, as it does when an argument is missing.
            BadAnswer: it asks what nobody can answer.
            LiveError: it cannot be reached, or fails.
        """
        given = _checked(arguments)
        answer = self._do(lambda source: source.result(name, given))
        return tuple(messages_of(answer.result)[0])

    def get_result(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        input_responses: Mapping[str, Any] | None = None,
        request_state: str | None = None,
    ) -> Answer:
        """The whole result of one request, as an object and as the text that came. It may want more input.

        Args:
            name: the prompt.
            arguments: a text for each argument.
            input_responses: the replies to the questions of a result before (2026-07-28).
            request_state: its state.

        Raises:
            LiveError: as `get_prompt`.
        """
        params: Json = {"name": name, **({"arguments": _checked(arguments)} if arguments else {})}
        params |= {"inputResponses": dict(input_responses)} if input_responses is not None else {}
        params |= {"requestState": request_state} if request_state is not None else {}

        def ask(source: LiveSource) -> Answer:
            source.session.check_prompts()
            return source.session.request("prompts/get", params)

        return self._do(ask)

    def get_with_input(
        self, name: str, arguments: Mapping[str, str] | None, handler: Handler, max_rounds: int = MAX_ROUNDS
    ) -> tuple[Message, ...]:
        """The messages of a prompt whose server may ask back.

        Args:
            name: the prompt.
            arguments: a text for each argument.
            handler: is given each question, one at a time, and gives the reply. What it raises comes through.
            max_rounds: how many times the server may ask.

        Raises:
            BadAnswer: the server asks more often than that.
            LiveError: as `get_prompt`.
        """
        given = _checked(arguments)
        answer = self._do(lambda source: source.result(name, given, max_rounds), handler)
        return tuple(messages_of(answer.result)[0])

    def complete(
        self,
        name: str,
        argument: str,
        value: str,
        context: Mapping[str, str] | None = None,
        *,
        seconds: float = 2.0,
    ) -> list[str]:
        """The values that the server offers for an argument of a prompt; none when it has none, fails, or is slow.

        Args:
            name: the prompt.
            argument: the argument that is typed.
            value: what is typed of it so far.
            context: the values of the other arguments.
            seconds: how long it may take.
        """
        try:
            return self._do(lambda source: source.complete(name, argument, value, context, seconds))
        except LiveError:
            return []


def _checked(arguments: Mapping[str, str] | None) -> dict[str, str]:
    """The arguments, all of which are text."""
    for name, value in (arguments or {}).items():
        if not isinstance(value, str):
            raise TypeError(f"the value of {name} is {type(value).__name__}, not text")
    return dict(arguments or {})
