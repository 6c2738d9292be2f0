"""One prompt file loaded: read, its dialect found, its template parsed."""

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from kbp import configuration, regular
from kbp import document as documents
from kbp.dialects import Detection, detect
from kbp.dialects.base import Dialect
from kbp.dialects.copilot import SUFFIX
from kbp.display import said_of
from kbp.document import Document
from kbp.marks import Mark, mark_of
from kbp.model import Prompt, Template
from kbp.text import Problem, Span

MARKERS = (".claude-plugin", ".git", *configuration.FILES)


@dataclass(frozen=True)
class Place:
    """Where a prompt file was found.

    Attributes:
        path: the file.
        root: the folder that its path is relative to: its plugin, project or user folder, unless one was given.
        unit: the plugin or root within which a name can be taken once; None: the root.
        declared: whether a manifest or marketplace declares it a command.
        outright: whether it was named itself, not found in a folder.
        level: which kind of source it was found in, the strongest first; equal names of a weaker one are shadowed.
        boundary: the folder that links may lead to, None when it was named itself.
    """

    path: Path
    root: Path
    unit: Path | None = None
    declared: bool = False
    outright: bool = False
    level: int = 0
    boundary: Path | None = None

    @cached_property
    def relative(self) -> PurePosixPath:
        """The path below the root; the bare name when it lies elsewhere."""
        path, root = str(self.path), str(self.root).rstrip(os.sep) + os.sep  # as text, which is fast
        return PurePosixPath(path[len(root) :].replace(os.sep, "/") if path.startswith(root) else self.path.name)


@dataclass(frozen=True, slots=True)
class Manner:
    """How a file is read.

    Attributes:
        given: the dialect that the command line or the settings say.
        is_configured: whether the settings say it of this very path, which then is a prompt whatever it is called.
        library: the library it is served under.
        skills: whether an Agent Skill is a prompt too.
        extra_keys: keys that the settings allow besides those of the dialect.
        max_file: how many bytes a file may have.
        max_frontmatter: how many characters its frontmatter may have.
        inside: the folder, free of links, in which a file really lies; where that is not known, its place says where.
    """

    given: Dialect | None = None
    is_configured: bool = False
    library: str | None = None
    skills: bool = False
    extra_keys: frozenset[str] = frozenset()
    max_file: int = documents.MAX_FILE
    max_frontmatter: int = documents.MAX_FRONTMATTER
    inside: str | None = None


@dataclass(frozen=True)
class PromptFile:
    """A file and what it is: a prompt (`template`), refused (`problems`), or no prompt file (`is_prompt` False).

    Attributes:
        place: where it was found.
        document: its text with positions.
        detection: its dialect, and why.
        template: what it publishes and how it renders; None when it is refused or no prompt.
        problems: why it is refused, in file order; of a prompt, what is wrong with it all the same.
        manner: how it was read.
    """

    place: Place
    document: Document
    detection: Detection
    template: Template | None = None
    problems: tuple[Problem, ...] = ()
    manner: Manner = Manner()
    path: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", shown(self.place.path))

    @property
    def is_prompt(self) -> bool:
        """Whether this is a prompt file, refused or not."""
        return self.detection.is_prompt

    @property
    def is_refused(self) -> bool:
        """Whether it is a prompt file that does not become a prompt."""
        return self.is_prompt and self.template is None

    @property
    def library(self) -> str | None:
        """The library it is served under."""
        return self.manner.library

    @property
    def dialect(self) -> Dialect | None:
        """The dialect it is in; None for what is no prompt, or where a refused file left it open."""
        return self.detection.dialect

    @property
    def name(self) -> str:
        """The name it is exposed under: the stem, or a skill's folder, with the library in front when there is one."""
        own = self.stem
        return f"{self.library}_{own}" if self.library else own

    @property
    def stem(self) -> str:
        """The name that the file gives: its own without the ending, or that of a skill's folder."""
        return self.place.path.parent.name if self.has_own_folder else stem(self.place.path.name)

    @property
    def has_own_folder(self) -> bool:
        """Whether it is called like its folder, as a skill is."""
        return self.dialect is not None and "own folder" in self.dialect.expresses

    @cached_property
    def mark(self) -> Mark | None:
        """The mark of a file that was generated from another one."""
        return mark_of(self.document)

    @cached_property
    def generated_from(self) -> Path | None:
        """The path of the source of a generated file."""
        if self.mark is None:
            return None
        return Path(os.path.normpath(self.place.path.parent / self.mark.source))

    @property
    def is_offered(self) -> bool:
        """Whether it is a prompt that a person picks: a skill may say that only the model does (`user-invocable`)."""
        if self.template is None or not self.has_own_folder:
            return self.template is not None
        entry = self.document.frontmatter.get("user-invocable")
        return entry is None or entry.value.boolean is not False

    @property
    def folder(self) -> str:
        """The folder that it lies in, below its root, which is what `${CLAUDE_SKILL_DIR}` stands for."""
        return self.place.relative.parent.as_posix()

    @cached_property
    def prompt(self) -> Prompt | None:
        """What an MCP client sees, None when it is refused or no prompt."""
        if self.template is None or self.dialect is None:
            return None
        defaults = {
            argument.name: argument.default for argument in self.template.arguments if argument.default is not None
        }
        meta = {
            "kbp/path": self.path,
            "kbp/dialect": self.dialect.name,
            "kbp/why": self.detection.why,
            "kbp/defaults": defaults,
            "kbp/dropped": list(self.template.dropped),
        }
        return Prompt(self.name, self.template.title, self.template.description, self.template.arguments, meta)


