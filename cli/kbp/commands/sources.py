"""Where prompts come from, and how their files are read: the options that say so."""

import dataclasses
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kbp import configuration as configurations
from kbp import dialects, settings
from kbp.commands.console import Console, Stop
from kbp.commands.options import bad_choice
from kbp.configuration import Configuration
from kbp.dialects.base import Dialect
from kbp.display import safe_line
from kbp.files import Manner, PromptFile, Roots, read, shown
from kbp.library import Library, load_all
from kbp.search import Search, Surroundings, find_beside, find_in_project, find_in_user_folders, find_paths

if TYPE_CHECKING:
    from kbp.libraries.file import Declaration

STDIN = "-"
_MAX_TOLD = 10


@dataclasses.dataclass(frozen=True)
class Reading:
    """How prompt files are read."""

    root: Annotated[
        Path | None,
        typer.Option("--root", metavar="DIR", help="The folder that paths are relative to; found by its marks."),
    ] = None
    library: Annotated[
        str | None,
        typer.Option("--library", metavar="NAME", help="Expose the prompts as NAME_stem."),
    ] = None
    dialect: Annotated[
        str, typer.Option("--dialect", metavar="|".join(dialects.names()), help="The dialect of what is read.")
    ] = "auto"

    def faults(self) -> list[str]:
        """What is wrong with these options."""
        faults = bad_choice("--dialect", self.dialect, dialects.names())
        if self.root is not None and not os.path.isdir(self.root):
            faults.append(f"--root {self.root}: there is no such folder")
        if self.library is not None and not _is_library(self.library):
            rule = "its name has no slash, no blanks around it and no control characters"
            faults.append(f"--library {self.library!r}: {rule}")
        return faults

    @property
    def given(self) -> Dialect | None:
        """The dialect that was asked for, None too when there is no such one (a fault of its own)."""
        return dialects.dialect_called(self.dialect) if self.dialect in dialects.names() else None

    @property
    def given_root(self) -> Path | None:
        """The root that was asked for, as an absolute path; None too when it is no folder (a fault of its own)."""
        if self.root is None or not os.path.isdir(self.root):
            return None
        return Path(os.path.abspath(self.root))  # noqa: PTH100 (resolve() would follow links)

    def load(self, search: Search, configuration: Configuration, *, skills: bool = False) -> Library:
        """The files that a search found; `skills` are prompts only if asked."""
        return load_all(search, lambda path: self.manner(path, configuration, skills=skills))

    def manner(self, path: Path, configuration: Configuration, *, skills: bool) -> Manner:
        """How the file at a path is read: as the options say, else the settings."""
        configured = next((word for patterns, word in configuration.dialects if patterns.hold(str(path))), None)
        is_configured = self.given is None and configured is not None
        return Manner(
            dialects.dialect_called(configured) if is_configured and configured else self.given,
            is_configured,
            self.library,
            skills,
            frozenset(configuration.value("lint.extra-keys")),
            configuration.value("max-file"),
            configuration.value("max-frontmatter"),
        )

    def find_named(self, paths: Iterable[str], configuration: Configuration, *, skills: bool) -> Search:
        """The prompt files that paths name.

        Raises:
            Stop: a path names nothing.
        """
        search = Search(excluded=configuration.excluded, skills=skills)
        faults = find_paths([path for path in paths if path != STDIN], self.given_root, search)
        if faults:
            raise Stop(faults)
        return search

    def find_configured(self, search: Search, configuration: Configuration) -> None:
        """The prompt files of the paths that the settings name.

        Raises:
            Stop: one of them names nothing.
        """
        named = [*configuration.value("paths"), *_written_to(configuration)]
        paths = [os.path.join(configuration.folder, path) for path in named]  # noqa: PTH118
        faults = find_paths(paths, self.given_root, search)
        if faults:
            raise Stop([f"{configuration.path}: paths: {fault}" for fault in faults])

    def find_project(self, search: Search, here: Path | None = None) -> None:
        """The prompt files of the project that a folder lies in, the current one if none is given."""
        here = here or Path.cwd()
        root = self.given_root or Roots().marked(here)
        if root is not None:
            find_in_project(root, search, given_root=self.given_root)
        else:
            find_beside(here, search)


