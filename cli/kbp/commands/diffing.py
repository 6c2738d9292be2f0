"""Prompts compared: files and prompts of live servers, one with another, or all of some files with a server's."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kbp.commands.calling import listed
from kbp.commands.choice import choose
from kbp.commands.console import Console
from kbp.commands.live import Live, live_name
from kbp.commands.sources import STDIN, Sources, nothing_found, tell_search
from kbp.comparison import Difference, Side, differences, side_of
from kbp.display import safe_line
from kbp.live.base import BadAnswer, Refusal
from kbp.live.source import LiveSource, messages_of
from kbp.model import Prompt
from kbp.output.jsontext import dump


def side_named(
    name: str, sources: Sources, live: Live, console: Console, stack: contextlib.ExitStack
) -> tuple[Side, str]:
    """The prompt of that name, and what it is called for a person. `server:name` is one of a live server.

    Raises:
        Stop: there is none, or the server fails.
    """
    there, bare = live_name(live, name, console)
    if there.is_given:
        source = stack.enter_context(there.opened(console, doing=safe_line(bare)))
        return _live_side(listed(source, bare, there), source), name
    file, _ = choose(name, sources, console)
    return side_of(file), file.path


def _live_side(prompt: Prompt, source: LiveSource) -> Side:
    def text(values: Mapping[str, str]) -> str:
        messages, _ = messages_of(source.result(prompt.name, values).result)
        if len(messages) == 1 and messages[0].role == "user" and messages[0].content.get("type") == "text":
            return str(messages[0].content.get("text"))
        return "".join(f"[{each.role}]\n{_shown(each.content)}\n" for each in messages)

    return Side(prompt.title, prompt.description, prompt.arguments, text, knows_defaults=False)


def _shown(content: Mapping[str, object]) -> str:
    return str(content["text"]) if content.get("type") == "text" else dump(dict(content), indent=None).rstrip("\n")


@dataclass(frozen=True, slots=True)
class Finding:
    """One prompt that is `missing` from a server, `extra` there, or `changed`; with its file, if there is one."""

    name: str
    state: str
    path: str | None = None
    differences: tuple[Difference, ...] = ()


def against_server(paths: Sequence[str], sources: Sources, live: Live, console: Console) -> tuple[list[Finding], int]:
    """What differs between the prompts of files and those of a server, and how many were compared.

    Raises:
        Stop: there are no prompts, or the server fails.
    """
    if paths:
        stdin = sources.from_stdin(console) if STDIN in paths else None
        search = sources.find_named(paths, console.configuration, skills=sources.skills)
        found = sources.load_with(stdin, search, console.configuration, skills=sources.skills)
        tell_search(search, console)
    else:
        found = sources.find(console)
    files = {file.name: file for file in found.served}
    if not files:
        raise nothing_found(found, "another PATH")
    findings: list[Finding] = []
    with live.opened(console, doing="to list its prompts") as source:
        theirs = {prompt.name: prompt for prompt in source.prompts()}
        for name, file in files.items():
            prompt = theirs.get(name)
            if prompt is None:
                findings.append(Finding(name, "missing", file.path))
                continue
            apart: list[Difference] = []
            try:
                apart.extend(differences(side_of(file), _live_side(prompt, source)))
            except Refusal as refusal:
                apart.append(Difference(f"message: the server refuses: {refusal} ({refusal.code})", None, None))
            except BadAnswer as bad:
                apart.append(Difference(f"message: {bad}", None, None))
            if apart:
                findings.append(Finding(name, "changed", file.path, tuple(apart)))
    if not paths or any(not os.path.isfile(path) for path in paths):  # single files are not all that there is
        findings += [Finding(name, "extra") for name in theirs if name not in files]
    return findings, len(files)
