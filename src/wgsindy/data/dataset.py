"""What a fit may ask of data, wherever they are kept.

All samples stand in one row, trajectory after trajectory; a *place* is a position in that row. Data
are handed out in sections, contiguous runs of places that whoever computes may cut, and sections
are cut into chunks. Chunks begin at multiples of their size, so the sums of a pass do not depend on
how the data are stored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray, frozen
from wgsindy.errors import DataError

CHUNK_SIZE = 4096  # 64 kernels at so many samples are 2 MiB, beside which calls cost little
WINDOW_SIZE = 32_768  # samples: few enough to be held, enough to be worth handing over
LOOK_AHEAD = 2  # samples behind a section: the end of its last increment, and of the one after


Values = Callable[[FloatArray], FloatArray]  # (n,) of one coordinate to (n,) of another


class Chunk(NamedTuple):
    """A block of samples; row ``n`` is a state and what happened until the next one.

    ``states (n, d)``, ``increments (n, d)``, ``dt (n,)``, ``trajectory (n,)``, in ascending
    order of trajectories. ``following (n, d)``, if asked for, holds the increment after this
    one, zero where the trajectory ends. ``start`` counts the increments of the data before this
    chunk.
    """

    states: FloatArray
    increments: FloatArray
    dt: FloatArray
    trajectory: IntArray
    following: FloatArray | None = None
    start: int = 0

    def at(self, rows: BoolArray | IntArray) -> Chunk:
        """Return copies of some samples, without what follows them, nor where they begin."""
        return Chunk(self.states[rows], self.increments[rows], self.dt[rows], self.trajectory[rows])


@dataclass(frozen=True)
class Window:
    """Samples at ``m`` neighbouring places, the first of them at ``place``, and a look ahead.

    ``states (m + a, d)`` and ``trajectory (m + a,)`` with ``a`` = 1 or 2 samples that come after,
    ``steps (m,)`` the time until the next sample. What leads from one trajectory into the next is
    no increment: it is never handed out.
    """

    place: int
    states: FloatArray
    trajectory: IntArray
    steps: FloatArray

    def __len__(self) -> int:
        return len(self.steps)

    def windows(self, size: int, *, first: int, last: int) -> Iterator[Window]:
        """Cut the places ``first`` to ``last`` (not included) into sections of ``size``."""
        end = min(last, self.place + len(self))
        for start in range(first, end, size):
            low, high = start - self.place, min(start + size, end) - self.place
            ahead = slice(low, high + LOOK_AHEAD)
            yield Window(start, self.states[ahead], self.trajectory[ahead], self.steps[low:high])

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
        increments = self.states[rows.start + 1 : rows.stop + 1] - states
        # Each trajectory that is over has one increment less than samples.
        start = self.place + rows.start - int(trajectory[0])
        if inside.all():
            return Chunk(states, increments, dt, trajectory, start=start)
        return Chunk(
            states[inside], increments[inside], dt[inside], trajectory[inside], start=start
        )

    def _following(self, rows: slice, inside: BoolArray) -> FloatArray:
        later = slice(rows.start + 1, rows.stop + 1)
        goes_on = inside[later]
        increments = np.zeros_like(self.states[rows])
        ahead = self.states[later.start + 1 : later.stop + 1]
        increments[: len(ahead)] = ahead - self.states[later][: len(ahead)]
        increments[: len(goes_on)][~goes_on] = 0.0
        return increments[inside[rows]]


class Excerpt(Protocol):
    """Whatever has the sections of some neighbouring places."""

    def windows(self, size: int, *, first: int, last: int) -> Iterator[Window]:
        """Yield the places ``first`` to ``last`` (not included) in sections of ``size``."""
        ...


class Dataset(ABC):
    """Sample paths of one ``d``-dimensional process, in memory or not.

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
        """Samples of each trajectory, ``(R,)``, at least 2."""

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
        """Yield the places ``first`` to ``last`` (not included) in sections of ``size``, in order.

        The last place of all has no increment and is in no section.
        """

    @abstractmethod
    def excerpt(self, first: int, last: int) -> Excerpt:
        """Return the places ``first`` to ``last`` (not included) to be sent elsewhere.

        It holds those samples and their look ahead, or where they are, and nothing of the others.
        """

    @abstractmethod
    def subset(self, indices: Sequence[int]) -> Dataset:
        """Return the trajectories at ``indices``."""

    @abstractmethod
    def thinned(self, every: int) -> Dataset:
        """Keep the first sample of each trajectory and every ``every``-th after it."""

    @abstractmethod
    def replaced(self, name: str, new: str, values: Values) -> Dataset:
        """Return the data with the coordinate ``name`` replaced by ``new``, a function of it."""

    @property
    def dimension(self) -> int:
        """Number of coordinates ``d``."""
        return len(self.names)

    @property
    def n_samples(self) -> int:
        """Number of samples over all trajectories."""
        return int(self.lengths.sum())

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
        """Yield every increment once, in blocks of at most ``size``.

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
        """Cut into at most ``count`` parts of about equal size, each to be summed elsewhere.

        The chunks of all parts are the chunks of the whole.
        """
        if count < 1:
            raise DataError(f"the number of parts must be at least 1, got {count}.")
        places = self.n_samples - 1
        edges = [places * k // count for k in range(count + 1)]
        return [Partition(self, first, last) for first, last in pairwise(edges) if first < last]


@dataclass(frozen=True)
class Partition:
    """The chunks of ``data`` that begin at the places ``first`` to ``last`` (not included).

    A part of data on disk is a description of where they are: small, and good on another machine
    that sees the same files. It reads beyond ``last`` what its last chunk needs.
    """

    data: Excerpt
    first: int
    last: int

    def chunks(self, size: int = CHUNK_SIZE, *, following: bool = False) -> Iterator[Chunk]:
        """Yield the chunks of the part in order."""
        for window in self.windows(size, max(1, WINDOW_SIZE // size)):
            yield from window.chunks(size, following=following)

    def windows(self, size: int, chunks: int) -> Iterator[Window]:
        """Yield the sections of so many ``chunks`` of ``size`` samples that begin in the part."""
        first, last = (-(-place // size) * size for place in (self.first, self.last))
        if first < last:
            yield from self.data.windows(size * chunks, first=first, last=last)
