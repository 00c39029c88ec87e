"""Where samples that are not in memory come from: sources, which yield blocks.

Blocks may be cut anywhere. Samples of one id that follow each other are one trajectory.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wgsindy.data.arrays import FloatArray, ScalarMap
from wgsindy.errors import DataError

Clock = NDArray[Any] | float  # times of samples, numbers or datetime64; or the step between them


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
    """Neighbouring samples of one trajectory, checked."""

    trajectory: int  # its number, in the order in which trajectories are read
    states: FloatArray  # (n, d)
    clock: Clock  # times (n,), or the step
    source: int  # number of the source that they were read from
    key: tuple[Hashable, Hashable]  # group and id of the trajectory

    def rows(self, rows: slice) -> TrajectoryBlock:
        """Return some of the samples."""
        clock = self.clock if isinstance(self.clock, float) else self.clock[rows]
        return self._replace(states=self.states[rows], clock=clock)


def trajectory_blocks(sources: Sequence[Source]) -> Iterator[TrajectoryBlock]:
    """Split the blocks of ``sources`` where the id changes; trajectories count from 0.

    Raises
    ------
    DataError
        If states, times or ids of a block are not what they should be.
    """
    number, begun = 0, False
    before: tuple[Hashable, Hashable] = (None, None)
    for source, each in enumerate(sources):
        for block in each.blocks():
            states, clock = _as_states(block.states), _as_clock(block.clock)
            if not isinstance(clock, float) and clock.shape != states.shape[:1]:
                raise DataError(
                    f"a block has {len(states)} samples and times of shape {clock.shape}; give one "
                    "time per sample, or the step as one number."
                )
            for name, rows in _by_id(block.trajectory, len(states)):
                key = block.group, name
                number += int(begun and key != before)
                begun, before = True, key
                yield TrajectoryBlock(number, states, clock, source, key).rows(rows)


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


@dataclass(frozen=True)
class ThinnedSource:
    """The first sample of each trajectory and every ``every``-th after it.

    ``before`` counts samples of the first trajectory that are in sources before this one.
    """

    source: Source
    every: int
    before: int

    def blocks(self) -> Iterator[Block]:
        number, seen = 0, self.before
        for block in trajectory_blocks([self.source]):
            if block.trajectory != number:
                number, seen = block.trajectory, 0
            thin = block.rows(slice(-seen % self.every, None, self.every))
            clock = thin.clock * self.every if isinstance(thin.clock, float) else thin.clock
            group, name = block.key
            yield Block(thin.states, clock, name, group)
            seen += len(block.states)


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


def _as_clock(clock: ArrayLike) -> Clock:
    array = np.asarray(clock)
    if array.dtype.kind not in "iufM":
        raise DataError(f"times or dt must be numbers or timestamps, got {array.dtype}.")
    if array.dtype.kind in "iu":
        array = array.astype(np.int64)  # small integers overflow, unsigned ones cannot go back
    elif array.dtype.kind == "f":
        array = array.astype(np.float64)  # steps between short floats would be rounded
    return float(array) if array.ndim == 0 else array


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
