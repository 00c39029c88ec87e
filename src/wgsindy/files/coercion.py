"""Whatever a Python caller has -> a dataset: readings, data frames, arrays."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from wgsindy.data import Dataset, Trajectories
from wgsindy.errors import DataError
from wgsindy.files.formats.frames import is_labelled
from wgsindy.files.notes import Reading
from wgsindy.files.reading import read


def as_dataset(
    given: Any,
    *,
    dt: float | Sequence[float] | None = None,
    t: Any = None,
    names: Sequence[str] | None = None,
) -> Dataset:
    """Return the dataset of a reading, a data frame or arrays.

    Parameters
    ----------
    given : a ``Reading``, ``Trajectories``, a ``Stream``, a data frame of any kind, one ``(n, d)``
        or ``(R, n, d)`` array, or a list of ``(n_i, d)`` arrays
    dt : sampling interval, one number or (of arrays) one a trajectory
    t : sampling times of arrays; of a data frame, the name of the column of times
    names : names of the coordinates

    Raises
    ------
    DataError
        If steps are missing, or given twice.

    Examples
    --------
    >>> as_dataset([[0.0, 1.0, 3.0]], dt=0.1, names=["u"])
    Trajectories(1 x (u), 2 increments, mean dt = 0.1)
    """
    dataset = given.data if isinstance(given, Reading) else given
    if isinstance(dataset, Dataset):
        if dt is not None or t is not None:
            asked = f"dt={dt}" if dt is not None else "t"
            raise DataError(f"these trajectories carry their own steps; leave out {asked}.")
        if names is not None and tuple(names) != dataset.names:
            raise DataError(
                f"these trajectories carry their own names {list(dataset.names)}; leave out names, "
                "or give them to whoever made the trajectories."
            )
        return dataset
    if hasattr(given, "columns") or is_labelled(given):
        step = None if dt is None else float(dt) if isinstance(dt, int | float) else dt
        return read(given, dt=step, time=t, names=names).data  # type: ignore[arg-type]
    if isinstance(given, str | PathLike):
        raise DataError(f"{given!s:.80} is no array; pass wgsindy.read of it if it is a file.")
    if dt is None and t is None:
        raise DataError(
            "arrays need the sampling interval: pass dt=... (or times, t=...), or Trajectories."
        )
    return Trajectories(given, dt, times=t, names=names)
