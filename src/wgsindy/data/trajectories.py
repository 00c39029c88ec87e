"""Measured paths: the one front door for data.

Paths in memory; :mod:`wgsindy.data.stream` has those that are not.
"""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wgsindy.data.arrays import FloatArray, IntArray, frozen
from wgsindy.data.dataset import LOOK_AHEAD, WINDOW_SIZE, Dataset, Values, Window
from wgsindy.errors import DataError, NotEnoughDataError


class Trajectories(Dataset):
    """Immutable sample paths of one ``d``-dimensional process.

    Parameters
    ----------
    paths : list of (n_i, d) arrays, one (n, d) array, or one (R, n, d) array
        States in time order. One-dimensional arrays are paths of a scalar process.
    dt : float or one float per path, optional
        Sampling interval. Give either ``dt`` or ``times``.
    times : one (n_i,) array per path, or one array shared by all, optional
        Strictly increasing sampling times; steps may be uneven.
    names : one name per coordinate, optional
        Default ``x``, ``y``, ``z``; beyond three coordinates ``x1 ... xd``.

    Raises
    ------
    DataError
        On NaN or infinite states, mismatched shapes, steps that are not positive, bad names.
    NotEnoughDataError
        On an empty list or a path of fewer than two samples.

    Examples
    --------
    >>> data = Trajectories([[[0.0, 1.0], [0.1, 0.9], [0.2, 0.7]]], dt=0.01)
    >>> data.dimension, data.n_increments, data.names
    (2, 2, ('x', 'y'))
    """

    __slots__ = ("__weakref__", "_names", "_offsets", "_path_dt", "_states", "_steps")

    def __init__(
        self,
        paths: Sequence[ArrayLike] | ArrayLike,
        dt: float | Sequence[float] | None = None,
        *,
        times: Sequence[ArrayLike] | ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        arrays = _as_paths(paths)
        lengths = [len(path) for path in arrays]
        self._offsets: IntArray = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self._states = frozen(np.concatenate(arrays))
        self._names = checked_names(names, self._states.shape[1])
        if (dt is None) == (times is None):
            raise DataError(
                "the sampling interval is needed once: pass dt (a number, or one per path) or "
                "times (one array per path), not both and not neither."
            )
        self._path_dt: FloatArray | None = None
        self._steps: FloatArray | None = None
        if times is not None:
            self._steps = frozen(_steps_from_times(times, lengths))
        else:
            assert dt is not None
            self._path_dt = frozen(checked_dt(dt, len(lengths)))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self._names

    @property
    def lengths(self) -> IntArray:
        """Samples of each trajectory, ``(R,)``."""
        return np.diff(self._offsets)

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
        if self._steps is not None:
            return float(self._steps.sum())
        assert self._path_dt is not None
        return float(self._path_dt @ (self.lengths - 1))

    @property
    def first_state(self) -> FloatArray:
        """The first state of all, ``(d,)``."""
        return self._states[0]

    def __getitem__(self, index: int) -> FloatArray:
        """Return the states of one trajectory, ``(n, d)``, read-only."""
        index = self._position(index)
        return self._states[self._offsets[index] : self._offsets[index + 1]]

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
        return self._rebuilt([path[:, columns] for path in self], tuple(names), range(len(self)))

    def replaced(self, name: str, new: str, values: Values) -> Trajectories:
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
        kept = [index for index, path in enumerate(self) if len(path) > every]
        if not kept:
            raise too_thin(every, self.lengths)
        paths = [self[index][::every] for index in kept]
        if self._path_dt is not None:
            steps = [float(self._path_dt[index] * every) for index in kept]
            return Trajectories(paths, steps, names=self.names)
        times = [np.concatenate([[0.0], np.cumsum(self.steps(i))])[::every] for i in kept]
        return Trajectories(paths, times=times, names=self.names)

    def _rebuilt(
        self, paths: list[FloatArray], names: tuple[str, ...], indices: Sequence[int]
    ) -> Trajectories:
        if self._path_dt is not None:
            return Trajectories(paths, [float(self._path_dt[i]) for i in indices], names=names)
        times = [np.concatenate([[0.0], np.cumsum(self.steps(i))]) for i in indices]
        return Trajectories(paths, times=times, names=names)

    def steps(self, index: int) -> FloatArray:
        """Return the time steps of one trajectory, ``(n - 1,)``."""
        index = self._position(index)
        first, last = self._offsets[index], self._offsets[index + 1]
        if self._steps is not None:
            return self._steps[first : last - 1]
        assert self._path_dt is not None
        return np.full(last - first - 1, self._path_dt[index])

    def windows(
        self, size: int = WINDOW_SIZE, *, first: int = 0, last: int | None = None
    ) -> Iterator[Window]:
        """Yield neighbouring samples, ``size`` at a time; see :class:`Dataset`."""
        end = self.n_samples - 1 if last is None else min(last, self.n_samples - 1)
        for start in range(first, end, size):
            stop = min(start + size, end)
            yield self._section(start, stop)

    def excerpt(self, first: int, last: int) -> Window:
        """Return the samples at the places ``first`` to ``last`` (not included)."""
        return self._section(first, min(last, self.n_samples - 1))

    def _section(self, start: int, stop: int) -> Window:
        ahead = min(stop + LOOK_AHEAD, self.n_samples)
        low, high = np.searchsorted(self._offsets, [start, ahead - 1], side="right") - 1
        edges: IntArray = np.clip(self._offsets[low : high + 2], start, ahead)
        trajectory = np.repeat(np.arange(low, high + 1), np.diff(edges))
        if self._steps is not None:
            steps = self._steps[start:stop]
        else:
            assert self._path_dt is not None
            steps = self._path_dt[trajectory[: stop - start]]
        return Window(start, self._states[start:ahead], trajectory, steps)


def check_every(every: Any) -> None:
    """Refuse what is no count of samples."""
    if not isinstance(every, int | np.integer) or every < 1:
        raise DataError(f"every is a whole number from 1, got {every!r}.")


def too_thin(every: int, lengths: IntArray) -> NotEnoughDataError:
    """Say that no trajectory is long enough."""
    return NotEnoughDataError(
        f"every={every} leaves no step: the longest trajectory has {lengths.max()} samples."
    )


def _as_paths(paths: Any) -> list[FloatArray]:
    if isinstance(paths, np.ndarray) and paths.ndim in (1, 2):
        paths = [paths]
    try:
        listed = list(paths)
    except TypeError:
        raise DataError(
            f"paths must be an array or a list of arrays, got {type(paths).__name__}."
        ) from None
    if not listed:
        raise NotEnoughDataError("there are no trajectories: the list of paths is empty.")
    if all(np.isscalar(item) for item in listed):
        listed = [listed]
    arrays = [_as_path(index, path) for index, path in enumerate(listed)]
    dimensions = {path.shape[1] for path in arrays}
    if len(dimensions) > 1:
        odd = next(i for i, path in enumerate(arrays) if path.shape[1] != arrays[0].shape[1])
        raise DataError(
            f"all trajectories must have the same number of coordinates: trajectory 0 has "
            f"{arrays[0].shape[1]}, trajectory {odd} has {arrays[odd].shape[1]}."
        )
    return arrays


def _as_path(index: int, path: Any) -> FloatArray:
    try:
        raw = np.ma.asanyarray(path) if np.ma.isMaskedArray(path) else np.asarray(path)
        if raw.dtype.kind == "c":
            raise DataError(f"trajectory {index} holds complex numbers; states must be real.")
        if raw.dtype.kind in "mM":
            raise DataError(f"trajectory {index} holds times; states must be numbers.")
        array = np.ma.filled(raw.astype(np.float64), np.nan)
    except DataError:
        raise
    except (TypeError, ValueError):
        raise DataError(
            f"trajectory {index} is not an array of numbers; pass states of shape (n, d)."
        ) from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise DataError(
            f"trajectory {index} has shape {array.shape}; each trajectory must be (n, d): "
            "one row a sample, one column a coordinate."
        )
    if len(array) < 2:
        raise NotEnoughDataError(
            f"trajectory {index} has n_samples={len(array)}; an increment needs at least 2 "
            "samples, so drop this trajectory or give a longer one."
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row, column = bad[0]
        raise DataError(
            f"trajectory {index} has {array[row, column]} (NaN or infinity) at sample {row}, "
            f"coordinate {column} ({len(bad)} such values in all); remove these rows and split "
            "the trajectory there."
        )
    return array


def checked_names(names: Sequence[str] | None, dimension: int) -> tuple[str, ...]:
    """Return names that can stand in a formula, the usual ones unless given."""
    if names is None:
        return (
            ("x", "y", "z")[:dimension]
            if dimension <= 3
            else tuple(f"x{i}" for i in range(1, dimension + 1))
        )
    # Python reads identifiers in this normal form, so formulas do too.
    listed = tuple(unicodedata.normalize("NFKC", str(name)) for name in names)
    if len(listed) != dimension:
        raise DataError(f"{dimension} coordinates need {dimension} names, got {list(listed)}.")
    if len(set(listed)) != len(listed):
        raise DataError(f"coordinate names must differ from each other, got {list(listed)}.")
    for name, given in zip(listed, names, strict=True):
        if not name.isidentifier() or keyword.iskeyword(name):
            raise DataError(
                f"coordinate name {given!r} cannot stand in a formula; use letters, digits and _."
            )
    return listed


def checked_dt(dt: Any, n_paths: int) -> FloatArray:
    """Return one sampling interval per path, ``(n_paths,)``."""
    try:
        values = np.asarray(dt, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"dt must be a number or one number per trajectory, got {dt!r}.") from None
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n_paths):
        raise DataError(
            f"dt has shape {values.shape} for {n_paths} trajectories; pass one number, or one "
            "per trajectory. Sampling times go to times=."
        )
    values = np.broadcast_to(values, (n_paths,))
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(bad):
        raise DataError(
            f"dt must be > 0, got {values[bad[0]]} for trajectory {bad[0]}; pass the sampling "
            "interval."
        )
    return values


def _steps_from_times(times: Any, lengths: list[int]) -> FloatArray:
    if isinstance(times, np.ndarray) and times.ndim == 1:
        times = [times] * len(lengths)
    try:
        listed = [np.asarray(t, dtype=np.float64) for t in times]
    except (TypeError, ValueError):
        raise DataError("times must be one array of numbers per trajectory.") from None
    if len(listed) == sum(lengths) and all(t.ndim == 0 for t in listed) and len(lengths) == 1:
        listed = [np.asarray(times, dtype=np.float64)]
    if len(listed) != len(lengths):
        raise DataError(
            f"{len(lengths)} trajectories need {len(lengths)} arrays of times, got {len(listed)}."
        )
    steps = []
    for index, (path_times, length) in enumerate(zip(listed, lengths, strict=True)):
        if path_times.shape != (length,):
            raise DataError(
                f"trajectory {index} has {length} samples but times of shape {path_times.shape}."
            )
        step = np.diff(path_times)
        bad = np.flatnonzero(~(np.isfinite(step) & (step > 0)))
        if len(bad):
            raise DataError(
                f"times must increase: trajectory {index} goes from {path_times[bad[0]]} to "
                f"{path_times[bad[0] + 1]} at sample {bad[0] + 1} ({len(bad)} such steps); sort "
                "the samples and drop duplicates."
            )
        # One slot per sample keeps steps aligned with states; the last one is never read.
        steps.append(np.append(step, 0.0))
    return np.concatenate(steps)
