"""Arrays by name (NPZ, HDF5, Zarr, a mapping) -> one :class:`Table` a trajectory.

Layouts understood:

- columns: one-dimensional arrays of one length, states, times and ids alike;
- one ``(n, d)`` array, with ``(n,)`` arrays beside it (times);
- one ``(R, n, d)`` array, with ``(n,)`` or ``(R, n)`` arrays beside it;
- several ``(n_i, d)`` arrays: each a trajectory;
- several groups with the same names in them: each group a trajectory;
- a structured array: its fields are columns.

A single number called ``dt`` is the sampling interval.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.notes import listed
from wgsindy.files.table import Column, Table, positional_name

MANY_COLUMNS = 64  # no library of terms is that wide; more columns than rows are a transpose


def tables_of_arrays(arrays: Mapping[str, Column], label: str) -> list[Table]:
    """Lay named arrays out as tables.

    Raises
    ------
    DataError
        If their shapes are none of the layouts above.
    NotEnoughDataError
        If there is no array.
    """
    if not arrays:
        raise NotEnoughDataError(f"{label} holds no arrays; is it the right file?")
    groups = _groups(arrays)
    if len(groups) > 1:
        return [t for name, group in groups.items() for t in tables_of_arrays(group, name)]
    plain = {name.rsplit("/", 1)[-1]: _unpacked(array) for name, array in arrays.items()}
    if "block0_values" in plain:
        raise DataError(
            f"{label} is in the private layout of pandas; read it with pandas.read_hdf and pass "
            "the data frame."
        )
    dt = _number(plain.pop("dt", None))
    by_rank = {rank: {n: a for n, a in plain.items() if a.ndim == rank} for rank in (1, 2, 3)}
    if len(by_rank[3]) == 1:
        return _stack(next(iter(by_rank[3].values())), by_rank[1] | by_rank[2], label, dt)
    if by_rank[2] and not by_rank[3]:
        several = len(by_rank[2]) > 1
        return [
            _matrix(array, by_rank[1], f"{label}:{name}" if several else label, dt)
            for name, array in by_rank[2].items()
        ]
    lengths = {len(array) for array in by_rank[1].values()}
    if by_rank[3] or len(lengths) != 1:
        raise DataError(f"the arrays of {label} do not fit together: {_shapes(arrays)}. {ADVICE}")
    columns = _fields(by_rank[1])
    unnamed = frozenset(columns) if list(columns) == [positional_name(0)] else frozenset[str]()
    return [Table(label, columns, positional=unnamed, dt=dt)]


ADVICE = (
    "Use columns of one length, one (n, d) or (R, n, d) array with its times, or one (n, d) array "
    "per trajectory."
)


def _groups(arrays: Mapping[str, Column]) -> dict[str, dict[str, Column]]:
    groups: dict[str, dict[str, Column]] = {}
    for name, array in arrays.items():
        parent, _, leaf = name.rpartition("/")
        groups.setdefault(parent, {})[leaf] = array
    alike = {frozenset(group) for group in groups.values()}
    if len(groups) > 1 and len(alike) > 1:
        raise DataError(
            f"the groups {listed(sorted(groups))} do not hold the same arrays; a file may have "
            "one group, or one group per trajectory with the same names in each."
        )
    return groups


def _unpacked(array: Column) -> Column:
    """Return text as objects and masked numbers as NaN."""
    if np.ma.isMaskedArray(array):
        array = np.ma.filled(np.ma.asarray(array).astype(np.float64), np.nan)
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8", "replace").astype(object)
    return array.astype(object) if array.dtype.kind in "UT" else array


def _number(array: Column | None) -> float | None:
    if array is None:
        return None
    if array.size != 1 or array.dtype.kind not in "iuf":
        raise DataError(f"dt must be one number, got an array of shape {array.shape}.")
    return float(array.reshape(-1)[0])


def _fields(arrays: Mapping[str, Column]) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for name, array in arrays.items():
        for field in array.dtype.names or ():
            columns[field] = _unpacked(array[field])
        if array.dtype.names is None:
            columns[name] = array
    return columns


def _matrix(array: Column, beside: Mapping[str, Column], label: str, dt: float | None) -> Table:
    rows, width = array.shape
    if width > max(rows, MANY_COLUMNS):
        raise DataError(
            f"{label} has shape {array.shape}: {width} coordinates of {rows} samples. One row must "
            "be a sample; pass its transpose."
        )
    own = {positional_name(k): array[:, k] for k in range(width)}
    shared = {name: column for name, column in beside.items() if len(column) == rows}
    return Table(label, shared | own, positional=frozenset(own), dt=dt)


def _stack(
    array: Column, beside: Mapping[str, Column], label: str, dt: float | None
) -> list[Table]:
    trajectories, rows, _ = array.shape
    tables = []
    for index in range(trajectories):
        own = {n: a[index] for n, a in beside.items() if a.shape == (trajectories, rows)}
        own |= {n: a for n, a in beside.items() if a.shape == (rows,)}
        tables.append(_matrix(array[index], own, f"{label}[{index}]", dt))
    return tables


def _shapes(arrays: Mapping[str, Column]) -> str:
    return ", ".join(f"{name} {array.shape}" for name, array in list(arrays.items())[:8])
