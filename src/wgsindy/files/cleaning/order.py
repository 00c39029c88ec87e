"""Rows in the order of time, each once: sort, restart, drop copies, refuse contradictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from wgsindy.data import BoolArray, FloatArray
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.cleaning.raw_trajectories import RawTrajectory
from wgsindy.files.notes import Note, add_note, counted

# Times of shuffled rows increase for 2 rows on average; of an experiment done again, for many.
FEWEST_ROWS_BETWEEN_RESTARTS = 10


@dataclass
class _Disorder:
    """What is found on the way through all trajectories, in rows."""

    without_time: int = 0
    restarts: int = 0  # times that time starts again
    moved: int = 0
    copies: int = 0


def ordered(raw: Sequence[RawTrajectory], notes: list[Note]) -> list[RawTrajectory]:
    """Return trajectories whose times increase strictly.

    Rows out of order and exact copies are handled and warned of: nothing is lost. Two different
    states at one time are an error: whichever were kept, its increments would be invented.

    Raises
    ------
    DataError
        If one trajectory has two states at one time.
    """
    disorder = _Disorder()
    found = [one for trajectory in raw for one in _sorted(trajectory, disorder)]
    unique = _without_copies(found)
    _note_disorder(disorder, len(found) - len(unique), notes)
    if not any(len(trajectory.states) for trajectory in unique):
        raise NotEnoughDataError("no row of the data has a time that can be read.")
    return unique


def _sorted(trajectory: RawTrajectory, disorder: _Disorder) -> list[RawTrajectory]:
    """Return a trajectory in order: several where time starts again."""
    if trajectory.times is None or _is_increasing(trajectory.times):
        return [trajectory]
    timed = np.isfinite(trajectory.times)
    # A row without a time is dropped, not a split: the step around it stays correct.
    disorder.without_time += int(np.count_nonzero(~timed))
    found = []
    restarted = _split_at_restarts(trajectory.at(np.flatnonzero(timed)))
    disorder.restarts += len(restarted) - 1
    for one in restarted:
        assert one.times is not None
        order = np.argsort(one.times, kind="stable")
        repeated = _repeats_before(one.at(order))
        disorder.copies += int(np.count_nonzero(repeated))
        kept = order[~repeated]
        # Counted without the copies: a row written twice is not also out of order.
        disorder.moved += int(np.count_nonzero(kept != np.sort(kept)))
        found.append(one.at(kept))
    return found


def _is_increasing(times: FloatArray) -> bool:
    """Whether all times are finite and increase strictly."""
    # A step to or from NaN is NaN, which is not above 0.
    ends = len(times) > 0 and np.isfinite(times[0]) and np.isfinite(times[-1])
    return bool(ends and (times[1:] > times[:-1]).all())


def _split_at_restarts(trajectory: RawTrajectory) -> list[RawTrajectory]:
    """Split where time starts again; a trajectory that is merely out of order stays whole."""
    assert trajectory.times is not None
    back = np.flatnonzero(np.diff(trajectory.times) < 0) + 1
    bounds = [0, *back.tolist(), len(trajectory.times)]
    fewest = min(last - first for first, last in pairwise(bounds))
    if len(back) == 0 or fewest < FEWEST_ROWS_BETWEEN_RESTARTS:
        return [trajectory]
    rows = [slice(first, last) for first, last in pairwise(bounds)]
    spans = [(trajectory.times[some][0], trajectory.times[some][-1]) for some in rows]
    for before, after in pairwise(spans):
        overlap = min(before[1], after[1]) - max(before[0], after[0])
        # Late rows overlap a little, files joined in the wrong order not at all.
        if overlap < 0.5 * min(before[1] - before[0], after[1] - after[0]):
            return [trajectory]
    return [
        RawTrajectory(
            f"{trajectory.label}, after restart {k}" if k else trajectory.label,
            trajectory.times[some],
            trajectory.states[some],
        )
        for k, some in enumerate(rows)
    ]


def _repeats_before(trajectory: RawTrajectory) -> BoolArray:
    """Whether each row is an exact copy of the one before it, ``(n,)``."""
    assert trajectory.times is not None
    repeated = np.zeros(len(trajectory.times), dtype=bool)
    same_time = np.diff(trajectory.times) == 0
    if not same_time.any():
        return repeated
    earlier, later = trajectory.states[:-1], trajectory.states[1:]
    same = ((earlier == later) | (np.isnan(earlier) & np.isnan(later))).all(axis=1)
    clash = np.flatnonzero(same_time & ~same)
    if len(clash):
        raise DataError(
            f"{trajectory.label} has two different states at one time, "
            f"{counted(len(clash), 'time')} in all (first at {trajectory.times[clash[0]]:.6g} "
            "after the start). If the rows belong to several trajectories, name the column that "
            "tells them apart with trajectory; if times are rounded or a clock was set back, write "
            "them with more digits or in UTC."
        )
    repeated[1:] = same_time
    return repeated


def _without_copies(raw: Sequence[RawTrajectory]) -> list[RawTrajectory]:
    """Leave out trajectories that equal an earlier one in every state and step.

    Counted twice, they would make every error bar too small; noise never repeats itself.
    """
    seen: set[tuple[bytes, bytes]] = set()
    unique = []
    for trajectory in raw:
        times = trajectory.times
        steps: FloatArray = np.empty(0) if times is None else np.diff(times)
        key = (trajectory.states.tobytes(), steps.tobytes())
        if len(trajectory.states) < 2 or key not in seen:
            unique.append(trajectory)
        seen.add(key)
    return unique


def _note_disorder(found: _Disorder, whole_copies: int, notes: list[Note]) -> None:
    timeless, restarts, moved, copies = (
        counted(found.without_time, "row"),
        counted(found.restarts, "time"),
        counted(found.moved, "row"),
        counted(found.copies, "row"),
    )
    add_note(notes, "missing", found.without_time, f"{timeless} without a time: left out.")
    add_note(
        notes,
        "restart",
        found.restarts,
        f"time starts again {restarts} within a trajectory; a new trajectory begins each time.",
    )
    add_note(notes, "unsorted", found.moved, f"{moved} out of order: sorted by time.")
    add_note(
        notes,
        "duplicate",
        found.copies,
        f"{copies} with the time and states of another row: left out.",
    )
    add_note(
        notes,
        "duplicate",
        whole_copies,
        f"copies of whole trajectories, equal in every number: {whole_copies} left out.",
    )
