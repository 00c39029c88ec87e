"""Data frames and arrays in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from walks import DT, TIMES, frame, walk

from wgsindy.errors import DataError
from wgsindy.files import read


@pytest.mark.parametrize(
    "convert",
    [
        lambda f: f,
        pl.from_pandas,
        lambda f: pl.from_pandas(f).lazy(),
        lambda f: pa.Table.from_pandas(f),
        lambda f: f.set_index("t"),
        lambda f: f.assign(t=pd.to_datetime(1.7e9 + f.t, unit="s")).set_index("t"),
        lambda f: f.set_index(pd.to_datetime(1.7e9 + f.t, unit="s").to_numpy())[["x", "y"]],
        lambda f: {name: f[name].to_numpy() for name in f},
        lambda f: f.assign(day=["Monday"] * len(f)),
        lambda f: f.melt(id_vars="t"),
        lambda f: f.melt(id_vars="t").sort_values("t", kind="stable"),
        lambda f: f.to_records(index=False),
        lambda f: [f],
    ],
)
def test_every_kind_of_frame_gives_the_same_data(convert: Callable[[pd.DataFrame], Any]) -> None:
    data = read(convert(frame())).data
    assert (len(data), data.names) == (1, ("x", "y"))
    np.testing.assert_array_equal(data.states, walk())
    np.testing.assert_allclose(data.steps(0), DT, atol=2e-6)  # timestamps end at microseconds


def test_arrays_are_read_like_trajectories() -> None:
    for source in (walk(), [walk()], walk()[None], {"states": walk(), "dt": np.array(DT)}):
        data = read(source, dt=None if isinstance(source, dict) else DT).data
        np.testing.assert_array_equal(data[0], walk())
        assert data.mean_dt == pytest.approx(DT)
    assert len(read([walk(0), walk(1, 50)], dt=DT).data) == 2
    assert read(walk()[:, 0], dt=DT).data.dimension == 1
    beside = read({"time": TIMES, "positions": np.stack([walk(0), walk(1)])}).data
    assert (len(beside), beside.names) == (2, ("x", "y"))


def test_a_transposed_array_is_refused() -> None:
    with pytest.raises(DataError, match=r"shape \(2, 200\): 200 coordinates.*pass its transpose"):
        read(walk().T, dt=DT)
