"""Samples as passes see them: windows of neighbouring samples, cut into chunks of increments.

All samples of a dataset stand in one row, trajectory after trajectory; a *place* is a position in
that row, counted from 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray

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
