"""The server at the other end: what it says of itself, and which revisions it speaks."""

from dataclasses import dataclass, field

from kbp.live.base import LEGACY, MODERN, UNSUPPORTED_REVISION, Json, LiveError, Refusal, Unreachable

PREFIX = "io.modelcontextprotocol/"
"""What the names of the protocol's own members of `_meta` start with."""


@dataclass(frozen=True, slots=True)
class Peer:
    """The server at the other end.

    Attributes:
        revision: the revision that is spoken.
        info: its name, title and version, as far as it says them.
        capabilities: what it declares; None when it was not asked.
        instructions: what it tells a model.
    """

    revision: str
    info: Json = field(default_factory=dict)
    capabilities: Json | None = None
    instructions: str | None = None

    @property
    def name(self) -> str:
        """What a person calls it."""
        return str(self.info.get("title") or self.info.get("name") or "the server")


def supported(refusal: Refusal) -> list[str]:
    """The revisions that a server names which refuses another one."""
    if refusal.code != UNSUPPORTED_REVISION or not isinstance(refusal.data, dict):
        return []
    supported = refusal.data.get("supported")
    return [str(each) for each in supported] if isinstance(supported, list) else []


def mismatch(revisions: list[str]) -> LiveError:
    """The error that a server speaks none of the revisions that kbp does."""
    said = ", ".join(revisions) or "none that it names"
    return Unreachable(f"the server speaks another protocol: {said}; kbp speaks {LEGACY[0]} to {MODERN}")


def server_info(result: Json) -> Json:
    """What a result of the modern revision says of the server."""
    meta = result.get("_meta")
    info = (meta if isinstance(meta, dict) else {}).get(f"{PREFIX}serverInfo")
    return info if isinstance(info, dict) else {}


def peer_of(revision: str, result: Json, info: Json) -> Peer:
    """The server, as the result says that it agreed in."""
    capabilities, instructions = result.get("capabilities"), result.get("instructions")
    return Peer(
        revision,
        info,
        capabilities if isinstance(capabilities, dict) else {},
        instructions if isinstance(instructions, str) else None,
    )
