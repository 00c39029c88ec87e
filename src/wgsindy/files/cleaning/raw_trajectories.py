"""Rows of tables -> one raw trajectory per id, still with missing values and in file order.

Exports of one instrument whose rows overlap are joined first, so that no row is counted twice.
Columns that never change are dropped here, and states are replaced by logarithms if asked for.
Angles that jump by a turn are found by their jumps, or named, and made continuous, in radians.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from wgsindy.data import FloatArray, IntArray, Trajectories, real_numbers
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.columns.times import Times, check_dt, times_of_all
from wgsindy.files.notes import Notes, counted, listed
from wgsindy.files.options import ReadingOptions, as_list
from wgsindy.files.table import Column, Roles, Table

# Noise never repeats itself: rows that are equal in time and all states are one measurement.
FEWEST_SHARED = 3  # rows: of rounded numbers one may be there twice by chance
MOST_TABLES = 100  # beyond, files are runs, not exports


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
    tables: Sequence[Table], roles: Roles, asked: ReadingOptions, notes: Notes
) -> tuple[list[RawTrajectory], str]:
    """Return the trajectories of all tables, and the unit of time as far as it is known.

    Ids of different tables are different ones.

    Raises
    ------
    DataError
        If a table lacks a column that another one has, or a column cannot be read.
    """
    raw: list[RawTrajectory] = []
    lost_ids = 0
    stand_ins = real_numbers(as_list(asked.missing, "missing"), "missing").tolist()
    for table in tables:
        for name in roles.columns:
            table.resolve(name)
    clocks = _clocks(tables, roles, asked, notes)
    for number, table in enumerate(tables):
        times = clocks[number].values if clocks else None
        states = np.stack([table.numbers(name) for name in roles.states], axis=1)
        for stand_in in stand_ins:
            states[states == stand_in] = np.nan
        whole = RawTrajectory(table.label, times, states)
        of_table, without = _by_id(whole, table, roles.trajectory)
        lost_ids += without
        for one in of_table:
            if one.times is not None and roles.time is not None and asked.dt is not None:
                one = replace(one, times=check_dt(one.times, roles.time, asked.dt, one.label))
            raw.append(one)
    if not raw:
        raise NotEnoughDataError("no row of the data belongs to a trajectory.")
    if clocks:
        notes.add("choice", 1, f"time: {clocks[-1].how}.")
    _note_unread(tables, roles, sum(times.unread for times in clocks), lost_ids, notes)
    return raw, clocks[0].unit if clocks else asked.unit or asked.time_unit or ""


def _clocks(
    tables: Sequence[Table], roles: Roles, asked: ReadingOptions, notes: Notes
) -> list[Times]:
    """Return the times of each table; none if rows are counted, as ``dt`` lets us."""
    if roles.time is None:
        return []
    try:
        return times_of_all(tables, roles.time, asked)
    except DataError as error:
        if asked.dt is None:
            raise
        notes.add(
            "guess", 1, f"{error} Since dt={asked.dt:g} is given, rows are counted, in order."
        )
        return []


def _by_id(
    whole: RawTrajectory, table: Table, trajectory: str | None
) -> tuple[list[RawTrajectory], int]:
    """Split all rows by id, in order of appearance, and count the rows that have none."""
    if trajectory is None:
        return [whole], 0
    ids, owner = _numbered(table.columns[trajectory])
    together = whole
    if (owner[1:] < owner[:-1]).any():
        # Rows are brought together once: to pick them id by id takes ten times as long.
        order = np.argsort(owner, kind="stable")
        owner, together = owner[order], whole.at(order)
    bounds = np.searchsorted(owner, np.arange(len(ids) + 1))
    raw = [
        replace(together.at(slice(*rows)), label=f"{table.label}, {trajectory} {key}")
        for key, rows in zip(ids, pairwise(bounds.tolist()), strict=True)
    ]
    return raw, int(np.count_nonzero(owner < 0))


def _numbered(column: Column) -> tuple[list[Any], IntArray]:
    """Return the ids in order of appearance, and the number of each row's id, -1 for none."""
    if column.dtype.kind in "iu":  # none is missing, and NumPy is faster
        keys, firsts, which = np.unique(column, return_index=True, return_inverse=True)
        appearance = np.argsort(firsts)
        return keys[appearance].tolist(), np.argsort(appearance)[which]
    ids = [None if i is None or i != i else i for i in column.tolist()]
    number = {key: k for k, key in enumerate(dict.fromkeys(i for i in ids if i is not None))}
    return list(number), np.array([-1 if i is None else number[i] for i in ids], dtype=np.int64)


