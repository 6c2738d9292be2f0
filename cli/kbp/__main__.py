"""The entry point: `kbp`, and `python -m kbp`."""

import gc
import sys

from kbp import __version__

LEFT = 130


def main() -> None:
    """Run the command line. The version and a Tab press are answered without reading the rest of kbp."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        try:
            sys.stdout.write(f"kbp {__version__}\n")
            sys.stdout.flush()
        except (OSError, AttributeError):  # a full, closed or missing stdout, which is told below
            pass
        else:
            return
    if sys.argv[1:2] == ["__complete"]:
        from kbp.complete import engine

        sys.exit(engine.run(sys.argv[2:]))
    _heed_signals()
    gc.set_threshold(200_000)  # a run makes many objects and hardly a cycle: looking for them takes a third of the time
    try:
        from kbp import quick

        code = quick.run(sys.argv[1:]) if quick.is_meant(sys.argv[1:]) else None
        if code is None:
            from kbp.app import run

            code = run(sys.argv[1:])
        sys.exit(code)
    except KeyboardInterrupt as left:  # while kbp itself is still being read
        sys.exit(left.args[0] if left.args else LEFT)


def _heed_signals() -> None:
    """Leave in order when the process is to end: what was started ends with it."""
    import signal

    def leave(number: int, frame: object) -> None:
        raise KeyboardInterrupt(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, leave)


if __name__ == "__main__":
    main()
