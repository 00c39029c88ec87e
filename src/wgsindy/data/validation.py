"""Checks of what a caller hands over: states, sampling intervals, times, names of coordinates.

Each returns arrays that can be used as they are, or says in a sentence which trajectory is wrong.
"""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from wgsindy.data.arrays import FloatArray, IntArray
from wgsindy.errors import DataError, NotEnoughDataError, WgsindyError


def real_numbers(value: Any, name: str, error: type[WgsindyError] = DataError) -> FloatArray:
    """Return an argument that is an array of real numbers, NaN where they are masked."""
    kind = ""
    try:
        raw = np.ma.asanyarray(value) if np.ma.isMaskedArray(value) else np.asarray(value)
        kind = raw.dtype.kind
        if value is None or kind in "cmM":
            raise TypeError
        return np.ma.filled(raw.astype(np.float64), np.nan)
    except (TypeError, ValueError, OverflowError):
        shown = " ".join(repr(value).split())
        refused = "Complex data not supported: " if kind == "c" else ""  # as scikit-learn says it
        raise error(f"{refused}{name} must be real numbers, got {shown:.80}.") from None


def real_number(value: Any, name: str, error: type[WgsindyError] = DataError) -> float:
    """Return an argument that is one real number."""
    found = real_numbers(value, name, error)
    if found.ndim:
        raise error(f"{name} must be one number, got {value!r:.80}.")
    return float(found)


def whole_number(
    value: Any,
    name: str,
    least: int,
    error: type[WgsindyError] = DataError,
    most: int | None = None,
) -> int:
    """Return an argument that is a whole number from ``least`` on, or up to ``most``."""
    if not isinstance(value, int | np.integer) or not least <= value <= (most or value):
        until = "on" if most is None else f"to {most}"
        raise error(f"{name} must be a whole number from {least} {until}, got {value!r:.80}.")
    return int(value)


def checked_states(states: Any) -> tuple[FloatArray, IntArray]:
    """Return all states, trajectory after trajectory, ``(N, d)``, and ``lengths (R,)``.

    ``states`` is one ``(n, d)`` array, one ``(R, n, d)`` array or a list of ``(n, d)`` arrays;
    one-dimensional arrays are trajectories of a scalar process. Values may be NaN or infinite.
    """
    if hasattr(states, "tocsr"):  # SciPy's sparse arrays and matrices
        raise DataError("states in a sparse array are not supported; pass its toarray().")
    if isinstance(states, np.ndarray) and states.ndim in (1, 2):
        states = [states]
    try:
        if isinstance(states, str | bytes | set | dict) or hasattr(states, "columns"):
            raise TypeError
        listed = list(states)
    except TypeError:
        raise DataError(
            f"trajectories must be an array or a list of arrays, got {type(states).__name__}; "
            "wgsindy.read takes files and tables."
        ) from None
    if not listed:
        raise NotEnoughDataError("there are no trajectories: the list of arrays is empty.")
    if all(np.isscalar(item) for item in listed):
        listed = [listed]
    arrays = [_as_trajectory(index, item) for index, item in enumerate(listed)]
    odd = next((i for i, one in enumerate(arrays) if one.shape[1] != arrays[0].shape[1]), None)
    if odd is not None:
        raise DataError(
            f"all trajectories must have the same number of coordinates: trajectory 0 has "
            f"{arrays[0].shape[1]}, trajectory {odd} has {arrays[odd].shape[1]}."
        )
    lengths = np.array([len(one) for one in arrays], dtype=np.int64)
    return np.concatenate(arrays), lengths


def _as_trajectory(index: int, states: Any) -> FloatArray:
    """Return ``states`` as numbers ``(n, d)``, ``n`` at least 2, NaN where they are masked."""
    array = real_numbers(states, f"trajectory {index}, states of shape (n, d),")
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
    return array


def check_columns(states: FloatArray) -> None:
    """Refuse ``states (N, d)`` with a coordinate that has no value at all."""
    empty = np.flatnonzero(~np.isfinite(states).any(axis=0))
    if len(empty):
        raise DataError(
            f"coordinate {empty[0]} is NaN or infinite in all {len(states)} samples; leave it out."
        )


