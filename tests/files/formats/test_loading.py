"""Formats: what a writer writes is read back; broken files give sentences and nothing else."""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import resource
import warnings
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pytest
import zarr
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from wgsindy.data import FloatArray
from wgsindy.errors import DataError, WgsindyError, WgsindyWarning
from wgsindy.files import read
from wgsindy.files.formats.loading import MOST_ARRAY_BYTES, MOST_TEXT_BYTES

QUICK = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # to shrink an example is to write a thousand files
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
NUMBER = st.floats(allow_nan=False, allow_infinity=False, width=64)


@st.composite
def tables(draw: st.DrawFn) -> tuple[FloatArray, FloatArray]:
    """Draw times that increase and states that are distinct numbers of any size."""
    n, d = draw(st.integers(3, 12)), draw(st.integers(1, 4))
    steps = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    first = draw(st.integers(-100, 100))
    flat = draw(st.lists(NUMBER, min_size=n * d, max_size=n * d, unique=True))
    return first + 0.125 * np.cumsum(steps), np.array(flat).reshape(n, d)


def as_frame(times: NDArray[np.floating], states: FloatArray) -> pd.DataFrame:
    columns = {f"q{k}": states[:, k] for k in range(states.shape[1])}
    return pd.DataFrame({"t": times} | columns)


def to_hdf5(table: pd.DataFrame, path: Path) -> None:
    with h5py.File(path, "w") as file:
        for name in table:
            file[f"run/{name}"] = table[name].to_numpy()


def to_zarr(table: pd.DataFrame, path: Path) -> None:
    group = zarr.open_group(str(path), mode="w")
    for name in table:
        values = table[name].to_numpy()
        # Not `data=values`, which the oldest version that is allowed does not know.
        group.create_array(str(name), shape=values.shape, dtype=values.dtype)[:] = values


def to_text(separator: str, decimal: str = ".", **options: object) -> Callable[..., None]:
    def write(table: pd.DataFrame, path: Path) -> None:
        table.to_csv(path, sep=separator, decimal=decimal, index=False, **options)

    return write


WRITERS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    "comma": to_text(","),
    "semicolon": to_text(";"),
    "tab": to_text("\t"),
    "blank": to_text(" "),
    "quotes": to_text(",", quoting=1),
    "decimal comma": to_text(";", ","),
    "decimal comma and tabs": to_text("\t", ","),
    "decimal comma in quotes": to_text(",", ",", quoting=1),
    "row numbers": lambda table, path: table.to_csv(path),
    "gzip": to_text(",", compression="gzip"),
    "utf-16": to_text("\t", encoding="utf-16"),
    "savetxt": lambda table, path: np.savetxt(
        path, table.to_numpy(), fmt="%.17g", header=" ".join(table)
    ),
    "polars": lambda table, path: pl.from_pandas(table).write_csv(path),
    "parquet": lambda table, path: table.to_parquet(path),
    "npy": lambda table, path: np.save(path, table.to_records(index=False)),
    "npz": lambda table, path: np.savez(path, **{n: table[n].to_numpy() for n in table}),
    "hdf5": to_hdf5,
    "zarr": to_zarr,
}
SUFFIX = {"npy": ".npy", "npz": ".npz"}
fresh = itertools.count()


@pytest.mark.parametrize("name", WRITERS)
@QUICK
@given(table=tables())
def test_what_is_written_is_read_back(
    name: str, table: tuple[FloatArray, FloatArray], tmp_path: Path
) -> None:
    times, states = table
    path = tmp_path / f"{next(fresh)}{SUFFIX.get(name, '')}"
    WRITERS[name](as_frame(times, states), path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)  # such numbers are full of outliers
        data = read(path, gap=np.inf).data
    assert data.names == tuple(f"q{k}" for k in range(states.shape[1]))
    np.testing.assert_array_equal(data.states, states)
    np.testing.assert_array_equal(data.steps(0), np.diff(times))


