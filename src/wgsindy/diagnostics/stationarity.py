"""First and second halves of all trajectories, as sums over samples."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray
from wgsindy.data.chunk import Chunk
from wgsindy.data.dataset import Dataset
from wgsindy.passes.engine import SumPass, merged_by


@dataclass(frozen=True)
class Halves:
    """Sums about ``origin (d,)`` over the samples of either half."""

    origin: FloatArray = field(metadata=merged_by(lambda left, right: left))  # the same for all
    count: IntArray  # (2,)
    first: FloatArray  # (2, d)
    second: FloatArray  # (2, d, d)

    @property
    def mean(self) -> FloatArray:
        """Mean states, ``(2, d)``."""
        return self.origin + self.first / self.count[:, None]

    @property
    def covariance(self) -> FloatArray:
        """Covariances of the states, ``(2, d, d)``; NaN for a half of one sample."""
        product = np.einsum("hp,hq->hpq", self.first, self.first) / self.count[:, None, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((self.second - product) / (self.count - 1)[:, None, None])


class HalvesPass(SumPass[Halves]):
    """Sum states before and from the middle of their trajectory, the last one included."""

    def __init__(self, data: Dataset) -> None:
        self.origin = data.first_state
        self.lengths = data.lengths
        steps = self.lengths - 1
        self.starts = np.cumsum(steps) - steps  # increments before each trajectory

    def empty(self) -> Halves:
        d = len(self.origin)
        count = np.zeros(2, dtype=np.int64)
        return Halves(self.origin, count, np.zeros((2, d)), np.zeros((2, d, d)))

    def add(self, total: Halves, chunk: Chunk) -> Halves:
        owner = chunk.trajectory
        within = chunk.start + np.arange(len(owner)) - self.starts[owner]
        length = self.lengths[owner]
        late = within >= length // 2
        self._add(total, 0, chunk.states, ~late)
        self._add(total, 1, chunk.states, late)
        # The last sample of a trajectory has no row of its own.
        self._add(total, 1, chunk.states + chunk.increments, within == length - 2)
        return total

    def _add(self, total: Halves, half: int, states: FloatArray, which: BoolArray) -> None:
        x = states[which] - self.origin
        total.count[half] += len(x)
        total.first[half] += x.sum(axis=0)
        total.second[half] += x.T @ x
