"""The options of `kbp lint` beyond how files are read: which rules, what is fixed, what is reported and how."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kbp import dialects
from kbp.commands.options import bad_choice
from kbp.commands.sources import STDIN
from kbp.configuration import Configuration
from kbp.diagnostics import Report
from kbp.linter.choice import Choice, choose
from kbp.output import ci, diagnostics

FORMATS: dict[str, Callable[[Report, bool], str]] = {
    **diagnostics.FORMATS,
    "github": ci.github,
    "gitlab": ci.gitlab,
    "sarif": ci.sarif,
}


@dataclass(frozen=True)
class Choosing:
    """Which rules are run."""

    select: Annotated[
        list[str] | None,
        typer.Option("--select", metavar="RULES", help="Run these rules only, parted by commas; all are all."),
    ] = None
    extend_select: Annotated[
        list[str] | None, typer.Option("--extend-select", metavar="RULES", help="Run these rules besides.")
    ] = None
    ignore: Annotated[list[str] | None, typer.Option("--ignore", metavar="RULES", help="Do not run these rules.")] = (
        None
    )

    to: Annotated[
        str | None,
        typer.Option("--to", metavar="|".join(dialects.DIALECTS), help="Find what `kbp convert --to` would lose, too."),
    ] = None

    def choice(self, configuration: Configuration, faults: list[str]) -> Choice:
        """The rules that these options and the settings choose; what is no rule is put to the faults."""
        words = [word for word in dialects.names() if word != "auto"]
        faults += bad_choice("--to", self.to, words) if self.to is not None else []
        return choose(
            configuration,
            faults,
            to=dialects.dialect_called(self.to) if self.to in words and self.to else None,
            select=self.select or (),
            extend_select=self.extend_select or (),
            ignore=self.ignore or (),
        )


@dataclass(frozen=True)
class Fixing:
    """What is done about findings."""

    fix: Annotated[bool, typer.Option("--fix", help="Apply the safe fixes.")] = False
    unsafe_fixes: Annotated[
        bool, typer.Option("--unsafe-fixes", help="With --fix or --diff: apply the unsafe fixes too.")
    ] = False
    diff: Annotated[bool, typer.Option("--diff", help="Show what --fix would change, and change nothing.")] = False
    exit_non_zero_on_fix: Annotated[
        bool, typer.Option("--exit-non-zero-on-fix", help="Exit with 1 when something was fixed.")
    ] = False
    add_ignores: Annotated[
        bool, typer.Option("--add-ignores", help="Write a comment into each file that hides what is found in it now.")
    ] = False

    def faults(self, *, reads_stdin: bool) -> list[str]:
        """What is wrong with these options."""
        faults = []
        if self.unsafe_fixes and not (self.fix or self.diff):
            faults.append("--unsafe-fixes: give --fix or --diff too")
        if self.exit_non_zero_on_fix and not self.fix:
            faults.append("--exit-non-zero-on-fix: give --fix too")
        if self.add_ignores and (self.fix or self.diff):
            faults.append("--add-ignores does not go with --fix or --diff: do one after the other")
        if self.add_ignores and reads_stdin:
            faults.append("--add-ignores writes into files, and - is none")
        return faults


@dataclass(frozen=True)
class Reporting:
    """What is reported, and how."""

    format: Annotated[
        str | None, typer.Option("-f", "--format", metavar="|".join(FORMATS), help="How findings are printed.")
    ] = None
    output: Annotated[
        list[str] | None,
        typer.Option("--output", metavar="FORMAT=FILE", help="Write the findings to FILE too. Repeatable."),
    ] = None
    statistics: Annotated[bool, typer.Option("--statistics", help="Count the findings of each rule.")] = False
    show_files: Annotated[bool, typer.Option("--show-files", help="Print the files that would be looked at.")] = False
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for warnings too.")] = False
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 whatever is found.")] = False
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="FILE", help="Leave out the findings that FILE knows.")
    ] = None
    write_baseline: Annotated[
        Path | None, typer.Option("--write-baseline", metavar="FILE", help="Write all findings of now to FILE.")
    ] = None

    def faults(self, fixing: Fixing) -> list[str]:
        """What is wrong with these options, and with what is asked for beside them."""
        faults = self._unused(fixing)
        faults += bad_choice("--format", self.format, FORMATS) if self.format is not None else []
        for text in self.output or []:
            format, equals, file = text.partition("=")
            if not equals or not file:
                faults.append(f"--output {text}: write it as --output FORMAT=FILE")
            elif file == STDIN:
                faults.append(f"--output {text}: stdout has what --format says")
            else:
                faults += bad_choice("--output", format, FORMATS)
        if self.statistics and self.format not in (None, "full", "concise", "json"):
            faults.append("--statistics is printed as text, or as JSON with --format json")
        files = [os.path.realpath(text.partition("=")[2]) for text in self.output or []]
        if len(set(files)) < len(files):
            faults.append("--output: two of them go to one file")
        if self.baseline and self.write_baseline:
            faults.append("--baseline and --write-baseline: give one of them")
        return faults

    def _unused(self, fixing: Fixing) -> list[str]:
        """The options that would do nothing, because the findings are not what is printed."""
        instead = "--diff" if fixing.diff else "--show-files" if self.show_files else None
        if instead is None:
            return []
        options = {
            "--format": self.format,
            "--output": self.output,
            "--statistics": self.statistics,
            "--baseline": self.baseline,
            "--write-baseline": self.write_baseline,
        }
        return [f"{instead} prints no findings: leave out {name}" for name, value in options.items() if value]


@dataclass(frozen=True)
class Narrowing:
    """Which of the files are looked at."""

    changed: Annotated[
        bool, typer.Option("--changed", help="Only files that differ from HEAD in git, new ones too.")
    ] = False
    changed_since: Annotated[
        str | None, typer.Option("--changed-since", metavar="REV", help="Only files that differ from that revision.")
    ] = None
    force_exclude: Annotated[
        bool, typer.Option("--force-exclude", help="Leave out ignored and excluded files that are named, too.")
    ] = False
    allow_empty: Annotated[bool, typer.Option("--allow-empty", help="Finding no file to look at is no error.")] = False

    def faults(self, *, reads_stdin: bool) -> list[str]:
        """What is wrong with these options."""
        faults = []
        if self.changed_since == "":
            faults.append("--changed-since: no revision is named")
        if self.changes_only and reads_stdin:
            faults.append("--changed asks git, which does not know the file on stdin")
        return faults

    @property
    def changes_only(self) -> bool:
        """Whether only what has changed is looked at."""
        return self.changed or self.changed_since is not None
