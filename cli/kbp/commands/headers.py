"""Headers for a server, as options of a command: their values are written out, in files, or in variables."""

import re
from collections.abc import Mapping
from pathlib import Path

from kbp import settings
from kbp.live.server import VARIABLE, can_be_header

_HEADER = re.compile(r"(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(?P<value>.*)", re.DOTALL)


def read_headers(given: list[str]) -> tuple[Mapping[str, str], list[str]]:
    """The headers of these options, and what is wrong with them. A value is never part of what is said."""
    headers: dict[str, str] = {}
    faults: list[str] = []
    for text in given:
        match = _HEADER.fullmatch(text)
        if match is None:
            faults.append("--header: write it as --header 'NAME: VALUE'")
            continue
        name, value = match["name"], match["value"]
        try:
            value = _header_value(value).strip()
        except (OSError, ValueError, LookupError, RuntimeError) as error:  # RuntimeError: no such user behind ~
            faults.append(f"--header {name}: {error if isinstance(error, LookupError) else 'the file cannot be read'}")
            continue
        if not value:
            faults.append(f"--header {name}: its value is empty")
        if not can_be_header(value):
            faults.append(f"--header {name}: its value has characters that no header can have")
        headers[name] = value
    return headers, faults


def without_value(header: str) -> str:
    """A header as it may be told: a value that is written out is left out."""
    name, _, value = header.partition(":")
    return header if value.strip().startswith(("@", "env:")) else f"{name}: …"


def _header_value(text: str) -> str:
    if text.startswith("@"):
        return Path(text[1:]).expanduser().read_text(encoding="utf-8")
    if text.startswith("env:"):
        return _variable(text[4:])
    return re.sub(
        VARIABLE, lambda match: _variable(match["name"], match["default"]) if match["name"] else match[0], text
    )


def _variable(name: str, default: str | None = None) -> str:
    found = settings.environment().get(name, default)
    if found is None:
        raise Missing(name)
    return found


class Missing(LookupError):
    """A variable that is not set."""

    def __str__(self) -> str:
        return f"the variable {self.args[0]} is not set"
