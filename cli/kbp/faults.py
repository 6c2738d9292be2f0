"""Why a frontmatter block is not YAML: the parser's complaint turned into the fault that its author made.

Nearly all broken blocks of real prompt files have one cause on one line. Each candidate line is repaired for a trial;
the block reads again when the cause was found, and what was repaired is what is reported.
"""

import re
from dataclasses import dataclass, replace

import yaml

from kbp.frontmatter import LOADER, Block, TooDeep, Value, check, compose, key_that_is, quoted, unquoted
from kbp.text import LINE_END, Edit, Fix, Lines, Position, Problem, Span

# A larger broken block gets the parser's own words: the trials below read it again and again.
MAX_EXPLAINED = 64 * 1024
_MAX_TRIALS = 20

_KEY_LINE = re.compile(
    r"(?P<lead>[ \t]*(?:-[ ]+)*)(?P<key>[\w.$-]+|\"[^\"]*\"|'[^']*')[ \t]*:[ \t]+(?P<value>\S(?:.*[^ \t])?)[ \t]*$"
)
_KEY_ALONE = re.compile(r"[ \t]*(?:-[ ]+)*(?:[^\s:#][^:#]*|(?:\"[^\"]*\"|'[^']*')[ \t]*):(?:[ \t]|$)")
_LIST_KEYS = ("tools", "allowed-tools", "disallowed-tools", "arguments")
_SUPPRESSION = re.compile(r"[ \t]+#[ \t]*kbp:.*")
_LEAD = re.compile(r"[ \t]*")
_BLOCK_HEADER = re.compile(r"[|>][-+0-9]*(?:[ \t]+#.*)?$")
_EQUATED = re.compile(r"[\w-]+[ \t]*=")
_UNSPACED = re.compile(r"[A-Za-z_][\w-]*:[^\s:/]")
_REASONS = (
    # a part of what PyYAML says, what it means
    ("found unexpected end of stream", "a quote that is opened here is never closed"),
    ("found unexpected document separator", "a quote that is opened here is never closed"),
    ("found unknown escape character", "in double quotes a backslash starts an escape: use single quotes"),
    ("escape sequence of", "in double quotes a backslash starts an escape: use single quotes"),
    ("expected ',' or ']'", "a list that is opened here is never closed, or lacks a comma"),
    ("expected ',' or '}'", "a mapping that is opened here is never closed, or lacks a comma"),
    ("cannot start any token", "a character that no value can start with"),
    ("could not find expected ':'", "a line without a colon"),
    ("expected the node content", "a value is missing"),
    ("expected <block end>, but found '-'", "a list item where a key belongs"),
    ("expected a single document", "the block holds a document mark, `...` or `---`"),
)
_CAUSES = {
    "[": "a value that opens with `[` is a list, and nothing may follow it",
    "{": "a value that opens with `{` is a mapping, and nothing may follow it",
    "*": "a value that opens with `*` is an alias",
    "&": "a value that opens with `&` is an anchor",
    "!": "a value that opens with `!` is a YAML tag",
    "|": "a value that opens with `|` is a block of text, which starts on the next line",
    ">": "a value that opens with `>` is a block of text, which starts on the next line",
}


@dataclass(frozen=True, slots=True)
class _Repair:
    """The line that was repaired for a trial, what it became, and the fault that this stands for."""

    number: int
    line: str
    problem: Problem


def explain(block: Block, error: yaml.YAMLError | TooDeep) -> tuple[Problem, ...]:
    """The faults of a block that `compose` refused with `error`, in file order."""
    if isinstance(error, TooDeep):
        span = Span(block.shift + error.offset, block.shift + error.offset + 1)
        return (Problem("frontmatter-syntax", span, "not read: nested deeper than 100 levels", "flatten the block"),)
    if len(block.source) > MAX_EXPLAINED:
        return (_in_the_parsers_words(block, error, Lines(block.source)),)
    return _Explanation(block).faults(error)


