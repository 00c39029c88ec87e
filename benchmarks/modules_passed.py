"""How many modules of wgsindy one CSV passes on its way to report.html.

    python benchmarks/modules_passed.py [--list]

Runs `wgsindy fit` on the bundled data twice in this process. The first time loads everything; the
second time every function call is noted, and the modules that were called are counted: those that
a reader must open to follow one file through the house.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

called: set[str] = set()


def note(frame: FrameType, event: str, argument: Any) -> None:
    """Note the module of each function that is called; evaluated annotations are none."""
    if event == "call" and frame.f_code.co_name != "<module>":
        name = frame.f_globals.get("__name__", "")
        if name.split(".")[0] == "wgsindy":
            called.add(name)


def command(*arguments: str) -> None:
    """Run the command line."""
    from wgsindy.cli import app

    with suppress(SystemExit):
        app(list(arguments))


def main() -> None:
    """Run the command and print the count."""
    with tempfile.TemporaryDirectory() as folder:
        table, first, second = (str(Path(folder) / name) for name in ("data.csv", "one", "two"))
        command("demo", "--csv", table)
        command("fit", table, "--out", first, "--quiet")
        sys.setprofile(note)
        command("fit", table, "--out", second, "--quiet")
        sys.setprofile(None)
        assert (Path(second) / "report.html").exists(), "the fit wrote no report"
    loaded = {name for name in sys.modules if name.split(".")[0] == "wgsindy"}
    if "--list" in sys.argv:
        sys.stdout.write("".join(f"{name}\n" for name in sorted(called)))
    sys.stdout.write(f"{len(called)} modules passed, {len(loaded)} loaded\n")


if __name__ == "__main__":
    main()
