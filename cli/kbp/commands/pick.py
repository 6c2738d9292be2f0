"""`kbp pick`: one of many prompts, picked on the terminal and filled in by answering questions."""

import contextlib
import functools
import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbp import history, settings
from kbp.ask.terminal import may_ask, tell, terminal
from kbp.ask.text import Back
from kbp.commands.asking import Asker, Past, tell_command
from kbp.commands.bundles import spelt
from kbp.commands.calling import Call, Calling
from kbp.commands.choice import does_not_become, is_path
from kbp.commands.console import DONE, Console, Stop
from kbp.commands.edit import edit_file
from kbp.commands.filling import filled, print_filled
from kbp.commands.given import Given, values_for
from kbp.commands.live import Live
from kbp.commands.options import bad_choice
from kbp.commands.outcome import telling
from kbp.commands.sources import STDIN, Sources
from kbp.commands.way import Way
from kbp.display import safe_line
from kbp.files import PromptFile
from kbp.library import Library, NotFound
from kbp.live.source import LiveSource
from kbp.model import Prompt
from kbp.output.jsontext import dump
from kbp.output.prompts import live_page, preview, refusal
from kbp.values import Values

if TYPE_CHECKING:
    from kbp.ask.picker import Item

PRINTED = ("text", "name", "args", "command")


def pick(
    console: Console,
    sources: Sources,
    live: Live,
    given: Given,
    past: Past,
    calling: Calling,
    way: Way,
    query: Annotated[str | None, typer.Argument(metavar="QUERY", help="What is typed at first.")] = None,
    print: Annotated[
        str,
        typer.Option(
            "--print",
            metavar="|".join(PRINTED),
            help="The filled prompt, its name, its values as JSON, or the command that renders it.",
        ),
    ] = PRINTED[0],
    required_only: Annotated[
        bool, typer.Option("--required-only", help="Ask for required arguments only, leave out the others.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell on stderr where the value of each placeholder came from.")
    ] = False,
) -> int:
    """Pick a prompt on the terminal, answer its arguments, and print its messages.

    \b
      kbp pick                       every prompt there is, the latest first
      kbp pick deb | llm             questions on the terminal, the prompt into the pipe
      kbp pick --server docs         the prompts of a live server; with -p PATH those of files too
      kbp pick --print command       the line that does the same without questions

    In the picker: letters in order find a name, ^E edits the file, Esc leaves. In a question: Enter takes the default,
    Up has earlier answers, Tab has values and, behind @, paths; Alt-Enter is a new line, Ctrl-X Ctrl-E your editor,
    Shift-Tab the question before.
    """
    faults = [*live.faults(), *sources.faults(reads_stdin=False), *way.faults(), *bad_choice("--print", print, PRINTED)]
    faults += calling.faults(is_live=live.is_given, format=way.format)
    if STDIN in (sources.path or []):
        faults.append("-p -: a prompt on stdin is not one of many; `kbp render -` renders it")
    if explain and live.is_given:
        faults.append("--explain tells of the placeholders of a file, and a server shows none")
    if faults:
        raise Stop(faults)
    if not may_ask(no_input=console.no_input):
        raise Stop(
            "kbp pick asks on a terminal, and there is none that may be asked on",
            help=["  `kbp list` shows the prompts; `kbp render NAME -a NAME=VALUE` renders one without questions"],
        )
    call = Call(console, live, calling, given, way, past, asks_optional=not required_only)
    picking = Picking(console, sources, call, print, explain)
    if not live.is_given:
        picking.run(query or "")
        return DONE
    with call.opened("to list its prompts") as source:
        picking.run(query or "", source)
    return DONE


@dataclass(frozen=True)
class _Choice:
    """A prompt that can be picked: a file, or one of a server; `prompt` is its identity."""

    item: "Item"
    prompt: str
    file: PromptFile | None = None
    live: Prompt | None = None


