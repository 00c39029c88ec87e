"""Files that could be misread a piece at a time: what reading them whole gives, or a sentence."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import alike
import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import wgsindy.files.formats.arrays as streamed_arrays
import wgsindy.files.formats.frames as streamed_parquet
import wgsindy.files.formats.text as streamed_text
from wgsindy import read, stream
from wgsindy.data import Stream
from wgsindy.errors import DataError, MissingValuesWarning

N = 60
RNG = np.random.default_rng(4)
X = RNG.normal(size=N).cumsum().round(5)
ROWS = [f"{k / 8},{x}" for k, x in enumerate(X)]
LARGE = 1_700_000_000_000_000_000  # no float holds its neighbours
DAY = np.datetime64("2024-02-28T23:59:50", "ms")
HALF = np.timedelta64(500, "ms")


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let blocks be smaller than these files, so that every kind of cut occurs."""
    monkeypatch.setattr(streamed_text, "SOURCE_BYTES", 61)
    monkeypatch.setattr(streamed_arrays, "BLOCK_ROWS", 7)
    monkeypatch.setattr(streamed_arrays, "SOURCE_BLOCKS", 2)
    monkeypatch.setattr(streamed_parquet, "BLOCK_ROWS", 7)
    monkeypatch.setattr(streamed_parquet, "SOURCE_ROWS", 11)
    return iter(())


# Reading counts times from the first one, and rounds them there.
assert_same = partial(alike.assert_same, rtol=1e-12)


def table(columns: str, rows: list[str]) -> str:
    return "\n".join([columns, *rows]) + "\n"


def joined(*columns: Sequence[object]) -> list[str]:
    return [",".join(map(str, row)) for row in zip(*columns, strict=True)]


