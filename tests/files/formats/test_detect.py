"""What a file is, and sentences for what cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from walks import frame, text, walk

from wgsindy.errors import DataError, NotEnoughDataError, WgsindyError
from wgsindy.files import read


def test_one_file_a_trajectory_in_natural_order(tmp_path: Path) -> None:
    for k in (1, 2, 10):
        frame(k).to_csv(tmp_path / f"run{k}.csv", index=False)
    data = read(str(tmp_path / "run*.csv")).data
    for k, path in zip((1, 2, 10), data, strict=True):
        np.testing.assert_array_equal(path, walk(k))
    pair = read([tmp_path / "run10.csv", tmp_path / "run1.csv"]).data
    np.testing.assert_array_equal(pair[0], walk(10))


@pytest.mark.parametrize(
    ("content", "kind", "sentence"),
    [
        (b"", NotEnoughDataError, "data.txt is empty"),
        (b"\n \n", NotEnoughDataError, "data.txt is empty"),
        (b"\x00\x01\x02\x03", DataError, "bytes that no text has"),
        (b"\xff\xfet\x00,", DataError, "cannot be decoded at byte|half written"),
        ("Dear all,\nplease find the data attached.\n", DataError, "no table of numbers"),
        ("# nothing\n", DataError, "nothing but comments"),
        ("t,x\n", DataError, "no table of numbers"),
        ("x\n1\n2\n4\n", DataError, "no column of times .* pass time .* or dt"),
        ("t\n1\n2\n4\n", DataError, "no column of states: its 1 column are 't'"),
        ("t,x\n0,1\n", NotEnoughDataError, "no trajectory has two rows"),
        ("t,x,x\n0,1,2\n1,2,2\n", DataError, "two columns called 'x'"),
        ("t;x\n0;1,5\n1;2.5\n2;3,5\n", DataError, "2 numbers with a decimal comma and 1 with"),
        (b"PAR1garbage", DataError, "cannot be read as Parquet"),
        (b"\x93NUMPYgarbage", DataError, "cannot be read as NPY"),
        (b"PK\x03\x04garbage", DataError, "cannot be read as NPZ"),
        (b"\x89HDF\r\n\x1a\ngarbage", DataError, "cannot be read as HDF5"),
        (b"\x1f\x8bgarbage", DataError, "cannot be unpacked"),
        (b"MATLAB 5.0 MAT-file", DataError, "save it as CSV"),
    ],
)
def test_a_pathological_file_is_a_sentence(
    tmp_path: Path, content: str | bytes, kind: type[WgsindyError], sentence: str
) -> None:
    with pytest.raises(kind, match=sentence):
        read(text(tmp_path, content))


@pytest.mark.parametrize("source", ["nowhere.csv", "*.nothing", ".", [], 3.0, object(), None, "\0"])
def test_a_source_that_is_none_is_a_sentence(
    source: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"cannot be read|no file matches|is a folder|empty|path"):
        read(source)


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(DataError, match=r"package h5py is needed: pip install h5py"):
        read(text(tmp_path, b"\x89HDF\r\n\x1a\n"))
