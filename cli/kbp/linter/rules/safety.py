"""Rules about what must not be in a prompt file: text that nobody sees, and secrets."""

import re
from collections.abc import Iterator

from kbp.diagnostics import Finding, Severity
from kbp.files import PromptFile
from kbp.linter.rules.base import rule
from kbp.text import Span, replacement

_MAX_COMMENT = 300
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
# Tag characters spell invisible ASCII; behind a black flag they are part of an emoji.
_TAGS = re.compile("(?<![\U0001f3f4\U000e0000-\U000e007f])[\U000e0000-\U000e007f]+")
# Joiners belong between letters of some scripts; the others nowhere inside a word.
_ZERO_WIDTH = re.compile(
    "(?<=[A-Za-z0-9])[\u200b-\u200d\u2060\ufeff]+(?=[A-Za-z0-9])|(?<=\\w)[\u200b\u2060\ufeff]+(?=\\w)"
)
_HIDDEN = (
    (_BIDI, "a control that turns the direction of writing: what is read is not what is sent"),
    (_TAGS, "tag characters: text that nobody sees and every model reads"),
    (_ZERO_WIDTH, "a character without width inside a word"),
)


@rule(Severity.ERROR, even_refused=True, fixes="unsafe")
def hidden_text(file: PromptFile) -> Iterator[Finding]:
    r"""A prompt must not hold text that a person cannot see.

    What hides from a reader does not hide from a model: bidirectional controls, tag characters, characters without
    width inside a word, long HTML comments. Emoji and scripts that need joiners are fine.

    Bad `prompts/read.md` as bytes:

        ---
        description: Read a page
        ---
        Read \xe2\x80\xaesiht\xe2\x80\xac now.

    Good `prompts/read.md`:

        ---
        description: Read a page
        ---
        Read this now.
    """
    text = file.document.text
    for pattern, what in () if text.isascii() else _HIDDEN:
        for match in pattern.finditer(text):
            codes = " ".join(f"U+{ord(character):04X}" for character in match[0][:4])
            span = Span(*match.span())
            yield Finding(span, f"{what} ({codes})", "remove it", fix=replacement(span, "", is_safe=False))
    for comment in _comments(text, file.document.body_start):
        length = comment.end - comment.start
        if length > _MAX_COMMENT:
            first = file.document.lines.span(file.document.lines.position(comment.start).line)
            message = f"an HTML comment of {length} characters: no page shows it, and every model reads it"
            yield Finding(Span(comment.start, min(comment.end, first.end)), message, "remove it, or write it as text")


def _comments(text: str, start: int) -> Iterator[Span]:
    """The HTML comments that are closed."""
    while (opening := text.find("<!--", start)) >= 0 and (closing := text.find("-->", opening + 4)) >= 0:
        start = closing + 3
        yield Span(opening, start)


_PRIVATE_KEY = "a private key"
# So many signs of a secret tell what kind it is; a real one has more than a few others.
_SHOWN_OF_NONE, _MIN_SIGNS = 12, 4
_SECRETS = (
    # what it is, letters that each one has (looked for first, which is fast), its shape
    ("an AWS access key", ("AKIA", "ASIA"), re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36}\b")),
    ("a GitHub token", ("github_pat_",), re.compile(r"\bgithub_pat_[A-Za-z0-9_]{60,}\b")),
    ("a GitLab token", ("glpat-",), re.compile(r"\bglpat-[A-Za-z0-9_-]{20,}\b")),
    ("an Anthropic key", ("sk-ant-",), re.compile(r"\bsk-ant-[A-Za-z0-9_-]{24,}")),
    ("an OpenAI key", ("sk-",), re.compile(r"\bsk-(?:proj-)?[A-Za-z0-9]{40,}\b")),
    ("a Google key", ("AIza",), re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b")),
    ("a Slack token", ("xox",), re.compile(r"\bxox[abprs]-[0-9A-Za-z-]{20,}\b")),
    ("an npm token", ("npm_",), re.compile(r"\bnpm_[A-Za-z0-9]{36}\b")),
    (_PRIVATE_KEY, ("PRIVATE KEY",), re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----")),
)


def secrets_in(text: str) -> re.Pattern[str] | None:
    """What finds the secrets of a text, and the beginnings of them, in another; None when it has none."""
    found = {match[0] for _, match in _secrets(text)}
    if not found:
        return None
    return re.compile("|".join(re.escape(each[:_SHOWN_OF_NONE]) + r"[A-Za-z0-9_-]*" for each in sorted(found)))


def _secrets(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """What each secret of a text is, and where it stands. Samples of the documentation are none."""
    for what, letters, pattern in _SECRETS:
        for match in pattern.finditer(text) if any(map(text.__contains__, letters)) else ():
            is_sample = "EXAMPLE" in match[0] or len(set(match[0][_SHOWN_OF_NONE:])) < _MIN_SIGNS
            if not is_sample or what == _PRIVATE_KEY:
                yield what, match


@rule(Severity.ERROR, even_refused=True)
def secret(file: PromptFile) -> Iterator[Finding]:
    """A prompt must not hold a secret.

    A prompt file is shared, and its text is sent to a model. What has the shape of a token of a well-known provider,
    or is the head of a private key, is named; the secret itself is never printed.
    """
    for what, match in _secrets(file.document.text):
        message = f"{what}: it is shared with the file and sent to the model"
        yield Finding(Span(*match.span()), message, "revoke it, and name where it is kept instead", is_secret=True)
