"""Trajectories that are read window by window, in memory that does not grow with their samples."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray, ScalarMap, frozen
from wgsindy.data.chunk import LOOK_AHEAD, WINDOW_SIZE, Window
from wgsindy.data.dataset import Dataset
from wgsindy.data.scan import Scan
from wgsindy.data.source import (
    ReplacedSource,
    Source,
    ThinnedSource,
    TrajectoryBlock,
    steps_of,
    trajectory_blocks,
)
from wgsindy.data.validation import check_every, checked_names, too_thin
from wgsindy.errors import DataError, NotEnoughDataError, ShortPiecesWarning


class Stream(Dataset):
    """Trajectories that stay where they are; a fit takes them like :class:`Trajectories`.

    Samples of one id that follow each other are one trajectory, whatever blocks they come in. A
    trajectory of one sample has no increment and is left out. Gaps and uneven steps are used as
    they are. Everything is read once to begin with, to be counted and checked.

    Parameters
    ----------
    sources : where the samples are, in order
    names : one name per coordinate, by default as for :class:`Trajectories`

    Raises
    ------
    DataError
        On NaN or infinite states, times that do not increase, blocks that contradict each other.
    NotEnoughDataError
        If there is no trajectory of two samples.

    Examples
    --------
    >>> from wgsindy.data.source import Block, FunctionSource
    >>> def blocks():
    ...     for k in range(100):
    ...         yield Block(np.sin(np.arange(10.0 * k, 10.0 * k + 10.0))[:, None], 0.1)
    >>> Stream([FunctionSource(blocks)])
    Stream(1 x (x), 999 increments, mean dt = 0.1)
    """

    def __init__(self, sources: Sequence[Source], *, names: Sequence[str] | None = None) -> None:
        self._sources = tuple(sources)
        self._scan = Scan.of(self._sources)
        self._names = checked_names(names, self._scan.dimension)
        self._keep(self._scan.lengths > 1)
        alone = int(np.count_nonzero(self._scan.lengths == 1))
        if not len(self):
            raise NotEnoughDataError(
                f"the source has {self._scan.rows[-1]} samples and no two of them follow each "
                "other in one trajectory; check the column of trajectories."
            )
        if alone:
            warnings.warn(
                f"{alone} of {len(self._scan.lengths)} trajectories have one sample and no "
                "increment: left out.",
                ShortPiecesWarning,
                stacklevel=2,
            )

    def _keep(self, kept: BoolArray) -> None:
        """Number those trajectories of the sources that are ``kept (Q,)``, from 0."""
        self._read_as = np.flatnonzero(kept)  # (R,) number in the sources
        self._number = np.where(kept, np.cumsum(kept) - 1, -1)  # (Q,) number here, or -1
        self._lengths = self._scan.lengths[kept]
        self._lengths.flags.writeable = False
        self._offsets = np.concatenate([[0], np.cumsum(self._lengths)])
        self._dt = self._scan.steps[kept]  # (R,), NaN with times
        timed = np.isnan(self._dt).any()
        self._total_time = float(
            self._scan.times[kept].sum() if timed else self._dt @ (self._lengths - 1)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self._names

    @property
    def lengths(self) -> IntArray:
        """Samples of each trajectory, ``(R,)``."""
        return self._lengths

    @property
    def n_samples(self) -> int:
        """Number of samples over all trajectories."""
        return int(self._offsets[-1])

    @property
    def total_time(self) -> float:
        """Observed time, summed over trajectories."""
        return self._total_time

    @cached_property
    def first_state(self) -> FloatArray:
        """The first state of all, ``(d,)``."""
        return frozen(next(self.windows(1)).states[0])

    def subset(self, indices: Sequence[int]) -> Stream:
        """Return the trajectories at ``indices``, which must ascend: a stream has one order.

        Raises
        ------
        DataError
            If they do not ascend, or one is not there.
        """
        wanted = np.asarray(indices, dtype=np.int64)
        if not len(wanted):
            raise NotEnoughDataError("a subset of trajectories needs at least one index, got none.")
        if (np.diff(wanted) <= 0).any() or wanted[0] < 0 or wanted[-1] >= len(self):
            raise DataError(
                f"a stream has {len(self)} trajectories in one order; a subset needs indices of "
                f"them that ascend, got {list(indices)[:8]}."
            )
        return self._with(self._read_as[wanted])

    def _with(self, read_as: IntArray) -> Stream:
        """Return the same sources with some of their trajectories."""
        other = object.__new__(Stream)
        other._sources, other._scan, other._names = self._sources, self._scan, self._names
        other._keep(np.isin(np.arange(len(self._scan.lengths)), read_as))
        return other

    def replaced(self, name: str, new: str, values: ScalarMap) -> Stream:
        """Return the stream with ``name`` replaced by ``new``, a function of it, as it is read."""
        column = self._names.index(name)
        names = [new if old == name else old for old in self._names]
        other = self._with(self._read_as)
        other._sources = tuple(ReplacedSource(source, column, values) for source in self._sources)
        other._names = checked_names(names, self.dimension)
        return other

    def thinned(self, every: int) -> Stream:
        """Keep the first sample of each trajectory and every ``every``-th after it.

        All is read once more, to be counted anew. Trajectories too short for one such step are
        left out.

        Raises
        ------
        DataError
            If ``every`` is not a whole number from 1.
        NotEnoughDataError
            If no trajectory is long enough.
        """
        check_every(every)
        if every == 1:
            return self
        if self._lengths.max() <= every:
            raise too_thin(every, self._lengths)
        scan = self._scan
        starts = np.cumsum(scan.lengths) - scan.lengths
        # Samples of the trajectory that each source begins within; empty ones begin within none.
        before = np.where(scan.first < 0, 0, scan.rows[:-1] - starts[scan.first]).tolist()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ShortPiecesWarning)
            thin = Stream(
                [ThinnedSource(s, every, k) for s, k in zip(self._sources, before, strict=True)],
                names=self._names,
            )
        # Each trajectory keeps its first sample, and so its number.
        return thin._with(self._read_as[self._lengths > every])

    def windows(
        self, size: int = WINDOW_SIZE, *, first: int = 0, last: int | None = None
    ) -> Iterator[Window]:
        """Yield neighbouring samples, ``size`` at a time; see :class:`Dataset`.

        Raises
        ------
        DataError
            If the source does not yield what it did before.
        """
        end = self.n_samples - 1 if last is None else min(last, self.n_samples - 1)
        if first < end:
            yield from self.between(first, end).windows(size, first=first, last=end)

    def between(self, first: int, last: int) -> StreamSamples:
        """Return where the samples at the places ``first`` to ``last`` (not included) are."""
        end = min(last + LOOK_AHEAD, self.n_samples)
        (number, until), (row, final) = zip(*map(self._found, (first, end - 1)), strict=True)
        source, after = np.searchsorted(self._scan.rows, [row, final], side="right")
        read = slice(int(self._scan.first[source - 1]), int(self._read_as[until]) + 1)
        return StreamSamples(
            sources=self._sources[source - 1 : after],
            place=first,
            end=end,
            skipped=row - int(self._scan.rows[source - 1]),
            number=self._number[read],
            first_number=number,
            dt=self._dt[number : until + 1],
            rows=int(self._scan.rows[-1]),
        )

    def _found(self, place: int) -> tuple[int, int]:
        """Return the trajectory that is at a place, and the row of the sources."""
        number = int(np.searchsorted(self._offsets, place, side="right")) - 1
        before = int(self._scan.lengths[: self._read_as[number]].sum())
        return number, before + place - int(self._offsets[number])


@dataclass(frozen=True)
class StreamSamples:
    """Where neighbouring samples of a stream are: little is sent when they are read elsewhere."""

    sources: tuple[Source, ...]  # those that hold the samples
    place: int  # of the first sample
    end: int  # place after the last sample, the look-ahead among them
    skipped: int  # samples of the sources before the first one
    number: IntArray  # of each trajectory that is read there, -1 if it is left out
    first_number: int  # trajectory of the first sample
    dt: FloatArray  # step of each trajectory from that one on, NaN with times
    rows: int  # samples of all sources of the stream

    def windows(self, size: int, *, first: int, last: int) -> Iterator[Window]:
        """Yield neighbouring samples, ``size`` at a time.

        Raises
        ------
        DataError
            If a source does not yield what it did before.
        """
        last = min(last, self.end - 1)
        held = _Held(self.place)
        blocks = self._blocks()
        for start in range(first, last, size):
            stop = min(start + size, last)
            while held.end < min(stop + LOOK_AHEAD, self.end):
                block = next(blocks, None)
                if block is None:
                    raise _changed(self.rows)
                held.append(block)
            yield held.window(start, stop, self.dt, self.first_number)

    def _blocks(self) -> Iterator[TrajectoryBlock]:
        """Yield the samples from ``place`` on, their trajectories numbered as in the stream."""
        skipped = self.skipped
        for block in trajectory_blocks(self.sources):
            if block.trajectory >= len(self.number):
                raise _changed(self.rows)
            number = int(self.number[block.trajectory])
            if skipped >= len(block.states):
                skipped -= len(block.states)
            elif number < 0:
                skipped = 0
            else:
                yield block.rows(slice(skipped, None))._replace(trajectory=number)
                skipped = 0


def _changed(rows: int) -> DataError:
    return DataError(
        f"the source had {rows} samples when it was first read and has others now; a fit reads it "
        "several times, so let it yield the same blocks each time and change no file meanwhile."
    )


class _Held:
    """Samples that were read and are still needed; the first of them is at place ``start``."""

    def __init__(self, start: int) -> None:
        self.start = self.end = start
        self._blocks: deque[TrajectoryBlock] = deque()

    def append(self, block: TrajectoryBlock) -> None:
        self._blocks.append(block)
        self.end += len(block.states)

    def window(self, start: int, stop: int, dt: FloatArray, first_number: int) -> Window:
        """Return the places ``start`` to ``stop``, and forget what is before.

        ``dt`` are the steps of the trajectories from ``first_number`` on.
        """
        self._forget(start)
        ahead = min(stop + LOOK_AHEAD, self.end) - start
        taken, missing = [], ahead
        for block in self._blocks:
            taken.append(block.rows(slice(0, missing)))
            missing -= len(taken[-1].states)
            if not missing:
                break
        states = np.concatenate([b.states for b in taken]) if len(taken) > 1 else taken[0].states
        trajectory = np.repeat([b.trajectory for b in taken], [len(b.states) for b in taken])
        if isinstance(taken[0].clock, float):
            steps = dt[trajectory[: stop - start] - first_number]
        else:
            times = np.concatenate([np.asarray(b.clock) for b in taken])
            steps = steps_of(times)[: stop - start]
        states = states.view()
        states.flags.writeable = False  # it may be the caller's own
        return Window(start, states, trajectory, steps)

    def _forget(self, start: int) -> None:
        while self._blocks and self.start + len(self._blocks[0].states) <= start:
            self.start += len(self._blocks.popleft().states)
        if self.start < start:
            self._blocks[0] = self._blocks[0].rows(slice(start - self.start, None))
            self.start = start
