"""JSON as kbp prints it."""

import json


def dump(content: object, *, indent: int | None = 2) -> str:
    """The content as JSON with a newline at its end. Only what is no UTF-8 (bytes of file names) is escaped."""
    text = json.dumps(content, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(content, indent=indent)
    return text + "\n"
