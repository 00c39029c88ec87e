"""Holes split trajectories and are not filled."""

from __future__ import annotations

import numpy as np
import pytest
from walks import DT, TIMES, N, frame, walk

from wgsindy.errors import (
    GapWarning,
    MissingValuesWarning,
    NotEnoughDataError,
    ReadingWarning,
    ShortPiecesWarning,
)
from wgsindy.files import read
from wgsindy.files.cleaning.gaps import longest_usual_step


def test_missing_values_split_and_are_not_filled() -> None:
    x = walk()
    x[50, 0], x[51, 1], x[120, 0] = np.nan, np.inf, np.nan
    with pytest.warns(MissingValuesWarning, match=r"3 rows with a missing.*; 3 trajectories"):
        data = read(x, dt=DT).data
    assert [len(path) for path in data] == [50, 68, 79]
    np.testing.assert_array_equal(data[1], walk()[52:120])
    with pytest.warns(MissingValuesWarning, match="1 row without a time"):
        lost = read(frame().assign(t=np.where(np.arange(N) == 7, np.nan, TIMES))).data
    assert (len(lost), lost.steps(0).max()) == (1, pytest.approx(2 * DT))


def test_a_lone_sample_is_left_out() -> None:
    x = walk()
    x[[50, 52], 0] = np.nan
    with pytest.warns(ReadingWarning) as seen:
        assert [len(path) for path in read(x, dt=DT).data] == [50, 147]
    assert [w.category for w in seen] == [MissingValuesWarning, ShortPiecesWarning]


def test_a_gap_splits_and_its_length_can_be_chosen() -> None:
    holed = frame().drop(range(50, 80))
    with pytest.warns(GapWarning, match=r"1 gap in time \(0\.31 in all\)"):
        assert [len(path) for path in read(holed).data] == [50, 120]
    assert len(read(holed, gap=1.0).data) == 1
    assert len(read(frame().drop(range(50, 53))).data) == 1  # 4 steps are no gap
    with pytest.warns(GapWarning):
        assert len(read(frame().drop(range(50, 53)), gap=2 * DT).data) == 2


def test_random_sampling_has_no_gaps() -> None:
    # 10^5 exponential steps: one false gap in 30 runs; the seed is not one of them.
    steps = np.random.default_rng(0).exponential(size=100_000)
    assert steps.max() < longest_usual_step(steps)
    # Bursts of 10 samples and a night: every tenth step is a gap all the same.
    bursts = np.where(np.arange(1000) % 10 == 9, 1000.0, 1.0)
    assert longest_usual_step(bursts) < 30


def test_columns_measured_at_different_times_are_refused() -> None:
    x = walk()
    x[::2, 0], x[1::2, 1] = np.nan, np.nan
    with pytest.raises(NotEnoughDataError, match=r"200 rows 200 lack a value.*different times"):
        read(x, dt=DT)