def checked_names(names: Sequence[str] | None, dimension: int) -> tuple[str, ...]:
    """Return names that can stand in a formula, the usual ones unless given."""
    if names is None:
        return (
            ("x", "y", "z")[:dimension]
            if dimension <= 3
            else tuple(f"x{i}" for i in range(1, dimension + 1))
        )
    if not isinstance(names, Iterable):
        raise DataError(f"names must be a list, one for each coordinate, got {names!r:.80}.")
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


def checked_dt(dt: Any, n_trajectories: int) -> FloatArray:
    """Return one sampling interval per trajectory, ``(n_trajectories,)``."""
    values = real_numbers(dt, "dt, a number or one per trajectory,")
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n_trajectories):
        raise DataError(
            f"dt has shape {values.shape} for {n_trajectories} trajectories; pass one number, or "
            "one per trajectory. Sampling times go to times=."
        )
    values = np.broadcast_to(values, (n_trajectories,))
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(bad):
        raise DataError(
            f"dt must be > 0, got {values[bad[0]]} for trajectory {bad[0]}; pass the sampling "
            "interval."
        )
    return values


def checked_steps(times: Any, lengths: IntArray) -> FloatArray:
    """Return the time from each sample to the next, ``(N,)``; at the end of a trajectory 0."""
    ends = np.cumsum(lengths)
    together = _as_times(times, lengths)
    steps = np.append(np.diff(together), 0.0)
    wrong = ~(np.isfinite(steps) & (steps > 0))
    wrong[ends - 1] = False
    if wrong.any():
        index = int(np.searchsorted(ends, np.argmax(wrong), side="right"))
        first = ends[index] - lengths[index]
        bad = np.flatnonzero(wrong[first : ends[index]])
        raise DataError(
            f"times must increase: trajectory {index} goes from {together[first + bad[0]]} to "
            f"{together[first + bad[0] + 1]} at sample {bad[0] + 1} ({len(bad)} such steps); sort "
            "the samples and drop duplicates."
        )
    # One slot per sample keeps steps aligned with states; the last one is never read.
    steps[ends - 1] = 0.0
    return steps


def _as_times(times: Any, lengths: IntArray) -> FloatArray:
    """Return the times of all samples, ``(N,)``."""
    if isinstance(times, np.ndarray) and times.ndim == 1:
        times = [times] * len(lengths)
    try:
        listed = [real_numbers(one, "times (of dates, seconds since the first)") for one in times]
    except TypeError:
        raise DataError("times must be one array of numbers per trajectory.") from None
    if len(lengths) == 1 and len(listed) == lengths[0] and all(one.ndim == 0 for one in listed):
        listed = [np.array(listed)]
    if len(listed) != len(lengths):
        raise DataError(
            f"{len(lengths)} trajectories need {len(lengths)} arrays of times, got {len(listed)}."
        )
    for index, (one, length) in enumerate(zip(listed, lengths.tolist(), strict=True)):
        if one.shape != (length,):
            raise DataError(
                f"trajectory {index} has {length} samples but times of shape {one.shape}."
            )
    return np.concatenate(listed)


def inputs_last(names: Sequence[str], inputs: Sequence[str]) -> tuple[list[int], tuple[str, ...]]:
    """Columns in the order in which they are kept, ``inputs`` behind the others, and these.

    Raises
    ------
    DataError
        If an input is no coordinate, or no coordinate is left that has an equation.
    """
    last = (inputs,) if isinstance(inputs, str) else tuple(inputs)
    unknown = [name for name in last if name not in names]
    if unknown:
        raise DataError(f"there is no input {unknown[0]!r}; there are {list(names)}.")
    if len(set(last)) != len(last) or len(last) >= len(names):
        raise DataError(
            f"inputs {list(last)} of the coordinates {list(names)}: name each once, and leave at "
            "least one coordinate that has an equation."
        )
    driven = [column for column, name in enumerate(names) if name not in last]
    return [*driven, *(list(names).index(name) for name in last)], last
