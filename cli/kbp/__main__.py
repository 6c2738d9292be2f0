"""The entry point: `kbp`, and `python -m kbp`."""

import gc
import sys

from kbp import __version__

LEFT = 130


def main() -> None:
    """Run the command line. The version alone is answered without reading the rest of kbp."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        try:
            sys.stdout.write(f"kbp {__version__}\n")
            sys.stdout.flush()
        except (OSError, AttributeError):  # a full, closed or missing stdout, which is told below
            pass
        else:
            return
    gc.set_threshold(200_000)  # a run makes many objects and hardly a cycle: looking for them takes a third of the time
    try:
        from kbp import quick

        code = quick.run(sys.argv[1:]) if quick.is_meant(sys.argv[1:]) else None
        if code is None:
            from kbp.app import run

            code = run(sys.argv[1:])
        sys.exit(code)
    except KeyboardInterrupt:  # while kbp itself is still being read
        sys.exit(LEFT)


if __name__ == "__main__":
    main()
