"""Every format that streams gives what trajectories of the same samples give."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pytest
import zarr
from alike import assert_same
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import wgsindy.files.formats.arrays as streamed_arrays
import wgsindy.files.formats.text as streamed_text
from wgsindy import read, stream
from wgsindy.data import FloatArray, Trajectories
from wgsindy.errors import (
    DataError,
    MissingValuesWarning,
    NotEnoughDataError,
    RenamedColumnsWarning,
    WgsindyError,
)

LENGTHS = (7, 30, 2, 64, 11)
RNG = np.random.default_rng(0)
PATHS = [RNG.normal(size=(n, 2)) for n in LENGTHS]
TIMES = [np.cumsum(RNG.uniform(0.1, 1.0, n)) for n in LENGTHS]
EXPECTED = Trajectories(PATHS, times=TIMES, names=("p", "q"))
STACK = RNG.normal(size=(3, 40, 2))


def table(labels: str = "abcde") -> pd.DataFrame:
    return pd.DataFrame(
        {
            "run": np.repeat(list(labels), LENGTHS),
            "t": np.concatenate(TIMES),
            "note": "x",
            "p": np.concatenate(PATHS)[:, 0],
            "q": np.concatenate(PATHS)[:, 1],
        }
    )


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let blocks be smaller than these files, so that every kind of cut occurs."""
    monkeypatch.setattr(streamed_text, "SOURCE_BYTES", 97)
    monkeypatch.setattr(streamed_arrays, "BLOCK_ROWS", 9)
    monkeypatch.setattr(streamed_arrays, "SOURCE_BLOCKS", 2)
    return iter(())


WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "comma": lambda frame, path: frame.to_csv(path, index=False),
    "semicolon": lambda frame, path: frame.to_csv(path, index=False, sep=";"),
    "tab": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "quotes": lambda frame, path: frame.to_csv(path, index=False, quoting=1),
    "crlf": lambda frame, path: frame.to_csv(path, index=False, lineterminator="\r\n"),
    "byte order mark": lambda frame, path: frame.to_csv(path, index=False, encoding="utf-8-sig"),
    "blanks": lambda frame, path: path.write_text(
        frame.to_csv(index=False).replace(",", " , "), encoding="utf-8"
    ),
    "blank lines": lambda frame, path: path.write_text(
        "\n\n# a comment above\n" + frame.to_csv(index=False) + "\n\n", encoding="utf-8"
    ),
    "no last newline": lambda frame, path: path.write_text(
        frame.to_csv(index=False).rstrip("\n"), encoding="utf-8"
    ),
    "parquet": lambda frame, path: pl.from_pandas(frame).write_parquet(path, row_group_size=10),
    "parquet of one group": lambda frame, path: frame.to_parquet(path, index=False),
}


@pytest.mark.parametrize("labels", ["abcde", "35142"])
@pytest.mark.parametrize("name", WRITERS)
def test_a_table_streams_as_it_is(name: str, labels: str, tmp_path: Path) -> None:
    frame = table(labels)
    if labels.isdecimal():
        frame["run"] = frame["run"].astype(int)
    WRITERS[name](frame, tmp_path / "table")
    assert_same(stream(tmp_path / "table"), EXPECTED)
    assert_same(stream(tmp_path / "table", time="t", trajectory="run", states=["q"]), only_q())
    assert_same(stream(tmp_path / "table", time=1, trajectory=0, states=4), only_q())


def only_q() -> Trajectories:
    return Trajectories([path[:, 1:] for path in PATHS], times=TIMES, names=("q",))


def test_a_step_takes_the_place_of_times(tmp_path: Path) -> None:
    table().to_csv(tmp_path / "table.csv", index=False)
    data = stream(tmp_path / "table.csv", dt=0.5, names=["u", "v"])
    assert_same(data, Trajectories(PATHS, 0.5, names=("u", "v")))
    with pytest.raises(DataError, match="needed once"):
        stream(tmp_path / "table.csv", dt=0.5, time="t")


@pytest.mark.parametrize("form", ["csv", "parquet", "npy"])
def test_several_files_are_several_trajectories(form: str, tmp_path: Path) -> None:
    for k, (path, times) in enumerate(zip(PATHS, TIMES, strict=True)):
        frame = pd.DataFrame({"t": times, "p": path[:, 0], "q": path[:, 1]})
        target = tmp_path / f"run{k + 8}.{form}"
        if form == "csv":
            frame.to_csv(target, index=False)
        elif form == "parquet":
            frame.to_parquet(target, index=False)
        else:
            np.save(target, frame.to_records(index=False))
    assert_same(stream(str(tmp_path / "run*")), EXPECTED)
    assert_same(stream([tmp_path / f"run{k + 8}.{form}" for k in range(5)]), EXPECTED)


def test_the_same_id_in_two_files_is_two_trajectories(tmp_path: Path) -> None:
    frame = table("aaaaa").iloc[:7]
    frame.to_csv(tmp_path / "1.csv", index=False)
    frame.to_csv(tmp_path / "2.csv", index=False)
    data = stream([tmp_path / "1.csv", tmp_path / "2.csv"])
    assert data.lengths.tolist() == [7, 7]


