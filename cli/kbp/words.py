"""The words of a typed line, as Claude Code splits what follows a command (2.1.332).

Only the plain rules: the program goes on to read the line as a shell would, and a prompt server has no shell.
"""

from kbp.characters import WHITE

BLANKS = WHITE


def split(line: str) -> list[str]:
    r"""The words of `line`.

    White space separates, single and double quotes group and vanish, and pieces that touch are one word. Outside quotes
    a backslash takes the next character; inside it stays. An unclosed quote takes the rest of the line, its mark
    included.

    >>> split(r'''a "b c"d \  don't stop''')
    ['a', 'b cd', ' ', "don't stop"]
    """
    words: list[str] = []
    word: list[str] | None = None
    at = 0
    while at < len(line):
        mark = line[at]
        if mark in BLANKS:
            if word is not None:
                words.append("".join(word))
            word = None
            at += 1
            continue
        word = [] if word is None else word
        if mark in "\"'":
            close = line.find(mark, at + 1)
            word.append(line[at:] if close < 0 else line[at + 1 : close])
            at = len(line) if close < 0 else close + 1
        elif mark == "\\" and at + 1 < len(line):
            word.append(line[at + 1])
            at += 2
        else:
            word.append(mark)
            at += 1
    if word is not None:
        words.append("".join(word))
    return words


def quote(word: str) -> str:
    """`word` spelt so that `split` gives it back, left alone where nothing needs quoting."""
    if word and not any(mark in word for mark in BLANKS + "\"'\\"):
        return word
    if '"' not in word:
        return f'"{word}"'
    if "'" not in word:
        return f"'{word}'"
    return '"' + word.replace('"', '"\'"\'"') + '"'


def join(words: list[str]) -> str:
    """One line of free text that splits into `words` again. A single word is taken as it is."""
    return words[0] if len(words) == 1 else " ".join(quote(word) for word in words)