def valid_bytes() -> dict[str, bytes]:
    table = as_frame(np.arange(40) * 0.5, np.random.default_rng(0).normal(size=(40, 2)))
    parquet, npy, npz, hdf5 = io.BytesIO(), io.BytesIO(), io.BytesIO(), io.BytesIO()
    table.to_parquet(parquet)
    np.save(npy, table.to_numpy())
    np.savez(npz, t=table["t"].to_numpy(), x=table["q0"].to_numpy())
    with h5py.File(hdf5, "w") as file:
        file["t"], file["x"] = table["t"].to_numpy(), table["q0"].to_numpy()
    text = table.to_csv(index=False).encode()
    return {
        "text": text,
        "quoted": table.to_csv(index=False, quoting=1).encode(),
        "gzip": gzip.compress(text),
        "utf-16": text.decode().encode("utf-16"),
        "parquet": parquet.getvalue(),
        "npy": npy.getvalue(),
        "npz": npz.getvalue(),
        "hdf5": hdf5.getvalue(),
    }


VALID = valid_bytes()


def survives(content: bytes, path: Path) -> None:
    """Read bytes; errors and warnings of the package are right answers, all others fail."""
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", WgsindyWarning)
        with contextlib.suppress(WgsindyError):
            read(path)


@pytest.mark.parametrize("name", VALID)
def test_the_whole_file_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(VALID[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)
        assert read(path).data.n_increments == 39


@QUICK
@given(content=st.binary(max_size=300))
def test_random_bytes_give_a_sentence(content: bytes, tmp_path: Path) -> None:
    survives(content, tmp_path / "data")


@QUICK
@given(content=st.text(alphabet="0123456789.,;-+eE\t \n\"'#txNa:/T", max_size=200))
def test_random_text_gives_a_sentence_or_data(content: str, tmp_path: Path) -> None:
    survives(content.encode(), tmp_path / "data")


@pytest.mark.parametrize("name", VALID)
@QUICK
@given(share=st.floats(0, 1))
def test_a_truncated_file_gives_a_sentence_or_its_beginning(
    name: str, share: float, tmp_path: Path
) -> None:
    survives(VALID[name][: int(share * len(VALID[name]))], tmp_path / "data")


@pytest.mark.parametrize("name", VALID)
@QUICK
@given(seed=st.integers(0, 2**32 - 1))
def test_a_damaged_file_gives_a_sentence_or_data(name: str, seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    content = bytearray(VALID[name])
    for place in rng.integers(len(content), size=4):
        content[place] = rng.integers(256)
    survives(bytes(content), tmp_path / "data")


def gzip_bomb(path: Path) -> None:
    with gzip.open(path, "wb", 9) as file:
        file.write(b"t,x\n")
        for _ in range(MOST_TEXT_BYTES // 2**20 + 1):
            file.write(b"0.00001,1.00001\n" * 2**16)


def npz_bomb(path: Path) -> None:
    np.savez_compressed(path, x=np.zeros((MOST_ARRAY_BYTES // 8 + 1,)))


def hdf5_bomb(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("x", shape=(2**40, 2), chunks=(1024, 2), dtype="f8")


def zarr_bomb(path: Path) -> None:
    zarr.open_group(str(path), mode="w").create_array(
        "x", shape=(2**34, 2), chunks=(1024, 2), dtype="f8"
    )


BOMBS: dict[str, tuple[Callable[[Path], None], str]] = {
    "gzip": (gzip_bomb, r"unpacks to more than 64 MB; .*Unpack it first"),
    "npz": (npz_bomb, r"unpacks to 256 MB; .*Unpack it first"),
    "hdf5": (hdf5_bomb, r"declares arrays of 16,777,216 MB.*--stream"),
    "zarr": (zarr_bomb, r"declares arrays of 262,144 MB.*--stream"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_that_stands_for_a_large_one_is_refused(name: str, tmp_path: Path) -> None:
    write, sentence = BOMBS[name]
    path = tmp_path / f"bomb{SUFFIX.get(name, '')}"
    write(path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError, match=sentence):
        read(path)
    # Text is unpacked up to the limit; of the rest, nothing is.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 3 * MOST_TEXT_BYTES / 1024


@pytest.mark.parametrize("members", [1, 2, 5])
def test_all_members_of_a_packed_file_are_read(members: int, tmp_path: Path) -> None:
    lines = [f"{k * 0.5},{np.sin(k)}\n".encode() for k in range(40)]
    parts = [b"t,x\n", *lines]
    cuts = np.array_split(np.arange(len(parts)), members)
    path = tmp_path / "data.gz"
    path.write_bytes(b"".join(gzip.compress(b"".join(parts[k] for k in cut)) for cut in cuts))
    assert read(path).data.n_samples == 40
