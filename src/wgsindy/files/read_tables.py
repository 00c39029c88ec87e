"""``read``: any table or array, from a file or from memory, to :class:`Trajectories`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wgsindy.data.trajectories import Trajectories
from wgsindy.errors import DataError
from wgsindy.files.cleaning.gaps import without_gaps
from wgsindy.files.cleaning.order import ordered
from wgsindy.files.cleaning.raw_trajectories import (
    RawTrajectory,
    as_logarithms,
    drop_constant,
    raw_trajectories,
)
from wgsindy.files.cleaning.suspicious import inspect
from wgsindy.files.columns.long_tables import widened
from wgsindy.files.columns.roles import as_list, find_roles, note_roles, state_names
from wgsindy.files.columns.times import Clock, checked_dt, checked_unit, with_joined_date
from wgsindy.files.formats.loading import tables_of
from wgsindy.files.notes import Note, Reading, warn_of
from wgsindy.files.table import require_columns


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
    variable: str | int | None = None,
    value: str | int | None = None,
    names: Sequence[str] | None = None,
    log: str | Sequence[str] = (),
    missing: float | Sequence[float] = (),
    gap: float | None = None,
) -> Reading[Trajectories]:
    """Read trajectories from a file, several files, a data frame or arrays.

    A file is CSV or other text in any dialect, Parquet, NPY, NPZ, HDF5 or Zarr; its content
    decides, not its name. Columns may be given by name or by position (the first is 0).

    Parameters
    ----------
    source : path, glob, list of paths, data frame, array, list or mapping of arrays
        Several files are read as one trajectory each (or more, if they have ids).
    states : columns of the state; by default all columns of numbers but time and ids
    time : column of times, numbers or timestamps; by default found by name
    trajectory : column that tells trajectories apart; by default found by name
    dt : sampling interval, if there are no times; it also scales a column that counts samples
    unit : unit of time wanted (``s``, ``ms``, ``min``, ``h``, ``d``, ...); timestamps default to s
    time_unit : unit of a column of numbers, if ``unit`` is given and the header does not say
    time_format : how timestamps are written if not in ISO 8601, as for ``strptime``
    variable, value : the two columns of a long table
    names : names of the coordinates, by default those of the columns
    log : states to replace by their logarithm; ``x`` becomes ``log_x``
    missing : numbers that stand for no value, for example ``[-999]``
    gap : longest step in time that is no gap, by default 5 times the usual one; see
        ``wgsindy.files.cleaning.gaps``

    Raises
    ------
    DataError
        If a file cannot be read or contradicts itself or the arguments.
    NotEnoughDataError
        If no two samples follow each other.

    Warns
    -----
    ReadingWarning and its kinds, OutlierWarning, RepeatedSamplesWarning
        One for each finding in ``notes`` that changes or may spoil the data.

    Examples
    --------
    >>> reading = read({"t": [0.0, 0.1, 0.2], "x": [1.0, 0.8, 0.9]})
    >>> reading.data.names, reading.data.n_increments
    (('x',), 2)
    """
    notes: list[Note] = []
    clock = Clock(checked_unit(unit, "unit"), checked_unit(time_unit, "time_unit"), time_format)
    tables = [with_joined_date(widened(table, variable, value)) for table in tables_of(source)]
    require_columns(tables)
    first, dt = tables[0], checked_dt(dt, tables)
    roles = find_roles(
        first,
        states=as_list(states, "states"),
        time=time,
        trajectory=trajectory,
        dt=dt,
        notes=notes,
    )
    if roles.time is None and clock.unit is not None:
        raise DataError(f"unit={unit!r} has no times to convert; dt is used as it is.")
    raw = raw_trajectories(tables, roles, clock, dt, as_list(missing, "missing") or (), notes)
    raw, kept = drop_constant(raw, roles.states, roles.chosen, notes)
    states_kept = [roles.states[k] for k in kept]
    coordinates, logged = state_names(first, states_kept, names, as_list(log, "log") or (), notes)
    note_roles(roles, states_kept, notes)
    raw = without_gaps(ordered(raw, notes), gap, notes)
    raw = as_logarithms(raw, logged, coordinates)
    inspect(raw, coordinates, notes)
    data = _trajectories(raw, dt, coordinates)
    warn_of(notes, stacklevel=2)
    return Reading(data, tuple(notes))


def _trajectories(
    raw: Sequence[RawTrajectory], dt: float | None, names: Sequence[str]
) -> Trajectories:
    states = [trajectory.states for trajectory in raw]
    times = [trajectory.times for trajectory in raw if trajectory.times is not None]
    if times:
        return Trajectories(states, times=times, names=names)
    return Trajectories(states, dt, names=names)
