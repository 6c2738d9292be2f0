"""What a server tells on stderr: an event a line, as text or as JSON."""

import json
import logging
import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kbp.display import safe_line

FORMATS = ("text", "json")
_MAX_TEXT = 500
_logger = logging.getLogger("kbp.server")


def set_up(format: str, *, verbose: bool = False, quiet: bool = False) -> None:
    """Write events to stderr: warnings and errors when it is to be quiet, all when verbose, else what happens."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if format == "json" else _Text())
    level = logging.WARNING if quiet else logging.DEBUG if verbose else logging.INFO
    _logger.handlers = [handler]
    _logger.setLevel(level)
    _logger.propagate = False
    # What the libraries tell may hold what a client sent; the server's own events say what happened.
    for name in ("mcp", "uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [logging.NullHandler()], False


def debug(event: str, **fields: Any) -> None:
    """Tell those who want to know more."""
    _tell(logging.DEBUG, event, fields)


def info(event: str, **fields: Any) -> None:
    """Tell what happens."""
    _tell(logging.INFO, event, fields)


def warning(event: str, **fields: Any) -> None:
    """Tell what somebody should see to."""
    _tell(logging.WARNING, event, fields)


def error(event: str, **fields: Any) -> None:
    """Tell what went wrong."""
    _tell(logging.ERROR, event, fields)


def trace(error: BaseException) -> str | None:
    """Where an error came from, for those who want more. Its words may hold what a client sent, and are left out."""
    if not _logger.isEnabledFor(logging.DEBUG):
        return None
    frames = traceback.extract_tb(error.__traceback__)
    return " > ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)


def _tell(level: int, event: str, fields: Mapping[str, Any]) -> None:
    if _logger.isEnabledFor(level):
        _logger.log(level, event, extra={"fields": {key: each for key, each in fields.items() if each is not None}})


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _cut(value: Any) -> Any:
    return f"{value[:_MAX_TEXT]}…" if isinstance(value, str) and len(value) > _MAX_TEXT else value


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = [f"{key}={_spelt(_cut(value))}" for key, value in getattr(record, "fields", {}).items()]
        return " ".join([_time(record), record.levelname.lower(), record.getMessage(), *fields])


def _spelt(value: Any) -> str:
    """A value as one word: what is none is quoted, and nothing in it is a control character."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    is_word = value.isprintable() and value and not set(' "=') & set(value)
    return value if is_word else safe_line(json.dumps(value, ensure_ascii=False))


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = {key: _cut(value) for key, value in getattr(record, "fields", {}).items()}
        return json.dumps(
            {"time": _time(record), "level": record.levelname.lower(), "event": record.getMessage(), **fields}
        )
