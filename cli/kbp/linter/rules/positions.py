"""Rules about `$0`, `$1`, … and dollars that are taken for them."""

import difflib
import re
from collections.abc import Iterator
from functools import lru_cache

from kbp.diagnostics import Finding, Severity
from kbp.files import PromptFile
from kbp.linter.rules.base import rule
from kbp.linter.rules.frontmatter import misplaced_block
from kbp.linter.rules.shell import commands_of
from kbp.model import Kind, Placeholder
from kbp.text import Edit, Fix, Span, replacement

# A dollar and digits that Claude Code fills, whatever kbp does: not escaped, no word character behind them.
_POSITION = re.compile(r"\$(?<!\\\$)[0-9]+(?![A-Za-z0-9_])")
_INDEX = re.compile(r"[0-9]{1,9}")
_AMOUNT = re.compile(r"\.[0-9]|,[0-9]{3}")
# `$3/million`, and not `docs/$1/notes`.
_RATE = re.compile(r"(?<![\w/.-])\$[0-9]+/[A-Za-z]{1,9}(?![\w/.-])")
_CODE_LINE = re.compile(
    r"\bawk\b|\bprint\b|VALUES|SELECT|WHERE|\blocal |\bfunction\b|\(\)[ \t]*\{|=\"?\$[0-9]|\bshift\b|\bsed "
)


def amounts_and_code(file: PromptFile) -> list[Span]:
    """The dollars of prices and of code, each with what shows it to be one."""
    document = file.document
    if "$" not in document.text[document.body_start :] or misplaced_block(file):  # which is not read as it is meant
        return []
    template = file.template
    asks_nothing = template is not None and not template.positions and "argument-hint" not in document.frontmatter
    matches = list(_POSITION.finditer(document.text, document.body_start))
    if not matches:
        return []
    code = document.code
    prices = {match.start() for match in matches if _is_price(document.text, match)}
    # What prose uses as a position is one in code too.
    in_prose = {match[0] for match in matches if match.start() not in prices and not code.holds(match.start())}
    is_code_line = lru_cache(lambda number: bool(_CODE_LINE.search(document.lines.line(number))))
    found = []
    for match in matches:
        is_code = code.holds(match.start()) and (
            asks_nothing or is_code_line(document.lines.position(match.start()).line)
        )
        if match.start() in prices or (is_code and match[0] not in in_prose):
            found.append(Span(match.start(), match.end()))
    return found


def _is_price(text: str, match: re.Match[str]) -> bool:
    return bool(_AMOUNT.match(text, match.end()) or _RATE.match(text, match.start()))


def _positions(file: PromptFile) -> list[Placeholder]:
    """The positions that are meant as such."""
    others = set(amounts_and_code(file))
    placeholders = file.template.placeholders if file.template else ()
    return [each for each in placeholders if each.kind is Kind.POSITION and each.span not in others]


def counts_from_one(file: PromptFile) -> bool:
    """Whether the positions of a file start with the second word."""
    indexes = {placeholder.index for placeholder in _positions(file)}
    return 1 in indexes and 0 not in indexes


@rule(Severity.WARNING, needs="positions", fixes="unsafe")
def amount_or_code(file: PromptFile) -> Iterator[Finding]:
    r"""A dollar and a number that is a price or code must be escaped.

    Claude Code fills `$5.00`, `$3/million`, `awk '{print $1}'` and `VALUES ($1)` as soon as enough words are typed, in
    code too, and the price or the code is gone.

    Bad `commands/bill.md`:

        ---
        description: Compare a bill
        ---
        A seat costs $5.00. Compare with $ARGUMENTS.

    Good `commands/bill.md`:

        ---
        description: Compare a bill
        ---
        A seat costs \$5.00. Compare with $ARGUMENTS.
    """
    commands = commands_of(file)
    for span in amounts_and_code(file):
        if not commands.holds(span.start):
            written = file.document.text[span.start : span.end]
            message = f"`{written}` is a price or code here: Claude Code fills it with a typed word"
            fix = replacement(Span(span.start, span.start), "\\", is_safe=False)
            yield Finding(span, message, f"write `\\{written}`", fix=fix)


