"""A prompt file of one dialect as a file of another that means the same, and what it no longer says."""

from collections.abc import Sequence
from dataclasses import replace

from kbp.converter.bare import Bare, bare_of, not_written
from kbp.converter.base import NOWHERE, Converted, Job, Loss, Note, Pivot, spellable
from kbp.converter.block import frontmatter, with_keys
from kbp.converter.body import check, escaped, note_references, parts_of, place_for, read_back
from kbp.converter.keep import Kept, is_damaged, source_of, with_kept
from kbp.dialects.base import Dialect, hint_of
from kbp.files import PromptFile, read
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
    bare = bare_of(file)
    memory = None
    if bare.kept is not None and bare.kept.source == target.name:
        restored = _restored(bare.file, bare.kept, target)
        if restored is not None:
            keys = _read_as(restored, target, file).document.frontmatter.keys() - bare.file.document.frontmatter.keys()
            note = Note(NOWHERE, f"its comment gave back {', '.join(sorted(keys))}")
            return Converted(restored, notes=(note,) if keys else ())
        memory = _remembered(bare.file, bare.kept, target)
    converted = _convert(
        bare.file,
        target,
        name or file.stem,
        whole=bare.whole if keep else None,
        inline_defaults=inline_defaults,
        memory=memory,
    )
    return bare.placed(_told(converted, file, bare, memory, keep=keep))


def _told(converted: Converted, file: PromptFile, bare: Bare, memory: PromptFile | None, *, keep: bool) -> Converted:
    """The conversion with what became of a comment that keeps another dialect's words."""
    losses, notes = list(converted.losses), list(converted.notes)
    if bare.kept is None and is_damaged(file.document):
        notes.append(Note(NOWHERE, "the comment that keeps the words of another dialect is damaged, and not used"))
    if bare.kept is not None and converted.text is not None:
        if memory is not None:
            notes.append(
                Note(NOWHERE, "it was edited since it was converted: what a comment keeps came back for the rest")
            )
        elif not keep:
            losses.append(Loss("lost", f"what a comment keeps of {bare.kept.source}", NOWHERE, "not written"))
    return replace(converted, losses=tuple(losses), notes=tuple(notes))


def _read_as(text: str, dialect: Dialect, file: PromptFile) -> PromptFile:
    return read(text.encode("utf-8", "replace"), place_for(dialect, file.stem), replace(file.manner, given=dialect))


def _restored(file: PromptFile, kept: Kept, target: Dialect) -> str | None:
    """The source that the file was converted from; None when it is not what the file says."""
    source = source_of(kept, file.document.text)
    if source is None or file.dialect is None:
        return None
    before = _read_as(source, target, file)
    if before.template is None:
        return None
    again = _convert(bare_of(before).file, file.dialect, file.stem, inline_defaults=kept.is_inlined)
    return source if again.text == file.document.text else None


def _remembered(file: PromptFile, kept: Kept, target: Dialect) -> PromptFile | None:
    """The frontmatter that the source had, as a file of its own; None when it is none."""
    before = _read_as(kept.head, target, file)
    return bare_of(before).file if before.template is not None and before.document.block is not None else None