@dataclasses.dataclass(frozen=True)
class PipedReading(Reading):
    """How prompt files are read, of which one may come from stdin."""

    stdin_filename: Annotated[
        str | None,
        typer.Option("--stdin-filename", metavar="NAME", help="What the file read from stdin (-) is called."),
    ] = None

    def faults(self, *, reads_stdin: bool = False) -> list[str]:
        """What is wrong with these options; `reads_stdin` says whether a prompt file is read from stdin."""
        faults = super().faults()
        if self.stdin_filename is not None and not reads_stdin:
            faults.append("--stdin-filename names the file read from stdin: give - as a path too")
        return faults

    def load_with(
        self, stdin: PromptFile | None, search: Search, configuration: Configuration, *, skills: bool = False
    ) -> Library:
        """The files that a search found, and the one on stdin when there is one, which stands for its file."""
        found = self.load(search, configuration, skills=skills)
        if stdin is None:
            return found
        return Library((*(file for file in found.files if file.place.path != stdin.place.path), stdin), search)

    def from_stdin(self, console: Console) -> PromptFile:
        """The prompt file on stdin."""
        path = Path.cwd() / (self.stdin_filename or STDIN)
        place = Surroundings(self.given_root).place_of(path)
        manner = self.manner(path, console.configuration, skills=True)
        return read(console.read_stdin(manner.max_file + 1), place, manner)


@dataclasses.dataclass(frozen=True)
class Sources(PipedReading):
    """Where prompts come from."""

    path: Annotated[
        list[str] | None,
        typer.Option(
            "-p",
            "--path",
            metavar="PATH",
            help="A file, folder or glob to look in, and nowhere else. Repeatable. (KBP_PATH has more, without it.)",
        ),
    ] = None
    library_config: Annotated[
        Path | None,
        typer.Option(
            "--library-config",
            metavar="FILE",
            help="A file of plugins and libraries: their prompts, each named LIBRARY_stem, and no others.",
        ),
    ] = None
    skills: Annotated[bool, typer.Option("--skills", help="Agent Skills that a person may invoke are prompts too.")] = (
        False
    )
    project_only: Annotated[bool, typer.Option("--project-only", help="Leave out the user's own folders.")] = False

    def find(self, console: Console) -> Library:
        """The prompts of the paths, else of `KBP_PATH`, the project and the user's folders.

        Raises:
            Stop: a path names nothing, or there are no prompts.
        """
        if self.library_config is not None:
            found = self._of_libraries(self.library_config, console)
        elif self.path:
            stdin = self.from_stdin(console) if STDIN in self.path else None
            configuration = console.configuration
            search = self.find_named(self.path, configuration, skills=self.skills)
            found = self.load_with(stdin, search, configuration, skills=self.skills)
        else:
            found = self.everywhere(console.configuration, console)
        tell_search(found.search, console)
        if not any(file.is_prompt for file in found.files):
            raise nothing_found(found, "-p PATH")
        return found

    def faults(self, *, reads_stdin: bool = False) -> list[str]:
        """What is wrong with these options; `reads_stdin` says whether a prompt file is read from stdin."""
        faults = super().faults(reads_stdin=reads_stdin)
        if self.library_config is not None and (self.path or self.library is not None):
            faults.append(
                "--library-config says where prompts are and which library they are of: give no -p and --library"
            )
        return faults

    def _of_libraries(self, path: Path, console: Console) -> Library:
        """The prompts of the libraries that a file declares. What they do not serve is told.

        Raises:
            Stop: the file cannot be used.
        """
        from kbp.libraries import served

        declared = declaration(path)
        configuration = console.configuration
        libraries = served.serve(declared, lambda each: self.manner(each, configuration, skills=self.skills))
        for library in libraries:
            for conflict in library.conflicts:
                console.warn(safe_line(f"library {library.name}: {conflict}"))
            for passed in library.passed:
                console.hint(safe_line(f"note: library {library.name}: {passed.path}: {passed.reason}"))
        return served.files_of(libraries)

    def everywhere(self, configuration: Configuration, console: Console | None = None) -> Library:
        """The prompts of `KBP_PATH`, of the settings' `paths`, the project and the user's folders.

        A stale path in `KBP_PATH` is warned of.

        Raises:
            Stop: a path of the settings names nothing.
        """
        search = Search(level=1, excluded=configuration.excluded, skills=self.skills)
        for fault in find_paths(settings.extra_paths(), self.given_root, search):
            if console is not None:
                console.warn(f"KBP_PATH: {fault}")
        search.level = 2
        self.find_configured(search, configuration)
        search.level = 3
        self.find_project(search)
        search.level = 4
        if not self.project_only:
            find_in_user_folders(search)
        return self.load(search, configuration, skills=self.skills)


