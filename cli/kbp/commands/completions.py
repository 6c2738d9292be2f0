"""`kbp completions`: the script with which a shell completes the words of kbp."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import kbp.complete
from kbp import settings
from kbp.commands.console import DONE, Console, Stop, write_whole
from kbp.commands.options import bad_choice
from kbp.display import said_of


@dataclass(frozen=True)
class Shell:
    """A shell: the name of its script, where it looks for one, and the lines that a start-up file needs for that."""

    script: str
    folder: Path
    startup: Path | None = None
    lines: str = ""

    @property
    def text(self) -> str:
        """The script."""
        return (Path(kbp.complete.__file__).parent / "scripts" / self.script).read_text(encoding="utf-8")


SHELLS = ("bash", "zsh", "fish", "powershell")


def shell_called(name: str) -> Shell:
    """The shell of that name, with the folders of this user."""
    home = settings.home() or Path("~")
    data = settings.folder_of("XDG_DATA_HOME", home / ".local/share")
    config = settings.folder_of("XDG_CONFIG_HOME", home / ".config")
    if name == "bash":
        folder = settings.folder_of("BASH_COMPLETION_USER_DIR", data / "bash-completion") / "completions"
        script = shlex.quote(str(folder / "kbp.bash"))
        return Shell("kbp.bash", folder, home / ".bashrc", f"[ -r {script} ] && . {script}")
    if name == "zsh":
        folder = data / "zsh/site-functions"
        startup = settings.folder_of("ZDOTDIR", home) / ".zshrc"
        script = shlex.quote(str(folder / "_kbp"))
        return Shell("_kbp", folder, startup, f"[[ -r {script} ]] && . {script}")
    if name == "fish":
        return Shell("kbp.fish", config / "fish/completions")
    folder = config / "powershell"
    script = str(folder / "kbp.ps1").replace("'", "''")
    return Shell("kbp.ps1", folder, folder / "profile.ps1", f". '{script}'")


def completions(
    console: Console,
    shell: Annotated[str, typer.Argument(metavar="|".join(SHELLS), help="The shell.")],
    install: Annotated[bool, typer.Option("--install", help="Write it to the folder of that shell.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="With --install: add the line to the start-up file of the shell too.")
    ] = False,
) -> int:
    """Print the script with which a shell completes commands, options, prompts, arguments and their values.

    \b
      kbp completions zsh --install
      kbp completions bash > ~/.local/share/bash-completion/completions/kbp.bash
    """
    faults = bad_choice("kbp completions", shell, SHELLS)
    if yes and not install:
        faults.append("--yes goes with --install")
    if faults:
        raise Stop(faults)
    found = shell_called(shell)
    if not install:
        console.print(found.text)
        return DONE
    path = found.folder / found.script
    _write(path, found.text)
    console.print(f"{path}\n")
    if found.startup is None:
        console.hint("new shells complete kbp")
    elif yes:
        _add(found.startup, found.lines)
        console.hint(f"new shells complete kbp: {found.startup} reads it")
    else:
        where = " unless bash-completion is there, which reads it" if shell == "bash" else ""
        console.hint(f"add this line to {found.startup}{where} (--yes does it):\n  {found.lines}")
    return DONE


def _write(path: Path, text: str) -> None:
    """Write the script, over an older one of kbp alone.

    Raises:
        Stop: it cannot be written.
    """
    try:
        if path.exists() and "Completion of kbp for" not in path.read_text(encoding="utf-8", errors="replace"):
            raise Stop(f"{path} is there already, and is not of kbp")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    except OSError as error:
        raise Stop(f"{path}: {said_of(error)}") from None


def _add(path: Path, line: str) -> None:
    """Add a line to a start-up file, unless it is there.

    Raises:
        Stop: it cannot be written.
    """
    try:
        before = path.read_bytes() if os.path.exists(path) else b""
        if line.encode() in before.splitlines():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        end = b"" if not before or before.endswith(b"\n") else b"\n"
        write_whole(path, before + end + line.encode() + b"\n")
    except OSError as error:
        raise Stop(f"{path}: {said_of(error)}") from None
