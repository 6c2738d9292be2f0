"""What is done with what sources become: files written, checked, compared, removed."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kbp.commands.console import DONE, TO_REPORT, Console, write_whole
from kbp.commands.converting import Doing
from kbp.converter.plan import Orphan, Output, State
from kbp.display import counted, safe_line, said_of
from kbp.files import PromptFile, read_bytes, shown
from kbp.output import conversions
from kbp.output.diff import unified


def tell_refused(output: Output, console: Console) -> None:
    """Say why a source cannot be converted."""
    if output.source.is_prompt:
        console.fail(conversions.refusal(output))
    else:
        path, why = safe_line(output.source.path), output.source.detection.why
        console.fail([f"{path} is no prompt file: {why}; --dialect says what it is if it is one"])


class Run:
    """What is done with what the sources become."""

    def __init__(self, outputs: Sequence[Output], lost: Sequence[Orphan], doing: Doing, console: Console) -> None:
        self.outputs = outputs
        self.lost = lost
        self.doing = doing
        self.console = console
        self.is_bad = False

    def run(self) -> int:
        """Do what was asked for, and give the exit code."""
        doing, console = self.doing, self.console
        self.tell_losses()
        if doing.strict and any(output.converted.losses for output in self.outputs):
            count = sum(len(output.converted.losses) for output in self.outputs)
            console.fail([f"{counted(count, 'loss')} (--strict): nothing was written"])
            self.report([], [])
            return TO_REPORT
        wanted = list(self.wanted())
        if doing.check:
            return self.check()
        if doing.diff:
            return self.diff(wanted)
        if doing.dry_run:
            for output in wanted:
                console.hint(conversions.way(output))
            removed = [orphan for orphan in self.lost if self.goes(orphan)]
            for orphan in removed:
                console.hint(f"would remove {conversions.orphaned(orphan)}")
            self.report([], [], "Would write", count=len(wanted))
        else:
            written = [output for output in console.progress(wanted, "writing") if self.write(output)]
            removed = [orphan for orphan in self.lost if self.goes(orphan) and self.remove(orphan)]
            self.report(written, removed, "Wrote")
        return TO_REPORT if self.is_bad else DONE

    def tell_losses(self) -> None:
        """Tell what cannot be converted, and what is lost of the rest."""
        for output in self.outputs:
            if output.text is None:
                self.is_bad = True
                tell_refused(output, self.console)
            if self.doing.strict:
                for line in conversions.losses(output):
                    self.console.explain(line)
            elif output.state is not State.CURRENT or self.console.verbose:
                for line in conversions.losses(output):
                    self.console.hint(line)

    def wanted(self) -> Iterator[Output]:
        """The files to write. Those that stand in the way of one are told."""
        for output in self.outputs:
            if output.text is None or output.state is State.CURRENT:
                continue
            is_free = output.state in (State.MISSING, State.STALE)
            if is_free or (self.doing.force and output.state is not State.BLOCKED):
                yield output
            elif not self.doing.check:
                self.is_bad = True
                way_out = "" if output.state is State.BLOCKED else "; --force writes over it"
                self.console.fail([conversions.out_of_date(output) + way_out])

    def check(self) -> int:
        """Tell what is not as it should be."""
        stale = [output for output in self.outputs if output.text is not None and output.state is not State.CURRENT]
        self.console.fail([conversions.out_of_date(output) for output in stale])
        self.console.fail([conversions.orphaned(orphan) for orphan in self.lost])
        if stale:
            self.console.hint("Make them anew: the same command without --check.")
        if self.lost:
            self.console.hint("Remove them: the same command with --prune in place of --check.")
        self.report([], [], "Would write", count=len(stale))
        return TO_REPORT if stale or self.lost or self.is_bad else DONE

    def diff(self, wanted: Sequence[Output]) -> int:
        """Print what would change."""
        for output in wanted:
            before = read_bytes(output.path) if output.state is not State.MISSING else None
            text = before.decode(errors="replace") if isinstance(before, bytes) else None
            self.console.print_text(unified(shown(output.path), text, output.text))
            if output.target.in_place and output.path != output.source.place.path:
                self.console.print_text(unified(output.source.path, output.source.document.text, None))
        removed = [orphan for orphan in self.lost if self.goes(orphan)]
        for orphan in removed:
            self.console.print_text(unified(orphan.file.path, orphan.file.document.text, None))
        self.report([], [], "Would write", count=len(wanted))
        return TO_REPORT if wanted or removed or self.is_bad else DONE

    def goes(self, orphan: Orphan) -> bool:
        """Whether a generated file without a source is to be removed. One that stays is told."""
        if self.doing.prune and not orphan.is_edited:
            return True
        if self.doing.prune:
            self.is_bad = True
            self.console.fail([f"{conversions.orphaned(orphan)}: it is left alone"])
        else:
            self.console.hint(f"{conversions.orphaned(orphan)}; --prune removes it")
        return False

    def write(self, output: Output) -> bool:
        """Write a file, and remove the source that it takes the place of. What keeps it from that is told."""
        source = output.source.place.path
        try:
            if output.target.in_place and not _is_as_read(output.source):
                raise OSError("its source was changed meanwhile: both are left alone")
            made = _make_folder(output.path.parent)
            try:
                write_whole(output.path, (output.text or "").encode())
            except BaseException:
                _remove_empty(made)
                raise
            if output.target.in_place and output.path != source:
                source.unlink()
                if output.source.has_own_folder:
                    _remove_empty([source.parent])
        except OSError as error:
            self.is_bad = True
            self.console.fail([f"{shown(output.path)} cannot be written: {said_of(error)}"])
            return False
        self.console.hint(conversions.way(output))
        return True

    def remove(self, orphan: Orphan) -> bool:
        """Remove a generated file whose source is gone."""
        path = orphan.file.place.path
        try:
            path.unlink()
        except OSError as error:
            self.is_bad = True
            self.console.fail([f"{shown(path)} cannot be removed: {said_of(error)}"])
            return False
        if orphan.file.has_own_folder:
            _remove_empty([path.parent])
        self.console.hint(f"removed {safe_line(shown(path))}")
        return True

    def report(self, written: Sequence[Output], removed: Sequence[Orphan], verb: str = "", count: int = 0) -> None:
        """Print the report that was asked for, and sum up."""
        if self.doing.format == "json":
            self.console.print(conversions.as_json(self.outputs, written, self.lost, removed))
        if verb:
            self.console.hint(conversions.summary(self.outputs, len(written) or count, verb))


def _is_as_read(file: PromptFile) -> bool:
    return read_bytes(file.place.path, file.manner.max_file) == file.document.text.encode()


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder with those above it, and give the ones that were not there, innermost first."""
    missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return
