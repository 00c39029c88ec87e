"""Parquet, HDF5 and Zarr opened, not read: whoever opens one decides how much of it to read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from wgsindy.errors import DataError
from wgsindy.files.table import positional_name

BUFFER = 2**20  # bytes of a column held at a time: row groups of Parquet may be large


def open_parquet(source: Path | IO[bytes], label: str) -> Any:
    """Open a Parquet file, to be read piece by piece."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise _package_needed(f"{label} is Parquet, which is streamed", "pyarrow") from None
    return pyarrow.parquet.ParquetFile(source, buffer_size=BUFFER)


def parquet_frame(source: IO[bytes]) -> Any:
    """Read a Parquet file as a data frame.

    Raises
    ------
    DataError
        If it is damaged.
    """
    import polars as pl

    try:
        # Of 3000 damaged files the 422nd ended the process when its columns were decoded side by
        # side or its statistics were looked at; without both each of them raises an error.
        return pl.read_parquet(source, parallel="none", use_statistics=False)
    except pl.exceptions.PanicException as error:  # no Exception: nobody else would catch it
        raise DataError(f"the Parquet file is damaged ({error}); write it again.") from None


@contextmanager
def open_hdf5(source: Path | IO[bytes], label: str) -> Iterator[dict[str, Any]]:
    """Give the datasets of an HDF5 file by their full names, in the order of the file."""
    try:
        import h5py
    except ImportError:
        raise _package_needed(f"{label} is HDF5", "h5py") from None
    found: dict[str, Any] = {}

    def collect(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            text = h5py.check_string_dtype(item.dtype) is not None
            found[name] = item.asstr() if text else item

    with h5py.File(source, "r") as file:
        file.visititems(collect)
        yield found


@contextmanager
def open_zarr(path: Path, label: str) -> Iterator[dict[str, Any]]:
    """Give the arrays of a Zarr store by their full names: arrays of a group, then its groups.

    Both are sorted, since a folder lists its files in any order.
    """
    try:
        import zarr
    except ImportError:
        raise _package_needed(f"{label} is Zarr", "zarr") from None
    store = zarr.open(str(path), mode="r")
    if isinstance(store, zarr.Array):
        yield {positional_name(0): store}
    else:
        yield dict(_zarr_arrays(store, ""))


def _zarr_arrays(group: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    for name, array in sorted(group.arrays()):
        yield prefix + name, array
    for name, inner in sorted(group.groups()):
        yield from _zarr_arrays(inner, f"{prefix}{name}/")


def _package_needed(what: str, package: str) -> DataError:
    """Say which package reads a format: by its own name, which can always be installed."""
    return DataError(f"{what}, for which the package {package} is needed: pip install {package}.")
