"""Long lists that are written once: a mark stands for one in an answer until the answer leaves.

The SDK reads and writes every entry of a list anew for each answer, which takes a hundred times as long as sending it.
"""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

_KEY = "kbp.list"
PAGE_TEXT = "kbp.page"
"""Where a request (its ASGI scope) keeps the JSON of the list that its answer has."""
Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]


def mark(request: MutableMapping[str, Any], text: bytes) -> str:
    """What stands for a list, given as JSON, in the one answer to a request (its ASGI scope)."""
    placeholder = f"kbp-{secrets.token_hex(16)}"  # nobody else can write it into the answer
    request[_KEY] = (f'"{placeholder}"'.encode(), text)
    return placeholder


def splicing(request: MutableMapping[str, Any], send: Send) -> Send:
    """What sends an answer, with the list in the place of its mark."""
    held: list[Message] = []

    async def send_spliced(message: Message) -> None:
        if _KEY not in request:
            await send(message)
            return
        held.append(message)
        if message["type"] == "http.response.start" or message.get("more_body"):
            return
        placeholder, text = request.pop(_KEY)
        start, *parts = held
        body = b"".join(part.get("body", b"") for part in parts).replace(placeholder, text, 1)
        rest = [header for header in start["headers"] if header[0] != b"content-length"]
        await send({**start, "headers": [*rest, (b"content-length", str(len(body)).encode())]})
        await send({"type": "http.response.body", "body": body})

    return send_spliced
