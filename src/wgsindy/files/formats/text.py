"""Text -> :class:`Table`: decode, split, read numbers; what cannot be read is counted."""

from __future__ import annotations

import codecs
import csv
from itertools import chain
from typing import TYPE_CHECKING, cast

import numpy as np

from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.formats.dialect import COMMENTS, MISSING, Dialect, find_dialect, quoted_rows
from wgsindy.files.table import Column, Table, Unread, positional_name

if TYPE_CHECKING:
    import polars as pl

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Bytes that no text of numbers has; form feeds and tabs it may have.
CONTROL = bytes(sorted(set(range(32)) - set(b"\t\n\r\f") | {127}))
GROUPED = r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$"
COMMENT_LINE = rf"^\s*({'|'.join(COMMENTS)})"


def table_of_text(content: bytes, label: str, separator: str | None = None) -> Table:
    """Read a table of text in whatever dialect it is written; ``separator`` if it is known.

    Raises
    ------
    DataError
        If it is not text, or holds no numbers.
    NotEnoughDataError
        If it is empty.
    """
    text, encoding = _decoded(content, label)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise NotEnoughDataError(f"{label} is empty; was it written to the end?")
    try:
        dialect = find_dialect(lines, label, separator)
        fields, ragged = _fields(lines[dialect.first :], dialect)
    except csv.Error as error:
        raise DataError(f"{label} is not a table of numbers: {error}.") from None
    names, positional = _column_names(dialect, label)
    columns: dict[str, Column] = {}
    refused: dict[str, str] = {}
    unread: dict[str, Unread] = {}
    fields, thousands = _without_thousands(names, fields)
    for name, series in zip(names, fields, strict=True):
        values, doubt = _read_column(series)
        columns[name] = values
        if isinstance(doubt, Unread):
            unread[name] = doubt
        elif doubt is not None:
            refused[name] = f"column {name!r} of {label} {doubt}"
    return Table(
        label,
        columns,
        positional=positional,
        refused=refused,
        unread=unread,
        units=dict(zip(names, dialect.units, strict=True)) if dialect.units else {},
        ragged_rows=ragged,
        encoding=encoding,
        thousands=thousands,
    )


def _decoded(content: bytes, label: str) -> tuple[str, str]:
    for mark, encoding in BYTE_ORDER_MARKS:
        if content.startswith(mark):
            try:
                return content.decode(encoding), "utf-8"
            except UnicodeDecodeError as error:
                raise DataError(
                    f"{label} begins like {encoding} but cannot be decoded at byte "
                    f"{error.start}; it may be half written. Save it again as UTF-8."
                ) from None
    if len(content.translate(None, CONTROL)) != len(content):
        raise DataError(
            f"{label} is not a table of numbers: it holds bytes that no text has. Readable are "
            "CSV and other text, Excel, Parquet, NPY, NPZ, HDF5 and Zarr."
        )
    try:
        return content.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        # Digits are the same in every old code page: only names can be misread.
        return content.decode("latin-1"), "latin-1"


def _fields(lines: list[str], dialect: Dialect) -> tuple[list[pl.Series], int]:
    """Return the columns as text, and how many rows have the wrong length.

    Such a row stays as a row of missing fields: without a column of times, to remove it would
    join its neighbours.
    """
    import polars as pl

    width = dialect.width
    table = pl.Series("line", lines)
    table = table.filter(~table.str.contains(COMMENT_LINE))
    if dialect.separator is not None and table.str.contains('"', literal=True).any():
        rows = list(quoted_rows(table.to_list(), dialect.separator, width))
        ragged = sum(len(row) != width for row in rows)
        whole = [row if len(row) == width else [None] * width for row in rows]
        flat = list(chain.from_iterable(whole))
        return [pl.Series("", flat[k::width], dtype=pl.String) for k in range(width)], ragged
    separator = dialect.separator
    if separator is None:
        separator = "\t"
        table = table.str.strip_chars().str.replace_all(r"\s+", separator)
    fits = table.str.count_matches(separator, literal=True) == width - 1
    blank = pl.Series("", [None], dtype=pl.String)
    table = table.zip_with(fits, blank.new_from_index(0, len(table)))
    parts = table.str.split_exact(separator, width - 1).struct.unnest()
    return parts.get_columns(), int((~fits).sum())


def _column_names(dialect: Dialect, label: str) -> tuple[list[str], frozenset[str]]:
    given = dialect.names or ("",) * dialect.width
    names = [name.strip().strip('"') or positional_name(k) for k, name in enumerate(given)]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(
            f"{label} has two columns called {twice!r}; give each column a name of its own."
        )
    return names, frozenset(
        name for name, raw in zip(names, given, strict=True) if not raw.strip().strip('"')
    )


def _without_thousands(
    names: list[str], fields: list[pl.Series]
) -> tuple[list[pl.Series], dict[str, str]]:
    """Take the commas out of columns that group digits by them, and give an example of each.

    50,012 is fifty thousand if every number with a comma in its column has three digits behind it,
    none begins with 0, and no column of the file has a decimal comma beyond doubt.
    """
    grouped: dict[str, str] = {}
    for name, series in zip(names, fields, strict=True):
        text = series.str.strip_chars(" \t\f\"'").drop_nulls()
        commas = text.filter(text.str.contains(",", literal=True))
        if not len(commas):
            continue
        if commas.str.contains(GROUPED).all():
            grouped[name] = str(commas[0])
        elif commas.str.contains(_number_with(",")).any():
            return fields, {}
    return [
        series.str.replace_all(",", "", literal=True) if name in grouped else series
        for name, series in zip(names, fields, strict=True)
    ], grouped


def _read_column(fields: pl.Series) -> tuple[Column, Unread | str | None]:
    """Return numbers if at least half of the fields that are there are numbers, else the text."""
    import polars as pl

    for kind in (pl.Int64, pl.Float64):  # most columns are nothing but plain numbers
        plain = fields.cast(kind, strict=False)
        if len(plain) and not plain.null_count():
            return plain.to_numpy(), None
    text = fields.str.strip_chars(" \t\f\"'")
    empty = text.str.to_lowercase().is_in(list(MISSING)).fill_null(True)
    text = text.zip_with(
        ~empty, pl.Series("", [None], dtype=pl.String).new_from_index(0, len(text))
    )
    decimal_comma = int(text.str.contains(_number_with(",")).sum() or 0)
    decimal_point = int(text.str.contains(_number_with(r"\.")).sum() or 0)
    plain = text.str.replace(",", ".", literal=True) if decimal_comma else text
    plain = plain.str.replace(r"^([+-]?[\d.]+)[dD]([+-]?\d+)$", "${1}e$2")  # Fortran
    whole = plain.cast(pl.Int64, strict=False)
    if whole.null_count() == 0 and len(whole):
        return whole.to_numpy(), None
    values = plain.cast(pl.Float64, strict=False)
    there = len(text) - text.null_count()
    read = len(values) - values.null_count()
    if there and 2 * read < there:
        return np.array(text.to_list(), dtype=object), None
    numbers = cast(Column, values.fill_null(float("nan")).to_numpy())
    if decimal_comma and decimal_point:
        return numbers, (
            f"has {decimal_comma} numbers with a decimal comma and {decimal_point} with a decimal "
            "point; write all of them in one way."
        )
    if read == there:
        return numbers, None
    odd = text.filter(values.is_null() & text.is_not_null())
    return numbers, Unread(there - read, str(odd[0])[:40])


def _number_with(mark: str) -> str:
    return rf"^[+-]?(\d+{mark}\d*|{mark}\d+)([eEdD][+-]?\d+)?$"