IDS = [k // 25 for k in range(N)]
TEXTS = {
    "blank last lines": table("t,x", ROWS) + "\n \n\t\r\n",
    "blank lines between": table("t,x", [*ROWS[:20], "", *ROWS[20:40], "  ", "\r", *ROWS[40:]]),
    "one column with blank lines": table("x", [*map(str, X[:20]), "", *map(str, X[20:])]),
    "blank lines of CRLF": table("t,x", [*ROWS[:20], "", *ROWS[20:]]).replace("\n", "\r\n"),
    "no header": "\n".join(ROWS),
    "ids with many digits": table("t,x,id", joined(ROWS, [LARGE + k for k in IDS])),
    "many digits and blanks": table("t,x,id", joined(ROWS, [f" {LARGE + k} " for k in IDS])),
    "ids among blanks": table(
        "t,x,id", joined(ROWS, [f"{' ' * (k % 3)}run {i}" for k, i in enumerate(IDS)])
    ),
    "nanoseconds since 1970": table("t,x", joined([LARGE + 250 * k for k in range(N)], [*X])),
    "milliseconds since 1970": table(
        "t,x", joined([LARGE // 10**6 + 250 * k for k in range(N)], [*X])
    ),
    "fractions since 1970": table("t,x", joined([1.7e12 + 0.25 * k for k in range(N)], [*X])),
    "seconds since 1970": table("t,x", joined([1_700_000_000 + k for k in range(N)], [*X])),
    "timestamps": table("time,x", joined([DAY + HALF * k for k in range(N)], [*X])),
    "timestamps of Python": table(
        "time,x", joined([(DAY + HALF * k).item().isoformat() for k in range(N)], [*X])
    ),
    "timestamps with a zone": table(
        "time,x", joined([f"{DAY + HALF * k}+02:00" for k in range(N)], [*X])
    ),
    "whole times, then others": table(
        "t,x", joined([k if k < 40 else k + 0.5 for k in range(N)], [*X])
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_streams_as_it_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_bytes(TEXTS[name].encode())
    options = {
        "one column with blank lines": {"dt": 0.5},
        "no header": {"time": 0},
    }.get(name, {})
    expected = read(tmp_path / "table.csv", **options).data  # type: ignore[arg-type]
    assert expected.n_samples == N
    assert_same(stream(tmp_path / "table.csv", **options), expected)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["i1", "i2", "u1", "f2", "f4", ">f4", ">i4"])
def test_times_of_any_type_keep_their_steps(kind: str, tmp_path: Path) -> None:
    steps = [1, 20, 200]  # more than a signed byte can hold
    times = np.cumsum([0, *steps]) - (0 if kind == "u1" else 120)
    records = np.zeros(4, dtype=[("t", kind), ("x", "f8")])
    records["t"], records["x"] = times, X[:4]
    np.save(tmp_path / "records.npy", records)
    found = stream(tmp_path / "records.npy")
    assert next(found.chunks()).dt.tolist() == steps
    assert next(read(tmp_path / "records.npy", gap=1e3).data.chunks()).dt.tolist() == steps


def test_steps_between_short_floats_are_not_rounded() -> None:
    times = np.array([0.1, 0.3, 0.7, 1.6, 3.7], dtype=np.float32)
    exact = np.diff(times.astype(np.float64))
    assert (np.diff(times) != exact).any()
    found = stream(lambda: [(X[:2], times[:2]), (X[2:5], times[2:])])
    np.testing.assert_array_equal(next(found.chunks()).dt, exact)


def parquet(path: Path, groups: list[int]) -> None:
    """Write runs of 25 samples in row groups of these sizes."""
    frame = pa.table({"t": np.arange(N) / 8, "x": X, "id": np.array(IDS)})
    with pq.ParquetWriter(path, frame.schema) as writer:
        first = 0
        for size in groups:
            writer.write_table(frame.slice(first, size))
            first += size
        writer.write_table(frame.slice(first))


@pytest.mark.parametrize("groups", [[], [1] * 30, [5, 0, 0, 20, 0, 1, 10], [24, 1, 1, 24]])
def test_parquet_in_groups_of_any_size(groups: list[int], tmp_path: Path) -> None:
    parquet(tmp_path / "table.parquet", groups)
    assert_same(stream(tmp_path / "table.parquet"), read(tmp_path / "table.parquet").data)


@pytest.mark.parametrize("column", ["x", "id", "t"])
def test_a_null_of_parquet_is_left_out_or_refused_with_its_row(column: str, tmp_path: Path) -> None:
    values = {"t": np.arange(N) / 8, "x": np.arange(N) % 7, "id": np.array(IDS)}
    arrays = {name: pa.array(held) for name, held in values.items()}
    arrays[column] = pa.array([None if k == 33 else v for k, v in enumerate(values[column])])
    pq.write_table(pa.table(arrays), tmp_path / "table.parquet", row_group_size=8)
    if column == "x":
        with pytest.warns(MissingValuesWarning, match="value: 1, left out"):
            assert stream(tmp_path / "table.parquet").n_samples == N - 1
        return
    with pytest.raises(DataError, match="row 33 has"):
        stream(tmp_path / "table.parquet")


def test_ids_may_be_categories_or_a_list(tmp_path: Path) -> None:
    frame = pd.DataFrame({"t": np.arange(N) / 8, "x": X, "id": pd.Categorical(IDS)})
    frame.to_parquet(tmp_path / "table.parquet")
    listed = stream(lambda: [(X, np.arange(N) / 8, IDS)])
    for found in (stream(tmp_path / "table.parquet"), listed):
        assert found.lengths.tolist() == [25, 25, 10]


def to_csv(path: Path) -> None:
    path.write_text(table("t,x,id", joined(ROWS, [*IDS])))


def to_npy(path: Path) -> None:
    records = np.zeros(N, dtype=[("t", "f8"), ("x", "f8"), ("id", "i8")])
    records["t"], records["x"], records["id"] = np.arange(N) / 8, X, IDS
    np.save(path, records)
    os.replace(f"{path}.npy", path)


def to_hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["t"], file["x"], file["id"] = np.arange(N) / 8, X, np.array(IDS)


WRITERS: dict[str, Callable[[Path], None]] = {
    "csv": to_csv,
    "npy": to_npy,
    "hdf5": to_hdf5,
    "parquet": lambda path: parquet(path, [10] * 5),
}


def open_files() -> set[str]:
    folder = Path("/proc/self/fd")
    return {os.readlink(item) for item in folder.iterdir() if item.is_symlink() and item.exists()}


def mapped_files() -> str:
    return Path("/proc/self/maps").read_text()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux")
@pytest.mark.parametrize("form", WRITERS)
def test_a_reading_that_ends_early_lets_the_file_go(form: str, tmp_path: Path) -> None:
    path = tmp_path / "table"
    WRITERS[form](path)
    found = stream(path)
    windows = found.windows(4)
    next(windows)
    windows.close()  # type: ignore[attr-defined]
    del windows
    assert str(path) not in open_files()
    assert str(path) not in mapped_files()


@pytest.mark.parametrize("form", WRITERS)
def test_a_file_that_goes_away_gives_a_sentence(form: str, tmp_path: Path) -> None:
    path = tmp_path / "table"
    WRITERS[form](path)
    found = stream(path)
    path.unlink()
    with pytest.raises(DataError, match=r"table cannot be read as .*No such file|unable to open"):
        list(found.chunks())


def shorter(found: Stream, path: Path, rows: int) -> None:
    path.write_text(table("t,x,id", joined(ROWS, [*IDS])[:rows]))
    with pytest.raises(DataError, match="had 60 samples when it was first read"):
        list(found.chunks())


@pytest.mark.parametrize("rows", [59, 50, 26, 1])
def test_a_file_that_becomes_shorter_is_noticed(rows: int, tmp_path: Path) -> None:
    to_csv(tmp_path / "table.csv")
    shorter(stream(tmp_path / "table.csv"), tmp_path / "table.csv", rows)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("7.5,nothing,1", "'nothing' in column 'x', which is no number"),
        ("7.5,1,1,9", "cannot be read as a table of text"),
        ("7.5,1", "row 30 has no trajectory id"),
        ("3.0,1.5,1", "row 30 has 3.0 after 3.625"),
        ("7.5,1.5,0", "trajectory 0 goes on at row 30"),
    ],
)
def test_a_broken_line_in_the_middle_gives_a_sentence(
    line: str, words: str, tmp_path: Path
) -> None:
    rows = joined(ROWS, [*IDS])
    (tmp_path / "table.csv").write_text(table("t,x,id", [*rows[:30], line, *rows[31:]]))
    with pytest.raises(DataError, match=words):
        stream(tmp_path / "table.csv")


def test_other_ways_to_write_lines_and_times_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(table("t,x", ROWS).replace("\n", "\r").encode())
    with pytest.raises(DataError, match="carriage returns alone"):
        stream(path)
    stamps = [f"{DAY + HALF * k}" for k in range(N)]
    stamps[30] = "noon"
    path.write_text(table("time,x", joined(stamps, [*X])))
    with pytest.raises(DataError, match="'noon' in column 'time', which is no timestamp"):
        stream(path)
