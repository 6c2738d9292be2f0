"""What a converted file keeps of its source: a comment in its frontmatter, from which the source can be made again.

Comments mean nothing to any client. What stands in one is never trusted: a source is only taken from it when converting
that source gives the very file that it stands in.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from kbp.characters import BOM
from kbp.converter.body import Part
from kbp.document import Document
from kbp.files import PromptFile
from kbp.text import LINE_END, Span

_START = "# kbp:1 {"
MAX_KEPT = 256 * 1024
_COMMENT = re.compile(r"(?:\A|(?<=[\r\n]))# kbp:1 (?P<kept>\{[^\r\n]*\})[ \t]*(?:\r\n|\r|\n)")
# Three dashes would end the block for Claude Code, and a `#` might read as a comment to lint.
_UNSAFE = re.compile(r"-(?=--)|#|\x7f")


@dataclass(frozen=True, slots=True)
class Kept:
    """The comment of a converted file.

    Attributes:
        source: the name of the dialect that the file was converted from.
        head: all that stood before the body of the source.
        size: how many characters the body has.
        edits: where the body differs: the place in it, how many characters, and what the source has there.
        is_alone: whether the frontmatter was made for the comment.
        is_inlined: whether defaults were written for a person to read.
        span: the line of the comment.
    """

    source: str
    head: str
    size: int
    edits: tuple[tuple[int, int, str], ...]
    is_alone: bool
    is_inlined: bool
    span: Span


def _edits_of(parts: Sequence[Part], source: str) -> tuple[int, list[tuple[int, int, str]]]:
    """How many characters a converted body has, and where it differs from that of its source."""
    edits = []
    at = 0
    for part in parts:
        written = source[part.span.start : part.span.end]
        if written != part.text:
            edits.append((at, len(part.text), written))
        at += len(part.text)
    return at, edits


def with_kept(
    text: str, document: Document, whole: PromptFile, bare: PromptFile, parts: Sequence[Part], *, is_inlined: bool
) -> str | None:
    """The converted text with the comment as the last line of its frontmatter; None when there is too much to keep.

    Args:
        text: the converted text.
        document: the same, read.
        whole: the source, all of it.
        bare: the source as it was converted.
        parts: the parts of its body.
        is_inlined: whether defaults were written for a person to read.
    """
    is_alone = document.block is None
    size, edits = _edits_of(parts, bare.document.text)
    facts = {
        "from": whole.dialect.name if whole.dialect else "",
        "head": whole.document.text[: whole.document.body_start],
        "size": size,
        "body": edits,
        "alone": is_alone,
        **({"inlined": True} if is_inlined else {}),
    }
    content = json.dumps(facts, separators=(",", ":"))
    safe = _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", content)
    if len(safe) > MAX_KEPT:
        return None
    end = LINE_END.search(text)
    newline = end[0] if end else "\n"
    line = f"# kbp:1 {safe}{newline}"
    if document.block is not None:
        return text[: document.block.end] + line + text[document.block.end :]
    start = len(BOM) if text.startswith(BOM) else 0
    return f"{text[:start]}---{newline}{line}---{newline}{text[start:]}"


def kept_in(document: Document) -> Kept | None:
    """The comment of a file, None when it has none that can be read."""
    if document.block is None or _START not in document.text[document.block.start : document.block.end]:
        return None
    matches = list(_COMMENT.finditer(document.text, document.block.start, document.block.end))
    if not matches or matches[-1].end() != document.block.end or len(matches[-1][0]) > 2 * MAX_KEPT:
        return None
    if not document.is_comment(Span(*matches[-1].span())):
        return None
    try:
        content = json.loads(matches[-1]["kept"])
        source, head, size = content["from"], content["head"], content["size"]
        edits = tuple((place, length, text) for place, length, text in content["body"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    numbers = (size, *(number for place, length, _ in edits for number in (place, length)))
    texts = (source, head, *(text for _, _, text in edits))
    if any(type(number) is not int for number in numbers) or not all(isinstance(text, str) for text in texts):
        return None
    is_alone, is_inlined = (content.get(key) is True for key in ("alone", "inlined"))
    return Kept(source, head, size, edits, is_alone, is_inlined, Span(*matches[-1].span()))


def is_damaged(document: Document) -> bool:
    """Whether a file has such a comment that cannot be read."""
    block = document.block
    return block is not None and _START in document.text[block.start : block.end] and kept_in(document) is None


def source_of(kept: Kept, text: str) -> str | None:
    """The source that the comment speaks of, given the text of the file without it; None when it does not fit."""
    if not 0 <= kept.size <= len(text):
        return None
    body = text[len(text) - kept.size :]
    parts: list[str] = []
    at = 0
    for place, length, text in kept.edits:
        if not at <= place <= place + length <= len(body):
            return None
        parts += [body[at:place], text]
        at = place + length
    return kept.head + "".join(parts) + body[at:]
