"""What all tests share: an empty home, the command line run in this process, golden texts."""

import contextlib
import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from kbp.app import run

TESTS = Path(__file__).parent
LIBRARY = TESTS / "library"
BROKEN = TESTS / "library-broken"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write the expected texts anew instead of comparing them")


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, and nothing of the outer environment that changes what kbp prints."""
    folder = tmp_path_factory.mktemp("home")
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "KBP_PATH", "KBP_LOG", "CI", "PAGER"):
        monkeypatch.delenv(name, raising=False)
    given = {"HOME": folder, "XDG_CONFIG_HOME": folder / "config", "XDG_STATE_HOME": folder / "state"}
    for name, value in {**given, "COLUMNS": "100", "KBP_NO_INPUT": "1"}.items():
        monkeypatch.setenv(name, str(value))
    return folder


@dataclass(frozen=True)
class Result:
    """What a command line did: its exit code, and the text on stdout and on stderr."""

    code: int
    out: str
    err: str


Kbp = Callable[..., Result]


@pytest.fixture
def kbp(monkeypatch: pytest.MonkeyPatch) -> Kbp:
    """Runs a command line in this process: `kbp("lint", "a.md", cwd=folder, stdin=b"…")`."""

    def command(*arguments: str | Path, cwd: Path | None = None, stdin: bytes | None = None) -> Result:
        out, err = _stream(), _stream()
        with monkeypatch.context() as patch, contextlib.chdir(cwd or Path.cwd()):
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)) if stdin is not None else _Untouched())
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            code = run([os.fspath(argument) for argument in arguments])
        return Result(code, _text(out), _text(err))

    return command


class _Untouched:
    """A stdin that nobody may read."""

    @property
    def buffer(self) -> io.BufferedIOBase:
        raise AssertionError("stdin was read")

    def fileno(self) -> int:
        raise OSError("no file")


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "surrogateescape")


Golden = Callable[[str, str], None]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares a text with `tests/golden/NAME`, or writes it there with `--update`."""

    def compare(name: str, text: str) -> None:
        path = TESTS / "golden" / name
        if request.config.getoption("--update"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"no golden text {name}: run pytest --update"
        assert text == path.read_text(encoding="utf-8")

    return compare


Tree = Callable[[dict[str, str | bytes]], Path]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Writes files below an empty folder and gives the folder."""

    def write(files: dict[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path

    return write
