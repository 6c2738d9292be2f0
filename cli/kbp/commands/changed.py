"""The files that differ from a revision in git."""

import os
import subprocess
from pathlib import Path

from kbp.commands.console import Stop

HEAD = "HEAD"


def changed_files(since: str) -> frozenset[Path]:
    """The real paths of the files of the repository around that differ from a revision, untracked ones too.

    Raises:
        Stop: this is no repository, git is not there, or it knows no such revision.
    """
    top = repository()
    if since.startswith("-"):
        raise Stop(f"--changed-since {since}: a revision does not start with a dash")
    if since == HEAD and not _has_commits(top):
        diff = _git("ls-files", "-z", at=top)
    else:
        options = ("--name-only", "--no-ext-diff", "--no-renames", "--diff-filter=d", "-z")
        diff = _git("diff", *options, since, "--", at=top)
    new = _git("ls-files", "--others", "--exclude-standard", "-z", at=top)
    return frozenset(Path(os.path.realpath(top / os.fsdecode(name))) for name in (diff + new).split(b"\0") if name)


def repository() -> Path:
    """The real path of the repository around.

    Raises:
        Stop: there is none.
    """
    return Path(os.path.realpath(os.fsdecode(_git("rev-parse", "--show-toplevel").rstrip(b"\n"))))


def _has_commits(top: Path) -> bool:
    command = ["git", "rev-parse", "--verify", "--quiet", HEAD]
    return subprocess.run(command, cwd=top, capture_output=True, check=False).returncode == 0  # noqa: S603


def _git(*arguments: str, at: Path | None = None) -> bytes:
    try:
        done = subprocess.run(["git", *arguments], cwd=at, capture_output=True, check=False)  # noqa: S603, S607
    except OSError:
        raise Stop("--changed asks git, and git is not there") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().split("\n")[0].removeprefix("fatal: ")
        raise Stop(f"--changed asks git, which says: {said}")
    return done.stdout
