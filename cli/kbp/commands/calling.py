"""Calling a prompt of a live server."""

import contextlib
import difflib
import functools
import json
import shlex
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbp import history
from kbp.ask.terminal import may_ask
from kbp.commands.asking import Asker, Past, tell_command
from kbp.commands.bundles import spelt
from kbp.commands.console import Console, Stop
from kbp.commands.given import Given, missing_arguments, values_for
from kbp.commands.live import Live, without_server
from kbp.commands.outcome import printed
from kbp.commands.way import Way
from kbp.display import counted, safe_line, said_of
from kbp.live.base import BadAnswer, LiveError, NoPrompts, Refusal
from kbp.live.session import MAX_ROUNDS
from kbp.model import Argument, Prompt
from kbp.output.jsontext import escaped
from kbp.values import Values

if TYPE_CHECKING:
    from kbp.ask.questions import Answers
    from kbp.live.source import LiveSource

_MAX_OFFERS, _MAX_OFFER = 100, 1_000
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
        return Answers(texts.given, _read_answers(self.answers, console, faults), is_there, console.color)


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


@dataclass
class Call:
    """One prompt of a server, called as the options say.

    `faults` are what is wrong already; `asks_optional` says whether a person is asked for all arguments; `lock` is held
    by whoever asks the server something.
    """

    console: Console
    live: Live
    calling: Calling
    given: Given
    way: Way
    past: Past
    asks_optional: bool = False
    faults: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, name: str, words: Sequence[str]) -> None:
        """Call a prompt and print what it becomes, before the server is ended.

        Raises:
            Stop: something is wrong with the request (2), or the server fails (3).
        """
        with self.opened(safe_line(name)) as source:
            asker = self.asker(source, name)
            values = self.values(source, name, words, asker)
            if asker.has_asked:
                self.console.hint(self.line(name, values, self.way.spelt(self.console)), is_whole=True)
            self.print(source, name, values)

    @contextlib.contextmanager
    def opened(self, doing: str) -> "Iterator[LiveSource]":
        """The prompts of the server, while it is connected.

        Raises:
            Stop: something is wrong with the request (2), or the server fails (3).
        """
        answers = self.answers
        if self.faults:
            raise Stop(self.faults)
        with self.live.opened(self.console, answers, doing) as source:
            yield source

    @cached_property
    def answers(self) -> "Answers | None":
        """Who answers questions of the server. What is wrong with that is a fault of the call."""
        return self.calling.answerer(self.console, self.faults)

    def asker(self, source: "LiveSource", name: str) -> Asker:
        """Who asks the person for arguments of a prompt."""
        prompt = history.of_server(source.key, name)
        defaults = self.given.defaults
        return Asker(self.console, self.past, prompt, self.asks_optional, takes_defaults=defaults, takes_empty=True)

    def values(self, source: "LiveSource", name: str, words: Sequence[str], asker: Asker) -> Values:
        """The values for a prompt, a person asked for what is missing.

        Raises:
            Stop: something is wrong with them.
        """
        is_any = self.calling.allow_unknown
        arguments = _known_arguments(source, name) if is_any else listed(source, name, self.live).arguments
        values = values_for(arguments, self.console, self.faults, None, allow_unknown=is_any)
        self.given.values(words, values)
        if not is_any:
            # The server is to ask for these itself.
            answered = {*self.answers.texts, *self.answers.values} if self.answers else set()
            asked = [each for each in arguments if each.name not in answered]
            asker.complete(asked, values, functools.partial(self._offers, source, name))
            missing = tuple(each for each in asked if each.required and each.name not in values.given)
            if any(each.name not in values.attempted for each in missing):
                raise missing_arguments(missing, values, [name, *self.where(), *self.way.spelt(self.console)])
        if self.faults:
            raise Stop(self.faults)
        return values

    def line(self, name: str, values: Values, way: Sequence[str]) -> str:
        """The line that calls a prompt without questions; what has to be known of it is told."""
        if self.live.has_secret:
            self.console.hint("hint: the command below leaves out the secrets of the address")
        words = ["--", name] if name.startswith("-") else [name]
        options = [*values.accepted(), *self.where(hides=False), *way]
        return tell_command(words, options, values.arguments, self.console)

    def _offers(self, source: "LiveSource", prompt: str, name: str, typed: str, others: Mapping[str, str]) -> list[str]:
        """What the server offers for an argument: nothing where it fails, no more than the protocol allows."""
        try:
            with self.lock:
                found = source.complete(prompt, name, typed, others)
        except (LiveError, OSError):
            return []
        return [value for value in found[:_MAX_OFFERS] if len(value) <= _MAX_OFFER]

    def where(self, *, hides: bool = True) -> list[str]:
        """The options that say where the prompt is and how it is called; `hides` leaves out answers, maybe secrets."""
        hidden = [f"{text.partition('=')[0]}=…" for text in self.calling.answer or []] or None
        return [*self.live.spelt(), *spelt(replace(self.calling, answer=hidden) if hides else self.calling)]

    def print(self, source: "LiveSource", name: str, values: Values) -> None:
        """Call a prompt and print what it becomes.

        Raises:
            Stop: the server fails.
        """
        is_listed = not self.calling.allow_unknown
        with self.lock:  # what is offered may still be under way
            answer = source.result(name, values.given, self.calling.max_rounds, is_listed=is_listed)
        unused = {*self.answers.texts, *self.answers.values} - self.answers.used if self.answers else ()
        for each in sorted(unused):
            self.console.hint(f"hint: nothing asked for the answer {safe_line(each)}")
        if self.calling.result:
            text = escaped(answer.text) if self.way.is_terminal(self.console) else answer.text
            self.way.deliver(text + "\n", self.console, is_text=False)
        else:
            text = printed(self.console, name, answer, self.way.format, self.calling.save_media)
            self.way.deliver(text, self.console, is_text=self.way.is_text)


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
