"""Workbooks of Excel and OpenDocument -> :class:`Table`: the sheet with the most rows, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wgsindy.errors import DataError
from wgsindy.files.formats.dialect import find_dialect
from wgsindy.files.formats.text import table_of_text
from wgsindy.files.table import Table

TAB = "\t"


def table_of_workbook(content: bytes, label: str) -> Table:
    """Read a sheet as if it had been saved as text: headings, units and comments are found alike.

    Raises
    ------
    DataError
        If no sheet holds a table of numbers.
    """
    import fastexcel

    book = fastexcel.read_excel(content)
    sheets = {
        name: book.load_sheet(name, header_row=None, dtypes="string").to_polars().rows()
        for name in book.sheet_names
    }
    if not sheets:
        raise DataError(f"{label} has no sheet.")
    largest = max(sheets, key=lambda name: len(sheets[name]))
    where = f"{label}, sheet {largest!r}" if len(sheets) > 1 else label
    lines = [_line(row) for row in sheets[largest]]
    there = [number for number, line in enumerate(lines) if line.strip()]
    if not there:
        raise DataError(f"{where} is empty.")
    first = there[find_dialect([lines[number] for number in there], where, TAB).first]
    # A column that has words at its top is read as text, with 9 digits of each number: once more.
    rows = book.load_sheet(largest, header_row=None, skip_rows=first).to_polars().rows()
    text = "\n".join([*lines[:first], *map(_line, rows)])
    return table_of_text(text.encode(), where, TAB)


def _line(row: Sequence[Any]) -> str:
    """Write cells with tabs between them; a number keeps all of its digits."""
    return TAB.join("" if cell is None else " ".join(str(cell).split()) for cell in row)
