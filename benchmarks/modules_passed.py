"""How many modules of wgsindy one CSV passes on its way to report.html.

    python benchmarks/modules_passed.py

Runs `wgsindy fit` on the bundled data in this process and counts the modules whose functions were
called on the way, beside those that were merely loaded.
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
    """Note the module of each function that is called; module bodies are no functions."""
    if event == "call" and frame.f_code.co_name != "<module>":
        name = frame.f_globals.get("__name__", "")
        if name.split(".")[0] == "wgsindy":
            called.add(name)


def main() -> None:
    """Run the command and print the count."""
    from wgsindy.cli import app

    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "data.csv", Path(folder) / "out"
        with suppress(SystemExit):
            app(["demo", "--csv", str(table)])
        called.clear()
        sys.setprofile(note)
        with suppress(SystemExit):
            app(["fit", str(table), "--out", str(out), "--quiet"])
        sys.setprofile(None)
        assert (out / "report.html").exists(), "the fit wrote no report"
    loaded = {name for name in sys.modules if name.split(".")[0] == "wgsindy"}
    for name in sorted(called):
        sys.stdout.write(f"{name}\n")
    sys.stdout.write(f"{len(called)} modules passed, {len(loaded)} loaded\n")


if __name__ == "__main__":
    main()
