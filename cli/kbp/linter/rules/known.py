"""Rules about keys that a dialect knows, and those that it does not."""

import difflib
from collections.abc import Iterator

from kbp.diagnostics import Finding, Severity
from kbp.dialects import DIALECTS, INSTRUCTION_KEYS
from kbp.dialects.base import Dialect
from kbp.files import PromptFile
from kbp.frontmatter import Entry
from kbp.linter.rules.base import rule
from kbp.text import replacement

# Looked at by a rule of its own in every dialect.
_NAME = "name"


def _kind(key: str, own: Dialect, extra: frozenset[str]) -> str:
    """What a key is to the dialect, and to those who allow some extra ones: known, another dialect's, or unknown."""
    if (
        key in extra
        or key in own.keys
        or key in INSTRUCTION_KEYS
        or key in own.renamed
        or key == _NAME
        or key.startswith("x-")
    ):
        return "known"
    return "foreign" if any(key in dialect.keys for dialect in DIALECTS.values()) else "unknown"


def _near(key: str, own: Dialect) -> str | None:
    """The key of the dialect that was surely meant: the same letters, or nearly."""
    spelt = key.lower().replace("_", "-")
    if spelt in own.keys:
        return spelt
    near = difflib.get_close_matches(spelt, own.keys, n=1, cutoff=0.8)
    short = [known for known in own.keys if spelt in _SHORT.get(known, ())]
    return next(iter([*near, *short]), None)


_SHORT = {
    "arguments": ("args", "params", "parameters", "inputs"),
    "argument-hint": ("argumenthint", "args-hint", "hint"),
    "allowed-tools": ("allowedtools", "tools-allowed"),
    "description": ("desc", "summary"),
}


def _first_of_each(file: PromptFile) -> Iterator[Entry]:
    seen: set[str] = set()
    for entry in (file.document.root.entries if file.document.root else None) or ():
        if entry.key not in seen and entry.key != "<<":
            seen.add(entry.key)
            yield entry


@rule(Severity.INFO, fixes="unsafe", also="warning where a known key is near")
def unknown_key(file: PromptFile) -> Iterator[Finding]:
    """A key should be one that the dialect knows.

    A client ignores any other, and a misspelt key is lost without a word: `argument_hint` shows no hint, `Description`
    no description. A key that nearly is a known one is a warning. Keys that start with `x-` are yours.

    Bad `commands/go.md`:

        ---
        description: Go somewhere
        argument_hint: "[place]"
        ---
        Go to $ARGUMENTS.

    Good `commands/go.md`:

        ---
        description: Go somewhere
        argument-hint: "[place]"
        x-team: ops
        ---
        Go to $ARGUMENTS.
    """
    if file.dialect is None:
        return
    for entry in _first_of_each(file):
        if _kind(entry.key, file.dialect, file.manner.extra_keys) == "unknown":
            near = _near(entry.key, file.dialect)
            known = f"a {file.dialect.name} file knows {', '.join(sorted(file.dialect.keys))}"
            known = known if len(file.dialect.keys) < 10 else "remove it, or allow it by `lint.extra-keys`"
            help = f"did you mean `{near}`?" if near else known
            message = f"`{entry.key}` is no key of a {file.dialect.name} file: it is ignored"
            is_free = near is not None and near not in file.document.frontmatter
            fix = replacement(entry.key_span, near, is_safe=False) if near and is_free else None
            yield Finding(entry.key_span, message, help, Severity.WARNING if near else None, fix=fix)


@rule(Severity.INFO)
def dialect_mixed(file: PromptFile) -> Iterator[Finding]:
    """A file should not carry keys of another dialect.

    Its name, its place, a manifest or a setting says one dialect, a key another: the key is ignored.

    Bad `commands/search.md`:

        ---
        description: Search the code
        tools: [search]
        ---
        Search for $ARGUMENTS.

    Good `commands/search.md`:

        ---
        description: Search the code
        allowed-tools: Grep
        ---
        Search for $ARGUMENTS.
    """
    if file.dialect is None or file.detection.signal not in ("given", "path"):
        return
    for entry in _first_of_each(file):
        if _kind(entry.key, file.dialect, file.manner.extra_keys) == "foreign":
            owners = " and ".join(dialect.name for dialect in DIALECTS.values() if entry.key in dialect.keys)
            message = f"`{entry.key}` is a key of {owners}; this is read as {file.dialect.name} ({file.detection.why})"
            yield Finding(entry.key_span, message, "remove it, or give the file its dialect")
            return


@rule(Severity.WARNING, needs="inputs", fixes="safe")
def renamed_key(file: PromptFile) -> Iterator[Finding]:
    """A key that a client has renamed should have its new name.

    VS Code 1.138.0 still reads `mode` as `agent`, marks it deprecated, and ignores it beside `agent`.

    Bad `.github/prompts/go.prompt.md`:

        ---
        description: Go somewhere
        mode: ask
        ---
        Go somewhere.

    Good `.github/prompts/go.prompt.md`:

        ---
        description: Go somewhere
        agent: ask
        ---
        Go somewhere.
    """
    for entry in _first_of_each(file):
        new = file.dialect.renamed.get(entry.key) if file.dialect else None
        if new is not None:
            is_there = new in file.document.frontmatter
            way_out = f"remove it: `{new}` is there" if is_there else f"call it `{new}`"
            fix = None if is_there else replacement(entry.key_span, new)
            yield Finding(entry.key_span, f"`{entry.key}` is called `{new}` now", way_out, fix=fix)


@rule(Severity.WARNING, needs="free text")
def instructions_key(file: PromptFile) -> Iterator[Finding]:
    """A prompt should not carry the keys of an instructions file.

    `applyTo` and `globs` say for which files instructions hold. The name or place of this file says that it is a
    prompt, so they do nothing.

    Bad `commands/check.md`:

        ---
        description: Check types
        globs: "*.py"
        ---
        Check the types of $ARGUMENTS.

    Good `commands/check.md`:

        ---
        description: Check types
        ---
        Check the types of $ARGUMENTS.
    """
    for entry in _first_of_each(file):
        if entry.key in INSTRUCTION_KEYS:
            message = (
                f"`{entry.key}` is a key of instructions files, and this is read as a prompt ({file.detection.why})"
            )
            yield Finding(entry.key_span, message, "remove it, or make the file an *.instructions.md")
            return
