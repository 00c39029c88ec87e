"""``stream``: data that do not fit in memory, from files, arrays or a function."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wgsindy.data.source import Block, Source
from wgsindy.data.stream import Stream
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.cleaning.tracks import require_columns
from wgsindy.files.columns.naming import state_names
from wgsindy.files.columns.roles import find_roles
from wgsindy.files.columns.times import epoch_told, epoch_unit
from wgsindy.files.formats.detect import expanded, is_zarr
from wgsindy.files.notes import Note, warn_of
from wgsindy.files.read_ import as_list, checked_dt, tell_roles
from wgsindy.files.streaming.array_sheets import (
    ArraySheet,
    GivenArray,
    Hdf5Arrays,
    NpyArrays,
    ZarrArrays,
)
from wgsindy.files.streaming.dask_sheets import DaskArraySheet, DaskFrameSheet, is_dask
from wgsindy.files.streaming.parquet_sheets import ParquetSheet
from wgsindy.files.streaming.sheets import Sheet, Wanted
from wgsindy.files.streaming.text_sheets import TextSheet
from wgsindy.files.table import Table


def stream(
    source: Any,
    *,
    states: str | int | Sequence[str | int] | None = None,
    time: str | int | None = None,
    trajectory: str | int | None = None,
    dt: float | None = None,
    names: Sequence[str] | None = None,
) -> Stream:
    """Describe sample paths that stay where they are; a fit reads them piece by piece.

    Memory does not grow with the number of samples. Nothing is mended, as :func:`wgsindy.read`
    would: rows are in order, trajectory after trajectory, and every value is there. Times are used
    as they are; steps between timestamps, or counts since 1970, are in seconds. All is read once
    to be checked.

    Parameters
    ----------
    source : path, glob or list of paths; array or list of arrays; Dask collection; function
        Files are NPY, Parquet, HDF5, Zarr or CSV; several are one trajectory each (or more, if they
        have ids). Arrays are ``(n, d)`` or ``(R, n, d)``, or anything with a shape and slices. Dask
        arrays and data frames are computed chunk by chunk, where they are read. A function returns
        a fresh iterator of arrays ``(n, d)``, or of ``(states, times or dt)`` or ``(states, times
        or dt, trajectory)``, cut anywhere, the same at every call.
    states : columns of the state; by default all columns of numbers but time and ids
    time : column of times; by default found by name
    trajectory : column that tells trajectories apart; by default found by name
    dt : sampling interval; a column of times is not read then
    names : names of the coordinates, by default those of the columns

    Raises
    ------
    DataError
        If a file cannot be read, a value is missing, times do not increase, or a trajectory is in
        several places.
    NotEnoughDataError
        If no two samples follow each other.

    Examples
    --------
    >>> walk = np.cumsum(np.random.default_rng(0).normal(size=(1000, 2)), axis=0)
    >>> stream(walk, dt=0.1)
    Stream(1 x (x, y), 999 increments, mean dt = 0.1)
    >>> stream(lambda: (walk[k : k + 7] for k in range(0, 1000, 7)), dt=0.1, names=["p", "q"])
    Stream(1 x (p, q), 999 increments, mean dt = 0.1)
    """
    found = streamed(source, states=states, time=time, trajectory=trajectory, dt=dt, names=names)
    warn_of(found.notes, stacklevel=2)
    return found.data


@dataclass(frozen=True)
class Streamed:
    """A stream, and what was found on the way to it."""

    data: Stream
    notes: tuple[Note, ...] = ()


def streamed(
    source: Any,
    *,
    states: str | int | Sequence[str | int] | None = None,
    time: str | int | None = None,
    trajectory: str | int | None = None,
    dt: float | None = None,
    names: Sequence[str] | None = None,
) -> Streamed:
    """Do what :func:`stream` does, with notes instead of their warnings."""
    if time is not None and dt is not None:
        raise DataError(f"the step is needed once: pass time={time!r} or dt={dt}, not both.")
    if callable(source):
        if not (states is time is trajectory is None):
            raise DataError("what a function yields has no columns to choose; leave them out.")
        return Streamed(Stream([FunctionShard(source, checked_dt(dt, []))], names=names))
    sheets = _sheets(source)
    notes: list[Note] = []
    first = sheets[0].head()
    require_columns([first])
    dt = checked_dt(dt, [first])
    roles = find_roles(
        first,
        states=as_list(states, "states"),
        time=time,
        trajectory=trajectory,
        dt=dt,
        notes=notes,
    )
    coordinates, _ = state_names(first, roles.states, names, (), notes)
    tell_roles(roles, roles.states, notes)
    clock = roles.time if dt is None else None
    epoch = _epoch(first, clock, notes)
    shards: list[Source] = []
    for group, sheet in enumerate(sheets):
        wanted = Wanted(roles.states, clock, roles.trajectory, dt, group, epoch)
        table = sheet.head() if group else first
        for name in wanted.columns:
            table.resolve(name)
        shards += sheet.shards(wanted)
    return Streamed(Stream(shards, names=coordinates), tuple(notes))


def _epoch(table: Table, clock: str | None, notes: list[Note]) -> str | None:
    """Unit of times that count since 1970 and are no timestamps yet."""
    if clock is None or table.columns[clock].dtype.kind not in "iuf":
        return None
    found = epoch_unit(table.columns[clock])
    if found is not None:
        notes.append(Note("choice", 1, f"time: {epoch_told(clock, found, 's')}."))
    return found


def bytes_on_disk(sources: Sequence[str]) -> int:
    """Bytes of all files of paths and globs; what is not there has none."""
    files = (path for item in sources for path in expanded(item))
    return sum(_bytes(path) for path in files)


def _bytes(path: Path) -> int:
    if path.is_dir():  # a Zarr store
        return sum(_bytes(inner) for inner in path.iterdir())
    return path.stat().st_size if path.exists() else 0


@dataclass(frozen=True)
class FunctionShard:
    """What a function yields."""

    function: Callable[[], Iterable[Any]]
    dt: float | None

    def blocks(self) -> Iterator[Block]:
        for item in self.function():
            block = item if isinstance(item, tuple) else (item, self.dt)
            if not 2 <= len(block) <= 4 or block[1] is None:
                raise DataError(
                    "a block of samples needs its times or its step: yield (states, times or dt), "
                    "or pass dt."
                )
            yield Block(*block)


def _sheets(source: Any) -> list[Sheet]:
    if isinstance(source, (str, os.PathLike)):
        source = [source]
    if is_dask(source):
        return [_dask_sheet(source)]
    if hasattr(source, "shape") and not hasattr(source, "columns"):
        return [ArraySheet(GivenArray(source), "the array")]
    if isinstance(source, (list, tuple)) and source:
        if all(isinstance(item, (str, os.PathLike)) for item in source):
            return [_sheet(path) for item in source for path in expanded(item)]
        if all(isinstance(item, np.ndarray) for item in source):
            return [ArraySheet(GivenArray(item), f"array {k}") for k, item in enumerate(source)]
    elif isinstance(source, (list, tuple)):
        raise NotEnoughDataError("the list of sources is empty; pass at least one file or array.")
    way_out = (
        "an iterator can be read only once: pass a function that returns a new one"
        if isinstance(source, Iterator)
        else "pass paths, arrays or a function; what is in memory anyway goes to wg.read"
    )
    raise DataError(f"a source of type {type(source).__name__} cannot be streamed; {way_out}.")


def _dask_sheet(source: Any) -> Sheet:
    axes = getattr(source, "ndim", 0)
    if hasattr(source, "chunks") and 1 <= axes <= 3:
        return DaskArraySheet(source, "the array")
    if hasattr(source, "columns") and axes == 2:
        return DaskFrameSheet(source, "the data frame")
    raise DataError(
        f"{type(source).__name__} of Dask with {axes} axes cannot be streamed; pass an array "
        "(n, d) or (R, n, d), or a data frame."
    )


def _sheet(path: Path) -> Sheet:
    """Choose by the first bytes, not by the name."""
    if is_zarr(path):
        return ArraySheet(ZarrArrays(path), path.name)
    try:
        with open(path, "rb") as file:
            magic = file.read(8)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path} cannot be read: {reason}.") from None
    if magic.startswith(b"PAR1"):
        return ParquetSheet(path)
    if magic.startswith(b"\x93NUMPY"):
        return ArraySheet(NpyArrays(path), path.name)
    if magic == b"\x89HDF\r\n\x1a\n":
        return ArraySheet(Hdf5Arrays(path), path.name)
    if magic.startswith((b"PK", b"\x1f\x8b")):
        raise DataError(
            f"{path} is compressed as a whole and cannot be streamed; unpack it, or use wg.read."
        )
    return TextSheet(path)
