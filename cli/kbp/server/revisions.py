"""What a client of some revision of the protocol is sent: no field that its revision does not define."""

import re
from collections.abc import Mapping
from typing import Any

from kbp.live.base import MODERN
from kbp.model import Prompt, mcp_prompt

_HALF = re.compile("[\ud800-\udfff]")
# By the published schemas: the revision from which on a field of a prompt, of an argument and of a tool is defined.
PROMPT_SINCE = {"title": "2025-06-18", "_meta": "2025-06-18", "icons": "2025-11-25"}
ARGUMENT_SINCE = {"title": "2025-06-18"}
TOOL_SINCE = {"annotations": "2025-03-26", "title": "2025-06-18", "outputSchema": "2025-06-18", "_meta": "2025-06-18"}
RESULT_SINCE = {"structuredContent": "2025-06-18", "resultType": MODERN, "ttlMs": MODERN, "cacheScope": MODERN}


def fitted(content: Mapping[str, Any], since: Mapping[str, str], revision: str) -> dict[str, Any]:
    """An object without the fields that a revision does not define."""
    return {key: value for key, value in content.items() if since.get(key, "") <= revision}


def sendable(content: Any) -> Any:
    """JSON without what no JSON can say: half characters, which a YAML escape may make, become U+FFFD."""
    if isinstance(content, str):
        return _HALF.sub("\ufffd", content)
    if isinstance(content, Mapping):
        return {sendable(key): sendable(each) for key, each in content.items()}
    if isinstance(content, list | tuple):
        return [sendable(each) for each in content]
    return content


def wire_prompt(prompt: Prompt, revision: str) -> dict[str, Any]:
    """A prompt as it is listed for a client of a revision."""
    content = fitted(sendable(mcp_prompt(prompt)), PROMPT_SINCE, revision)
    if "arguments" in content:
        content["arguments"] = [fitted(each, ARGUMENT_SINCE, revision) for each in content["arguments"]]
    return content
