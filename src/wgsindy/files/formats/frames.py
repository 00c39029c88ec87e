"""Data frames of any kind, Parquet, labelled arrays and arrays in memory -> tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import product
from numbers import Real
from pathlib import Path
from typing import IO, Any

import numpy as np

from wgsindy.data import Block, FunctionSource
from wgsindy.errors import DataError
from wgsindy.files.columns.roles import TIME_NAME, TRAJECTORY_NAME
from wgsindy.files.formats.arrays import tables_of_arrays
from wgsindy.files.table import (
    BLOCK_ROWS,
    HEAD_ROWS,
    Column,
    Table,
    WantedColumns,
    as_data_error,
    package_needed,
    positional_name,
)

BUFFER = 2**20  # bytes of a column held at a time: row groups of Parquet may be large

LARGEST_FLOAT = sys.float_info.max
MEMBERS = ("member", "realization", "realisation", "ensemble", "number")  # of an ensemble
SOURCE_ROWS = 2**20  # the index of all row groups is read anew for so many rows


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
    return value is None or (real and abs(value) < LARGEST_FLOAT)  # type: ignore[arg-type]


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
    others = [str(dim) for dim in source.dims if dim != time]
    runs = [d for d in others if TRAJECTORY_NAME.fullmatch(d) or d.lower() in MEMBERS]
    tables = []
    for places in product(*(range(source.sizes[run]) for run in runs)):
        one = dict(zip(runs, places, strict=True))
        columns: dict[str, Column] = {}
        if time in source.coords:
            columns[time] = _times(source.coords[time].values)
        for name, variable in variables.items():
            place_of = {dim: place for dim, place in one.items() if dim in variable.dims}
            columns.update(_columns(str(name), variable.isel(place_of), time, alone=single))
        label = ", ".join(f"{dim} {place}" for dim, place in one.items())
        tables.append(Table(label or "the labelled array", columns))
    return tables


def _time(source: Any) -> str:
    """Find the dimension of time."""
    dims = [str(dim) for dim in source.dims]
    stamped = [d for d in dims if d in source.coords and source.coords[d].dtype.kind in "mM"]
    named = [dim for dim in dims if TIME_NAME.fullmatch(dim)]
    for candidates in (stamped, named, dims):
        if len(candidates) == 1:
            return candidates[0]
    raise DataError(
        f"which of the dimensions {dims} is time cannot be told; rename it to 'time' with "
        ".rename(...)."
    )


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
        parts = [str(names[place]) for names, place in zip(labels, places, strict=True)]
        words = parts if alone and all(part.isidentifier() for part in parts) else [name, *parts]
        yield "_".join(words if parts else [name]), values.astype(np.float64)


@dataclass(frozen=True)
class ParquetTable:
    """One Parquet file, by row groups."""

    path: Path

    @contextmanager
    def _open(self) -> Iterator[Any]:
        with as_data_error(self.path, "Parquet"):
            try:
                import pyarrow.parquet
            except ImportError:
                what = f"{self.path.name} is Parquet, which is streamed"
                raise package_needed(what, "pyarrow") from None
            with pyarrow.parquet.ParquetFile(self.path, buffer_size=BUFFER) as file:
                yield file

    def head(self) -> Table:
        with self._open() as file:
            import pyarrow

            first = next(file.iter_batches(HEAD_ROWS), None)
            few = pyarrow.Table.from_batches([] if first is None else [first], file.schema_arrow)
            return table_of_frame(few, self.path.name)

    def sources(self, wanted: WantedColumns) -> list[FunctionSource]:
        with self._open() as file:
            footer = file.metadata
            rows = [footer.row_group(group).num_rows for group in range(footer.num_row_groups)]
        sources, first, held = [], 0, 0
        for group, count in enumerate(rows):
            held += count
            if held >= SOURCE_ROWS or group == len(rows) - 1:
                groups = range(first, group + 1)
                sources.append(FunctionSource(partial(self._blocks, wanted, groups)))
                first, held = group + 1, 0
        return sources

    def _blocks(self, wanted: WantedColumns, groups: range) -> Iterator[Block]:
        names = list(wanted.roles.columns)
        with self._open() as file:
            for batch in file.iter_batches(
                BLOCK_ROWS, row_groups=[*groups], columns=names, use_threads=False
            ):
                yield wanted.block(
                    {name: batch.column(name).to_numpy(zero_copy_only=False) for name in names}
                )


def parquet_frame(source: IO[bytes]) -> Any:
    """Read a Parquet file as a data frame.

    Raises
    ------
    DataError
        If it is damaged.
    """
    import polars as pl

    try:
        # Of 3000 damaged files the 422nd ended the process when its columns were decoded side by
        # side or its statistics were looked at; without both each of them raises an error.
        return pl.read_parquet(source, parallel="none", use_statistics=False)
    except pl.exceptions.PanicException as error:  # no Exception: nobody else would catch it
        raise DataError(f"the Parquet file is damaged ({error}); write it again.") from None
