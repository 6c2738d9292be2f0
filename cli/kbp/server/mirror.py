"""Two tools that give what prompts/list and prompts/get give, for clients that know tools only."""

import json
from collections.abc import Mapping
from typing import Any

from kbp.server.revisions import TOOL_SINCE, fitted

LIST, GET = "list_prompts", "get_prompt"

_TOOLS: tuple[dict[str, Any], ...] = (
    {
        "name": LIST,
        "title": "List prompts",
        "description": "List the prompts of this server: name, description and arguments of each, as JSON.",
        "inputSchema": {
            "type": "object",
            "properties": {"cursor": {"type": "string", "description": "The nextCursor of the page before."}},
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
    {
        "name": GET,
        "title": "Get a prompt",
        "description": "Fill in a prompt of this server: its messages, each with its role, as JSON.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The name of the prompt, as list_prompts gives it."},
                "arguments": {
                    "type": "object",
                    "description": "A text for each argument of the prompt; the required ones must be there.",
                    "additionalProperties": {"type": "string"},
                },
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
)


def tools(revision: str) -> list[dict[str, Any]]:
    """The tools as a client of a revision is told of them."""
    return [fitted(tool, TOOL_SINCE, revision) for tool in _TOOLS]


def texts(values: Any) -> dict[str, str]:
    """The values for arguments as texts: numbers and booleans as JSON writes them, null and "" are not given.

    Raises:
        ValueError: they are no table of such values.
    """
    if not isinstance(values, Mapping):
        raise ValueError("arguments is no object: it has a text for each argument")
    wrong = [str(name)[:100] for name, value in values.items() if isinstance(value, Mapping | list | tuple)]
    if wrong:
        raise ValueError(f"arguments are texts, and these are not: {', '.join(wrong)}")
    return {
        str(name): value if isinstance(value, str) else json.dumps(value)
        for name, value in values.items()
        if value not in (None, "")
    }
