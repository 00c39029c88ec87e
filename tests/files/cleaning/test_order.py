"""Rows in order, each once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from walks import TIMES, N, frame, walk

from wgsindy.errors import (
    DataError,
    DuplicateRowsWarning,
    TimeRestartsWarning,
    UnsortedTimesWarning,
)
from wgsindy.files import read


def test_rows_out_of_order_are_sorted() -> None:
    backwards = frame().iloc[::-1]
    for source in (backwards, backwards.assign(t=np.arange(N, dtype=np.uint8)[::-1])):
        with pytest.warns(UnsortedTimesWarning, match="200 rows out of order: sorted"):
            reading = read(source)
        np.testing.assert_array_equal(reading.data[0], walk())
    swapped = frame().iloc[[*range(50), 51, 50, *range(52, N)]]
    with pytest.warns(UnsortedTimesWarning, match="2 rows"):
        np.testing.assert_array_equal(read(swapped).data[0], walk())


def test_time_that_starts_again_is_another_trajectory() -> None:
    both = pd.concat([frame(0), frame(1)])
    with pytest.warns(TimeRestartsWarning, match="starts again 1 time"):
        data = read(both).data
    np.testing.assert_array_equal(data[1], walk(1))
    halves = pd.concat([frame()[100:], frame()[:100]])
    with pytest.warns(UnsortedTimesWarning):
        np.testing.assert_array_equal(read(halves).data[0], walk())


def test_copies_are_dropped_and_contradictions_refused() -> None:
    with pytest.warns(DuplicateRowsWarning, match="3 rows with the time and states of another"):
        reading = read(frame().iloc[[0, 0, *range(1, 90), 89, 89, *range(90, N)]])
    np.testing.assert_array_equal(reading.data[0], walk())
    with pytest.warns(DuplicateRowsWarning, match="whole trajectories.*: 1 left out"):
        assert len(read([frame(), frame(), frame(1)]).data) == 2
    with pytest.raises(DataError, match=r"two different states at one time, 180 times.*trajectory"):
        read(frame().assign(t=np.floor(TIMES * 10 + 1e-6) / 10))
