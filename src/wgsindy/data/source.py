"""Where samples that are not in memory come from: shards, which yield blocks, and their count.

Blocks may be cut anywhere. Samples of one id that follow each other are a *run*: one trajectory as
the source has it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wgsindy.data.arrays import FloatArray, IntArray
from wgsindy.data.dataset import Values
from wgsindy.errors import DataError, NotEnoughDataError

Clock = NDArray[Any] | float  # times of samples, numbers or datetime64; or the step between them


class Block(NamedTuple):
    """Samples in time order.

    ``states (n, d)``; ``clock`` their times ``(n,)``, or the step between them; ``trajectory`` the
    id of the trajectory they belong to, or one id for each, ``(n,)``. The same id in another
    ``group`` is another trajectory.
    """

    states: ArrayLike
    clock: ArrayLike
    trajectory: Hashable | NDArray[Any] = 0
    group: Hashable = 0


class Shard(Protocol):
    """A part of a source that can be read on its own: best a path and a range of rows."""

    def blocks(self) -> Iterator[Block]:
        """Yield all samples of the shard, in order, the same ones at every call."""
        ...


@dataclass(frozen=True)
class CalledShard:
    """Blocks from a function that returns a fresh iterator at every call."""

    function: Callable[[], Iterable[Block]]

    def blocks(self) -> Iterator[Block]:
        return iter(self.function())


class Piece(NamedTuple):
    """Neighbouring samples of one run: ``states (n, d)`` and times ``(n,)`` or step."""

    run: int
    states: FloatArray
    clock: Clock

    def cut(self, rows: slice) -> Piece:
        """Return some of the samples."""
        clock = self.clock if isinstance(self.clock, float) else self.clock[rows]
        return Piece(self.run, self.states[rows], clock)


class Found(NamedTuple):
    """A piece, the number of the shard it was found in, group and id of its run."""

    shard: int
    key: tuple[Hashable, Hashable]
    piece: Piece


def pieces_of(shards: Sequence[Shard], run: int = 0) -> Iterator[Found]:
    """Split the blocks of ``shards`` where the id changes; the first sample belongs to ``run``.

    Raises
    ------
    DataError
        If a block is none.
    """
    begun = False
    before: tuple[Hashable, Hashable] = (None, None)
    for number, shard in enumerate(shards):
        for block in shard.blocks():
            states, clock = _as_states(block.states), _as_clock(block.clock)
            if not isinstance(clock, float) and clock.shape != states.shape[:1]:
                raise DataError(
                    f"a block has {len(states)} samples and times of shape {clock.shape}; give one "
                    "time per sample, or the step as one number."
                )
            for name, rows in _groups(block.trajectory, len(states)):
                key = block.group, name
                run += int(begun and key != before)
                begun, before = True, key
                yield Found(number, key, Piece(run, states, clock).cut(rows))


@dataclass(frozen=True)
class ReplacedShard:
    """The blocks of ``shard`` with one coordinate replaced by a function of it."""

    shard: Shard
    column: int
    values: Values

    def blocks(self) -> Iterator[Block]:
        for block in self.shard.blocks():
            states = _as_states(block.states).copy()  # it may be the caller's own
            states[:, self.column] = self.values(states[:, self.column])
            yield block._replace(states=states)


@dataclass(frozen=True)
class ThinnedShard:
    """One sample in ``every`` of each run; ``before`` are samples of the first run elsewhere."""

    shard: Shard
    every: int
    before: int

    def blocks(self) -> Iterator[Block]:
        run, seen = 0, self.before
        for found in pieces_of([self.shard]):
            if found.piece.run != run:
                run, seen = found.piece.run, 0
            thin = found.piece.cut(slice(-seen % self.every, None, self.every))
            clock = thin.clock * self.every if isinstance(thin.clock, float) else thin.clock
            group, name = found.key
            yield Block(thin.states, clock, name, group)
            seen += len(found.piece.states)


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


def _groups(trajectory: Any, n: int) -> Iterator[tuple[Hashable, slice]]:
    """Yield the id and the rows of each run of equal ids."""
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
class Tally:
    """What one look at all samples found.

    ``lengths (Q,)`` samples of each run, ``times (Q,)`` its observed time, ``steps (Q,)`` its step,
    NaN if it has times; ``rows (S + 1,)`` samples before each shard and in all, ``runs (S,)`` the
    run of the first sample of each shard.
    """

    dimension: int
    lengths: IntArray
    times: FloatArray
    steps: FloatArray
    rows: IntArray
    runs: IntArray


def tally(shards: Sequence[Shard]) -> Tally:
    """Count and check all samples.

    Raises
    ------
    DataError
        On NaN or infinite states, times that do not increase, runs of one id apart from each
        other, blocks that contradict each other. The sentence has the row: samples before it.
    NotEnoughDataError
        If there is no sample.
    """
    count = _Count(len(shards))
    for found in pieces_of(shards):
        count.add(found)
    return count.result()


@dataclass
class _Count:
    n_shards: int
    dimension: int = 0
    row: int = 0  # samples so far
    keys: set[Hashable] = field(default_factory=set)
    # There may be millions of runs: arrays take a quarter of what lists do.
    lengths: array[int] = field(default_factory=lambda: array("q"))
    times: array[float] = field(default_factory=lambda: array("d"))
    steps: array[float] = field(default_factory=lambda: array("d"))
    last: Any = None  # time of the last sample

    def __post_init__(self) -> None:
        self.per_shard = np.zeros(self.n_shards, dtype=np.int64)
        self.runs = np.full(self.n_shards, -1)

    def add(self, found: Found) -> None:
        piece, n = found.piece, len(found.piece.states)
        self._check_states(piece.states)
        if piece.run == len(self.lengths):
            self._begin(found)
        if isinstance(piece.clock, float):
            self._check_step(piece.clock)
            self.times[-1] += piece.clock * (n if self.lengths[-1] else n - 1)
        else:
            self._add_times(piece.clock)
        if self.runs[found.shard] < 0:
            self.runs[found.shard] = piece.run
        self.per_shard[found.shard] += n
        self.lengths[-1] += n
        self.row += n

    def result(self) -> Tally:
        if not self.row:
            raise NotEnoughDataError("the source holds no samples; is it the right one?")
        return Tally(
            self.dimension,
            np.array(self.lengths),
            np.array(self.times),
            np.array(self.steps),
            np.concatenate([[0], np.cumsum(self.per_shard)]),
            self.runs,
        )

    def _begin(self, found: Found) -> None:
        key, clock = found.key, found.piece.clock
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
