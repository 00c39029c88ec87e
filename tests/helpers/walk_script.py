"""Walk all files of the walk by the installed command; for an environment without pytest.

Usage: ``python walk_script.py FOLDER``. Prints a line a file; ends with 1 if a fit does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from walk_files import MAKERS, OPTIONS


def walk(name: str, folder: Path) -> str:
    """Fit one file; return its line."""
    folder.mkdir(parents=True)
    files = [str(path) for path in MAKERS[name](folder)]
    options = ["--json", "--out", str(folder / "out"), *OPTIONS.get(name, ())]
    started = time.perf_counter()
    run = subprocess.run(
        [sys.executable, "-m", "wgsindy", "fit", *files, *options], capture_output=True, text=True
    )
    if run.returncode:
        raise SystemExit(f"{name}: {run.stderr}")
    found = json.loads(run.stdout)
    return f"{name}: {', '.join(found['states'])}; {time.perf_counter() - started:.0f} s"


def main() -> None:
    """Walk; files that only a package for tests can write are left out."""
    for name in MAKERS:
        try:
            print(walk(name, Path(sys.argv[1]) / name), flush=True)
        except ModuleNotFoundError as missing:
            print(f"{name}: not made, {missing}", flush=True)


if __name__ == "__main__":
    main()
