"""What a server asks while it makes a prompt, answered from what was given beforehand, or by a person."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kbp.ask.terminal import tell, terminal
from kbp.ask.text import answered, ask_text, in_turn, shortened
from kbp.display import safe, safe_line
from kbp.live.forms import Field, check, fields_of, read
from kbp.live.questions import Question, Reply, Unanswered

_ANSWER, _OPEN, _DONE, _DECLINE, _CANCEL = "Answer", "Open it in the browser", "I have been there", "Decline", "Cancel"


@dataclass
class Answers:
    """Who answers the questions of a server.

    Args:
        texts: answers by the name of a field, as they were typed; read as what the field takes.
        values: the same in their JSON types.
        is_interactive: whether a person is asked for what is not given.
        color: the flag `--color`.

    `used` has the names that were asked for.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    is_interactive: bool = False
    color: str = "auto"
    used: set[str] = field(default_factory=set)

    def __call__(self, question: Question) -> Reply:
        """The reply to a question.

        Raises:
            Unanswered: an answer is none that a field takes, or a required one is missing and nobody can be asked.
            KeyboardInterrupt: the person leaves.
        """
        if question.url is not None:
            return self._visit(question, question.url)
        content: dict[str, Any] = {}
        faults: list[str] = []
        left: list[Field] = []
        for each in fields_of(question):
            try:
                if each.name in self.texts:
                    content[each.name] = read(each, self.texts[each.name])
                elif each.name in self.values:
                    check(each, self.values[each.name])
                    content[each.name] = self.values[each.name]
                else:
                    left.append(each)
                    continue
            except ValueError as error:
                faults.append(f"the answer {each.name}: {error}")
            self.used.add(each.name)
        if faults:
            raise Unanswered(faults)
        if not self.is_interactive:
            defaults = _defaults(left, question)
            if not content:  # nobody has answered this one
                raise _unanswered(question, left)
            return Reply("accept", content | defaults)
        return self._ask(question, left, content) if left or not content else Reply("accept", content)

    def _ask(self, question: Question, fields: Sequence[Field], content: dict[str, Any]) -> Reply:
        tell(f"{safe_line(question.server)} asks: {safe(question.message)}\n")

        def ask(field: Field) -> Callable[[_Raw | None], _Raw]:
            return lambda before: _ask_field(field, io, before)

        with terminal(self.color) as io:
            chosen = _select("Your reply", [_ANSWER, _DECLINE, _CANCEL], io)
            if chosen != _ANSWER:
                return Reply("decline" if chosen == _DECLINE else "cancel")
            answers = in_turn([ask(each) for each in fields], _Raw)
        for each, answer in zip(fields, answers, strict=True):
            value = answer.value(each)
            if value is not None:
                content[each.name] = value
        return Reply("accept", content)

    def _visit(self, question: Question, url: str) -> Reply:
        if not self.is_interactive:
            raise Unanswered([f"{question.server} wants you to visit {url}"], ["  run it on a terminal"])
        import urllib.parse

        tell(f"{safe_line(question.server)} asks: {safe(question.message)}\n  {safe_line(url)}\n")
        try:
            host = urllib.parse.urlsplit(url).hostname or url
        except ValueError:  # no address at all
            host = url
        with terminal(self.color) as io:
            opens = [_OPEN] if url.lower().startswith(("http://", "https://")) else []
            chosen = _select(f"Visit {safe_line(host)}?", [*opens, _DONE, _DECLINE, _CANCEL], io)
        if chosen == _OPEN:
            open_browser(url)
        return Reply({_DECLINE: "decline", _CANCEL: "cancel"}.get(chosen, "accept"))  # type: ignore[arg-type]  # both are actions


def _defaults(fields: Sequence[Field], question: Question) -> dict[str, Any]:
    """The defaults of fields that nobody answers.

    Raises:
        Unanswered: required ones have none.
    """
    missing = [each for each in fields if each.required and not each.has_default]
    if missing:
        raise _unanswered(question, missing)
    return {each.name: each.default for each in fields if each.has_default}


def _unanswered(question: Question, fields: Sequence[Field]) -> Unanswered:
    """The error that a question is not answered, with what would answer it."""
    said = [f"  {safe_line(each.name)}   {safe_line(_about(each))}" for each in fields]
    forms = " ".join(f"--answer {safe_line(each.name)}=VALUE" for each in fields)
    help = [*said, f"answer it:  {forms}"] if fields else ["  it can only be answered on a terminal"]
    return Unanswered([f"{question.server} asks: {question.message}"], help)


# Asking a person


def _select(message: str, choices: Sequence[str], io: Mapping[str, Any]) -> str:
    import questionary

    return str(questionary.select(message, choices=list(choices), **io).unsafe_ask())


