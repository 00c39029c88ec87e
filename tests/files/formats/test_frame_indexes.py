"""Indexes of pandas: what they say of time is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import wgsindy as wg
from wgsindy.errors import DataError

RNG = np.random.default_rng(0)
STATES = np.cumsum(RNG.normal(size=(200, 2)), axis=0)
SECONDS = 0.5 * np.arange(200)


@pytest.mark.parametrize(
    ("index", "step"),
    [
        (pd.Index(SECONDS), 0.5),
        (pd.to_timedelta(SECONDS, unit="s"), 0.5),
        (pd.to_datetime("2024-01-01") + pd.to_timedelta(SECONDS, unit="s"), 0.5),
        (pd.Index(SECONDS, name="t"), 0.5),
        (pd.period_range("2024-01-01", periods=200, freq="h"), 3600.0),
    ],
    ids=["fractions", "timedelta", "datetime", "named", "periods"],
)
def test_an_index_of_pandas_is_the_time(index: Any, step: float) -> None:
    frame = pd.DataFrame(STATES, index=index, columns=["x", "y"])
    found = wg.read(frame, unit=None if step == 0.5 else "s").data
    assert found.names == ("x", "y")
    np.testing.assert_array_equal(found.states, STATES)
    assert found.mean_dt == pytest.approx(step)
    fitted = wg.WGSINDy("poly1").fit(frame)
    assert fitted.fit_.data.n_increments == 199


def test_an_index_that_counts_rows_is_no_time() -> None:
    with pytest.raises(DataError, match="dt"):
        wg.read(pd.DataFrame(STATES, columns=["x", "y"]))


def test_two_levels_of_an_index_are_trajectories_and_time() -> None:
    index = pd.MultiIndex.from_product([[0, 1], SECONDS[:100]], names=["particle", "t"])
    frame = pd.DataFrame(STATES, index=index, columns=["x", "y"])
    data = wg.read(frame).data
    assert (len(data), data.n_increments) == (2, 198)
    np.testing.assert_array_equal(data[1], STATES[100:])
