"""``read``: any table or array to :class:`Trajectories`; ``open_data``: streamed if it is large."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wgsindy.data import Dataset, Trajectories, numbers, resolution_of, screened
from wgsindy.errors import DataError, MissingValuesWarning, WgsindyWarning
from wgsindy.files.cleaning.order import ordered, without_gaps
from wgsindy.files.cleaning.raw_trajectories import (
    RawTrajectory,
    as_logarithms,
    drop_constant,
    joined_exports,
    raw_trajectories,
)
from wgsindy.files.cleaning.suspicious import inspect
from wgsindy.files.columns.angles import unwrapped
from wgsindy.files.columns.roles import (
    Roles,
    as_list,
    find_roles,
    note_roles,
    one_trajectory_a_column,
    state_names,
)
from wgsindy.files.columns.times import ROWS, Clock, step_of, with_joined_date
from wgsindy.files.columns.units import checked_unit, header_unit
from wgsindy.files.formats.loading import paths_of, tables_of
from wgsindy.files.notes import KIND_OF, Note, Reading, warn_of
from wgsindy.files.table import require_columns, wide_table

if TYPE_CHECKING:
    from wgsindy.data import Stream

STDIN = "-"
LARGE = 256 * 2**20  # bytes of all files: beyond, what is read into memory takes over 1 GB
# Arguments of `read` that change what is in the file, which a stream takes as it is.
CHANGING = (
    "unit",
    "time_unit",
    "time_format",
    "clock",
    "variable",
    "value",
    "angle",
    "inputs",
    "replicates",
    "log",
    "missing",
    "gap",
)


def read(
    source: Any,
    *,
    states: str | int | Sequence[str | int] | None = None,
    time: str | int | None = None,
    trajectory: str | int | None = None,
    dt: float | None = None,
    unit: str | None = None,
    time_unit: str | None = None,
    time_format: str | None = None,
    clock: str | None = None,
    variable: str | int | None = None,
    value: str | int | None = None,
    replicates: bool = False,
    names: Sequence[str] | None = None,
    angle: str | Sequence[str] = (),
    inputs: str | Sequence[str] = (),
    log: str | Sequence[str] = (),
    missing: float | Sequence[float] = (),
    gap: float | None = None,
) -> Reading[Trajectories]:
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
    notes: list[Note] = []
    driving = as_list(inputs, "inputs") or []
    tables = [with_joined_date(wide_table(table, variable, value)) for table in tables_of(source)]
    require_columns(tables)
    dt = step_of(1.0 if clock == ROWS and dt is None else dt, tables)
    asked = Clock(
        checked_unit(unit, "unit"), checked_unit(time_unit, "time_unit"), time_format, clock, dt
    )
    roles = find_roles(
        tables[0],
        states=None if states is None else [*(as_list(states, "states") or ()), *driving],
        time=time,
        trajectory=trajectory,
        dt=dt,
        notes=notes,
    )
    roles = _by_rows(roles, asked, notes)
    if replicates:
        tables, roles = one_trajectory_a_column(tables, roles, names, notes)
    tables = joined_exports(tables, roles, notes)
    raw, found_unit = raw_trajectories(
        tables, roles, asked, numbers(as_list(missing, "missing") or (), "missing").tolist(), notes
    )
    raw, kept = drop_constant(raw, roles.states, roles.chosen, notes)
    states_kept = [roles.states[k] for k in kept]
    coordinates, logged = state_names(
        tables[0], states_kept, names, as_list(log, "log") or (), notes
    )
    note_roles(roles, states_kept, notes)
    units = [header_unit(name, tables[0].units)[1] for name in states_kept]
    raw = without_gaps(ordered(raw, notes), gap, notes)
    raw, turning = unwrapped(raw, coordinates, units, as_list(angle, "angle") or (), notes)
    data = _screened(_trajectories(raw, dt, coordinates), notes)
    labels = [one.label for one in raw] if len(raw) == len(data) else None
    inspect(as_logarithms(_complete(data, labels), logged, coordinates), coordinates, notes)
    for name in (coordinates[k] for k in logged):
        data = data.replaced(name, name, np.log)
    if driving:
        data = data.driven_by([str(name) for name in driving])
        sentence = f"inputs: {', '.join(data.inputs)}, which have no equation of their own."
        notes.append(Note("choice", len(data.inputs), sentence))
    warn_of(notes, stacklevel=2)
    known = {
        name: "rad" if k in turning else own
        for k, (name, own) in enumerate(zip(coordinates, units, strict=True))
        if k in turning or (own and k not in logged)
    }
    return Reading(data, tuple(notes), found_unit, known, tuple(coordinates[k] for k in turning))


def _by_rows(roles: Roles, clock: Clock, notes: list[Note]) -> Roles:
    """Leave the column of times alone if rows are to be counted; refuse a unit without times."""
    if clock.kind == ROWS:
        notes.append(Note("choice", 1, f"time: rows are counted, {clock.dt:g} apart."))
        roles = replace(roles, time=None)
    elif roles.time is None and clock.unit is not None:
        raise DataError(f"unit={clock.unit!r} has no times to convert; dt is used as it is.")
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


def _complete(data: Trajectories, labels: Sequence[str] | None) -> list[RawTrajectory]:
    """Return the rows that are left, to be looked at."""
    return [
        RawTrajectory(
            labels[k] if labels else f"trajectory {k}", np.append(0.0, data.steps(k).cumsum()), path
        )
        for k, path in enumerate(data)
    ]


def _screened(data: Trajectories, notes: list[Note]) -> Trajectories:
    """Leave out what nobody measured, before a logarithm hides it."""
    found = screened(data, resolution_of(data))
    notes += [Note(KIND_OF[kind], count, sentence) for kind, count, sentence in found.findings]
    assert isinstance(found.data, Trajectories)
    return found.data


def open_data(sources: Any, *, stream: bool | None = None, **asked: Any) -> Reading[Dataset]:
    """Read data, or stream them if their files are larger than 256 MB.

    Nothing is warned of: the notes of the reading say everything.

    Parameters
    ----------
    sources : what :func:`wgsindy.read` or :func:`wgsindy.stream` takes; ``-`` is standard input
    stream : whether to stream; by default only large files, and functions, are
    asked : arguments of :func:`wgsindy.read`; None stands for none

    Raises
    ------
    DataError
        If the data cannot be read, or cannot be streamed and were to be.

    Examples
    --------
    >>> open_data([[[1.0, 2.0], [1.5, 1.0], [0.5, 1.2]]], dt=0.1).data
    Trajectories(1 x (x, y), 2 increments, mean dt = 0.1)
    """
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    given = {name: value for name, value in asked.items() if not _changes_nothing(name, value)}
    refused = [name for name in CHANGING if name in given]
    if stream or (stream is None and callable(sources)):
        _refuse_to_stream(sources, refused)
        return _streamed(sources, given)
    if stream is None and not refused and _is_large(sources):
        return _streamed_for_its_size(sources, given)
    with _with_standard_input(sources) as readable, warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)  # each of them has a note
        return read(readable, **given)


def _changes_nothing(name: str, value: Any) -> bool:
    """Whether an argument is as good as not given: None, or no logarithms, no missing numbers."""
    empty = isinstance(value, (list, tuple)) and not value
    return value is None or (empty and name in CHANGING)


def _refuse_to_stream(sources: Any, changing: list[str]) -> None:
    if _has_standard_input(sources):
        raise DataError("standard input can be read only once; save it to a file to stream it.")
    if changing:
        flag = f"--{changing[0].replace('_', '-')}"
        raise DataError(
            f"{changing[0]} ({flag}) changes data, which are streamed as they are; leave it out."
        )


def _streamed(sources: Any, given: dict[str, Any], why: str = "") -> Reading[Stream]:
    from wgsindy.files.stream_tables import stream_reading  # not loaded for small files

    found = stream_reading(sources, **given)
    where = "" if callable(sources) else " from disk"
    means = Note(
        "choice",
        1,
        f"streamed{where}{why}: nothing is changed, rows are taken as ordered and without gaps.",
    )
    return Reading(found.data, (means, *found.notes))


def _streamed_for_its_size(sources: Any, given: dict[str, Any]) -> Reading[Stream]:
    """Stream what nobody asked to be streamed; an error says how to read it into memory."""
    why = f", since they are larger than {LARGE // 2**20} MB"
    try:
        return _streamed(sources, given, why)
    except DataError as error:
        raise type(error)(
            f"{error} The data are streamed{why}: stream=False (--no-stream) reads them into "
            "memory and corrects more."
        ) from None


def _is_large(sources: Any) -> bool:
    if _has_standard_input(sources):
        return False
    return sum(_bytes(path) for path in paths_of(sources) or ()) > LARGE


def _bytes(path: Path) -> int:
    if path.is_dir():  # a Zarr store
        return sum(_bytes(inner) for inner in path.iterdir())
    return path.stat().st_size if path.exists() else 0


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
