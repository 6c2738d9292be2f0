"""How long a scan takes against reading and YAML-composing the same files, side by side in one process.

    .venv/bin/python tests/bench/scan.py [FILES] [ROUNDS]

Prints medians and the ratios to quote. Not a test: figures depend on the machine, ratios hardly do.
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from kbp.frontmatter import LOADER
from kbp.library import load_all
from kbp.linter.run import lint
from kbp.search import Search, find_in_project

WORDS = [
    "look",
    "at",
    "the",
    "logs",
    "of",
    "this",
    "service",
    "and",
    "say",
    "what",
    "is",
    "wrong",
    "before",
    "you",
    "go",
]

KB = """---
description: Prompt {number}
arguments:
- name: app
  required: true
- name: since
  default: 1h
---
Look at {{ app }} since {{ since }}.
"""
CLAUDE = """---
description: Prompt {number}
argument-hint: "[app]"
allowed-tools: Read, Bash(git:*)
---
Look at $ARGUMENTS.

```sh
echo $HOME
```
"""
COPILOT = """---
description: Prompt {number}
agent: agent
---
Look at ${input:app:Which app?}.
"""


def write_library(top: Path, count: int) -> list[Path]:
    """Prompt files of all dialects, 0.5 to 8 KB."""
    chance = random.Random(7)
    paths = []
    for number in range(count):
        group = f"g{number // 100}"
        path, text = [
            (top / "prompts" / group / f"p{number}.md", KB),
            (top / "commands" / group / f"p{number}.md", CLAUDE),
            (top / ".github" / "prompts" / f"p{number}.prompt.md", COPILOT),
        ][number % 3]
        prose = "\n".join(" ".join(chance.choices(WORDS, k=14)) + "." for _ in range(chance.randint(5, 90)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{number}", str(number)) + prose + "\n", encoding="utf-8")
        paths.append(path)
    return paths


def read_and_compose(paths: list[Path]) -> None:
    for path in paths:
        text = path.read_bytes().decode()
        yaml.compose(text.split("---\n", 2)[1], Loader=LOADER)


def scan(top: Path) -> None:
    search = Search()
    find_in_project(top, search)
    report = lint(load_all(search).files)
    assert not report.diagnostics


def median(work: Callable[[], None], rounds: int) -> float:
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main() -> None:
    """Write the files, time both in turn, print the figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        (top / "kbp.toml").touch()
        paths = write_library(top, count)
        scan(top)
        pairs = [(median(lambda: read_and_compose(paths), 1), median(lambda: scan(top), 1)) for _ in range(rounds)]
    base, full = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(whole / part for part, whole in pairs)
    print(f"{count} files, median of {rounds} rounds in one process")
    print(f"read and YAML-compose   {base / count * 1000:.3f} ms a file")
    print(f"find, load and lint     {full / count * 1000:.3f} ms a file")
    print(f"ratio                   {ratio:.1f}")


if __name__ == "__main__":
    main()
