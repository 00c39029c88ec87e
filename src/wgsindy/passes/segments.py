"""Stretches: pieces of long data, evenly spread, held in memory.

A fit of many data starts from short ones, and a report shows long ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wgsindy.data.arrays import IntArray
from wgsindy.data.dataset import Chunk, Dataset
from wgsindy.data.trajectories import Trajectories
from wgsindy.passes.engine import SERIAL, Engine, reduce


@dataclass(frozen=True)
class StretchPass:
    """Keep ``length`` increments from each of ``starts (S,)`` on, which ascend.

    The total holds rows of chunks, in any order; :func:`joined` puts them together.
    """

    starts: IntArray
    length: int

    @classmethod
    def evenly(cls, data: Dataset, count: int, length: int) -> StretchPass:
        """Spread ``count`` stretches over ``data``; where they would overlap, one has it all."""
        steps = data.n_increments
        if steps <= count * length:
            return cls(np.zeros(1, dtype=np.int64), steps)
        return cls(np.linspace(0, steps - length, count).astype(np.int64), length)

    def empty(self) -> list[Chunk]:
        return []

    def add(self, total: list[Chunk], chunk: Chunk) -> list[Chunk]:
        end = chunk.start + len(chunk.dt)
        low = np.searchsorted(self.starts, chunk.start - self.length, side="right")
        high = np.searchsorted(self.starts, end)
        for start in self.starts[low:high].tolist():
            first, last = max(start, chunk.start), min(start + self.length, end)
            rows = np.arange(first - chunk.start, last - chunk.start)
            total.append(chunk.at(rows)._replace(start=first))
        return total

    def merge(self, left: list[Chunk], right: list[Chunk]) -> list[Chunk]:
        return left + right


def joined(pieces: list[Chunk], names: tuple[str, ...]) -> Trajectories:
    """Join what follows each other within a trajectory."""
    parts = sorted(pieces, key=lambda part: part.start)
    states, increments, dt, owner = (
        np.concatenate([part[column] for part in parts]) for column in range(4)
    )
    number = np.concatenate([part.start + np.arange(len(part.dt)) for part in parts])
    ends = np.flatnonzero((np.diff(owner) != 0) | (np.diff(number) != 1)) + 1
    paths, times = [], []
    for first, last in zip([0, *ends.tolist()], [*ends.tolist(), len(dt)], strict=True):
        end = states[last - 1] + increments[last - 1]
        paths.append(np.vstack([states[first:last], end]))
        times.append(np.append(0.0, np.cumsum(dt[first:last])))
    return Trajectories(paths, times=times, names=names)


def stretches_of(
    data: Dataset, count: int, length: int, *, engine: Engine = SERIAL
) -> Trajectories:
    """Return ``count`` stretches of ``length`` increments, each a trajectory of its own.

    Those that reach into the next trajectory are two.

    >>> walk = np.cumsum(np.random.default_rng(0).normal(size=(10_000, 2)), axis=0)
    >>> stretches_of(Trajectories(walk, dt=0.1), 10, 100)
    Trajectories(10 x (x, y), 1000 increments, mean dt = 0.1)
    """
    step = StretchPass.evenly(data, count, length)
    return joined(reduce(step, data, engine=engine), data.names)
