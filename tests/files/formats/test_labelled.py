"""xarray's labelled arrays: the dimension of time is the clock."""

from __future__ import annotations

import numpy as np
import pytest

import wgsindy as wg
from wgsindy.errors import DataError

xr = pytest.importorskip("xarray", reason="xarray is not installed")
RNG = np.random.default_rng(0)
STATES = np.cumsum(RNG.normal(size=(200, 2)), axis=0)
SECONDS = 0.5 * np.arange(200)


def same(found: wg.Trajectories, step: float, names: tuple[str, ...] = ("x", "y")) -> None:
    assert found.names == names
    np.testing.assert_array_equal(found.states, STATES)
    assert found.mean_dt == pytest.approx(step)


def test_a_dataset_of_series_is_read_with_its_clock() -> None:
    stamps = np.datetime64("2024-01-01", "ns") + (SECONDS * 1e9).astype("timedelta64[ns]")
    data = xr.Dataset(
        {"x": ("time", STATES[:, 0]), "y": ("time", STATES[:, 1]), "height": 2.0},
        coords={"time": stamps},
    )
    same(wg.read(data).data, 0.5)
    same(wg.WGSINDy("poly1").fit(data).fit_.data, 0.5)  # type: ignore[arg-type]


def test_an_array_gives_a_column_for_each_label() -> None:
    array = xr.DataArray(
        STATES, dims=("t", "component"), coords={"t": SECONDS, "component": ["x", "y"]}
    )
    same(wg.read(array).data, 0.5)
    same(wg.read(array.transpose("component", "t")).data, 0.5)
    bare = xr.DataArray(STATES, dims=("time", "k"), name="u")
    same(wg.read(bare, dt=0.1).data, 0.1, ("u_0", "u_1"))


def test_members_of_an_ensemble_are_trajectories() -> None:
    cube = np.stack([STATES[:100], STATES[100:]])
    array = xr.DataArray(
        cube, dims=("member", "time", "c"), coords={"time": SECONDS[:100], "c": ["x", "y"]}
    )
    data = wg.read(array).data
    assert len(data) == 2
    np.testing.assert_array_equal(data[1], STATES[100:])


def test_a_dimension_that_nobody_can_name_gets_a_sentence() -> None:
    with pytest.raises(DataError, match=r"\['a', 'b'\] is time cannot be told; rename it"):
        wg.read(xr.DataArray(STATES, dims=("a", "b")))
