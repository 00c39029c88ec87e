"""Paths, globs, frames, arrays -> tables in memory."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.formats.arrays import tables_of_arrays
from wgsindy.files.formats.detect import (
    Format,
    as_data_error,
    bytes_of,
    expanded,
    format_of_bytes,
    is_zarr,
)
from wgsindy.files.formats.frames import is_frame, table_of_frame, tables_of_memory
from wgsindy.files.formats.stores import open_hdf5, open_parquet, open_zarr
from wgsindy.files.formats.text import table_of_text
from wgsindy.files.table import Column, Table, positional_name


def tables_of(source: Any) -> list[Table]:
    """Return the tables of a source, one or more per file, in the order given.

    Raises
    ------
    DataError
        If a file is not there or cannot be read.
    """
    paths = paths_of(source)
    if paths is not None:
        return [table for path in paths for table in tables_of_file(path)]
    if is_frame(source):
        return [table_of_frame(source, "the data frame")]
    return tables_of_memory(source)


def paths_of(source: Any) -> list[Path] | None:
    """Return all files of a path, a glob or a list of them; None if the source is none of these.

    Raises
    ------
    NotEnoughDataError
        If the source is an empty list.
    """
    if isinstance(source, (str, os.PathLike)):
        source = [source]
    if not isinstance(source, (list, tuple)):
        return None
    if not source:
        raise NotEnoughDataError("the list of sources is empty; pass at least one file or array.")
    if not all(isinstance(item, (str, os.PathLike)) for item in source):
        return None
    return [path for item in source for path in expanded(item)]


def tables_of_file(path: Path) -> list[Table]:
    """Read one file or one Zarr store."""
    if is_zarr(path):
        with as_data_error(path, "Zarr"), open_zarr(path, path.name) as arrays:
            return tables_of_arrays(_in_memory(arrays), path.name)
    content = bytes_of(path)  # once: a pipe cannot be opened again
    kind = format_of_bytes(content, path)
    if kind == "gzip":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path} cannot be unpacked: {error}; is it half written?") from None
        kind = format_of_bytes(content, path)
    if kind not in LOADERS:
        return [table_of_text(content, path.name)]
    with as_data_error(path, kind):
        return LOADERS[kind](io.BytesIO(content), path.name)


def _parquet(file: io.BytesIO, label: str) -> list[Table]:
    return [table_of_frame(open_parquet(file, label).read(), label)]


def _npy(file: io.BytesIO, label: str) -> list[Table]:
    return tables_of_arrays({positional_name(0): np.load(file, allow_pickle=False)}, label)


def _npz(file: io.BytesIO, label: str) -> list[Table]:
    names = zipfile.ZipFile(file).namelist()
    if not names or not all(name.endswith(".npy") for name in names):
        what = "a workbook" if "[Content_Types].xml" in names else "an archive"
        raise DataError(
            f"{label} is {what}, not a table; save the sheet as CSV, or unpack the archive and "
            "pass its files."
        )
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        return tables_of_arrays(_in_memory(arrays), label)


def _hdf5(file: io.BytesIO, label: str) -> list[Table]:
    with open_hdf5(file, label) as arrays:
        return tables_of_arrays(_in_memory(arrays), label)


def _in_memory(arrays: Mapping[str, Any]) -> dict[str, Column]:
    return {name: np.asarray(array[...]) for name, array in arrays.items()}


LOADERS: dict[Format, Callable[[io.BytesIO, str], list[Table]]] = {
    "Parquet": _parquet,
    "NPY": _npy,
    "NPZ": _npz,
    "HDF5": _hdf5,
}
