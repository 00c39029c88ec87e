"""Segments: short subsamples of long data, evenly spread, held in memory.

A fit of large data starts from short segments, and a report draws long ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wgsindy.data import Chunk, Dataset, IntArray, Trajectories
from wgsindy.passes.engine import SERIAL, Engine, SumPass, reduce


@dataclass(frozen=True)
class SegmentPass(SumPass[list[Chunk]]):
    """Keep some rows of the chunks: the segments, of equal length.

    The total holds them in any order; :func:`joined` puts them together.
    """

    starts: IntArray  # (S,) number of the first increment of each segment, ascending
    length: int  # increments of each

    @classmethod
    def evenly(cls, data: Dataset, count: int, length: int) -> SegmentPass:
        """Spread ``count`` segments over ``data``; where they would overlap, one has it all."""
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


def joined_segments(chunks: list[Chunk], names: tuple[str, ...], order: int = 1) -> Trajectories:
    """Join chunks that follow each other within a trajectory, in whatever order they come."""
    chunks = sorted(chunks, key=lambda chunk: chunk.start)
    states, increments, dt, owner = (
        np.concatenate([chunk[column] for chunk in chunks]) for column in range(4)
    )
    number = np.concatenate([chunk.start + np.arange(len(chunk.dt)) for chunk in chunks])
    ends = np.flatnonzero((np.diff(owner) != 0) | (np.diff(number) != 1)) + 1
    whole = None if chunks[0].seen is None else np.concatenate([chunk.seen for chunk in chunks])
    segments, times, seen = [], [], []
    for first, last in zip([0, *ends.tolist()], [*ends.tolist(), len(dt)], strict=True):
        end = states[last - 1] + increments[last - 1]
        segments.append(np.vstack([states[first:last], end]))
        times.append(np.append(0.0, np.cumsum(dt[first:last])))
        if whole is not None:
            seen.append(np.vstack([whole[first:last, 0], whole[last - 1, 1]]))
    found = Trajectories(segments, times=times, names=names)
    return found.marked(np.concatenate(seen), order) if seen else found


def segments_of(data: Dataset, count: int, length: int, *, engine: Engine = SERIAL) -> Trajectories:
    """Return ``count`` segments of ``length`` increments, each a trajectory of its own.

    Those that reach into the next trajectory are two.

    >>> walk = np.cumsum(np.random.default_rng(0).normal(size=(10_000, 2)), axis=0)
    >>> segments_of(Trajectories(walk, dt=0.1), 10, 100)
    Trajectories(10 x (x, y), 1000 increments, mean dt = 0.1)
    """
    step = SegmentPass.evenly(data, count, length)
    return joined_segments(reduce(step, data, engine=engine), data.names, data.order)
