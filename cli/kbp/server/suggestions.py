"""The values that a prompt file itself lists for an argument: its default, and the alternatives of its hint."""

import re
from collections.abc import Iterator, Sequence

from kbp.files import PromptFile
from kbp.model import Argument

_GROUP = re.compile(r"\[[^][]*\]|<[^<>]*>|\([^()]*\)|[^\s|]+|\|")
_WORD = re.compile(r"[\w.:/@+=-]+")
_MAX_HINT = 1_000
MAX_VALUES = 100
"""How many values a completion may have, by the protocol."""


def values_of(file: PromptFile, name: str) -> tuple[str, ...]:
    """The values that are listed for an argument, each once; none for what has no such argument."""
    if file.template is None:
        return ()
    argument = next((each for each in file.template.arguments if each.name == name), None)
    if argument is None:
        return ()
    found = [argument.default] if argument.default else []
    return tuple(dict.fromkeys([*found, *_listed(file, argument)]))


def matching(values: Sequence[str], typed: str) -> list[str]:
    """The values that start with what is typed, in any case; what is the same comes first.

    VS Code takes the first one on Enter instead of what was typed (1.138.0).
    """
    start = typed.casefold()
    return sorted((each for each in values if each.casefold().startswith(start)), key=lambda each: each != typed)


def _listed(file: PromptFile, argument: Argument) -> Iterator[str]:
    hint = _hint(file)
    names = file.template.positions if file.template else ()
    if argument.is_free_text:
        yield from _alternatives(hint)
    elif argument.name in names:
        groups = _groups(hint)
        at = names.index(argument.name)
        if at < len(groups):
            yield from _alternatives(groups[at])
    elif argument.description:  # the text beside a Copilot input is all that says what it takes
        yield from _alternatives(argument.description)


def _hint(file: PromptFile) -> str:
    entry = file.document.frontmatter.get("argument-hint")
    if entry is None:
        return ""
    if entry.value.items is not None:
        return " ".join(f"[{each.text}]" for each in entry.value.items if each.text)
    return entry.value.text or ""


def _groups(hint: str) -> list[str]:
    """The parts of a hint, one an argument: `<app> [low|high]`."""
    groups: list[str] = []
    hint = hint[:_MAX_HINT]
    is_open = False
    for piece in _GROUP.findall(hint):
        if piece == "|":
            is_open = True
        elif is_open and groups:
            groups[-1] += f"|{piece}"
            is_open = False
        else:
            groups.append(piece)
    return groups


def _alternatives(text: str) -> Iterator[str]:
    """The words that a text offers to choose from: `[low|high]`, or the first words of `add [x] | rm [x]`."""
    inner = text[:_MAX_HINT].strip()
    while inner[:1] + inner[-1:] in ("[]", "<>", "()") and len(_GROUP.findall(inner)) == 1:
        inner = inner[1:-1].strip()
    parts: list[list[str]] = [[]]
    for piece in _GROUP.findall(inner):
        if piece == "|":
            parts.append([])
        else:
            parts[-1].append(piece)
    if len(parts) < 2 or not all(part and _WORD.fullmatch(part[0]) for part in parts):
        return
    is_choice = all(len(part) == 1 for part in parts)
    if is_choice or all(len(part) == 1 or part[1][0] in "[<(" for part in parts):
        yield from (part[0] for part in parts)
