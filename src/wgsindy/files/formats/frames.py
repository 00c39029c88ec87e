"""Data frames of any kind and arrays in memory -> :class:`Table`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from wgsindy.errors import DataError
from wgsindy.files.formats.arrays import tables_of_arrays
from wgsindy.files.table import Column, Table, positional_name

LARGEST = sys.float_info.max


def is_frame(source: object) -> bool:
    """Whether a source is a data frame that narwhals knows (polars, pandas, pyarrow, ...)."""
    if isinstance(source, (np.ndarray, str, bytes, list, tuple, dict)):
        return False
    import narwhals as nw

    return nw.dependencies.is_into_dataframe(source) or isinstance(
        nw.from_native(source, pass_through=True), nw.LazyFrame
    )


def table_of_frame(source: Any, label: str) -> Table:
    """Copy a data frame, column by column."""
    import narwhals as nw

    try:
        frame = nw.from_native(source)
    except nw.exceptions.NarwhalsError as error:  # two columns of one name
        raise DataError(f"{label} cannot be read: {' '.join(str(error).split())}.") from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    index = nw.maybe_get_index(frame)
    if index is not None and is_column(index):
        frame = nw.from_native(_named(frame.to_native()).reset_index(), eager_only=True)
    names = [str(name) for name in frame.columns]
    if len(set(names)) != len(names):
        raise DataError(f"{label} has columns of the same name: {names}.")
    columns = {
        # Not by name: one that is a number or a tuple would be taken for rows.
        name: _column(series)
        for name, series in zip(names, frame.iter_columns(), strict=True)
    }
    return Table(label, columns)


def is_column(index: Any) -> bool:
    """Whether an index is a column that pandas hides: it has names, times or fractions.

    Any other counts rows.
    """
    names = [name for name in getattr(index, "names", [index.name]) if name is not None]
    kind = str(index.dtype)
    return bool(names) or any(word in kind for word in ("datetime", "timedelta", "period", "float"))


def _named(frame: Any) -> Any:
    """Call an index of times without a name what it is; periods begin where they begin."""
    index = frame.index
    if str(index.dtype).startswith("period"):
        index = index.to_timestamp()
    if index.nlevels == 1 and index.name is None:
        index = index.rename("time")
    return frame.set_axis(index)


def _column(series: Any) -> Column:
    import narwhals as nw

    kind = series.dtype
    if kind.is_numeric():
        if kind.is_integer() and series.null_count() == 0:
            return np.asarray(series.to_numpy())
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if kind == nw.Date:
        series, kind = series.cast(nw.Datetime("us")), nw.Datetime("us")
    if kind == nw.Datetime:
        stamps = series.dt.timestamp("us").to_list()
        missing = np.iinfo(np.int64).min  # NumPy's NaT
        ticks = [missing if s is None or s != s else int(s) for s in stamps]
        return np.array(ticks, dtype=np.int64).view("datetime64[us]")
    if kind == nw.Duration:
        lasted = [None if v is None or v != v else v.total_seconds() for v in series.to_list()]
        return np.array(lasted, dtype=np.float64)
    values = [None if value is None or value != value else value for value in series.to_list()]
    if kind == nw.Object and all(_is_number(value) for value in values):
        return np.array(values, dtype=object).astype(np.float64)
    return np.array([None if value is None else str(value) for value in values], dtype=object)


def _is_number(value: object) -> bool:
    """Whether a field of a database, or a gap; numbers that no float holds stay text."""
    real = isinstance(value, Real | Decimal) and not isinstance(value, bool)
    return value is None or (real and abs(value) < LARGEST)  # type: ignore[arg-type]


def tables_of_memory(source: Any) -> list[Table]:
    """Lay out arrays: ``(n,)``, ``(n, d)``, ``(R, n, d)``, a list of them, or a mapping.

    Raises
    ------
    DataError
        If the source is none of them.
    """
    if isinstance(source, Mapping):
        return tables_of_arrays(
            {str(k): _array(v, str(k)) for k, v in source.items()}, "the arrays"
        )
    if isinstance(source, (list, tuple)) and not all(np.isscalar(item) for item in source):
        return [
            table
            for k, item in enumerate(source)
            for table in (
                [table_of_frame(item, f"data frame {k}")]
                if is_frame(item)
                else tables_of_arrays({positional_name(0): _array(item, f"{k}")}, f"array {k}")
            )
        ]
    return tables_of_arrays({positional_name(0): _array(source, "the source")}, "the array")


def _array(source: Any, name: str) -> Column:
    try:
        array = np.ma.asanyarray(source) if np.ma.isMaskedArray(source) else np.asarray(source)
    except (TypeError, ValueError):
        array = np.empty((), dtype=object)
    if array.ndim == 0 and name != "dt":
        raise DataError(
            f"a source of type {type(source).__name__} cannot be read; pass a path, several paths, "
            "a data frame or arrays."
        )
    return array
