"""Prompt files that were found, loaded, as one source of prompts."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kbp import renderer
from kbp.files import Manner, Place, PromptFile, load
from kbp.model import Message, Prompt
from kbp.search import Search


class NotFound(LookupError):
    """No prompt, or no path, of that name; `candidates` are the nearest ones."""

    def __init__(self, message: str, candidates: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


class Ambiguous(NotFound):
    """More than one prompt of that name; `candidates` are their paths."""


@dataclass(frozen=True)
class Library:
    """The prompt files that were found, as a source of prompts.

    `files` are all of them in order. Of two prompts that one client would merge — of one plugin or root, or of one
    library — the first in sorted order serves the name. A file that was generated from another one of them is left out,
    unless `generated` ones are asked for.
    """

    files: tuple[PromptFile, ...]
    search: Search = field(default_factory=Search)
    generated: bool = False

    @property
    def served(self) -> tuple[PromptFile, ...]:
        """The prompts on offer, in order of their names."""
        lost = {id(file) for file, _ in (*self.collisions(), *self.shadowed())}
        lost |= set() if self.generated else {id(file) for file in twins(self.files)}
        return tuple(sorted(self._prompts(lost), key=lambda file: (file.name, file.path)))

    def _prompts(self, lost: set[int]) -> Iterator[PromptFile]:
        return (file for file in self.files if file.is_offered and id(file) not in lost)

    def collisions(self) -> list[tuple[PromptFile, PromptFile]]:
        """The prompts whose name is taken within their plugin, root or library, each with the one that serves it."""
        return [(file, group[0]) for group in colliding(self.files) for file in group[1:]]

    def shadowed(self) -> list[tuple[PromptFile, PromptFile]]:
        """The prompts whose name a stronger source serves too, each with the one that serves it."""
        taken: dict[str, PromptFile] = {}
        shadowed: list[tuple[PromptFile, PromptFile]] = []
        left_out = set(map(id, twins(self.files)))
        for file in sorted((each for each in self.files if each.template and id(each) not in left_out), key=_rank):
            first = taken.setdefault(file.name, file)
            if first.place.level < file.place.level:
                shadowed.append((file, first))
        return shadowed

    def prompts(self) -> list[Prompt]:
        """The prompts on offer as an MCP client sees them."""
        return [file.prompt for file in self.served if file.prompt is not None]

    def messages(self, name: str, arguments: Mapping[str, str | None]) -> Sequence[Message]:
        """What the prompt of that name becomes.

        Raises:
            NotFound: no prompt, or more than one, has the name.
            renderer.MissingArguments: a required argument has no value.
        """
        file = self.find(name)
        if file.template is None:
            raise NotFound(f"{name} is refused")
        return renderer.render(file.template, arguments, file.library, file.folder)

    def find(self, name: str) -> PromptFile:
        """The file of the prompt that is exposed as `name`, else of the only one with that stem.

        A refused file is found too, when nothing else has its name, or only a weaker source has.

        Raises:
            NotFound: none has it, or more than one.
        """
        refused = tuple(file for file in self.files if file.is_refused)
        for among in (self.served, refused):
            for kind in (_exposed_name, _stem):
                found = [file for file in among if kind(file) == name]
                if len(found) == 1:
                    stronger = (each for each in refused if kind(each) == name and _rank(each)[0] < _rank(found[0])[0])
                    return next(stronger, found[0])
                if found:
                    raise Ambiguous(f"{len(found)} prompts are called '{name}'", [file.path for file in found])
        raise NotFound(f"no prompt is called '{name}'", self.nearest(name))

    def nearest(self, name: str) -> list[str]:
        """The three nearest prompts, each with its path."""
        words: dict[str, PromptFile] = {}
        for file in self.files:
            if file.is_prompt:
                for word in (_stem(file), _exposed_name(file)):
                    words.setdefault(word.lower(), file)
        near = difflib.get_close_matches(name.lower(), words, n=6)
        files = {id(words[word]): words[word] for word in near}
        return [f"{file.name} ({file.path})" for file in list(files.values())[:3]]


def _exposed_name(file: PromptFile) -> str:
    return file.name


def _stem(file: PromptFile) -> str:
    return file.stem


def _rank(file: PromptFile) -> tuple[int, Path]:
    return file.place.level, file.place.path


def twins(files: Iterable[PromptFile]) -> list[PromptFile]:
    """The files that were generated from another one of them that is a prompt."""
    among = list(files)
    paths = {file.place.path for file in among if file.template is not None}
    return [file for file in among if file.generated_from in paths]


def colliding(files: Iterable[PromptFile]) -> list[list[PromptFile]]:
    """The groups of prompts that one client would merge: equal names in one library, or in one plugin or root.

    A generated file never collides with its source.
    """
    files = list(files)
    left_out = set(map(id, twins(files)))
    groups: dict[tuple[str, str], list[PromptFile]] = {}
    for file in files:
        if file.template is not None and id(file) not in left_out:
            groups.setdefault((file.library or str(file.place.unit or file.place.root), file.name), []).append(file)
    return [sorted(group, key=_rank) for group in groups.values() if len(group) > 1]


def load_all(
    search: Search,
    manner_of: Callable[[Path], Manner] = lambda path: Manner(),
    load: Callable[[Place, Manner], PromptFile] = load,
) -> Library:
    """The library of all places found, each file loaded in the manner of its path."""
    return Library(tuple(load(place, manner_of(place.path)) for place in search.places), search)
