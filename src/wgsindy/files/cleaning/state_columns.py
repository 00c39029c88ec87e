"""Columns of raw trajectories: constant ones are left out, some are replaced by logarithms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.cleaning.raw_trajectories import RawTrajectory
from wgsindy.files.notes import Note, listed


def drop_constant(
    raw: Sequence[RawTrajectory], names: Sequence[str], chosen: bool, notes: list[Note]
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
    notes.append(Note("constant", len(still), sentence))
    left = [RawTrajectory(one.label, one.times, one.states[:, kept]) for one in raw]
    return left, tuple(int(k) for k in kept)


def as_logarithms(
    raw: Sequence[RawTrajectory], logged: Sequence[int], names: Sequence[str]
) -> list[RawTrajectory]:
    """Replace some states by their logarithms.

    Raises
    ------
    DataError
        If such a state is zero or negative somewhere.
    """
    if not logged:
        return list(raw)
    found = []
    for trajectory in raw:
        states = trajectory.states.copy()
        for p in logged:
            bad = np.flatnonzero(states[:, p] <= 0)
            if len(bad):
                raise DataError(
                    f"{names[p]} of a state that is not positive: {trajectory.label} has "
                    f"{states[bad[0], p]:g} at row {bad[0]} ({len(bad)} such rows). Leave the "
                    "logarithm out, or mark these values as missing."
                )
            states[:, p] = np.log(states[:, p])
        found.append(RawTrajectory(trajectory.label, trajectory.times, states))
    return found
