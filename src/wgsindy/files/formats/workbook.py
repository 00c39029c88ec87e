"""Workbooks of Excel and OpenDocument -> :class:`Table`: the sheet with the most rows, as text."""

from __future__ import annotations

from wgsindy.errors import DataError
from wgsindy.files.formats.text import table_of_text
from wgsindy.files.table import Table


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
        name: book.load_sheet(name, header_row=None, dtypes="string").to_polars()
        for name in book.sheet_names
    }
    if not sheets:
        raise DataError(f"{label} has no sheet.")
    largest = max(sheets, key=lambda name: sheets[name].height)
    rows = sheets[largest].fill_null("").rows()
    lines = ["\t".join(" ".join(cell.split()) for cell in row) for row in rows]
    where = f"{label}, sheet {largest!r}" if len(sheets) > 1 else label
    return table_of_text("\n".join(lines).encode(), where, separator="\t")
