"""A prompt file of one dialect as a file of another that means the same, and what it no longer says."""

from collections.abc import Sequence
from dataclasses import replace

from kbp.converter.base import NOWHERE, Converted, Job, Pivot, spellable
from kbp.converter.block import frontmatter
from kbp.converter.body import check, escaped, parts_of, place_for, read_back
from kbp.converter.keep import Kept, kept_in, source_of, with_kept
from kbp.dialects.base import Dialect, hint_of
from kbp.files import PromptFile, read, reread
from kbp.marks import line_of
from kbp.model import FREE_TEXT, Argument, Template
from kbp.text import Span


def convert(
    file: PromptFile, target: Dialect, *, keep: bool = False, name: str | None = None, inline_defaults: bool = False
) -> Converted:
    """The file in another dialect.

    A file that is no prompt, or is refused, has its problems for an answer. The same dialect gives the same text. The
    result is read back, and what it says otherwise than its source is lost: there is no table of pairs.

    Args:
        file: what is converted. A mark that it was generated itself is not part of it.
        target: the dialect that it is converted to.
        keep: whether a comment keeps what the target cannot say. A file that was converted with it comes back from it
            to the byte, as long as nobody edited it.
        name: what the target is called, if not like the file.
        inline_defaults: whether defaults are written for a person to read where the target has none.
    """
    if file.template is None or file.dialect is None:
        return Converted(None, problems=file.problems)
    if file.dialect is target:
        return Converted(file.document.text)
    name = name or file.stem
    bare, cuts = file, list[Span]()
    if file.mark is not None:
        bare = _cut(bare, line_of(bare.document, file.mark.span, is_alone=True), cuts)
    kept = kept_in(bare.document)
    if kept is not None:
        bare = _cut(bare, line_of(bare.document, kept.span, is_alone=kept.is_alone), cuts)
        if kept.source == target.name:
            restored = _restored(bare, kept, target)
            if restored is not None:
                return Converted(restored)
    converted = _convert(bare, target, name, keep=keep, inline_defaults=inline_defaults)
    return _placed(converted, cuts) if cuts else converted


def _cut(file: PromptFile, span: Span, cuts: list[Span]) -> PromptFile:
    cuts.append(span)
    text = file.document.text
    return reread(file, text[: span.start] + text[span.end :])


def _placed(converted: Converted, cuts: Sequence[Span]) -> Converted:
    """The same with its places where they are in the file before the cuts."""

    def placed(span: Span) -> Span:
        for cut in reversed(cuts):
            if span.end > cut.start:
                length = cut.end - cut.start
                span = Span(span.start + length if span.start >= cut.start else span.start, span.end + length)
        return span

    return Converted(
        converted.text,
        tuple(replace(loss, span=placed(loss.span)) for loss in converted.losses),
        tuple(replace(problem, span=placed(problem.span), fix=None) for problem in converted.problems),
    )


def _restored(file: PromptFile, kept: Kept, target: Dialect) -> str | None:
    """The source that the file was converted from; None when it is not what the file says."""
    if file.dialect is None:
        return None
    source = source_of(kept, file.document.text)
    if source is None:
        return None
    before = read(source.encode("utf-8", "replace"), place_for(target, file.stem), replace(file.manner, given=target))
    if before.template is None:
        return None
    again = _convert(before, file.dialect, file.stem, inline_defaults=kept.is_inlined)
    return source if again.text == file.document.text else None


def _convert(
    file: PromptFile, target: Dialect, name: str, *, keep: bool = False, inline_defaults: bool = False
) -> Converted:
    if file.template is None or file.dialect is None:
        return Converted(None, problems=file.problems)
    job = _job(file, file.template, file.dialect, target, name, inline_defaults=inline_defaults)
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
    if keep and _convert(after, file.dialect, file.stem).text != file.document.text:
        kept = with_kept(text, after.document, file, parts, is_inlined=inline_defaults)
        if kept is None:
            job.lose("lost", "what the target cannot say", NOWHERE, "too much for a comment")
        text = kept or text
    return Converted(text, tuple(job.losses))


def _job(
    file: PromptFile, template: Template, source: Dialect, target: Dialect, name: str, *, inline_defaults: bool
) -> Job:
    declared = [each for each in template.arguments if not each.is_free_text]
    has_free_text = len(declared) < len(template.arguments)
    hint = hint_of(file.document, []) if "free text" in source.expresses else None
    own = next((each for each in declared if each.name == FREE_TEXT), None)
    if own is not None and "positions" in target.expresses and "positions" not in source.expresses:
        declared.remove(own)  # it is what a command calls the free text
        has_free_text, hint = True, own.description or hint
    pivot = Pivot(template.description, hint, has_free_text)
    job = Job(file, template, source, target, name, inline_defaults, pivot)
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
    """Note what the target no longer says of the name, the description and the arguments."""
    pivot = job.pivot
    if job.name != job.file.stem:
        job.lose("approximated", f"name {job.file.stem}", NOWHERE, job.name)
    entry = job.document.frontmatter.get("description")
    if template.description != pivot.description and not (job.has_own_folder and pivot.description is None):
        job.lose("lost", "description", entry.key_span if entry else NOWHERE, "not written")
    has = {argument.name: argument for argument in template.arguments}
    for argument in pivot.arguments:
        span, other = argument.span or NOWHERE, has.get(argument.name)
        if other is None:
            job.lose("lost", f"argument {argument.name}", span, "not published")
            continue
        is_inlined = argument.name in job.inlined
        shown = (other.description or "").startswith(argument.description or "") and is_inlined
        if argument.description and argument.description != other.description and not shown:
            job.lose("lost", "argument description", span, argument.name)
        if argument.required and not other.required:
            job.lose("lost", "required", span, f"{argument.name} becomes optional")
        if argument.default != other.default:
            where = f"{argument.name}, written for a person to read" if is_inlined else argument.name
            job.lose("approximated" if is_inlined else "lost", "default", span, where)
    meant = [argument.name for argument in pivot.arguments if argument.name in has]
    order = [argument.name for argument in template.arguments if argument.name in meant]
    if order != meant:
        job.lose("approximated", "argument order", NOWHERE, ", ".join(order))
