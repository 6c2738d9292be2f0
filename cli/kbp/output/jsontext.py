"""JSON as kbp prints it."""

import json
import re

from kbp.display import UNSAFE

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_DEEPEST = 40
"""The depth from which on nothing is indented further."""
_CLOSING = {"{": "}", "[": "]"}


def dump(content: object, *, indent: int | None = 2) -> str:
    """The content as JSON with a newline at its end.

    What could steer a terminal, and bytes of file names that are not UTF-8, stand in it as escapes; all else as it is.
    """
    return escaped(json.dumps(content, ensure_ascii=False, indent=indent)) + "\n"


def escaped(text: str) -> str:
    """JSON text in which escapes stand for what could steer a terminal."""
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def on_one_line(text: str) -> str:
    """JSON text on one line, its keys, strings and numbers exactly as they are written."""
    spaced = {",": ", ", ":": ": "}
    return escaped("".join(spaced.get(sign, sign) for sign in _TOKEN.findall(text))) + "\n"


def laid_out(text: str) -> str:
    """JSON text laid out as `dump` does, its keys, strings and numbers exactly as they are written."""
    parts: list[str] = []
    depth = 0
    signs = _TOKEN.findall(text)
    for at, sign in enumerate(signs):
        following = signs[at + 1] if at + 1 < len(signs) else ""
        if sign in _CLOSING and following != _CLOSING[sign]:
            depth += 1
            parts.append(f"{sign}\n{'  ' * min(depth, _DEEPEST)}")
        elif sign in ("}", "]") and (at == 0 or signs[at - 1] not in _CLOSING):
            depth -= 1
            parts.append(f"\n{'  ' * min(depth, _DEEPEST)}{sign}")
        else:
            parts.append(f",\n{'  ' * min(depth, _DEEPEST)}" if sign == "," else ": " if sign == ":" else sign)
    return escaped("".join(parts)) + "\n"