@dataclass(frozen=True)
class _Raw:
    """What a person answered for a field: a text as it was typed, else the value."""

    answer: Any

    def value(self, field: Field) -> Any:
        """The value of the field; None when it is left out."""
        if field.kind in ("boolean", "choice") or (field.kind == "choices" and field.choices):
            return self.answer
        return None if not self.answer and not field.required else read(field, self.answer)


def _ask_field(field: Field, io: Mapping[str, Any], before: _Raw | None) -> _Raw:
    """What a person answers for a field, what they answered before standing there already."""
    import questionary

    label = safe_line(" ".join(part for part in (field.title, _need(field), _about(field)) if part))
    default = before.answer if before else field.default
    if field.kind == "boolean":
        return _Raw(answered(questionary.confirm(label, default=default is not False, auto_enter=False, **io)))
    if field.kind == "choice":
        return _Raw(_choose(field, label, default, io))
    if field.kind == "choices" and field.choices:
        ticked = default if isinstance(default, list) else []
        choices = [questionary.Choice(safe_line(t), value=v, checked=v in ticked) for v, t in field.choices]
        chosen = questionary.checkbox(label, choices=choices, validate=_validator(field, is_text=False), **io)
        return _Raw(answered(chosen) or (None if not field.required else []))
    typed = before.answer if before else _shown(field.default)
    return _Raw(ask_text(shortened(label, io), io, default=typed, validate=_validator(field)))


def _about(field: Field) -> str:
    """What a field is for, and what it takes where that is more than a text."""
    takes = f"({field.takes})" if field.takes else ""
    return " ".join(part for part in (field.description, takes) if part) or field.title


def _need(field: Field) -> str:
    return "(required)" if field.required else ""


def _choose(field: Field, label: str, before: Any, io: Mapping[str, Any]) -> Any:
    """One of the choices. Where none is needed, none may be taken."""
    import questionary

    choices = [questionary.Choice(safe_line(title), value=at) for at, (_, title) in enumerate(field.choices)]
    if not field.required:
        choices.insert(0 if field.default is None else len(choices), questionary.Choice("(none)", value=-1))
    values = [value for value, _ in field.choices]
    default = next((each for each in choices if each.value == _position(before, values)), None)
    at = answered(questionary.select(label, choices=choices, default=default, **io))
    return None if at < 0 else values[at]


def _position(default: Any, values: Sequence[Any]) -> int:
    return list(values).index(default) if default in values else -1


def _shown(default: Any) -> str:
    if default is None:
        return ""
    return safe_line(", ".join(map(str, default)) if isinstance(default, list) else str(default))


def _validator(field: Field, *, is_text: bool = True) -> Callable[[Any], bool | str]:
    def validate(value: Any) -> bool | str:
        if not value and not field.required:
            return True
        if not value:
            return safe_line(f"{field.title} is required")
        try:
            if is_text:
                read(field, value)
            else:
                check(field, value)
        except ValueError as error:
            return safe_line(str(error))
        return True

    return validate


def agree(message: str, *, default: bool = True, color: str = "auto") -> bool:
    """Whether a person says yes on the terminal. The message is safe on it already.

    Raises:
        KeyboardInterrupt: they leave.
    """
    import questionary

    with terminal(color) as io:
        return bool(questionary.confirm(message, default=default, auto_enter=False, **io).unsafe_ask())


def ask_value(
    message: str, *, default: str = "", is_secret: bool = False, choices: Sequence[str] = (), color: str = "auto"
) -> str:
    """A value that a person types or chooses on the terminal.

    Raises:
        KeyboardInterrupt: they leave.
    """
    import questionary

    with terminal(color) as io:
        if choices:
            chosen = default if default in choices else None
            return str(questionary.select(message, choices=list(choices), default=chosen, **io).unsafe_ask())
        ask = questionary.password if is_secret else questionary.text
        needed: Callable[[str], bool | str] = lambda text: bool(text) or "this is needed"  # noqa: E731
        return str(ask(message, default=default, validate=needed, validate_while_typing=False, **io).unsafe_ask())


def ask_line(
    message: str, *, default: str = "", fault: Callable[[str], str | None] = lambda text: None, color: str = "auto"
) -> str:
    """A line that a person types on the terminal, empty where they leave it out; `fault` says what is wrong with one.

    Raises:
        Back: they want the question before.
        KeyboardInterrupt: they leave.
        EOFError: they end the input.
    """
    with terminal(color) as io:
        return ask_text(message, io, default=default, validate=lambda text: fault(text) or True).strip()


def open_browser(url: str) -> None:
    """Open an address of the web in the person's browser; nothing else is opened."""
    import webbrowser

    if not url.lower().startswith(("http://", "https://")):
        return
    out = os.dup(1)
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 (a browser that prints would print into the result)
        os.dup2(nowhere.fileno(), 1)
    try:
        webbrowser.open(url)
    finally:
        os.dup2(out, 1)
        os.close(out)