def _note_unread(
    tables: Sequence[Table], roles: Roles, lost_times: int, lost_ids: int, notes: Notes
) -> None:
    used = (*roles.states, *([roles.time] if roles.time else []))
    unread = [t.unread[name] for t in tables for name in used if name in t.unread]
    fields = sum(u.count for u in unread) + lost_times
    such = f", such as {unread[0].example!r}," if unread else ""
    notes.add(
        "unreadable",
        fields,
        f"{counted(fields, 'field')}{such} no number or time: counted as missing.",
    )
    ragged = sum(table.ragged_rows for table in tables)
    notes.add(
        "unreadable",
        ragged,
        f"{counted(ragged, 'row')} with too few or too many fields (half written?): counted as "
        "missing.",
    )
    notes.add("unreadable", lost_ids, f"{counted(lost_ids, 'row')} without an id: left out.")
    grouped = {n: t.thousands[n] for t in tables for n in used if n in t.thousands}
    for name, example in grouped.items():
        meant = example.replace(",", "")
        notes.add(
            "guess",
            1,
            f"the comma of column {name!r} groups thousands, since three digits follow each: "
            f"{example} is {meant}. If it is a decimal comma, write it as a point.",
        )
    odd = sum(table.encoding != "utf-8" for table in tables)
    notes.add(
        "encoding",
        odd,
        f"{counted(odd, 'file')} not in UTF-8, read as Latin-1: numbers are safe, names of columns "
        "may be misread.",
    )


def drop_constant(
    raw: Sequence[RawTrajectory], names: Sequence[str], chosen: bool, notes: Notes
) -> tuple[list[RawTrajectory], tuple[int, ...]]:
    """Leave out states that never change within a trajectory; return the rest and its columns.

    Raises
    ------
    DataError
        If the caller asked for such a state, or nothing else is left.
    NotEnoughDataError
        If no trajectory has two samples.
    """
    moves = np.zeros(len(names), dtype=bool)
    for trajectory in raw:
        if moves.all():
            break
        for p in np.flatnonzero(~moves):
            there = trajectory.states[np.isfinite(trajectory.states[:, p]), p]
            moves[p] = len(there) > 0 and bool((there != there[0]).any())
    if all(len(trajectory.states) < 2 for trajectory in raw):
        raise NotEnoughDataError("no trajectory has two rows; an increment needs two samples.")
    still = [name for name, move in zip(names, moves, strict=True) if not move]
    if not still:
        return list(raw), tuple(range(len(names)))
    if chosen or not moves.any():
        raise DataError(
            f"{listed(still)} never changes within a trajectory, so nothing can be learned about "
            "it; choose other states."
        )
    kept = np.flatnonzero(moves)
    sentence = f"{listed(still)} never changes within a trajectory and is not taken as a state."
    notes.add("constant", len(still), sentence)
    moving = [replace(one, states=one.states[:, kept]) for one in raw]
    return moving, tuple(int(k) for k in kept)


def as_logarithms(data: Trajectories, logged: Sequence[str], labels: Sequence[str]) -> Trajectories:
    """Replace some states by their logarithms; ``labels`` are what to call the trajectories.

    Raises
    ------
    DataError
        If such a state is zero or negative somewhere.
    """
    for name in logged:
        for label, path in zip(labels, data, strict=True):
            values = path[:, data.names.index(name)]
            bad = np.flatnonzero(values <= 0)
            if len(bad):
                raise DataError(
                    f"{name} of a state that is not positive: {label} has {values[bad[0]]:g} at "
                    f"row {bad[0]} ({len(bad)} such rows). Leave the logarithm out, or mark these "
                    "values as missing."
                )
        data = data.replaced(name, name, np.log)
    return data


def joined_exports(tables: Sequence[Table], roles: Roles, notes: Notes) -> list[Table]:
    """Join each table to an earlier one with which it shares rows, but not all of them.

    Rows that are there twice are left out where rows are put in order; two different states at one
    time are refused there.
    """
    if roles.time is None or roles.trajectory is not None or not 1 < len(tables) <= MOST_TABLES:
        return list(tables)
    joined: list[Table] = []
    rows: list[set[Hashable]] = []
    for table in tables:
        names = [name for name in (roles.time, *roles.states) if name in table.columns]
        table_rows: set[Hashable] = set(
            zip(*(table.columns[name].tolist() for name in names), strict=True)
        )
        common = [len(table_rows & other) for other in rows]
        # Whole copies are left out, with a sentence of their own, where rows are put in order.
        partner = next(
            (k for k, n in enumerate(common) if n >= FEWEST_SHARED and table_rows != rows[k]), None
        )
        if partner is None:
            joined.append(table)
            rows.append(table_rows)
            continue
        exports = (
            f"{table.label} and {joined[partner].label} share {common[partner]} rows: they are"
        )
        notes.add(
            "duplicate", common[partner], f"{exports} exports of one instrument and are joined."
        )
        joined[partner] = _joined(joined[partner], table)
        rows[partner] |= table_rows
    return joined