def test_npy_in_any_layout(tmp_path: Path) -> None:
    whole = Trajectories(STACK, 0.1)
    for array in (STACK, np.asfortranarray(STACK), STACK.astype(np.float32).astype(">f8")):
        np.save(tmp_path / "stack.npy", array)
        expected = Trajectories(np.asarray(array, dtype=np.float64), 0.1)
        assert_same(stream(tmp_path / "stack.npy", dt=0.1), expected)
    np.save(tmp_path / "path.npy", STACK[0].astype(np.float32))
    expected = Trajectories(STACK[0].astype(np.float32), 0.1)
    assert_same(stream(tmp_path / "path.npy", dt=0.1), expected)
    np.save(tmp_path / "line.npy", STACK[0, :, 0])
    expected = Trajectories(STACK[0, :, 0], 0.1)
    assert_same(stream(tmp_path / "line.npy", dt=0.1), expected)
    for source in (STACK, list(STACK)):
        assert_same(stream(source, dt=0.1), whole)
    columns = np.column_stack([np.repeat([1, 2, 3], 40), np.tile(np.arange(40.0), 3)])
    columns = np.column_stack([columns, STACK.reshape(120, 2)])
    np.save(tmp_path / "columns.npy", columns)
    data = stream(tmp_path / "columns.npy", trajectory=0, time=1, states=[2, 3])
    assert_same(data, Trajectories(STACK, 1.0))


@pytest.mark.parametrize("rows", [8, 9, 10, 17, 18, 19, 36, 37])
def test_no_row_is_lost_at_the_edge_of_a_block(rows: int, tmp_path: Path) -> None:
    path = np.arange(rows, dtype=float)
    np.save(tmp_path / "path.npy", path)
    found = stream(tmp_path / "path.npy", dt=1.0)
    assert found.lengths.tolist() == [rows]
    assert found.sample(100)[:, 0].tolist() == path[:-1].tolist()


def to_hdf5(arrays: dict[str, np.ndarray], path: Path) -> None:
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file.create_dataset(f"run/{name}", data=array, chunks=True if array.ndim else None)