def _convert(
    file: PromptFile,
    target: Dialect,
    name: str,
    *,
    whole: PromptFile | None = None,
    inline_defaults: bool = False,
    memory: PromptFile | None = None,
) -> Converted:
    """The bare file in another dialect; a comment keeps the `whole` one if there is such."""
    if file.template is None or file.dialect is None:
        return Converted(None, problems=file.problems)
    job = _job(file, file.template, file.dialect, target, name, inline_defaults=inline_defaults)
    _recall(memory, job)
    parts = parts_of(job)
    head = frontmatter(job)
    if job.has_typed_text and not job.is_within_family:
        parts = escaped(parts, head, job)
    if job.problems:
        return Converted(None, problems=tuple(job.problems))
    text = head + "".join(part.text for part in parts)
    after = read_back(text, job)
    check(after, parts, len(head), job)
    if job.problems:
        return Converted(None, problems=tuple(job.problems))
    if after.template is None:
        message = next((problem.message for problem in after.problems), "nothing says why")
        return Converted(None, problems=(not_written(message, file.document.lines.span(1)),))
    if memory is not None:
        text, after = with_keys(text, after, memory, _dropped(memory, file.dialect), job)
    _compare(after, job)
    note_references(job)
    if whole is not None and _convert(after, file.dialect, file.stem).text != whole.document.text:
        kept = with_kept(text, after.document, whole, file, parts, is_inlined=inline_defaults)
        if kept is None:
            job.lose("lost", "what the target cannot say", NOWHERE, "too much for a comment")
        text = kept or text
    losses = sorted(job.losses, key=lambda loss: loss.span)
    return Converted(text, tuple(losses), notes=tuple(job.notes.values()))


def _dropped(memory: PromptFile, dialect: Dialect) -> set[str]:
    """The keys of a file that are not there when it is converted to the dialect."""
    between = _convert(memory, dialect, memory.stem).text
    has = _read_as(between, dialect, memory).document.frontmatter if between is not None else {}
    return memory.document.frontmatter.keys() - has.keys()


def _recall(memory: PromptFile | None, job: Job) -> None:
    """Give the arguments what the source says of them and the file cannot."""
    known = {each.name: each for each in (memory.template.arguments if memory and memory.template else ())}
    says = job.source.expresses
    for name, argument in job.pivot.arguments.items():
        before = known.get(name)
        if before is None:
            continue
        if "argument description" not in says:
            argument = replace(argument, description=before.description)
        if "default" not in says:
            argument = replace(argument, required=before.required, default=before.default)
        job.pivot.arguments[name] = argument


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
    if own is not None and own not in declared:
        if own.required:
            job.lose("lost", "required", own.span or NOWHERE, f"{own.name} becomes optional")
        if own.default is not None:
            job.lose("lost", "default", own.span or NOWHERE, own.name)
    _name(declared, job)
    return job


def _name(declared: Sequence[Argument], job: Job) -> None:
    """Give the declared arguments names that the target can spell."""
    is_typed = job.has_typed_text and job.pivot.has_free_text and not job.is_within_family
    taken = {FREE_TEXT.upper()} if is_typed else set()  # what a command calls the free text in its body
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
        job.pivot.arguments.setdefault(name, replace(argument, name=name))


def _compare(after: PromptFile, job: Job) -> None:
    """Note what the target no longer says of the name, the description and the arguments."""
    pivot, template = job.pivot, after.template
    if template is None:
        return
    if job.name != job.file.stem:
        job.lose("approximated", f"name {job.file.stem}", NOWHERE, job.name)
    entry = job.document.frontmatter.get("description")
    if template.description != pivot.description and not (job.has_own_folder and pivot.description is None):
        job.lose("lost", "description", entry.key_span if entry else NOWHERE, "not written")
    has = {argument.name: argument for argument in template.arguments}
    for argument in pivot.arguments.values():
        span, other = argument.span or _first_place(argument.name, job), has.get(argument.name)
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
    for argument in template.arguments:
        if argument.name not in pivot.arguments and not (
            argument.is_free_text and (pivot.has_free_text or job.has_typed_text)
        ):
            job.lose("gained", f"argument {argument.name}", NOWHERE, "published there")
    published = [pivot.renamed.get(argument.name, argument.name) for argument in job.template.arguments]
    meant = [name for name in dict.fromkeys(published) if name in has]
    order = [argument.name for argument in template.arguments if argument.name in meant]
    if order != meant:
        job.lose("approximated", "argument order", NOWHERE, ", ".join(order))


def _first_place(name: str, job: Job) -> Span:
    """Where the body places an argument first that is declared nowhere."""
    renamed = job.pivot.renamed
    spans = (each.span for each in job.template.placeholders if renamed.get(each.name or "", each.name) == name)
    return next(spans, NOWHERE)
