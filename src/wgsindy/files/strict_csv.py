"""Tables this package wrote itself: nothing is guessed, nothing is mended, no parser to load."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy.data.trajectories import Trajectories
from wgsindy.errors import DataError


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
