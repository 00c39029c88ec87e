"""Trajectories that are read window by window, in memory that does not grow with their samples."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from wgsindy.data.arrays import FloatArray, IntArray, ScalarMap, frozen
from wgsindy.data.dataset import LOOK_AHEAD, WINDOW_SIZE, Dataset, Window
from wgsindy.data.holes import Runs, missing_sentence
from wgsindy.data.source import (
    ReplacedSource,
    Scan,
    Source,
    TrajectoryBlock,
    steps_of,
    trajectory_blocks,
)
from wgsindy.data.validation import checked_names
from wgsindy.errors import DataError, MissingValuesWarning, NotEnoughDataError, ShortPiecesWarning


class Stream(Dataset):
    """Trajectories that stay where they are; a fit takes them like :class:`Trajectories`.

    Samples of one id that follow each other are one trajectory, whatever blocks they come in. A
    trajectory of one sample has no increment and is left out. Gaps and uneven steps are used as
    they are. A row with NaN or infinity is left out: over up to 10 such rows the step is longer, at
    more the trajectory is cut. Everything is read once to begin with, to be counted and checked.

    Parameters
    ----------
    sources : where the samples are, in order
    names : one name per coordinate, by default as for :class:`Trajectories`

    Raises
    ------
    DataError
        On times that do not increase, blocks that contradict each other.
    NotEnoughDataError
        If there is no trajectory of two samples.

    Examples
    --------
    >>> from wgsindy.data import Block
    >>> class Sine:
    ...     def blocks(self):
    ...         for k in range(100):
    ...             yield Block(np.sin(np.arange(10.0 * k, 10.0 * k + 10.0))[:, None], 0.1)
    >>> Stream([Sine()])
    Stream(1 x (x), 999 increments, mean dt = 0.1)
    """

    def __init__(self, sources: Sequence[Source], *, names: Sequence[str] | None = None) -> None:
        self._sources = tuple(sources)
        self._scan = scan = Scan.of(self._sources)
        self._names = checked_names(names, scan.dimension)
        lengths = np.diff(scan.edges)
        long = lengths > 1
        if not long.any():
            raise NotEnoughDataError(
                f"the source has {scan.edges[-1]} samples and no two of them follow each "
                "other in one trajectory; check the column of trajectories."
            )
        self._keep(Runs(scan.edges[:-1][long], lengths[long], np.arange(np.count_nonzero(long))))
        if scan.missing:
            warnings.warn(
                missing_sentence(scan.missing, len(lengths)), MissingValuesWarning, stacklevel=2
            )
        if not long.all():
            warnings.warn(
                f"{np.count_nonzero(~long)} of {len(lengths)} trajectories have one sample and no "
                "increment: left out.",
                ShortPiecesWarning,
                stacklevel=2,
            )

    def at(self, runs: Runs) -> Stream:
        """Return some samples of the same sources; rows are those that a scan counted."""
        other = object.__new__(Stream)
        other._sources, other._scan, other._names = self._sources, self._scan, self._names
        other._keep(runs)
        return other

    def _keep(self, runs: Runs) -> None:
        self._runs = runs
        self._read_as = self._scan.number(runs.first_rows)  # (R,) number in the sources
        self._dt = self._scan.steps[self._read_as]  # (R,) between two rows, NaN with times

    @property
    def runs(self) -> Runs:
        """Where the samples are in the sources."""
        return self._runs

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self._names

    @property
    def lengths(self) -> IntArray:
        """Samples of each trajectory, ``(R,)``."""
        return self._runs.lengths

    @property
    def n_samples(self) -> int:
        """Number of samples over all trajectories."""
        return int(self._runs.places[-1])

    @cached_property
    def total_time(self) -> float:
        """Observed time, summed over trajectories; read if it is not known."""
        whole = np.diff(self._scan.edges)[self._read_as]
        if not np.array_equal(self.lengths, whole):
            return sum(float(chunk.dt.sum()) for chunk in self.chunks())
        times = self._scan.times[self._read_as]
        return float(times.sum() if np.isnan(self._dt[0]) else self._dt @ times)

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
        return self.at(self._runs.subset(wanted))

    def replaced(self, name: str, new: str, values: ScalarMap) -> Stream:
        """Return the stream with ``name`` replaced by ``new``, a function of it, as it is read."""
        column = self._names.index(name)
        names = [new if old == name else old for old in self._names]
        other = copy(self)
        other._sources = tuple(ReplacedSource(source, column, values) for source in self._sources)
        other._names = checked_names(names, self.dimension)
        other.__dict__.pop("first_state", None)
        return other

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
        runs = self._runs.between(first, end)
        row = int(runs.rows[0])
        final = int(runs.rows[-1] + (runs.counts[-1] - 1) * runs.every)
        source, after = np.searchsorted(self._scan.sources, [row, final], side="right")
        origin = self._scan.sources[source - 1]
        return StreamSamples(
            sources=self._sources[source - 1 : after],
            place=first,
            end=end,
            runs=replace(runs, rows=runs.rows - origin),
            dt=self._dt[runs.trajectory[0] : runs.trajectory[-1] + 1],
            trajectories=int(np.diff(self._scan.number(np.array([origin, final])))[0]) + 1,
            samples=int(self._scan.edges[-1]),
        )


@dataclass(frozen=True)
class StreamSamples:
    """Where neighbouring samples of a stream are: little is sent when they are read elsewhere."""

    sources: tuple[Source, ...]  # those that hold the samples
    place: int  # of the first sample
    end: int  # place after the last sample, the look-ahead among them
    runs: Runs  # rows count samples of these sources, trajectories are those of the stream
    dt: FloatArray  # time between two rows of each trajectory from the first on, NaN with times
    trajectories: int  # to be read in the sources up to the last sample
    samples: int  # of all sources of the stream

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
                    raise _changed(self.samples)
                held.append(block)
            yield held.window(start, stop, self.dt, int(self.runs.trajectory[0]))

    def _blocks(self) -> Iterator[TrajectoryBlock]:
        """Yield the samples from ``place`` on, their trajectories numbered as in the stream."""
        runs, row, run = self.runs, 0, 0
        ends = runs.rows + (runs.counts - 1) * runs.every + 1
        for block in trajectory_blocks(self.sources):
            if block.trajectory >= self.trajectories and row < ends[-1]:
                raise _changed(self.samples)
            end = row + len(block.states)
            while run < len(ends) and runs.rows[run] < end:
                first, last = int(runs.rows[run]) - row, int(ends[run]) - row
                rows = slice(first if first >= 0 else first % runs.every, last, runs.every)
                found = block.rows(rows, int(runs.trajectory[run]))
                if len(found.states):
                    yield found
                if row + last > end:
                    break  # the run goes on in the next block
                run += 1
            row = end


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

        ``dt`` is the time between two rows, of the trajectories from ``first_number`` on.
        """
        self._forget(start)
        ahead = min(stop + LOOK_AHEAD, self.end) - start
        taken, missing = [], ahead
        for block in self._blocks:
            taken.append(block.rows(slice(0, missing), block.trajectory))
            missing -= len(taken[-1].states)
            if not missing:
                break
        states = np.concatenate([b.states for b in taken]) if len(taken) > 1 else taken[0].states
        trajectory = np.repeat([b.trajectory for b in taken], [len(b.states) for b in taken])
        steps = steps_of(np.concatenate([b.clock for b in taken]))[: stop - start]
        if not np.isnan(taken[0].dt):
            steps *= dt[trajectory[: stop - start] - first_number]
        states = states.view()
        states.flags.writeable = False  # it may be the caller's own
        return Window(start, states, trajectory, steps)

    def _forget(self, start: int) -> None:
        while self._blocks and self.start + len(self._blocks[0].states) <= start:
            self.start += len(self._blocks.popleft().states)
        if self.start < start:
            first = self._blocks[0]
            self._blocks[0] = first.rows(slice(start - self.start, None), first.trajectory)
            self.start = start