def _joined(first: Table, second: Table) -> Table:
    columns = {
        name: np.concatenate([column, second.columns[name]])
        for name, column in first.columns.items()
        if name in second.columns
    }
    return replace(
        first,
        label=f"{first.label} + {second.label}",
        columns=columns,
        ragged_rows=first.ragged_rows + second.ragged_rows,
    )


TURN_OF = {"rad": 2 * np.pi, "deg": 360.0}
IN_DEGREES = re.compile(r"°|deg|degrees?", re.IGNORECASE)
NAMED = re.compile(
    r".*(angle|theta|phi|psi|heading|orientation|azimuth|direction|phase|yaw|bearing).*",
    re.IGNORECASE,
)
FEWEST_JUMPS = 2  # by nearly a turn, among small steps: nothing else does that twice
SMALL_STEP, LARGE_STEP = (
    0.25,
    0.75,
)  # of a turn: all steps are shorter than the one or longer than the other
AT_THE_ENDS = 0.05  # of a turn: so close the values come to both
MOST_JUMPS = 0.2  # of all steps: an angle that turns faster cannot be followed


def unwrapped(
    raw: Sequence[RawTrajectory],
    names: Sequence[str],
    units: Sequence[str],
    asked: Sequence[str],
    notes: Notes,
) -> tuple[list[RawTrajectory], tuple[int, ...]]:
    """Return trajectories with continuous angles in radians, and which states are angles.

    A state is one if the caller says so, or if it stays within a turn and jumps by nearly one at
    least twice, all other steps being small. ``names`` and ``units`` are those of the states.

    Raises
    ------
    DataError
        If ``asked`` names no state.
    """
    for name in asked:
        if name not in names:
            raise DataError(f"angle={name!r} is not a state; the states are {listed(list(names))}.")
    angles: dict[int, str] = {}
    for p, name in enumerate(names):
        columns = [one.states[:, p] for one in raw]
        unit = _turning(columns, name)
        if unit is None and name in asked:
            unit = "deg" if _in_degrees(columns, units[p]) else "rad"
        if unit is not None:
            angles[p] = unit
            made = " in degrees, converted to radians," if unit == "deg" else ""
            sentence = (
                f"{name!r} is an angle{made} and made continuous where it jumps by a turn; its "
                "terms are sines and cosines."
            )
            notes.add("choice" if name in asked else "guess", 1, sentence)
    if not angles:
        return list(raw), ()
    return [replace(one, states=_continuous(one.states, angles)) for one in raw], tuple(angles)


def _turning(columns: Sequence[FloatArray], name: str) -> str | None:
    """Return the unit of a column that jumps by turns."""
    there = [column[np.isfinite(column)] for column in columns]
    values = np.concatenate(there) if there else np.empty(0)
    if len(values) < 3 or np.abs(values).max() > TURN_OF["deg"] * (1 + 1e-6):
        return None
    steps = np.abs(np.concatenate([np.diff(column) for column in there]))
    fewest = 1 if NAMED.fullmatch(name) else FEWEST_JUMPS
    for unit, turn in TURN_OF.items():
        near = AT_THE_ENDS * turn
        from_zero = min(abs(values.min()), abs(values.min() + turn / 2)) <= near
        within = abs(np.ptp(values) - turn) <= near and np.ptp(values) <= turn * (1 + 1e-6)
        jumps = np.count_nonzero(steps > LARGE_STEP * turn)
        between = np.count_nonzero((steps > SMALL_STEP * turn) & (steps < LARGE_STEP * turn))
        few = fewest <= jumps <= MOST_JUMPS * len(steps)
        if within and from_zero and few and not between:
            return unit
    return None


def _in_degrees(columns: Sequence[FloatArray], unit: str) -> bool:
    """Whether an angle is in degrees: its unit says so, or its range does."""
    if unit:
        return bool(IN_DEGREES.fullmatch(unit.strip()))
    values = np.concatenate([column[np.isfinite(column)] for column in columns])
    return bool(
        np.ptp(values) > 2 * TURN_OF["rad"] and np.ptp(values) <= TURN_OF["deg"] * (1 + 1e-6)
    )


def _continuous(states: FloatArray, angles: dict[int, str]) -> FloatArray:
    made = states.copy()
    for p, unit in angles.items():
        there = np.isfinite(made[:, p])
        made[there, p] = np.unwrap(made[there, p] * (TURN_OF["rad"] / TURN_OF[unit]))
    return made
