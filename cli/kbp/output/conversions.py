"""What a conversion did, as text for a person and as JSON."""

from collections.abc import Iterable, Iterator, Sequence

from kbp.converter.plan import Orphan, Output, State
from kbp.display import counted, safe_line
from kbp.files import PromptFile, shown
from kbp.output.jsontext import dump
from kbp.text import Span


def way(output: Output) -> str:
    """From which file to which."""
    return f"{safe_line(output.source.path)} -> {safe_line(shown(output.path))}"


def losses(output: Output) -> Iterator[str]:
    """A line for each loss."""
    for loss in output.converted.losses:
        place = f"{safe_line(output.source.path)}:{_line(output.source, loss.span)}"
        yield f"{place}: {loss.kind} {safe_line(loss.what)} -> {safe_line(loss.where)}"


def notes(output: Output) -> Iterator[str]:
    """A line for each thing that a person should know."""
    for note in output.converted.notes:
        place = f"{safe_line(output.source.path)}:{_line(output.source, note.span)}"
        yield f"{place}: note {safe_line(note.text)}"


def refusal(output: Output) -> Iterator[str]:
    """A line for each reason why a file cannot be converted."""
    for problem in output.converted.problems:
        said = problem.message + (f"; {problem.help}" if problem.help else "")
        yield f"{safe_line(output.source.path)}:{_line(output.source, problem.span)}: {safe_line(said)}"


def out_of_date(output: Output) -> str:
    """What is wrong with a file that is not what its source becomes."""
    said = {
        State.MISSING: "is not there yet",
        State.STALE: "is not what its source becomes",
        State.EDITED: "was edited by hand",
    }.get(output.state, output.reason)
    return f"{safe_line(shown(output.path))} ({safe_line(output.source.path)}): {said}"


def orphaned(orphan: Orphan) -> str:
    """What is wrong with a generated file whose source is gone."""
    edited = ", and it was edited by hand" if orphan.is_edited else ""
    source = safe_line(shown(orphan.file.generated_from)) if orphan.file.generated_from else ""
    why = f"no target makes it of {source}" if orphan.has_source else f"its source {source} is gone"
    return f"{safe_line(orphan.file.path)}: {why}{edited}"


def summary(outputs: Sequence[Output], done: int, verb: str) -> str:
    """How many files were written and were not, and how much was lost."""
    current = sum(output.state is State.CURRENT for output in outputs)
    refused = sum(output.text is None for output in outputs)
    lost = sum(len(output.converted.losses) for output in outputs)
    parts = [f"{verb} {counted(done, 'file')}"]
    parts += [f"{current} up to date"] if current else []
    parts += [f"{refused} refused"] if refused else []
    return ", ".join(parts) + (f"; {counted(lost, 'loss')}." if lost else ".")


def as_json(
    outputs: Iterable[Output], written: Iterable[Output], orphans: Iterable[Orphan], removed: Iterable[Orphan]
) -> str:
    """What became of each source, and of the generated files whose source is gone."""
    done = {id(each) for each in (*written, *removed)}
    content: dict[str, object] = {"files": [_as_json(each, id(each) in done) for each in outputs]}
    lost = [{"target": each.file.path, "edited": each.is_edited, "removed": id(each) in done} for each in orphans]
    return dump({**content, "orphans": lost} if lost else content)


def _as_json(output: Output, is_written: bool) -> dict[str, object]:
    source = output.source
    problems = [
        {"line": _line(source, problem.span), "rule": problem.rule, "message": problem.message}
        for problem in output.converted.problems
    ]
    content: dict[str, object] = {
        "source": source.path,
        "target": shown(output.path),
        "written": is_written,
        "losses": [
            {
                "kind": loss.kind,
                "path": source.path,
                "line": _line(source, loss.span),
                "what": loss.what,
                "where": loss.where,
            }
            for loss in output.converted.losses
        ],
    }
    if output.converted.notes:
        content["notes"] = [{"line": _line(source, note.span), "text": note.text} for note in output.converted.notes]
    if problems:
        return {**content, "problems": problems}
    return {**content, "state": str(output.state)}


def _line(file: PromptFile, span: Span) -> int:
    return file.document.lines.position(span.start).line
