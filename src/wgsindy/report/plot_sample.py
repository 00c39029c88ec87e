"""What a report draws of data: all that is in memory, some of a stream, from one reading."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from wgsindy.data import Chunk, Dataset, FloatArray, Trajectories, frozen
from wgsindy.draw import StateCloud
from wgsindy.model import Generator, typographic
from wgsindy.passes import SegmentPass, SumPass, joined_segments, merged_by, reduce

SHOWN_SEGMENTS = 50
SEGMENT_STEPS = 4000  # long enough to be simulated again
SHOWN_STEPS = SHOWN_SEGMENTS * SEGMENT_STEPS  # states and steps kept of a stream


@dataclass(frozen=True)
class PlotSample(StateCloud):
    """What pictures and comparisons are made from: states of all samples, evenly taken."""

    whole: Dataset
    segments: Trajectories  # of neighbouring samples, evenly spread
    low: FloatArray  # (d,) smallest of all states
    high: FloatArray  # (d,) largest of all states
    steps: tuple[float, float]  # shortest and longest of all

    @classmethod
    def of(cls, data: Dataset | PlotSample) -> PlotSample:
        """Take all of data in memory; read other data once, and keep what is drawn."""
        if isinstance(data, PlotSample):
            return data
        if isinstance(data, Trajectories):
            states, steps = data.states, np.concatenate([*map(data.steps, range(len(data)))])
            low, high = states.min(axis=0), states.max(axis=0)
            ends = float(steps.min()), float(steps.max())
            return cls(data.names, states, data, data, low, high, ends)
        taken = reduce(PlotSamplePass(data), data)
        segments = joined_segments(taken.segments, data.names)
        states = segments.states if data.n_increments <= SHOWN_STEPS else taken.states()
        ends = taken.shortest, taken.longest
        return cls(data.names, states, data, segments, taken.low, taken.high, ends)

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
            f"{self.segments.n_increments} of {self.whole.n_increments} steps, in {SHOWN_SEGMENTS} "
            "segments evenly spread. Equations, error bars and checks are those of all samples."
        )


def relative(generator: Generator, data: PlotSample) -> tuple[Generator, PlotSample]:
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
class Taken:
    """What :class:`PlotSamplePass` collects."""

    low: FloatArray = field(metadata=merged_by(np.minimum))
    high: FloatArray = field(metadata=merged_by(np.maximum))
    shortest: float = field(default=np.inf, metadata=merged_by(min))
    longest: float = field(default=-np.inf, metadata=merged_by(max))
    samples: list[tuple[int, FloatArray]] = field(default_factory=list)  # with their places
    segments: list[Chunk] = field(default_factory=list)

    def states(self) -> FloatArray:
        """Return the states that were taken, in order."""
        return frozen(np.concatenate([x for _, x in sorted(self.samples, key=lambda s: s[0])]))


class PlotSamplePass(SumPass[Taken]):
    """Collect ranges, states evenly taken, and segments of about as many steps in all."""

    def __init__(self, data: Dataset) -> None:
        self.dimension, self.every = data.dimension, max(1, data.n_increments // SHOWN_STEPS)
        self.segments = SegmentPass.evenly(data, SHOWN_SEGMENTS, SEGMENT_STEPS)

    def empty(self) -> Taken:
        return Taken(np.full(self.dimension, np.inf), np.full(self.dimension, -np.inf))

    def add(self, total: Taken, chunk: Chunk) -> Taken:
        for states in (chunk.states, chunk.states + chunk.increments):
            total.low = np.minimum(total.low, states.min(axis=0))
            total.high = np.maximum(total.high, states.max(axis=0))
        total.shortest = min(total.shortest, float(chunk.dt.min()))
        total.longest = max(total.longest, float(chunk.dt.max()))
        first = -chunk.start % self.every
        total.samples.append((chunk.start, chunk.states[first :: self.every].copy()))
        self.segments.add(total.segments, chunk)
        return total
