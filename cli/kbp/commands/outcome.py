"""What comes of asking a live server: a failure told, the messages of a prompt printed, its media saved."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from kbp.commands.console import SERVER_FAILED, Console, Stop, write_whole
from kbp.display import safe_line, said_of
from kbp.live.base import Answer, LiveError, Refusal
from kbp.live.questions import Unanswered
from kbp.live.source import messages_of
from kbp.output.messages import FORMATS, Rendered

_MAX_TOLD = 500


@contextlib.contextmanager
def telling(label: str, doing: str) -> Iterator[None]:
    """Ask a server something in it; what fails is told of the server by its label, as a refusal of what is done.

    Raises:
        Stop: the server fails, or a question of it cannot be answered.
    """
    try:
        yield
    except Unanswered as unanswered:
        raise Stop(list(map(safe_line, unanswered.faults)), help=unanswered.help) from None
    except LiveError as error:
        raise _failed(error, label, doing) from None


def _failed(error: LiveError, label: str, doing: str) -> Stop:
    """The end of a run because of a server."""
    help = [safe_line(line) for line in error.help]
    if isinstance(error, Refusal):
        if error.data is not None:
            help.append(f"  it says more: {safe_line(json.dumps(error.data, ensure_ascii=False))[:_MAX_TOLD]}")
        return Stop(f"{label} refused {doing}: {safe_line(str(error))} ({error.code})", code=SERVER_FAILED, help=help)
    said = str(error)
    if said.startswith("the server ") and not said.startswith("the server at "):
        said = label + said.removeprefix("the server")
    return Stop(safe_line(said), code=SERVER_FAILED, help=help)


def printed(console: Console, name: str, answer: Answer, format: str, save_media: Path | None = None) -> str:
    """The result of the prompt of that name in a format; what is odd about it is told.

    Raises:
        Stop: it has no messages, or its media cannot be saved.
    """
    messages, odd = messages_of(answer.result)
    console.warn_of(odd)
    if not messages:
        if not isinstance(answer.result.get("messages"), list):
            raise Stop("the server answered with no messages", code=SERVER_FAILED, help=["  --result shows what came"])
        console.hint("hint: the prompt has no messages")
    description = answer.result.get("description")
    rendered = Rendered(description if isinstance(description, str) else None, messages, wire=answer.text)
    if save_media is not None:
        rendered.files = _save_media(save_media, name, rendered, console)
    try:
        text = FORMATS[format](rendered)
    except RecursionError:
        raise Stop("the result is nested too deep for this format", help=["  --result shows what came"]) from None
    for loss in rendered.losses:
        console.warn(loss)
    return text


def _save_media(folder: Path, prompt: str, rendered: Rendered, console: Console) -> dict[int, str]:
    """Write the media of messages to a folder. What is there already and is another stays.

    Raises:
        Stop: they cannot be written.
    """
    from kbp.output.media import media_of

    files: dict[int, str] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for medium in media_of(rendered.messages):
            if medium.data is None:
                console.warn(f"message {medium.at + 1}: its {medium.kind} is no base64, and is not saved")
                continue
            path = _free(folder / medium.file_name(prompt), medium.data)
            write_whole(path, medium.data)
            files[medium.at] = str(path)
            console.hint(f"saved {safe_line(str(path))} ({safe_line(medium.mime_type)})")
    except OSError as error:
        raise Stop(f"--save-media {folder}: {said_of(error)}") from None
    return files


def _free(path: Path, data: bytes) -> Path:
    """The path, or one beside it where another file has it. A link is never followed."""
    for at in range(1, 1000):
        each = path if at == 1 else path.with_stem(f"{path.stem}-{at}")
        if not each.is_symlink() and (not each.exists() or (each.is_file() and each.read_bytes() == data)):
            return each
    raise FileExistsError(17, "too many files of that name")
