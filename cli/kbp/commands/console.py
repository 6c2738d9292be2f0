"""What a command may print and where: the result on stdout, everything else on stderr."""

import contextlib
import errno
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from kbp import __version__, settings
from kbp.display import safe, safe_line, said_of
from kbp.output.style import styled

if TYPE_CHECKING:
    from kbp.configuration import Configuration

DONE, TO_REPORT, WRONG_REQUEST, SERVER_FAILED = 0, 1, 2, 3
Item = TypeVar("Item")
_MAX_TOLD, _MAX_WARNINGS = 20_000, 20
_MANY = 200
"""From how many items on a person wants to see how far they are."""
_OPEN_ALREADY = re.compile(r"/dev/(?:stdin|stdout|stderr|fd/\d+)|/proc/(?:self|\d+)/fd/\d+")


class Stop(Exception):
    """The command cannot go on. Each fault is printed; the code is the exit code."""

    def __init__(self, faults: Sequence[str] | str, *, code: int = WRONG_REQUEST, help: Sequence[str] = ()) -> None:
        super().__init__(faults)
        self.faults = [faults] if isinstance(faults, str) else list(faults)
        self.code = code
        self.help = list(help)


@contextlib.contextmanager
def collecting(faults: Sequence[str]) -> Iterator[None]:
    """Put faults found before in front of those that stop what is done in it.

    Raises:
        Stop: there are faults of either kind.
    """
    try:
        yield
    except Stop as stop:
        code = WRONG_REQUEST if faults else stop.code
        raise Stop([*faults, *stop.faults], code=code, help=stop.help) from None


@contextlib.contextmanager
def collecting_into(faults: list[str]) -> Iterator[None]:
    """Put the faults that stop what is done in it to the others, and go on."""
    try:
        yield
    except Stop as stop:
        faults += stop.faults


class Left(Exception):
    """The person leaves the whole run, or its process is ended; with the exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class ReaderGone(Exception):
    """Nobody reads stdout any more: the run ends quietly."""


@dataclass(frozen=True)
class Console:
    """Where a command prints, the folder it was told to run in, and the settings that it runs under.

    `color` is the flag `--color`; a quiet one keeps results and errors only.
    """

    color: str = "auto"
    quiet: bool = False
    verbose: bool = False
    directory: Path | None = None
    config: Path | None = None
    use_config: bool = True
    no_input: bool = False

    @cached_property
    def configuration(self) -> "Configuration":
        """The settings: those of the file that was named, else of the nearest one; none if none are wanted.

        Raises:
            Stop: they cannot be used, or want another version of kbp.
        """
        from kbp import configuration as configurations
        from kbp import dialects

        if not self.use_config:
            return configurations.Configuration()
        path = self.config.absolute() if self.config else configurations.find(Path.cwd())
        if path is None:
            return configurations.Configuration()
        try:
            found = configurations.load(path, dialects.names())
        except configurations.Wrong as wrong:
            raise Stop(wrong.faults, help=["  `kbp config schema` says what settings there are"]) from None
        wanted = found.value("required-version")
        if wanted and not configurations.allows(wanted, __version__):
            raise Stop(f"{path}: required-version is {wanted}, and this is kbp {__version__}")
        return found

    @cached_property
    def own_configuration(self) -> "Configuration":
        """The settings that the user has for all projects.

        Raises:
            Stop: they cannot be used.
        """
        from kbp import configuration as configurations

        try:
            return configurations.load_own()
        except configurations.Wrong as wrong:
            raise Stop(wrong.faults) from None

    def own_value(self, name: str) -> Any:
        """The value of a setting that the user may have for all projects: those of this one go first.

        Raises:
            Stop: settings cannot be used.
        """
        return self.configuration.values.get(name, self.own_configuration.value(name))

    @property
    def keeps_history(self) -> bool:
        """Whether answers may be remembered: neither the person nor the project says no.

        Raises:
            Stop: settings cannot be used.
        """
        return bool(self.own_configuration.value("history") and self.configuration.value("history"))

    @property
    def use_color(self) -> bool:
        """Whether the result is printed in colours."""
        return settings.use_color(self.color, sys.stdout.isatty())

    @property
    def cells(self) -> int | None:
        """The width of the terminal that stdout is, None when it is none."""
        if not sys.stdout.isatty():
            return None
        import shutil

        return shutil.get_terminal_size().columns

    def read_stdin(self, limit: int) -> bytes:
        """The bytes of stdin, `limit` of them at most. Only ever called when a path or value is `-`.

        Raises:
            Stop: stdin is closed.
        """
        if sys.stdin is None:
            raise Stop("stdin is closed, and `-` would read it")
        try:
            return sys.stdin.buffer.read(limit)
        except OSError as error:
            raise Stop(f"stdin cannot be read: {said_of(error)}") from None

    def print(self, text: str) -> None:
        """Print a result that is safe on a terminal: laid out by kbp, or JSON."""
        with self._writing():
            sys.stdout.write(encodable(text))
            sys.stdout.flush()

    def flush(self) -> None:
        """See that what was printed arrives. Where nothing was, stdout may be closed."""
        with self._writing():
            sys.stdout.flush()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            drop(sys.stdout)
            raise ReaderGone from None
        except OSError as error:
            drop(sys.stdout)
            said = "it is closed" if isinstance(error, io.UnsupportedOperation) else said_of(error)
            raise Stop(f"stdout cannot be written: {said}") from None

    def print_text(self, text: str) -> None:
        """Print text of a prompt: as it is into a pipe, with its control characters spelt out on a terminal."""
        self.print(safe(text) if sys.stdout.isatty() else text)

    def page(self, text: str, *, no_pager: bool = False) -> None:
        """Print a result without colours, through the user's pager when it is longer than the terminal."""
        pager = settings.pager() if sys.stdout.isatty() and not no_pager else []
        if pager and text.count("\n") >= _terminal_lines():
            _through_pager(pager, safe(text))
        else:
            self.print_text(text)

    def print_markdown(self, text: str) -> None:
        """Print Markdown: laid out on a terminal, as it is into a pipe."""
        if not sys.stdout.isatty():
            self.print(text)
            return
        from rich.console import Console as Terminal
        from rich.markdown import Markdown

        terminal = Terminal(no_color=not self.use_color, highlight=False)
        with terminal.capture() as capture:
            terminal.print(Markdown(text))
        self.print(capture.get())

    def progress(self, items: Sequence[Item], doing: str) -> Iterable[Item]:
        """The items, with how far they are on a terminal when there are many."""
        if self.quiet or len(items) < _MANY or not sys.stderr.isatty():
            return items
        from rich.console import Console as Terminal
        from rich.progress import track

        terminal = Terminal(stderr=True, no_color=not settings.use_color(self.color, True))
        return track(items, doing, console=terminal, transient=True)

    def hint(self, text: str, *, is_whole: bool = False) -> None:
        """Tell a person something on stderr, unless they want it quiet; a very long text in part, unless `is_whole`."""
        if not self.quiet:
            self._tell(text, limit=len(text) * 10 if is_whole else _MAX_TOLD)

    def detail(self, text: str) -> None:
        """Tell more on stderr to those who asked for it."""
        if self.verbose and not self.quiet:
            self._tell(text)

    def explain(self, text: str) -> None:
        """Tell on stderr what was asked for, quiet or not."""
        self._tell(text)

    def warn(self, text: str) -> None:
        """Warn on stderr."""
        self._tell(text, self._mark("warning"))

    def warn_of(self, texts: Sequence[str]) -> None:
        """Warn of each, of very many of the first."""
        for text in texts[:_MAX_WARNINGS]:
            self.warn(safe_line(text))
        if len(texts) > _MAX_WARNINGS:
            self.warn(f"and {len(texts) - _MAX_WARNINGS} more like these")

    def fail(self, faults: Iterable[str], help: Iterable[str] = ()) -> None:
        """Print errors on stderr, and below them what helps."""
        for fault in faults:
            self._tell(fault, self._mark("error"))
        for line in help:
            self._tell(line)

    def _mark(self, word: str) -> str:
        color = settings.use_color(self.color, sys.stderr.isatty())
        return styled(f"{word}:", "error" if word == "error" else "warning", color) + " "

    def _tell(self, text: str, mark: str = "", *, limit: int = _MAX_TOLD) -> None:
        """Print a line for a person. Names, paths and arguments in it are as hostile as any text."""
        try:
            told = safe(text)
            sys.stderr.write(mark + (told if len(told) <= limit else f"{told[:limit]}…") + "\n")
            sys.stderr.flush()
        except OSError:
            drop(sys.stderr)


