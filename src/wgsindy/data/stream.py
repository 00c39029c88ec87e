"""Trajectories that are read piece by piece, in memory that does not grow with their number."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray, frozen
from wgsindy.data.dataset import LOOK_AHEAD, WINDOW_SIZE, Dataset, Values, Window
from wgsindy.data.source import (
    Piece,
    ReplacedShard,
    Shard,
    ThinnedShard,
    pieces_of,
    steps_of,
    tally,
)
from wgsindy.data.trajectories import check_every, checked_names, too_thin
from wgsindy.errors import DataError, NotEnoughDataError, ShortPiecesWarning


class Stream(Dataset):
    """Trajectories that stay where they are; a fit takes them like :class:`Trajectories`.

    Samples of one id that follow each other are one trajectory, whatever blocks they come in. A
    trajectory of one sample has no increment and is left out. Gaps and uneven steps are used as
    they are. Everything is read once to begin with, to be counted and checked.

    Parameters
    ----------
    shards : where the samples are, in order
    names : one name per coordinate, by default as for :class:`Trajectories`

    Raises
    ------
    DataError
        On NaN or infinite states, times that do not increase, blocks that contradict each other.
    NotEnoughDataError
        If there is no trajectory of two samples.

    Examples
    --------
    >>> from wgsindy.data.source import Block, CalledShard
    >>> def blocks():
    ...     for k in range(100):
    ...         yield Block(np.sin(np.arange(10.0 * k, 10.0 * k + 10.0))[:, None], 0.1)
    >>> Stream([CalledShard(blocks)])
    Stream(1 x (x), 999 increments, mean dt = 0.1)
    """

    def __init__(self, shards: Sequence[Shard], *, names: Sequence[str] | None = None) -> None:
        self._shards = tuple(shards)
        self._tally = tally(self._shards)
        self._names = checked_names(names, self._tally.dimension)
        self._keep(self._tally.lengths > 1)
        alone = int(np.count_nonzero(self._tally.lengths == 1))
        if not len(self):
            raise NotEnoughDataError(
                f"the source has {self._tally.rows[-1]} samples and no two of them follow each "
                "other in one trajectory; check the column of trajectories."
            )
        if alone:
            warnings.warn(
                f"{alone} of {len(self._tally.lengths)} trajectories have one sample and no "
                "increment: left out.",
                ShortPiecesWarning,
                stacklevel=2,
            )

    def _keep(self, kept: BoolArray) -> None:
        """Number the runs that are ``kept (Q,)``, from 0."""
        self._runs = np.flatnonzero(kept)
        self._lengths = self._tally.lengths[kept]
        self._number = np.where(kept, np.cumsum(kept) - 1, -1)
        self._offsets = np.concatenate([[0], np.cumsum(self._lengths)])
        self._path_dt = self._tally.steps[kept]

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
        if np.isnan(self._path_dt).any():
            return float(self._tally.times[self._runs].sum())
        return float(self._path_dt @ (self._lengths - 1))

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
        return self._with(self._runs[wanted])

    def _with(self, runs: IntArray) -> Stream:
        """Return the same source with some ``runs`` of it."""
        part = object.__new__(Stream)
        part._shards, part._tally, part._names = self._shards, self._tally, self._names
        part._keep(np.isin(np.arange(len(self._tally.lengths)), runs))
        return part

    def replaced(self, name: str, new: str, values: Values) -> Stream:
        """Return the stream with ``name`` replaced by ``new``, a function of it, as it is read."""
        column = self._names.index(name)
        names = [new if old == name else old for old in self._names]
        part = self._with(self._runs)
        part._shards = tuple(ReplacedShard(shard, column, values) for shard in self._shards)
        part._names = checked_names(names, self.dimension)
        return part

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
        tally = self._tally
        starts = np.cumsum(tally.lengths) - tally.lengths
        # Samples of the trajectory that each shard begins within; empty shards begin within none.
        before = np.where(tally.runs < 0, 0, tally.rows[:-1] - starts[tally.runs]).tolist()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ShortPiecesWarning)
            thin = Stream(
                [ThinnedShard(s, every, k) for s, k in zip(self._shards, before, strict=True)],
                names=self._names,
            )
        # Each run keeps its first sample, and so its number.
        return thin._with(self._runs[self._lengths > every])

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
            yield from self.excerpt(first, end).windows(size, first=first, last=end)

    def excerpt(self, first: int, last: int) -> StreamExcerpt:
        """Return where the samples at the places ``first`` to ``last`` (not included) are."""
        end = min(last + LOOK_AHEAD, self.n_samples)
        (number, until), (row, final) = zip(*map(self._found, (first, end - 1)), strict=True)
        shard, after = np.searchsorted(self._tally.rows, [row, final], side="right")
        runs = slice(int(self._tally.runs[shard - 1]), int(self._runs[until]) + 1)
        return StreamExcerpt(
            shards=self._shards[shard - 1 : after],
            place=first,
            end=end,
            skipped=row - int(self._tally.rows[shard - 1]),
            run=runs.start,
            number=self._number[runs],
            first_number=number,
            path_dt=self._path_dt[number : until + 1],
            rows=int(self._tally.rows[-1]),
        )

    def _found(self, place: int) -> tuple[int, int]:
        """Return the trajectory that is at a place, and the row of the source."""
        number = int(np.searchsorted(self._offsets, place, side="right")) - 1
        before = int(self._tally.lengths[: self._runs[number]].sum())
        return number, before + place - int(self._offsets[number])


@dataclass(frozen=True)
class StreamExcerpt:
    """Places ``place`` to ``end`` (not included) of a stream, the look ahead among them.

    ``shards`` hold them, after ``skipped`` samples; the first sample of all belongs to ``run``.
    ``number`` has the trajectory of each run from there on, -1 if it is left out; ``path_dt`` the
    step of each trajectory from ``first_number`` on. The whole source has so many ``rows``.
    """

    shards: tuple[Shard, ...]
    place: int
    end: int
    skipped: int
    run: int
    number: IntArray
    first_number: int
    path_dt: FloatArray
    rows: int

    def windows(self, size: int, *, first: int, last: int) -> Iterator[Window]:
        """Yield neighbouring samples, ``size`` at a time.

        Raises
        ------
        DataError
            If the source does not yield what it did before.
        """
        last = min(last, self.end - 1)
        held = _Held(self.place)
        pieces = self._pieces()
        for start in range(first, last, size):
            stop = min(start + size, last)
            while held.end < min(stop + LOOK_AHEAD, self.end):
                piece = next(pieces, None)
                if piece is None:
                    raise _changed(self.rows)
                held.append(piece)
            yield held.window(start, stop, self.path_dt, self.first_number)

    def _pieces(self) -> Iterator[Piece]:
        """Yield the samples from ``place`` on, with the numbers of trajectories as runs."""
        skipped = self.skipped
        for _, _, piece in pieces_of(self.shards, self.run):
            if piece.run - self.run >= len(self.number):
                raise _changed(self.rows)
            number = int(self.number[piece.run - self.run])
            if skipped >= len(piece.states):
                skipped -= len(piece.states)
            elif number < 0:
                skipped = 0
            else:
                yield piece.cut(slice(skipped, None))._replace(run=number)
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
        self._pieces: list[Piece] = []

    def append(self, piece: Piece) -> None:
        self._pieces.append(piece)
        self.end += len(piece.states)

    def window(self, start: int, stop: int, path_dt: FloatArray, first_number: int) -> Window:
        """Return the places ``start`` to ``stop``, and forget what is before.

        ``path_dt`` are the steps of the trajectories from ``first_number`` on.
        """
        self._forget(start)
        ahead = min(stop + LOOK_AHEAD, self.end) - start
        taken, missing = [], ahead
        for piece in self._pieces:
            taken.append(piece.cut(slice(0, missing)))
            missing -= len(taken[-1].states)
            if not missing:
                break
        states = np.concatenate([p.states for p in taken]) if len(taken) > 1 else taken[0].states
        trajectory = np.repeat([p.run for p in taken], [len(p.states) for p in taken])
        if isinstance(taken[0].clock, float):
            steps = path_dt[trajectory[: stop - start] - first_number]
        else:
            times = np.concatenate([np.asarray(p.clock) for p in taken])
            steps = steps_of(times)[: stop - start]
        states = states.view()
        states.flags.writeable = False  # it may be the caller's own
        return Window(start, states, trajectory, steps)

    def _forget(self, start: int) -> None:
        while self._pieces and self.start + len(self._pieces[0].states) <= start:
            self.start += len(self._pieces.pop(0).states)
        if self.start < start:
            self._pieces[0] = self._pieces[0].cut(slice(start - self.start, None))
            self.start = start
