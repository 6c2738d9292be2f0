"""What all of the live room shares: what can go wrong, JSON-RPC messages, and the channel that carries them."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Json = dict[str, Any]

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
REVISIONS = (*LEGACY, MODERN)
"""The published revisions of the protocol. The legacy ones shake hands; the modern one has no sessions."""

MAX_MESSAGE = 256 * 1024 * 1024
"""How many bytes one message of a server may have."""

INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_REVISION = -32602, -32601, -32022
CANCELLED = "notifications/cancelled"


class LiveError(Exception):
    """A server cannot be used. `help` are lines that tell more."""

    def __init__(self, message: str, help: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.help = help


class Unreachable(LiveError):
    """It could not be started or connected to, went away, or speaks another protocol."""


class TimedOut(LiveError):
    """It did not answer in time."""


class Unauthorized(Unreachable):
    """It wants another authorization."""


class NoPrompts(LiveError):
    """It offers no prompts."""


class BadAnswer(LiveError):
    """It answered what the protocol does not know. `result` has the answer where there is one."""

    def __init__(self, message: str, result: "Answer | None" = None) -> None:
        super().__init__(message)
        self.result = result


class Refusal(LiveError):
    """It answered with an error: the JSON-RPC `code`, its message, and `data`.

    Of one that `is_local`, no server said so: an HTTP status stands for its answer.
    """

    def __init__(self, code: int, message: str, data: Any = None, *, is_local: bool = False) -> None:
        super().__init__(_without_prefix(message, code))
        self.code = code
        self.data = data
        self.is_local = is_local


def _without_prefix(message: str, code: int) -> str:
    """The message without the words that some servers put before it, once or twice."""
    return re.sub(rf"(?:MCP error {code}:\s*)+", "", message, count=1) if message.startswith("MCP error ") else message


@dataclass
class Login:
    """Whether a person is logging in just now, and how many times one has begun to."""

    is_open: bool = False
    count: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a request: as an object, and as the JSON text of the wire."""

    result: Json
    text: str


@dataclass(frozen=True, slots=True)
class Received:
    """One message of a server, and the JSON text of its `result` where it has one.

    One `is_local` was made by the transport in place of an answer that did not come.
    """

    message: Json
    result_text: str | None = None
    is_local: bool = False


class Channel(Protocol):
    """What carries messages to one server and back. `revision` is what was agreed on, None before."""

    revision: str | None

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message."""
        ...

    def receive(self, seconds: float | None) -> Received | None:
        """The next message, None when none came in time.

        Raises:
            Unreachable: the server is gone.
        """
        ...

    def remarks(self) -> tuple[str, ...]:
        """Lines that help when the server does not answer."""
        ...

    def close(self) -> None:
        """End the connection, and the server if it was started for it."""
        ...


def _integer(digits: str) -> int | str:
    """A number, however long it is: Python does not read one of more than 4,300 digits."""
    return int(digits) if len(digits) <= _MAX_DIGITS else digits


_MAX_DIGITS = 4300
_DECODER = json.JSONDecoder(parse_int=_integer)
_WHITE = " \t\r\n"


def parse_all(line: str) -> list[Received]:
    """The messages that a line of JSON is: one, or a row of them, as the revision 2025-03-26 has it; none."""
    text = line.strip(_WHITE + "\ufeff")
    if not text.startswith("["):
        received = parse(text)
        return [] if received is None else [received]
    found: list[Received] = []
    at = _after_white(text, 1)
    try:
        while at < len(text):
            _, end = _DECODER.raw_decode(text, at)
            found += parse_all(text[at:end]) if text[at] == "{" else []
            at = _after_white(text, _after_white(text, end) + 1)
    except ValueError:
        return []
    return found


def parse(line: str) -> Received | None:
    """The message that a line of JSON is, None when it is none. Its result is kept as it is written.

    Raises:
        RecursionError: it is nested too deep.
    """
    text = line.strip(_WHITE + "\ufeff")
    try:
        members = dict(_members(text))
    except ValueError:
        return None
    message = {key: value for key, (value, _) in members.items()}
    if message.get("jsonrpc") != "2.0" or not ("method" in message or "id" in message):
        return None
    return Received(message, members["result"][1] if "result" in members else None)


def elements_of(text: str, key: str) -> list[str]:
    """The JSON texts of the elements of the array that a JSON object has under a key; none when it has none."""
    try:
        array = dict(_members(text))[key][1]
    except (ValueError, RecursionError, KeyError):
        return []
    found: list[str] = []
    at = _after_white(array, 1)
    while array.startswith("[") and array[at] != "]":
        _, end = _DECODER.raw_decode(array, at)
        found.append(array[at:end])
        at = _after_white(array, end)
        at = _after_white(array, at + 1) if array[at] == "," else at
    return found


def _members(text: str) -> list[tuple[str, tuple[Any, str]]]:
    """The members of the JSON object that a text is: each key with its value, and the text of that.

    Raises:
        ValueError: the text is no JSON object.
    """
    if not text.startswith("{"):
        raise ValueError("no object")
    found: list[tuple[str, tuple[Any, str]]] = []
    at = _after_white(text, 1)
    while text[at : at + 1] != "}" or found:
        key, at = _DECODER.raw_decode(text, at)
        at = _after_white(text, at)
        if not isinstance(key, str) or text[at : at + 1] != ":":
            raise ValueError("no member")
        start = _after_white(text, at + 1)
        value, at = _DECODER.raw_decode(text, start)
        found.append((key, (value, text[start:at])))
        at = _after_white(text, at)
        if text[at : at + 1] != ",":
            break
        at = _after_white(text, at + 1)
    if text[at : at + 1] != "}" or _after_white(text, at + 1) != len(text):
        raise ValueError("no end")
    return found


def _after_white(text: str, at: int) -> int:
    while at < len(text) and text[at] in _WHITE:
        at += 1
    return at
