"""Asking a person for the arguments of a prompt, and what of that is kept."""

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbp import history
from kbp.ask.terminal import may_ask, terminal
from kbp.commands.console import Console
from kbp.display import quoted, safe_line
from kbp.model import Argument
from kbp.values import Answer, Values, answer_of

if TYPE_CHECKING:
    from kbp.ask.arguments import Earlier, Offers


@dataclass(frozen=True)
class Past:
    """What was answered before, and whether it is kept."""

    last: Annotated[bool, typer.Option("--last", help="Take what was answered for this prompt the last time.")] = False
    no_history: Annotated[bool, typer.Option("--no-history", help="Remember nothing of what is answered.")] = False

    def keeps(self, console: Console) -> bool:
        """Whether answers are remembered."""
        return not self.no_history and console.keeps_history


@dataclass
class Asker:
    """Who asks a person for the arguments of one prompt.

    Args:
        console: says whether questions are wanted.
        past: what becomes of earlier answers, and of these.
        prompt: the identity of the prompt; None: nothing is remembered of it.
        asks_optional: whether arguments that can be left out are asked for too.
        takes_defaults: whether those that have a default are not.
        takes_empty: whether an empty value is one, as for a server.
        screen: opens the terminal.
        can_go_back: whether the first question may be left for what was before it.

    `has_asked` says whether the person was asked.
    """

    console: Console
    past: Past
    prompt: str | None = None
    asks_optional: bool = False
    takes_defaults: bool = False
    takes_empty: bool = False
    screen: Callable[[], AbstractContextManager[Mapping[str, Any]]] | None = None
    can_go_back: bool = False
    has_asked: bool = False
    _answered: dict[str, Answer] = field(default_factory=dict)

    def complete(self, arguments: Sequence[Argument], values: Values, offers: "Offers | None" = None) -> None:
        """Complete the values with what was answered the last time, if that is wanted, and with what a person answers.

        Where nobody can be asked, or something is wrong already, nobody is.

        Args:
            arguments: those of the prompt that a person may be asked for.
            values: what is there already.
            offers: gives the values on offer for what is typed.

        Raises:
            Back: the person wants what was before the first question.
            KeyboardInterrupt: they leave.
        """
        if self.past.last:
            self._take_last(arguments, values)
        wanted = [each for each in arguments if self._wants(each, values)]
        if not wanted or values.faults or not may_ask(no_input=self.console.no_input):
            return
        keeps = self.prompt is not None and self.past.keeps(self.console)
        from kbp.ask.arguments import Help, ask_arguments

        earlier: Earlier = functools.partial(history.earlier, self.prompt) if self.prompt else lambda name: []
        with self.screen() if self.screen else terminal(self.console.color) as io:
            help = Help(offers, earlier, self.can_go_back)
            self._give(ask_arguments(wanted, values.given, io, help), values)
        self.has_asked = True
        if self.prompt and keeps:
            secrets = {each.name for each in arguments if history.is_secret(each.name, each.title or "")}
            typed = {name: each.typed for name, each in self._answered.items() if name not in secrets}
            history.remember(self.prompt, typed)

    def _wants(self, argument: Argument, values: Values) -> bool:
        if argument.name in self._answered or (argument.name in values.attempted and argument.name not in values.given):
            return False
        if values.given.get(argument.name) or (self.takes_empty and argument.name in values.given):
            return False
        return argument.required or (self.asks_optional and not (self.takes_defaults and argument.default is not None))

    def _take_last(self, arguments: Sequence[Argument], values: Values) -> None:
        times = history.answered(self.prompt) if self.prompt else []
        if not times:
            self.console.hint("hint: no answers are remembered for this prompt")
            return
        missing = {each.name for each in arguments if not values.given.get(each.name)}
        answers: dict[str, Answer] = {}
        for name, text in times[0].items():
            try:
                if name in missing:
                    answers[name] = answer_of(text)
            except ValueError as error:  # a file that is gone
                values.faults.append(f"--last: {name}: {safe_line(str(error))}")
        self._give(answers, values)

    def _give(self, answers: dict[str, Answer], values: Values) -> None:
        self._answered |= answers
        for name, answer in answers.items():
            values.answer(name, answer)


def tell_command(words: Sequence[str], options: Sequence[str], arguments: Sequence[Argument], console: Console) -> str:
    """The line of a shell that renders a prompt without questions. What has to be known of it is told.

    A secret is left to a variable: it does not belong in a script, or in a log.

    Args:
        words: what names the prompt; behind the options where it starts with a dash.
        options: everything else.
        arguments: those of the prompt.
        console: where it is told.
    """
    secrets = {each.name for each in arguments if history.is_secret(each.name, each.title or "")}
    variables: list[str] = []
    tokens: list[str] = []
    for option, token in zip(["", *options], options, strict=False):
        name, equals, value = token.partition("=")
        if option == "--header" and token.endswith(": …"):
            variables.append(_variable(token[:-3]))
            tokens.append(quoted(f"{token[:-3]}: env:{variables[-1]}"))
        elif not equals or option not in ("-a", "-A", "--answer"):
            tokens.append(quoted(token))
        elif name in secrets or history.is_secret(name):
            variables.append(_variable(name))
            tokens[-1] = "--answer" if option == "--answer" else "-A"  # whatever the variable holds
            tokens.append(f'{quoted(name)}="${variables[-1]}"')
        else:
            tokens.append(f"{quoted(name)}={quoted(value)}")
    if variables:
        console.hint(f"hint: the command below takes {', '.join(dict.fromkeys(variables))} from the environment")
    odd = [each.name for each in arguments if "=" in each.name or not each.name]
    if odd:
        console.hint(f"hint: {safe_line(', '.join(map(repr, odd)))} can only be given by --args")
    named = list(map(quoted, words))
    return " ".join(["kbp", "render", *([*tokens, *named] if named[0] == "--" else [*named, *tokens])])


def _variable(name: str) -> str:
    word = "".join(each if each.isascii() and each.isalnum() else "_" for each in name).upper()
    return f"_{word}" if word[:1].isdigit() else word
