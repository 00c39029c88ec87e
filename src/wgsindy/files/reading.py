"""``read`` and ``stream``: any table or array to data; ``open_data`` chooses between them.

``as_dataset`` takes what a Python caller has: readings, data frames, arrays.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wgsindy.data import (
    Block,
    Dataset,
    FunctionSource,
    Source,
    Stream,
    Trajectories,
    resolution_of,
    screened,
)
from wgsindy.errors import DataError, MissingValuesWarning, WgsindyWarning
from wgsindy.files.cleaning.order import ordered, without_gaps
from wgsindy.files.cleaning.raw_trajectories import (
    RawTrajectory,
    as_logarithms,
    drop_constant,
    joined_exports,
    raw_trajectories,
    unwrapped,
)
from wgsindy.files.cleaning.suspicious import inspect
from wgsindy.files.columns.roles import find_roles, note_roles, one_trajectory_a_column, state_names
from wgsindy.files.columns.times import epoch_sentence, epoch_unit, step_of, with_joined_date
from wgsindy.files.formats.frames import is_labelled
from wgsindy.files.formats.loading import bytes_at, lazy_tables_of, paths_of, tables_of
from wgsindy.files.notes import KIND_OF, Note, Notes, Reading, collecting_warnings, warn_of
from wgsindy.files.options import ROWS, ReadingOptions, StreamOptions, as_list, by_keyword
from wgsindy.files.table import (
    LazyTable,
    Roles,
    Table,
    WantedColumns,
    header_unit,
    require_columns,
    wide_table,
)

if TYPE_CHECKING:
    from wgsindy.data import Stream

STDIN = "-"
LARGE = 256 * 2**20  # bytes of all files: beyond, what is read into memory takes over 1 GB


@by_keyword(ReadingOptions)
def read(source: Any, asked: ReadingOptions) -> Reading[Trajectories]:
    """Read trajectories from a file, several files, a data frame or arrays.

    A file is CSV or other text in any dialect, Excel, Parquet, NPY, NPZ, HDF5 or Zarr; its content
    decides, not its name. Columns may be given by name or by position (the first is 0).

    Parameters
    ----------
    source : path, glob, list of paths, data frame, array, list or mapping of arrays
        Several files are read as one trajectory each (or more, if they have ids); those that share
        rows are exports of one instrument, and are joined.
    states : columns of the state; by default all columns of numbers but time, ids, row numbers and
        what else says nothing of a state (qualities of spots; of prices, all but the close)
    time : column of times, numbers or timestamps; by default found by name
    trajectory : column that tells trajectories apart; by default found by name
    dt : sampling interval, if there are no times, or none that can be read; it also scales a
        column that counts samples
    unit : unit of time wanted (``s``, ``ms``, ``min``, ``h``, ``d``, ``year``, ...); by default
        timestamps are read in the one that suits their steps
    time_unit : unit of a column of numbers, if ``unit`` is given and the header does not say
    time_format : how timestamps are written if they are not recognised, as for ``strptime``
    clock : ``"rows"`` counts rows, ``dt`` apart or 1, whatever the column of times says;
        ``"calendar"`` counts weekends and holidays, by default left out of daily data without them
    variable, value : the two columns of a long table
    replicates : each column is a trajectory of one state
    names : names of the coordinates, by default those of the columns
    angle : states that are angles; those that jump by turns are found
    inputs : columns that drive the states and have no equation of their own
    log : states to replace by their logarithm; ``x`` becomes ``log_x``
    missing : numbers that stand for no value, for example ``[-999]``
    gap : longest step in time that is no gap, by default 5 times the usual one; see
        ``wgsindy.files.cleaning.order``

    Raises
    ------
    DataError
        If a file cannot be read or contradicts itself or the arguments.
    NotEnoughDataError
        If no two samples follow each other.

    Warns
    -----
    ReadingWarning and its kinds, OutlierWarning, RepeatedSamplesWarning, InterpolatedSamplesWarning
        One for each finding in ``notes`` that changes or may spoil the data.

    Examples
    --------
    >>> reading = read({"t": [0.0, 0.1, 0.2], "x": [1.0, 0.8, 0.9]})
    >>> reading.data.names, reading.data.n_increments
    (('x',), 2)
    """
    reading = _in_memory(source, asked)
    warn_of(reading.notes, stacklevel=3)
    return reading


def _in_memory(source: Any, asked: ReadingOptions) -> Reading[Trajectories]:
    """Do what :func:`read` does, with notes instead of warnings."""
    notes = Notes()
    tables = [
        with_joined_date(wide_table(table, asked.variable, asked.value))
        for table in tables_of(source)
    ]
    require_columns(tables)
    counted_rows = asked.clock == ROWS and asked.dt is None
    asked = replace(asked, dt=step_of(1.0 if counted_rows else asked.dt, tables))
    inputs = as_list(asked.inputs, "inputs")
    roles = _by_rows(find_roles(tables[0], asked, notes, inputs), asked, notes)
    if asked.replicates:
        tables, roles = one_trajectory_a_column(tables, roles, asked.names, notes)
    tables = joined_exports(tables, roles, notes)
    raw, found_unit = raw_trajectories(tables, roles, asked, notes)
    raw, kept = drop_constant(raw, roles.states, roles.chosen, notes)
    states_kept = [roles.states[k] for k in kept]
    log = as_list(asked.log, "log")
    coordinates, logged = state_names(tables[0], states_kept, asked.names, log, notes)
    note_roles(roles, states_kept, notes)
    units = [header_unit(name, tables[0].units)[1] for name in states_kept]
    raw = without_gaps(ordered(raw, notes), asked.gap, notes)
    raw, turning = unwrapped(raw, coordinates, units, as_list(asked.angle, "angle"), notes)
    data = _screened(_trajectories(raw, asked.dt, coordinates), notes)
    labels = [one.label for one in raw]
    if len(labels) != len(data):  # screening has split some
        labels = [f"trajectory {k}" for k in range(len(data))]
    data = as_logarithms(data, [coordinates[k] for k in logged], labels)
    inspect(data, labels, notes)
    if inputs:
        data = data.driven_by([str(name) for name in inputs])
        sentence = f"inputs: {', '.join(data.inputs)}, which have no equation of their own."
        notes.add("choice", len(data.inputs), sentence)
    known = {
        name: "rad" if k in turning else unit
        for k, (name, unit) in enumerate(zip(coordinates, units, strict=True))
        if k in turning or (unit and k not in logged)
    }
    return Reading(data, tuple(notes), found_unit, known, tuple(coordinates[k] for k in turning))


def _by_rows(roles: Roles, asked: ReadingOptions, notes: Notes) -> Roles:
    """Leave the column of times alone if rows are to be counted; refuse a unit without times."""
    if asked.clock == ROWS:
        notes.add("choice", 1, f"time: rows are counted, {asked.dt:g} apart.")
        roles = replace(roles, time=None)
    elif roles.time is None and asked.unit is not None:
        raise DataError(f"unit={asked.unit!r} has no times to convert; dt is used as it is.")
    return roles


def _trajectories(
    raw: Sequence[RawTrajectory], dt: float | None, names: Sequence[str]
) -> Trajectories:
    states = [trajectory.states for trajectory in raw]
    times = [trajectory.times for trajectory in raw if trajectory.times is not None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingValuesWarning)  # there is a note already
        if times:
            return Trajectories(states, times=times, names=names)
        return Trajectories(states, dt, names=names)


def _screened(data: Trajectories, notes: Notes) -> Trajectories:
    """Leave out what nobody measured, before a logarithm hides it."""
    screening = screened(data, resolution_of(data))
    notes += [Note(KIND_OF[kind], count, sentence) for kind, count, sentence in screening.findings]
    assert isinstance(screening.data, Trajectories)
    return screening.data


def open_data(
    sources: Any, asked: ReadingOptions | None = None, *, stream: bool | None = None
) -> Reading[Dataset]:
    """Read data, or stream them if their files are larger than 256 MB.

    Nothing is warned of: the notes of the reading say everything.

    Parameters
    ----------
    sources : what :func:`wgsindy.read` or :func:`wgsindy.stream` takes; ``-`` is standard input
    asked : what is said of the data, by default nothing
    stream : whether to stream; by default only large files, and functions, are

    Raises
    ------
    DataError
        If the data cannot be read, or cannot be streamed and were to be.

    Examples
    --------
    >>> open_data([[[1.0, 2.0], [1.5, 1.0], [0.5, 1.2]]], ReadingOptions(dt=0.1)).data
    Trajectories(1 x (x, y), 2 increments, mean dt = 0.1)
    """
    asked = asked or ReadingOptions()
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    changing = asked.changing()
    if stream or (stream is None and callable(sources)):
        _refuse_to_stream(sources, changing)
        return _told_streamed(sources, asked)
    if stream is None and not changing and _bytes_of(sources) > LARGE:
        return _streamed_for_its_size(sources, asked)
    with _with_standard_input(sources) as readable, warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)  # each of them has a note
        return _in_memory(readable, asked)


def _refuse_to_stream(sources: Any, changing: list[str]) -> None:
    if _has_standard_input(sources):
        raise DataError("standard input can be read only once; save it to a file to stream it.")
    if changing:
        flag = f"--{changing[0].replace('_', '-')}"
        raise DataError(
            f"{changing[0]} ({flag}) changes data, which are streamed as they are; leave it out."
        )


def _told_streamed(sources: Any, asked: StreamOptions, why: str = "") -> Reading[Stream]:
    """Stream, and say so first."""
    reading = _streamed(sources, asked)
    where = "" if callable(sources) else " from disk"
    means = Note(
        "choice",
        1,
        f"streamed{where}{why}: nothing is changed, rows are taken as ordered and without gaps.",
    )
    return Reading(reading.data, (means, *reading.notes))


def _streamed_for_its_size(sources: Any, asked: StreamOptions) -> Reading[Stream]:
    """Stream what nobody asked to be streamed; an error says how to read it into memory."""
    why = f", since they are larger than {LARGE // 2**20} MB"
    try:
        return _told_streamed(sources, asked, why)
    except DataError as error:
        raise type(error)(
            f"{error} The data are streamed{why}: stream=False (--no-stream) reads them into "
            "memory and corrects more."
        ) from None


def _bytes_of(sources: Any) -> int:
    """Return how large files are that can be read again."""
    return 0 if _has_standard_input(sources) else sum(map(bytes_at, paths_of(sources) or ()))


def _has_standard_input(sources: Any) -> bool:
    return isinstance(sources, (list, tuple)) and any(
        isinstance(item, str) and item == STDIN for item in sources
    )


@contextmanager
def _with_standard_input(sources: Any) -> Iterator[Any]:
    """Give the sources with standard input, if it is among them, as a file."""
    if not _has_standard_input(sources):
        yield sources
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stdin"
        path.write_bytes(sys.stdin.buffer.read())
        yield [path if isinstance(item, str) and item == STDIN else item for item in sources]


def label_of(sources: Any) -> str:
    """Return what to call the data in a sentence.

    >>> label_of("cells/cell_01.csv"), label_of(["a.csv", "b.csv"])
    ('cell_01.csv', '2 files')
    """
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    if not isinstance(sources, (list, tuple)):
        return "the data"
    if len(sources) != 1 or not isinstance(sources[0], (str, os.PathLike)):
        return f"{len(sources)} files"
    if sources[0] == STDIN:
        return "standard input"
    return os.path.basename(os.fspath(sources[0]).rstrip("/"))


@by_keyword(StreamOptions)
def stream(source: Any, asked: StreamOptions) -> Stream:
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
    >>> import numpy as np
    >>> walk = np.cumsum(np.random.default_rng(0).normal(size=(1000, 2)), axis=0)
    >>> stream(walk, dt=0.1)
    Stream(1 x (x, y), 999 increments, mean dt = 0.1)
    >>> stream(lambda: (walk[k : k + 7] for k in range(0, 1000, 7)), dt=0.1, names=["p", "q"])
    Stream(1 x (p, q), 999 increments, mean dt = 0.1)
    """
    reading = _streamed(source, asked)
    warn_of(reading.notes, stacklevel=3)
    return reading.data


