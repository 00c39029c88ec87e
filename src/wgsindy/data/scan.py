"""The one read that counts and checks the samples of all sources before a fit uses them."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any

import numpy as np

from wgsindy.data.arrays import FloatArray, IntArray
from wgsindy.data.source import Source, TrajectoryBlock, steps_of, trajectory_blocks
from wgsindy.errors import DataError, NotEnoughDataError


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
