"""The user's folders, as `kbp.settings` has them from platformdirs, which takes longer than a Tab press may."""

import os
import sys


def home() -> str:
    """The user's home."""
    return os.path.expanduser("~")  # noqa: PTH111


def own() -> str:
    """Where the user's own settings and prompts for kbp are."""
    if sys.platform == "win32":
        return f"{os.environ.get('APPDATA') or home() + '/AppData/Roaming'}/kbp"
    if sys.platform == "darwin" and not os.environ.get("XDG_CONFIG_HOME"):
        return f"{home()}/Library/Application Support/kbp"
    return f"{_config()}/kbp"


def editor() -> str:
    """Where VS Code keeps what belongs to the user."""
    if sys.platform == "darwin":
        return f"{home()}/Library/Application Support/Code/User"
    if sys.platform == "win32":
        return f"{os.environ.get('APPDATA') or home() + '/AppData/Roaming'}/Code/User"
    return f"{_config()}/Code/User"


def server_files() -> tuple[str, ...]:
    """Where the user's own settings and other programs have the servers they know."""
    programs = os.path.dirname(os.path.dirname(editor()))  # noqa: PTH120
    desktop = f"{programs}/Claude/claude_desktop_config.json"
    return f"{own()}/config.toml", f"{home()}/.claude.json", f"{editor()}/mcp.json", desktop


def _config() -> str:
    return os.environ.get("XDG_CONFIG_HOME") or f"{home()}/.config"
