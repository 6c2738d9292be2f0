"""`kbp pick`: one of many prompts, picked on the terminal and filled in by answering questions."""

import contextlib
import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kbp import history, settings
from kbp.ask.terminal import may_ask, tell, terminal
from kbp.commands.asking import Asker, Past
from kbp.commands.bundles import spelt
from kbp.commands.calling import Call, Calling
from kbp.commands.choice import is_path
from kbp.commands.console import DONE, Console, Stop
from kbp.commands.edit import edit_file
from kbp.commands.filling import filled, print_filled
from kbp.commands.given import Given, values_for
from kbp.commands.live import Live
from kbp.commands.options import STDIN, Sources, bad_choice
from kbp.commands.way import Way
from kbp.display import quoted, safe_line
from kbp.files import PromptFile
from kbp.library import Library, NotFound
from kbp.live.source import LiveSource
from kbp.model import Prompt
from kbp.output.jsontext import dump
from kbp.output.prompts import live_page, preview
from kbp.values import Values

if TYPE_CHECKING:
    from kbp.ask.picker import Item

PRINTED = ("text", "name", "args", "command")
_COMMAND = ("kbp", "render")


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
            self._run(query, source)

    def _run(self, query: str, source: LiveSource | None) -> None:
        has_files = source is None or bool(self.sources.path)
        tell("reading the prompts…\r")
        while True:
            choices = [*(self._files() if has_files else ()), *(self._live(source, has_files) if source else ())]
            if not choices:
                raise Stop("there is no prompt to pick")
            query, chosen, is_edited = self._pick(_latest_first(choices), query)
            if not is_edited or chosen.file is None:
                break
            self._screen.close()
            edit_file(chosen.file, self.console)
        if chosen.file is not None:
            self._take_file(chosen.file)
        elif source is not None and chosen.live is not None:
            self._take_live(source, chosen.live.name)

    @contextlib.contextmanager
    def _asking(self) -> Iterator[Mapping[str, Any]]:
        """The terminal that the prompt was picked on, until its arguments are answered."""
        yield self._io
        self._screen.close()

    def _files(self) -> Iterator[_Choice]:
        from kbp.ask.picker import Item

        self._found = self.sources.find(self.console)
        for file in self._found.served:
            if file.template is not None:
                page = _page(preview, file)
                item = Item(file.name, file.template.description or "", page, can_edit=True)
                yield _Choice(item, history.of_file(str(file.place.path)), file)

    def _live(self, source: LiveSource, beside_files: bool) -> Iterator[_Choice]:
        from kbp.ask.picker import Item

        label = f"{source.session.peer.name} ({source.session.peer.revision})"
        prefix = f"{self.call.live.server or 'server'}:" if beside_files else ""
        for prompt in source.list_all().prompts:
            page = _page(lambda prompt: live_page(prompt, label), prompt)
            item = Item(prefix + prompt.name, prompt.description or prompt.title or "", page)
            yield _Choice(item, history.of_server(source.key, prompt.name), live=prompt)

    def _pick(self, choices: Sequence[_Choice], query: str) -> tuple[str, _Choice, bool]:
        from kbp.ask.picker import Picker

        picker = Picker(
            [choice.item for choice in choices],
            query,
            can_edit=bool(settings.editor()),
            has_preview=bool(self.console.own_value("picker.preview")),
        )
        gc.freeze()  # thousands of prompts are not looked through for garbage between two keys
        self._io = self._screen.enter_context(terminal(self.console.color))
        at = picker.run(self._io)
        if at is None:
            raise EOFError
        if not picker.is_edited:
            tell(f"? prompt: {safe_line(choices[at].item.name)}\n")
        return picker.query, choices[at], picker.is_edited

    def _take_file(self, file: PromptFile) -> None:
        template, call = file.template, self.call
        if template is None:
            raise Stop(f"{file.path} does not become a prompt")
        name = self._name_of(file)
        values = values_for(template.arguments, self.console, call.faults, None)
        asker = Asker(
            self.console,
            call.past,
            history.of_file(str(file.place.path)),
            call.asks_optional,
            takes_defaults=call.given.defaults,
            screen=self._asking,
        )
        where = [*spelt(self.sources), *call.way.spelt(self.console)]
        if self.print == "name":
            self._deliver(name + "\n")
            return
        call.given.values([], values)
        pieces = filled(file, template, values, asker, [name, *where])
        command = [*_COMMAND, name, *values.accepted(), *asker.options(), *where]
        self._end(command, values, lambda: print_filled(template, pieces, call.way, self.console, explain=self.explain))

    def _take_live(self, source: LiveSource, name: str) -> None:
        call = self.call
        if self.print == "name":
            self._deliver((f"{call.live.server}:{name}" if call.live.server else name) + "\n")
            return
        asker = replace(call.asker(source, name), screen=self._asking)
        values = call.values(source, name, [], asker)
        command = [*_COMMAND, name, *values.accepted(), *asker.options(), *call.spelt()]
        self._end(command, values, lambda: call.print(source, name, values))

    def _end(self, command: Sequence[str], values: Values, print_text: Callable[[], None]) -> None:
        """Print what is wanted of the prompt; with its text, the command that does the same is told."""
        self._screen.close()
        line = _line(command)
        if self.print == "args":
            self._deliver(dump({name: value for name, value in values.given.items() if value}))
        elif self.print == "command":
            self._deliver(line + "\n")
        else:
            self.console.hint(line)
            print_text()

    def _deliver(self, text: str) -> None:
        self._screen.close()
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


def _page(show: Callable[..., str], prompt: object) -> Callable[[], str]:
    return lambda: show(prompt)


def _latest_first(choices: Sequence[_Choice]) -> list[_Choice]:
    ranks = {prompt: rank for rank, prompt in enumerate(history.latest())}
    return sorted(choices, key=lambda choice: ranks.get(choice.prompt, len(ranks)))


def _line(command: Sequence[str]) -> str:
    """The command as it is typed. A secret is left to a variable: it does not belong in a script, or in a log."""
    tokens: list[str] = []
    for at, token in enumerate(command):
        name, equals, value = token.partition("=")
        if not equals or command[at - 1] not in ("-a", "-A"):
            tokens.append(quoted(token))
        elif history.is_secret(name):
            tokens.append(f'{quoted(name)}="${_variable(name)}"')
        else:
            tokens.append(f"{quoted(name)}={quoted(value)}")
    return " ".join(tokens)


def _variable(name: str) -> str:
    word = "".join(each if each.isascii() and each.isalnum() else "_" for each in name).upper()
    return f"_{word}" if word[:1].isdigit() else word
