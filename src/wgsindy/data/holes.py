"""What was not measured: samples that are left out, and values that have stand-ins.

A hole is a range of places ``first`` to ``last`` (not included). Nothing is filled in: that would
invent dynamics. Over a short hole the step is longer; at a long one the trajectory is cut.

A sample of which some values are there is kept. Of the others, and of velocities that nobody
measures, stand-ins say where they roughly are, for whoever must look somewhere. Nothing is learned
from them: a filter passes over them, and what it says takes their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray
from wgsindy.errors import NotEnoughDataError

LONGEST_HOLE = 10  # samples; a longer step tells little that its two ends do not tell alone
# Noise of positions may make up this share of the variance of differences that stand for
# velocities; where it makes up more, differences over more steps do.
MOST_NOISE = 0.1
WIDEST_DIFFERENCE = 16  # steps to either side
BRIDGED = f"left out (over up to {LONGEST_HOLE} the step is longer, at more the trajectory is cut)"


@dataclass(frozen=True)
class Runs:
    """Which samples of a store a dataset has: run after run, of samples at equal distances.

    A place counts samples from the first run on. Several runs may belong to a trajectory.
    """

    rows: IntArray  # (K,) of the store where each run begins
    counts: IntArray  # (K,) samples of each
    trajectory: IntArray  # (K,) of each, ascending from 0
    every: int = 1  # rows from one sample of a run to the next

    @cached_property
    def places(self) -> IntArray:
        """Place of the first sample of each run, and the end, ``(K + 1,)``."""
        return np.concatenate([[0], np.cumsum(self.counts)])

    @cached_property
    def lengths(self) -> IntArray:
        """Samples of each trajectory, ``(R,)``, read-only."""
        lengths = np.bincount(self.trajectory, self.counts).astype(np.int64)
        lengths.flags.writeable = False
        return lengths

    @cached_property
    def first_rows(self) -> IntArray:
        """Where each trajectory begins in the store, ``(R,)``."""
        return self.rows[np.flatnonzero(np.diff(self.trajectory, prepend=-1))]

    def all_rows(self) -> IntArray:
        """Where each sample is in the store, ``(n,)``."""
        within = np.arange(self.places[-1]) - np.repeat(self.places[:-1], self.counts)
        return np.repeat(self.rows, self.counts) + self.every * within

    def between(self, first: int, last: int) -> Runs:
        """Return the samples at the places ``first`` to ``last`` (not included)."""
        run, after = np.searchsorted(self.places, [first, last - 1], side="right") - [1, 0]
        places = np.clip(self.places[run : after + 1], first, last)
        rows = self.rows[run:after].copy()
        rows[0] += (first - self.places[run]) * self.every
        return Runs(rows, np.diff(places), self.trajectory[run:after], self.every)

    def subset(self, wanted: IntArray) -> Runs:
        """Return the runs of some trajectories, whose numbers ascend."""
        kept = np.isin(self.trajectory, wanted)
        number = np.searchsorted(wanted, self.trajectory[kept])
        return Runs(self.rows[kept], self.counts[kept], number, self.every)

    def thinned(self, every: int) -> Runs:
        """Keep the first sample of each trajectory and every ``every``-th after it.

        Trajectories too short for one such step are left out; none are joined.

        Raises
        ------
        NotEnoughDataError
            If no trajectory is long enough.
        """
        if self.lengths.max() <= every:
            raise NotEnoughDataError(
                f"every={every} leaves no step: the longest trajectory has {self.lengths.max()} "
                "samples."
            )
        starts = np.cumsum(self.lengths) - self.lengths
        # Samples of a run before the first one that is kept.
        skipped = -(self.places[:-1] - starts[self.trajectory]) % every
        counts = -(-(self.counts - skipped) // every)
        kept = (self.lengths > every)[self.trajectory] & (counts > 0)
        rows = (self.rows + skipped * self.every)[kept]
        number = np.unique(self.trajectory[kept], return_inverse=True)[1]
        return Runs(rows, counts[kept], number, self.every * every)

    def without(self, holes: IntArray) -> Runs:
        """Leave out the places in ``holes (H, 2)``, ascending, and trajectories of one sample.

        Raises
        ------
        NotEnoughDataError
            If nothing else is left.
        """
        cuts = np.unique(np.concatenate([self.places, holes.ravel()]))
        begun, ended = (np.searchsorted(holes[:, side], cuts[:-1], "right") for side in (0, 1))
        first, last = cuts[:-1][begun == ended], cuts[1:][begun == ended]
        run = np.searchsorted(self.places, first, "right") - 1
        far = first[1:] - last[:-1] > LONGEST_HOLE
        other = np.diff(self.trajectory[run]) != 0
        piece = np.concatenate([[0], np.cumsum(far | other)])[: len(first)]
        long = np.bincount(piece, weights=last - first) > 1
        if not long.any():
            raise NotEnoughDataError(
                f"of {self.places[-1]} samples, no two near each other are left when those without "
                "all values are left out; choose fewer coordinates."
            )
        kept = long[piece]
        rows = self.rows[run] + (first - self.places[run]) * self.every
        number = (np.cumsum(long) - 1)[piece[kept]]
        return Runs(rows[kept], (last - first)[kept], number, self.every)


def holes_of(missing: BoolArray) -> IntArray:
    """Return where neighbouring places are ``missing (n,)``, as ranges ``(H, 2)``.

    >>> holes_of(np.array([False, True, True, False, True])).tolist()
    [[1, 3], [4, 5]]
    """
    return np.flatnonzero(np.diff(missing, prepend=False, append=False)).reshape(-1, 2)


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
    while width < WIDEST_DIFFERENCE:
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
