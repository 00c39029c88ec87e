"""``wgsindy`` and ``python -m wgsindy``: the command line, and an end to it from the first moment.

Loading the command line takes a quarter of a second, in which Ctrl-C is one line, too.
"""

from __future__ import annotations

import sys

INTERRUPTED = 130  # what a shell expects of a program that Ctrl-C ended


def main() -> None:
    """Load and run the command line."""
    try:
        from wgsindy.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("wgsindy: interrupted.\n")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
