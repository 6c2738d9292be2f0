"""kbp: prompt files in four dialects, read, rendered, linted and converted; and the prompts of live MCP servers.

The Python side of the command line, in five functions:

>>> import kbp
>>> file = kbp.load("prompts/debug.md")  # doctest: +SKIP
>>> file.prompt.arguments  # doctest: +SKIP
>>> kbp.render(file, {"app": "loki"})[0].content["text"]  # doctest: +SKIP
>>> kbp.lint("prompts").diagnostics  # doctest: +SKIP
>>> kbp.convert(file, "claude").text  # doctest: +SKIP
>>> with kbp.connect("http://127.0.0.1:8000/mcp") as server:  # doctest: +SKIP
...     server.get_prompt("debug", {"app": "loki"})

Importing kbp imports nothing else: each function reads what it needs when it is called.
"""

from __future__ import annotations

from os import PathLike

TYPE_CHECKING = False  # as type checkers know it: `typing` takes half the time of a Tab press

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from kbp.converter.base import Converted, Loss
    from kbp.diagnostics import Diagnostic, Report, Severity
    from kbp.dialects import Detection
    from kbp.dialects.base import Dialect
    from kbp.document import Document
    from kbp.files import PromptFile
    from kbp.library import NotFound
    from kbp.live.base import Answer, BadAnswer, LiveError, NoPrompts, Refusal, TimedOut, Unauthorized, Unreachable
    from kbp.live.client import Client
    from kbp.live.questions import Question, Reply
    from kbp.live.source import Endless, Page
    from kbp.model import Argument, Message, Placeholder, Prompt, Template
    from kbp.renderer import MissingArguments, Refused, TooLarge, UnknownArguments
    from kbp.text import Position, Problem, Span

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Argument",
    "BadAnswer",
    "Client",
    "Converted",
    "Detection",
    "Diagnostic",
    "Dialect",
    "Document",
    "Endless",
    "LiveError",
    "Loss",
    "Message",
    "MissingArguments",
    "NoPrompts",
    "NotFound",
    "Page",
    "Placeholder",
    "Position",
    "Problem",
    "Prompt",
    "PromptFile",
    "Question",
    "Refusal",
    "Refused",
    "Reply",
    "Report",
    "Severity",
    "Span",
    "Template",
    "TimedOut",
    "TooLarge",
    "Unauthorized",
    "UnknownArguments",
    "Unreachable",
    "__version__",
    "connect",
    "convert",
    "lint",
    "load",
    "render",
]

_HOMES = {
    "kbp.converter.base": ("Converted", "Loss"),
    "kbp.diagnostics": ("Diagnostic", "Report", "Severity"),
    "kbp.dialects": ("Detection",),
    "kbp.dialects.base": ("Dialect",),
    "kbp.document": ("Document",),
    "kbp.files": ("PromptFile",),
    "kbp.library": ("NotFound",),
    "kbp.live.base": (
        "Answer",
        "BadAnswer",
        "LiveError",
        "NoPrompts",
        "Refusal",
        "TimedOut",
        "Unauthorized",
        "Unreachable",
    ),
    "kbp.live.client": ("Client",),
    "kbp.live.questions": ("Question", "Reply"),
    "kbp.live.source": ("Endless", "Page"),
    "kbp.model": ("Argument", "Message", "Placeholder", "Prompt", "Template"),
    "kbp.renderer": ("MissingArguments", "Refused", "TooLarge", "UnknownArguments"),
    "kbp.text": ("Position", "Problem", "Span"),
}

if not TYPE_CHECKING:  # a checker would take it to allow any name

    def __getattr__(name: str) -> Any:
        """The public types, each imported when it is first asked for."""
        from importlib import import_module

        for home, names in _HOMES.items():
            if name in names:
                return getattr(import_module(home), name)
        raise AttributeError(f"module 'kbp' has no attribute {name!r}")


