"""How much of wgsindy one CSV passes on its way to report.html.

    python benchmarks/modules_passed.py [--list] [--functions]

Runs `wgsindy fit` on the bundled data twice in this process. The first time loads everything; the
second time every call of a function is noted: the modules and functions that were called are those
that a reader must open to follow one file through the house, and the deepest call says how many
they must keep in mind at once. `--list` names the modules, `--functions` the functions with their
numbers of calls, those called most often first.

A generator that goes on counts as a call of its function; comprehensions and lambdas are part of
the function that they stand in.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any


class CallCounter:
    """Counts calls of functions of the package; to be given to `sys.setprofile`."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()  # by module and qualified name
        self.deepest = 0  # frames of the package on the stack

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and is_own(frame) and not code.co_name.startswith("<"):
            self.calls[frame.f_globals["__name__"], code.co_qualname] += 1
            self.deepest = max(self.deepest, depth(frame))

    @property
    def modules(self) -> set[str]:
        """Those with a function that was called."""
        return {module for module, _ in self.calls}


def is_own(frame: FrameType) -> bool:
    """Whether a frame runs code of the package."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == "wgsindy"


def depth(frame: FrameType | None) -> int:
    """Frames of the package from this one outwards."""
    count = 0
    while frame is not None:
        count += is_own(frame)
        frame = frame.f_back
    return count


def command(*arguments: str) -> None:
    """Run the command line."""
    from wgsindy.cli import app

    with suppress(SystemExit):
        app(list(arguments))


def calls_of_a_fit() -> CallCounter:
    """Fit the bundled data once to load everything, and once more to count."""
    counter = CallCounter()
    with tempfile.TemporaryDirectory() as folder:
        table, first, second = (str(Path(folder) / name) for name in ("data.csv", "one", "two"))
        command("demo", "--csv", table)
        command("fit", table, "--out", first, "--quiet")
        sys.setprofile(counter)
        command("fit", table, "--out", second, "--quiet")
        sys.setprofile(None)
        assert (Path(second) / "report.html").exists(), "the fit wrote no report"
    return counter


def main() -> None:
    """Run the command and print the counts."""
    counter = calls_of_a_fit()
    loaded = {name for name in sys.modules if name.split(".")[0] == "wgsindy"}
    if "--list" in sys.argv:
        sys.stdout.write("".join(f"{name}\n" for name in sorted(counter.modules)))
    if "--functions" in sys.argv:
        for (module, function), count in counter.calls.most_common():
            sys.stdout.write(f"{count:6d} {module}.{function}\n")
    sys.stdout.write(
        f"{len(counter.modules)} modules passed, {len(loaded)} loaded; {len(counter.calls)} "
        f"functions, {counter.calls.total()} calls, {counter.deepest} deep\n"
    )


if __name__ == "__main__":
    main()