def stem(file_name: str) -> str:
    """The name of a prompt without its ending: `.prompt.md` is cut as one, else the last extension."""
    if file_name.endswith(SUFFIX):
        return file_name.removesuffix(SUFFIX)
    return file_name.rpartition(".")[0] if "." in file_name else file_name


def shown(path: Path) -> str:
    """The path as a person at the current folder would type it."""
    text = str(path)
    if not path.is_absolute():
        return text
    try:
        here = os.getcwd().rstrip(os.sep) + os.sep  # noqa: PTH109 (as text, which is fast)
    except OSError:  # it was removed
        return text
    return text[len(here) :] if text.startswith(here) else os.path.relpath(text, here)


def load(place: Place, manner: Manner = Manner()) -> PromptFile:
    """The prompt file at a place. Never raises on content: a file that cannot be read is refused."""
    data = read_bytes(place.path, manner.max_file, manner.inside or _resolved(place.boundary))
    if isinstance(data, Problem):
        return _understand(Document("", problems=(data,)), place, manner)
    return read(data, place, manner)


def read(data: bytes, place: Place, manner: Manner = Manner()) -> PromptFile:
    """The prompt file that bytes at a place are."""
    document = documents.read(data, max_file=manner.max_file, max_frontmatter=manner.max_frontmatter)
    return _understand(document, place, manner)


def reread(file: PromptFile, text: str) -> PromptFile:
    """The file with another text."""
    return read(text.encode(), file.place, file.manner)


def _understand(document: Document, place: Place, manner: Manner) -> PromptFile:
    outright = place.outright or manner.is_configured
    detection = detect(
        document,
        place.relative,
        given=manner.given,
        outright=outright,
        declared=place.declared,
        skills=manner.skills,
    )
    if manner.is_configured and detection.signal == "given":
        detection = replace(detection, why="the settings give it")
    if not detection.is_prompt:
        return PromptFile(place, document, detection, manner=manner)
    problems = document.problems or ((detection.problem,) if detection.problem else ())
    if not stem(place.path.name):
        message = f"`{place.path.name}` leaves no name for the prompt"
        problems = (*problems, Problem("unusable-name", Span(0, 0), message, "give the file a name before its ending"))
    if problems or detection.dialect is None:
        return PromptFile(place, document, detection, problems=problems, manner=manner)
    parsed = detection.dialect.parse(document)
    problems = parsed.problems
    if parsed.template is None and detection.signal == "body":
        problems = tuple(_doubting(problem, detection) for problem in problems)
    return PromptFile(place, document, detection, parsed.template, problems, manner)


def _doubting(problem: Problem, detection: Detection) -> Problem:
    """The problem with the remark that the dialect was only guessed from the body."""
    name = detection.dialect.name if detection.dialect else ""
    guess = f"read as {name} because of the {detection.why}: if it is not, give its dialect (--dialect)"
    return replace(problem, help=f"{problem.help}; {guess}" if problem.help else guess)


def _resolved(folder: Path | None) -> str | None:
    return os.path.realpath(folder) if folder is not None else None


def read_bytes(path: Path, limit: int = documents.MAX_FILE, inside: str | None = None) -> bytes | Problem:
    """The bytes of a regular file, or why there are none. No more is read than a prompt file may have.

    Where a folder is given (free of links), the file really lies below it, whichever links lead to it.
    """
    try:
        return regular.read(path, limit, inside)
    except regular.TooLong:
        return documents.too_large(limit)
    except OSError as error:
        return _unreadable(said_of(error))


def _unreadable(reason: str) -> Problem:
    return Problem("unreadable-file", Span(0, 0), f"cannot be read: {reason}")


class Roots:
    """Finds the root of a file: the nearest folder above it with a marker, else the folder that was given instead."""

    def __init__(self, given: Path | None = None) -> None:
        self.given = given
        self._known: dict[Path, Path | None] = {}

    def root_of(self, path: Path, otherwise: Path) -> Path:
        """The root of the file (or folder) at `path`."""
        return self.given or self.marked(path.parent) or otherwise

    def marked(self, folder: Path) -> Path | None:
        """The nearest folder with a marker, from `folder` upwards."""
        below: list[Path] = []
        found: Path | None = None
        for each in (folder, *folder.parents):
            if each in self._known:
                found = self._known[each]
                break
            below.append(each)
            if has_marker(each):
                found = each
                break
        self._known.update(dict.fromkeys(below, found))
        return found


def has_marker(folder: Path) -> bool:
    """Whether a project or plugin starts at the folder."""
    if any(os.path.exists(folder / marker) for marker in MARKERS):
        return True
    return configuration.has_table(folder / configuration.PYPROJECT)
