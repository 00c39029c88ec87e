"""The notebooks run from top to bottom, say what is true, and are stored without output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import run_notebooks

NOTEBOOKS = sorted(run_notebooks.NOTEBOOKS.glob("*.ipynb"))


def test_there_are_four() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "1-first-fit",
        "2-tracking",
        "3-finance",
        "4-climate",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    names = run_notebooks.run(path)
    assert "fan" in names or "est" in names


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_whole_and_without_output(path: Path) -> None:
    content = json.loads(path.read_text())
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in content["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in content["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
    source = "\n".join(run_notebooks.cells(path))
    # What an installed wheel brings is enough.
    assert "pandas" not in source
    assert "assert" in source


def test_a_cell_that_fails_is_named(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "code", "source": ["x = 1\n", "x"]},
        {"cell_type": "markdown", "source": ["words"]},
        {"cell_type": "code", "source": ["assert x == 2"]},
    ]
    path = tmp_path / "broken.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    with pytest.raises(AssertionError) as failed:
        run_notebooks.run(path)
    assert failed.value.__notes__ == ["in cell 2 of broken.ipynb"]
