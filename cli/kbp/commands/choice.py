"""The one prompt that a person names on the command line."""

import os
import shlex

from kbp.commands.bundles import spelt
from kbp.commands.console import TO_REPORT, Console, Stop
from kbp.commands.sources import STDIN, Sources, tell_files
from kbp.display import counted, safe_line
from kbp.files import PromptFile
from kbp.library import Ambiguous, NotFound
from kbp.linter import run
from kbp.model import Template
from kbp.output.diagnostics import full


def choose(name: str, sources: Sources, console: Console) -> tuple[PromptFile, Template]:
    """The prompt file called `name` and its template: a path, an exposed name, or the stem of only one.

    Raises:
        Stop: none or several are called so, or the file does not become a prompt.
    """
    file = find_file(name, sources, console)
    if not file.is_prompt:
        raise Stop(
            f"{file.path} is no prompt file: {file.detection.why}",
            help=["  name its dialect to read it all the same: --dialect kb|claude|copilot"],
        )
    if file.template is None:
        raise does_not_become(file)
    tell_files([file], console)
    return file, file.template


def does_not_become(file: PromptFile) -> Stop:
    """The error that a file does not become a prompt, with what is wrong with it."""
    report = full(run.lint([file])).rstrip("\n").split("\n")
    return Stop(f"{file.path} does not become a prompt", code=TO_REPORT, help=report)


def find_file(name: str, sources: Sources, console: Console) -> PromptFile:
    """The file called `name`, a prompt or not: a path, an exposed name, or the stem of only one.

    Raises:
        Stop: none or several are called so.
    """
    return _by_path(name, sources, console) if is_path(name) else _by_name(name, sources, console)


def is_path(name: str) -> bool:
    """Whether a name on the command line is a path: it has a slash, or ends in `.md`."""
    return name == STDIN or "/" in name or os.sep in name or name.endswith(".md")


def _by_path(name: str, sources: Sources, console: Console) -> PromptFile:
    if name == STDIN:
        return sources.from_stdin(console)
    if os.path.isdir(name):
        raise Stop(f"'{name}' is a folder: name one of its files, or look in it with -p {name}")
    try:
        search = sources.find_named([name], console.configuration, skills=True)
        return sources.load(search, console.configuration, skills=True).files[0]
    except Stop as stop:
        near = sources.everywhere(console.configuration).nearest(name.strip("/").removesuffix(".md"))
        help = [f"  did you mean the prompt {near[0]}?"] if near else []
        raise Stop(stop.faults, help=help) from None


def _by_name(name: str, sources: Sources, console: Console) -> PromptFile:
    found = sources.find(console)
    try:
        return found.find(name)
    except Ambiguous as error:
        raise Stop(str(error), help=[*(f"  {path}" for path in error.candidates), "  name one by its path"]) from None
    except NotFound as error:
        near = [f"  did you mean: {', '.join(error.candidates)}?"] if error.candidates else []
        verb = "was" if len(found.served) == 1 else "were"
        shows = shlex.join(["kbp", "list", *spelt(sources)])
        help = [*near, f"  {counted(len(found.served), 'prompt')} {verb} found; `{safe_line(shows)}` shows them"]
        raise Stop(str(error), help=help) from None
