"""Run the notebooks in examples/notebooks as a notebook server would, without needing one.

    python examples/run_notebooks.py [NOTEBOOK ...]

Cells run one after the other in one namespace; what a cell ends with is shown, as a notebook would
show it, to nobody. Files are written to a folder that is thrown away.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parent / "notebooks"


def cells(path: Path) -> list[str]:
    """Return the code of a notebook, cell by cell."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]


def run(path: Path) -> dict[str, Any]:
    """Run a notebook and return its namespace; an error names the cell it comes from."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    names: dict[str, Any] = {"__name__": "__main__"}
    before, sources = Path.cwd(), cells(path)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for number, source in enumerate(sources, 1):
                try:
                    show(execute(source, f"{path.name}, cell {number}", names))
                except Exception as error:
                    error.add_note(f"in cell {number} of {path.name}")
                    raise
        finally:
            os.chdir(before)
            plt.close("all")
    return names


def execute(source: str, label: str, names: dict[str, Any]) -> Any:
    """Run a cell and return the value of the expression it ends with, if it does."""
    tree = ast.parse(source, label)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, label, "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), label, "eval"), names)


def show(value: Any) -> None:
    """Make what a notebook would display."""
    if value is not None:
        repr(value)
        for name in ("_repr_mimebundle_", "_repr_html_", "_repr_latex_"):
            if hasattr(value, name):
                getattr(value, name)()


def main() -> None:
    """Run those that are named, or all."""
    for path in [Path(name) for name in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb")):
        started = time.perf_counter()
        run(path)
        print(f"{path.name}: {len(cells(path))} cells in {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
