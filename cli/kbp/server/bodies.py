"""The body of a prompt file that is served: read again at each render, the last good one where it cannot be."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from kbp import files, renderer
from kbp.files import PromptFile
from kbp.model import Kind, Message, Template
from kbp.server.stamps import Stamp, is_settled, stamp_of

MAX_RESULT = 4 * 1024 * 1024
"""How many characters a filled body may have: values come from strangers, and placeholders multiply them."""
SLOW = 5.0
"""After how many seconds a file that is still being read counts as one that hangs."""
_LATER, _PATIENCE = 0.2, 1.0
_MAX_HANGING = 32
"""How many files may hang, as on a folder of a machine that is gone, before no more threads are given to such reads."""


@dataclass(frozen=True)
class _State:
    """What is rendered, the stamp of the file that was read last, and why that is not rendered, if it is not.

    A stamp is believed once it has settled, or was the same at a second reading some time later.
    """

    template: Template
    stamp: Stamp | None = None
    fault: str | None = None
    is_believed: bool = False
    seen: float = 0.0


class Body:
    """The body of a prompt file, live. What the file declares stays as it was when the file was taken.

    It may be used in several threads.
    """

    def __init__(self, file: PromptFile, template: Template) -> None:
        self._file = file
        self._declared = template
        self._state = _State(template)
        self._reading = threading.Lock()
        self._began: float | None = None

    @property
    def fault(self) -> str | None:
        """Why the last good body is rendered instead of the file's own, None when that is not so."""
        return self._state.fault

    def messages(self, values: Mapping[str, str]) -> tuple[Message, ...]:
        """What the prompt becomes for these values, the file being read again if it has changed.

        Raises:
            renderer.MissingArguments: a required argument has no value.
            renderer.TooLarge: the result would have more than MAX_RESULT characters.
        """
        began = self._began
        if began is not None and time.monotonic() - began > _PATIENCE:
            self.give_up()  # somebody waits for the file already
        elif _hanging() >= _MAX_HANGING:
            self._state = replace(self._state, stamp=None, fault="too many files hang, and this one is not read")
        elif self._reading.acquire(timeout=_PATIENCE):
            self._began = _under_way[id(self)] = time.monotonic()
            try:
                self._read_again()
            finally:
                del _under_way[id(self)]
                self._began = None
                self._reading.release()
        else:
            self.give_up()
        return self.last_messages(values)

    def last_messages(self, values: Mapping[str, str]) -> tuple[Message, ...]:
        """What the prompt becomes with the body that was read last. The errors are those of `messages`."""
        template = self._state.template
        pieces = renderer.fill(template, values, self._file.library, self._file.folder, limit=MAX_RESULT)
        return renderer.messages(pieces)

    def give_up(self) -> None:
        """Note that the file cannot be read in time, unless that has ended."""
        if self._reading.locked():
            self._state = replace(self._state, stamp=None, fault="it takes too long to read")

    def _read_again(self) -> None:
        before, now = self._state, time.monotonic()
        stamp = stamp_of(str(self._file.place.path))
        is_same = stamp is not None and stamp == before.stamp
        if is_same and before.is_believed:
            return
        body = self._body() if stamp is not None else "it is not there, or cannot be read"
        is_believed = stamp is not None and (is_settled(stamp) or (is_same and now - before.seen > _LATER))
        seen = before.seen if is_same else now
        if isinstance(body, str):
            self._state = _State(before.template, stamp, body, is_believed, seen)
        else:
            self._state = _State(body, stamp, None, is_believed, seen)

    def _body(self) -> Template | str:
        """What is rendered of the file as it is now, or why nothing of it is."""
        manner = replace(self._file.manner, given=self._file.dialect, is_configured=False)
        read = files.load(self._file.place, manner)
        if read.template is None:
            return read.problems[0].message if read.problems else read.detection.why
        if not _takes_the_same(self._declared, read.template):
            return "its arguments are others now: they count when all is read anew"
        return replace(self._declared, body=read.template.body)


def _takes_the_same(declared: Template, now: Template) -> bool:
    """Whether what a client gives for the arguments that it knows arrives where the body now wants it.

    Arguments may be added: they are not given yet. One that is gone while another has come, or a position that counts
    another one, is a different thing under the old name.
    """
    known, new = ({argument.name for argument in each.arguments} for each in (declared, now))
    used = {each.name for each in now.placeholders if each.kind is Kind.NAMED}
    counts = any(each.kind is Kind.POSITION for each in now.placeholders)
    if counts and now.positions[: len(declared.positions)] != declared.positions:
        return False
    return not (known - new and used - known)


_under_way: dict[int, float] = {}


def _hanging() -> int:
    """How many files are being read for too long."""
    late = time.monotonic() - SLOW
    return sum(began < late for began in list(_under_way.values()))
