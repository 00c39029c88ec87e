"""Rows in the order of time, each once: sort, restart, drop copies, refuse contradictions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.cleaning.raw_trajectories import RawTrajectory
from wgsindy.files.notes import Note, counted

# Shuffled rows run upwards for 2 rows on average; a recording that starts again, for many.
RUN_OF_A_RECORDING = 10


def ordered(tracks: Sequence[RawTrajectory], notes: list[Note]) -> list[RawTrajectory]:
    """Return tracks whose times increase strictly.

    Rows out of order and exact copies are mended and warned of: nothing is lost. Two different
    states at one time are an error: whichever were kept, its increments would be invented.

    Raises
    ------
    DataError
        If one trajectory has two states at one time.
    """
    result: list[RawTrajectory] = []
    timeless = moved = restarts = copies = 0
    for track in tracks:
        if track.times is None:
            result.append(track)
            continue
        there = np.isfinite(track.times)
        # A row without a time is dropped, not a split: the step around it stays correct.
        timeless += int(np.count_nonzero(~there))
        track = track.at(np.flatnonzero(there))
        blocks = _blocks(track)
        restarts += len(blocks) - 1
        for block in blocks:
            assert block.times is not None
            order = np.argsort(block.times, kind="stable")
            repeated = _repeats_before(block.at(order))
            copies += int(np.count_nonzero(repeated))
            kept = order[~repeated]
            # Counted without the copies: a row written twice is not also out of order.
            moved += int(np.count_nonzero(kept != np.sort(kept)))
            result.append(block.at(kept))
    unique = _without_copies(result)
    whole = len(result) - len(unique)
    _tell(notes, timeless, restarts, moved, copies, whole)
    if not any(len(track.states) for track in unique):
        raise NotEnoughDataError("no row of the data has a time that can be read.")
    return unique


def _blocks(track: RawTrajectory) -> list[RawTrajectory]:
    """Split a track where time starts again; a track that is merely out of order stays whole."""
    assert track.times is not None
    back = np.flatnonzero(np.diff(track.times) < 0) + 1
    bounds = [0, *back.tolist(), len(track.times)]
    if len(back) == 0 or min(b - a for a, b in pairwise(bounds)) < RUN_OF_A_RECORDING:
        return [track]
    runs = [slice(a, b) for a, b in pairwise(bounds)]
    spans = [(track.times[r][0], track.times[r][-1]) for r in runs]
    for before, after in pairwise(spans):
        overlap = min(before[1], after[1]) - max(before[0], after[0])
        # Late rows overlap a little, parts of a file in the wrong order not at all.
        if overlap < 0.5 * min(before[1] - before[0], after[1] - after[0]):
            return [track]
    return [
        RawTrajectory(f"{track.label}, part {k + 1}", track.times[r], track.states[r])
        for k, r in enumerate(runs)
    ]


def _repeats_before(track: RawTrajectory) -> BoolArray:
    """Whether each row is an exact copy of the one before it, ``(n,)``."""
    assert track.times is not None
    repeated = np.zeros(len(track.times), dtype=bool)
    same_time = np.diff(track.times) == 0
    if not same_time.any():
        return repeated
    earlier, later = track.states[:-1], track.states[1:]
    same = ((earlier == later) | (np.isnan(earlier) & np.isnan(later))).all(axis=1)
    clash = np.flatnonzero(same_time & ~same)
    if len(clash):
        raise DataError(
            f"{track.label} has two different states at one time, {counted(len(clash), 'time')} in "
            f"all (first at {track.times[clash[0]]:.6g} after the start). If the rows belong to "
            "several trajectories, name the column that tells them apart with trajectory; if times "
            "are rounded or a clock was set back, write them with more digits or in UTC."
        )
    repeated[1:] = same_time
    return repeated


def _without_copies(tracks: Sequence[RawTrajectory]) -> list[RawTrajectory]:
    """Leave out trajectories that equal an earlier one in every state and step.

    Counted twice, they would make every error bar too small; noise never repeats itself.
    """
    seen: set[tuple[bytes, bytes]] = set()
    unique = []
    for track in tracks:
        steps: FloatArray = np.empty(0) if track.times is None else np.diff(track.times)
        key = (track.states.tobytes(), steps.tobytes())
        if len(track.states) < 2 or key not in seen:
            unique.append(track)
        seen.add(key)
    return unique


def _tell(
    notes: list[Note], timeless: int, restarts: int, moved: int, copies: int, whole: int
) -> None:
    if timeless:
        notes.append(
            Note("missing", timeless, f"{counted(timeless, 'row')} without a time: left out.")
        )
    if restarts:
        notes.append(
            Note(
                "restart",
                restarts,
                f"time starts again {counted(restarts, 'time')} within a trajectory; a new "
                "trajectory begins each time.",
            )
        )
    if moved:
        notes.append(
            Note("unsorted", moved, f"{counted(moved, 'row')} out of order: sorted by time.")
        )
    if copies:
        notes.append(
            Note(
                "duplicate",
                copies,
                f"{counted(copies, 'row')} with the time and states of another row: left out.",
            )
        )
    if whole:
        notes.append(
            Note(
                "duplicate",
                whole,
                f"copies of whole trajectories, equal in every number: {whole} left out.",
            )
        )
