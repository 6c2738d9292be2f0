"""Rules about the body."""

from collections.abc import Iterator

from kbp.diagnostics import Finding, Severity
from kbp.dialects import DIALECTS
from kbp.dialects.base import Dialect
from kbp.files import PromptFile
from kbp.linter.rules.base import rule
from kbp.model import FREE_TEXT, Placeholder, Template


@rule(Severity.WARNING)
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
    for dialect in DIALECTS.values():
        if dialect is own:
            continue
        seen: set[str] = set()
        for placeholder in dialect.foreign(file.document):
            if placeholder.raw not in seen and placeholder.span not in placed:
                seen.add(placeholder.raw)
                message = f"`{placeholder.raw}` is a {dialect.name} placeholder: in a {own.name} file it is text"
                yield Finding(placeholder.span, message, _way_out(own, file.template, placeholder))


def _way_out(own: Dialect, template: Template, placeholder: Placeholder) -> str | None:
    name = placeholder.name or FREE_TEXT
    spelt = own.spell(FREE_TEXT if name.lower() in (FREE_TEXT, "args") else name)
    if spelt is None:
        return None
    is_built_in = "free text" in own.expresses and spelt == own.spell(FREE_TEXT)
    is_declared = any(argument.name == name for argument in template.arguments)
    declares = "declared arguments" in own.expresses and not is_built_in and not is_declared
    return f"write `{spelt}`" + (" and declare it under `arguments`" if declares else "")
