"""JSON as kbp prints it."""

import json

from kbp.display import UNSAFE


def dump(content: object, *, indent: int | None = 2) -> str:
    """The content as JSON with a newline at its end.

    What could steer a terminal, and bytes of file names that are not UTF-8, stand in it as escapes; all else as it is.
    """
    text = json.dumps(content, ensure_ascii=False, indent=indent)
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"
