"""Programs of npm that tests drive, installed beside the project when they are not there."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import TESTS

NODE = TESTS.parent / ".node"


def installed(*packages: str, folder: str) -> Path:
    """The folder of the programs of npm packages, which are installed in a folder of their own."""
    npm = shutil.which("npm")
    if npm is None:
        assert "KBP_ALL_TESTS" not in os.environ, "there is no npm"
        pytest.skip("there is no npm to install what is tested against")
    home = NODE / folder
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run side by side
        done = home / "installed"
        if not done.exists() or done.read_text().split() != list(packages):
            quiet = ["--silent", "--no-fund", "--no-audit", "--no-save"]
            subprocess.run([npm, "install", *quiet, "--prefix", str(home), *packages], check=True, timeout=600)
            done.write_text("\n".join(packages))
    return home / "node_modules" / ".bin"
