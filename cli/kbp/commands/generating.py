"""What is done with what sources become: files written, checked, compared, removed."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kbp.commands.console import DONE, TO_REPORT, Console, write_whole
from kbp.commands.converting import Doing
from kbp.converter.plan import Orphan, Output, State, now
from kbp.dialects import DIALECTS
from kbp.display import counted, safe_line, said_of
from kbp.files import PromptFile, read_bytes, shown
from kbp.output import conversions
from kbp.output.diff import unified

_HOMES = {Path(dialect.home.folder).name for dialect in DIALECTS.values()}


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
        self.tell_refused()
        losses = sum(len(output.converted.losses) for output in self.outputs)
        if doing.check:
            code = self.check()
            return TO_REPORT if doing.strict and losses else code
        if doing.strict and losses:
            for output in self.outputs:
                self.tell(output)
            console.fail([f"{counted(losses, 'loss')} (--strict): nothing was written"])
            self.report([], [])
            return TO_REPORT
        wanted = list(self.wanted())
        if doing.diff:
            return self.diff(wanted)
        if doing.dry_run:
            for output in wanted:
                self.tell(output)
            removed = [orphan for orphan in self.lost if self.goes(orphan)]
            for orphan in removed:
                console.hint(f"would remove {safe_line(orphan.file.path)}")
            self.report([], [], "Would write", count=len(wanted))
        else:
            written = [output for output in console.progress(wanted, "writing") if self.write(output)]
            removed = [orphan for orphan in self.lost if self.goes(orphan) and self.remove(orphan)]
            self.report(written, removed, "Wrote")
        return TO_REPORT if self.is_bad else DONE

    def tell_refused(self) -> None:
        """Tell once of each source that it cannot be converted."""
        refused = {output.source.path: output for output in self.outputs if output.text is None}
        for output in refused.values():
            self.is_bad = True
            tell_refused(output, self.console)

    def tell(self, output: Output) -> None:
        """Tell where a source goes, what is lost of it, and what a person should know."""
        said = self.console.explain if self.doing.strict else self.console.hint
        said(conversions.way(output))
        for line in (*conversions.losses(output), *conversions.notes(output)):
            said(line)

    def wanted(self) -> Iterator[Output]:
        """The files to write. Those that stand in the way of one are told."""
        for output in self.outputs:
            if output.text is None or output.state is State.CURRENT:
                if self.console.verbose and output.text is not None:
                    self.tell(output)
                continue
            is_free = output.state in (State.MISSING, State.STALE)
            if is_free or (self.doing.force and output.state is not State.BLOCKED):
                yield output
            else:
                self.is_bad = True
                way_out = "" if output.state is State.BLOCKED else "; --force writes over it"
                self.console.fail([conversions.out_of_date(output) + way_out])

    def check(self) -> int:
        """Tell what is not as it should be."""
        bad = [output for output in self.outputs if output.text is not None and output.state is not State.CURRENT]
        fresh = [output for output in bad if output.state in (State.MISSING, State.STALE)]
        self.console.fail([conversions.out_of_date(output) for output in bad])
        self.console.fail([conversions.orphaned(orphan) for orphan in self.lost])
        if self.doing.strict:
            for output in self.outputs:
                self.tell(output)
        if fresh:
            self.console.hint("Make them anew: the same command without --check.")
        if len(fresh) < len(bad):
            self.console.hint(
                "What kbp did not write as it stands is written over with --force, or is yours to remove."
            )
        if any(not orphan.is_edited for orphan in self.lost):
            self.console.hint("Remove what nothing makes any more: the same command with --prune in place of --check.")
        self.report([], [], "Would write", count=len(fresh))
        return TO_REPORT if bad or self.lost or self.is_bad else DONE

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
            self.console.fail([f"{conversions.orphaned(orphan)}: it is left for you to remove"])
        else:
            way_out = "" if orphan.is_edited else "; --prune removes it"
            self.console.hint(conversions.orphaned(orphan) + way_out)
        return False

    def write(self, output: Output) -> bool:
        """Write a file, and remove the source that it takes the place of. What keeps it from that is told."""
        source = output.source.place.path
        try:
            if output.target.in_place and not _is_as_read(output.source):
                raise OSError("its source was changed meanwhile: both are left alone")
            if now(output).state is not output.state:
                raise OSError("it was changed meanwhile: it is left alone")
            made = _make_folder(output.path.parent)
            try:
                write_whole(output.path, (output.text or "").encode(), like=source)
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
        self.tell(output)
        return True

    def remove(self, orphan: Orphan) -> bool:
        """Remove a generated file whose source is gone."""
        path = orphan.file.place.path
        try:
            inside = os.path.realpath(orphan.file.place.root)
            if not Path(os.path.realpath(path)).is_relative_to(inside):
                raise OSError(f"a symbolic link leads it out of {shown(orphan.file.place.root)}")
            path.unlink()
        except OSError as error:
            self.is_bad = True
            self.console.fail([f"{shown(path)} cannot be removed: {said_of(error)}"])
            return False
        _remove_empty(_below_home(path))
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


def _below_home(path: Path) -> list[Path]:
    """The folders of a generated file below the folder of its dialect, innermost first; none where it has none."""
    names = [folder.name for folder in path.parents]
    at = next((at for at, name in enumerate(names) if name in _HOMES), 0)
    return list(path.parents[:at])


def _remove_empty(folders: Iterable[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            return
