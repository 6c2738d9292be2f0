"""The options of `kbp convert` beyond how files are read: to what and where, how it is written, what is done."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kbp import dialects
from kbp.commands.options import bad_choice
from kbp.commands.sources import STDIN
from kbp.configuration import Configuration
from kbp.converter.plan import Spelling, Target

FORMATS = ("text", "json")
KEEPS = ("comment", "none")
DIALECTS = tuple(word for word in dialects.names() if word != "auto")


@dataclass(frozen=True)
class Converting:
    """What files are converted to, and how they are written."""

    to: Annotated[
        str | None, typer.Option("--to", metavar="|".join(dialects.DIALECTS), help="The dialect to convert to.")
    ] = None
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="DIR", help="The folder to write to; made if need be.")
    ] = None
    in_place: Annotated[bool, typer.Option("--in-place", help="Write beside each source, and remove the source.")] = (
        False
    )
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            metavar="|".join(KEEPS),
            help="Keep what the dialect cannot say in a comment, to convert back to the byte (--in-place does).",
        ),
    ] = None
    no_mark: Annotated[bool, typer.Option("--no-mark", help="Write no comment that says what generated a file.")] = (
        False
    )
    inline_defaults: Annotated[
        bool, typer.Option("--inline-defaults", help="Write defaults into the text that describes an argument.")
    ] = False

    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="Finding nothing to convert is no error.")] = False

    def faults(self, paths: list[str], configuration: Configuration) -> list[str]:
        """What is wrong with these options."""
        faults = bad_choice("--to", self.to, DIALECTS) if self.to is not None else []
        faults += bad_choice("--keep", self.keep, KEEPS) if self.keep is not None else []
        if self.in_place and self.out:
            faults.append("--in-place and -o: give one of them")
        if self.in_place and not paths:
            faults.append("--in-place removes sources: name the files or folders")
        if self.in_place and STDIN in paths:
            faults.append("--in-place writes beside a file, and - is none")
        if self.to is None and (paths or self.out):
            also = (
                "; the targets of the settings are for a run without PATHS"
                if configuration.value("convert.targets")
                else ""
            )
            faults.append(f"--to is missing: the dialect to convert to, one of {', '.join(DIALECTS)}{also}")
        if self.out is not None and not os.path.isdir(self.out):
            if os.path.lexists(self.out):
                faults.append(f"-o {self.out} is no folder")
            elif self.out.suffix == ".md":
                faults.append(f"-o takes a folder; to write one file: kbp convert FILE --to … > {self.out}")
        return faults

    def targets(self, configuration: Configuration) -> list[Target]:
        """The dialects to convert to, each with its folder; none when neither the options nor the settings say."""
        configured = [
            (dialect, configuration.folder / each["out"] if "out" in each else None)
            for each in configuration.value("convert.targets")
            if (dialect := dialects.dialect_called(each["to"]))
        ]
        if self.to is None or self.to not in DIALECTS:
            return [Target(dialect, out, configuration.folder if out else None) for dialect, out in configured]
        dialect = dialects.dialect_called(self.to)
        if dialect is None:
            return []
        if self.in_place:
            return [Target(dialect, in_place=True)]
        if self.out is not None:
            out = Path(os.path.abspath(self.out))  # noqa: PTH100 (resolve() would follow links)
            return [Target(dialect, out, out)]
        outs = [out for each, out in configured if each is dialect] or [None]
        return [Target(dialect, out, configuration.folder if out else None) for out in outs]

    def spelling(self, configuration: Configuration) -> Spelling:
        """How files are written."""
        keep = self.keep == "comment" if self.keep else self.in_place or configuration.value("convert.keep")
        inline_defaults = self.inline_defaults or configuration.value("convert.inline-defaults")
        return Spelling(not self.no_mark, keep, inline_defaults)


@dataclass(frozen=True)
class Doing:
    """What is done with what files become."""

    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 when a generated file is not what it should be.")
    ] = False
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove generated files whose source is gone, if nobody edited them.")
    ] = False
    diff: Annotated[bool, typer.Option("--diff", help="Show what would change, and change nothing.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written, and write nothing.")] = False
    force: Annotated[
        bool, typer.Option("--force", help="Write over files that were edited, or that kbp did not generate.")
    ] = False
    strict: Annotated[bool, typer.Option("--strict", help="Write nothing and exit 1 when anything is lost.")] = False
    format: Annotated[
        str,
        typer.Option(
            "-f", "--format", metavar="|".join(FORMATS), help="How is reported: on stderr, or as JSON on stdout."
        ),
    ] = "text"

    def faults(self) -> list[str]:
        """What is wrong with these options."""
        faults = bad_choice("--format", self.format, FORMATS)
        instead = [name for name in ("check", "diff", "dry_run") if getattr(self, name)]
        options = [f"--{name.replace('_', '-')}" for name in instead]
        if len(options) > 1:
            faults.append(f"{' and '.join(options)}: give one of them")
        if self.diff and self.format == "json":
            faults.append("--diff prints the differences on stdout: leave out --format json")
        if self.check and (self.prune or self.force):
            faults.append("--check writes nothing: leave out --prune and --force")
        return faults

    @property
    def asks_for_files(self) -> bool:
        """Whether these options speak of files that are or would be written."""
        return self.check or self.prune or self.diff or self.dry_run or self.force or self.format == "json"

    @property
    def writes(self) -> bool:
        """Whether files are written."""
        return not (self.check or self.diff or self.dry_run)
