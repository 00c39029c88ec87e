"""Where samples that are not in memory come from: sources, which yield blocks.

Blocks may be cut anywhere. Samples of one id that follow each other are one trajectory.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isnan
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray, ScalarMap
from wgsindy.data.holes import LONGEST_HOLE, complete
from wgsindy.errors import DataError, NotEnoughDataError


class Block(NamedTuple):
    """Samples in time order, as they are read."""

    states: ArrayLike  # (n, d)
    clock: ArrayLike  # times of the samples (n,), or the step between them
    trajectory: Hashable | NDArray[Any] = 0  # id of the trajectory of all, or of each (n,)
    group: Hashable = 0  # most often the file: the same id in another one is another trajectory


class Source(Protocol):
    """Where samples are, and how to read them: best a path and a range of rows."""

    def blocks(self) -> Iterator[Block]:
        """Yield all samples in order, the same ones at every call."""
        ...


@dataclass(frozen=True)
class FunctionSource:
    """Blocks from a function that returns a fresh iterator at every call."""

    function: Callable[[], Iterable[Block]]

    def blocks(self) -> Iterator[Block]:
        return iter(self.function())


class TrajectoryBlock(NamedTuple):
    """Samples of one trajectory, checked; rows that lack a value are left out."""

    trajectory: int  # its number, in the order in which trajectories are read
    states: FloatArray  # (n, d)
    clock: NDArray[Any]  # (n,) times of the samples, or the rows that they are in
    dt: float  # time from one row to the next, NaN with times
    source: int  # number of the source that they were read from
    key: tuple[Hashable, Hashable]  # group and id of the trajectory
    row: int  # of the first sample
    missing: int  # rows left out since the block before

    def rows(self, rows: slice, number: int) -> TrajectoryBlock:
        """Return some of the samples, of a trajectory of that number."""
        return TrajectoryBlock(number, self.states[rows], self.clock[rows], *self[3:])


def trajectory_blocks(sources: Sequence[Source]) -> Iterator[TrajectoryBlock]:
    """Split the blocks of ``sources`` where the id changes, or too many rows lack a value.

    Trajectories and rows count from 0. If the last rows of all lack a value, a block without
    samples ends it.

    Raises
    ------
    DataError
        If states, times or ids of a block are not what they should be.
    """
    row, number, end = 0, -1, 0  # end: the row after the last sample
    before: object = ()
    for source, each in enumerate(sources):
        for block in each.blocks():
            states, clock = _as_states(block.states), _as_clock(block.clock)
            if not isinstance(clock, float) and clock.shape != states.shape[:1]:
                raise DataError(
                    f"a block has {len(states)} samples and times of shape {clock.shape}; give one "
                    "time per sample, or the step as one number."
                )
            there = complete(states)
            for name, rows in _by_id(block.trajectory, len(states)):
                key = block.group, name
                for part, first, last in _parts(rows, there):
                    number += key != before or row + first - end > LONGEST_HOLE
                    found, times = states[part], _times(clock, part, row)
                    missing = row + last + 1 - end - len(found)
                    yield TrajectoryBlock(number, found, *times, source, key, row + first, missing)
                    before, end = key, row + last + 1
            row += len(states)
    if row > end:
        yield TrajectoryBlock(
            max(number, 0), states[:0], np.arange(0), np.nan, source, key, row, row - end
        )


def _parts(rows: slice, there: BoolArray | None) -> Iterator[tuple[slice | IntArray, int, int]]:
    """Yield rows that are ``there``, the first and the last of them, up to each long hole."""
    if there is None:
        yield rows, rows.start, rows.stop - 1
        return
    kept = rows.start + np.flatnonzero(there[rows])
    for part in np.split(kept, np.flatnonzero(np.diff(kept) > LONGEST_HOLE + 1) + 1):
        if len(part):
            yield part, int(part[0]), int(part[-1])


def _times(
    clock: NDArray[Any] | float, part: slice | IntArray, row: int
) -> tuple[NDArray[Any], float]:
    """Return clock and step of a part of a block whose first row is ``row``."""
    if not isinstance(clock, float):
        return clock[part], np.nan
    count = np.arange(part.start, part.stop) if isinstance(part, slice) else part
    return row + count, clock


@dataclass(frozen=True)
class ReplacedSource:
    """The blocks of ``source`` with one coordinate replaced by a function of it."""

    source: Source
    column: int
    values: ScalarMap

    def blocks(self) -> Iterator[Block]:
        for block in self.source.blocks():
            states = _as_states(block.states).copy()  # it may be the caller's own
            states[:, self.column] = self.values(states[:, self.column])
            yield block._replace(states=states)


def steps_of(times: NDArray[Any]) -> FloatArray:
    """Return the steps between times as numbers; those between timestamps are in seconds."""
    steps = np.diff(times)
    return np.asarray(steps / np.timedelta64(1, "s") if steps.dtype.kind == "m" else steps, float)


def _as_states(states: ArrayLike) -> FloatArray:
    raw = np.asarray(states)
    if raw.dtype.kind not in "iufb":
        raise DataError(f"a block of states holds {raw.dtype}, not numbers; give (n, d) arrays.")
    array = np.ascontiguousarray(raw, dtype=np.float64)
    if array.ndim == 1 and raw.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataError(
            f"a block of states has shape {raw.shape}; each must be (n, d): one row a sample, one "
            "column a coordinate."
        )
    return array


def _as_clock(clock: ArrayLike) -> NDArray[Any] | float:
    array = np.asarray(clock)
    if array.dtype.kind not in "iufM":
        raise DataError(f"times or dt must be numbers or timestamps, got {array.dtype}.")
    if array.dtype.kind in "iu":
        array = array.astype(np.int64)  # small integers overflow, unsigned ones cannot go back
    elif array.dtype.kind == "f":
        array = array.astype(np.float64)  # steps between short floats would be rounded
    if array.ndim:
        return array
    if array.dtype.kind == "M" or not 0 < array < np.inf:
        raise DataError(f"dt must be > 0, got {array}; pass the time between two samples.")
    return float(array)


def _by_id(trajectory: Any, n: int) -> Iterator[tuple[Hashable, slice]]:
    """Yield the id and the rows of neighbouring samples with the same id."""
    if not n:
        return
    if isinstance(trajectory, list):
        trajectory = np.array(trajectory, dtype=object)
    if not (isinstance(trajectory, np.ndarray) and trajectory.ndim):
        yield trajectory, slice(0, n)
        return
    if trajectory.shape != (n,):
        raise DataError(f"a block has {n} samples and ids of shape {trajectory.shape}.")
    edges = [0, *(np.flatnonzero(trajectory[1:] != trajectory[:-1]) + 1).tolist(), n]
    for first, last in pairwise(edges):
        key = trajectory[first]
        yield key.item() if isinstance(key, np.generic) else key, slice(first, last)


@dataclass(frozen=True)
class Scan:
    """What one read of all samples found: ``Q`` trajectories in ``S`` sources."""

    dimension: int  # number of coordinates
    edges: IntArray  # (Q + 1,) samples before each trajectory, and in all
    times: FloatArray  # (Q,) observed time of each, in steps if these are known
    steps: FloatArray  # (Q,) step of each, NaN if it has times
    sources: IntArray  # (S + 1,) samples before each source, and in all
    missing: int  # rows that lack a value

    @classmethod
    def of(cls, sources: Sequence[Source]) -> Scan:
        """Count and check all samples.

        Raises
        ------
        DataError
            On times that do not increase, samples of one trajectory apart from each other, blocks
            that contradict each other. The sentence has the row: the number of rows before it.
        NotEnoughDataError
            If there is no sample.
        """
        counter = _Counter(len(sources))
        for block in trajectory_blocks(sources):
            counter.add(block)
        return counter.result()

    def number(self, samples: IntArray) -> IntArray:
        """Return the trajectory of each of ``samples (n,)``, counted from 0."""
        return np.searchsorted(self.edges, samples, side="right") - 1


@dataclass
class _Counter:
    n_sources: int
    dimension: int = 0
    missing: int = 0
    keys: set[Hashable] = field(default_factory=set)
    last_key: Hashable = None
    # There may be millions of trajectories: arrays take a quarter of what lists do.
    lengths: array[int] = field(default_factory=lambda: array("q"))
    times: array[float] = field(default_factory=lambda: array("d"))
    steps: array[float] = field(default_factory=lambda: array("d"))
    last: Any = None  # time of the last sample

    def __post_init__(self) -> None:
        self.per_source = np.zeros(self.n_sources, dtype=np.int64)

    def add(self, block: TrajectoryBlock) -> None:
        self.missing += block.missing
        if not len(block.states):
            return
        self.dimension = self.dimension or block.states.shape[1]
        if block.states.shape[1] != self.dimension:
            raise DataError(
                f"blocks must have the same number of coordinates: row 0 has {self.dimension}, row "
                f"{block.row} has {block.states.shape[1]}."
            )
        if block.trajectory == len(self.lengths):
            self._begin(block)
        self._check_step(block)
        self._add_times(block)
        self.per_source[block.source] += len(block.states)
        self.lengths[-1] += len(block.states)

    def result(self) -> Scan:
        if not self.lengths:
            missing = f" of {self.missing} rows each lacks a value" if self.missing else ""
            raise NotEnoughDataError(
                f"the source holds no samples{missing and ':'}{missing}; is it the right one?"
            )
        return Scan(
            self.dimension,
            np.concatenate([[0], np.cumsum(self.lengths)]),
            np.array(self.times),
            np.array(self.steps),
            np.concatenate([[0], np.cumsum(self.per_source)]),
            self.missing,
        )

    def _begin(self, block: TrajectoryBlock) -> None:
        name = block.key[1]
        if name is None or name != name:
            raise DataError(f"row {block.row} has no trajectory id; give each sample one.")
        if block.key in self.keys and block.key != self.last_key:
            raise DataError(
                f"trajectory {name!r} goes on at row {block.row}, after samples of others; sort "
                "the source by trajectory, then by time."
            )
        self.keys.add(block.key)
        self.last_key = block.key
        self.lengths.append(0)
        self.times.append(0.0)
        self.steps.append(block.dt)
        self.last = None
        if isnan(self.steps[0]) != isnan(self.steps[-1]):
            raise DataError(f"blocks have times or dt, not both: row {block.row} is unlike row 0.")

    def _check_step(self, block: TrajectoryBlock) -> None:
        if block.dt != self.steps[-1] and not (isnan(block.dt) and isnan(self.steps[-1])):
            raise DataError(
                f"dt changes from {self.steps[-1]} to {block.dt} within a trajectory, at row "
                f"{block.row}; give times instead."
            )

    def _add_times(self, block: TrajectoryBlock) -> None:
        if not isnan(block.dt):  # rows, which increase
            before = block.clock[0] if self.last is None else self.last
            self.times[-1] += float(block.clock[-1] - before)
            self.last = block.clock[-1]
            return
        known = block.clock if self.last is None else np.append(self.last, block.clock)
        steps = steps_of(known)
        bad = np.flatnonzero(~(np.isfinite(steps) & (steps > 0)))
        if len(bad):
            row = block.row + int(bad[0]) + (self.last is None)
            if np.isnan(known[bad[0] + 1]):
                raise DataError(
                    f"row {row} has no time (NaN); leave such rows out of the file, or pass dt."
                )
            raise DataError(
                f"times must increase within a trajectory: row {row} has {known[bad[0] + 1]} after "
                f"{known[bad[0]]}. Sort the samples, drop duplicates, and name the column of "
                "trajectories if there is one."
            )
        self.times[-1] += float(steps.sum())
        self.last = block.clock[-1]
