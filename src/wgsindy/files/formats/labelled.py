"""xarray's labelled arrays -> :class:`Table`: the dimension of time becomes the clock."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from wgsindy.errors import DataError
from wgsindy.files.columns.roles import TIME, TRAJECTORY
from wgsindy.files.table import Column, Table

MEMBERS = ("member", "realization", "realisation", "ensemble", "number")  # of an ensemble


def is_labelled(source: object) -> bool:
    """Whether a source is an xarray ``DataArray`` or ``Dataset``."""
    return all(hasattr(source, name) for name in ("dims", "coords", "isel", "to_dataframe"))


def tables_of_labelled(source: Any) -> list[Table]:
    """Lay out labelled arrays: a table for each trajectory, a column for each variable.

    The dimension of time is the one with timestamps, else the one with such a name, else the only
    one. A dimension named after trajectories or members of an ensemble gives trajectories; every
    other one gives columns, named after its labels.

    Raises
    ------
    DataError
        If no dimension is one of time.
    """
    single = not hasattr(source, "data_vars")
    variables = {str(source.name or "x"): source} if single else dict(source.data_vars)
    time = _time(source)
    runs = [str(dim) for dim in source.dims if dim != time and _is_of_runs(str(dim))]
    tables = []
    for places in product(*(range(source.sizes[run]) for run in runs)):
        one = dict(zip(runs, places, strict=True))
        columns: dict[str, Column] = {}
        if time in source.coords:
            columns[time] = _times(source.coords[time].values)
        for name, variable in variables.items():
            own = {dim: place for dim, place in one.items() if dim in variable.dims}
            columns.update(_columns(str(name), variable.isel(own), time, alone=single))
        label = ", ".join(f"{dim} {place}" for dim, place in one.items())
        tables.append(Table(label or "the labelled array", columns))
    return tables


def _time(source: Any) -> str:
    """Find the dimension of time."""
    dims = [str(dim) for dim in source.dims]
    stamped = [d for d in dims if d in source.coords and source.coords[d].dtype.kind in "mM"]
    named = [dim for dim in dims if TIME.fullmatch(dim)]
    for found in (stamped, named, dims):
        if len(found) == 1:
            return found[0]
    raise DataError(
        f"which of the dimensions {dims} is time cannot be told; rename it to 'time' with "
        ".rename(...)."
    )


def _is_of_runs(dim: str) -> bool:
    return bool(TRAJECTORY.fullmatch(dim)) or dim.lower() in MEMBERS


def _times(values: Any) -> Column:
    if values.dtype.kind == "M":
        return np.asarray(values.astype("datetime64[us]"))
    if values.dtype.kind == "m":
        return np.asarray(values / np.timedelta64(1, "s"))
    if values.dtype.kind not in "iuf":
        raise DataError(
            f"times of type {type(values[0]).__name__} are not read; convert the calendar first, "
            "with .convert_calendar('standard')."
        )
    return np.asarray(values)


def _columns(name: str, variable: Any, time: str, *, alone: bool) -> Iterator[tuple[str, Column]]:
    """Yield the columns of one variable, a column for each label of its other dimensions."""
    if time not in variable.dims:
        return  # a number beside the series, such as a place
    others = [dim for dim in variable.dims if dim != time]
    labels = [
        variable.coords[dim].values if dim in variable.coords else np.arange(variable.sizes[dim])
        for dim in others
    ]
    for places in product(*(range(variable.sizes[dim]) for dim in others)):
        values = np.asarray(variable.isel(dict(zip(others, places, strict=True))).values)
        if values.dtype.kind not in "iufb":
            continue
        parts = [str(own[place]) for own, place in zip(labels, places, strict=True)]
        words = parts if alone and all(part.isidentifier() for part in parts) else [name, *parts]
        yield "_".join(words if parts else [name]), values.astype(np.float64)
