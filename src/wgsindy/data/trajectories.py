"""Trajectories in memory; :mod:`wgsindy.data.stream` has those that are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from wgsindy.data.arrays import FloatArray, IntArray, ScalarMap, frozen
from wgsindy.data.chunk import LOOK_AHEAD, WINDOW_SIZE, Window
from wgsindy.data.dataset import Dataset
from wgsindy.data.validation import (
    check_every,
    checked_dt,
    checked_names,
    checked_states,
    checked_steps,
    too_thin,
)
from wgsindy.errors import DataError, NotEnoughDataError


class Trajectories(Dataset):
    """Immutable trajectories of one ``d``-dimensional process.

    Parameters
    ----------
    states : list of (n_i, d) arrays, one (n, d) array, or one (R, n, d) array
        States in time order. One-dimensional arrays are trajectories of a scalar process.
    dt : float or one float per trajectory, optional
        Sampling interval. Give either ``dt`` or ``times``.
    times : one (n_i,) array per trajectory, or one array shared by all, optional
        Strictly increasing sampling times; steps may be uneven.
    names : one name per coordinate, optional
        Default ``x``, ``y``, ``z``; beyond three coordinates ``x1 ... xd``.

    Raises
    ------
    DataError
        On NaN or infinite states, mismatched shapes, steps that are not positive, bad names.
    NotEnoughDataError
        On an empty list or a trajectory of fewer than two samples.

    Examples
    --------
    >>> data = Trajectories([[[0.0, 1.0], [0.1, 0.9], [0.2, 0.7]]], dt=0.01)
    >>> data
    Trajectories(1 x (x, y), 2 increments, mean dt = 0.01)
    >>> data.dimension, data.n_increments, data.names
    (2, 2, ('x', 'y'))
    """

    __slots__ = (
        "__weakref__",
        "_dt",  # (R,) the step of each trajectory, None with times
        "_lengths",  # (R,) samples of each trajectory
        "_names",
        "_offsets",  # (R + 1,) place of the first sample of each trajectory, and the end
        "_states",  # (n_samples, d)
        "_steps",  # (n_samples,) time until the next sample, None with dt
        "_total_time",
    )

    def __init__(
        self,
        states: Sequence[ArrayLike] | ArrayLike,
        dt: float | Sequence[float] | None = None,
        *,
        times: Sequence[ArrayLike] | ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self._states, self._lengths = checked_states(states)
        self._states.flags.writeable = self._lengths.flags.writeable = False
        self._offsets: IntArray = np.concatenate([[0], np.cumsum(self._lengths)]).astype(np.int64)
        self._names = checked_names(names, self._states.shape[1])
        if (dt is None) == (times is None):
            raise DataError(
                "the sampling interval is needed once: pass dt (a number, or one per trajectory) "
                "or times (one array per trajectory), not both and not neither."
            )
        self._dt: FloatArray | None = None
        self._steps: FloatArray | None = None
        if times is not None:
            self._steps = frozen(checked_steps(times, self._lengths))
            self._total_time = float(self._steps.sum())
        else:
            self._dt = frozen(checked_dt(dt, len(self._lengths)))
            self._total_time = float(self._dt @ (self._lengths - 1))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self._names

    @property
    def lengths(self) -> IntArray:
        """Samples of each trajectory, ``(R,)``, read-only."""
        return self._lengths

    @property
    def n_samples(self) -> int:
        """Number of samples over all trajectories."""
        return len(self._states)

    @property
    def states(self) -> FloatArray:
        """All states, trajectory after trajectory, ``(n_samples, d)``, read-only."""
        return self._states

    @property
    def total_time(self) -> float:
        """Observed time, summed over trajectories."""
        return self._total_time

    @property
    def first_state(self) -> FloatArray:
        """The first state of all, ``(d,)``."""
        return self._states[0]

    @property
    def shape(self) -> tuple[int]:
        """Number of trajectories: what scikit-learn's splitters deal out."""
        return (len(self),)

    @overload
    def __getitem__(self, index: int) -> FloatArray: ...

    @overload
    def __getitem__(self, index: IntArray | tuple[IntArray, EllipsisType]) -> Trajectories: ...

    def __getitem__(
        self, index: int | IntArray | tuple[IntArray, EllipsisType]
    ) -> FloatArray | Trajectories:
        """Return the states of one trajectory, ``(n, d)``, read-only, or some trajectories."""
        if isinstance(index, tuple):  # as scikit-learn asks for rows
            index = index[0]
        if isinstance(index, np.ndarray):
            return self.subset(np.arange(len(self))[index].tolist())
        place = self._position(index)
        return self._states[self._offsets[place] : self._offsets[place + 1]]

    def _position(self, index: int) -> int:
        if not -len(self) <= index < len(self):
            raise IndexError(f"there is no trajectory {index}; there are {len(self)}.")
        return index % len(self)

    def __iter__(self) -> Iterator[FloatArray]:
        return (self[index] for index in range(len(self)))

    def subset(self, indices: Sequence[int]) -> Trajectories:
        """Return the trajectories at ``indices``, in that order."""
        if len(indices) == 0:
            raise NotEnoughDataError("a subset of trajectories needs at least one index, got none.")
        return self._rebuilt([self[i] for i in indices], self.names, indices)

    def select(self, names: Sequence[str]) -> Trajectories:
        """Return the same trajectories seen through some of their coordinates only."""
        missing = [name for name in names if name not in self.names]
        if missing:
            raise DataError(f"there is no coordinate {missing[0]!r}; there are {list(self.names)}.")
        columns = [self.names.index(name) for name in names]
        return self._rebuilt([one[:, columns] for one in self], tuple(names), range(len(self)))

    def replaced(self, name: str, new: str, values: ScalarMap) -> Trajectories:
        """Return the trajectories with ``name`` replaced by ``new``, a function of it."""
        column = self.names.index(name)
        states = self._states.copy()
        states[:, column] = values(self._states[:, column])
        names = tuple(new if old == name else old for old in self.names)
        return self._rebuilt(np.split(states, self._offsets[1:-1]), names, range(len(self)))

    def thinned(self, every: int) -> Trajectories:
        """Keep the first sample of each trajectory and every ``every``-th after it.

        Trajectories too short for one such step are left out; none are joined.

        Raises
        ------
        DataError
            If ``every`` is not a whole number from 1.
        NotEnoughDataError
            If no trajectory is long enough.
        """
        check_every(every)
        kept = np.flatnonzero(self.lengths > every).tolist()
        if not kept:
            raise too_thin(every, self.lengths)
        states = [self[index][::every] for index in kept]
        if self._dt is not None:
            steps = [float(self._dt[index] * every) for index in kept]
            return Trajectories(states, steps, names=self.names)
        times = [np.concatenate([[0.0], np.cumsum(self.steps(i))])[::every] for i in kept]
        return Trajectories(states, times=times, names=self.names)

    def _rebuilt(
        self, states: list[FloatArray], names: tuple[str, ...], indices: Sequence[int]
    ) -> Trajectories:
        if self._dt is not None:
            return Trajectories(states, [float(self._dt[i]) for i in indices], names=names)
        times = [np.concatenate([[0.0], np.cumsum(self.steps(i))]) for i in indices]
        return Trajectories(states, times=times, names=names)

    def steps(self, index: int) -> FloatArray:
        """Return the time steps of one trajectory, ``(n - 1,)``."""
        index = self._position(index)
        first, last = self._offsets[index], self._offsets[index + 1]
        if self._steps is not None:
            return self._steps[first : last - 1]
        assert self._dt is not None
        return np.full(last - first - 1, self._dt[index])

    def windows(
        self, size: int = WINDOW_SIZE, *, first: int = 0, last: int | None = None
    ) -> Iterator[Window]:
        """Yield neighbouring samples, ``size`` at a time; see :class:`Dataset`."""
        end = self.n_samples - 1 if last is None else min(last, self.n_samples - 1)
        for start in range(first, end, size):
            yield self._window(start, min(start + size, end))

    def between(self, first: int, last: int) -> Window:
        """Return the samples at the places ``first`` to ``last`` (not included)."""
        return self._window(first, min(last, self.n_samples - 1))

    def _window(self, start: int, stop: int) -> Window:
        ahead = min(stop + LOOK_AHEAD, self.n_samples)
        low, high = np.searchsorted(self._offsets, [start, ahead - 1], side="right") - 1
        edges: IntArray = np.clip(self._offsets[low : high + 2], start, ahead)
        trajectory = np.repeat(np.arange(low, high + 1), np.diff(edges))
        if self._steps is not None:
            steps = self._steps[start:stop]
        else:
            assert self._dt is not None
            steps = self._dt[trajectory[: stop - start]]
        return Window(start, self._states[start:ahead], trajectory, steps)
