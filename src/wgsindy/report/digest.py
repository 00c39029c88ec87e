"""What a report draws of data: all that is in memory, some of a stream, from one reading."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import numpy as np

from wgsindy.data import Chunk, Dataset, FloatArray, Trajectories, frozen
from wgsindy.model import Generator, typographic
from wgsindy.passes import SegmentPass, SumPass, joined_segments, merged_by, reduce

SEGMENTS = 50
SEGMENT_STEPS = 4000  # long enough to be simulated again
MOST = SEGMENTS * SEGMENT_STEPS  # states and steps kept of a stream


class States(Protocol):
    """Anything that has states to be drawn."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def dimension(self) -> int: ...
    @property
    def states(self) -> FloatArray: ...


@dataclass(frozen=True)
class Digest:
    """What pictures and comparisons are made from."""

    whole: Dataset
    states: FloatArray  # (n, d) of all samples, evenly taken
    segments: Trajectories  # of neighbouring samples, evenly spread
    low: FloatArray  # (d,) smallest of all states
    high: FloatArray  # (d,) largest of all states
    steps: tuple[float, float]  # shortest and longest of all
    names: tuple[str, ...]  # of the coordinates

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.whole.dimension

    @property
    def share(self) -> float:
        """Share of all steps that are in the segments."""
        return self.segments.n_increments / self.whole.n_increments

    @property
    def note(self) -> str:
        """What is drawn, where that is not everything."""
        if self.share == 1.0:
            return ""
        return (
            f"Pictures of states show {len(self.states)} of {self.whole.n_samples} samples, evenly "
            "taken: a hatched cell may hold others. Residuals and simulations are compared on "
            f"{self.segments.n_increments} of {self.whole.n_increments} steps, in {SEGMENTS} "
            "segments evenly spread. Equations, error bars and checks are those of all samples."
        )


def digest(data: Dataset | Digest) -> Digest:
    """Read the data once and keep what is drawn; of data in memory, all of them."""
    if isinstance(data, Digest):
        return data
    in_memory = isinstance(data, Trajectories)
    found = reduce(DigestPass(data, 0 if in_memory else MOST), data)
    segments = (
        data if isinstance(data, Trajectories) else joined_segments(found.segments, data.names)
    )
    few = in_memory or data.n_increments <= MOST
    states = segments.states if few else found.states()
    steps = found.shortest, found.longest
    return Digest(data, states, segments, found.low, found.high, steps, data.names)


def relative(generator: Generator, data: Digest) -> tuple[Generator, Digest]:
    """Measure states from where the terms of a generator are, and name them after it.

    What is drawn far from zero would have ticks that differ in their last digits only.
    """
    origin, segments = generator.basis.origin, data.segments
    for name, place in zip(segments.names, origin.tolist(), strict=True):
        if place:
            segments = segments.replaced(name, name, partial(np.add, -place))
    shown = replace(
        data,
        states=data.states - origin,
        segments=segments,
        low=data.low - origin,
        high=data.high - origin,
        names=tuple(map(typographic, generator.basis.coordinates)),
    )
    return generator.relative(), shown


@dataclass
class Found:
    """What :class:`DigestPass` collects."""

    low: FloatArray = field(metadata=merged_by(np.minimum))
    high: FloatArray = field(metadata=merged_by(np.maximum))
    shortest: float = field(default=np.inf, metadata=merged_by(min))
    longest: float = field(default=-np.inf, metadata=merged_by(max))
    samples: list[tuple[int, FloatArray]] = field(default_factory=list)  # with their places
    segments: list[Chunk] = field(default_factory=list)

    def states(self) -> FloatArray:
        """Return the states that were taken, in order."""
        return frozen(np.concatenate([x for _, x in sorted(self.samples, key=lambda s: s[0])]))


class DigestPass(SumPass[Found]):
    """Collect ranges, about ``most`` states evenly taken, and segments of as many steps in all."""

    def __init__(self, data: Dataset, most: int) -> None:
        self.dimension, self.most = data.dimension, most
        self.every = max(1, data.n_increments // most) if most else 0
        self.segments = SegmentPass.evenly(data, SEGMENTS, SEGMENT_STEPS) if most else None

    def empty(self) -> Found:
        return Found(np.full(self.dimension, np.inf), np.full(self.dimension, -np.inf))

    def add(self, total: Found, chunk: Chunk) -> Found:
        for states in (chunk.states, chunk.states + chunk.increments):
            total.low = np.minimum(total.low, states.min(axis=0))
            total.high = np.maximum(total.high, states.max(axis=0))
        total.shortest = min(total.shortest, float(chunk.dt.min()))
        total.longest = max(total.longest, float(chunk.dt.max()))
        if self.segments is not None:
            first = -chunk.start % self.every
            total.samples.append((chunk.start, chunk.states[first :: self.every].copy()))
            self.segments.add(total.segments, chunk)
        return total
