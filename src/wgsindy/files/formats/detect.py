"""Paths, globs, frames, arrays -> tables. A file's first bytes decide what it is, not its name."""

from __future__ import annotations

import glob
import gzip
import io
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.failures import as_data_error, extra_needed
from wgsindy.files.formats.arrays import tables_of_arrays
from wgsindy.files.formats.frames import is_frame, table_of_frame, tables_of_memory
from wgsindy.files.formats.text import table_of_text
from wgsindy.files.table import Column, Table, positional_name

ZARR_MARKERS = ("zarr.json", ".zgroup", ".zarray")


def tables_of(source: Any) -> list[Table]:
    """Return the tables of a source, one or more per file, in the order given.

    Raises
    ------
    DataError
        If a file is not there or cannot be read.
    """
    if isinstance(source, (str, os.PathLike)):
        return [table for path in expanded(source) for table in tables_of_file(path)]
    if isinstance(source, (list, tuple)) and source:
        if all(isinstance(item, (str, os.PathLike)) for item in source):
            paths = [path for item in source for path in expanded(item)]
            return [table for path in paths for table in tables_of_file(path)]
    elif isinstance(source, (list, tuple)):
        raise NotEnoughDataError("the list of sources is empty; pass at least one file or array.")
    if is_frame(source):
        return [table_of_frame(source, "the data frame")]
    return tables_of_memory(source)


def expanded(pattern: str | os.PathLike[str]) -> list[Path]:
    """Return the files of a path or of a glob; ``run2`` comes before ``run10``."""
    text = os.path.expanduser(os.fspath(pattern))
    try:
        if os.path.exists(text) or not glob.has_magic(text):
            return [Path(text)]
        found = glob.glob(text, recursive=True)
    except (ValueError, re.error):  # a NUL in the path, an unfinished set
        raise DataError(f"{text!r} is not a path.") from None
    if not found:
        raise DataError(f"no file matches {text!r}; the current folder is {os.getcwd()}.")
    return [Path(name) for name in sorted(found, key=_natural)]


def _natural(name: str) -> list[tuple[int, str]]:
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)
    ]


def tables_of_file(path: Path) -> list[Table]:
    """Read one file or one Zarr store."""
    if is_zarr(path):
        return _guarded(_zarr, path, "Zarr")
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path} cannot be read: {reason}.") from None
    if content.startswith(b"\x1f\x8b"):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path} cannot be unpacked: {error}; is it half written?") from None
    return _tables_of_bytes(content, path)


def is_zarr(path: Path) -> bool:
    """Whether a path is a Zarr store; any other folder is refused."""
    if not path.is_dir():
        return False
    if any((path / marker).exists() for marker in ZARR_MARKERS):
        return True
    raise DataError(
        f"{path} is a folder; pass its files, for example {str(path / '*.csv')!r}: each is "
        "read as a trajectory."
    )


def _tables_of_bytes(content: bytes, path: Path) -> list[Table]:
    for magic, kind, loader in BINARY:
        if content.startswith(magic):
            return _guarded(loader, content, kind, path)
    if content.startswith((b"MATLAB 5.0", b"\xd0\xcf\x11\xe0")):
        raise DataError(
            f"{path} is a file of MATLAB or an old one of Excel; save it as CSV, or from MATLAB "
            "with -v7.3."
        )
    return [table_of_text(content, path.name)]


def _guarded(
    loader: Callable[[Any, str], list[Table]], source: Any, kind: str, path: Path | None = None
) -> list[Table]:
    path = path or Path(source)
    with as_data_error(path, kind):
        return loader(source, path.name)


def _parquet(content: bytes, label: str) -> list[Table]:
    # Not by polars 2.1: the 422nd of 3000 damaged files ended the whole process; none does here.
    try:
        import pyarrow.parquet
    except ImportError:
        raise extra_needed(label, "Parquet", "pyarrow", "parquet") from None
    return [table_of_frame(pyarrow.parquet.ParquetFile(io.BytesIO(content)).read(), label)]


def _npy(content: bytes, label: str) -> list[Table]:
    array = np.load(io.BytesIO(content), allow_pickle=False)
    return tables_of_arrays({positional_name(0): array}, label)


def _zip(content: bytes, label: str) -> list[Table]:
    names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    if not names or not all(name.endswith(".npy") for name in names):
        what = "a workbook" if "[Content_Types].xml" in names else "an archive"
        raise DataError(
            f"{label} is {what}, not a table; save the sheet as CSV, or unpack the archive and "
            "pass its files."
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return tables_of_arrays({name: np.asarray(arrays[name]) for name in arrays.files}, label)


def _hdf5(content: bytes, label: str) -> list[Table]:
    try:
        import h5py
    except ImportError:
        raise extra_needed(label, "HDF5", "h5py", "arrays") from None
    found: dict[str, Column] = {}

    def collect(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            text = h5py.check_string_dtype(item.dtype) is not None
            found[name] = np.asarray(item.asstr()[()] if text else item[()])

    with h5py.File(io.BytesIO(content), "r") as file:
        file.visititems(collect)
    return tables_of_arrays(found, label)


def _zarr(path: Path, label: str) -> list[Table]:
    try:
        import zarr
    except ImportError:
        raise extra_needed(label, "Zarr", "zarr", "arrays") from None
    store = zarr.open(str(path), mode="r")
    if isinstance(store, zarr.Array):
        return tables_of_arrays({positional_name(0): np.asarray(store[...])}, label)
    return tables_of_arrays(dict(_zarr_arrays(store, "")), label)


def _zarr_arrays(group: Any, prefix: str) -> Sequence[tuple[str, Column]]:
    found = [(prefix + name, np.asarray(array[...])) for name, array in sorted(group.arrays())]
    for name, inner in sorted(group.groups()):
        found += _zarr_arrays(inner, f"{prefix}{name}/")
    return found


BINARY: tuple[tuple[bytes, str, Callable[[Any, str], list[Table]]], ...] = (
    (b"PAR1", "Parquet", _parquet),
    (b"\x93NUMPY", "NPY", _npy),
    (b"PK\x03\x04", "NPZ", _zip),
    (b"PK\x05\x06", "NPZ", _zip),
    (b"\x89HDF\r\n\x1a\n", "HDF5", _hdf5),
)
