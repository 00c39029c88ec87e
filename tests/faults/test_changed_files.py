"""Files that change, shrink or vanish while a stream of them is fitted: one sentence."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest

from wgsindy.data import FloatArray, Stream
from wgsindy.errors import DataError
from wgsindy.files import stream
from wgsindy.passes import reduce
from wgsindy.passes.summary import MomentPass

STATES = np.cumsum(np.random.default_rng(0).normal(size=(100_000, 2)), axis=0)


def text(states: FloatArray) -> bytes:
    return b"x,y\n" + b"".join(b"%.6f,%.6f\n" % (x, y) for x, y in states)


def npy(states: FloatArray) -> bytes:
    file = io.BytesIO()
    np.save(file, states)
    return file.getvalue()


def parquet(states: FloatArray) -> bytes:
    file = io.BytesIO()
    pd.DataFrame(states, columns=["x", "y"]).to_parquet(file, row_group_size=20_000)
    return file.getvalue()


def hdf5(states: FloatArray) -> bytes:
    file = io.BytesIO()
    with h5py.File(file, "w") as store:
        store["x"] = states
    return file.getvalue()


WRITERS: dict[str, Callable[[FloatArray], bytes]] = {
    "text": text, "npy": npy, "parquet": parquet, "hdf5": hdf5,
}  # fmt: skip


def pass_over(data: Stream) -> float:
    return float(reduce(MomentPass(data), data).second[0, 0])


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_file_cut_short_after_it_was_checked_is_a_sentence(
    kind: str, share: float, tmp_path: Path
) -> None:
    path = tmp_path / "data"
    path.write_bytes(WRITERS[kind](STATES))
    data = stream(path, dt=0.1)
    expected = pass_over(data)
    with open(path, "r+b") as file:
        file.truncate(int(share * path.stat().st_size))
    with pytest.raises(DataError, match=r"shorter|has others now|cannot be read"):
        pass_over(data)
    path.write_bytes(WRITERS[kind](STATES))
    assert pass_over(data) == expected  # nothing of the failure stays


@pytest.mark.parametrize("kind", ["text", "npy"])
def test_a_file_cut_short_in_the_middle_of_a_pass_is_a_sentence(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(WRITERS[kind](np.tile(STATES, (4, 1))))  # more than is read at once
    data = stream(path, dt=0.1)
    chunks = data.chunks(4096)
    next(chunks)
    with open(path, "r+b") as file:
        file.truncate(4096)
    with pytest.raises(DataError, match=r"shorter|has others now|cannot be read"):
        sum(chunk.states.sum() for chunk in chunks)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_that_is_gone_or_shorter_is_a_sentence(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(WRITERS[kind](STATES))
    data = stream(path, dt=0.1)
    path.write_bytes(WRITERS[kind](STATES[:-7]))
    with pytest.raises(DataError):
        pass_over(data)
    path.unlink()
    with pytest.raises(DataError, match=r"data cannot be read"):
        pass_over(data)
