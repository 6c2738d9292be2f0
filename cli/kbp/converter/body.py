"""The body of a file in the spelling of another dialect, part by part."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from kbp.converter.base import NOWHERE, Job, LossKind, spellable
from kbp.dialects.base import Dialect, client_of
from kbp.dialects.skill import FOLDER_VARIABLE
from kbp.files import Manner, Place, PromptFile, read
from kbp.model import FREE_TEXT, Argument, Kind, Placeholder
from kbp.text import Span, split_white

LIVE = (Kind.NAMED, Kind.POSITION, Kind.FREE_TEXT)
# A price, which Claude Code fills although it is none of its placeholders over MCP.
_AMOUNT = re.compile(r"\$[0-9]+\.[0-9]")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the body: its text in the target, where it stands in the source, whether it is to be filled in."""

    text: str
    span: Span
    is_filled: bool = False


def read_back(text: str, job: Job) -> PromptFile:
    """A text read as a file of the target, whatever it is called."""
    return read(text.encode(), place_for(job.target, job.name), Manner(job.target))


def place_for(dialect: Dialect, stem: str) -> Place:
    """Where a file of that name lies in no folder that says anything of its dialect."""
    path = Path("/") / stem / "SKILL.md" if "own folder" in dialect.expresses else Path("/") / f"{stem}.md"
    return Place(path, Path("/"), outright=True)


def parts_of(job: Job) -> list[Part]:
    """The body in the target's spelling, with what a client would append to it, if it must be written."""
    body = _Body(job)
    return [*body.parts(), *body.appended()]


class _Body:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.pivot = job.pivot
        self.seen: set[str] = set()

    def parts(self) -> Iterator[Part]:
        text, at = self.job.document.text, self.job.document.body_start
        for placeholder in self.job.template.placeholders:
            span = placeholder.span
            if span.start > at:
                yield Part(text[at : span.start], Span(at, span.start))
            yield self.placed(placeholder)
            at = span.end
        if at < len(text):
            yield Part(text[at:], Span(at, len(text)))

    def placed(self, placeholder: Placeholder) -> Part:
        span = placeholder.span
        match placeholder.kind:
            case Kind.NAMED:
                name = placeholder.name or ""
                return self.named(self.pivot.renamed.get(name, name), span)
            case Kind.POSITION:
                return self.position(placeholder)
            case Kind.FREE_TEXT:
                return self.free_text(span)
            case Kind.ESCAPED if not self.job.has_typed_text:
                return Part(placeholder.raw[1:], span)
            case _:
                return Part(placeholder.raw, span)

    def is_declared(self, name: str) -> bool:
        return name in self.pivot.arguments

    def named(self, name: str, span: Span) -> Part:
        if name == FREE_TEXT and not self.is_declared(name):
            return self.free_text(span)
        spelt = self.job.target.spell(name) or ""
        if self.job.asks_for_inputs and name not in self.seen:
            spelt = self.with_text(spelt, name, span)
        self.seen.add(name)
        return Part(spelt, span, is_filled=True)

    def with_text(self, spelt: str, name: str, span: Span) -> str:
        """An input with the text that describes it."""
        argument = self.pivot.arguments.get(name, Argument(name))
        text = argument.description or ""
        if self.job.inline_defaults and argument.default:
            self.job.inlined.add(name)
            default = f"default: {argument.default}"
            text = f"{text} ({default})" if text else default
        if not text:
            return spelt
        if "}" in text:
            self.job.lose("approximated", "argument description", span, f"{name}, without its closing braces")
            text = text.replace("}", ")")
        return f"{spelt[:-1]}:{text}}}"

    def free_text(self, span: Span) -> Part:
        self.pivot.is_placed = True
        if self.job.has_typed_text:
            return Part("$ARGUMENTS", span, is_filled=True)
        if not self.is_declared(FREE_TEXT):
            self.pivot.arguments[FREE_TEXT] = Argument(FREE_TEXT, self.pivot.hint)
        return self.named(FREE_TEXT, span)

    def position(self, placeholder: Placeholder) -> Part:
        """A position: the argument that it counts, a name made for it, or text where there is none."""
        index, span, names = placeholder.index or 0, placeholder.span, self.job.template.positions
        if self.job.has_typed_text:
            return Part(placeholder.raw, span, is_filled=True)
        if index < len(names):
            return self.named(self.pivot.renamed[names[index]], span)
        if names:
            return Part(placeholder.raw, span)
        name = self.made_names.get(index, f"arg{index}")
        self.job.lose("approximated", placeholder.raw, span, f"{self.job.target.spell(name)} (no word splitting there)")
        if not self.is_declared(name):
            self.pivot.arguments[name] = Argument(name)
        self.pivot.is_placed = True
        return self.named(name, span)

    @cached_property
    def made_names(self) -> dict[int, str]:
        """Names for the positions of a file that declares none: from its hint, when it has one a position."""
        positions = (each for each in self.job.template.placeholders if each.kind is Kind.POSITION)
        highest = max((each.index or 0 for each in positions), default=0)
        names = [spellable(word) for word in split_white(self.pivot.hint or "")]
        fits = len(names) == highest + 1 == len(set(names)) and all(map(self.job.target.spell, names))
        return dict(enumerate(names)) if fits else {}

    def appended(self) -> list[Part]:
        job, template = self.job, self.job.template
        if not self.pivot.has_free_text or self.pivot.is_placed or job.is_within_family:
            return []
        end = len(job.document.text)
        span = Span(end, end)
        if job.has_typed_text:
            kind: LossKind = "gained" if template.append is None else "approximated"
            job.lose(kind, "appended text", span, "appended with a label")
            return []
        if template.append is None:
            return []
        if template.positions:  # published only because of an index
            job.lose("lost", "appended text", span, "not published")
            return []
        if job.asks_for_inputs:
            where = "without a label" if self.pivot.hint else "not published"
            job.lose("approximated" if self.pivot.hint else "lost", "appended text", span, where)
            return []
        if not self.pivot.hint:
            return []
        job.lose("approximated", "appended text", span, "written into the body")
        return [Part(template.append.replace("\n", job.newline), span), self.free_text(span)]


