"""Long tables (a row names a variable and gives its value) -> wide ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from wgsindy.errors import DataError
from wgsindy.files.table import Column, Table

VARIABLE = re.compile(r"variable|var|parameter|channel|quantity|coordinate|sensor", re.IGNORECASE)
VALUE = re.compile(r"value|val|reading|measurement", re.IGNORECASE)
MOST_VARIABLES = 64


def widened(table: Table, variable: str | int | None, value: str | int | None) -> Table:
    """Return the table with one column a variable, if it is long.

    Rows of one time and one id become one row; a variable that such a row already has begins
    another row, so that a contradiction is seen where times are checked, not here.
    """
    if (variable is None) != (value is None):
        raise DataError("a long table needs both variable and value, the names of two columns.")
    pair = (
        (table.resolve(variable), table.resolve(value))
        if variable is not None and value is not None
        else _found(table)
    )
    if pair is None:
        return table
    variables = table.columns[pair[0]].tolist()
    named = [str(v) for v in dict.fromkeys(v for v in variables if v is not None)]
    if len(named) > MOST_VARIABLES or not named:
        raise DataError(
            f"column {pair[0]!r} of {table.label} names {len(named)} variables; a long table has "
            f"between 1 and {MOST_VARIABLES}."
        )
    keys = {name: column for name, column in table.columns.items() if name not in pair}
    places, firsts = _rows(variables, list(keys.values()))
    columns: dict[str, Column] = {name: column[firsts] for name, column in keys.items()}
    for name in named:
        if name in columns:
            raise DataError(f"{table.label} has a column and a variable called {name!r}.")
        columns[name] = np.full(len(firsts), np.nan)
    for place, name, number in zip(places, variables, table.numbers(pair[1]), strict=True):
        if name is not None:
            columns[str(name)][place] = number
    unread = {name: table.unread[pair[1]] for name in named[:1] if pair[1] in table.unread}
    return replace(table, columns=columns, positional=frozenset(), unread=unread, refused={})


def _rows(variables: Sequence[Hashable], keys: Sequence[Column]) -> tuple[list[int], list[int]]:
    """Return the row of the wide table for each row of the long one, and where each begins."""
    rows: dict[Hashable, int] = {}
    seen: Counter[Hashable] = Counter()
    places: list[int] = []
    firsts: list[int] = []
    columns = (column.tolist() for column in keys)
    for index, entry in enumerate(zip(variables, *columns, strict=True)):
        seen[entry] += 1
        key = (seen[entry], *entry[1:])
        if key not in rows:
            rows[key] = len(rows)
            firsts.append(index)
        places.append(rows[key])
    return places, firsts


def _found(table: Table) -> tuple[str, str] | None:
    variables = [n for n in table.columns if VARIABLE.fullmatch(n.strip())]
    values = [n for n in table.columns if VALUE.fullmatch(n.strip())]
    if len(variables) != 1 or len(values) != 1 or not table.is_numeric(values[0]):
        return None
    column = table.columns[variables[0]]
    return (variables[0], values[0]) if column.dtype.kind == "O" else None
