"""How a result is printed, and where it goes."""

from dataclasses import dataclass
from typing import Annotated

import typer

from kbp.commands.console import Console, Stop, encodable, put
from kbp.commands.options import bad_choice
from kbp.output.messages import FORMATS


@dataclass(frozen=True)
class Way:
    """How a result is printed, and where: in a format, to a file, the clipboard or stdout."""

    format: Annotated[
        str, typer.Option("-f", "--format", metavar="|".join(FORMATS), help="How messages are printed.")
    ] = "text"
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Write to FILE, whole or not at all.")
    ] = None
    copy: Annotated[bool, typer.Option("--copy", help="Put it in the clipboard instead of printing it.")] = False

    @property
    def is_text(self) -> bool:
        """Whether it is printed as text of the prompt, and not as JSON."""
        return self.format in ("text", "markdown")

    def faults(self) -> list[str]:
        """What is wrong with these options."""
        faults = bad_choice("--format", self.format, FORMATS)
        return faults + (["--copy and --output: give one of them"] if self.copy and self.output is not None else [])

    def is_terminal(self, console: Console) -> bool:
        """Whether a person reads it."""
        return self.output in (None, "-") and not self.copy and console.cells is not None

    def spelt(self, console: Console) -> list[str]:
        """The options that say so, as they would be typed again, and the folder that the command runs in."""
        format = ["-f", self.format] if self.format in FORMATS and self.format != "text" else []
        folder = ["-C", str(console.directory)] if console.directory else []
        folder += ["--config", str(console.config)] if console.config else []
        folder += [] if console.use_config else ["--no-config"]
        copy = ["--copy"] if self.copy else []
        return [*folder, *format, *(["-o", self.output] if self.output else []), *copy]

    def deliver(self, text: str, console: Console, *, is_text: bool) -> None:
        """Print a result, write it to its file, or copy it.

        Raises:
            Stop: it cannot be written, or there is no clipboard.
        """
        if not self.copy:
            put(text, self.output, is_text=is_text, console=console)
            return
        from kbp.ask.clipboard import NoClipboard, copy

        try:
            console.hint(copy(encodable(text)))
        except NoClipboard as error:
            raise Stop(f"--copy: {error}", help=["  -o FILE writes it to a file"]) from None
