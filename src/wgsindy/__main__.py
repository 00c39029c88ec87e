"""``wgsindy`` and ``python -m wgsindy``: the command line, and an end to it from the first moment.

Loading the command line takes a quarter of a second, in which Ctrl-C is one line, too.
"""

from __future__ import annotations

import signal
import sys
import time
from _thread import interrupt_main, start_new_thread
from types import FrameType

INTERRUPTED, TERMINATED = 130, 143  # what a shell expects of a program that a signal ended
ENDED: dict[object, str] = {INTERRUPTED: "interrupted", TERMINATED: "terminated"}
MOMENT, PATIENCE = 0.01, 1.0  # seconds until a signal is thought of again
IMPORT = "<frozen importlib._bootstrap>"  # file of the frames of an import


def main() -> None:
    """Load and run the command line."""
    heard = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN]
    before = {number: signal.signal(number, _end) for number in heard}
    try:
        from wgsindy.cli import main as run

        run()
    except (KeyboardInterrupt, SystemExit) as ended:
        code = ended.code if isinstance(ended, SystemExit) else INTERRUPTED
        if code in ENDED:
            sys.stderr.write(f"wgsindy: {ENDED[code]}.\n")
        sys.exit(code)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    """End what runs, so that what was begun is cleared away; what is imported, a moment later.

    There, Python and libraries take what is raised for an error of theirs. And some ignore it, so
    it is raised again if there is no end.
    """
    importing = False
    while frame is not None and frame.f_code is not main.__code__:
        importing = importing or frame.f_code.co_filename == IMPORT
        frame = frame.f_back
    start_new_thread(_remind, (number, MOMENT if importing else PATIENCE))
    if importing:
        return
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(TERMINATED)


def _remind(number: int, after: float) -> None:
    time.sleep(after)
    if signal.getsignal(number) is _end:
        interrupt_main(signal.Signals(number))


if __name__ == "__main__":
    main()
