"""Runs: neighbouring samples of a chunk that belong to one trajectory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Runs:
    """Neighbouring columns that belong together: ``first (m,)`` of each run, ``length (m,)``.

    ``owner (m,)`` is the number, mostly of a trajectory, that the columns of a run share.
    """

    owner: IntArray
    first: IntArray
    length: IntArray

    @classmethod
    def of(cls, trajectory: IntArray) -> Runs:
        """Find the runs of equal numbers in ``trajectory (n,)``."""
        first = np.append(0, np.flatnonzero(np.diff(trajectory)) + 1)
        return cls(trajectory[first], first, np.diff(np.append(first, len(trajectory))))

    def __iter__(self) -> Iterator[tuple[int, slice]]:
        """Yield the owner and the columns of each run."""
        for owner, first, length in zip(
            self.owner.tolist(), self.first.tolist(), self.length.tolist(), strict=True
        ):
            yield owner, slice(first, first + length)

    @cached_property
    def joined(self) -> BoolArray:
        """Whether each column and the next one are in the same run, ``(n - 1,)``."""
        inside = np.ones(int(self.length.sum()) - 1, dtype=bool)
        inside[self.first[1:] - 1] = False
        return inside

    def add_to(self, total: FloatArray, values: FloatArray) -> None:
        """Add the sums of ``values (d, n)`` over each run to its owner in ``total (R, d)``."""
        total[self.owner] += np.add.reduceat(values, self.first, axis=1).T

    def paired(self, *values: FloatArray) -> tuple[list[FloatArray], Runs]:
        """Add up columns of ``values (d, n)`` two by two; the last of an odd run is left out."""
        half = self.length // 2
        first = np.cumsum(half) - half
        left = np.repeat(self.first - 2 * first, half) + 2 * np.arange(int(half.sum()))
        return [one[:, left] + one[:, left + 1] for one in values], Runs(self.owner, first, half)