def _streamed(source: Any, asked: StreamOptions) -> Reading[Stream]:
    """Do what :func:`stream` does, with notes instead of warnings."""
    if asked.time is not None and asked.dt is not None:
        raise DataError(
            f"the step is needed once: pass time={asked.time!r} or dt={asked.dt}, not both."
        )
    notes = Notes()
    if callable(source):
        if not (asked.states is asked.time is asked.trajectory is None):
            raise DataError("what a function yields has no columns to choose; leave them out.")
        sources: list[Source] = [FunctionSource(partial(_blocks_of, source, step_of(asked.dt, [])))]
        names = asked.names
    else:
        tables = lazy_tables_of(source)
        first = tables[0].head()
        require_columns([first])
        asked = replace(asked, dt=step_of(asked.dt, [first]))
        roles = find_roles(first, asked, notes)
        names, _ = state_names(first, roles.states, asked.names, (), notes)
        note_roles(roles, roles.states, notes)
        roles = roles if asked.dt is None else replace(roles, time=None)
        epoch = _epoch(first, roles.time, notes)
        sources = _sources(tables, WantedColumns(roles, asked.dt, 0, epoch))
    with collecting_warnings(notes):
        data = Stream(sources, names=names)
    return Reading(data, tuple(notes))


def _epoch(table: Table, clock: str | None, notes: Notes) -> str | None:
    """Return the unit of times that count since 1970 and are no timestamps yet."""
    if clock is None or table.columns[clock].dtype.kind not in "iuf":
        return None
    unit = epoch_unit(table.columns[clock])
    if unit is not None:
        notes.add("choice", 1, f"time: {epoch_sentence(clock, unit, 's')}.")
    return unit


