"""The files that differ from a revision in git."""

import os
import subprocess
from pathlib import Path

from kbp.commands.console import Stop


def changed_files(since: str) -> frozenset[Path]:
    """The real paths of the files of the repository around that differ from a revision, untracked ones too.

    Raises:
        Stop: this is no repository, git is not there, or it knows no such revision.
    """
    top = Path(os.fsdecode(_git("rev-parse", "--show-toplevel").rstrip(b"\n")))
    if since.startswith("-"):
        raise Stop(f"--changed-since {since}: a revision does not start with a dash")
    diff = _git("diff", "--name-only", "--no-ext-diff", "--no-renames", "--diff-filter=d", "-z", since, "--", at=top)
    new = _git("ls-files", "--others", "--exclude-standard", "-z", at=top)
    return frozenset(Path(os.path.realpath(top / os.fsdecode(name))) for name in (diff + new).split(b"\0") if name)


def _git(*arguments: str, at: Path | None = None) -> bytes:
    try:
        done = subprocess.run(["git", *arguments], cwd=at, capture_output=True, check=False)  # noqa: S603, S607
    except OSError:
        raise Stop("--changed asks git, and git is not there") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().split("\n")[0].removeprefix("fatal: ")
        raise Stop(f"--changed asks git, which says: {said}")
    return done.stdout
