"""Paths, globs, frames, arrays -> tables in memory; the content of a file decides its format."""

from __future__ import annotations

import glob
import io
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.drafts import opened
from wgsindy.files.formats.arrays import tables_of_arrays
from wgsindy.files.formats.frames import is_frame, table_of_frame, tables_of_memory
from wgsindy.files.formats.labelled import is_labelled, tables_of_labelled
from wgsindy.files.formats.stores import open_hdf5, open_zarr, parquet_frame
from wgsindy.files.formats.text import table_of_text
from wgsindy.files.formats.unpacking import refuse_large_archive, refuse_large_arrays, unpacked_gzip
from wgsindy.files.formats.workbook import table_of_workbook
from wgsindy.files.table import Column, Table, positional_name

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


def expanded(pattern: str | os.PathLike[str]) -> list[Path]:
    """Return the files of a path or of a glob; ``cell2`` comes before ``cell10``."""
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
    found: Format = next((kind for magic, kind in MAGIC if content.startswith(magic)), "text")
    if found == "MATLAB":
        raise DataError(f"{path} is a file of MATLAB; save it as CSV, or with -v7.3.")
    return found


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


@contextmanager
def as_data_error(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a library raises on a broken file into one sentence."""
    try:
        yield
    except DataError:
        raise
    # Damaged files raise errors of every type in the libraries that read them.
    except Exception as error:
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DataError(
            f"{path} cannot be read as {kind}: {why[:160]}. It may be half written; write it again."
        ) from None


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
    if kind not in LOADERS:
        return [table_of_text(content, path.name)]
    with as_data_error(path, kind):
        return LOADERS[kind](io.BytesIO(content), path.name)


def _parquet(file: io.BytesIO, label: str) -> list[Table]:
    return [table_of_frame(parquet_frame(file), label)]


def _npy(file: io.BytesIO, label: str) -> list[Table]:
    return tables_of_arrays({positional_name(0): np.load(file, allow_pickle=False)}, label)


def _npz(file: io.BytesIO, label: str) -> list[Table]:
    archive = zipfile.ZipFile(file)
    refuse_large_archive(archive, label)
    names = archive.namelist()
    if "[Content_Types].xml" in names or "content.xml" in names:
        return _workbook(file, label)
    if not names or not all(name.endswith(".npy") for name in names):
        raise DataError(f"{label} is an archive, not a table; unpack it and pass its files.")
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        return tables_of_arrays(_in_memory(dict(arrays), label), label)


def _workbook(file: io.BytesIO, label: str) -> list[Table]:
    return [table_of_workbook(file.getvalue(), label)]


def _hdf5(file: io.BytesIO, label: str) -> list[Table]:
    with open_hdf5(file, label) as arrays:
        return tables_of_arrays(_in_memory(arrays, label), label)


def _in_memory(arrays: Mapping[str, Any], label: str) -> dict[str, Column]:
    declared = [getattr(array, "nbytes", 0) for array in arrays.values()]
    refuse_large_arrays(sum(map(int, declared)), label)
    return {name: np.asarray(array[...]) for name, array in arrays.items()}


LOADERS: dict[Format, Callable[[io.BytesIO, str], list[Table]]] = {
    "Parquet": _parquet,
    "NPY": _npy,
    "NPZ": _npz,
    "HDF5": _hdf5,
    "Excel": _workbook,
}
