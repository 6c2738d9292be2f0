"""A prompt file of one dialect as a file of another that means the same, and what it no longer says."""

from collections.abc import Sequence
from dataclasses import replace

from kbp.converter.base import NOWHERE, Converted, Job, Pivot, spellable
from kbp.converter.block import frontmatter
from kbp.converter.body import check, escaped, parts_of, read_back
from kbp.dialects.base import Dialect, hint_of
from kbp.files import PromptFile
from kbp.model import FREE_TEXT, Argument, Template


def convert(file: PromptFile, target: Dialect) -> Converted:
    """The file in another dialect.

    A file that is no prompt, or is refused, has its problems for an answer. The same dialect gives the same text. The
    result is read back, and what it says otherwise than its source is lost: there is no table of pairs.
    """
    if file.template is None or file.dialect is None:
        return Converted(None, problems=file.problems)
    if file.dialect is target:
        return Converted(file.document.text)
    job = _job(file, file.template, file.dialect, target)
    parts = parts_of(job)
    head = frontmatter(job)
    if job.has_typed_text and not job.is_within_family:
        parts = escaped(parts, head, job)
    if job.problems:
        return Converted(None, problems=tuple(job.problems))
    text = head + "".join(part.text for part in parts)
    after = read_back(text, job)
    check(after, parts, len(head), job)
    if job.problems or after.template is None:
        return Converted(None, problems=tuple(job.problems) or after.problems)
    _compare(after.template, job)
    return Converted(text, tuple(job.losses))


def _job(file: PromptFile, template: Template, source: Dialect, target: Dialect) -> Job:
    declared = [each for each in template.arguments if not each.is_free_text]
    has_free_text = len(declared) < len(template.arguments)
    hint = hint_of(file.document, []) if "free text" in source.expresses else None
    own = next((each for each in declared if each.name == FREE_TEXT), None)
    if own is not None and "positions" in target.expresses and "positions" not in source.expresses:
        declared.remove(own)  # it is what a command calls the free text
        has_free_text, hint = True, own.description or hint
    job = Job(file, template, source, target, Pivot(template.description, hint, has_free_text))
    _name(declared, job)
    return job


def _name(declared: Sequence[Argument], job: Job) -> None:
    """Give the declared arguments names that the target can spell."""
    taken: set[str] = set()
    for argument in declared:
        name, place = argument.name, argument.span or NOWHERE
        if job.target.spell(name) is None:
            name = spellable(name)
            job.lose("approximated", f"name {argument.name}", place, name)
        if job.target.spell(name) is None:
            message = f"`{argument.name}` is no name that a {job.target.name} file can spell"
            job.refuse(place, message, "rename it in the source")
        elif name in taken:
            job.refuse(place, f"two arguments would be called `{name}`", "rename one of them in the source")
        taken.add(name)
        job.pivot.renamed[argument.name] = name
        job.pivot.arguments.append(replace(argument, name=name))


def _compare(template: Template, job: Job) -> None:
    """Note what the target no longer says of the description and the arguments."""
    pivot = job.pivot
    entry = job.document.frontmatter.get("description")
    if template.description != pivot.description and not (job.has_own_folder and pivot.description is None):
        job.lose("lost", "description", entry.key_span if entry else NOWHERE, "not written")
    has = {argument.name: argument for argument in template.arguments}
    for argument in pivot.arguments:
        span, other = argument.span or NOWHERE, has.get(argument.name)
        if other is None:
            job.lose("lost", f"argument {argument.name}", span, "not published")
            continue
        if argument.description and argument.description != other.description:
            job.lose("lost", "argument description", span, argument.name)
        if argument.required and not other.required:
            job.lose("lost", "required", span, f"{argument.name} becomes optional")
        if argument.default != other.default:
            job.lose("lost", "default", span, argument.name)
    meant = [argument.name for argument in pivot.arguments if argument.name in has]
    order = [argument.name for argument in template.arguments if argument.name in meant]
    if order != meant:
        job.lose("approximated", "argument order", NOWHERE, ", ".join(order))
