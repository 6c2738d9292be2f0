"""How long a Tab press takes against an interpreter that does nothing, side by side in one run.

    .venv/bin/python tests/bench/complete.py [ROUNDS] [FILES]

A project of many prompt files; the console script as it is installed. Byte-compile the package first. Prints medians
and the ratios to quote. Not a test: figures depend on the machine, ratios hardly do.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

LINES = {
    "commands": ["kbp", ""],
    "options": ["kbp", "render", "--"],
    "values of an option": ["kbp", "lint", "--format", ""],
    "prompts": ["kbp", "render", "prompt-1"],
    "arguments": ["kbp", "render", "prompt-7", "-a", ""],
    "values of an argument": ["kbp", "render", "prompt-7", "-a", "since="],
    "paths": ["kbp", "render", "prompt-7", "-a", "app=@pro"],
    "servers": ["kbp", "render", "--server", ""],
}
PROMPT = "---\ndescription: Prompt {}\narguments: [{{name: app}}, {{name: since, default: 1h}}]\n---\n{{{{ app }}}}\n"


def seconds(command: Sequence[str | Path], folder: Path) -> float:
    """How long a process takes."""
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def main(rounds: int, files: int) -> None:
    """Print the ratio of each kind of word."""
    kbp = Path(sys.executable).with_name("kbp")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ |= {"HOME": name, "XDG_STATE_HOME": f"{name}/state", "XDG_CONFIG_HOME": f"{name}/config"}
        (folder / "prompts").mkdir()
        (folder / "kbp.toml").write_text('[servers.docs]\nurl = "http://127.0.0.1:1/"\n')
        for number in range(files):
            (folder / f"prompts/prompt-{number}.md").write_text(PROMPT.format(number))
        for kind, words in LINES.items():
            press = [kbp, "__complete", "zsh", "--", *words]
            seconds(press, folder)  # what is read once
            pairs = [(seconds(press, folder), seconds([sys.executable, "-c", "pass"], folder)) for _ in range(rounds)]
            tab, bare = (statistics.median(each) for each in zip(*pairs, strict=True))
            ratio = statistics.median(a / b for a, b in pairs)
            print(f"{kind:24} {1000 * tab:6.1f} ms, `python -c pass` {1000 * bare:6.1f} ms: {ratio:.2f} times")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30, int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
