"""Lists of prompts kept between runs, for completion and the picker, as long as the server lets them be kept."""

import time
from collections.abc import Mapping
from typing import Any

from kbp import memory
from kbp.live.base import LEGACY
from kbp.live.server import Server
from kbp.model import Prompt

_KIND = "lists"
_LEGACY_SECONDS, _MAX_SECONDS = 300.0, 86_400.0
"""How long a list is kept of a server that cannot say how long, and at most."""


def key_of(server: Server, headers: Mapping[str, str], revision: str) -> str:
    """A name for the list of a server, whose variables are replaced, asked for in one manner with one authorization."""
    tokens = memory.recall("tokens", memory.key_of(server.url)) if server.url else None
    client = tokens.get("client") if isinstance(tokens, dict) else None
    return memory.key_of(server.key, dict(server.headers), dict(headers), revision, client)


def remember(key: str, prompts: tuple[Prompt, ...], seconds: float, revision: str) -> None:
    """Keep a list for its time; one that may not be kept takes the place of an older one all the same."""
    life = _LEGACY_SECONDS if revision in LEGACY else min(seconds, _MAX_SECONDS)
    if life <= 0:
        memory.forget(_KIND, key)
        return
    memory.remember(_KIND, key, {"until": time.time() + life, "prompts": [prompt.wire for prompt in prompts]})


def recall(key: str) -> list[Any] | None:
    """The entries of a list that is still good, as the server sent them; None when there is none."""
    found = memory.recall(_KIND, key)
    if not isinstance(found, dict) or not isinstance(found.get("until"), float) or found["until"] < time.time():
        return None
    prompts = found.get("prompts")
    return prompts if isinstance(prompts, list) else None
