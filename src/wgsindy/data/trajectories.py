"""Trajectories in memory; :mod:`wgsindy.data.stream` has those that are not."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray, ScalarMap
from wgsindy.data.dataset import LOOK_AHEAD, WINDOW_SIZE, Dataset, Window
from wgsindy.data.holes import (
    Runs,
    complete,
    holes_of,
    missing_sentence,
    partly_missing_sentence,
    stand_ins,
    third_differences,
    velocities,
    velocity_name,
)
from wgsindy.data.validation import (
    check_columns,
    checked_dt,
    checked_names,
    checked_states,
    checked_steps,
    inputs_last,
)
from wgsindy.errors import DataError, MissingValuesWarning, NotEnoughDataError


@dataclass(frozen=True)
class Stored:
    """What trajectories are made of: checked arrays that belong to nobody else."""

    states: FloatArray  # (n_samples, d)
    lengths: IntArray  # (R,) samples of each trajectory
    names: tuple[str, ...]
    dt: FloatArray | None  # (R,) the step of each trajectory, None with steps
    steps: FloatArray | None  # (n_samples,) time until the next sample, None with dt
    seen: BoolArray | None = None  # (n_samples, d) what was measured, None if all was
    order: int = 1  # 2 if the second half of the coordinates are velocities of the first
    inputs: tuple[str, ...] = ()  # names of the last coordinates, if these have no equation


class Trajectories(Dataset):
    """Immutable trajectories of one ``d``-dimensional process.

    Parameters
    ----------
    states : list of (n_i, d) arrays, one (n, d) array, or one (R, n, d) array
        States in time order. One-dimensional arrays are trajectories of a scalar process. A row
        in which all values are NaN or infinite is left out: over up to 10 such rows the step is
        longer, at more the trajectory is cut. A row that lacks some values is kept, with a
        stand-in for each on the line between its neighbours, which no estimate takes for data.
    dt : float or one float per trajectory, optional
        Sampling interval. Give either ``dt`` or ``times``.
    times : one (n_i,) array per trajectory, or one array shared by all, optional
        Strictly increasing sampling times; steps may be uneven.
    names : one name per coordinate, optional
        Default ``x``, ``y``, ``z``; beyond three coordinates ``x1 ... xd``.
    inputs : names of coordinates, optional
        Those that drive the others and have no equation of their own: a control, a temperature, the
        time of day. They are moved behind the others. Between samples they go straight.

    Raises
    ------
    DataError
        On a coordinate without any value, mismatched shapes, steps that are not positive, bad
        names.
    NotEnoughDataError
        On an empty list, a trajectory of fewer than two samples, or no two samples with all values.

    Warns
    -----
    MissingValuesWarning
        If rows are left out, or values are missing in rows that are kept.

    Examples
    --------
    >>> data = Trajectories([[[0.0, 1.0], [0.1, 0.9], [0.2, 0.7]]], dt=0.01)
    >>> data
    Trajectories(1 x (x, y), 2 increments, mean dt = 0.01)
    >>> data.dimension, data.n_increments, data.names
    (2, 2, ('x', 'y'))
    """

    __slots__ = ("__weakref__", "_offsets", "_stored", "_total_time")

    def __init__(
        self,
        states: Sequence[ArrayLike] | ArrayLike,
        dt: float | Sequence[float] | None = None,
        *,
        times: Sequence[ArrayLike] | ArrayLike | None = None,
        names: Sequence[str] | None = None,
        inputs: Sequence[str] = (),
    ) -> None:
        values, lengths = checked_states(states)
        names = checked_names(names, values.shape[1])
        columns, inputs = inputs_last(names, inputs)
        if (dt is None) == (times is None):
            raise DataError(
                "the sampling interval is needed once: pass dt (a number, or one per trajectory) "
                "or times (one array per trajectory), not both and not neither."
            )
        stored = Stored(
            values[:, columns],
            lengths,
            tuple(names[column] for column in columns),
            None if times is not None else checked_dt(dt, len(lengths)).copy(),
            None if times is None else checked_steps(times, lengths),
            inputs=inputs,
        )
        self._keep(stored)
        if complete(stored.states) is not None:
            check_columns(stored.states)
            self._without_missing()

    def _without_missing(self) -> None:
        """Leave out rows without any value; put stand-ins into the others."""
        empty: BoolArray = np.asarray(~np.isfinite(self.states).any(axis=1))
        some = self.without(holes_of(empty)) if empty.any() else self
        seen = np.isfinite(some.states)
        states = stand_ins(some.states, seen, some.times, some._offsets)
        self._keep(replace(some._stored, states=states, seen=seen))
        if empty.any():
            sentence = missing_sentence(int(np.count_nonzero(empty)), len(self))
            warnings.warn(sentence, MissingValuesWarning, stacklevel=3)
        if self.seen is not None:
            sentence = partly_missing_sentence(seen, self.names)
            warnings.warn(sentence, MissingValuesWarning, stacklevel=3)

    def _keep(self, stored: Stored) -> None:
        """Make the arrays read-only, and note where trajectories begin and how long they take."""
        for array in (stored.states, stored.lengths, stored.dt, stored.steps, stored.seen):
            if array is not None:
                array.flags.writeable = False
        everything = stored.seen is None or stored.seen.all()
        self._stored = replace(stored, seen=None) if everything else stored
        # (R + 1,) place of the first sample of each trajectory, and the end
        self._offsets: IntArray = np.concatenate([[0], np.cumsum(stored.lengths)]).astype(np.int64)
        if stored.dt is not None:
            self._total_time = float(stored.dt @ (stored.lengths - 1))
        elif stored.steps is not None:
            with np.errstate(over="ignore"):  # a mean step that is infinite is refused by name
                self._total_time = float(stored.steps.sum())

    def _with(self, **changed: Any) -> Self:
        """Return a copy in which some of what is stored is other."""
        other = object.__new__(type(self))
        other._keep(replace(self._stored, **changed))
        return other

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self._stored.names

    @property
    def lengths(self) -> IntArray:
        """Samples of each trajectory, ``(R,)``, read-only."""
        return self._stored.lengths

    @property
    def n_samples(self) -> int:
        """Number of samples over all trajectories."""
        return len(self.states)

    @property
    def states(self) -> FloatArray:
        """All states, trajectory after trajectory, ``(n_samples, d)``, read-only."""
        return self._stored.states

    @property
    def total_time(self) -> float:
        """Observed time, summed over trajectories."""
        return self._total_time

    @property
    def first_state(self) -> FloatArray:
        """The first state of all, ``(d,)``."""
        return self.states[0]

    @property
    def order(self) -> int:
        """1, or 2 if the second half of the coordinates are velocities of the first, unseen."""
        return self._stored.order

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the last coordinates, if these are known inputs and have no equation."""
        return self._stored.inputs

    @property
    def seen(self) -> BoolArray | None:
        """What was measured, ``(n_samples, d)``; None if everything was."""
        return self._stored.seen

    @property
    def partly_seen(self) -> float:
        """Share of samples of which some values were measured and others were not."""
        return 0.0 if self.seen is None else float(np.mean(~self.seen.all(axis=1)))

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
        return self._stored.states[self._offsets[place] : self._offsets[place + 1]]

    def _position(self, index: int) -> int:
        count = len(self._stored.lengths)
        if not -count <= index < count:
            raise IndexError(f"there is no trajectory {index}; there are {count}.")
        return index % count

    def __iter__(self) -> Iterator[FloatArray]:
        return (self[index] for index in range(len(self)))

    def subset(self, indices: Sequence[int]) -> Trajectories:
        """Return the trajectories at ``indices``, in that order."""
        if len(indices) == 0:
            raise NotEnoughDataError("a subset of trajectories needs at least one index, got none.")
        chosen = np.array([self._position(index) for index in indices])
        runs = Runs(self._offsets[chosen], self.lengths[chosen], np.arange(len(chosen)))
        return self.at(runs)

    def select(self, names: Sequence[str]) -> Trajectories:
        """Return the same trajectories seen through some of their coordinates only."""
        missing = [name for name in names if name not in self.names]
        if missing:
            raise DataError(f"there is no coordinate {missing[0]!r}; there are {list(self.names)}.")
        inputs = tuple(name for name in names if name in self.inputs)
        if inputs and tuple(names[-len(inputs) :]) != inputs:
            raise DataError(f"inputs come last; ask for {inputs[0]!r} behind the others.")
        return self._columns([self.names.index(name) for name in names], inputs)

    def driven_by(self, inputs: Sequence[str]) -> Trajectories:
        """Take some coordinates for known inputs, and move them behind the others.

        >>> Trajectories([[[0.0, 1.0], [0.1, 0.9]]], dt=0.1).driven_by(["x"]).names
        ('y', 'x')
        """
        return self._columns(*inputs_last(self.names, inputs))

    def _columns(self, columns: list[int], inputs: tuple[str, ...]) -> Trajectories:
        """Return some coordinates, of which the last ones are ``inputs``."""
        return self._with(
            states=self.states[:, columns],
            names=tuple(self.names[column] for column in columns),
            seen=None if self.seen is None else self.seen[:, columns],
            order=1,
            inputs=inputs,
        )

    def replaced(self, name: str, new: str, values: ScalarMap) -> Trajectories:
        """Return the trajectories with ``name`` replaced by ``new``, a function of it."""
        column = self.names.index(name)
        states = self.states.copy()
        states[:, column] = values(self.states[:, column])
        if complete(states) is not None:
            raise DataError(f"{new!r} is NaN or infinite at some {name!r}; mark it as missing.")
        names = checked_names([new if old == name else old for old in self.names], self.dimension)
        inputs = names[len(names) - len(self.inputs) :]
        return self._with(states=states, names=names, inputs=inputs)

    @property
    def runs(self) -> Runs:
        """Where the samples are in the array: each trajectory is one run."""
        return Runs(self._offsets[:-1], self.lengths, np.arange(len(self)))

    def at(self, runs: Runs) -> Self:
        """Return some samples of the array, with the time between them for their steps."""
        rows, lengths = runs.all_rows(), runs.lengths
        owner = np.searchsorted(self._offsets, runs.first_rows, side="right") - 1
        ends = np.cumsum(lengths) - 1
        dt, steps = self._stored.dt, self._stored.steps
        if dt is not None:
            stride = np.append(np.diff(rows), 0)
            stride[ends] = 0
            dt = dt[owner]
            if np.count_nonzero(stride != stride[0]) == len(ends):
                dt = dt * stride[0]
            else:
                steps, dt = np.repeat(dt, lengths) * stride, None
        elif steps is not None:
            steps = np.add.reduceat(steps, rows)
            steps[ends] = 0.0
        seen = None if self.seen is None else self.seen[rows]
        return self._with(states=self.states[rows], lengths=lengths, dt=dt, steps=steps, seen=seen)

    def complete(self) -> Trajectories:
        """Leave out all samples that lack a value.

        Raises
        ------
        NotEnoughDataError
            If no two samples near each other have all of them.
        """
        if self.seen is None:
            return self
        lacking: BoolArray = np.asarray(~self.seen.all(axis=1))
        return self.without(holes_of(lacking))

    def completed(self, states: FloatArray) -> Trajectories:
        """Take ``states (n_samples, d)`` as stand-ins for what was not measured."""
        assert self.seen is not None
        filled = np.where(self.seen, self.states, states)
        return self._with(states=filled, inputs=())

    def marked(self, seen: BoolArray | None, order: int) -> Trajectories:
        """Say that of the same samples ``seen (n_samples, d)`` was measured."""
        return self._with(seen=seen, order=order, inputs=())

    def third_differences(self, lag: int = 1) -> FloatArray:
        """Mean squares ``(d,)`` of third differences of samples that are ``lag`` steps apart."""
        return third_differences(self.states, self._offsets, lag)

    def with_velocities(self) -> Trajectories:
        """Take the coordinates for positions, and add their velocities, which nobody measured.

        The velocity of ``x`` is called ``v_x``; its stand-ins are differences of positions.

        >>> Trajectories([[0.0, 0.1, 0.4]], dt=0.1).with_velocities().names
        ('x', 'v_x')
        """
        names = checked_names([*self.names, *map(velocity_name, self.names)], 2 * self.dimension)
        speed = velocities(self.states, self.times, self._offsets)
        seen = np.ones(self.states.shape, dtype=bool) if self.seen is None else self.seen
        return self._with(
            states=np.hstack([self.states, speed]),
            names=names,
            seen=np.hstack([seen, np.zeros_like(seen)]),
            order=2,
            inputs=(),
        )

    @property
    def times(self) -> FloatArray:
        """Time of each sample since the first of its trajectory, ``(n_samples,)``."""
        return np.concatenate(
            [np.append(0.0, np.cumsum(self.steps(index))) for index in range(len(self))]
        )

    def steps(self, index: int) -> FloatArray:
        """Return the time steps of one trajectory, ``(n - 1,)``."""
        index = self._position(index)
        first, last = self._offsets[index], self._offsets[index + 1]
        if self._stored.steps is not None:
            return self._stored.steps[first : last - 1]
        assert self._stored.dt is not None
        return np.full(last - first - 1, self._stored.dt[index])

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
        if self._stored.steps is not None:
            steps = self._stored.steps[start:stop]
        else:
            assert self._stored.dt is not None
            steps = self._stored.dt[trajectory[: stop - start]]
        seen = None if self.seen is None else self.seen[start:ahead]
        return Window(start, self.states[start:ahead], trajectory, steps, seen)
