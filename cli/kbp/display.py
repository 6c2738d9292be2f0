"""Text made safe for a terminal, and its width in cells."""

import re

# Control characters but newline and tab, what turns the direction of writing, what has no width (joiners, which scripts
# need, are left), line separators, and lone surrogates.
UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff\U000e0000-\U000e007f\ud800-\udfff]"
)
_UNSAFE_OR_BREAK = re.compile(UNSAFE.pattern[:-1] + "\n\t]")
_WORD = re.compile(r"[\w@+:,./-][\w@%+=:,./-]*", re.ASCII)
_PARTS = re.compile(rf"'+|\\+|(?:\t|{UNSAFE.pattern})+|(?:(?!['\\\t]|{UNSAFE.pattern}).)+", re.DOTALL)
_NAMED = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    return _NAMED.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def safe(text: str) -> str:
    r"""The text with what could steer a terminal spelt out, as `\x1b`; newlines and tabs stay."""
    return UNSAFE.sub(_escaped, text)


def safe_line(text: str) -> str:
    """The same on one line: newlines and tabs are spelt out as well."""
    return _UNSAFE_OR_BREAK.sub(_escaped, text)


def quoted(text: str) -> str:
    """The text as one word that bash, zsh and fish read alike, safe on a terminal.

    What could steer the terminal, and a tab, is left to `printf`. In fish a quote and a backslash mean something
    between single quotes, so they stand between double ones, and `%self` is a number; `=ls` is a path to zsh.
    """
    if _WORD.fullmatch(text):
        return text
    return "".join(map(_quoted_part, _PARTS.findall(text))) or "''"


def _quoted_part(part: str) -> str:
    if part[0] == "'":
        return f'"{part}"'
    if part[0] == "\\":
        return '"' + "\\\\" * len(part) + '"'
    if part[0] == "\t" or UNSAFE.match(part):
        return "\"$(printf '" + "".join(f"\\{byte:03o}" for byte in part.encode("utf-8", "surrogateescape")) + "')\""
    return f"'{part}'"


def width(text: str) -> int:
    """How many terminal cells the text takes on one line."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def fit(text: str, cells: int) -> str:
    """The text cut to at most `cells` cells, an ellipsis showing the cut."""
    if width(text) <= cells:
        return text
    kept = text[: max(cells - 1, 0)]
    while kept and width(kept) > cells - 1:
        kept = kept[:-1]
    return kept + "…" if cells > 0 else ""


def wrapped(text: str, cells: int) -> str:
    """The text with its lines broken at blanks where they are longer than `cells` cells; a longer word stays whole."""
    return "\n".join(_wrapped(line, cells) for line in text.split("\n"))


def _wrapped(line: str, cells: int) -> str:
    lines, room = [""], cells
    for word in re.findall(r" *[^ ]+| +$", line) if width(line) > cells else [line]:
        taken = width(word)
        if taken > room and lines[-1]:
            word = word.lstrip(" ")
            lines.append("")
            room, taken = cells, width(word)
        lines[-1] += word
        room -= taken
    return "\n".join(lines)


def pad(text: str, cells: int) -> str:
    """The text filled up with blanks to `cells` cells."""
    return text + " " * (cells - width(text))


def said_of(error: Exception) -> str:
    """What the system says of a file that cannot be used, in kbp's words."""
    if isinstance(error, IsADirectoryError):
        return "this is a folder"
    return (getattr(error, "strerror", None) or str(error)).lower()


def counted(count: int, noun: str) -> str:
    """The count with its noun: `1 file`, `2 files`, `3 losses`."""
    return f"{count} {noun}" + ("" if count == 1 else "es" if noun.endswith("s") else "s")
