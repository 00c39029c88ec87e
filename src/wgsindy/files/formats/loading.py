"""Paths, globs, frames, arrays -> tables in memory; the content of a file decides its format.

What packed files unpack to is bounded before it is in memory: a megabyte of zeros and commas may
stand for gigabytes, by intent or by accident.
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.atomic import opened
from wgsindy.files.formats.arrays import (
    ArrayTable,
    given_array,
    open_hdf5,
    open_zarr,
    stored_arrays,
    tables_of_arrays,
)
from wgsindy.files.formats.dask import DaskArrayTable, DaskFrameTable, is_dask
from wgsindy.files.formats.dialect import find_dialect
from wgsindy.files.formats.frames import (
    ParquetTable,
    is_frame,
    is_labelled,
    parquet_frame,
    table_of_frame,
    tables_of_labelled,
    tables_of_memory,
)
from wgsindy.files.formats.text import TextTable, table_of_text
from wgsindy.files.table import Column, LazyTable, Table, as_data_error, positional_name

MOST_TEXT_BYTES = 64 * 2**20  # bytes: as a table of short rows, they take 13 times as much memory
MOST_ARRAY_BYTES = 256 * 2**20  # as much as is read into memory unasked
Format = Literal["Parquet", "NPY", "NPZ", "HDF5", "Zarr", "gzip", "MATLAB", "Excel", "text"]
MAGIC: tuple[tuple[bytes, Format], ...] = (
    (b"PAR1", "Parquet"),
    (b"\x93NUMPY", "NPY"),
    (b"PK\x03\x04", "NPZ"),
    (b"PK\x05\x06", "NPZ"),  # a zip archive of nothing
    (b"\x89HDF\r\n\x1a\n", "HDF5"),
    (b"\x1f\x8b", "gzip"),
    (b"MATLAB 5.0", "MATLAB"),
    (b"\xd0\xcf\x11\xe0", "Excel"),
)
LONGEST_MAGIC = max(len(magic) for magic, _ in MAGIC)
ZARR_MARKERS = ("zarr.json", ".zgroup", ".zarray")


def unpacked_gzip(content: bytes, path: Path) -> bytes:
    """Unpack a gzip file, of one or of several members.

    Raises
    ------
    DataError
        If it is damaged, or unpacks to more than 64 MB.
    """
    try:
        with gzip.open(io.BytesIO(content)) as file:
            unpacked = file.read(MOST_TEXT_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        reason = "it ends early" if isinstance(error, EOFError) else error
        raise DataError(f"{path} cannot be unpacked: {reason}; is it half written?") from None
    if len(unpacked) > MOST_TEXT_BYTES:
        raise too_large(path.name, f"to more than {MOST_TEXT_BYTES // 2**20} MB")
    return unpacked


def refuse_large_arrays(size: int, label: str) -> None:
    """Refuse arrays of ``size`` bytes, which a file may declare without holding them."""
    if size > MOST_ARRAY_BYTES:
        raise DataError(
            f"{label} declares arrays of {size / 2**20:,.0f} MB, of which "
            f"{MOST_ARRAY_BYTES // 2**20} MB are read into memory; --stream reads it piece by "
            "piece."
        )


def too_large(label: str, size: str) -> DataError:
    """Say that a packed file is refused for its size."""
    return DataError(
        f"{label} unpacks {size}; packed files are read up to {MOST_TEXT_BYTES // 2**20} MB of "
        f"text or {MOST_ARRAY_BYTES // 2**20} MB of arrays. Unpack it first: plain files are "
        "streamed."
    )


def table_of_workbook(content: bytes, label: str) -> Table:
    """Read the sheet with the most rows as if it had been saved as text.

    Raises
    ------
    DataError
        If no sheet holds a table of numbers.
    """
    import fastexcel

    book = fastexcel.read_excel(content)
    sheets = {
        name: book.load_sheet(name, header_row=None, dtypes="string").to_polars().rows()
        for name in book.sheet_names
    }
    if not sheets:
        raise DataError(f"{label} has no sheet.")
    largest = max(sheets, key=lambda name: len(sheets[name]))
    where = f"{label}, sheet {largest!r}" if len(sheets) > 1 else label
    lines = [_line(row) for row in sheets[largest]]
    there = [number for number, line in enumerate(lines) if line.strip()]
    if not there:
        raise DataError(f"{where} is empty.")
    first = there[find_dialect([lines[number] for number in there], where, "\t").first]
    # A column that has words at its top is read as text, with 9 digits of each number: once more.
    rows = book.load_sheet(largest, header_row=None, skip_rows=first).to_polars().rows()
    text = "\n".join([*lines[:first], *map(_line, rows)])
    return table_of_text(text.encode(), where, "\t")


def _line(row: Sequence[Any]) -> str:
    """Write cells with tabs between them; a number keeps all of its digits."""
    return "\t".join("" if cell is None else " ".join(str(cell).split()) for cell in row)


def expanded(pattern: str | os.PathLike[str]) -> list[Path]:
    """Return the files of a path or of a glob; ``cell2`` comes before ``cell10``."""
    text = os.path.expanduser(os.fspath(pattern))
    try:
        if os.path.exists(text) or not glob.has_magic(text):
            return [Path(text)]
        names = glob.glob(text, recursive=True)
    except (ValueError, re.error):  # a NUL in the path, an unfinished set
        raise DataError(f"{text!r} is not a path.") from None
    if not names:
        raise DataError(f"no file matches {text!r}; the current folder is {os.getcwd()}.")
    return [Path(name) for name in sorted(names, key=_natural)]


def _natural(name: str) -> list[tuple[int, str]]:
    """Order names by the numbers in them."""
    return [
        (int(digits), "") if digits.isdecimal() else (-1, digits)
        for digits in re.split(r"(\d+)", name)
    ]


def format_of(path: Path) -> Format:
    """Return the format of a file or of a Zarr store.

    Raises
    ------
    DataError
        If it cannot be read, or is a folder that is no Zarr store, or is of MATLAB.
    """
    return "Zarr" if is_zarr(path) else format_of_bytes(bytes_of(path, LONGEST_MAGIC), path)


def is_zarr(path: Path) -> bool:
    """Whether a path is a Zarr store; any other folder is refused."""
    if not os.path.isdir(path):  # False also of a path that is none
        return False
    if any((path / marker).exists() for marker in ZARR_MARKERS):
        return True
    raise DataError(
        f"{path} is a folder; pass its files, for example {str(path / '*.csv')!r}: each is "
        "read as a trajectory."
    )


def format_of_bytes(content: bytes, path: Path) -> Format:
    """Return the format of a file that begins with ``content``; see :func:`format_of`."""
    kind: Format = next((known for magic, known in MAGIC if content.startswith(magic)), "text")
    if kind == "MATLAB":
        raise DataError(f"{path} is a file of MATLAB; save it as CSV, or with -v7.3.")
    return kind


def bytes_of(path: Path, most: int = -1) -> bytes:
    """Return the first ``most`` bytes of a file, by default all.

    Raises
    ------
    DataError
        If it is not there or cannot be opened.
    """
    try:
        with open(path, "rb", opener=opened) as file:
            return file.read(most)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path} cannot be read: {reason}.") from None


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
    if is_labelled(source):
        return tables_of_labelled(source)
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
            return tables_of_arrays(_in_memory(arrays, path.name), path.name)
    content = bytes_of(path)  # once: a pipe cannot be opened again
    kind = format_of_bytes(content, path)
    if kind == "gzip":
        content = unpacked_gzip(content, path)
        kind = format_of_bytes(content, path)
    if kind in ("text", "gzip"):
        return [table_of_text(content, path.name)]
    with as_data_error(path, kind):
        return _tables_of_bytes(io.BytesIO(content), kind, path.name)


def _tables_of_bytes(file: io.BytesIO, kind: Format, label: str) -> list[Table]:
    if kind == "Parquet":
        return [table_of_frame(parquet_frame(file), label)]
    if kind == "NPY":
        return tables_of_arrays({positional_name(0): np.load(file, allow_pickle=False)}, label)
    if kind == "HDF5":
        with open_hdf5(file, label) as datasets:
            return tables_of_arrays(_in_memory(datasets, label), label)
    names = []
    if kind == "NPZ":
        archive = zipfile.ZipFile(file)
        size = sum(item.file_size for item in archive.infolist())
        if size > MOST_ARRAY_BYTES:
            raise too_large(label, f"to {size / 2**20:,.0f} MB")
        names = archive.namelist()
    if kind == "Excel" or "[Content_Types].xml" in names or "content.xml" in names:
        return [table_of_workbook(file.getvalue(), label)]
    if not names or not all(name.endswith(".npy") for name in names):
        raise DataError(f"{label} is an archive, not a table; unpack it and pass its files.")
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        return tables_of_arrays(_in_memory(dict(arrays), label), label)


def _in_memory(arrays: Mapping[str, Any], label: str) -> dict[str, Column]:
    declared = [getattr(array, "nbytes", 0) for array in arrays.values()]
    refuse_large_arrays(sum(map(int, declared)), label)
    return {name: np.asarray(array[...]) for name, array in arrays.items()}


def bytes_at(path: Path) -> int:
    """Return how large a file or a store is."""
    if path.is_dir():  # a Zarr store
        return sum(bytes_at(inner) for inner in path.iterdir())
    return path.stat().st_size if path.exists() else 0


def lazy_tables_of(source: Any) -> list[LazyTable]:
    """Return the tables of a source that stay where they are, one or more per file.

    Raises
    ------
    DataError
        If a file, or the source, cannot be read block by block.
    """
    if is_dask(source):
        return [_dask_table(source)]
    if hasattr(source, "shape") and not hasattr(source, "columns"):
        return [ArrayTable(partial(given_array, source), "the array")]
    paths = paths_of(source)
    if paths is not None:
        return [_file_table(path) for path in paths]
    if isinstance(source, (list, tuple)) and all(isinstance(item, np.ndarray) for item in source):
        return [
            ArrayTable(partial(given_array, item), f"array {k}") for k, item in enumerate(source)
        ]
    way_out = (
        "an iterator can be read only once: pass a function that returns a new one"
        if isinstance(source, Iterator)
        else "pass paths, arrays or a function; what is in memory anyway goes to wg.read"
    )
    raise DataError(f"a source of type {type(source).__name__} cannot be streamed; {way_out}.")


def _dask_table(source: Any) -> LazyTable:
    axes = getattr(source, "ndim", 0)
    if hasattr(source, "chunks") and 1 <= axes <= 3:
        return DaskArrayTable(source, "the array")
    if hasattr(source, "columns") and axes == 2:
        return DaskFrameTable(source, "the data frame")
    raise DataError(
        f"{type(source).__name__} of Dask with {axes} axes cannot be streamed; pass an array "
        "(n, d) or (R, n, d), or a data frame."
    )


def _file_table(path: Path) -> LazyTable:
    kind = format_of(path)
    if kind == "Parquet":
        return ParquetTable(path)
    if kind in ("NPY", "HDF5", "Zarr"):
        return ArrayTable(partial(stored_arrays, path, kind), path.name)
    if kind == "text":
        return TextTable(path)
    raise DataError(f"{path} is {kind}, which cannot be streamed; unpack it, or use wg.read.")
