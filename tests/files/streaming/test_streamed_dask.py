"""Dask arrays and data frames as streams: computed chunk by chunk, whatever the chunks."""

from __future__ import annotations

from typing import Any

import cloudpickle
import dask
import dask.array
import dask.bag
import dask.dataframe
import numpy as np
import pandas as pd
import pytest
from alike import assert_same

from wgsindy import stream
from wgsindy.data import Trajectories
from wgsindy.errors import DataError, MissingValuesWarning

RNG = np.random.default_rng(5)
PATH = RNG.normal(size=(60, 3))
STACK = RNG.normal(size=(5, 12, 2))


@pytest.mark.parametrize("chunks", [(60, 3), (7, 3), (7, 2), (1, 1)])
def test_a_path_may_be_chunked_anywhere(chunks: tuple[int, int]) -> None:
    found = stream(dask.array.from_array(PATH, chunks=chunks), dt=0.5, names=["a", "b", "c"])
    assert_same(found, Trajectories([PATH], 0.5, names=["a", "b", "c"]))


@pytest.mark.parametrize("chunks", [(5, 12, 2), (2, 12, 1), (2, 5, 2), (1, 4, 2), (3, 1, 1)])
def test_a_stack_is_one_trajectory_after_the_other(chunks: tuple[int, int, int]) -> None:
    found = stream(dask.array.from_array(STACK, chunks=chunks), dt=0.5, names=["p", "q"])
    assert_same(found, Trajectories(STACK, 0.5, names=["p", "q"]))


def test_a_column_of_times_is_found_and_one_axis_is_one_coordinate() -> None:
    times = np.cumsum(RNG.uniform(0.1, 1.0, 60))
    table = dask.array.from_array(np.column_stack([times, PATH[:, :2]]), chunks=(9, 2))
    found = stream(table, time=0, names=["p", "q"])
    assert_same(found, Trajectories([PATH[:, :2]], times=[times], names=["p", "q"]))
    line = stream(dask.array.from_array(PATH[:, 0], chunks=11), dt=0.1)
    assert_same(line, Trajectories([PATH[:, :1]], 0.1))


def test_the_length_of_chunks_need_not_be_known() -> None:
    array = dask.array.from_array(PATH, chunks=(7, 3))
    unknown = array[array[:, 0] > -10]
    assert np.isnan(unknown.shape[0])
    assert_same(stream(unknown, dt=0.5), Trajectories([PATH], 0.5))


def rows() -> pd.DataFrame:
    """Three runs, in an order that is not that of the alphabet."""
    lengths = [25, 10, 25]
    return pd.DataFrame(
        {
            "run": np.repeat(["b", "a", "c"], lengths),
            "t": np.concatenate([0.5 * np.arange(n) for n in lengths]),
            "x": PATH[:, 0],
            "y": PATH[:, 1],
            "left_out": PATH[:, 2],
        }
    )


EXPECTED = Trajectories(
    [PATH[:25, :2], PATH[25:35, :2], PATH[35:, :2]],
    times=[0.5 * np.arange(25), 0.5 * np.arange(10), 0.5 * np.arange(25)],
)


@pytest.mark.parametrize("partitions", [1, 2, 7, 60])
def test_partitions_of_a_frame_may_cut_trajectories(partitions: int) -> None:
    frame = dask.dataframe.from_pandas(rows(), npartitions=partitions, sort=False)
    assert_same(stream(frame, states=["x", "y"]), EXPECTED)


def test_an_index_of_times_is_a_column() -> None:
    start = pd.Timestamp("2024-03-30 23:00", tz="Europe/Berlin")  # an hour is lost that night
    index = start + pd.to_timedelta(np.arange(60) * 600, unit="s")
    table = pd.DataFrame({"x": PATH[:, 0], "y": PATH[:, 1]}, index=index)
    found = stream(dask.dataframe.from_pandas(table, npartitions=4))
    assert_same(found, Trajectories([PATH[:, :2]], 600.0))
    named = table.reset_index(drop=True).rename_axis("t")
    found = stream(dask.dataframe.from_pandas(named, npartitions=4), time="t")
    assert_same(found, Trajectories([PATH[:, :2]], 1.0))


def test_a_source_holds_its_own_partition_only() -> None:
    large = np.random.default_rng(0).normal(size=(100_000, 2))
    array = stream(dask.array.from_array(large, chunks=(1000, 2)), dt=0.1)
    table = pd.DataFrame(large, columns=["x", "y"])
    frame = stream(dask.dataframe.from_pandas(table, npartitions=100), dt=0.1)
    for data in (array, frame):
        sizes = [len(cloudpickle.dumps(source)) for source in data._sources]
        assert len(sizes) == 100
        assert max(sizes) < 3 * 16_000
        assert sum(sizes) < 3 * large.nbytes


def test_nothing_is_computed_all_at_once() -> None:
    held: list[int] = []

    def count(block: Any) -> Any:
        held.append(len(block))
        return block

    array = dask.array.from_array(PATH, chunks=(6, 3)).map_blocks(count, meta=PATH[:0])
    data = stream(array, dt=0.1)
    held.clear()
    first = next(data.windows(5))
    assert len(first) == 5
    assert len(held) <= 2  # of ten chunks


def test_a_missing_value_makes_a_step_longer() -> None:
    table = rows()
    table.loc[31, "y"] = np.nan
    frames = dask.dataframe.from_pandas(table, npartitions=3, sort=False)
    with pytest.warns(MissingValuesWarning, match="value: 1, left out"):
        found = stream(frames, states=["x", "y"], dt=0.1)
    steps = np.concatenate([chunk.dt for chunk in found.chunks()])
    assert sorted(set(steps.tolist())) == [0.1, 0.2]


def test_what_is_neither_array_nor_frame_is_refused() -> None:
    series = dask.dataframe.from_pandas(rows(), npartitions=2, sort=False)["x"]
    for source in (series, dask.array.ones((2, 2, 2, 2)), dask.bag.from_sequence([1, 2])):
        with pytest.raises(DataError, match=r"of Dask with . axes cannot be streamed"):
            stream(source, dt=0.1)
