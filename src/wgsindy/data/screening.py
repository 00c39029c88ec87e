"""With how many digits states were written: numbers on a grid, or values that come again.

Rounded numbers repeat by themselves, other numbers do not: a sample of a few thousand steps tells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray
from wgsindy.data.dataset import Chunk, Dataset, Partition, moved
from wgsindy.data.holes import BRIDGED
from wgsindy.errors import InterpolatedSamplesWarning, RepeatedSamplesWarning, WgsindyWarning

PROBED_SEGMENTS, PROBED_STEPS = 8, 256  # of neighbouring steps, spread over the data
DIVISOR_GROUP = (
    32  # steps whose common divisor is looked for; off any grid is a piece of the data at most
)
FEWEST_STEPS = 8  # steps that can tell: fewer have a common divisor by chance
# Steps count as multiples of a width within a hundredth of it. Numbers that lie on no grid do so
# once in 50, so nine tenths of eight or more steps never do.
NEAR_GRID, MOST_ON_GRID = 0.01, 0.9
MOST_TIMES = 1e12
FINEST_GRID = 1e-4  # of the usual step: below, rounding is no noise worth knowing
RECURRING = 0.01  # share of the values that come again; of 2048 numbers of 24 bits 1e-4 do


@dataclass(frozen=True)
class Resolution:
    """How finely each coordinate is resolved."""

    quantum: FloatArray  # (d,) width of the grid that its numbers lie on, 0 if there is none
    discrete: BoolArray  # (d,) whether its values come again, as on a grid or its logarithm

    @classmethod
    def of(cls, chunks: Sequence[Chunk], *, exact: int = 0) -> Resolution:
        """Judge by a sample of steps; of ``exact`` last coordinates no digit is missing."""
        states = np.concatenate([chunk.states for chunk in chunks]).T
        steps = np.concatenate([chunk.increments for chunk in chunks]).T
        quantum = np.array([grid_width(row) for row in steps])
        recurs = [_recurs(x[dx != 0]) for x, dx in zip(states, steps, strict=True)]
        discrete = (quantum > 0) | np.array(recurs)
        quantum[len(quantum) - exact :] = 0.0
        return cls(quantum, discrete)


def resolution_of(data: Dataset) -> Resolution:
    """Judge by segments of data whose samples are at hand."""
    last = (data.n_samples - 2) // PROBED_STEPS
    wanted = np.unique(np.linspace(0, last, PROBED_SEGMENTS).astype(np.int64)) * PROBED_STEPS
    with np.errstate(over="ignore", invalid="ignore"):  # such numbers are refused elsewhere
        chunks = [
            c for k in wanted.tolist() for c in Partition(data, k, k + 1).chunks(PROBED_STEPS)
        ]
        return Resolution.of(chunks)


def grid_width(steps: FloatArray) -> float:
    """Return the largest width of which nearly all ``steps (n,)`` are multiples, or 0.

    >>> grid_width(np.diff(np.round(np.sin(np.arange(100.0)), 2)))
    0.01
    """
    size = np.abs(steps[steps != 0])
    if len(size) < FEWEST_STEPS:
        return 0.0
    least = FINEST_GRID * float(np.median(size))
    for width in _common_divisors(size, least):
        times = np.rint(size / width)
        # A number with no digits left at that place is a multiple of everything.
        near = (np.abs(size - times * width) <= NEAR_GRID * width) & (times < MOST_TIMES)
        if np.count_nonzero(near) >= MOST_ON_GRID * len(size):
            fitted = float(size[near] @ times[near] / (times[near] @ times[near]))
            return float(f"{fitted:.9g}")  # as people write it
    return 0.0


def _common_divisors(size: FloatArray, least: float) -> list[float]:
    """Return the common divisors of groups of neighbours, from ``least`` on, the largest first."""
    count = max(1, len(size) // DIVISOR_GROUP)
    groups = size[: count * DIVISOR_GROUP].reshape(count, -1)
    width = groups.min(axis=1)
    while True:  # Euclid's algorithm, in all groups at once
        rest = np.abs(groups - width[:, None] * np.rint(groups / width[:, None]))
        rest[rest <= NEAR_GRID * width[:, None]] = np.inf
        smaller = rest.min(axis=1)
        divides = np.isinf(smaller)
        # A rest is at most half the width, unless a quotient has more digits than a float: then it
        # is no rest at all, and would not become smaller for ever.
        alive = divides | ((smaller >= least) & (smaller <= 0.6 * width))
        groups, width = groups[alive], np.where(divides, width, smaller)[alive]
        if divides[alive].all():
            break
    return sorted({float(f"{one:.4g}") for one in width[width >= least]}, reverse=True)


def _recurs(values: FloatArray) -> bool:
    """Whether a share of different values occurs more than once; few values cannot tell."""
    if len(values) < FEWEST_STEPS:
        return True
    counts = np.unique(values, return_counts=True)[1]
    again = np.count_nonzero(counts > 1)
    # One value that comes again may be a limit that the state does not pass.
    return bool(again > 1 and again >= RECURRING * len(counts))


FALSE_RUNS = 1e-3  # expected in all the data
GAP = 4  # times as long as all others: no state-dependent noise makes such runs
OFF_LINE = 1e-4  # of a step: seven digits are on the line
WIDER = 10  # times as far off the line: what lies there is not interpolated, but smooth
FEWEST_JUDGED = 20  # increments: below, nothing is judged
LONGEST_RUNS = 512  # longest runs of a window, where runs come by chance
ROUNDING_ERROR = 4 * np.finfo(np.float64).eps  # of a number itself
LEAST_FLOAT = np.finfo(np.float64).tiny


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
    if n < FEWEST_JUDGED:
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
            longest = np.argsort(length, kind="stable")[-LONGEST_RUNS:]
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
            off -= 0.99 * quantum + ROUNDING_ERROR * np.abs(x[p, :-1][rows])
            off /= OFF_LINE * np.maximum(np.abs(left), np.abs(right)) + LEAST_FLOAT
            far = np.maximum(far, off)
            near = np.flatnonzero(far <= WIDER)
            rows, far = (near if isinstance(rows, slice) else rows[near]), far[near]
        assert not isinstance(rows, slice)
        lines.add(rows[far <= 1], rows[far > 1], window.place)
        before = steps[:, -1:], dt[-1:], went[-1:]
    return repeats, lines