def escaped(parts: Sequence[Part], before: str, job: Job) -> list[Part]:
    """The parts with a backslash before each dollar of literal text that Claude Code would fill."""
    whole = before + "".join(part.text for part in parts)
    template = read_back(whole, job).template
    placeholders = template.placeholders if template else ()
    dollars = {each.span.start for each in placeholders if each.kind in LIVE}
    # A backslash of the source before what would be filled: it would be taken for an escape.
    dollars |= {each.span.start + 1 for each in placeholders if each.kind is Kind.ESCAPED}
    dollars |= {match.start() for match in _AMOUNT.finditer(whole, len(before))}
    ordered = sorted(dollars)
    done: list[Part] = []
    at = len(before)
    for part in parts:
        first, last = bisect_left(ordered, at), bisect_left(ordered, at + len(part.text))
        places = [] if part.is_filled else [each - at for each in ordered[first:last]]
        text = part.text
        for place in reversed(places):
            if whole[at + place - 1] == "\\":
                source = Span(part.span.start + place - 1, part.span.start + place + 1)
                message = "a backslash before what Claude Code fills cannot be written: one vanishes, two fill it"
                job.refuse(source, message, "write it otherwise in the source")
            text = f"{text[:place]}\\{text[place:]}"
        done.append(replace(part, text=text))
        at += len(part.text)
    return done


def check(after: PromptFile, parts: Sequence[Part], start: int, job: Job) -> None:
    """See that a body is read as it was meant: literal text as text, what is to be filled in as that."""
    if after.template is None:
        for problem in after.problems:
            if problem.rule == "undeclared-placeholder":
                _refuse_literal(problem.span, parts, start, job)
        return
    found = {each.span.start: each.span for each in after.template.placeholders if each.kind in LIVE}
    at = start
    for part in parts:
        span = found.pop(at, None) if part.is_filled else None
        if part.is_filled and (span is None or span.end != at + len(part.text)):
            message = f"`{part.text}` cannot be written here: what stands beside it would belong to it"
            job.refuse(part.span, message, "put a blank beside it")
        at += len(part.text)
    for span in found.values():
        _refuse_literal(span, parts, start, job)


def _refuse_literal(span: Span, parts: Sequence[Part], start: int, job: Job) -> None:
    """Refuse the text of the source that would become a placeholder at that place of the target."""
    at = start
    for part in parts:
        if at <= span.start < at + len(part.text):
            place = part.span.start + (0 if part.is_filled else span.start - at)
            written = job.document.text[place : place + span.end - span.start]
            message = f"`{written}` is text here, and would be a placeholder of a {job.target.name} file"
            job.refuse(Span(place, place + len(written)), message, "write it otherwise in the source")
            return
        at += len(part.text)


def note_references(job: Job) -> None:
    """Note what only a client of the source resolves, and what means something else in the target."""
    code = job.document.code
    for placeholder in job.template.placeholders:
        raw, span = placeholder.raw, placeholder.span
        if raw == FOLDER_VARIABLE:
            is_skill = "own folder" in job.source.expresses
            if is_skill and not job.has_own_folder:
                job.lose("approximated", raw, span, "text there")
            elif job.has_own_folder and not is_skill:
                job.lose("approximated", raw, span, "the folder of the skill there")
            continue
        client = client_of(placeholder)
        is_foreign = client is not None and client == job.source.client and client != job.target.client
        if is_foreign and not (raw.startswith("@") and (code.holds(span.start) or "." not in raw)):
            shown = f"!`{placeholder.hint}`" if placeholder.hint else raw.strip()
            job.note(span, f"{shown} is for {client} alone, and text in a {job.target.name} file")
    if job.has_own_folder and not job.is_within_family and job.pivot.arguments:
        job.note(NOWHERE, "its arguments are asked for by Claude Code; other clients are said to give skills none")
