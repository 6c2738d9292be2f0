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
from kbp.display import safe_line
from kbp.model import Argument
from kbp.values import Values, answer_of, spelt_answer

if TYPE_CHECKING:
    from kbp.ask.arguments import Earlier, Offers


@dataclass(frozen=True)
class Past:
    """What was answered before, and whether it is kept."""

    last: Annotated[bool, typer.Option("--last", help="Take what was answered for this prompt the last time.")] = False
    no_history: Annotated[bool, typer.Option("--no-history", help="Remember nothing of what is answered.")] = False

    def keeps(self, console: Console) -> bool:
        """Whether answers are remembered."""
        return not self.no_history and bool(console.own_value("history"))


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

    `typed` has what was typed for arguments, now or the last time; empty for one that was left out.
    """

    console: Console
    past: Past
    prompt: str | None = None
    asks_optional: bool = False
    takes_defaults: bool = False
    takes_empty: bool = False
    screen: Callable[[], AbstractContextManager[Mapping[str, Any]]] | None = None
    typed: dict[str, str] = field(default_factory=dict)

    def complete(self, arguments: Sequence[Argument], values: Values, offers: "Offers | None" = None) -> None:
        """Complete the values with what was answered the last time, if that is wanted, and with what a person answers.

        Where nobody can be asked, or something is wrong already, nobody is.

        Args:
            arguments: those of the prompt that a person may be asked for.
            values: what is there already.
            offers: gives the values on offer for what is typed.

        Raises:
            KeyboardInterrupt: the person leaves.
        """
        if self.past.last:
            self._take_last(arguments, values)
        wanted = [each for each in arguments if self._wants(each, values)]
        is_asked = bool(wanted) and not values.faults and may_ask(no_input=self.console.no_input)
        keeps = self.prompt is not None and (is_asked or self.asks_optional) and self.past.keeps(self.console)
        if is_asked:
            from kbp.ask.arguments import Help, ask_arguments

            earlier: Earlier = functools.partial(history.earlier, self.prompt) if self.prompt else lambda name: []
            with self.screen() if self.screen else terminal(self.console.color) as io:
                self._give(ask_arguments(wanted, values.given, io, Help(offers, earlier)), values)
        if self.prompt and keeps and not values.faults:
            history.remember(self.prompt, self.typed)

    def options(self) -> list[str]:
        """The options that give what was typed."""
        return [token for name, text in self.typed.items() if text for token in spelt_answer(name, text)]

    def _wants(self, argument: Argument, values: Values) -> bool:
        if argument.name in self.typed or (argument.name in values.attempted and argument.name not in values.given):
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
        typed: dict[str, str] = {}
        for name, text in times[0].items():
            try:
                if name in missing and answer_of(text) is not None:
                    typed[name] = text
            except ValueError as error:  # a file that is gone
                values.faults.append(f"--last: {name}: {safe_line(str(error))}")
        self._give(typed, values)

    def _give(self, typed: dict[str, str], values: Values) -> None:
        self.typed |= typed
        values.given.update({name: answer_of(text) for name, text in typed.items() if text})
