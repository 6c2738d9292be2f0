"""Rules about the body."""

from collections.abc import Iterator

from kbp.diagnostics import Finding, Severity
from kbp.dialects import DIALECTS
from kbp.dialects.base import Dialect
from kbp.files import PromptFile
from kbp.linter.rules.base import rule
from kbp.linter.rules.inputs import malformed_in
from kbp.model import FREE_TEXT, Placeholder, Template
from kbp.text import Edit, Fix


@rule(Severity.WARNING, fixes="unsafe")
def foreign_placeholder(file: PromptFile) -> Iterator[Finding]:
    """A placeholder should be of the file's own dialect.

    A file that was copied from one client to another keeps the other's spelling: nothing asks for the value, and the
    placeholder reaches the model as text. `{{ .Values.x }}`, `${{ … }}` and `{% … %}` belong to other languages and are
    left alone, and so is `$1` by itself.

    Bad `.github/prompts/specify.prompt.md`:

        ---
        description: Write a specification
        ---
        Specify $ARGUMENTS.

    Good `.github/prompts/specify.prompt.md`:

        ---
        description: Write a specification
        ---
        Specify ${input:arguments}.
    """
    own = file.dialect
    if own is None or file.template is None:
        return
    placed = {placeholder.span for placeholder in file.template.placeholders}
    malformed = malformed_in(file)
    for dialect in DIALECTS.values():
        if dialect is own:
            continue
        places: dict[str, list[Placeholder]] = {}
        for placeholder in dialect.foreign(file.document):
            if placeholder.span not in placed and not malformed.holds(placeholder.span.start):
                places.setdefault(placeholder.raw, []).append(placeholder)
        for raw, placeholders in places.items():
            message = f"`{raw}` is a {dialect.name} placeholder: in a {own.name} file it is text"
            spelt, is_known = _spelt(own, file.template, placeholders[0])
            help = f"write `{spelt}`" + ("" if is_known else " and declare it under `arguments`")
            edits = tuple(Edit(each.span, spelt or "") for each in placeholders)
            fix = Fix(edits, is_safe=False) if spelt and is_known else None
            yield Finding(placeholders[0].span, message, help if spelt else None, fix=fix)


def _spelt(own: Dialect, template: Template, placeholder: Placeholder) -> tuple[str | None, bool]:
    """How the dialect writes a placeholder of another one, None when it cannot; whether that needs no declaration."""
    name = placeholder.name or FREE_TEXT
    spelt = own.spell(FREE_TEXT if name.lower() in (FREE_TEXT, "args") else name)
    is_built_in = "free text" in own.expresses and spelt == own.spell(FREE_TEXT)
    is_declared = any(argument.name == name for argument in template.arguments)
    return spelt, "declared arguments" not in own.expresses or is_built_in or is_declared
