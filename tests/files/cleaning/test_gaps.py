"""Holes are not filled: short ones make a step longer, long ones and gaps split."""

from __future__ import annotations

import numpy as np
import pytest
from walks import DT, TIMES, N, frame, walk

from wgsindy.data import FloatArray
from wgsindy.errors import (
    GapWarning,
    MissingValuesWarning,
    NotEnoughDataError,
    ReadingWarning,
    ShortPiecesWarning,
)
from wgsindy.files import read
from wgsindy.files.cleaning.order import longest_usual_step


def holed(*rows: slice | int) -> FloatArray:
    x = walk()
    for k, some in enumerate(rows):
        x[some] = np.nan if k else np.inf
    return x


@pytest.mark.parametrize("form", ["array", "frame"])
def test_missing_values_make_steps_longer_or_split_and_are_not_filled(form: str) -> None:
    x = holed(slice(50, 52), 120, slice(150, 160), slice(170, 181), 199)
    with pytest.warns(MissingValuesWarning, match=r"25 rows without any state.*; 2 trajectories"):
        data = (
            read(x, dt=DT) if form == "array" else read(frame().assign(x=x[:, 0], y=x[:, 1]))
        ).data
    rows = np.flatnonzero(np.isfinite(x).all(axis=1))
    np.testing.assert_array_equal(data.states, walk()[rows])
    assert data.lengths.tolist() == [157, 18]
    steps = np.diff(rows[:157]) * DT
    assert sorted(set(np.rint(steps / DT))) == [1, 2, 3, 11]
    np.testing.assert_allclose(data.steps(0), steps, rtol=1e-12)
    np.testing.assert_allclose(data.steps(1), DT, rtol=1e-12)


def test_a_row_without_a_time_is_left_out() -> None:
    with pytest.warns(MissingValuesWarning, match="1 row without a time"):
        lost = read(frame().assign(t=np.where(np.arange(N) == 7, np.nan, TIMES))).data
    assert (len(lost), lost.steps(0).max()) == (1, pytest.approx(2 * DT))


def test_a_lone_sample_is_left_out() -> None:
    x = holed(slice(50, 70), slice(71, 90))
    with pytest.warns(ReadingWarning) as seen:
        assert [len(path) for path in read(x, dt=DT).data] == [50, 110]
    assert [w.category for w in seen] == [MissingValuesWarning, ShortPiecesWarning]


def test_a_gap_splits_and_its_length_can_be_chosen() -> None:
    silent = frame().drop(range(50, 80))
    with pytest.warns(GapWarning, match=r"1 gap in time \(0\.31 in all\)"):
        assert [len(path) for path in read(silent).data] == [50, 120]
    assert len(read(silent, gap=1.0).data) == 1
    assert len(read(frame().drop(range(50, 53))).data) == 1  # 4 steps are no gap
    lost = holed(slice(50, 53))
    missing = frame().assign(x=lost[:, 0], y=lost[:, 1])
    with pytest.warns(MissingValuesWarning):
        assert len(read(missing, gap=3 * DT).data) == 2
    with pytest.warns(GapWarning):
        assert len(read(frame().drop(range(50, 53)), gap=2 * DT).data) == 2


def test_random_sampling_has_no_gaps() -> None:
    # 10^5 exponential steps: one false gap in 30 runs; the seed is not one of them.
    steps = np.random.default_rng(0).exponential(size=100_000)
    assert steps.max() < longest_usual_step(steps)
    # Bursts of 10 samples and a night: every tenth step is a gap all the same.
    bursts = np.where(np.arange(1000) % 10 == 9, 1000.0, 1.0)
    assert longest_usual_step(bursts) < 30


def test_columns_measured_at_different_times_are_kept() -> None:
    x = walk()
    x[::2, 0], x[1::2, 1] = np.nan, np.nan
    with pytest.warns(MissingValuesWarning, match=r"200 rows with a missing.*among others: kept"):
        data = read(x, dt=DT).data
    assert data.n_samples == N
    assert data.seen is not None
    np.testing.assert_array_equal(data.seen, np.isfinite(x))
    np.testing.assert_array_equal(data.states[data.seen], x[np.isfinite(x)])


def test_columns_that_are_empty_almost_everywhere_are_refused() -> None:
    x = walk()
    x[np.arange(N) % 20 > 0] = np.nan
    with pytest.raises(NotEnoughDataError, match=r"of 200 rows 190 have no value"):
        read(x, dt=DT)
