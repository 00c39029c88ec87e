"""Arrays by name (of files, stores, a mapping) -> tables, in memory or a range of rows at a time.

Layouts understood:

- columns: one-dimensional arrays of one length, states, times and ids alike;
- one ``(n, d)`` array, with ``(n,)`` arrays beside it (times);
- one ``(R, n, d)`` array, with ``(n,)`` or ``(R, n)`` arrays beside it;
- in memory only: several ``(n_i, d)`` arrays, each a trajectory;
- in memory only: several groups with the same names in them, each a trajectory;
- a structured array: its fields are columns.

A single number called ``dt`` is the sampling interval.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from wgsindy.data import Block, FunctionSource
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.notes import listed
from wgsindy.files.table import (
    BLOCK_ROWS,
    HEAD_ROWS,
    MOST_VARIABLES,
    Column,
    Table,
    WantedColumns,
    as_data_error,
    package_needed,
    positional_name,
)

ADVICE = (
    "Use columns of one length, one (n, d) or (R, n, d) array with its times, or one (n, d) array "
    "per trajectory."
)
SOURCE_BLOCKS = 16  # a file is opened once for so many blocks
# Arrays by name that can be opened again and again, here or on another machine: anything with a
# shape and slices, of which nothing is read yet.
Opened = Callable[[], AbstractContextManager[Mapping[str, Any]]]


def tables_of_arrays(arrays: Mapping[str, Column], label: str) -> list[Table]:
    """Lay named arrays out as tables.

    Raises
    ------
    DataError
        If their shapes are none of the layouts above.
    NotEnoughDataError
        If there is no array.
    """
    if not arrays:
        raise NotEnoughDataError(f"{label} holds no arrays; is it the right file?")
    groups = _groups(arrays)
    if len(groups) > 1:
        return [t for name, group in groups.items() for t in tables_of_arrays(group, name)]
    plain = {name.rsplit("/", 1)[-1]: _unpacked(array) for name, array in arrays.items()}
    if "block0_values" in plain:
        raise DataError(
            f"{label} is in the private layout of pandas; read it with pandas.read_hdf and pass "
            "the data frame."
        )
    dt = _number(plain.pop("dt", None))
    by_rank = {rank: {n: a for n, a in plain.items() if a.ndim == rank} for rank in (1, 2, 3)}
    if len(by_rank[3]) == 1:
        return _stack(next(iter(by_rank[3].values())), by_rank[1] | by_rank[2], label, dt)
    if by_rank[2] and not by_rank[3]:
        several = len(by_rank[2]) > 1
        return [
            _matrix(array, by_rank[1], f"{label}:{name}" if several else label, dt)
            for name, array in by_rank[2].items()
        ]
    lengths = {len(array) for array in by_rank[1].values()}
    if by_rank[3] or len(lengths) != 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in list(arrays.items())[:8])
        raise DataError(f"the arrays of {label} do not fit together: {shapes}. {ADVICE}")
    columns = _fields(by_rank[1])
    unnamed = frozenset(columns) if list(columns) == [positional_name(0)] else frozenset[str]()
    return [Table(label, columns, positional=unnamed, dt=dt)]


def _groups(arrays: Mapping[str, Column]) -> dict[str, dict[str, Column]]:
    groups: dict[str, dict[str, Column]] = {}
    for name, array in arrays.items():
        parent, _, leaf = name.rpartition("/")
        groups.setdefault(parent, {})[leaf] = array
    alike = {frozenset(group) for group in groups.values()}
    if len(groups) > 1 and len(alike) > 1:
        raise DataError(
            f"the groups {listed(sorted(groups))} do not hold the same arrays; a file may have "
            "one group, or one group per trajectory with the same names in each."
        )
    return groups


def _unpacked(array: Column) -> Column:
    """Return text as objects and masked numbers as NaN."""
    if np.ma.isMaskedArray(array):
        array = np.ma.filled(np.ma.asarray(array).astype(np.float64), np.nan)
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8", "replace").astype(object)
    return array.astype(object) if array.dtype.kind in "UT" else array


def _number(array: Column | None) -> float | None:
    if array is None:
        return None
    if array.size != 1 or array.dtype.kind not in "iuf":
        raise DataError(f"dt must be one number, got an array of shape {array.shape}.")
    return float(array.reshape(-1)[0])


def _fields(arrays: Mapping[str, Column]) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for name, array in arrays.items():
        for field in array.dtype.names or ():
            columns[field] = _unpacked(array[field])
        if array.dtype.names is None:
            columns[name] = array
    return columns


def _matrix(array: Column, columns: Mapping[str, Column], label: str, dt: float | None) -> Table:
    rows, width = array.shape
    if width > max(rows, MOST_VARIABLES):  # more columns than rows are a transpose
        raise DataError(
            f"{label} has shape {array.shape}: {width} coordinates of {rows} samples. One row must "
            "be a sample; pass its transpose."
        )
    coordinates = {positional_name(k): array[:, k] for k in range(width)}
    shared = {name: column for name, column in columns.items() if len(column) == rows}
    return Table(label, shared | coordinates, positional=frozenset(coordinates), dt=dt)


def _stack(
    array: Column, columns: Mapping[str, Column], label: str, dt: float | None
) -> list[Table]:
    trajectories, rows, _ = array.shape
    tables = []
    for index in range(trajectories):
        of_trajectory = {n: a[index] for n, a in columns.items() if a.shape == (trajectories, rows)}
        of_trajectory |= {n: a for n, a in columns.items() if a.shape == (rows,)}
        tables.append(_matrix(array[index], of_trajectory, f"{label}[{index}]", dt))
    return tables


@contextmanager
def open_hdf5(source: Path | IO[bytes], label: str) -> Iterator[dict[str, Any]]:
    """Give the datasets of an HDF5 file by their full names, in the order of the file."""
    try:
        import h5py
    except ImportError:
        raise package_needed(f"{label} is HDF5", "h5py") from None
    datasets: dict[str, Any] = {}

    def collect(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            text = h5py.check_string_dtype(item.dtype) is not None
            datasets[name] = item.asstr() if text else item

    with h5py.File(source, "r") as file:
        file.visititems(collect)
        yield datasets


@contextmanager
def open_zarr(path: Path, label: str) -> Iterator[dict[str, Any]]:
    """Give the arrays of a Zarr store by their full names: arrays of a group, then its groups.

    Both are sorted, since a folder lists its files in any order.
    """
    try:
        import zarr
    except ImportError:
        raise package_needed(f"{label} is Zarr", "zarr") from None
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


def given_array(array: Any) -> AbstractContextManager[Mapping[str, Any]]:
    """Give anything with a shape and slices."""
    return nullcontext({positional_name(0): array})


@contextmanager
def stored_arrays(path: Path, kind: str) -> Iterator[Mapping[str, Any]]:
    """Give the arrays of an NPY or HDF5 file, or a Zarr store, by the last word of their names."""
    with as_data_error(path, kind):
        if kind == "NPY":
            yield _mapped(path)
        elif kind == "HDF5":
            with open_hdf5(path, path.name) as arrays:
                yield _by_last_word(arrays, path)
        else:
            with open_zarr(path, path.name) as arrays:
                yield _by_last_word(dict(sorted(arrays.items())), path)


def _mapped(path: Path) -> dict[str, Any]:
    """Map an NPY file anew for each source: what was read does not stay in memory."""
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.dtype.names is None:
        return {positional_name(0): array}
    return {name: array[name] for name in array.dtype.names}


def _by_last_word(arrays: Mapping[str, Any], path: Path) -> dict[str, Any]:
    by_word = {name.rsplit("/", 1)[-1]: array for name, array in arrays.items()}
    if len(by_word) != len(arrays):
        raise DataError(
            f"{path} has several groups with arrays of the same names ({sorted(arrays)[:4]}); "
            "stream one (R, n, d) array, or columns with a trajectory id, or use wg.read."
        )
    return by_word


@dataclass(frozen=True)
class ArrayTable:
    """Arrays that are a table: a main one of two or three axes and columns beside it."""

    open: Opened
    label: str

    def head(self) -> Table:
        with self.open() as arrays:
            stacked = any(array.ndim == 3 for array in arrays.values())
            few = {name: _first_rows(array, stacked) for name, array in arrays.items()}
        tables = tables_of_arrays(few, self.label)
        if len(tables) > 1:
            raise DataError(
                f"{self.label} has several arrays of states: {sorted(few)}. Stream one (n, d) or "
                "(R, n, d) array, or use wg.read, which takes each as a trajectory."
            )
        return tables[0]

    def sources(self, wanted: WantedColumns) -> list[FunctionSource]:
        with self.open() as arrays:
            ranks = {name: int(array.ndim) for name, array in arrays.items()}
            widest = max(ranks, key=lambda name: ranks[name])
            main = widest if ranks[widest] > 1 else None
            array = arrays[main or wanted.roles.states[0]]
            shape, chunks = array.shape, getattr(array, "chunks", None)
        axis = 1 if len(shape) == 3 else 0
        chunk = chunks[axis] if chunks else 1
        step = max(chunk, BLOCK_ROWS // chunk * chunk)  # whole chunks: none is unpacked twice
        rows, most = shape[axis], step * SOURCE_BLOCKS
        parts = [range(first, min(first + most, rows), step) for first in range(0, rows, most)]
        return [
            FunctionSource(partial(self._blocks, wanted, main, number, firsts))
            for number in (range(shape[0]) if axis else [None])
            for firsts in parts
        ]

    def _blocks(
        self, wanted: WantedColumns, main: str | None, number: int | None, firsts: range
    ) -> Iterator[Block]:
        """Yield the rows of trajectory ``number`` of a stack, or of all there is.

        ``main`` is the name of the array of two or three axes, if there is one.
        """
        with self.open() as arrays:
            for first in firsts:
                rows = slice(first, min(first + firsts.step, firsts.stop))
                columns: dict[str, NDArray[Any]] = {}
                states = None
                if main is not None:
                    matrix = _rows_of(arrays[main], number, rows)
                    columns = {positional_name(k): matrix[:, k] for k in range(matrix.shape[1])}
                    states = matrix if wanted.roles.states == tuple(columns) else None
                for name in wanted.roles.columns:
                    if name not in columns:
                        columns[name] = _rows_of(arrays[name], number, rows)
                yield wanted.block(columns, states=states, number=number)


def _first_rows(array: Any, stacked: bool) -> NDArray[Any]:
    if not array.ndim:
        return np.asarray(array[()])
    if stacked and array.ndim > 1:
        return np.asarray(array[0:1, 0:HEAD_ROWS])
    return np.asarray(array[0:HEAD_ROWS])


def _rows_of(array: Any, number: int | None, rows: slice) -> NDArray[Any]:
    part = array[number, rows] if number is not None and array.ndim > 1 else array[rows]
    return _out_of_the_file(part) if isinstance(part, np.memmap) else np.asarray(part)


def _out_of_the_file(mapped: np.memmap[Any, Any]) -> NDArray[Any]:
    """Copy what is mapped: the system ends a program that touches a part that is no longer there.

    Raises
    ------
    DataError
        If the file has become shorter meanwhile.
    """
    pages: mmap.mmap = mapped._mmap  # type: ignore[attr-defined]
    if pages.size() < len(pages):
        raise DataError(
            f"{mapped.filename} has become shorter while it was read ({pages.size()} bytes of "
            f"{len(pages)} are left); let whoever writes it finish first."
        )
    return np.array(mapped)
