"""Files in and out: tables of samples -> :class:`Trajectories`; results written atomically."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wgsindy.arrays import FloatArray
from wgsindy.errors import DataError
from wgsindy.trajectories import Trajectories


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part of it."""
    target = Path(path)
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    try:
        with open(draft, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def read_csv(
    path: str | Path, *, states: Sequence[str], time: str, trajectory: str | None = None
) -> Trajectories:
    """Read a comma-separated table with a header, one row a sample in time order.

    Parameters
    ----------
    states : names of the columns that hold the state
    time : name of the column of sampling times
    trajectory : name of a column that numbers the trajectories, if there are several

    Raises
    ------
    DataError
        If the file cannot be read, a column is missing or a field is not a number.
    """
    wanted = [*states, time, *([trajectory] if trajectory else [])]
    try:
        table = _read_columns(path, wanted)
    except DataError:
        raise
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise DataError(f"{path} is not a table of numbers: {error}.") from None
    keys = table[:, -1] if trajectory else np.zeros(len(table))
    pieces = [table[keys == key] for key in dict.fromkeys(keys.tolist())]
    d = len(states)
    return Trajectories(
        [piece[:, :d] for piece in pieces],
        times=[piece[:, d] for piece in pieces],
        names=states,
    )


def _read_columns(path: str | Path, wanted: Sequence[str]) -> FloatArray:
    with open(path, encoding="utf-8") as file:
        header = [name.strip() for name in file.readline().split(",")]
        missing = [name for name in wanted if name not in header]
        if missing:
            raise DataError(f"{path} has no column {missing[0]!r}; its columns are {header}.")
        columns = [header.index(name) for name in wanted]
        return np.loadtxt(file, delimiter=",", usecols=columns, ndmin=2)
