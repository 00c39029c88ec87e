"""The one shape in which every source arrives: named columns of equal length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgsindy.data.arrays import FloatArray
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.notes import counted, listed

Column = NDArray[Any]  # numbers (NaN is missing), datetime64 (NaT), or objects (text or None)


@dataclass(frozen=True)
class Unread:
    """Fields of a column of numbers that are no numbers."""

    count: int
    example: str


@dataclass(frozen=True)
class Table:
    """Columns of one file, frame or array, before anyone decides what they mean."""

    label: str  # what errors and notes call the table
    columns: Mapping[str, Column]
    positional: frozenset[str] = frozenset()  # columns that never had a name
    refused: Mapping[str, str] = field(default_factory=dict)  # why a column gives no numbers
    unread: Mapping[str, Unread] = field(default_factory=dict)  # fields that are no numbers
    units: Mapping[str, str] = field(default_factory=dict)  # from a row of units under the names
    ragged_rows: int = 0  # rows with too few or too many fields
    encoding: str = "utf-8"
    dt: float | None = None  # arrays on disk often carry it beside the states

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return max((len(column) for column in self.columns.values()), default=0)

    def resolve(self, name: str | int) -> str:
        """Return the name of a column given by name or by position (the first is 0)."""
        names = list(self.columns)
        if isinstance(name, str) and name in self.columns:
            return name
        position = int(name) if str(name).lstrip("-").isdecimal() else None
        if position is not None and -len(names) <= position < len(names):
            return names[position]
        raise DataError(
            f"{self.label} has no column {name!r}; its columns are {listed(names, most=20)}."
        )

    def is_numeric(self, name: str) -> bool:
        """Whether a column holds numbers."""
        return self.columns[name].dtype.kind in "iuf" and name not in self.refused

    def numbers(self, name: str) -> FloatArray:
        """Return a column of numbers, ``(n,)``, NaN where missing.

        Raises
        ------
        DataError
            If the column holds text, times or numbers written in two ways.
        """
        if name in self.refused:
            raise DataError(self.refused[name])
        column = self.columns[name]
        if column.dtype.kind in "iufb":
            return column.astype(np.float64)
        example = next((str(item) for item in column if item is not None), "nothing")
        what = "times" if column.dtype.kind == "M" else "text"
        raise DataError(
            f"column {name!r} of {self.label} holds {what} (such as {example[:40]!r}), not "
            "numbers; choose other columns with states."
        )

    def size(self) -> str:
        """Return how large the table is, in words."""
        return f"{counted(self.n_rows, 'row')} of {counted(len(self.columns), 'column')}"


def require_columns(tables: Sequence[Table]) -> None:
    """Refuse tables that hold nothing."""
    for table in tables:
        if not table.columns or table.n_rows == 0:
            raise NotEnoughDataError(f"{table.label} is empty: it holds {table.size()}.")
        if len({len(column) for column in table.columns.values()}) > 1:
            raise DataError(f"the columns of {table.label} differ in length.")


def positional_name(position: int) -> str:
    """Return the name of a column that has none."""
    return f"column {position}"
