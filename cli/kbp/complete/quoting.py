"""The words of a line of bash, and a value as bash takes it in the place of the word that is completed."""

_BREAKS = "=:@"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./~-")
_ENDS = frozenset("|&;()\n")


class Start:
    """The start of the word that is completed, as it is typed: the quote that is open in it, and what bash keeps of it.

    `kept` has the characters of the word that stand before the part that bash puts the value in the place of.
    """

    def __init__(self, quote: str = "", kept: int = 0) -> None:
        self.quote = quote
        self.kept = kept


def split(line: str, position: int, breaks: str = _BREAKS) -> tuple[list[str], Start]:
    """The words of the command up to a position, which counts characters (bash 5.2). The last one may be empty.

    `breaks` are the characters at which this bash breaks words (`COMP_WORDBREAKS`). What it puts a value in the place
    of starts behind them, but with an `@`.
    """
    text = line[:position]
    words: list[str] = []
    word: str | None = None
    quote, kept, at = "", 0, 0
    while at < len(text):
        each = text[at]
        at += 1
        if quote == "'":
            quote, word = ("", word) if each == "'" else (quote, (word or "") + each)
        elif each == "\\" and at < len(text) and (not quote or text[at] in '"\\$`'):
            word = (word or "") + text[at]
            at += 1
        elif quote:
            quote, word = ("", word) if each == '"' else (quote, (word or "") + each)
        elif each in "'\"":
            quote, word = each, word or ""
            kept = len(word)
        elif each in " \t" or each in _ENDS:
            words += [word] if word is not None else []
            word, kept = None, 0
            if each in _ENDS:
                words = []
        else:
            word = (word or "") + each
            if each in _BREAKS and each in breaks:
                kept = len(word) - (each == "@")
    while words and _assigns(words[0]):
        del words[0]
    return [*words, word or ""], Start(quote, kept)


def _assigns(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def can_be_taken(value: str, start: Start) -> bool:
    """Whether bash can put the value in the place of what is typed: an open quote leaves no way to some of them."""
    if start.quote == '"' and "!" in value:  # the history would be looked through
        return False
    return not start.quote or not value.endswith(start.quote)


def in_bash(value: str, start: Start) -> str:
    """What bash is to put in the place of what is typed of a word: the rest of the value, special characters quoted."""
    rest = value[start.kept :]
    if start.quote == "'":
        return rest.replace("'", "'\\''")
    if start.quote:
        return "".join("\\" + each if each in '"\\$`' else each for each in rest)
    return "".join(each if each in _PLAIN or not each.isascii() else "\\" + each for each in rest)
