"""The pictures, sounds and files that messages carry."""

import base64
import binascii
import mimetypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kbp.model import Message

# what Python 3.11 does not know, whatever the system's own table says
_ENDINGS = {
    "audio/wav": ".wav",
    "audio/x-wav": ".wav",
    "audio/mpeg": ".mp3",
    "image/webp": ".webp",
    "image/jpeg": ".jpg",
}


@dataclass(frozen=True, slots=True)
class Medium:
    """One of them: the position of its message, what it is, and its bytes; None where they are no base64."""

    at: int
    kind: str
    mime_type: str
    data: bytes | None

    def file_name(self, prompt: str) -> str:
        """A name for its file: of letters, digits, dashes and underscores, with the ending of its type."""
        stem = re.sub(r"[^\w-]+", "-", prompt).strip("-").encode()[:80].decode(errors="ignore") or "prompt"
        kind = self.mime_type.partition(";")[0].strip().lower()
        ending = _ENDINGS.get(kind) or mimetypes.guess_extension(kind) or ".bin"
        return f"{stem}-{self.at + 1}{ending}"


def media_of(messages: Sequence[Message]) -> Iterator[Medium]:
    """The media of messages, in order."""
    for at, message in enumerate(messages):
        match message.content:
            case {"type": "image" | "audio" as kind, "data": str(data)}:
                yield Medium(at, kind, _text(message.content.get("mimeType")), _decoded(data))
            case {"type": "resource", "resource": {"blob": str(data)} as resource}:
                yield Medium(at, "resource", _text(resource.get("mimeType")), _decoded(data))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _decoded(data: str) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
