"""What a fit may ask of data, wherever they are kept.

All samples stand in one row, trajectory after trajectory; a *place* is a position in that row. A
dataset is cut into partitions for other machines, read in windows, and added up in chunks. Chunks
begin at multiples of their size, so the sums of a pass do not depend on how the data are stored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from wgsindy.data.arrays import FloatArray, IntArray, ScalarMap, frozen
from wgsindy.data.chunk import CHUNK_SIZE, WINDOW_SIZE, Chunk, Window
from wgsindy.errors import DataError


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
    def thinned(self, every: int) -> Dataset:
        """Keep the first sample of each trajectory and every ``every``-th after it."""

    @abstractmethod
    def replaced(self, name: str, new: str, values: ScalarMap) -> Dataset:
        """Return the data with the coordinate ``name`` replaced by ``new``, a function of it."""

    @abstractmethod
    def without(self, holes: IntArray) -> Dataset:
        """Leave out the samples at the places in ``holes (H, 2)``, ascending ranges.

        Over a short hole the step is longer, at a long one the trajectory is cut; see
        :mod:`wgsindy.data.holes`.
        """

    @property
    def order(self) -> int:
        """1, or 2 if the second half of the coordinates are velocities of the first, unseen."""
        return 1

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