def to_zarr(arrays: dict[str, np.ndarray], path: Path) -> None:
    group = zarr.open_group(str(path), mode="w")
    for name, array in arrays.items():
        # Not `data=array`, which the oldest version that is allowed does not know.
        chunks: Any = tuple(max(1, n // 3) for n in array.shape) if array.ndim else "auto"
        made = group.create_array(name, shape=array.shape, dtype=array.dtype, chunks=chunks)
        made[...] = array


@pytest.mark.parametrize("write", [to_hdf5, to_zarr])
def test_arrays_in_stores(
    write: Callable[[dict[str, np.ndarray], Path], None], tmp_path: Path
) -> None:
    frame = table("35142")
    columns = {name: frame[name].to_numpy() for name in ("t", "p", "q")}
    write(columns | {"run": frame["run"].to_numpy().astype(int)}, tmp_path / "columns")
    assert_same(stream(tmp_path / "columns"), EXPECTED)
    write({"states": STACK, "dt": np.array(0.25)}, tmp_path / "stack")
    assert_same(stream(tmp_path / "stack"), Trajectories(STACK, 0.25))
    times = np.cumsum(RNG.uniform(0.1, 1.0, (3, 40)), axis=1)
    write({"states": STACK, "time": times}, tmp_path / "timed")
    assert_same(stream(tmp_path / "timed"), Trajectories(STACK, times=list(times)))
    write({"states": STACK[0], "time": times[0]}, tmp_path / "single")
    assert_same(stream(tmp_path / "single"), Trajectories(STACK[0], times=[times[0]]))


def test_open_stores_are_arrays_as_well(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "stack.h5", "w") as file:
        found = stream(file.create_dataset("x", data=STACK), dt=0.1)
        assert_same(found, Trajectories(STACK, 0.1))
    where, shape = str(tmp_path / "x.zarr"), STACK[0].shape
    array = zarr.create_array(where, shape=shape, dtype=STACK.dtype)
    array[...] = STACK[0]
    assert_same(stream(array, dt=0.1), Trajectories(STACK[0], 0.1))
    assert_same(stream(tmp_path / "x.zarr", dt=0.1), Trajectories(STACK[0], 0.1))


def test_timestamps_of_parquet_are_seconds(tmp_path: Path) -> None:
    stamps = pd.Timestamp("2024-01-01", tz="UTC") + pd.to_timedelta([0, 0.5, 2.5], unit="s")
    pd.DataFrame({"when": stamps, "p": [1.0, 2.0, 4.0]}).to_parquet(tmp_path / "table.parquet")
    chunk = next(stream(tmp_path / "table.parquet").chunks())
    assert chunk.dt.tolist() == [0.5, 2.0]


def test_names_that_cannot_stand_in_a_formula_are_changed_as_when_reading(tmp_path: Path) -> None:
    frame = pd.DataFrame({"t": np.arange(30.0), "x-m": np.sin(np.arange(30.0))})
    frame.to_csv(tmp_path / "table.csv", index=False)
    with pytest.warns(RenamedColumnsWarning):
        names = stream(tmp_path / "table.csv").names
    with pytest.warns(RenamedColumnsWarning):
        assert names == read(tmp_path / "table.csv").data.names


NUMBER = st.floats(allow_nan=False, allow_infinity=False, width=64)
fresh = itertools.count()


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(values=st.lists(NUMBER, min_size=4, max_size=40), bytes_each=st.integers(1, 200))
def test_every_number_of_a_text_comes_back(
    values: list[float], bytes_each: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streamed_text, "SOURCE_BYTES", bytes_each)
    path = tmp_path / f"{next(fresh)}.csv"
    text = "".join(f"{k}.5,{value!r}\n" for k, value in enumerate(values))
    path.write_text("t,p\n" + text, encoding="utf-8")
    found = stream(path, states="p", time="t")
    assert found.lengths.tolist() == [len(values)]
    np.testing.assert_array_equal(found.sample(100)[:, 0], values[:-1])


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


HEADER = "t,p\n0.5,1.0\n1.5,2.0\n2.5,1.5\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (HEADER + "3.5,broken\n", "'broken' in column 'p', which is no number"),
        (HEADER + "2.5,1.0\n", "row 3 has 2.5 after 2.5"),
        (HEADER + "3.5,1.0,7\n", "cannot be read as a table of text"),
        (HEADER + '3.5,"1.0\n', "quoted field that runs over a line"),
        ("t p\n0.5 1.0\n1.5 2.0\n", "separated by blanks"),
        ("t,p\n0.5,1.0\n".encode("utf-16"), "UTF-16"),
        ("", "empty"),
        ("t,p\n", "no table of numbers|empty"),
        (b"PK\x03\x04abc", "unpack it"),
        (b"\x1f\x8babc", "unpack it"),
        (b"MATLAB 5.0 MAT-file", "save it as CSV"),
        (b"\x93NUMPY\x01\x00garbage", "cannot be read as NPY"),
        (b"PAR1garbage", "cannot be read as Parquet"),
        (b"\x89HDF\r\n\x1a\ngarbage", "cannot be read as HDF5"),
    ],
)
def test_a_broken_file_gives_a_sentence(content: str | bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(WgsindyError, match=words):
        stream(write(tmp_path / "file", content))


@pytest.mark.parametrize("line", ["3.5,\n", "3.5\n", "3.5,NaN\n"])
def test_a_missing_value_makes_a_step_longer(line: str, tmp_path: Path) -> None:
    with pytest.warns(MissingValuesWarning, match="value: 1, left out .*trajectories in all: 1"):
        found = stream(write(tmp_path / "file", HEADER + line + "4.5,7.0\n"))
    assert [chunk.dt.tolist() for chunk in found.chunks()] == [[1.0, 1.0, 2.0]]


def test_half_a_file_gives_a_sentence(tmp_path: Path) -> None:
    np.save(tmp_path / "whole.npy", STACK)
    content = (tmp_path / "whole.npy").read_bytes()
    with pytest.raises(DataError, match="cannot be read as NPY"):
        stream(write(tmp_path / "half.npy", content[: len(content) // 2]), dt=0.1)


def test_sources_that_are_none_give_a_sentence(tmp_path: Path) -> None:
    sources: list[tuple[object, str]] = [
        (tmp_path / "missing.npy", "cannot be read"),
        (tmp_path, "is a folder"),
        (str(tmp_path / "*.csv"), "no file matches"),
        (table(), "wg.read"),
        (5, "type int"),
        ([], "is empty"),
        (np.zeros((2, 2, 2, 2)), "do not fit together"),
    ]
    for source, words in sources:
        with pytest.raises(DataError, match=words):
            stream(source, dt=0.1)
    with pytest.raises(DataError, match=r"pass time .* or dt"):
        stream(STACK)
    with pytest.raises(DataError, match="no column 'z'"):
        stream(write(tmp_path / "a.csv", HEADER), states="z")
    write(tmp_path / "b.csv", HEADER.replace("p", "other"))
    with pytest.raises(DataError, match=r"b\.csv has no column 'p'"):
        stream([tmp_path / "a.csv", tmp_path / "b.csv"])
    with pytest.raises(NotEnoughDataError, match="no two of them"):
        stream(write(tmp_path / "c.csv", "run,t,p\n1,0.5,1\n2,0.5,2\n3,0.5,3\n"), trajectory="run")
    with h5py.File(tmp_path / "groups.h5", "w") as file:
        for k in range(2):
            file[f"run{k}/x"] = STACK[k]
    with pytest.raises(DataError, match="several groups"):
        stream(tmp_path / "groups.h5", dt=0.1)
    np_arrays: dict[str, FloatArray] = {"a": STACK[0], "b": STACK[1]}
    to_hdf5(np_arrays, tmp_path / "two.h5")
    with pytest.raises(DataError, match="several arrays of states"):
        stream(tmp_path / "two.h5", dt=0.1)