@dataclass
class Picking:
    """One run of `kbp pick`. `call` has how prompts are filled in and printed, of files as well."""

    console: Console
    sources: Sources
    call: Call
    print: str
    explain: bool
    _found: Library = field(default_factory=lambda: Library(()))
    _screen: ExitStack = field(default_factory=ExitStack)
    _io: Mapping[str, Any] = field(default_factory=dict)

    def run(self, query: str, source: LiveSource | None = None) -> None:
        """Let the person pick a prompt, ask for its arguments, and print it.

        Raises:
            Stop: something is wrong with the request, or a server fails.
            KeyboardInterrupt: the person leaves.
            EOFError: they end the input.
        """
        with self._screen:
            chosen: _Choice | None = None
            choices = self._choices(source)
            while True:
                query, chosen, is_edited = self._pick(choices, query, chosen)
                if is_edited and chosen.file is not None:
                    self._screen.close()
                    self._edit(chosen.file)
                    choices = self._choices(source)
                    continue
                tell(f"? prompt: {safe_line(chosen.item.name)}\n")
                if self.call.past.keeps(self.console):
                    history.touch(chosen.prompt)
                try:
                    self._take(chosen, source)
                except Back:
                    continue
                return

    def _edit(self, file: PromptFile) -> None:
        """Open the file in the person's editor; without one the prompts are there all the same."""
        try:
            edit_file(file.place.path, self.console)
        except Stop as stop:
            self.console.fail(stop.faults, stop.help)

    def _choices(self, source: LiveSource | None) -> list[_Choice]:
        """The prompts to pick from, those used last first."""
        has_files = source is None or bool(self.sources.path)
        tell("reading the prompts…\r")
        try:
            choices = [*(self._files() if has_files else ()), *(self._live(source, has_files) if source else ())]
            if not choices:
                raise Stop("there is no prompt to pick")
        finally:
            tell("\x1b[K")
        ranks = {prompt: rank for rank, prompt in enumerate(history.latest())}
        return sorted(choices, key=lambda choice: ranks.get(choice.prompt, len(ranks)))

    def _files(self) -> Iterator[_Choice]:
        """Those of files; a refused one is there to be edited."""
        from kbp.ask.picker import Item

        self._found = self.sources.find(self.console)
        refused = [file for file in self._found.files if file.is_refused]
        for file in sorted((*self._found.served, *refused), key=lambda file: (file.name, file.path)):
            template = file.template
            said = (template.description or "") if template else f"refused: {file.problems[0].message}"
            page = functools.partial(preview, file) if template else functools.partial(refusal, file)
            yield _Choice(Item(file.name, said, page, can_edit=True), history.of_file(str(file.place.path)), file)

    def _live(self, source: LiveSource, beside_files: bool) -> Iterator[_Choice]:
        from kbp.ask.picker import Item

        label = f"{source.session.peer.name} ({source.session.peer.revision})"
        with self.call.lock:
            prompts = source.prompts()
        for prompt in prompts:
            name = f"{self.call.live.named or 'server'}:{prompt.name}" if beside_files else prompt.name
            item = Item(name, prompt.description or prompt.title or "", functools.partial(live_page, prompt, label))
            yield _Choice(item, history.of_server(source.key, prompt.name), live=prompt)

    def _pick(self, choices: Sequence[_Choice], query: str, before: _Choice | None) -> tuple[str, _Choice, bool]:
        from kbp.ask.picker import Picker

        picker = Picker(
            [choice.item for choice in choices],
            query,
            next((at for at, each in enumerate(choices) if before and each.prompt == before.prompt), None),
            can_edit=bool(settings.editor()),
            has_preview=bool(self.console.own_value("picker.preview")),
        )
        gc.freeze()  # thousands of prompts are not looked through for garbage between two keys
        self._screen.close()
        self._io = self._screen.enter_context(terminal(self.console.color))
        at = picker.run(self._io)
        if at is None:
            raise EOFError
        return picker.query, choices[at], picker.is_edited

    @contextlib.contextmanager
    def _asking(self) -> Iterator[Mapping[str, Any]]:
        """The terminal that the prompt was picked on, until its arguments are answered."""
        if not self._can_go_back:  # values may have been read, which closes it
            self._io = self._screen.enter_context(terminal(self.console.color))
        yield self._io
        self._screen.close()

    @property
    def _can_go_back(self) -> bool:
        """Whether another prompt may be picked once one was: values that were given may have been read by then."""
        return self.call.given == Given(defaults=self.call.given.defaults)

    def _take(self, chosen: _Choice, source: LiveSource | None) -> None:
        """Print what is wanted of a prompt."""
        if not self._can_go_back or self.print == "name":
            self._screen.close()
        if chosen.file is not None:
            self._take_file(chosen.file)
        elif source is not None and chosen.live is not None:
            with telling(source.label, safe_line(chosen.live.name)):
                self._take_live(source, chosen.live.name)

    def _asker(self, asker: Asker) -> Asker:
        return replace(asker, screen=self._asking, can_go_back=self._can_go_back)

    def _take_file(self, file: PromptFile) -> None:
        template, call = file.template, self.call
        name = self._name_of(file)
        if template is None:
            raise does_not_become(file)
        if self.print == "name":
            self._deliver(name + "\n")
            return
        values = values_for(template.arguments, self.console, call.faults, None)
        call.given.values([], values)
        if values.faults:
            raise Stop(values.faults)
        prompt, defaults = history.of_file(str(file.place.path)), call.given.defaults
        asker = self._asker(Asker(self.console, call.past, prompt, call.asks_optional, takes_defaults=defaults))
        pieces = filled(file, template, values, asker, [name, *spelt(self.sources)])
        options = [*values.accepted(), *spelt(self.sources), *self._way()]
        self._end(
            values,
            lambda: tell_command([name], options, template.arguments, self.console),
            lambda: print_filled(template, pieces, call.way, self.console, explain=self.explain),
        )

    def _take_live(self, source: LiveSource, name: str) -> None:
        call = self.call
        if self.print == "name":
            self._deliver((f"{call.live.named}:{name}" if call.live.named else name) + "\n")
            return
        values = call.values(source, name, [], self._asker(call.asker(source, name)))
        self._end(values, lambda: call.line(name, values, self._way()), lambda: call.print(source, name, values))

    def _way(self) -> list[str]:
        """How and where the result is printed, as far as that is part of the command."""
        way = self.call.way
        return (replace(way, output=None, copy=False) if self.print == "command" else way).spelt(self.console)

    def _end(self, values: Values, line: Callable[[], str], print_text: Callable[[], None]) -> None:
        """Print what is wanted of the prompt; with its text, the command that does the same is told."""
        self._screen.close()
        if self.print == "args":
            self._deliver(dump({name: value for name, value in values.given.items() if value}))
        elif self.print == "command":
            self._deliver(line() + "\n")
        else:
            self.console.hint(line(), is_whole=True)
            print_text()

    def _deliver(self, text: str) -> None:
        self.call.way.deliver(text, self.console, is_text=True)

    def _name_of(self, file: PromptFile) -> str:
        """What `kbp render` calls the file: its name, or its path where that is not it alone."""
        try:
            is_found = self._found.find(file.name) is file
        except NotFound:
            is_found = False
        if is_found and not is_path(file.name) and not file.name.startswith("-") and ":" not in file.name:
            return file.name
        return file.path if is_path(file.path) and not file.path.startswith("-") else f"./{file.path}"
