"""Run the snippets of the documentation; written anew are the outputs that pages show.

``python docs/rerun_snippets.py`` after a change that is meant to change them. Tests run every
snippet in the same way and compare (tests/docs/test_snippets.py).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
SNIPPETS, OUTPUTS = DOCS / "snippets", DOCS / "snippets" / "out"
# `make` builds an environment: .ci/run runs the very lines instead.
NOT_RUN = ("make.sh",)


def snippets() -> list[Path]:
    """Every snippet that can run in an empty folder."""
    found = sorted([*SNIPPETS.glob("*.py"), *SNIPPETS.glob("*.sh")])
    return [path for path in found if path.name not in NOT_RUN]


def run(snippet: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a snippet in ``folder``, warnings as errors; the other snippets lie beside it."""
    for other in SNIPPETS.iterdir():
        if other.is_file():
            shutil.copy(other, folder)
    here = str(Path(sys.executable).parent)
    environment = os.environ | {
        "PATH": os.pathsep.join([here, os.environ.get("PATH", "")]),
        "PYTHONWARNINGS": "error",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    command = [sys.executable] if snippet.suffix == ".py" else ["bash", "-eu"]
    return subprocess.run(
        [*command, snippet.name],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def main() -> None:
    """Write outputs and pictures that a page shows: of all snippets, or of those named."""
    OUTPUTS.mkdir(exist_ok=True)
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md"))
    for snippet in snippets():
        if len(sys.argv) > 1 and snippet.name not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            done = run(snippet, Path(folder))
            if done.returncode:
                raise SystemExit(f"{snippet.name} failed:\n{done.stderr}")
            if f"out/{snippet.stem}.txt" in pages:
                (OUTPUTS / f"{snippet.stem}.txt").write_text(done.stdout, encoding="utf-8")
            if f"out/{snippet.stem}.png" in pages:
                shutil.copy(Path(folder) / f"{snippet.stem}.png", OUTPUTS)


if __name__ == "__main__":
    main()
