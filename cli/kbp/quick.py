"""The plain call of a prompt of a server that the command line starts: `kbp render NAME … --server-cmd COMMAND`.

The server is started before anything else is imported, and nothing is imported that the call does not need, the reading
of a command line least of all. Whatever is not plain, or goes wrong before the prompt is called, is left to the command
line proper, which says what there is to say.
"""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kbp.commands.console import Console
    from kbp.live.source import LiveSource

_VALUES = {"-a": "arg", "--arg": "arg", "-A": "raw", "--server-cmd": "command", "-f": "format", "--format": "format"}
_LIVE = "--server-cmd"


def is_meant(arguments: Sequence[str]) -> bool:
    """Whether a command line may be such a call."""
    return arguments[:1] == ["render"] and _LIVE in arguments and "KBP_LOG" not in os.environ


def run(arguments: Sequence[str]) -> int | None:
    """Do the call and give the exit code; None when it is left to the command line proper."""
    call = _read(arguments)
    if call is None or not _has_folder():
        return None
    from kbp.live.process import split, start

    try:
        call["command"] = split(call["command"])
        process = start(call["command"])
    except (OSError, ValueError):
        return None
    try:
        from kbp.commands.console import Console
        from kbp.commands.running import guarded, speak_utf8
        from kbp.live.stdio import Stdio

        channel = Stdio(process)
    except BaseException:
        process.kill()
        raise
    speak_utf8()
    console = Console()
    left: list[None] = []

    def do() -> int:
        if not _call(call, channel, console):
            left.append(None)
        return 0

    code = guarded(console, do)
    return None if left else code


def _has_folder() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 (nothing is imported for it)
    except OSError:
        return False
    return True


def _read(arguments: Sequence[str]) -> dict[str, Any] | None:
    """A plain call: options that have a value or none, each written apart from it; None for anything else."""
    call: dict[str, Any] = {"arg": [], "raw": [], "words": [], "format": "text", "result": False, "command": None}
    rest = iter(arguments[1:])
    for word in rest:
        if word in _VALUES:
            value = next(rest, None)
            key = _VALUES[word]
            if value is None:
                return None
            if key in ("arg", "raw"):
                call[key].append(value)
            elif key == "command" and call[key] is not None:
                return None
            else:
                call[key] = value
        elif word == "--result":
            call["result"] = True
        elif word.startswith("-"):
            return None
        else:
            call["words"].append(word)
    if not call["words"] or not call["command"] or call["format"] not in ("text", "json"):
        return None
    if call["result"] and (call["format"] != "text" or sys.stdout is None or sys.stdout.isatty()):
        return None
    call["name"], *call["words"] = call["words"]
    takes_stdin = any(text.endswith("=-") for text in call["arg"]) or call["words"][-1:] == ["-"]
    return None if takes_stdin else call  # stdin is read once, and may be wanted again


def _call(call: dict[str, Any], channel: Any, console: "Console") -> bool:
    """Call the prompt and print its result. False when nothing was called: something is missing, or has to be told.

    Raises:
        Stop: the server fails.
    """
    import kbp.output.messages
    import kbp.values  # noqa: F401 (both while the server starts)
    from kbp.commands.outcome import printed, telling
    from kbp.display import safe_line
    from kbp.live.connection import Manner, connected, of_command

    server, manner = of_command(tuple(call["command"])), Manner(handler=_handler())
    with telling("the server", safe_line(call["name"])), connected(server, manner, channel=channel) as source:
        values = _values(call, source, console)
        if values is None:
            return False
        answer = source.result(call["name"], values)
        text = f"{answer.text}\n" if call["result"] else printed(console, call["name"], answer, call["format"])
        console.print_text(text)
    return True


def _handler() -> Any:
    """Who answers questions of the server: a person on the terminal, if there is one."""
    from kbp.ask.terminal import may_ask

    if not may_ask():
        return None
    from kbp.ask.questions import Answers

    return Answers(is_interactive=True)


def _values(call: dict[str, Any], source: "LiveSource", console: "Console") -> dict[str, str] | None:
    """The values for the prompt; None when it is not there, or they are not all there and right."""
    from kbp.values import Values

    prompt = source.find(call["name"])
    if prompt is None:
        return None
    values = Values(prompt.arguments, None, console.read_stdin)
    values.assign(call["arg"])
    values.assign(call["raw"], as_is=True)
    values.take_words(call["words"])
    is_missing = any(each.required and each.name not in values.given for each in prompt.arguments)
    return None if values.faults or is_missing else values.given