def declaration(path: Path) -> "Declaration":
    """The libraries that a file declares.

    Raises:
        Stop: the file cannot be used.
    """
    from kbp.libraries import file

    try:
        return file.load(path)
    except configurations.Wrong as wrong:
        raise Stop(wrong.faults) from None


def _written_to(configuration: Configuration) -> list[str]:
    """The folders that `kbp convert` writes to, as far as they are there."""
    outs = (target.get("out") for target in configuration.value("convert.targets"))
    return [out for out in outs if out is not None and os.path.isdir(configuration.folder / out)]


def _is_library(name: str) -> bool:
    return bool(name) and name == name.strip() and "/" not in name and name.isprintable()


def nothing_found(found: Library, way_out: str) -> Stop:
    """The error that there are no prompts, with where was looked, what was there instead, and how to look elsewhere."""
    passed = [(shown(skipped.path), skipped.reason) for skipped in found.search.skipped if not skipped.is_fault]
    passed += [(file.path, file.detection.why) for file in found.files if not file.is_prompt]
    help = [f"  {safe_line(path)}: {safe_line(reason)}" for path, reason in passed[:_MAX_TOLD]]
    if len(passed) > _MAX_TOLD:
        help.append(f"  and {len(passed) - _MAX_TOLD} more")
    if not found.search.looked_in:
        return Stop("none of the files named is a prompt file", help=help)
    places = ", ".join(shown(folder) for folder in found.search.looked_in)
    help += [
        "  looked for prompts/, commands/, .claude/commands/, .github/prompts/*.prompt.md, and plugins with a manifest",
        f"  {way_out} looks elsewhere",
    ]
    return Stop(f"no prompt files found in {places}", help=help)


def tell_search(search: Search, console: Console, reported: Collection[str] = ()) -> None:
    """Say what a search noted and which manifests are broken; in detail, where it looked and what it skipped.

    What a rule reports that is among those `reported` is left to it.
    """
    for note in search.notes:
        console.hint(f"note: {note}")
    for folder in search.looked_in:
        console.detail(f"looked in {shown(folder)}")
    for skipped in search.skipped:
        line = f"skipped {safe_line(shown(skipped.path))}: {safe_line(skipped.reason)}"
        if skipped.is_fault and skipped.rule not in reported:
            console.fail([line])
        else:
            console.detail(line)


def tell_files(files: Iterable[PromptFile], console: Console) -> None:
    """Tell those who want more which files are no prompts, and which keys of the others are dropped."""
    for file in files:
        if not file.is_prompt:
            console.detail(f"skipped {safe_line(file.path)}: {safe_line(file.detection.why)}")
        elif file.template is not None and file.template.dropped:
            dropped = safe_line(", ".join(file.template.dropped))
            console.detail(f"{safe_line(file.path)}: dropped {dropped} (no meaning over MCP)")
