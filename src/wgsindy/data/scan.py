"""The one read that counts and checks the samples of all sources before a fit uses them."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgsindy.data.arrays import FloatArray, IntArray
from wgsindy.data.source import Source, TrajectoryBlock, steps_of, trajectory_blocks
from wgsindy.errors import DataError, NotEnoughDataError


@dataclass(frozen=True)
class Scan:
    """What one read of all samples found: ``Q`` trajectories in ``S`` sources."""

    dimension: int  # number of coordinates
    lengths: IntArray  # (Q,) samples of each trajectory
    times: FloatArray  # (Q,) observed time of each
    steps: FloatArray  # (Q,) step of each, NaN if it has times
    rows: IntArray  # (S + 1,) samples before each source, and in all
    first: IntArray  # (S,) trajectory of the first sample of each source, -1 if it has none

    @classmethod
    def of(cls, sources: Sequence[Source]) -> Scan:
        """Count and check all samples.

        Raises
        ------
        DataError
            On NaN or infinite states, times that do not increase, samples of one trajectory apart
            from each other, blocks that contradict each other. The sentence has the row: the
            number of samples before it.
        NotEnoughDataError
            If there is no sample.
        """
        counter = _Counter(len(sources))
        for block in trajectory_blocks(sources):
            counter.add(block)
        return counter.result()


@dataclass
class _Counter:
    n_sources: int
    dimension: int = 0
    row: int = 0  # samples so far
    keys: set[Hashable] = field(default_factory=set)
    # There may be millions of trajectories: arrays take a quarter of what lists do.
    lengths: array[int] = field(default_factory=lambda: array("q"))
    times: array[float] = field(default_factory=lambda: array("d"))
    steps: array[float] = field(default_factory=lambda: array("d"))
    last: Any = None  # time of the last sample

    def __post_init__(self) -> None:
        self.per_source = np.zeros(self.n_sources, dtype=np.int64)
        self.first = np.full(self.n_sources, -1)

    def add(self, block: TrajectoryBlock) -> None:
        n = len(block.states)
        self._check_states(block.states)
        if block.trajectory == len(self.lengths):
            self._begin(block)
        if isinstance(block.clock, float):
            self._check_step(block.clock)
            self.times[-1] += block.clock * (n if self.lengths[-1] else n - 1)
        else:
            self._add_times(block.clock)
        if self.first[block.source] < 0:
            self.first[block.source] = block.trajectory
        self.per_source[block.source] += n
        self.lengths[-1] += n
        self.row += n

    def result(self) -> Scan:
        if not self.row:
            raise NotEnoughDataError("the source holds no samples; is it the right one?")
        return Scan(
            self.dimension,
            np.array(self.lengths),
            np.array(self.times),
            np.array(self.steps),
            np.concatenate([[0], np.cumsum(self.per_source)]),
            self.first,
        )

    def _begin(self, block: TrajectoryBlock) -> None:
        key, clock = block.key, block.clock
        name = key[1]
        if name is None or name != name:
            raise DataError(f"row {self.row} has no trajectory id; give each sample one.")
        if key in self.keys:
            raise DataError(
                f"trajectory {name!r} goes on at row {self.row}, after samples of others; sort the "
                "source by trajectory, then by time."
            )
        self.keys.add(key)
        self.lengths.append(0)
        self.times.append(0.0)
        self.steps.append(clock if isinstance(clock, float) else np.nan)
        self.last = None
        if np.isnan(self.steps[0]) != np.isnan(self.steps[-1]):
            raise DataError(f"blocks have times or dt, not both: row {self.row} is unlike row 0.")

    def _check_states(self, states: FloatArray) -> None:
        self.dimension = self.dimension or states.shape[1]
        if states.shape[1] != self.dimension:
            raise DataError(
                f"blocks must have the same number of coordinates: row 0 has {self.dimension}, row "
                f"{self.row} has {states.shape[1]}."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            doubtful = not np.isfinite(states.sum())  # much cheaper than to look at each number
        if doubtful and not np.isfinite(states).all():
            bad = np.argwhere(~np.isfinite(states))
            row, column = bad[0]
            raise DataError(
                f"row {self.row + row} has {states[row, column]} (NaN or infinity) in coordinate "
                f"{column}; remove such rows and begin a new trajectory there, or use wg.read, "
                "which does."
            )

    def _check_step(self, step: float) -> None:
        if not (np.isfinite(step) and step > 0):
            raise DataError(f"dt must be > 0, got {step} at row {self.row}.")
        if step != self.steps[-1]:
            raise DataError(
                f"dt changes from {self.steps[-1]} to {step} within a trajectory, at row "
                f"{self.row}; give times instead."
            )

    def _add_times(self, times: NDArray[Any]) -> None:
        known = times if self.last is None else np.append(self.last, times)
        steps = steps_of(known)
        bad = np.flatnonzero(~(np.isfinite(steps) & (steps > 0)))
        if len(bad):
            row = self.row + int(bad[0]) + (self.last is None)
            raise DataError(
                f"times must increase within a trajectory: row {row} has {known[bad[0] + 1]} after "
                f"{known[bad[0]]}. Sort the samples, drop duplicates, and name the column of "
                "trajectories if there is one."
            )
        self.times[-1] += float(steps.sum())
        self.last = times[-1]