def _sources(tables: Sequence[LazyTable], wanted: WantedColumns) -> list[Source]:
    """Return where all rows are; a table that lacks a column is refused."""
    sources: list[Source] = []
    for number, table in enumerate(tables):
        if number:  # in the first one they were found
            head = table.head()
            for name in wanted.roles.columns:
                head.resolve(name)
        sources += table.sources(replace(wanted, file=number))
    return sources


def _blocks_of(function: Callable[[], Iterable[Any]], dt: float | None) -> Iterator[Block]:
    """Yield the blocks of a user's function; ``dt`` is the step of those that come without one."""
    for item in function():
        block = item if isinstance(item, tuple) else (item, dt)
        if not 2 <= len(block) <= 4 or block[1] is None:
            raise DataError(
                "a block of samples needs its times or its step: yield (states, times or dt), "
                "or pass dt."
            )
        yield Block(*block)


def as_dataset(
    given: Any,
    *,
    dt: float | Sequence[float] | None = None,
    t: Any = None,
    names: Sequence[str] | None = None,
) -> Dataset:
    """Return the dataset of a reading, a data frame or arrays.

    Parameters
    ----------
    given : a ``Reading``, ``Trajectories``, a ``Stream``, a data frame of any kind, one ``(n, d)``
        or ``(R, n, d)`` array, or a list of ``(n_i, d)`` arrays
    dt : sampling interval, one number or (of arrays) one a trajectory
    t : sampling times of arrays; of a data frame, the name of the column of times
    names : names of the coordinates

    Raises
    ------
    DataError
        If steps are missing, or given twice.

    Examples
    --------
    >>> as_dataset([[0.0, 1.0, 3.0]], dt=0.1, names=["u"])
    Trajectories(1 x (u), 2 increments, mean dt = 0.1)
    """
    dataset = given.data if isinstance(given, Reading) else given
    if isinstance(dataset, Dataset):
        if dt is not None or t is not None:
            asked = f"dt={dt}" if dt is not None else "t"
            raise DataError(f"these trajectories carry their own steps; leave out {asked}.")
        if names is not None and tuple(names) != dataset.names:
            raise DataError(
                f"these trajectories carry their own names {list(dataset.names)}; leave out names, "
                "or give them to whoever made the trajectories."
            )
        return dataset
    if hasattr(given, "columns") or is_labelled(given):
        step = None if dt is None else float(dt) if isinstance(dt, int | float) else dt
        return read(given, dt=step, time=t, names=names).data  # type: ignore[arg-type]
    if isinstance(given, str | PathLike):
        raise DataError(f"{given!s:.80} is no array; pass wgsindy.read of it if it is a file.")
    if dt is None and t is None:
        raise DataError(
            "arrays need the sampling interval: pass dt=... (or times, t=...), or Trajectories."
        )
    return Trajectories(given, dt, times=t, names=names)
