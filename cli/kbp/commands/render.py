"""`kbp render`: a prompt with its arguments filled in."""

from typing import Annotated

import typer

from kbp import history
from kbp.commands.asking import Asker, Past, tell_command
from kbp.commands.bundles import spelt
from kbp.commands.calling import Call, Calling
from kbp.commands.choice import choose
from kbp.commands.console import DONE, Console, Stop, collecting
from kbp.commands.filling import filled, print_filled, tell_words
from kbp.commands.given import Given, values_for
from kbp.commands.live import Live, live_name, not_for_live
from kbp.commands.sources import STDIN, Sources
from kbp.commands.way import Way


def render(
    console: Console,
    sources: Sources,
    live: Live,
    given: Given,
    past: Past,
    calling: Calling,
    way: Way,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A prompt's name, or a path.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORDS", help="Values as typed after a slash command; a last - is stdin."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell on stderr where the value of each placeholder came from.")
    ] = False,
) -> int:
    """Fill in a prompt and print its messages.

    \b
      kbp render debug -a app=loki
      git diff | kbp render review -a pr=- | llm
      kbp render incident api high "since the deploy"
      kbp render debug --args values.yaml --format anthropic
      kbp render --server-cmd 'uvx some-server' greet -a name=Ada
    """
    if explain and live.is_given:
        raise Stop("--explain tells of the placeholders of a file, and a server shows none")
    live, name = live_name(live, name, console)
    if live.is_given:
        faults = [*live.faults(), *not_for_live(sources), *calling.faults(is_live=True, format=way.format)]
        call = Call(console, live, calling, given, way, past, faults=[*faults, *way.faults()])
        call.run(name, words or [])
        return DONE
    takes_stdin = STDIN in (name, *(sources.path or []))
    faults = [*sources.faults(reads_stdin=takes_stdin), *way.faults()]
    faults += [*live.faults(), *calling.faults(is_live=False, format=way.format)]
    with collecting(faults):
        file, template = choose(name, sources, console)
    values = values_for(template.arguments, console, faults, f"the prompt file {STDIN}" if takes_stdin else None)
    given.values(words or [], values)
    asker = Asker(console, past, None if takes_stdin else history.of_file(str(file.place.path)))
    where = [*spelt(sources), *way.spelt(console)]
    pieces = filled(file, template, values, asker, [name, *where])
    if asker.has_asked:
        options = [*values.accepted(), *where]
        console.hint(tell_command([name], options, template.arguments, console), is_whole=True)
    tell_words(template, words or [], console)
    print_filled(template, pieces, way, console, explain=explain)
    return DONE