class _Explanation:
    def __init__(self, block: Block) -> None:
        self.block = block
        self.lines = Lines(block.source)
        self.texts = [self.lines.line(number) for number in range(1, len(self.lines) + 1)]
        self.repairs: dict[int, _Repair] = {}

    def faults(self, error: yaml.YAMLError) -> tuple[Problem, ...]:
        tab = self._tab(error)
        if tab:
            return (tab,)
        self._repair_top_lines()
        rest = self._error()
        for _ in range(_MAX_TRIALS):
            if rest is None or not self._repair_at(rest):
                break
            rest = self._error()
        found = [repair.problem for repair in self.repairs.values()]
        if rest is not None:
            found.append(_in_the_parsers_words(replace(self.block, source=self._text()), rest, self.lines))
        return tuple(sorted(found, key=lambda problem: problem.span))

    def _text(self) -> str:
        """The block with the repairs made; every line keeps its number."""
        ends = [*LINE_END.findall(self.block.source), ""]
        lines = (self.repairs[n].line if n in self.repairs else text for n, text in enumerate(self.texts, start=1))
        return "".join(line + end for line, end in zip(lines, ends, strict=True))

    def _error(self) -> yaml.YAMLError | None:
        return _error_of(replace(self.block, source=self._text()).text)

    def _repair(self, number: int, line: str, problem: Problem) -> bool:
        self.repairs[number] = _Repair(number, line, problem)
        return True

    # Tabs

    def _tab(self, error: yaml.YAMLError) -> Problem | None:
        mark = _mark(_worded(self.block, error))
        if mark is None or mark.index >= len(self.block.source) or self.block.source[mark.index] != "\t":
            return None
        line = self.lines.span(self.lines.position(mark.index).line)
        lead = self.block.source[line.start : mark.index]
        if lead.strip(" \t"):
            return None
        indent = re.match(r"[ \t]*", self.block.source[line.start : line.end])
        end = line.start + (indent.end() if indent else 0)
        span = Span(line.start + self.block.shift, end + self.block.shift)
        return Problem("tab-indent", span, "not YAML: a tab cannot indent", "indent with blanks", self._without_tabs())

    def _without_tabs(self) -> Fix | None:
        """The edits that make two blanks of each tab of the lines that no parser takes, if the block is YAML then."""
        edits: list[Edit] = []
        source = self.block.source
        for _ in range(_MAX_TRIALS):
            error = _error_of(replace(self.block, source=source).text)
            if error is None:
                return Fix(tuple(sorted(edits, key=lambda edit: edit.span)))
            mark = _mark(_worded(replace(self.block, source=source), error))
            lines = Lines(source)
            number = lines.position(mark.index).line if mark else 1
            line = lines.span(number)
            lead = _LEAD.match(source, line.start, line.end)
            if lead is None or "\t" not in lead[0] or number > len(self.lines):
                return None
            own = self.lines.span(number)
            span = Span(own.start + self.block.shift, own.start + len(lead[0]) + self.block.shift)
            edits.append(Edit(span, lead[0].replace("\t", "  ")))
            source = source[: line.start] + edits[-1].text + source[lead.end() :]
        return None

    # Lines that are broken by themselves

    def _repair_top_lines(self) -> None:
        for number, text in enumerate(self.texts, start=1):
            match = _key_line(text)
            if match and not match["lead"] and not self._goes_on(number) and self._is_broken(match):
                self._quote(number, match)
            kind = _kind_of_key(text)
            if kind:
                self._repair(number, "#", key_that_is(kind, self._place(number)))

    def _goes_on(self, number: int) -> bool:
        """Whether the next line continues the value of this one."""
        following = self.texts[number : number + 1]
        return bool(following) and following[0][:1] in (" ", "\t") and bool(following[0].strip())

    def _is_broken(self, match: re.Match[str]) -> bool:
        """Whether the line is no YAML alone, and quoting its value repairs it without changing its kind."""
        value = match["value"]
        if value[0] in "\"'#" or _BLOCK_HEADER.match(value) or (match["key"] in _LIST_KEYS and value[0] in "[{"):
            return False
        if value[0] == "*" and re.search(rf"&{re.escape(value[1:])}(?!\S)", self.block.source):
            return False
        alone = Block(f"{match['key']}: {value}", 0, self.block.restore)
        if _error_of(alone.text) is not None:
            return _error_of(f"{match['key']}: {quoted(value)}") is None
        node = compose(alone.text)
        return node is not None and any(problem.rule != "key-type" for problem in check(Value(node, alone)))

    def _quote(self, number: int, match: re.Match[str]) -> bool:
        value = match["value"]
        start = self.lines.span(number).start + match.start("value") + self.block.shift
        if value.startswith("{{"):
            cause = "a value that opens with `{{` is a mapping inside a mapping"
        elif value[0] in "@`%":
            cause = f"no value can open with {'a back-tick' if value[0] == '`' else f'`{value[0]}`'}"
        else:
            cause = _CAUSES.get(value[0], "`: ` inside an unquoted value starts a mapping")
        problem = unquoted(cause, Span(start, start + len(value)), self.block, match["key"].strip("\"'"))
        text = self.texts[number - 1]
        line = text[: match.start("value")] + quoted(value) + text[match.end("value") :]
        return self._repair(number, line, problem)

    # Lines that are broken where they stand

    def _repair_at(self, error: yaml.YAMLError) -> bool:
        """Repair the line that the error points at, if it is of a known kind."""
        lines = Lines(self._text())
        for mark in _marks(_worded(replace(self.block, source=lines.text), error)):
            number = min(lines.position(mark.index).line, len(self.texts))
            if number not in self.repairs and self._repair_line(number):
                return True
        return False

    def _repair_line(self, number: int) -> bool:
        text = self.texts[number - 1]
        match = _key_line(text)
        if match:
            return (
                bool(match["lead"])
                and not self._goes_deeper(number)
                and self._is_broken(match)
                and self._quote(number, match)
            )
        if (
            text[:1] in " \t-#"
            or re.match(r"[\w-]+[ \t]*=", text)
            or _KEY_ALONE.match(text)
            or not self._follows_a_value(number)
        ):
            return False
        problem = Problem(
            "indented-continuation",
            self._place(number),
            f"not YAML: `{text[:40].rstrip()}` goes on with the value above, but starts in column 1",
            "indent the line",
            Fix((Edit(Span(self._place(number).start, self._place(number).start), "  "),)),
        )
        return self._repair(number, "  " + text, problem)

    def _place(self, number: int) -> Span:
        """Where the line stands in the file, without the blanks at its end."""
        span = self.lines.span(number)
        return Span(span.start + self.block.shift, span.start + len(self.texts[number - 1].rstrip()) + self.block.shift)

    def _goes_deeper(self, number: int) -> bool:
        """Whether the next line stands deeper than the key of this one, and so continues its value."""
        here = re.match(r"[ ]*(?:-[ ]+)*", self.texts[number - 1])
        below = re.match(r"[ ]*", self.texts[number]) if number < len(self.texts) else None
        return bool(here and below and self.texts[number].strip() and below.end() > here.end())

    def _follows_a_value(self, number: int) -> bool:
        above = [text for text in self.texts[: number - 1] if text.strip()]
        return bool(above) and (number - 1 in self.repairs or bool(_KEY_LINE.match(above[-1])) or above[-1][:1] == " ")