def load(
    path: str | PathLike[str],
    *,
    root: str | PathLike[str] | None = None,
    dialect: str = "auto",
    library: str | None = None,
) -> PromptFile:
    """The prompt file at `path`. What is in it never raises: look at `is_prompt`, `is_refused` and `problems`.

    Args:
        path: the file.
        root: the folder that its path is relative to when the dialect is found; by default the nearest one above with
            `.claude-plugin`, `.git`, `kbp.toml` or a `[tool.kbp]` table, else the parent of the file's folder.
        dialect: `kb` (or `mcp-kb`), `claude`, `copilot`; `auto` finds it.
        library: the library it is served under: it goes in front of the name and fills `${CLAUDE_PLUGIN_ROOT}`.

    Raises:
        OSError: there is no such file, or it is a folder.
        ValueError: there is no such dialect.
    """
    import errno
    import os
    import stat
    from pathlib import Path

    from kbp import files
    from kbp.search import Surroundings

    given = _given(dialect)
    if stat.S_ISDIR(Path(path).stat().st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    around = Surroundings(Path(root).absolute() if root else None)
    return files.load(around.place_of(Path(path).absolute()), files.Manner(given, library=library, skills=True))


def render(
    file: PromptFile | str | PathLike[str], arguments: Mapping[str, str | None] | None = None
) -> tuple[Message, ...]:
    """The messages of a prompt for these values. An empty or None value counts as not given.

    Args:
        file: a loaded prompt file, or the path of one.
        arguments: a text for each argument name.

    Raises:
        Refused: the file is no prompt, or does not become one.
        MissingArguments: required arguments have no value.
        UnknownArguments: the prompt has no arguments of these names.
        TooLarge: the result would be no prompt.
        TypeError: a value is not text.
    """
    from kbp import files, renderer

    loaded = file if isinstance(file, files.PromptFile) else load(file)
    if loaded.template is None:
        raise renderer.Refused(loaded.path, loaded.problems)
    values = dict(arguments or {})
    for name, value in values.items():
        if not isinstance(value, str | None):
            raise TypeError(f"the value of {name} is {type(value).__name__}, not text")
    unknown = values.keys() - {argument.name for argument in loaded.template.arguments}
    if unknown:
        raise renderer.UnknownArguments(tuple(sorted(unknown)))
    return renderer.render(loaded.template, values, loaded.library, loaded.folder)


def lint(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    root: str | PathLike[str] | None = None,
    dialect: str = "auto",
    library: str | None = None,
) -> Report:
    """What the rules find in files, folders and globs.

    Args:
        paths: one path or several.
        root: as for `load`.
        dialect: as for `load`.
        library: as for `load`; names are then looked at within it.

    Raises:
        NotFound: a path names nothing; the message names all of them.
        ValueError: there is no such dialect.
    """
    from pathlib import Path

    from kbp.files import Manner
    from kbp.library import NotFound, load_all
    from kbp.linter import run
    from kbp.search import Search, find_paths

    given = _given(dialect)
    search = Search(skills=True)
    named = [paths] if isinstance(paths, str | PathLike) else list(paths)
    faults = find_paths([str(Path(path)) for path in named], Path(root).absolute() if root else None, search)
    if faults:
        raise NotFound("; ".join(faults))
    manner = Manner(given, library=library, skills=True)
    return run.lint(load_all(search, lambda path: manner).files, skipped=search.skipped)


def convert(
    file: PromptFile | str | PathLike[str], to: str, *, keep: bool = False, inline_defaults: bool = False
) -> Converted:
    """A prompt file in another dialect: its text, what it lost, and why it cannot be written where it cannot.

    Args:
        file: a loaded prompt file, or the path of one.
        to: `kb`, `claude`, `copilot` or `skill`.
        keep: whether a comment in the frontmatter keeps what the dialect cannot say, so that converting back gives the
            source to the byte.
        inline_defaults: whether defaults are written for a person to read where the dialect has none.

    Raises:
        OSError: there is no such file, or it is a folder.
        ValueError: there is no such dialect.
    """
    from kbp import files
    from kbp.converter.run import convert as convert_file

    target = _given(to)
    if target is None:
        raise ValueError("a file is converted to a dialect, and `auto` is none")
    return convert_file(
        file if isinstance(file, files.PromptFile) else load(file), target, keep=keep, inline_defaults=inline_defaults
    )


def connect(
    server: str | Sequence[str],
    *,
    headers: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | PathLike[str] | None = None,
    sse: bool = False,
    revision: str = "auto",
    timeout: float | None = 30.0,
    handler: Callable[[Question], Reply] | None = None,
) -> Client:
    """A client of an MCP server. It connects when it is first used.

    Args:
        server: the URL of the server, or the command that starts it: the program and its arguments.
        headers: what goes with each HTTP request.
        env: what a started server gets of the environment besides HOME, LOGNAME, PATH, SHELL, TERM and USER.
        cwd: the folder that it runs in.
        sse: whether the URL has the older transport of server-sent events.
        revision: `auto`; `legacy`; or one of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28.
        timeout: how many seconds an answer may take, None: any time.
        handler: answers questions that the server asks back; without one it is told that nobody does.

    Raises:
        ValueError: there is no such revision, or `server` is neither.
    """
    import os

    from kbp.live.base import REVISIONS
    from kbp.live.client import Client
    from kbp.live.connection import Manner
    from kbp.live.server import Server

    if revision not in ("auto", "legacy", *REVISIONS):
        raise ValueError(f"there is no revision {revision!r}: it is auto, legacy, or one of {', '.join(REVISIONS)}")
    if timeout is not None and not timeout > 0:
        raise ValueError(f"a time-out is a number of seconds above 0, and not {timeout!r}")
    if isinstance(server, str) and (env or cwd is not None):
        raise ValueError("env and cwd are for a command, and this is a URL")
    if not isinstance(server, str) and (headers or sse):
        raise ValueError("headers and sse are for a URL, and this is a command")
    manner = Manner(revision, timeout, handler)
    if not isinstance(server, str):
        if not server:
            raise ValueError("a command has a program at least")
        return Client(
            Server(server[0], tuple(server), env=dict(env or {}), cwd=os.fspath(cwd) if cwd is not None else None),
            manner,
        )
    if not server.startswith(("http://", "https://")):
        raise ValueError(f"{server!r} is no URL of the web; a command is a list: the program and its arguments")
    return Client(Server(server, url=server, headers=dict(headers or {}), is_sse=sse), manner)


def _given(dialect: str) -> Dialect | None:
    from kbp import dialects

    if dialect not in dialects.names():
        raise ValueError(f"there is no dialect {dialect!r}: it is one of {', '.join(dialects.names())}")
    return dialects.dialect_called(dialect)
