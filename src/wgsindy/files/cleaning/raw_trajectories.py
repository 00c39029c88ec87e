"""Rows of a table -> one track a trajectory id, still with missing values and in file order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wgsindy.data.arrays import FloatArray, IntArray
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.columns.roles import Roles
from wgsindy.files.columns.times import Clock, check_dt, times_of
from wgsindy.files.notes import Note, counted
from wgsindy.files.table import Column, Table


@dataclass(frozen=True)
class RawTrajectory:
    """States ``(n, d)`` and times ``(n,)`` of one trajectory; no times means a fixed step."""

    label: str
    times: FloatArray | None
    states: FloatArray

    def at(self, rows: IntArray | slice) -> RawTrajectory:
        """Return some rows, in the order given."""
        times = None if self.times is None else self.times[rows]
        return RawTrajectory(self.label, times, self.states[rows])


def raw_trajectories(
    tables: Sequence[Table],
    roles: Roles,
    clock: Clock,
    dt: float | None,
    missing: Sequence[float],
    notes: list[Note],
) -> list[RawTrajectory]:
    """Return the tracks of all tables; ids of different tables are different trajectories.

    Raises
    ------
    DataError
        If a table lacks a column that another one has, or a column cannot be read.
    """
    tracks: list[RawTrajectory] = []
    how = None
    lost_times = lost_ids = 0
    for table in tables:
        for name in (*roles.states, roles.time, roles.trajectory):
            if name is not None:
                table.resolve(name)
        states = np.stack([table.numbers(name) for name in roles.states], axis=1)
        for number in missing:
            states[states == number] = np.nan
        times = None
        if roles.time is not None:
            found = times_of(table, roles.time, clock)
            times, how = found.values, found.how
            lost_times += found.unread
        groups, without = _groups(table, roles.trajectory)
        lost_ids += without
        whole = RawTrajectory(table.label, times, states)
        tracks += [_track(whole, label, rows, roles.time, dt) for label, rows in groups]
    if not tracks:
        raise NotEnoughDataError("no row of the data belongs to a trajectory.")
    if how is not None:
        notes.append(Note("choice", 1, f"time: {how}."))
    _note_unread(tables, roles, lost_times, lost_ids, notes)
    return tracks


def _track(
    table: RawTrajectory, label: str, rows: IntArray, time: str | None, dt: float | None
) -> RawTrajectory:
    piece = table.at(rows)
    times = piece.times
    if times is not None and time is not None and dt is not None:
        times = check_dt(times, time, dt, label)
    return RawTrajectory(label, times, piece.states)


def _groups(table: Table, trajectory: str | None) -> tuple[list[tuple[str, IntArray]], int]:
    """Return label and rows of each id, in order of appearance, and how many rows have none."""
    if trajectory is None:
        return [(table.label, np.arange(table.n_rows))], 0
    column: Column = table.columns[trajectory]
    ids = [None if i is None or i != i else i for i in column.tolist()]
    number = {key: k for k, key in enumerate(dict.fromkeys(i for i in ids if i is not None))}
    owner = np.array([-1 if i is None else number[i] for i in ids], dtype=np.int64)
    order = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[order], np.arange(len(number) + 1))
    groups = [
        (f"{table.label}, {trajectory} {key}", order[bounds[k] : bounds[k + 1]])
        for key, k in number.items()
    ]
    return groups, int(np.count_nonzero(owner < 0))


def _note_unread(
    tables: Sequence[Table], roles: Roles, lost_times: int, lost_ids: int, notes: list[Note]
) -> None:
    used = (*roles.states, *([roles.time] if roles.time else []))
    unread = [t.unread[name] for t in tables for name in used if name in t.unread]
    fields = sum(u.count for u in unread) + lost_times
    if fields:
        such = f", such as {unread[0].example!r}," if unread else ""
        notes.append(
            Note(
                "unreadable",
                fields,
                f"{counted(fields, 'field')}{such} no number or time: counted as missing.",
            )
        )
    ragged = sum(table.ragged_rows for table in tables)
    if ragged:
        notes.append(
            Note(
                "unreadable",
                ragged,
                f"{counted(ragged, 'row')} with too few or too many fields (half written?): "
                "counted as missing.",
            )
        )
    if lost_ids:
        notes.append(
            Note("unreadable", lost_ids, f"{counted(lost_ids, 'row')} without an id: left out.")
        )
    odd = sum(table.encoding != "utf-8" for table in tables)
    if odd:
        notes.append(
            Note(
                "encoding",
                odd,
                f"{counted(odd, 'file')} not in UTF-8, read as Latin-1: numbers are safe, names of "
                "columns may be misread.",
            )
        )


def require_columns(tables: Sequence[Table]) -> None:
    """Refuse tables that hold nothing."""
    for table in tables:
        if not table.columns or table.n_rows == 0:
            raise NotEnoughDataError(f"{table.label} is empty: it holds {table.size()}.")
        if len({len(column) for column in table.columns.values()}) > 1:
            raise DataError(f"the columns of {table.label} differ in length.")
