"""NPY, HDF5, Zarr and arrays in memory, a range of rows at a time.

Layouts understood: one ``(n, d)`` or ``(R, n, d)`` array, with ``(n,)`` or ``(R, n)`` arrays beside
it; columns of one length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wgsindy.data.source import Block
from wgsindy.errors import DataError
from wgsindy.files.failures import as_data_error, extra_needed
from wgsindy.files.formats.arrays import tables_of_arrays
from wgsindy.files.streaming.lazy_table import BLOCK_ROWS, HEAD_ROWS, Wanted
from wgsindy.files.table import Table, positional_name

SOURCE_BLOCKS = 16  # a file is opened once for so many blocks


class Arrays(Protocol):
    """Arrays by name that can be opened again and again, here or on another machine."""

    def open(self) -> AbstractContextManager[Mapping[str, Any]]:
        """Give anything with a shape and slices; nothing is read yet."""
        ...


@dataclass(frozen=True)
class NpyArrays:
    """One array, mapped anew for each shard: what was read does not stay in memory."""

    path: Path

    @contextmanager
    def open(self) -> Iterator[Mapping[str, Any]]:
        with as_data_error(self.path, "NPY"):
            array = np.load(self.path, mmap_mode="r", allow_pickle=False)
            if array.dtype.names is None:
                yield {positional_name(0): array}
            else:
                yield {name: array[name] for name in array.dtype.names}


@dataclass(frozen=True)
class Hdf5Arrays:
    """The datasets of an HDF5 file, by the last part of their names."""

    path: Path

    @contextmanager
    def open(self) -> Iterator[Mapping[str, Any]]:
        try:
            import h5py
        except ImportError:
            raise extra_needed(self.path.name, "HDF5", "h5py", "arrays") from None
        found: dict[str, Any] = {}

        def collect(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset):
                text = h5py.check_string_dtype(item.dtype) is not None
                found[name] = item.asstr() if text else item

        with as_data_error(self.path, "HDF5"), h5py.File(self.path, "r") as file:
            file.visititems(collect)
            yield _by_leaf(found, self.path)


@dataclass(frozen=True)
class ZarrArrays:
    """The arrays of a Zarr store, by the last part of their names."""

    path: Path

    @contextmanager
    def open(self) -> Iterator[Mapping[str, Any]]:
        try:
            import zarr
        except ImportError:
            raise extra_needed(self.path.name, "Zarr", "zarr", "arrays") from None
        with as_data_error(self.path, "Zarr"):
            store = zarr.open(str(self.path), mode="r")
            if isinstance(store, zarr.Array):
                yield {positional_name(0): store}
            else:
                # A folder lists its files in any order.
                members = sorted(store.members(max_depth=None), key=lambda member: member[0])
                arrays = {name: item for name, item in members if isinstance(item, zarr.Array)}
                yield _by_leaf(arrays, self.path)


@dataclass(frozen=True)
class GivenArray:
    """Anything with a shape and slices."""

    array: Any

    def open(self) -> AbstractContextManager[Mapping[str, Any]]:
        return nullcontext({positional_name(0): self.array})


def _by_leaf(arrays: Mapping[str, Any], path: Path) -> dict[str, Any]:
    found = {name.rsplit("/", 1)[-1]: array for name, array in arrays.items()}
    if len(found) != len(arrays):
        raise DataError(
            f"{path} has several groups with arrays of the same names ({sorted(arrays)[:4]}); "
            "stream one (R, n, d) array, or columns with a trajectory id, or use wg.read."
        )
    return found


@dataclass(frozen=True)
class ArrayTable:
    """Arrays that are a table: a main one of two or three axes and columns beside it."""

    arrays: Arrays
    label: str

    def head(self) -> Table:
        with self.arrays.open() as found:
            stacked = any(array.ndim == 3 for array in found.values())
            few = {name: _first_rows(array, stacked) for name, array in found.items()}
        tables = tables_of_arrays(few, self.label)
        if len(tables) > 1:
            raise DataError(
                f"{self.label} has several arrays of states: {sorted(few)}. Stream one (n, d) or "
                "(R, n, d) array, or use wg.read, which takes each as a trajectory."
            )
        return tables[0]

    def shards(self, wanted: Wanted) -> list[ArraySource]:
        with self.arrays.open() as found:
            ranks = {name: int(array.ndim) for name, array in found.items()}
            widest = max(ranks, key=lambda name: ranks[name])
            main = widest if ranks[widest] > 1 else None
            array = found[main or wanted.states[0]]
            shape, chunks = array.shape, getattr(array, "chunks", None)
        axis = 1 if len(shape) == 3 else 0
        rows, step = shape[axis], _block_rows(chunks[axis] if chunks else 1)
        return [
            ArraySource(self.arrays, main, wanted, member, step, first, min(first + most, rows))
            for most in [step * SOURCE_BLOCKS]
            for member in (range(shape[0]) if axis else [None])
            for first in range(0, rows, most)
        ]


def _first_rows(array: Any, stacked: bool) -> NDArray[Any]:
    if not array.ndim:
        return np.asarray(array[()])
    if stacked and array.ndim > 1:
        return np.asarray(array[0:1, 0:HEAD_ROWS])
    return np.asarray(array[0:HEAD_ROWS])


def _block_rows(chunk: int) -> int:
    """Return whole chunks of the file, so that none is unpacked twice."""
    return max(chunk, BLOCK_ROWS // chunk * chunk)


@dataclass(frozen=True)
class ArraySource:
    """Rows ``first`` to ``last`` of one ``member`` of a stack, or of all there is."""

    arrays: Arrays
    main: str | None
    wanted: Wanted
    member: int | None
    step: int
    first: int
    last: int

    def blocks(self) -> Iterator[Block]:
        with self.arrays.open() as found:
            for first in range(self.first, self.last, self.step):
                yield self._block(found, slice(first, min(first + self.step, self.last)))

    def _block(self, found: Mapping[str, Any], rows: slice) -> Block:
        wanted, columns = self.wanted, dict[str, NDArray[Any]]()
        matrix = np.empty((0, 0))
        if self.main is not None:
            matrix = self._read(found[self.main], rows)
            columns = {positional_name(k): matrix[:, k] for k in range(matrix.shape[1])}
        whole = wanted.states == tuple(columns)
        for name in wanted.columns:
            if name not in columns:
                columns[name] = self._read(found[name], rows)
        block = wanted.beside(matrix, columns) if whole else wanted.block(columns)
        return block._replace(group=(block.group, self.member))

    def _read(self, array: Any, rows: slice) -> NDArray[Any]:
        if self.member is not None and array.ndim > 1:
            return np.asarray(array[self.member, rows])
        return np.asarray(array[rows])
