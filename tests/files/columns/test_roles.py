"""What each column is taken for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from walks import DT, TIMES, N, frame, walk

from wgsindy.errors import DataError, GuessedColumnWarning
from wgsindy.files import read


def test_files_with_different_columns_are_refused(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "a.csv", index=False)
    frame().rename(columns={"y": "z"}).to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(DataError, match=r"b\.csv has no column 'y'; its columns are 't', 'x', 'z'"):
        read(tmp_path / "*.csv")


def test_columns_are_chosen_by_name_and_by_position() -> None:
    assert read(frame(), states="y").data.names == ("y",)
    assert read(frame(), states=["y", "x"]).data.names == ("y", "x")
    by_position = read(np.column_stack([walk(), TIMES]), time=2, states=[1]).data
    np.testing.assert_array_equal(by_position[0], walk()[:, 1:])
    assert by_position.mean_dt == pytest.approx(DT)
    assert read(frame(), names=("u", "v")).data.names == ("u", "v")


def test_row_numbers_and_text_are_no_states(tmp_path: Path) -> None:
    frame().assign(note="ok").to_csv(tmp_path / "a.csv")  # pandas adds a column of row numbers
    assert read(tmp_path / "a.csv").data.names == ("x", "y")
    with pytest.raises(DataError, match=r"column 'note' .* holds text \(such as 'ok'\)"):
        read(tmp_path / "a.csv", states=["note"])


def test_an_id_of_each_row_is_no_trajectory() -> None:
    assert len(read(frame().assign(id=range(N))).data) == 1
    assert len(read(frame().assign(id=np.arange(N) % 2)).data) == 2


def test_a_counter_of_frames_is_scaled_by_dt() -> None:
    counted = frame().assign(t=range(N)).rename(columns={"t": "frame"})
    assert read(counted, dt=0.04).data.mean_dt == pytest.approx(0.04)
    with pytest.warns(GuessedColumnWarning, match="'column 0' .* is taken as time"):
        data = read(np.column_stack([np.arange(N), walk()]), dt=0.04).data
    assert data.dimension == 2
    assert data.mean_dt == pytest.approx(0.04)


def test_a_state_is_not_mistaken_for_time() -> None:
    lattice = np.cumsum(np.sign(np.diff(walk(), axis=0)), axis=0)
    growing = np.cumsum(np.abs(walk()), axis=0)
    for source in (walk(), lattice):
        with pytest.raises(DataError, match="no column of times that can be recognised"):
            read(source)
    assert read(growing, dt=DT).data.dimension == 2
