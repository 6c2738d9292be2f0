"""How long it takes until a key that is pressed in the picker is on the screen, measured in tmux.

    PYTHONPATH=tests .venv/bin/python tests/bench/picker.py [PROMPTS]

What is measured has the key sent by one process and the screen read by others, so the time of `tmux` doing nothing is
told beside it. Not a test: figures depend on the machine.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from terminals import Terminal

KEYS = "prompt97lpt"
TEXT = "---\ndescription: Does thing {0} to a workload\narguments: [{{name: app}}]\n---\nLook at {{{{ app }}}}.\n"


def until(terminal: Terminal, text: str) -> float:
    """The milliseconds until a text is on the screen."""
    started = time.perf_counter()
    while text not in terminal.screen():
        pass
    return 1000 * (time.perf_counter() - started)


def main(count: int) -> None:
    """Print how long keys take, and how long the picker takes to be there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "prompts").mkdir()
        for number in range(count):
            (folder / f"prompts/lib{number % 37}_prompt_{number:05}.md").write_text(TEXT.format(number))
        with Terminal(folder, 120, 40) as terminal:
            terminal.run("pick", "--project-only", HOME=name, XDG_STATE_HOME=name)
            print(f"{count} prompts: the picker is there after {until(terminal, f'{count}/{count}') / 1000:.1f} s")
            times = []
            for at, key in enumerate(KEYS, start=1):
                terminal.type(key)
                times.append(until(terminal, f"prompt: {KEYS[:at]}"))
                terminal.wait("/")
            idle = statistics.median(until(terminal, "prompt:") for _ in KEYS)
            middle = statistics.median(times)
            print(f"a key: median {middle:.0f} ms, at most {max(times):.0f} ms; tmux alone {idle:.0f} ms")
            for _ in KEYS:
                terminal.keys("BSpace")
            print(f"all of them again: {until(terminal, f'{count}/{count}'):.0f} ms")
            terminal.keys("Escape")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
