"""``read``: any table or array, from a file or from memory, to :class:`Trajectories`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wgsindy.data.trajectories import Trajectories
from wgsindy.errors import DataError
from wgsindy.files.cleaning.gaps import pieces_of
from wgsindy.files.cleaning.order import ordered
from wgsindy.files.cleaning.raw_trajectories import RawTrajectory, raw_trajectories, require_columns
from wgsindy.files.cleaning.suspicious import as_logarithms, drop_constant, inspect
from wgsindy.files.columns.long_tables import widened
from wgsindy.files.columns.naming import state_names
from wgsindy.files.columns.roles import Roles, find_roles
from wgsindy.files.columns.times import Clock, with_joined_date
from wgsindy.files.columns.units import checked_unit
from wgsindy.files.formats.detect import tables_of
from wgsindy.files.notes import Note, listed, warn_of
from wgsindy.files.table import Table


@dataclass(frozen=True)
class Reading:
    """Trajectories, and what was found and done on the way to them."""

    data: Trajectories
    notes: tuple[Note, ...]


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
) -> Reading:
    """Read sample paths from a file, several files, a data frame or arrays.

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
    gap : longest step in time that is no gap, by default 5 times the usual one; see ``pieces``

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
    dt = checked_dt(dt, tables)
    wanted = as_list(states, "states")
    roles = find_roles(
        tables[0], states=wanted, time=time, trajectory=trajectory, dt=dt, notes=notes
    )
    if roles.time is None and clock.unit is not None:
        raise DataError(f"unit={unit!r} has no times to convert; dt is used as it is.")
    tracks = raw_trajectories(tables, roles, clock, dt, as_list(missing, "missing") or (), notes)
    tracks, kept = drop_constant(tracks, roles.states, roles.chosen, notes)
    states_kept = [roles.states[k] for k in kept]
    coordinates, logged = state_names(
        tables[0], states_kept, names, as_list(log, "log") or (), notes
    )
    tell_roles(roles, states_kept, notes)
    pieces = pieces_of(ordered(tracks, notes), gap, notes)
    pieces = as_logarithms(pieces, logged, coordinates)
    inspect(pieces, coordinates, notes)
    data = _trajectories(pieces, dt, coordinates)
    warn_of(notes, stacklevel=2)
    return Reading(data, tuple(notes))


def _trajectories(
    pieces: Sequence[RawTrajectory], dt: float | None, names: Sequence[str]
) -> Trajectories:
    paths = [piece.states for piece in pieces]
    times = [piece.times for piece in pieces if piece.times is not None]
    if times:
        return Trajectories(paths, times=times, names=names)
    return Trajectories(paths, dt, names=names)


def checked_dt(dt: float | None, tables: Sequence[Table]) -> float | None:
    """Return the sampling interval: the one given, or the one beside the states."""
    if dt is None:
        beside = {table.dt for table in tables}
        if len(beside) > 1:
            raise DataError(f"the files have different dt ({sorted(map(str, beside))}); pass dt.")
        dt = beside.pop() if beside else None
    if dt is None:
        return None
    try:
        number = float(dt)
    except (TypeError, ValueError):
        raise DataError(f"dt must be a number, got {dt!r}.") from None
    if not (np.isfinite(number) and number > 0):
        raise DataError(f"dt must be > 0, got {dt}; pass the sampling interval.")
    return number


def as_list(columns: Any, argument: str) -> Sequence[Any] | None:
    """Return several columns, or one, as a list."""
    if isinstance(columns, (str, int, float)):
        return [columns]  # a single name is a list of one, not of its letters
    if columns is None:
        return None
    try:
        return list(columns)
    except TypeError:
        raise DataError(f"{argument} must be a list, got {columns!r}.") from None


def tell_roles(roles: Roles, states: Sequence[str], notes: list[Note]) -> None:
    """Note what the columns were taken for."""
    time = f"time {roles.time!r}" if roles.time else "no time column"
    ids = f", trajectories by {roles.trajectory!r}" if roles.trajectory else ""
    notes.append(Note("choice", len(states), f"states {listed(states)}; {time}{ids}."))
