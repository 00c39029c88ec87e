"""Raw trajectories -> trajectories without long holes: split there, and at gaps in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wgsindy.data import BRIDGED, LONGEST_HOLE, BoolArray, FloatArray, number
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.cleaning.raw_trajectories import RawTrajectory
from wgsindy.files.notes import Note, add_note, counted

# A gap is 5 times the 95th percentile of the steps: 5 even steps; among steps of random samplers
# (exponential law) one in 3 million. Where more than 5 % of the steps are gaps the percentile is
# one of them, so it is taken to be at most what the exponential law makes of the median.
GAP_FACTOR = 5.0
USUAL_SHARE = 0.95
MOST_OVER_MEDIAN = float(np.log(1 - USUAL_SHARE) / np.log(0.5))


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
    raw: Sequence[RawTrajectory], gap: float | None, notes: list[Note]
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
    if gap is not None and not number(gap, "gap") > 0:
        raise DataError(f"gap must be > 0, got {gap}; pass the longest step that is no gap.")
    holes = _Holes()
    found = [whole for trajectory in raw for whole in _split(trajectory, gap, holes)]
    if not found:
        total = sum(len(trajectory.states) for trajectory in raw)
        raise NotEnoughDataError(
            f"no two samples follow each other without a long hole: of {counted(total, 'row')} "
            f"{holes.missing} have no value and there are {counted(holes.gaps, 'gap')}. Is this "
            "the right file, and are these the right columns?"
        )
    _note_holes(holes, len(found), notes)
    return found


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
    found = []
    for part in np.split(rows, np.flatnonzero(apart) + 1):
        if len(part) >= 2:
            found.append(trajectory.at(slice(part[0], part[-1] + 1)))
        else:
            holes.alone += len(part)
    return found


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


def _note_holes(holes: _Holes, trajectories: int, notes: list[Note]) -> None:
    there_are = f"{counted(trajectories, 'trajectory')} in all"
    add_note(
        notes,
        "missing",
        holes.missing,
        f"{counted(holes.missing, 'row')} without any state: {BRIDGED}; {there_are}.",
    )
    add_note(
        notes,
        "missing",
        holes.partly,
        f"{counted(holes.partly, 'row')} with a missing or infinite state among others: kept, as "
        "samples that say nothing of it.",
    )
    add_note(
        notes,
        "gap",
        holes.gaps,
        f"{counted(holes.gaps, 'gap')} in time ({holes.gap_time:.6g} in all): trajectories split "
        f"there; {there_are}. Pass gap, the longest step that is none, to change this.",
    )
    alone = counted(holes.alone, "sample")
    add_note(notes, "short", holes.alone, f"{alone} without a neighbour: left out.")
