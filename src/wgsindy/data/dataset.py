"""What a fit may ask of data, wherever they are kept: windows of samples, chunks of increments.

All samples of a dataset stand in one row, trajectory after trajectory; a *place* is a position in
that row, counted from 0. A dataset is cut into partitions for other machines, read in windows, and
added up in chunks. Chunks begin at multiples of their size, so the sums of a pass do not depend on
how the data are stored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol, Self

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray, ScalarMap, frozen
from wgsindy.data.holes import Runs
from wgsindy.data.validation import whole_number
from wgsindy.errors import DataError

CHUNK_SIZE = 4096  # 64 kernels at so many samples are 2 MiB, beside which calls cost little
WINDOW_SIZE = 32_768  # samples: few enough to be held, enough to be worth handing over
BLOCK = 128  # samples that a pass looks at together, at most
LOOK_AHEAD = 2  # samples after a window: the end of its last increment, and of the one after


class Chunk(NamedTuple):
    """Increments that a pass adds at a time: row ``n`` is a state and the step that it takes."""

    states: FloatArray  # (n, d) where each increment begins
    increments: FloatArray  # (n, d) next state minus this one
    dt: FloatArray  # (n,) time until the next state
    trajectory: IntArray  # (n,) number of the trajectory, ascending
    following: FloatArray | None = None  # (n, d) the increment after this one, NaN if there is none
    start: int = 0  # increments of the dataset before this chunk
    seen: BoolArray | None = None  # (n, 2, d) what was measured of state and next; None if all

    @property
    def moved(self) -> BoolArray:
        """Whether the next state differs in any coordinate, ``(n,)``; not where samples repeat."""
        return moved(self.increments)

    @property
    def is_followed(self) -> BoolArray:
        """Whether there is an increment after each one, ``(n,)``."""
        assert self.following is not None
        return np.asarray(~np.isnan(self.following[:, 0]))

    def at(self, rows: BoolArray | IntArray) -> Chunk:
        """Return copies of some rows, without what follows them, nor where they begin."""
        seen = None if self.seen is None else self.seen[rows]
        return Chunk(
            self.states[rows],
            self.increments[rows],
            self.dt[rows],
            self.trajectory[rows],
            seen=seen,
        )


def moved(increments: FloatArray) -> BoolArray:
    """Tell which of ``increments (n, d)`` are not zero, ``(n,)``: not those of repeated samples."""
    columns = increments.T
    found = columns[0] != 0
    for column in columns[1:]:  # ten times faster than along the short rows
        found |= column != 0
    return found


def block_labels(chunk: Chunk, block: int = BLOCK) -> IntArray:
    """Number ``(n,)`` of the block that each row is in; those of two trajectories differ."""
    place = chunk.start + np.arange(len(chunk.dt)) + chunk.trajectory
    return place // block + chunk.trajectory


def whole_blocks(size: int) -> int:
    """Return the number of samples of whole blocks nearest to ``size``, at least one block.

    Chunks of whole blocks: then no sum over neighbours depends on how data are cut.
    """
    return BLOCK * max(round(size / BLOCK), 1)


@dataclass(frozen=True)
class Window:
    """Samples at ``m`` neighbouring places, and 1 or 2 that come after them, the look-ahead ``a``.

    What leads from one trajectory into the next is no increment: chunks leave it out.
    """

    place: int  # of the first sample
    states: FloatArray  # (m + a, d)
    trajectory: IntArray  # (m + a,)
    steps: FloatArray  # (m,) time until the next sample
    seen: BoolArray | None = None  # (m + a, d) what was measured; None if all was

    def __len__(self) -> int:
        return len(self.steps)

    def windows(self, size: int, *, first: int, last: int) -> Iterator[Window]:
        """Cut the places ``first`` to ``last`` (not included) into windows of ``size``."""
        end = min(last, self.place + len(self))
        for start in range(first, end, size):
            low, high = start - self.place, min(start + size, end) - self.place
            ahead = slice(low, high + LOOK_AHEAD)
            yield Window(
                start,
                self.states[ahead],
                self.trajectory[ahead],
                self.steps[low:high],
                None if self.seen is None else self.seen[ahead],
            )

    def chunks(self, size: int, *, following: bool = False) -> Iterator[Chunk]:
        """Cut into chunks of at most ``size`` samples; those without an increment are left out."""
        inside = self.trajectory[:-1] == self.trajectory[1:]
        for first in range(0, len(self), size):
            rows = slice(first, min(first + size, len(self)))
            if inside[rows].any():
                chunk = self._chunk(rows, inside[rows])
                if following:
                    chunk = chunk._replace(following=self._following(rows, inside))
                yield chunk

    def _chunk(self, rows: slice, inside: BoolArray) -> Chunk:
        states, dt, trajectory = self.states[rows], self.steps[rows], self.trajectory[rows]
        with np.errstate(over="ignore"):  # sums tell of numbers that leave the range
            increments = self.states[rows.start + 1 : rows.stop + 1] - states
        # Each trajectory that is over has one increment less than samples.
        start = self.place + rows.start - int(trajectory[0])
        seen = None
        if self.seen is not None:
            seen = np.stack([self.seen[rows], self.seen[rows.start + 1 : rows.stop + 1]], axis=1)
        if inside.all():
            return Chunk(states, increments, dt, trajectory, start=start, seen=seen)
        kept = np.flatnonzero(inside)  # once, and not for each array again
        return Chunk(
            states.take(kept, axis=0),
            increments.take(kept, axis=0),
            dt[kept],
            trajectory[kept],
            start=start,
            seen=None if seen is None else seen[kept],
        )

    def _following(self, rows: slice, inside: BoolArray) -> FloatArray:
        later = slice(rows.start + 1, rows.stop + 1)
        goes_on = inside[later]
        increments = np.full_like(self.states[rows], np.nan)
        ahead = self.states[later.start + 1 : later.stop + 1]
        increments[: len(ahead)] = ahead - self.states[later][: len(ahead)]
        increments[: len(goes_on)][~goes_on] = np.nan
        return increments[inside[rows]]


@dataclass(frozen=True)
class Spans:
    """Which rows of a chunk each trajectory takes: neighbouring ones, its span.

    Any numbers that neighbouring rows share may stand for trajectories.

    >>> list(Spans.of(np.array([3, 3, 4])))
    [(3, slice(0, 2, None)), (4, slice(2, 3, None))]
    """

    owner: IntArray  # (m,) the trajectory of each span
    first: IntArray  # (m,) its first row
    length: IntArray  # (m,) how many rows

    @classmethod
    def of(cls, trajectory: IntArray) -> Spans:
        """Find where equal numbers of ``trajectory (n,)`` stand next to each other."""
        first = np.append(0, np.flatnonzero(np.diff(trajectory)) + 1)
        return cls(trajectory[first], first, np.diff(np.append(first, len(trajectory))))

    def __iter__(self) -> Iterator[tuple[int, slice]]:
        """Yield the trajectory and the rows of each span."""
        for owner, first, length in zip(
            self.owner.tolist(), self.first.tolist(), self.length.tolist(), strict=True
        ):
            yield owner, slice(first, first + length)

    @cached_property
    def joined(self) -> BoolArray:
        """Whether each row and the next one are in the same span, ``(n - 1,)``."""
        inside = np.ones(int(self.length.sum()) - 1, dtype=bool)
        inside[self.first[1:] - 1] = False
        return inside

    def add_to(self, total: FloatArray, values: FloatArray) -> None:
        """Add the sums of ``values (d, n)`` over each span to its row in ``total (R, d)``."""
        total[self.owner] += self.sums(values)

    def sums(self, values: FloatArray) -> FloatArray:
        """Sums ``(m, d)`` of ``values (d, n)`` over each span."""
        return np.asarray(np.add.reduceat(values, self.first, axis=1).T)

    def paired(self, *values: FloatArray) -> tuple[list[FloatArray], Spans]:
        """Add up columns of ``values (d, n)`` two by two; the last of an odd span is left out."""
        half = self.length // 2
        first = np.cumsum(half) - half
        left = np.repeat(self.first - 2 * first, half) + 2 * np.arange(int(half.sum()))
        return [one[:, left] + one[:, left + 1] for one in values], Spans(self.owner, first, half)


class Samples(Protocol):
    """Samples at neighbouring places, held in memory or described: where to read them."""

    def windows(self, size: int, *, first: int, last: int) -> Iterator[Window]:
        """Yield the places ``first`` to ``last`` (not included) in windows of ``size``."""
        ...


class Dataset(ABC):
    """Trajectories of one ``d``-dimensional process, in memory or not.

    Every stage of a fit uses these names and no others.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates."""

    @property
    @abstractmethod
    def lengths(self) -> IntArray:
        """Samples of each trajectory, ``(R,)``, at least 2; read-only, at no cost."""

    @property
    @abstractmethod
    def n_samples(self) -> int:
        """Number of samples over all trajectories."""

    @property
    @abstractmethod
    def total_time(self) -> float:
        """Observed time, summed over trajectories."""

    @property
    @abstractmethod
    def first_state(self) -> FloatArray:
        """The first state of all, ``(d,)``."""

    @abstractmethod
    def windows(
        self, size: int = WINDOW_SIZE, *, first: int = 0, last: int | None = None
    ) -> Iterator[Window]:
        """Yield the places ``first`` to ``last`` (not included) in windows of ``size``, in order.

        The last place of all has no increment and is in no window.
        """

    @abstractmethod
    def between(self, first: int, last: int) -> Samples:
        """Return the samples at the places ``first`` to ``last`` (not included), to be sent away.

        They are those samples and their look-ahead, or where to read them, and nothing of others.
        """

    @abstractmethod
    def subset(self, indices: Sequence[int]) -> Dataset:
        """Return the trajectories at ``indices``."""

    @abstractmethod
    def replaced(self, name: str, new: str, values: ScalarMap) -> Dataset:
        """Return the data with the coordinate ``name`` replaced by ``new``, a function of it."""

    @property
    @abstractmethod
    def runs(self) -> Runs:
        """Where the samples are in what stores them."""

    @abstractmethod
    def at(self, runs: Runs) -> Self:
        """Return some samples of the same store."""

    def without(self, holes: IntArray) -> Self:
        """Leave out the samples at the places in ``holes (H, 2)``, ascending ranges.

        Over a short hole the step is longer, at a long one the trajectory is cut; see
        :mod:`wgsindy.data.holes`.
        """
        return self.at(self.runs.without(holes))

    def thinned(self, every: int) -> Self:
        """Keep the first sample of each trajectory and every ``every``-th after it.

        Trajectories too short for one such step are left out; none are joined.

        Raises
        ------
        DataError
            If ``every`` is not a whole number from 1.
        NotEnoughDataError
            If no trajectory is long enough.
        """
        return self.at(self.runs.thinned(whole_number(every, "every", 1)))

    @property
    def order(self) -> int:
        """1, or 2 if the second half of the coordinates are velocities of the first, unseen."""
        return 1

    @property
    def hidden_velocities(self) -> bool:
        """Whether the second half of the coordinates are velocities that nobody measured."""
        return self.order == 2

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the last coordinates, if these are known inputs and have no equation."""
        return ()

    @property
    def partly_seen(self) -> float:
        """Share of samples of which some values were measured and others were not."""
        return 0.0

    @property
    def dimension(self) -> int:
        """Number of coordinates ``d``."""
        return len(self.names)

    @property
    def n_increments(self) -> int:
        """Number of steps over all trajectories."""
        return self.n_samples - len(self)

    @property
    def mean_dt(self) -> float:
        """Mean step."""
        return self.total_time / self.n_increments

    def __len__(self) -> int:
        return len(self.lengths)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({len(self)} x ({', '.join(self.names)}), "
            f"{self.n_increments} increments, mean dt = {self.mean_dt:.6g})"
        )

    def chunks(self, size: int = CHUNK_SIZE, *, following: bool = False) -> Iterator[Chunk]:
        """Yield every increment once, in chunks of at most ``size``.

        No increment spans two trajectories, and none is lost between two chunks.
        """
        return Partition(self, 0, self.n_samples - 1).chunks(size, following=following)

    def states_in_turn(self) -> Iterator[FloatArray]:
        """Yield all states in order, each once, ``(n, d)`` at a time."""
        for window in self.windows():
            yield window.states[: len(window)]
        yield window.states[len(window) : len(window) + 1]  # the last one has no increment

    def sample(self, most: int) -> FloatArray:
        """States at which every k-th step begins, ``(n, d)``, however the data are stored.

        There are fewer than ``2 * most`` of them.
        """
        every = max(1, self.n_increments // most)
        found = [chunk.states[-chunk.start % every :: every].copy() for chunk in self.chunks()]
        return frozen(np.concatenate(found))

    def partitions(self, count: int) -> list[Partition]:
        """Cut into at most ``count`` partitions of about equal size, to be summed elsewhere.

        The chunks of all partitions are the chunks of the whole.

        Raises
        ------
        DataError
            If ``count`` is less than 1.
        """
        if count < 1:
            raise DataError(f"the number of partitions must be at least 1, got {count}.")
        places = self.n_samples - 1
        edges = [places * k // count for k in range(count + 1)]
        return [Partition(self, first, last) for first, last in pairwise(edges) if first < last]


@dataclass(frozen=True)
class Partition:
    """The chunks of a dataset that begin at the places ``first`` to ``last`` (not included).

    A partition of data on disk says where they are: it is small, and good on another machine that
    sees the same files. It reads beyond ``last`` what its last chunk needs.
    """

    samples: Samples
    first: int
    last: int

    def chunks(self, size: int = CHUNK_SIZE, *, following: bool = False) -> Iterator[Chunk]:
        """Yield the chunks of the partition in order."""
        for window in self.windows(size, max(1, WINDOW_SIZE // size)):
            yield from window.chunks(size, following=following)

    def windows(self, size: int, chunks: int) -> Iterator[Window]:
        """Yield windows of so many ``chunks`` of ``size`` samples that begin in the partition."""
        first, last = (-(-place // size) * size for place in (self.first, self.last))
        if first < last:
            yield from self.samples.windows(size * chunks, first=first, last=last)
