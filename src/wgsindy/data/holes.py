"""What was not measured: samples that are left out, and values that have stand-ins.

A hole is a range of places ``first`` to ``last`` (not included). Nothing is filled in: that would
invent dynamics. Over a short hole the step is longer; at a long one the trajectory is cut.

A sample of which some values are there is kept. Of the others, and of velocities that nobody
measures, stand-ins say where they roughly are, for whoever must look somewhere. Nothing is learned
from them: a filter passes over them, and what it says takes their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray
from wgsindy.errors import NotEnoughDataError

LONGEST_HOLE = 10  # samples; a longer step tells little that its two ends do not tell alone
# Noise of positions may make up this share of the variance of differences that stand for
# velocities; where it makes up more, differences over more steps do.
MOST_NOISE = 0.1
WIDEST = 16  # steps to either side
BRIDGED = f"left out (over up to {LONGEST_HOLE} the step is longer, at more the trajectory is cut)"


class Runs(NamedTuple):
    """Neighbouring places that are left, run after run; several may belong to a trajectory."""

    first: IntArray  # (K,)
    last: IntArray  # (K,) not included
    owner: IntArray  # (K,) trajectory before
    trajectory: IntArray  # (K,) trajectory now

    @property
    def lengths(self) -> IntArray:
        """Samples of each trajectory, ``(R,)``."""
        return np.bincount(self.trajectory, self.last - self.first).astype(np.int64)


def left_over(holes: IntArray, edges: IntArray, owner: IntArray) -> Runs:
    """Return what ``holes (H, 2)``, ascending, leave of runs between ``edges (K + 1,)``.

    ``owner (K,)`` is the trajectory of each run. Trajectories of one sample are left out.

    Raises
    ------
    NotEnoughDataError
        If nothing else is left.
    """
    cuts = np.unique(np.concatenate([edges, holes.ravel()]))
    begun, ended = (np.searchsorted(holes[:, side], cuts[:-1], "right") for side in (0, 1))
    first, last = cuts[:-1][begun == ended], cuts[1:][begun == ended]
    owner = owner[np.searchsorted(edges, first, "right") - 1]
    far = first[1:] - last[:-1] > LONGEST_HOLE
    piece = np.concatenate([[0], np.cumsum(far | (owner[1:] != owner[:-1]))])[: len(first)]
    long = np.bincount(piece, weights=last - first) > 1
    if not long.any():
        raise NotEnoughDataError(
            f"of {edges[-1]} samples, no two near each other are left when those without all "
            "values are left out; choose fewer coordinates."
        )
    kept = long[piece]
    return Runs(first[kept], last[kept], owner[kept], (np.cumsum(long) - 1)[piece[kept]])


def holes_of(missing: BoolArray) -> IntArray:
    """Return where neighbouring places are ``missing (n,)``, as ranges ``(H, 2)``.

    >>> holes_of(np.array([False, True, True, False, True])).tolist()
    [[1, 3], [4, 5]]
    """
    return np.flatnonzero(np.diff(missing, prepend=False, append=False)).reshape(-1, 2)


def ranges(first: IntArray, last: IntArray) -> IntArray:
    """Return the whole numbers of all ranges, one range after the other, ``(n,)``."""
    length = last - first
    return np.arange(int(length.sum())) + np.repeat(first - np.cumsum(length) + length, length)


def complete(states: FloatArray) -> BoolArray | None:
    """Whether each of ``states (n, d)`` is finite, ``(n,)``; None if all are."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(states.sum()):  # much cheaper than to look at each number
            return None
    found: BoolArray = np.asarray(np.isfinite(states).all(axis=1))
    return None if found.all() else found


def missing_sentence(rows: int, trajectories: int) -> str:
    """Say what became of rows that lack a value."""
    return (
        f"rows with a missing or infinite value: {rows}, {BRIDGED}; trajectories in all: "
        f"{trajectories}."
    )


def partly_missing_sentence(seen: BoolArray, names: Sequence[str]) -> str:
    """Say what became of rows of which ``seen (n, d)`` some values are there."""
    missing = np.count_nonzero(~seen, axis=0).tolist()
    listed = ", ".join(f"{name}: {count}" for name, count in zip(names, missing, strict=True))
    return (
        f"values missing in rows that have others ({listed}): the rows are kept, as samples that "
        "say nothing of these."
    )


def stand_ins(
    states: FloatArray, seen: BoolArray, times: FloatArray, offsets: IntArray
) -> FloatArray:
    """Fill ``states (n, d)`` where they are not ``seen``: on the line between their neighbours.

    ``times (n,)`` are those within trajectories, which begin at ``offsets (R + 1,)``. A trajectory
    without any value of a coordinate has the mean over all others.
    """
    filled = states.copy()
    means = [states[there, p].mean() for p, there in enumerate(seen.T)]
    for first, last in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        rows = slice(first, last)
        for p in np.flatnonzero(~seen[rows].all(axis=0)).tolist():
            there = seen[rows, p]
            filled[rows, p] = (
                np.interp(times[rows], times[rows][there], states[rows, p][there])
                if there.any()
                else means[p]
            )
    return filled


def velocity_name(name: str) -> str:
    """What the velocity of a position is called."""
    return f"v_{name}"


def velocities(states: FloatArray, times: FloatArray, offsets: IntArray) -> FloatArray:
    """Differences of positions over time, ``(n, d)``: over more steps where there is noise."""
    found = _differences(states, times, offsets, 1)
    noise = third_differences(states, offsets) / 20
    width = 1
    while width < WIDEST:
        dt = np.median(np.diff(times)[np.diff(times) > 0])
        if (noise / (2 * (width * dt) ** 2) <= MOST_NOISE * found.var(axis=0)).all():
            break
        width *= 2
        found = _differences(states, times, offsets, width)
    return found


def _differences(
    states: FloatArray, times: FloatArray, offsets: IntArray, width: int
) -> FloatArray:
    """Over ``width`` steps to either side, or as many as there are in the trajectory."""
    lengths = np.diff(offsets)
    low, high = np.repeat(offsets[:-1], lengths), np.repeat(offsets[1:] - 1, lengths)
    place = np.arange(len(states))
    before, after = np.maximum(place - width, low), np.minimum(place + width, high)
    return (states[after] - states[before]) / (times[after] - times[before])[:, None]


def third_differences(states: FloatArray, offsets: IntArray, lag: int = 1) -> FloatArray:
    """Mean squares ``(d,)`` of third differences of samples that are ``lag`` steps apart.

    Noise of positions makes them 20 times its variance, whatever the lag.
    """
    reach = 3 * lag
    inside = np.ones(len(states), dtype=bool)
    inside[np.maximum(offsets[1:, None] - np.arange(1, reach + 1), 0).ravel()] = False
    if not inside[:-reach].any():
        return np.zeros(states.shape[1])
    last = len(states) - reach
    ahead = [states[lag * k : last + lag * k] for k in range(4)]
    third = ahead[3] - ahead[0] - 3 * (ahead[2] - ahead[1])
    return np.asarray(np.mean(third[inside[:-reach]] ** 2, axis=0))
