"""Exports of one instrument that overlap."""

from __future__ import annotations

from pathlib import Path

import pytest
from walks import N, frame

from wgsindy.errors import DuplicateRowsWarning
from wgsindy.files import read


def test_exports_that_share_rows_are_joined(tmp_path: Path) -> None:
    whole = frame()
    whole.iloc[:120].to_csv(tmp_path / "a.csv", index=False)
    whole.iloc[100:].to_csv(tmp_path / "b.csv", index=False)
    with pytest.warns(DuplicateRowsWarning) as seen:
        found = read(tmp_path / "*.csv").data
    assert "b.csv and a.csv share 20 rows" in str(seen[0].message)
    assert (len(found), found.n_increments) == (1, N - 1)


def test_runs_that_begin_alike_stay_apart(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "a.csv", index=False)
    other = frame()
    other.loc[2:, ["x", "y"]] *= 2.0  # two rows in common: a start, and luck
    other.to_csv(tmp_path / "b.csv", index=False)
    assert len(read(tmp_path / "*.csv").data) == 2
