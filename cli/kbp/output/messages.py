"""Messages as text, Markdown, JSON, and the arrays that chat APIs take."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kbp.display import counted, safe_line
from kbp.live.base import elements_of
from kbp.model import Message
from kbp.output.jsontext import dump, laid_out, on_one_line


@dataclass
class Rendered:
    """What a prompt became.

    Attributes:
        description: what the prompt says of itself.
        messages: its messages.
        losses: what a format could not carry of them.
        files: the files that the media of messages were saved to, by the position of the message.
        wire: the result of a server as it came, JSON text.
    """

    description: str | None
    messages: Sequence[Message]
    losses: list[str] = field(default_factory=list)
    files: Mapping[int, str] = field(default_factory=dict)
    wire: str | None = None


def text(rendered: Rendered) -> str:
    """The text of the messages, a newline at the end. Headings name the roles where they differ."""
    roles = {message.role for message in rendered.messages}
    parts = [_plain(message.content, rendered.files.get(at)) for at, message in enumerate(rendered.messages)]
    if not parts:
        return ""
    if len(roles) > 1:
        parts = [f"[{_role(message)}]\n{part}" for message, part in zip(rendered.messages, parts, strict=True)]
    joined = "\n\n".join(part if at == len(parts) - 1 else part.rstrip("\n") for at, part in enumerate(parts))
    return joined if joined.endswith("\n") else joined + "\n"


def markdown(rendered: Rendered) -> str:
    """The messages below headings of their roles, images as links."""
    parts = [
        f"## {_role(message)}\n\n{_markdown(message.content, rendered.files.get(at)).rstrip(chr(10))}\n"
        for at, message in enumerate(rendered.messages)
    ]
    return "\n".join(parts)


def as_json(rendered: Rendered) -> str:
    """The MCP result: `description` when there is one, and `messages`; of a server all that it sent."""
    if rendered.wire is not None:
        return laid_out(rendered.wire)
    content: dict[str, Any] = {"description": rendered.description} if rendered.description else {}
    content["messages"] = [_object(message) for message in rendered.messages]
    return dump(content)


def jsonl(rendered: Rendered) -> str:
    """One message a line, as the MCP result has it; of a server as it came."""
    if rendered.wire is not None:
        return "".join(map(on_one_line, elements_of(rendered.wire, "messages")))
    return "".join(dump(_object(message), indent=None) for message in rendered.messages)


def openai(rendered: Rendered) -> str:
    """The `messages` array of OpenAI's chat API: text as a string, parts where there is an image or audio."""
    messages = [
        {"role": message.role, "content": _openai_content(message.content, rendered.losses)}
        for message in rendered.messages
    ]
    return dump(messages)


def anthropic(rendered: Rendered) -> str:
    """The `messages` of Anthropic's API: content blocks, neighbours of one role merged."""
    messages: list[dict[str, Any]] = []
    for message in rendered.messages:
        if message.role not in ("user", "assistant"):
            rendered.losses.append(f"anthropic has no role {message.role!r}")
        block = _anthropic_block(message.content, rendered.losses)
        if messages and messages[-1]["role"] == message.role:
            messages[-1]["content"].append(block)
        else:
            messages.append({"role": message.role, "content": [block]})
    return dump({"messages": messages})


FORMATS: dict[str, Callable[[Rendered], str]] = {
    "text": text,
    "markdown": markdown,
    "json": as_json,
    "jsonl": jsonl,
    "openai": openai,
    "anthropic": anthropic,
}


def _object(message: Message) -> dict[str, Any]:
    role = {"role": message.role} if message.role else {}
    return {**role, "content": dict(message.content), **message.extra}


def _plain(block: Mapping[str, Any], file: str | None = None) -> str:
    """A content block as text: what has no text is named, with its size and the file that it was saved to."""
    saved = f": {file}" if file else ""
    match block:
        case {"type": "text", "text": str(words)}:
            return words
        case {"type": "resource", "resource": {"text": str(words)} as resource}:
            return f"[resource {_facts(resource.get('uri'), resource.get('mimeType'))}]\n{words}"
        case {"type": "resource", "resource": {"blob": str(data)} as resource}:
            return f"[resource {_facts(resource.get('uri'), resource.get('mimeType'), _size(data))}{saved}]"
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            return f"[{kind} {_facts(block.get('mimeType'), _size(data))}{saved}]"
        case {"type": "resource_link", "uri": uri}:
            size = counted(block["size"], "byte") if isinstance(block.get("size"), int) else None
            name = block.get("title") or block.get("name") or uri
            said = f" - {block['description']}" if block.get("description") else ""
            return f"[link {_facts(name)}: {_facts(uri, block.get('mimeType'), size)}{_facts(said)}]"
    return f"[{_facts(block.get('type', 'content without a type'))}] {dump(dict(block), indent=None).rstrip(chr(10))}"


def _role(message: Message) -> str:
    """The role on one line, whatever is in it."""
    return safe_line(message.role) or "no role"


def _facts(*facts: object) -> str:
    """Facts of a block on one line, whatever is in them."""
    return safe_line(", ".join(str(fact) for fact in facts if fact))


def _size(data: str) -> str:
    """How much base64 holds."""
    return counted(max(len(data) * 3 // 4 - data[-2:].count("="), 0), "byte")


def _markdown(block: Mapping[str, Any], file: str | None = None) -> str:
    match block:
        case {"type": "image"} if file:
            return f"![image](<{file}>)"
        case {"type": "image", "data": data, "mimeType": mime_type}:
            return f"![image](data:{mime_type};base64,{data})"
        case {"type": "resource_link", "uri": uri}:
            return f"[{block.get('name', uri)}]({uri})"
    return _plain(block, file)


def _openai_content(block: Mapping[str, Any], losses: list[str]) -> str | list[dict[str, Any]]:
    match block:
        case {"type": "image", "data": data, "mimeType": mime_type}:
            return [{"type": "image_url", "image_url": {"url": f"data:{mime_type};base64,{data}"}}]
        case {
            "type": "audio",
            "data": data,
            "mimeType": "audio/wav" | "audio/x-wav" | "audio/mpeg" | "audio/mp3" as mime_type,
        }:
            sound = {"data": data, "format": "wav" if mime_type.endswith("wav") else "mp3"}
            return [{"type": "input_audio", "input_audio": sound}]
    return _as_text(block, "openai", losses)


def _anthropic_block(block: Mapping[str, Any], losses: list[str]) -> dict[str, Any]:
    match block:
        case {
            "type": "image",
            "data": data,
            "mimeType": "image/png" | "image/jpeg" | "image/gif" | "image/webp" as mime_type,
        }:
            return {"type": "image", "source": {"type": "base64", "media_type": mime_type, "data": data}}
    return {"type": "text", "text": _as_text(block, "anthropic", losses)}


def _as_text(block: Mapping[str, Any], api: str, losses: list[str]) -> str:
    words = _plain(block)
    resource = block.get("resource")
    has_text = block.get("type") == "resource" and isinstance(resource, Mapping) and "text" in resource
    is_text = block.get("type") == "text" or has_text
    if not is_text:
        losses.append(f"{api} cannot carry {block.get('type', 'this content')}: sent as the text {words!r}")
    return words
