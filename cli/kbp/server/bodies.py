"""The body of a prompt file that is served: read again at each render, the last good one where it cannot be."""

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kbp import files, renderer
from kbp.files import PromptFile
from kbp.model import Message, Template
from kbp.text import Problem

MAX_RESULT = 32 * 1024 * 1024
"""How many characters a filled body may have: values come from strangers, and placeholders multiply them."""
_FRESH = 0.1
"""How many seconds a change stays doubtful: two in a row may carry one time."""
_Stamp = tuple[int, int, int, int]


class Body:
    """The body of a prompt file, live. What the file declares stays as it was when the file was taken.

    `fault` says why the last good body is rendered instead of the file's own, None when that is not so. It may be used
    in several threads.
    """

    def __init__(self, file: PromptFile, template: Template) -> None:
        self._file = file
        self._declared = template
        self._stamp: _Stamp | None = None
        self._rendered = template
        real = os.path.realpath(file.place.path)
        self._allowed = (os.path.realpath(file.place.root) + os.sep, real)
        self.fault: str | None = None

    def messages(self, values: Mapping[str, str]) -> tuple[Message, ...]:
        """What the prompt becomes for these values, the file being read again if it has changed.

        Raises:
            renderer.MissingArguments: a required argument has no value.
            renderer.TooLarge: the result would have more than MAX_RESULT characters.
        """
        self._read_again()
        return self.last_messages(values)

    def last_messages(self, values: Mapping[str, str]) -> tuple[Message, ...]:
        """What the prompt becomes with the body that was read last. The errors are those of `messages`."""
        pieces = renderer.fill(self._rendered, values, self._file.library, self._file.folder, limit=MAX_RESULT)
        return renderer.messages(pieces)

    def _read_again(self) -> None:
        path = str(self._file.place.path)
        try:
            status = os.stat(path)  # noqa: PTH116 (speed)
        except OSError as error:
            self.fault, self._stamp = f"cannot be read: {error.strerror}", None
            return
        stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
        if stamp == self._stamp:
            return
        body = self._body_of(path)
        if isinstance(body, str):
            self.fault = body
        else:
            self._rendered, self.fault = body, None
        is_settled = time.time() - status.st_mtime > _FRESH
        self._stamp = stamp if is_settled and self.fault is None else None

    def _body_of(self, path: str) -> Template | str:
        """What is rendered of the file as it is now, or why nothing of it is."""
        real = os.path.realpath(path)
        if not real.startswith(self._allowed[0]) and real != self._allowed[1]:
            return "a symbolic link that leads out of the root"
        manner = replace(self._file.manner, given=self._file.dialect, is_configured=False)
        data = files.read_bytes(Path(real), manner.max_file)
        if isinstance(data, Problem):
            return data.message
        read = files.read(data, self._file.place, manner)
        if read.template is None:
            return read.problems[0].message if read.problems else read.detection.why
        return replace(self._declared, body=read.template.body)
