"""With how many digits states were written: numbers on a grid, or values that come again.

Rounded numbers repeat by themselves, other numbers do not: a sample of a few thousand steps tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray
from wgsindy.data.chunk import Chunk
from wgsindy.data.dataset import Dataset, Partition

SEGMENTS, LENGTH = 8, 256  # of neighbouring steps, spread over the data
GROUP = 32  # steps whose common divisor is looked for; off any grid is a piece of the data at most
FEWEST = 8  # steps that can tell: fewer have a common divisor by chance
# Steps count as multiples of a width within a hundredth of it. Numbers that lie on no grid do so
# once in 50, so nine tenths of eight or more steps never do.
NEAR, MOST = 0.01, 0.9
MOST_TIMES = 1e12
FINEST = 1e-4  # of the usual step: below, rounding is no noise worth knowing
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
    last = (data.n_samples - 2) // LENGTH
    wanted = np.unique(np.linspace(0, last, SEGMENTS).astype(np.int64)) * LENGTH
    with np.errstate(over="ignore", invalid="ignore"):  # such numbers are refused elsewhere
        chunks = [c for k in wanted.tolist() for c in Partition(data, k, k + 1).chunks(LENGTH)]
        return Resolution.of(chunks)


def grid_width(steps: FloatArray) -> float:
    """Return the largest width of which nearly all ``steps (n,)`` are multiples, or 0.

    >>> grid_width(np.diff(np.round(np.sin(np.arange(100.0)), 2)))
    0.01
    """
    size = np.abs(steps[steps != 0])
    if len(size) < FEWEST:
        return 0.0
    least = FINEST * float(np.median(size))
    for width in _common_divisors(size, least):
        times = np.rint(size / width)
        # A number with no digits left at that place is a multiple of everything.
        near = (np.abs(size - times * width) <= NEAR * width) & (times < MOST_TIMES)
        if np.count_nonzero(near) >= MOST * len(size):
            fitted = float(size[near] @ times[near] / (times[near] @ times[near]))
            return float(f"{fitted:.9g}")  # as people write it
    return 0.0


def _common_divisors(size: FloatArray, least: float) -> list[float]:
    """Return the common divisors of groups of neighbours, from ``least`` on, the largest first."""
    count = max(1, len(size) // GROUP)
    groups = size[: count * GROUP].reshape(count, -1)
    width = groups.min(axis=1)
    while True:  # Euclid's algorithm, in all groups at once
        rest = np.abs(groups - width[:, None] * np.rint(groups / width[:, None]))
        rest[rest <= NEAR * width[:, None]] = np.inf
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
    if len(values) < FEWEST:
        return True
    counts = np.unique(values, return_counts=True)[1]
    again = np.count_nonzero(counts > 1)
    # One value that comes again may be a limit that the state does not pass.
    return bool(again > 1 and again >= RECURRING * len(counts))
