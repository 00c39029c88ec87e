"""Data frames and arrays in memory."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from walks import DT, TIMES, frame, walk

from wgsindy.errors import DataError, RenamedColumnsWarning
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


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ([0, 1], ("x_0", "x_1")),  # as pandas makes of an array
        ([("a", "x"), ("b", "x")], ("a_x", "b_x")),
    ],
    ids=["numbers", "pairs"],
)
def test_columns_need_not_be_called_by_text(columns: list[Any], names: tuple[str, ...]) -> None:
    with pytest.warns(RenamedColumnsWarning):
        data = read(pd.DataFrame(walk(), columns=columns), dt=DT).data
    assert data.names == names
    np.testing.assert_array_equal(data.states, walk())


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(DataError, match=r"the data frame cannot be read: .*'x' 2 times"):
        read(pd.DataFrame(walk(), columns=["x", "x"]), dt=DT)


@pytest.mark.parametrize("kind", [float, Decimal, Fraction])
def test_numbers_may_be_objects_as_databases_give_them(kind: Callable[[float], Any]) -> None:
    given = frame()[["x", "y"]].map(kind).astype(object)
    np.testing.assert_array_equal(read(given, dt=DT).data.states, walk())
    given.iloc[3, 0] = "n/a"
    assert read(given, dt=DT).data.names == ("y",)


@pytest.mark.parametrize("odd", [True, 1j, 10**400, "0.013 mm"])
def test_objects_that_are_no_numbers_are_shown(odd: object) -> None:
    given = pd.DataFrame({"x": pd.Series([odd] * 60, dtype=object)})
    with pytest.raises(DataError, match=re.escape(f"In 'x', {str(odd)!r:.40} is no number.")):
        read(given, dt=DT)
