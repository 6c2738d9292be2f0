"""The one place that reads the environment and knows the user's folders."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from kbp import shelf

_EDITORS = ("sensible-editor", "nano", "vi")


def extra_paths() -> list[str]:
    """The paths of `KBP_PATH`, separated as in `PATH`."""
    return [path for path in os.environ.get("KBP_PATH", "").split(os.pathsep) if path]


def environment() -> Mapping[str, str]:
    """The environment, for settings that name variables of it."""
    return os.environ


def home() -> Path | None:
    """The user's home, None when there is none."""
    try:
        return Path.home()
    except RuntimeError:  # no HOME, and no such user
        return None


def own_folder() -> Path:
    """Where the user's own settings and prompts for kbp are."""
    from platformdirs import user_config_path

    return user_config_path("kbp", appauthor=False, roaming=True)


def folder_of(variable: str, otherwise: Path) -> Path:
    """The folder that a variable names, or another one."""
    return Path(os.environ.get(variable) or otherwise)


def state_folder() -> Path:
    """Where kbp keeps what it remembers between runs."""
    return Path(shelf.state_folder())


def server_files() -> list[Path]:
    """Where other programs of the user have the servers they know: Claude Code, VS Code, Claude Desktop."""
    found = home()
    if found is None:
        return []
    return [
        found / ".claude.json",
        _editor_folder(found) / "mcp.json",
        _editor_folder(found).parent.parent / "Claude" / "claude_desktop_config.json",
    ]


def user_folders() -> list[tuple[Path, Path, bool]]:
    """Where users keep prompts of their own: the folder, the root of its paths, whether it is VS Code's."""
    found = home()
    if found is None:
        return []
    own, editor = own_folder(), _editor_folder(found)
    return [
        (found / ".claude" / "commands", found / ".claude", False),
        (editor / "prompts", editor, True),
        (own / "prompts", own, False),
    ]


def _editor_folder(home: Path) -> Path:
    """Where VS Code keeps what belongs to the user."""
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "Code" / "User"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", home / "AppData" / "Roaming")) / "Code" / "User"
    return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "Code" / "User"


def use_color(flag: str, is_terminal: bool) -> bool:
    """Whether to print colours: the flag, else NO_COLOR, else FORCE_COLOR or CLICOLOR_FORCE, else for a terminal."""
    if flag != "auto":
        return flag == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return is_terminal and os.environ.get("TERM") != "dumb"


def forbids_questions() -> bool:
    """Whether the environment says that nobody is there to ask: `KBP_NO_INPUT`, a pipeline, a terminal that cannot."""
    is_set = any(os.environ.get(name, "") not in ("", "0", "false") for name in ("KBP_NO_INPUT", "CI"))
    return is_set or os.environ.get("TERM", "") in ("", "dumb", "unknown")


def is_debug_log() -> bool:
    """Whether `KBP_LOG=debug` asks for what `--verbose` does."""
    return os.environ.get("KBP_LOG", "").lower() == "debug"


def checkout() -> str | None:
    """The folder that a pipeline has checked out, where one runs this."""
    return os.environ.get("GITHUB_WORKSPACE") or os.environ.get("CI_PROJECT_DIR") or None


def is_github() -> bool:
    """Whether GitHub Actions runs this."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def editor() -> list[str]:
    """The command that edits a file: `VISUAL`, else `EDITOR`, else one that systems have. Empty: none."""
    import shlex
    import shutil

    for name in ("VISUAL", "EDITOR"):
        try:
            if command := shlex.split(os.environ.get(name, "")):
                return command
        except ValueError:  # an open quote: said when it cannot be started
            return [os.environ[name]]
    return next(([name] for name in _EDITORS if shutil.which(name)), [])


def pager() -> list[str]:
    """The command that pages long output: `PAGER`, else less where there is one. Empty: none."""
    import shlex
    import shutil

    if "PAGER" in os.environ:
        try:
            return shlex.split(os.environ["PAGER"])
        except ValueError:
            return []
    return ["less", "-FRX"] if shutil.which("less") else []
