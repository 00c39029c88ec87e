"""Angles that jump by a turn: found by their jumps, or named; made continuous, in radians."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.errors import DataError
from wgsindy.files.cleaning.raw_trajectories import RawTrajectory
from wgsindy.files.notes import Notes, listed

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
