"""A real terminal for tests: a program in tmux, its keys and its screen."""

import os
import shlex
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

KBP = [sys.executable, "-m", "kbp"]
PATIENCE = float(os.environ.get("KBP_TESTPATIENCE", "20"))
_FORBIDDEN = ("CI", "KBP_NO_INPUT", "NO_COLOR", "TMUX")


class Terminal:
    """A terminal of some size in which a shell command runs. `done` waits for its exit code, which goes to a file."""

    def __init__(self, folder: Path, columns: int = 80, rows: int = 24) -> None:
        if shutil.which("tmux") is None:
            assert "KBP_ALL_TESTS" not in os.environ, "there is no tmux"
            pytest.skip("there is no tmux to drive a terminal with")
        self.folder = folder
        self._name = f"kbp-{uuid.uuid4().hex[:8]}"
        self._size = ("-x", str(columns), "-y", str(rows))
        self._code = folder / f"{self._name}.code"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tmux("kill-server")

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-L", self._name, "-f", "/dev/null", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=self._environment()).stdout

    def _environment(self) -> dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if name not in _FORBIDDEN}
        return {**environment, "PYTHONPATH": str(Path(__file__).parent.parent / "cli"), "LC_ALL": "C.UTF-8"}

    def run(self, *arguments: str, shell: str = "", **environment: str) -> None:
        """Start kbp with these arguments; `shell` is what the shell does with it, as `< in > out`."""
        given = [f"{name}={value}" for name, value in environment.items()]
        command = f"{shlex.join(['env', *given, *KBP, *arguments])} {shell}"
        self.start(f"cd {shlex.quote(str(self.folder))}; {command}; echo $? > {shlex.quote(str(self._code))}; sleep 60")

    def start(self, command: str) -> None:
        """Start a command of the shell."""
        self._tmux("new-session", "-d", *self._size, command)
        self._tmux("set-option", "-g", "status", "off", ";", "set-option", "-s", "set-clipboard", "on")

    def screen(self, *, color: bool = False) -> str:
        """What is on the screen, lines that are broken by its edge as the lines that they are."""
        return self._tmux("capture-pane", "-p", "-J", *(["-e"] if color else []))

    def clipboard(self) -> str:
        """What a program put in the clipboard through the terminal."""
        return self._tmux("show-buffer")

    def wait(self, text: str, seconds: float = PATIENCE) -> str:
        """The screen once a text is on it."""
        end = time.monotonic() + seconds
        while text not in (screen := self.screen()):
            assert time.monotonic() < end, f"{text!r} does not come:\n{screen}"
            time.sleep(0.02)
        return screen

    def keys(self, *keys: str) -> None:
        """Press keys, as tmux names them: `Enter`, `C-c`, `Escape`, `Up`."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type a text."""
        self._tmux("send-keys", "-l", text)

    def paste(self, text: str) -> None:
        """Paste a text, in brackets as terminals do."""
        self._tmux("set-buffer", text)
        self._tmux("paste-buffer", "-p")

    def done(self, seconds: float = PATIENCE) -> int:
        """The exit code, once the command has ended."""
        end = time.monotonic() + seconds
        while not self._code.exists() or not self._code.read_text().strip():
            assert time.monotonic() < end, f"it does not end:\n{self.screen()}"
            time.sleep(0.02)
        return int(self._code.read_text())

    def answer(self, dialogue: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Wait for each text of a dialogue, and press the keys that answer it; what starts with `=` is typed."""
        for text, keys in dialogue:
            self.wait(text)
            for key in keys:
                if key.startswith("="):
                    self.type(key[1:])
                else:
                    self.keys(key)