def _key_line(text: str) -> re.Match[str] | None:
    """The key and the value of a line. What asks lint to ignore something is no part of the value."""
    return _KEY_LINE.match(_SUPPRESSION.sub("", text))


def _kind_of_key(line: str) -> str | None:
    """What the key of a line in column 1 is that stands where a key should and is no text; None for other lines."""
    if re.fullmatch(r"\{.*\}[ \t]*", line):
        return "a mapping"
    if re.fullmatch(r"\[.*\][ \t]*", line):
        return "a list"
    return "null" if re.match(r":(?:[ \t]|$)", line) else None


def _error_of(text: str) -> yaml.YAMLError | None:
    try:
        compose(text)
    except yaml.YAMLError as error:
        return error
    except TooDeep:
        return None
    return None


def _worded(block: Block, error: yaml.YAMLError) -> yaml.YAMLError:
    """The same complaint from PyYAML's own parser, which says more than libyaml and places it better."""
    if len(block.source) > MAX_EXPLAINED or LOADER is yaml.SafeLoader:
        return error
    try:
        yaml.compose(block.text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as worded:
        return worded
    except RecursionError:
        return error
    return error


def _marks(error: yaml.YAMLError) -> list[yaml.Mark]:
    if not isinstance(error, yaml.MarkedYAMLError):
        return []
    return [mark for mark in (error.context_mark, error.problem_mark) if mark is not None]


def _mark(error: yaml.YAMLError) -> yaml.Mark | None:
    """Where the fault stands: the context, unless that is the whole mapping or list around it."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return None
    whole = error.context is None or ("block" in error.context and "scalar" not in error.context)
    return error.problem_mark if whole or error.context_mark is None else error.context_mark


def _in_the_parsers_words(block: Block, error: yaml.YAMLError, lines: Lines) -> Problem:
    worded = _worded(block, error)
    offset, reason = _offset_and_reason(block, worded)
    position = Lines(block.source).position(min(offset, len(block.source)))
    number = min(position.line, len(lines))
    while number > 1 and not lines.line(number).strip():
        number -= 1
    unspaced = next((above for above in range(number, 0, -1) if _UNSPACED.match(lines.line(above))), None)
    if unspaced is not None and number - unspaced < 2:
        number, reason, position = unspaced, "no blank after the colon, so this is no key", Position(0, 0)
    line = lines.span(number)
    start = (
        min(line.start + position.column - 1, max(line.end - 1, line.start)) if number == position.line else line.start
    )
    span = Span(start + block.shift, max(line.end, start + 1) + block.shift)
    help = _consequence(lines.line(number), block.source[offset : offset + 1])
    return Problem("frontmatter-syntax", span, f"not YAML: {reason}", help)


def _offset_and_reason(block: Block, error: yaml.YAMLError) -> tuple[int, str]:
    """Where the block is broken, in characters of it, and why."""
    if isinstance(error, yaml.reader.ReaderError):
        unprintable = yaml.reader.Reader.NON_PRINTABLE.search(block.source)
        return (unprintable.start() if unprintable else 0), "a control character is not allowed"
    mark = _mark(error)
    return (mark.index if mark else 0), _reason(block, error)


def _reason(block: Block, error: yaml.YAMLError) -> str:
    """Why the block is broken, in a person's words where the parser's are for its author."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return str(error).splitlines()[0]
    said = ", ".join(part for part in (error.context, error.problem) if part)
    for sign, reason in _REASONS:
        if sign in said:
            return reason
    mark = error.problem_mark
    line = Lines(block.source).line(Lines(block.source).position(mark.index).line) if mark else ""
    match = _KEY_LINE.match(line)
    if match and match["value"][0] in "\"'":
        return "a quoted value ends at its second quote, and nothing may follow it"
    if _EQUATED.match(line):
        return "a key and its value are parted by a colon and a blank, not by `=`"
    return said


def _consequence(line: str, sign: str) -> str:
    """What the clients make of a block that is broken on that line, at that sign."""
    match = _KEY_LINE.match(line)
    if sign == "\t":
        return "write a blank for the tab; Claude Code and VS Code read it, other readers skip the file"
    if match and match["value"][0] in "\"'":
        return "Claude Code loses every key and sends the body alone, VS Code reads a part; other readers skip the file"
    if match and match["key"] in _LIST_KEYS and match["value"][0] in "[{":
        return "Claude Code takes the list for one text, whose words are wrong; other readers skip the file"
    return "Claude Code loses every key and sends the body alone; other readers skip the file"
