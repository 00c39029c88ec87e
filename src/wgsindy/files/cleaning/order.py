"""Rows in the order of time, each once, without long holes.

Rows are sorted, copies dropped, contradictions refused; trajectories are split where time starts
again, at gaps and at long holes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from wgsindy.data import BRIDGED, LONGEST_HOLE, BoolArray, FloatArray, real_number
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.cleaning.raw_trajectories import RawTrajectory
from wgsindy.files.notes import Notes, counted

# Times of shuffled rows increase for 2 rows on average; of an experiment done again, for many.
FEWEST_ROWS_BETWEEN_RESTARTS = 10
# A gap is 5 times the 95th percentile of the steps: 5 even steps; among steps of random samplers
# (exponential law) one in 3 million. Where more than 5 % of the steps are gaps the percentile is
# one of them, so it is taken to be at most what the exponential law makes of the median.
GAP_FACTOR = 5.0
USUAL_SHARE = 0.95
MOST_OVER_MEDIAN = float(np.log(1 - USUAL_SHARE) / np.log(0.5))


@dataclass
class _Disorder:
    """What is found on the way through all trajectories, in rows."""

    without_time: int = 0
    restarts: int = 0  # times that time starts again
    moved: int = 0
    copies: int = 0


def ordered(raw: Sequence[RawTrajectory], notes: Notes) -> list[RawTrajectory]:
    """Return trajectories whose times increase strictly.

    Rows out of order and exact copies are handled and warned of: nothing is lost. Two different
    states at one time are an error: whichever were kept, its increments would be invented.

    Raises
    ------
    DataError
        If one trajectory has two states at one time.
    """
    disorder = _Disorder()
    in_order = [one for trajectory in raw for one in _sorted(trajectory, disorder)]
    unique = _without_copies(in_order)
    _note_disorder(disorder, len(in_order) - len(unique), notes)
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
    in_order = []
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
        in_order.append(one.at(kept))
    return in_order


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
        replace(trajectory.at(some), label=f"{trajectory.label}, after restart {k}")
        if k
        else trajectory.at(some)
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
    keys: set[tuple[bytes, bytes]] = set()
    unique = []
    for trajectory in raw:
        times = trajectory.times
        steps: FloatArray = np.empty(0) if times is None else np.diff(times)
        key = (trajectory.states.tobytes(), steps.tobytes())
        if len(trajectory.states) < 2 or key not in keys:
            unique.append(trajectory)
        keys.add(key)
    return unique


def _note_disorder(disorder: _Disorder, whole_copies: int, notes: Notes) -> None:
    timeless, moved, copies = (
        counted(count, "row") for count in (disorder.without_time, disorder.moved, disorder.copies)
    )
    again = f"time starts again {counted(disorder.restarts, 'time')} within a trajectory; a new "
    whole = f"copies of whole trajectories, equal in every number: {whole_copies} left out."
    notes.add("missing", disorder.without_time, f"{timeless} without a time: left out.")
    notes.add("restart", disorder.restarts, f"{again}trajectory begins each time.")
    notes.add("unsorted", disorder.moved, f"{moved} out of order: sorted by time.")
    notes.add(
        "duplicate", disorder.copies, f"{copies} with the time and states of another row: left out."
    )
    notes.add("duplicate", whole_copies, whole)


@dataclass
class _Holes:
    """What is found on the way through all trajectories."""

    missing: int = 0  # rows without any state
    partly: int = 0  # rows that lack some states
    gaps: int = 0
    gap_time: float = 0.0  # sum of all gaps
    alone: int = 0  # samples between two holes


def longest_usual_step(steps: FloatArray) -> float:
    """Return the step above which a step is a gap."""
    usual = min(np.quantile(steps, USUAL_SHARE), MOST_OVER_MEDIAN * np.median(steps))
    return GAP_FACTOR * float(usual)


def without_gaps(
    raw: Sequence[RawTrajectory], gap: float | None, notes: Notes
) -> list[RawTrajectory]:
    """Split trajectories where many rows have no state or a step is longer than ``gap``.

    Both are warned of, not refused: to fill a hole in would invent dynamics. Few rows that have no
    state stay where they are, as NaN, and so does the time between their neighbours; so do all rows
    that have some states.

    Raises
    ------
    NotEnoughDataError
        If nowhere two samples follow each other.
    """
    if gap is not None and not real_number(gap, "gap") > 0:
        raise DataError(f"gap must be > 0, got {gap}; pass the longest step that is no gap.")
    holes = _Holes()
    pieces = [whole for trajectory in raw for whole in _split(trajectory, gap, holes)]
    if not pieces:
        total = sum(len(trajectory.states) for trajectory in raw)
        raise NotEnoughDataError(
            f"no two samples follow each other without a long hole: of {counted(total, 'row')} "
            f"{holes.missing} have no value and there are {counted(holes.gaps, 'gap')}. Is this "
            "the right file, and are these the right columns?"
        )
    _note_holes(holes, len(pieces), notes)
    return pieces


def _split(trajectory: RawTrajectory, gap: float | None, holes: _Holes) -> list[RawTrajectory]:
    finite = np.isfinite(trajectory.states)
    there: BoolArray = np.asarray(finite.any(axis=1))
    wide = _gaps(trajectory, gap)
    holes.partly += int(np.count_nonzero(there & ~finite.all(axis=1)))
    if there.all() and not wide.any() and len(there) >= 2:
        return [trajectory]
    holes.missing += int(np.count_nonzero(~there))
    holes.gaps += int(np.count_nonzero(wide))
    times = trajectory.times
    if times is not None:
        holes.gap_time += float(np.diff(times)[wide].sum())
    rows = np.flatnonzero(there)
    before = np.concatenate([[0], np.cumsum(wide)])  # gaps before each row
    apart = (np.diff(rows) > LONGEST_HOLE + 1) | (np.diff(before[rows]) > 0)
    if gap is not None and times is not None:
        apart |= np.diff(times[rows]) > gap
    pieces = []
    for part in np.split(rows, np.flatnonzero(apart) + 1):
        if len(part) >= 2:
            pieces.append(trajectory.at(slice(part[0], part[-1] + 1)))
        else:
            holes.alone += len(part)
    return pieces


def _gaps(trajectory: RawTrajectory, gap: float | None) -> BoolArray:
    """Whether each step is a gap, ``(n - 1,)``."""
    if trajectory.times is None or len(trajectory.times) < 2:
        return np.zeros(max(len(trajectory.states) - 1, 0), dtype=bool)
    steps = np.diff(trajectory.times)
    if gap is not None:
        return np.asarray(steps > gap)
    if steps.max() <= GAP_FACTOR * steps.min():  # spares the quantile of nearly all trajectories
        return np.zeros(len(steps), dtype=bool)
    return np.asarray(steps > longest_usual_step(steps))


def _note_holes(holes: _Holes, trajectories: int, notes: Notes) -> None:
    there_are = f"{counted(trajectories, 'trajectory')} in all"
    notes.add(
        "missing",
        holes.missing,
        f"{counted(holes.missing, 'row')} without any state: {BRIDGED}; {there_are}.",
    )
    notes.add(
        "missing",
        holes.partly,
        f"{counted(holes.partly, 'row')} with a missing or infinite state among others: kept, as "
        "samples that say nothing of it.",
    )
    notes.add(
        "gap",
        holes.gaps,
        f"{counted(holes.gaps, 'gap')} in time ({holes.gap_time:.6g} in all): trajectories split "
        f"there; {there_are}. Pass gap, the longest step that is none, to change this.",
    )
    alone = counted(holes.alone, "sample")
    notes.add("short", holes.alone, f"{alone} without a neighbour: left out.")
