"""A server as it is configured."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kbp import memory


@dataclass(frozen=True, slots=True)
class Input:
    """A value that a configuration asks a person for. `is_secret` hides what is typed."""

    id: str
    description: str
    default: str | None = None
    is_secret: bool = False
    choices: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The variable of the environment that gives it where nobody can be asked."""
        return "KBP_INPUT_" + re.sub(r"\W", "_", self.id).upper()


@dataclass(frozen=True)
class Server:
    """A server as it is configured.

    Attributes:
        name: what a person calls it.
        command: the program that is it, and its arguments; empty for one that is reached over HTTP.
        env: what the program gets of the environment besides the little that all do.
        cwd: the folder it runs in.
        url: where it is reached.
        headers: what goes with each request.
        is_sse: whether it has the older transport of two addresses.
        origin: the file that names it, None for the command line.
        is_trusted: whether the user alone writes that file. What a project's file starts is asked about first.
        inputs: the values that it asks a person for.
        folder: the project that it belongs to.
    """

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_sse: bool = False
    origin: Path | None = None
    is_trusted: bool = True
    inputs: tuple[Input, ...] = ()
    folder: Path | None = None

    @property
    def address(self) -> str:
        """What is started or reached, for a person to see. Variables stand in it as they are written."""
        import shlex

        return without_secrets(self.url) if self.url else shlex.join(self.command)

    @property
    def key(self) -> str:
        """A name for what is remembered of it: the same while it is the same server."""
        return memory.key_of(self.command, dict(self.env), self.cwd, self.url, self.is_sse)

    def uses(self) -> tuple[str, ...]:
        """The variables and inputs that it is told of, as they are written."""
        return tuple(dict.fromkeys(match[0] for text in self._texts() for match in re.finditer(VARIABLE, text)))

    @property
    def needs_consent(self) -> bool:
        """Whether a person has to agree before it is used: it starts a program, or is told what is in variables."""
        return not self.is_trusted and (bool(self.command) or any(map(_uses_variable, self._texts())))

    @property
    def consent_key(self) -> str:
        """A name for the consent: of this content, of this file."""
        return memory.key_of(str(self.origin), self.name, self.key, dict(self.headers))

    def _texts(self) -> Iterator[str]:
        yield from (*self.command, *self.env.values(), *self.headers.values(), self.cwd or "", self.url or "")


def without_secrets(url: str) -> str:
    """An address for a person to see: without a name and password in it, and what is asked of it."""
    bare = re.sub(r"(?i)^([a-z][a-z0-9+.-]*:[/\\]*)?[^/?#\\]*@", r"\1", url)
    return re.sub(r"\?.*", "?…", bare, count=1, flags=re.DOTALL)


def can_be_header(value: str) -> bool:
    """Whether a header of HTTP can have a value."""
    return value.isprintable() and value.isascii()


# ${VAR}, ${VAR:-default}, ${env:VAR}, ${workspaceFolder}, ${input:id}: Claude Code 2.1 and VS Code 1.139
VARIABLE = (
    r"\$\{(?:(?P<folder>workspaceFolder|userHome)|input:(?P<input>[^}]+)"
    r"|(?:env:)?(?P<name>\w+)(?::-(?P<default>[^}]*))?)\}"
)
"""What a variable in a configuration looks like, as a regular expression."""


def _uses_variable(text: str) -> bool:
    return any(not match["folder"] for match in re.finditer(VARIABLE, text))
