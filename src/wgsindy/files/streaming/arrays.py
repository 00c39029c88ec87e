"""NPY, HDF5, Zarr and arrays in memory, a range of rows at a time.

Layouts understood: one ``(n, d)`` or ``(R, n, d)`` array, with ``(n,)`` or ``(R, n)`` arrays beside
it; columns of one length.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from wgsindy.data import Block
from wgsindy.errors import DataError
from wgsindy.files.formats.arrays import tables_of_arrays
from wgsindy.files.formats.loading import as_data_error
from wgsindy.files.formats.stores import open_hdf5, open_zarr
from wgsindy.files.streaming.lazy_table import BLOCK_ROWS, HEAD_ROWS, WantedColumns
from wgsindy.files.table import Table, positional_name

SOURCE_BLOCKS = 16  # a file is opened once for so many blocks


class Arrays(Protocol):
    """Arrays by name that can be opened again and again, here or on another machine."""

    def open(self) -> AbstractContextManager[Mapping[str, Any]]:
        """Give anything with a shape and slices; nothing is read yet."""
        ...


@dataclass(frozen=True)
class StoredArrays:
    """The arrays of a file or store, by the last word of their names."""

    path: Path
    kind: Literal["NPY", "HDF5", "Zarr"]

    @contextmanager
    def open(self) -> Iterator[Mapping[str, Any]]:
        with as_data_error(self.path, self.kind):
            if self.kind == "NPY":
                yield _mapped(self.path)
            elif self.kind == "HDF5":
                with open_hdf5(self.path, self.path.name) as found:
                    yield _by_last_word(found, self.path)
            else:
                with open_zarr(self.path, self.path.name) as found:
                    yield _by_last_word(dict(sorted(found.items())), self.path)


@dataclass(frozen=True)
class GivenArray:
    """Anything with a shape and slices."""

    array: Any

    def open(self) -> AbstractContextManager[Mapping[str, Any]]:
        return nullcontext({positional_name(0): self.array})


def _mapped(path: Path) -> dict[str, Any]:
    """Map an NPY file anew for each source: what was read does not stay in memory."""
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.dtype.names is None:
        return {positional_name(0): array}
    return {name: array[name] for name in array.dtype.names}


def _by_last_word(arrays: Mapping[str, Any], path: Path) -> dict[str, Any]:
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

    def sources(self, wanted: WantedColumns) -> list[ArraySource]:
        with self.arrays.open() as found:
            ranks = {name: int(array.ndim) for name, array in found.items()}
            widest = max(ranks, key=lambda name: ranks[name])
            main = widest if ranks[widest] > 1 else None
            array = found[main or wanted.states[0]]
            shape, chunks = array.shape, getattr(array, "chunks", None)
        axis = 1 if len(shape) == 3 else 0
        rows, step = shape[axis], _block_rows(chunks[axis] if chunks else 1)
        most = step * SOURCE_BLOCKS
        return [
            ArraySource(self.arrays, main, wanted, number, step, first, min(first + most, rows))
            for number in (range(shape[0]) if axis else [None])
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
    """A range of rows of one trajectory of a stack, or of all there is."""

    arrays: Arrays
    main: str | None  # name of the array of two or three axes, if there is one
    wanted: WantedColumns
    number: int | None  # of the trajectory in a stack
    step: int  # rows of a block
    first: int
    last: int  # not included

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
        states = matrix if wanted.states == tuple(columns) else None
        for name in wanted.columns:
            if name not in columns:
                columns[name] = self._read(found[name], rows)
        return wanted.block(columns, states=states, number=self.number)

    def _read(self, array: Any, rows: slice) -> NDArray[Any]:
        part = (
            array[self.number, rows] if self.number is not None and array.ndim > 1 else array[rows]
        )
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
