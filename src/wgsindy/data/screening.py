"""Samples that nobody measured: a sensor that hangs, and holes that somebody filled.

Rounded numbers repeat, and three of them lie on a straight line, by chance: only runs longer than
chance makes are left out. Other numbers never do either.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from wgsindy.data.arrays import IntArray
from wgsindy.data.chunk import moved
from wgsindy.data.dataset import Dataset
from wgsindy.data.holes import BRIDGED
from wgsindy.data.resolution import Resolution
from wgsindy.errors import InterpolatedSamplesWarning, RepeatedSamplesWarning, WgsindyWarning

FALSE_RUNS = 1e-3  # expected in all the data
GAP = 4  # times as long as all others: no state-dependent noise makes such runs
OFF_LINE = 1e-4  # of a step: seven digits are on the line
WIDER = 10  # times as far off the line: what lies there is not interpolated, but smooth
FEWEST = 20  # increments: below, nothing is judged
REMEMBERED = 512  # longest runs of a window, where runs come by chance
NOISE = 4 * np.finfo(np.float64).eps  # of a number itself
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Screened:
    """Data without samples that nobody measured, and what was left out."""

    data: Dataset
    stalled: int = 0  # samples that repeat the one before them
    straight: int = 0  # samples on straight pieces
    findings: tuple[tuple[type[WgsindyWarning], int, str], ...] = ()  # samples, and a sentence


def screened(data: Dataset, resolution: Resolution) -> Screened:
    """Leave out stalls and straight pieces.

    A stall is a run of samples that repeat the one before in all coordinates. A straight piece is a
    run of samples that lie on a line with both neighbours in all coordinates, and move: linear
    interpolation. If more than half of the samples lie on such lines, they stay.
    """
    n = data.n_increments
    if n < FEWEST:
        return Screened(data)
    with np.errstate(all="ignore"):  # between trajectories, and of numbers too large to be used
        repeats, lines = _runs(data, resolution)
    stalls, pieces = repeats.beyond_chance(n) + 1, lines.beyond_chance(n)
    stalled, straight = int(np.diff(stalls).sum()), int(np.diff(pieces).sum())
    findings: list[tuple[type[WgsindyWarning], int, str]] = []
    if stalled:
        sentence = (
            f"{stalled} sample{'s repeat' if stalled > 1 else ' repeats'} the one before in all "
            "coordinates, more than rounding explains (a stalled sensor, padding, a state stuck at "
            f"a limit; first: {_place(data, stalls)}): {BRIDGED}."
        )
        findings.append((RepeatedSamplesWarning, stalled, sentence))
    if straight:
        kept = 2 * straight > n
        what = (
            "kept, since they are more than half. If values were interpolated, keep one sample in "
            f"{round(straight / len(pieces)) + 1} only (--every)"
            if kept
            else BRIDGED
        )
        sentence = (
            f"{straight} sample{'s lie' if straight > 1 else ' lies'} on straight lines between "
            f"others, as if interpolated (first: {_place(data, pieces)}): {what}."
        )
        findings.append((InterpolatedSamplesWarning, straight, sentence))
        if kept:
            pieces, straight = pieces[:0], 0
    holes = np.concatenate([stalls, pieces])
    left = data.without(holes[np.argsort(holes[:, 0])]) if len(holes) else data
    return Screened(left, stalled, straight, tuple(findings))


def _place(data: Dataset, holes: IntArray) -> str:
    ends = np.cumsum(data.lengths)
    number = int(np.searchsorted(ends, holes[0, 0], side="right"))
    sample = holes[0, 0] - (ends[number] - data.lengths[number])
    return f"sample {sample} of trajectory {number}"


@dataclass
class _Runs:
    """Runs of neighbouring places; ``by_chance`` if long ones are to be expected."""

    by_chance: bool
    found: list[IntArray] = field(default_factory=list)  # places (K, 2)
    places: int = 0
    near: int = 0  # places that are nearly in a run

    def add(self, rows: IntArray, near: IntArray, place: int) -> None:
        """Add runs of neighbouring ``rows``, counted from ``place`` on.

        A run beside a row that is ``near`` only is none: it has no clear end.
        """
        self.near += len(near)
        if not len(rows):
            return
        ends = np.flatnonzero(np.diff(rows) > 1)
        runs = np.stack([rows[np.append(0, ends + 1)], rows[np.append(ends, -1)] + 1], axis=1)
        runs = runs[~(np.isin(runs[:, 0] - 1, near) | np.isin(runs[:, 1], near))]
        length = runs[:, 1] - runs[:, 0]
        self.places += int(length.sum())
        if self.by_chance and len(runs):
            longest = np.argsort(length, kind="stable")[-REMEMBERED:]
            # The first and the last may go on beyond the window.
            runs = runs[np.unique(np.append(longest, [0, len(runs) - 1]))]
        self.found.append(runs + place)

    def beyond_chance(self, n: int) -> IntArray:
        """Return runs ``(H, 2)`` longer than ``n`` increments have by chance.

        Where runs are to be expected, their share tells how long they get, and they must be far
        longer than all others. Elsewhere the places that are nearly in a run tell how many are in
        one by chance.
        """
        runs = np.concatenate([np.empty((0, 2), dtype=np.int64), *self.found])
        if not len(runs):
            return runs
        starts = np.append(True, runs[1:, 0] > runs[:-1, 1])  # not those that a window cut
        runs = np.stack([runs[starts, 0], runs[np.append(starts[1:], True), 1]], axis=1)
        length = runs[:, 1] - runs[:, 0]
        chance = (self.places if self.by_chance else self.near / (WIDER - 1)) / n
        if not self.by_chance and len(runs) > 20 * n * chance:
            return runs  # at most one in 20 is there by chance
        ordered = np.append(1, np.sort(length))
        longest = math.log(n / FALSE_RUNS) / -math.log(min(chance, 1 - 1e-9))
        apart = ordered[1:] >= longest
        if self.by_chance:
            apart &= ordered[1:] >= GAP * ordered[:-1]
        return runs[length >= ordered[1:][apart].min(initial=n + 1)]


def _runs(data: Dataset, resolution: Resolution) -> tuple[_Runs, _Runs]:
    """Find samples that the next one repeats, and samples on a line with their neighbours."""
    by_chance = bool(resolution.discrete.all())
    repeats, lines = _Runs(by_chance), _Runs(by_chance, near=WIDER)
    before = np.zeros((data.dimension, 1)), np.ones(1), np.zeros(1, dtype=bool)
    for window in data.windows():
        m = len(window)
        x = np.ascontiguousarray(window.states[: m + 1].T)
        increments = np.diff(x)
        inside = window.trajectory[:m] == window.trajectory[1 : m + 1]
        goes = moved(increments.T) & inside
        repeats.add(np.flatnonzero(inside & ~goes), np.empty(0, dtype=np.int64), window.place)
        steps, dt, went = (
            np.concatenate([old, new], axis=-1)
            for old, new in zip(before, (increments, window.steps, goes), strict=True)
        )
        rows: slice | IntArray = slice(None)
        far = np.where(went[:-1] & went[1:], 0.0, np.inf)  # from the line, in what counts as on it
        for p, quantum in enumerate(resolution.quantum.tolist()):
            left, right = steps[p, :-1][rows], steps[p, 1:][rows]
            one, other = dt[:-1][rows], dt[1:][rows]
            off = np.abs(left * other - right * one) / (one + other)
            off -= 0.99 * quantum + NOISE * np.abs(x[p, :-1][rows])
            off /= OFF_LINE * np.maximum(np.abs(left), np.abs(right)) + TINY
            far = np.maximum(far, off)
            near = np.flatnonzero(far <= WIDER)
            rows, far = (near if isinstance(rows, slice) else rows[near]), far[near]
        assert not isinstance(rows, slice)
        lines.add(rows[far <= 1], rows[far > 1], window.place)
        before = steps[:, -1:], dt[-1:], went[-1:]
    return repeats, lines
