"""``stream``: data that do not fit in memory, from files, arrays or a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from wgsindy.data import Block, Source, Stream
from wgsindy.errors import DataError
from wgsindy.files.columns.roles import as_list, find_roles, note_roles, state_names
from wgsindy.files.columns.times import epoch_sentence, epoch_unit, step_of
from wgsindy.files.formats.arrays import ArrayTable, GivenArray, StoredArrays
from wgsindy.files.formats.dask import DaskArrayTable, DaskFrameTable, is_dask
from wgsindy.files.formats.frames import ParquetTable
from wgsindy.files.formats.loading import format_of, paths_of
from wgsindy.files.formats.text import TextTable
from wgsindy.files.notes import Note, Reading, collecting_warnings, warn_of
from wgsindy.files.table import LazyTable, Table, WantedColumns, require_columns


def stream(
    source: Any,
    *,
    states: str | int | Sequence[str | int] | None = None,
    time: str | int | None = None,
    trajectory: str | int | None = None,
    dt: float | None = None,
    names: Sequence[str] | None = None,
) -> Stream:
    """Describe trajectories that stay where they are; a fit reads them block by block.

    Memory does not grow with the number of samples. Rows must be in order, trajectory after
    trajectory; those that lack a value are left out, and nothing else is corrected, as
    :func:`wgsindy.read` would. Times are used as they are; steps between timestamps, or counts
    since 1970, are in seconds. All is read once to be checked.

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
        If a file cannot be read, times do not increase, or a trajectory is in several places.
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
    found = stream_reading(
        source, states=states, time=time, trajectory=trajectory, dt=dt, names=names
    )
    warn_of(found.notes, stacklevel=2)
    return found.data


def stream_reading(
    source: Any,
    *,
    states: str | int | Sequence[str | int] | None = None,
    time: str | int | None = None,
    trajectory: str | int | None = None,
    dt: float | None = None,
    names: Sequence[str] | None = None,
) -> Reading[Stream]:
    """Do what :func:`stream` does, with notes instead of warnings."""
    if time is not None and dt is not None:
        raise DataError(f"the step is needed once: pass time={time!r} or dt={dt}, not both.")
    notes: list[Note] = []
    if callable(source):
        if not (states is time is trajectory is None):
            raise DataError("what a function yields has no columns to choose; leave them out.")
        return _reading([UserFunction(source, step_of(dt, []))], names, notes)
    tables = _lazy_tables(source)
    first = tables[0].head()
    require_columns([first])
    dt = step_of(dt, [first])
    roles = find_roles(
        first,
        states=as_list(states, "states"),
        time=time,
        trajectory=trajectory,
        dt=dt,
        notes=notes,
    )
    coordinates, _ = state_names(first, roles.states, names, (), notes)
    note_roles(roles, roles.states, notes)
    clock = roles.time if dt is None else None
    wanted = WantedColumns(
        roles.states, clock, roles.trajectory, dt, file=0, epoch=_epoch(first, clock, notes)
    )
    return _reading(_sources(tables, wanted), coordinates, notes)


def _reading(
    sources: Sequence[Source], names: Sequence[str] | None, notes: list[Note]
) -> Reading[Stream]:
    with collecting_warnings(notes):
        data = Stream(sources, names=names)
    return Reading(data, tuple(notes))


def _epoch(table: Table, clock: str | None, notes: list[Note]) -> str | None:
    """Return the unit of times that count since 1970 and are no timestamps yet."""
    if clock is None or table.columns[clock].dtype.kind not in "iuf":
        return None
    found = epoch_unit(table.columns[clock])
    if found is not None:
        notes.append(Note("choice", 1, f"time: {epoch_sentence(clock, found, 's')}."))
    return found


def _sources(tables: Sequence[LazyTable], wanted: WantedColumns) -> list[Source]:
    """Return where all rows are; a table that lacks a column is refused."""
    sources: list[Source] = []
    for number, table in enumerate(tables):
        if number:  # in the first one they were found
            head = table.head()
            for name in wanted.columns:
                head.resolve(name)
        sources += table.sources(replace(wanted, file=number))
    return sources


@dataclass(frozen=True)
class UserFunction:
    """The blocks that a function yields; ``dt`` is the step of those that come without one."""

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


def _lazy_tables(source: Any) -> list[LazyTable]:
    if is_dask(source):
        return [_dask_table(source)]
    if hasattr(source, "shape") and not hasattr(source, "columns"):
        return [ArrayTable(GivenArray(source), "the array")]
    paths = paths_of(source)
    if paths is not None:
        return [_file_table(path) for path in paths]
    if isinstance(source, (list, tuple)) and all(isinstance(item, np.ndarray) for item in source):
        return [ArrayTable(GivenArray(item), f"array {k}") for k, item in enumerate(source)]
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
    if kind == "NPY" or kind == "HDF5" or kind == "Zarr":
        return ArrayTable(StoredArrays(path, kind), path.name)
    if kind == "text":
        return TextTable(path)
    raise DataError(f"{path} is {kind}, which cannot be streamed; unpack it, or use wg.read.")
