"""Calling a prompt of a live server."""

import difflib
import functools
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbp.ask.terminal import may_ask
from kbp.commands.asking import ask_missing
from kbp.commands.bundles import spelt
from kbp.commands.console import Console, Stop, put
from kbp.commands.given import Given, missing_arguments, values_for
from kbp.commands.live import Live, without_server
from kbp.commands.outcome import Way, printed
from kbp.display import counted, safe_line, said_of
from kbp.live.base import BadAnswer, NoPrompts, Refusal
from kbp.live.session import MAX_ROUNDS
from kbp.model import Argument, Prompt
from kbp.output.jsontext import escaped
from kbp.values import Values

if TYPE_CHECKING:
    from kbp.ask.questions import Answers
    from kbp.live.source import LiveSource

_MAX_ANSWERS = 16 * 1024 * 1024


@dataclass(frozen=True)
class Calling:
    """How a prompt of a server is called, and what becomes of its result."""

    answer: Annotated[
        list[str] | None,
        typer.Option(
            "--answer",
            metavar="NAME=VALUE",
            help="An answer to a question that the server asks back; @FILE is a file's text. Repeatable.",
        ),
    ] = None
    answers: Annotated[str | None, typer.Option("--answers", metavar="FILE", help="A JSON map of such answers.")] = None
    max_rounds: Annotated[
        int, typer.Option("--max-rounds", metavar="N", min=0, help="How many times the server may ask back.")
    ] = MAX_ROUNDS
    allow_unknown: Annotated[
        bool,
        typer.Option(
            "--allow-unknown",
            help="Call it whatever the server lists: what is unknown is sent, what is missing is not told.",
        ),
    ] = False
    save_media: Annotated[
        Path | None, typer.Option("--save-media", metavar="DIR", help="Write pictures, sounds and files to DIR.")
    ] = None
    result: Annotated[bool, typer.Option("--result", help="Print the result of the server exactly as it came.")] = False

    def faults(self, *, is_live: bool, format: str) -> list[str]:
        """What is wrong with these options."""
        if not is_live:
            return without_server(self)
        faults: list[str] = []
        if self.result and format != "text":
            faults.append("--result and --format: give one of them")
        if self.result and self.save_media is not None:
            faults.append("--result and --save-media: give one of them")
        if self.save_media is not None and self.save_media.exists() and not self.save_media.is_dir():
            faults.append(f"--save-media {self.save_media}: this is no folder")
        return faults

    def answerer(self, console: Console, faults: list[str]) -> "Answers | None":
        """Who answers questions of the server: these options, or a person; None when nobody does."""
        is_there = may_ask(no_input=console.no_input)
        if not is_there and not self.answer and not self.answers:
            return None
        from kbp.ask.questions import Answers

        texts = Values((), None, console.read_stdin, faults, allow_unknown=True)
        texts.assign(self.answer or [], "--answer")
        return Answers(texts.given, _read_answers(self.answers, console, faults), is_there)


def _read_answers(path: str | None, console: Console, faults: list[str]) -> Mapping[str, Any]:
    """The answers in a file of JSON, or on stdin for `-`."""
    if path is None:
        return {}
    try:
        if path == "-":
            content = json.loads(console.read_stdin(_MAX_ANSWERS))
        else:
            with Path(path).expanduser().open("rb") as file:
                content = json.loads(file.read(_MAX_ANSWERS))
    except (OSError, RuntimeError) as error:  # RuntimeError: no such user behind ~
        faults.append(f"--answers {path}: {said_of(error)}")
        return {}
    except (ValueError, RecursionError) as error:
        faults.append(f"--answers {path}: not JSON: {error}")
        return {}
    if not isinstance(content, dict):
        faults.append(f"--answers {path}: not a map of names and values")
        return {}
    return content


def call(
    console: Console,
    live: Live,
    calling: Calling,
    given: Given,
    name: str,
    words: Sequence[str],
    way: Way,
    faults: list[str],
) -> None:
    """Call a prompt of a server and print what it becomes, before the server is ended.

    Raises:
        Stop: something is wrong with the request (2), or the server fails (3).
    """
    answers = calling.answerer(console, faults)
    if faults:
        raise Stop(faults)
    with live.opened(console, answers, safe_line(name)) as source:
        arguments = _arguments(source, name, live) if not calling.allow_unknown else _known_arguments(source, name)
        values = values_for(arguments, console, faults, None, allow_unknown=calling.allow_unknown)
        given.values(words, values)
        answered = {*answers.texts, *answers.values} if answers else set()  # the server is to ask for these itself
        missing = [each for each in arguments if each.required and each.name not in {*values.given, *answered}]
        if not calling.allow_unknown and any(each.name not in values.attempted for each in missing):
            offers = functools.partial(source.complete, name)
            asked = None if faults else ask_missing(missing, values.given, console, offers)
            if asked is None:
                hidden = [f"{text.partition('=')[0]}=…" for text in calling.answer or []] or None
                where = [*live.spelt(), *spelt(replace(calling, answer=hidden)), *way.spelt(console)]
                raise missing_arguments(tuple(missing), values, [name, *where])
            values.given.update(asked)
        if faults:
            raise Stop(faults)
        answer = source.result(name, values.given, calling.max_rounds, is_listed=not calling.allow_unknown)
        unused = {*answers.texts, *answers.values} - answers.used if answers else ()
        for each in sorted(unused):
            console.hint(f"hint: nothing asked for the answer {safe_line(each)}")
        if calling.result:
            text = escaped(answer.text) if way.is_terminal(console) else answer.text
            put(text + "\n", way.output, is_text=False, console=console)
        else:
            text = printed(console, name, answer, way.format, calling.save_media)
            put(text, way.output, is_text=way.is_text, console=console)


def _arguments(source: "LiveSource", name: str, live: Live) -> tuple[Argument, ...]:
    return listed(source, name, live).arguments


def _known_arguments(source: "LiveSource", name: str) -> tuple[Argument, ...]:
    """The arguments of a prompt as far as the server lists them: it may list nothing, or fail to."""
    try:
        prompt = source.find(name)
    except (NoPrompts, BadAnswer, Refusal):
        return ()
    return prompt.arguments if prompt is not None else ()


def listed(source: "LiveSource", name: str, live: Live) -> Prompt:
    """The prompt of that name as the server lists it.

    Raises:
        Stop: it lists none.
    """
    prompt = source.find(name)
    if prompt is not None:
        return prompt
    names = [each.name for each in source.prompts()]
    near = difflib.get_close_matches(name, names, n=3)
    near += [each for each in names if each.lower().startswith(name.lower()) and each not in near][: 3 - len(near)]
    help = [f"  did you mean: {safe_line(', '.join(near))}?"] if near else []
    shows = safe_line(shlex.join(["kbp", "list", *live.spelt()]))
    help.append(f"  {counted(len(names), 'prompt')} found; `{shows}` shows them")
    raise Stop(f"the server has no prompt called '{name}'", help=help)
