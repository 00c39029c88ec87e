"""A first look at the samples: mean, spread, increments, digits, and what nobody measured.

With it go segments, short subsamples of long data, evenly spread, held in memory: digits are looked
at in them, a fit of large data starts from short ones, and a report draws long ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from wgsindy.data import (
    PROBED_SEGMENTS,
    PROBED_STEPS,
    BoolArray,
    Chunk,
    Dataset,
    FloatArray,
    Frame,
    IntArray,
    Resolution,
    Spans,
    Trajectories,
    frozen,
    screened,
)
from wgsindy.errors import DataError, NotEnoughDataError, OutlierWarning, RepeatedSamplesWarning
from wgsindy.passes.engine import SERIAL, Engine, PassPair, SumPass, merged_by, reduce


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


# The largest of a million Gaussian increments is 5 typical ones, of a strongly state-dependent
# diffusion 10; a single wrong sample among many thousands stands out by more.
OUTLIER_RATIO = 20.0
# Sizes of states and steps with which a fit is computed. Coefficients of degree 5 and the squares
# of their error bars stay numbers then; no unit of physics or finance comes near.
SMALLEST_SIZE, LARGEST_SIZE = 1e-30, 1e30
PROBED = 4  # one in so many of the states at which digits are looked at


@dataclass
class Moments:
    """Sums over samples: states about an origin, squared increments, repeated samples."""

    count: int  # increments
    time: float  # observed in all
    repeated: int  # samples that repeat the one before them
    # (d,) whether the coordinate ever changed within a trajectory
    moved: BoolArray = field(metadata=merged_by(np.logical_or))
    # (d,) largest distance of a state from the origin
    reach: FloatArray = field(metadata=merged_by(np.maximum))
    low: FloatArray = field(metadata=merged_by(np.minimum))  # (d,) smallest state
    high: FloatArray = field(metadata=merged_by(np.maximum))  # (d,) largest state
    first: FloatArray  # (d,) sum of x - origin
    second: FloatArray  # (d, d) sum of (x - origin)(x - origin)'
    by_trajectory: FloatArray  # (R, d) sum of x - origin of each trajectory
    variation: FloatArray  # (d,) sum of squared increments
    longest: float = field(metadata=merged_by(max))  # step
    # (d,) largest squared increment over its step
    largest: FloatArray = field(metadata=merged_by(np.maximum))


class MomentPass(SumPass[Moments]):
    """Sum the moments of states and increments about a nearby origin."""

    def __init__(self, data: Dataset) -> None:
        # Subtracting one state first keeps the variance exact for data far from zero.
        self.origin = data.first_state
        self.n_trajectories = len(data)

    def empty(self) -> Moments:
        d = len(self.origin)
        return Moments(
            count=0,
            time=0.0,
            repeated=0,
            moved=np.zeros(d, dtype=bool),
            reach=np.zeros(d),
            low=np.full(d, np.inf),
            high=np.full(d, -np.inf),
            first=np.zeros(d),
            second=np.zeros((d, d)),
            by_trajectory=np.zeros((self.n_trajectories, d)),
            variation=np.zeros(d),
            longest=0.0,
            largest=np.zeros(d),
        )

    def add(self, total: Moments, chunk: Chunk) -> Moments:
        # NumPy sums rows, and looks for their extremes, ten times faster than columns.
        states, steps = (
            np.ascontiguousarray(chunk.states.T),
            np.ascontiguousarray(chunk.increments.T),
        )
        x = states - self.origin[:, None]
        square = steps**2
        total.count += len(chunk.dt)
        total.time += float(chunk.dt.sum())
        total.repeated += int(np.count_nonzero(~chunk.moved))
        total.moved |= steps.any(axis=1)
        np.minimum(total.low, states.min(axis=1), out=total.low)
        np.maximum(total.high, states.max(axis=1), out=total.high)
        np.maximum(total.reach, np.abs(x).max(axis=1), out=total.reach)
        total.first += x.sum(axis=1)
        total.second += x @ x.T
        Spans.of(chunk.trajectory).add_to(total.by_trajectory, x)
        total.variation += square.sum(axis=1)
        total.longest = max(total.longest, float(chunk.dt.max()))
        np.maximum(total.largest, (square / chunk.dt).max(axis=1), out=total.largest)
        return total


@dataclass(frozen=True)
class DataSummary:
    """What the samples look like; see :func:`data_summary`."""

    frame: Frame  # in whose units kernels and library live
    region: Frame  # mean and spread of the states
    covariance: FloatArray  # (d, d) of the states, in units of the frame
    variation: FloatArray  # (d,) sum of squared increments over time, in units of the frame
    count: int  # increments
    rank: IntArray  # (R,) place of each trajectory when they are sorted by mean position
    repeated: int  # samples that repeat the one before them, and are data
    resolution: Resolution
    worst: FloatArray  # (d,) largest increment over the typical one
    low: FloatArray  # (d,) smallest state from which an increment starts
    high: FloatArray  # (d,) largest one
    longest_step: float
    probe: FloatArray  # (m, d) some states, the same however the data are stored
    stalled: int = 0  # samples left out of these data, since they repeat the one before them
    straight: int = 0  # samples left out of these data, since they were interpolated
    inputs: int = 0  # how many of the last coordinates have no equation
    every: int = 1  # which of the samples these are, where steps were too fine for the digits

    @property
    def quantum(self) -> FloatArray:
        """Width of the grid that the numbers of each coordinate lie on, 0 if none, ``(d,)``."""
        return self.resolution.quantum


def data_summary(data: Dataset, *, standardise: bool, engine: Engine = SERIAL) -> DataSummary:
    """Measure mean, spread, covariance, increments and digits of the samples.

    Raises
    ------
    DataError
        If a coordinate never changes: it has no dynamics to recover.
    """
    step = MomentPass(data)
    with np.errstate(over="ignore", invalid="ignore"):
        sample = SegmentPass.evenly(data, PROBED_SEGMENTS, PROBED_STEPS)
        moments, segments = reduce(PassPair(step, sample), data, engine=engine)
        sampled = sorted(segments, key=lambda chunk: chunk.start)
    resolution = Resolution.of(sampled, exact=len(data.inputs))
    mean = moments.first / moments.count
    with np.errstate(over="ignore", invalid="ignore"):
        covariance = moments.second - moments.count * np.outer(mean, mean)
        covariance /= max(moments.count - 1, 1)
        spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    _refuse_degenerate(data, moments, spread)
    region = Frame(frozen(mean + step.origin), frozen(spread))
    frame = region if standardise else Frame.identity(data.dimension)
    rate = moments.variation / moments.time
    position = (moments.by_trajectory / (data.lengths - 1)[:, None] / spread).sum(axis=1)
    rank = np.empty(len(data), dtype=np.int64)
    rank[np.argsort(position, kind="stable")] = np.arange(len(data))
    return DataSummary(
        frame=frame,
        region=region,
        covariance=covariance / np.outer(frame.scale, frame.scale),
        variation=rate / frame.scale**2,
        count=moments.count,
        rank=rank,
        repeated=moments.repeated,
        resolution=resolution,
        worst=np.sqrt(moments.largest / rate),
        low=moments.low,
        high=moments.high,
        longest_step=moments.longest,
        probe=frozen(np.concatenate([chunk.states for chunk in sampled])[::PROBED]),
        inputs=len(data.inputs),
    )


def screened_summary(
    data: Dataset, *, standardise: bool, engine: Engine = SERIAL
) -> tuple[Dataset, DataSummary]:
    """Leave out stalls and straight pieces, warn of them, and summarise what is left.

    Raises
    ------
    DataError
        If a coordinate never changes: it has no dynamics to recover.
    """
    summary = data_summary(data, standardise=standardise, engine=engine)
    found = screened(data, summary.resolution)
    for kind, _, sentence in found.findings:
        warnings.warn(sentence, kind, stacklevel=3)
    if found.data is data:
        return data, summary
    left = data_summary(found.data, standardise=standardise, engine=engine)
    return found.data, replace(left, stalled=found.stalled, straight=found.straight)


def _refuse_degenerate(data: Dataset, moments: Moments, spread: FloatArray) -> None:
    for p, name in enumerate(data.names):
        if not moments.moved[p]:
            raise DataError(
                f"coordinate {name!r} is constant ({data.first_state[p]:.6g} in all samples of a "
                "trajectory), so nothing can be learned about it; leave it out."
            )
        if moments.reach[p] == 0:
            raise NotEnoughDataError(
                f"all {moments.count} increments start at one value of {name!r}; give longer "
                "trajectories."
            )
        size = max(abs(moments.low[p]), abs(moments.high[p]))
        if not (size <= LARGEST_SIZE and spread[p] >= SMALLEST_SIZE and moments.variation[p] > 0):
            raise DataError(
                f"coordinate {name!r} has states of size {size:.3g} and spread {spread[p]:.3g}; "
                f"numbers from {SMALLEST_SIZE:g} to {LARGEST_SIZE:g} can be fitted, so change its "
                "units, or leave out a sample that nobody measured."
            )
    if not SMALLEST_SIZE <= data.mean_dt <= LARGEST_SIZE:
        raise DataError(
            f"the mean step is {data.mean_dt:.3g}; steps from {SMALLEST_SIZE:g} to "
            f"{LARGEST_SIZE:g} can be fitted, so measure time in another unit."
        )


def warn_of_samples(summary: DataSummary, names: Sequence[str], *, dropped: bool = False) -> None:
    """Warn of repeated samples, unless stalls were ``dropped``, and of outliers."""
    if summary.repeated and not dropped and not summary.resolution.discrete.all():
        one = summary.repeated == 1
        repeats = (
            "sample repeats the one before it" if one else "samples repeat the one before them"
        )
        warnings.warn(
            f"{summary.repeated} {repeats} exactly (a stalled sensor, padding or a state stuck at "
            "a limit). Such steps count as steps without noise and pull the tensor down. Drop "
            "them if they are not real.",
            RepeatedSamplesWarning,
            stacklevel=3,
        )
    if outlier := outlier_sentence(summary, names):
        warnings.warn(outlier, OutlierWarning, stacklevel=3)


def outlier_sentence(summary: DataSummary, names: Sequence[str]) -> str:
    """Say which increment stands out, if one does."""
    worst = int(np.argmax(summary.worst))
    if summary.worst[worst] <= OUTLIER_RATIO:
        return ""
    return (
        f"the largest increment of {names[worst]} is {summary.worst[worst]:.3g} times the "
        "typical one: an outlier, a jump or a gap in the record. Split or clean the "
        "trajectory there."
    )
