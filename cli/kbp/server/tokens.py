"""The tokens that let a client in: a file with a name and a hash a line, read again when told."""

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kbp import regular
from kbp.display import said_of

_LINE = re.compile(r"(?P<name>\S+)[ \t]+sha256:(?P<hash>[0-9a-f]{64})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_MAX_FILE = 1024 * 1024
NAME_RULE = "a letter or digit, then up to 63 letters, digits, dots, dashes, underscores and @"


class BadTokens(ValueError):
    """A token file cannot be used; `faults` has all that is wrong with it."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


@dataclass(frozen=True)
class Tokens:
    """The names and hashes of a token file. A name may stand there twice, so that its token can be changed."""

    hashes: tuple[tuple[str, bytes], ...]

    def name_of(self, token: str) -> str | None:
        """Whose token this is, None if it is nobody's. It takes as long whichever it is like."""
        digest = _hash(token)
        found = None
        for name, each in self.hashes:
            if hmac.compare_digest(each, digest):
                found = name
        return found


def read_tokens(path: Path) -> Tokens:
    """The tokens that a file lets in. Blank lines, and those that start with `#`, say nothing.

    Raises:
        BadTokens: it cannot be read, has a line that is no token, or none at all.
    """
    found = tokens_of(path)
    if not found.hashes:
        raise BadTokens([f"{path}: it has no token"])
    return found


def add_token(path: Path, line: str, announce: Callable[[], None]) -> None:
    """Add a line to a token file, which is made when it is not there. Lines that are added at once all come in.

    Args:
        path: the file.
        line: what is added.
        announce: tells of the token, when the file can be written to and before it is.

    Raises:
        BadTokens: it has a line that is no token, or no room for another one.
        OSError: it cannot be written to.
    """
    before = b""
    if path.exists():
        tokens_of(path)
        before = regular.read(path, _MAX_FILE)
    added = (b"" if not before or before.endswith(b"\n") else b"\n") + f"{line}\n".encode()
    if len(before) + len(added) > _MAX_FILE:
        raise BadTokens([f"{path}: it has no room for another token"])
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(handle, "ab") as file:
        announce()
        file.write(added)


def tokens_of(path: Path) -> Tokens:
    """The tokens that a file lets in, which may be none.

    Raises:
        BadTokens: it cannot be read, or has a line that is no token.
    """
    try:
        text = regular.read(path, _MAX_FILE).decode("utf-8-sig")
    except OSError as error:
        raise BadTokens([f"{path}: {said_of(error)}"]) from None
    except UnicodeDecodeError:
        raise BadTokens([f"{path}: not UTF-8"]) from None
    faults: list[str] = []
    hashes = tuple(_lines(text, str(path), faults))
    if faults:
        raise BadTokens(faults)
    return Tokens(hashes)


def _lines(text: str, path: str, faults: list[str]) -> Iterator[tuple[str, bytes]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match and _NAME.fullmatch(match["name"]):
            yield match["name"], bytes.fromhex(match["hash"])
        else:  # the line itself is not told: it may be a token that somebody put there as it is
            faults.append(f"{path}:{number}: no token: a line is NAME sha256:HASH, as --new-token makes it")


def is_token_name(name: str) -> bool:
    """Whether a token may have this name."""
    return bool(_NAME.fullmatch(name))


def new_token(name: str) -> tuple[str, str]:
    """A new token for a name, and the line of a token file that lets it in."""
    token = f"kbp_{secrets.token_urlsafe(32)}"
    return token, f"{name} sha256:{_hash(token).hex()}"


def _hash(token: str) -> bytes:
    # A token is 256 random bits: there is nothing to guess that a slow hash would protect.
    return hashlib.sha256(token.encode(errors="surrogateescape")).digest()
