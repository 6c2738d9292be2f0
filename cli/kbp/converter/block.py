"""The frontmatter of a file as another dialect has it: the lines that stay as they are, and those written anew."""

from collections.abc import Container, Iterator
from dataclasses import replace

from kbp.characters import BOM
from kbp.converter.base import NOWHERE, Job, scalar, skill_name
from kbp.converter.body import read_back
from kbp.document import Document
from kbp.files import PromptFile
from kbp.frontmatter import Entry, quoted
from kbp.model import Argument
from kbp.text import squeeze


def frontmatter(job: Job) -> str:
    """All that stands before the body of the target: byte order mark, frontmatter with its dashes, blank lines."""
    document = job.document
    text = document.text
    lines = [line for entry, written in _entries(document) for line in _kept(entry, written, job)]
    lines += [f"{key}{value}{job.newline}" for key, value in _wanted(job)]
    bom = BOM if text.startswith(BOM) else ""
    if document.block is not None:
        return text[: document.block.start] + "".join(lines) + text[document.block.end : document.body_start]
    if not lines:
        return text[: document.body_start]
    dashes = f"---{job.newline}"
    return f"{bom}{dashes}{''.join(lines)}{dashes}{text[len(bom) : document.body_start]}"


def _entries(document: Document) -> Iterator[tuple[Entry | None, str]]:
    """The lines of the block entry by entry, each with what stands below it; None for what stands above the first."""
    block, text, lines = document.block, document.text, document.lines
    if block is None:
        return
    entries = sorted((document.root.entries if document.root else None) or (), key=lambda entry: entry.key_span)
    numbers = [lines.position(entry.key_span.start).line for entry in entries]
    ends = [lines.position(block.start).line - 1]
    ends += [lines.position(max(entry.value.span.end - 1, entry.key_span.start)).line for entry in entries]
    starts = [_start(number, above, document) for number, above in zip(numbers, ends, strict=False)]
    first = starts[0] if starts else block.end
    if first > block.start:
        yield None, text[block.start : first]
    for at, entry in enumerate(entries):
        end = starts[at + 1] if at + 1 < len(starts) else block.end
        yield entry, text[starts[at] : end]


def _start(number: int, above: int, document: Document) -> int:
    """Where an entry starts whose key stands on that line: with the comments right above it, below what is above."""
    lines = document.lines
    while number - 1 > above and lines.line(number - 1).lstrip(" \t").startswith("#"):
        number -= 1
    return lines.span(number).start


_MEANING = ("description", "arguments", "argument-hint")


def with_keys(
    text: str, after: PromptFile, memory: PromptFile, dropped: Container[str], job: Job
) -> tuple[str, PromptFile]:
    """A converted text with keys that an earlier source had and the dialect in between had not; and the same, read.

    Args:
        text: the converted text.
        after: the same, read.
        memory: the frontmatter of the earlier source.
        dropped: the keys of it that the dialect in between had not.
        job: the conversion.
    """
    block, has = after.document.block, after.document.frontmatter
    back = [
        lines
        for entry, lines in _entries(memory.document)
        if entry is not None and entry.key in dropped and entry.key not in has and entry.key not in _MEANING
    ]
    if not back or block is None:
        return text, after
    more = text[: block.end] + "".join(back) + text[block.end :]
    again = read_back(more, job)
    is_same = again.template is not None and _meaning(again) == _meaning(after)
    return (more, again) if is_same else (text, after)


def _meaning(file: PromptFile) -> tuple[object, ...]:
    template = file.template
    arguments = tuple(replace(each, span=None) for each in template.arguments) if template else ()
    return template.description if template else None, arguments, file.document.body


def _kept(entry: Entry | None, lines: str, job: Job) -> list[str]:
    """The lines of an entry that stay, written anew where the target wants them otherwise."""
    if entry is not None and entry.key == "description" and job.has_own_folder and job.pivot.description is None:
        return []  # one is required there, and written anew
    if entry is None or entry.key == "description":
        return [lines]
    key, hint = entry.key, job.pivot.hint
    if key == "argument-hint" and "free text" in job.target.expresses and "free text" in job.source.expresses:
        if entry.value.items is None:
            return [lines]
        return [f"argument-hint: {quoted(hint)}{job.newline}"] if hint else []
    if key == "arguments" and "declared arguments" in job.source.expresses:
        return [lines] if job.is_within_family and not _is_renamed(job) else []
    if job.is_within_family and key != "name" and key in job.target.keys:
        return [lines]
    says_nothing_more = key == "name" and entry.value.text == job.file.stem
    is_hint = key == "argument-hint" and "free text" in job.source.expresses
    is_shown = is_hint and (job.pivot.is_placed or not hint)
    if not says_nothing_more and not is_shown:
        job.lose("lost", key, entry.key_span, "not written")
    return []


def _is_renamed(job: Job) -> bool:
    return any(old != new for old, new in job.pivot.renamed.items())


def _wanted(job: Job) -> Iterator[tuple[str, str]]:
    """The keys that the target needs besides those that stay, each with the text behind it."""
    keys, pivot = job.document.frontmatter, job.pivot
    if job.has_own_folder:
        yield from _of_skill(job)
    hint = _hint(job)
    if "free text" in job.target.expresses and hint and "argument-hint" not in keys:
        yield "argument-hint: ", quoted(hint)
    are_kept = job.is_within_family and "arguments" in keys and not _is_renamed(job)
    if not pivot.arguments or are_kept:
        return
    if "required" in job.target.expresses:
        yield "arguments:", "".join(_argument(each, job.newline) for each in pivot.arguments.values())
    elif "declared arguments" in job.target.expresses:
        yield "arguments: ", f"[{', '.join(scalar(each.name) for each in pivot.arguments.values())}]"


def _hint(job: Job) -> str | None:
    """The hint, with the defaults of the arguments where a person is to read them in it."""
    hint = job.pivot.hint
    if not job.inline_defaults or job.asks_for_inputs or "default" in job.target.expresses:
        return hint
    inlined = [argument for argument in job.pivot.arguments.values() if argument.default]
    job.inlined |= {argument.name for argument in inlined}
    return squeeze(" ".join([hint or "", *(f"[{each.name}={each.default}]" for each in inlined)])) or None


def _of_skill(job: Job) -> Iterator[tuple[str, str]]:
    name = skill_name(job.name)
    if not name:
        job.refuse(NOWHERE, f"`{job.name}` leaves no name for a skill", "rename the file")
    job.name = name
    yield "name: ", name
    if job.pivot.description is None:
        yield "description: ", scalar(name)
    if not job.is_within_family or "disable-model-invocation" not in job.document.frontmatter:
        yield "disable-model-invocation: ", "true"


def _argument(argument: Argument, newline: str) -> str:
    lines = [f"- name: {scalar(argument.name)}"]
    if argument.description:
        lines.append(f"  description: {scalar(argument.description)}")
    if argument.required:
        lines.append("  required: true")
    if argument.default is not None:
        lines.append(f"  default: {scalar(argument.default)}")
    return "".join(newline + line for line in lines)