@rule(Severity.WARNING, needs="positions")
def past_the_end(file: PromptFile) -> Iterator[Finding]:
    """A position should be one of the declared names.

    Over MCP a position past the last name stays as it is written, while Claude Code fills it once enough words are
    typed.

    Bad `commands/move.md`:

        ---
        description: Move a service
        arguments: [from, to]
        ---
        Move it from $0 to $1 and tell $2.

    Good `commands/move.md`:

        ---
        description: Move a service
        arguments: [from, to, whom]
        ---
        Move it from $0 to $1 and tell $2.
    """
    names = file.template.positions if file.template else ()
    if not names or counts_from_one(file):
        return
    for placeholder in _positions(file):
        if (placeholder.index or 0) >= len(names):
            message = f"`{placeholder.raw}` is past the last of {len(names)} declared names: it stays as it is written"
            yield Finding(placeholder.span, message, "declare a name for it; positions count from 0")


@rule(Severity.WARNING, needs="positions", fixes="unsafe")
def one_based_index(file: PromptFile) -> Iterator[Finding]:
    """Positions count from 0.

    `$1` is the second word (since Claude Code 2.1.19). A file that uses `$1` and never `$0` loses the first word, and
    the rest moves up.

    Bad `commands/rename.md`:

        ---
        description: Rename
        argument-hint: "[old] [new]"
        ---
        Rename $1 to $2.

    Good `commands/rename.md`:

        ---
        description: Rename
        argument-hint: "[old] [new]"
        ---
        Rename $0 to $1.
    """
    used = _positions(file)
    if counts_from_one(file):
        first = next(placeholder for placeholder in used if placeholder.index == 1)
        message = f"`{first.raw}` is the second word, and `$0`, the first, is never used"
        yield Finding(first.span, message, "count from 0", fix=_one_less(used))


def _one_less(positions: list[Placeholder]) -> Fix:
    """The fix that moves positions down by one."""
    edits = []
    for each in positions:
        index = _INDEX.search(each.raw)
        if index and each.index:
            start = each.span.start + index.start()
            edits.append(Edit(Span(start, start + len(index[0])), str(int(index[0]) - 1)))
    return Fix(tuple(edits), is_safe=False)


_WORD = re.compile(r"\$(?<![\\$]\$)(?:\{(?P<braced>ARGUMENTS?)\b[^}\s]*\}|(?P<word>[A-Za-z_][A-Za-z0-9_]*))")
_MAX_NEAR = 60
"""Beyond so many names, or characters of one, no nearest name is looked for: that takes its time."""
_FREE_TEXT_SLIPS = ("ARGS", "ARGUMENT", "ARGUMENTs", "ARGUEMENTS", "ARGUMETS")


@lru_cache(maxsize=256)
def _near(word: str, names: tuple[str, ...]) -> list[str]:
    return difflib.get_close_matches(word, names, n=1, cutoff=0.75)


@rule(Severity.WARNING, needs="positions", fixes="unsafe")
def near_miss_name(file: PromptFile) -> Iterator[Finding]:
    """A dollar word that is nearly a declared name is surely that name.

    What is not declared is text: `$servce` is sent as it is written.

    Bad `commands/check.md`:

        ---
        description: Check a service
        arguments: [service]
        ---
        Check $servce, then restart $service.

    Good `commands/check.md`:

        ---
        description: Check a service
        arguments: [service]
        ---
        Check $service, then restart $service.
    """
    template = file.template
    if template is None:
        return
    names = [name for name in template.positions[:_MAX_NEAR] if file.dialect is None or file.dialect.spell(name)]
    filled = (Kind.NAMED, Kind.POSITION, Kind.FREE_TEXT)
    placed = {each.span.start for each in template.placeholders if each.kind in filled}
    for match in _WORD.finditer(file.document.text, file.document.body_start):
        word = match["word"] or match["braced"]
        if match.start() in placed:
            continue
        is_name = len(word) <= _MAX_NEAR and not word.isupper()
        near = _near(word, tuple(names)) if is_name else ()
        if near and len(word) > 2:
            help = f"did you mean `${near[0]}`?"
            fix = replacement(Span(*match.span()), f"${near[0]}", is_safe=False)
            yield Finding(Span(*match.span()), f"`{match[0]}` is not declared, and is text", help, fix=fix)
        elif not placed and (word in _FREE_TEXT_SLIPS or match["braced"]):
            help = "did you mean `$ARGUMENTS`?"
            fix = replacement(Span(*match.span()), "$ARGUMENTS", is_safe=False)
            yield Finding(Span(*match.span()), f"`{match[0]}` is no placeholder, and is text", help, fix=fix)
