"""Samples that are left out, and what becomes of the trajectory around them.

A hole is a range of places ``first`` to ``last`` (not included). Nothing is filled in: that would
invent dynamics. Over a short hole the step is longer; at a long one the trajectory is cut.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray
from wgsindy.errors import NotEnoughDataError

LONGEST_HOLE = 10  # samples; a longer step tells little that its two ends do not tell alone
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
