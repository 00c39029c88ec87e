"""Tracks -> pieces without holes: split at missing rows and at gaps in time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.cleaning.tracks import Track
from wgsindy.files.notes import Note, counted

# A gap is 5 times the 95th percentile of the steps: 5 even steps; among steps of random samplers
# (exponential law) one in 3 million. Where more than 5 % of the steps are gaps the percentile is
# one of them, so it is taken to be at most what the exponential law makes of the median.
GAP_FACTOR = 5.0
USUAL_SHARE = 0.95
MOST_OVER_MEDIAN = float(np.log(1 - USUAL_SHARE) / np.log(0.5))


def longest_usual_step(steps: FloatArray) -> float:
    """Return the step above which a step is a gap."""
    usual = min(np.quantile(steps, USUAL_SHARE), MOST_OVER_MEDIAN * np.median(steps))
    return GAP_FACTOR * float(usual)


def pieces_of(tracks: Sequence[Track], gap: float | None, notes: list[Note]) -> list[Track]:
    """Split tracks where a state is missing or a step is longer than ``gap``.

    Both are warned of, not refused: the increment over a hole is the one thing that is lost, and
    to fill it in would invent dynamics.

    Raises
    ------
    NotEnoughDataError
        If no piece has two samples.
    """
    if gap is not None and not gap > 0:
        raise DataError(f"gap must be > 0, got {gap}; pass the longest step that is no gap.")
    pieces: list[Track] = []
    missing = gaps = alone = 0
    lost = 0.0
    for track in tracks:
        there: BoolArray = np.asarray(np.isfinite(track.states).all(axis=1))
        missing += int(np.count_nonzero(~there))
        wide = _gaps(track, gap)
        gaps += int(np.count_nonzero(wide))
        if track.times is not None:
            lost += float(np.diff(track.times)[wide].sum())
        cut = np.flatnonzero(~there[1:] | ~there[:-1] | wide) + 1
        for rows in np.split(np.arange(len(there)), cut):
            if len(rows) >= 2:
                pieces.append(track.at(rows))
            else:
                alone += int(np.count_nonzero(there[rows]))
    total = sum(len(track.states) for track in tracks)
    if not pieces:
        raise NotEnoughDataError(
            f"no two samples follow each other without a hole: of {counted(total, 'row')} "
            f"{missing} lack a value and there are {counted(gaps, 'gap')}. Choose fewer "
            "states, or put columns measured at different times into files of their own."
        )
    _tell(notes, len(pieces), missing, gaps, lost, alone)
    return pieces


def _gaps(track: Track, gap: float | None) -> BoolArray:
    if track.times is None or len(track.times) < 2:
        return np.zeros(max(len(track.states) - 1, 0), dtype=bool)
    steps = np.diff(track.times)
    if gap is None and steps.max() < 0.9 * GAP_FACTOR * steps.min():
        return np.zeros(len(steps), dtype=bool)  # no percentile is needed to see that
    return steps > (longest_usual_step(steps) if gap is None else gap)


def _tell(notes: list[Note], pieces: int, missing: int, gaps: int, lost: float, alone: int) -> None:
    there_are = f"{counted(pieces, 'piece')} in all"
    if missing:
        notes.append(
            Note(
                "missing",
                missing,
                f"{counted(missing, 'row')} with a missing or infinite state: left out, and "
                f"trajectories split there; {there_are}.",
            )
        )
    if gaps:
        notes.append(
            Note(
                "gap",
                gaps,
                f"{counted(gaps, 'gap')} in time ({lost:.6g} in all): trajectories split there; "
                f"{there_are}. Pass gap, the longest step that is none, to change this.",
            )
        )
    if alone:
        notes.append(
            Note(
                "short",
                alone,
                f"{counted(alone, 'sample')} without a neighbour: left out.",
            )
        )