def _terminal_lines() -> int:
    import shutil

    return shutil.get_terminal_size().lines


def encodable(text: str) -> str:
    """The text with what stands for no character replaced: lone surrogates, but those that stand for bytes of names."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udc7f\udd00-\udfff]", "\ufffd", text)
    return text


def drop(stream: TextIO) -> None:
    """Let what is still buffered, and whatever follows, go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _through_pager(pager: list[str], text: str) -> None:
    import subprocess

    try:
        subprocess.run(pager, input=text, text=True, encoding="utf-8", errors="surrogateescape", check=False)  # noqa: S603 (the user's own command)
    except OSError:
        sys.stdout.write(text)


def write_whole(path: Path, data: bytes, like: Path | None = None) -> None:
    """Write a file whole or not at all, keeping the mode and owner of one that is there.

    A new one has the mode of the file `like` it, if there is one. A link is followed.
    What is open already (a pipe, a device, `/dev/fd/3`) is written to.

    Raises:
        OSError: it cannot be written.
    """
    if path.exists() and (not path.is_file() or _OPEN_ALREADY.fullmatch(str(path))):
        with path.open("ab") as stream:
            stream.write(data)
        return
    path = path.resolve() if path.is_symlink() else path
    before = path.stat() if path.exists() else None
    if before and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    import tempfile

    handle, name = tempfile.mkstemp(prefix=f".{path.name[:50]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        if before:
            with contextlib.suppress(OSError):  # only root can give a file away
                os.chown(name, before.st_uid, before.st_gid)
        mode = (
            before.st_mode if before else like.stat().st_mode & 0o666 if like and like.is_file() else 0o666 & ~_umask()
        )
        Path(name).chmod(mode & 0o7777)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def put(text: str, output: str | None, *, is_text: bool, console: Console) -> None:
    """Print a result, or write it to the file that `-o` names, whole or not at all.

    Raises:
        Stop: it cannot be written.
    """
    if output is None or output == "-":
        if is_text:
            console.print_text(text)
        else:
            console.print(text)
        return
    if not output or output.endswith("/"):
        raise Stop(f"-o '{output}': this is no name of a file")
    try:
        write_whole(Path(output), encodable(text).encode("utf-8", "surrogateescape"))
    except FileNotFoundError:
        raise Stop(f"-o {output}: the folder it should go to is not there") from None
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a link in a loop, up to Python 3.12
        raise Stop(f"-o {output}: {said_of(error)}") from None
