"""Text -> tables: decode, split, read numbers; what cannot be read is counted.

A range of bytes at a time it is read more strictly: UTF-8, one separator, decimal points, no
comments between rows.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from wgsindy.data import Block
from wgsindy.errors import DataError, NotEnoughDataError
from wgsindy.files.formats.dialect import COMMENTS, MISSING, Dialect, find_dialect, quoted_rows
from wgsindy.files.table import Column, Table, Unread, WantedColumns, as_data_error, positional_name

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
HEAD_BYTES, FEWEST_LINES = 2**17, 40  # by which columns are recognised, if lines are long
SOURCE_BYTES = 2**22  # read at a time: some 50,000 rows
BLANK_LINE = re.compile(rb"(?:^|\n)[ \t\r]*(?=\n)")
FieldForm = Literal["number", "whole", "text", "stamp"]
NULLS = ["", "NA", "nan", "NaN", "null"]


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


@dataclass(frozen=True)
class TextTable:
    """One file of text."""

    path: Path

    def head(self) -> Table:
        return table_of_text(self._first_lines(), self.path.name)

    def sources(self, wanted: WantedColumns) -> list[TextSource]:
        lines = self._first_lines().splitlines(keepends=True)
        there = [k for k, line in enumerate(lines) if line.strip()]
        text = [lines[k].decode("utf-8-sig", "replace").rstrip("\r\n") for k in there]
        dialect = find_dialect(text, self.path.name)
        if dialect.separator is None:
            raise DataError(
                f"{self.path} has columns separated by blanks, which cannot be streamed; write it "
                "with commas, or use wg.read."
            )
        table = self.head()
        forms = {name: _form(table, name, wanted) for name in table.columns}
        start = sum(len(line) for line in lines[: there[dialect.first]])
        size = self.path.stat().st_size
        edges = [*range(start, size, SOURCE_BYTES), size]
        return [
            TextSource(self.path, wanted, dialect.separator, forms, first, last, first == start)
            for first, last in pairwise(edges)
        ]

    def _first_lines(self) -> bytes:
        with as_data_error(self.path, "text"), open(self.path, "rb") as file:
            content = file.read(HEAD_BYTES)
            while content.count(b"\n") < FEWEST_LINES and (more := file.read(HEAD_BYTES)):
                content += more  # lines may be longer than that
            whole = not file.read(1)
        if b"\r" in content and b"\n" not in content:
            raise DataError(
                f"{self.path} ends its lines by carriage returns alone, which cannot be streamed; "
                "write it with line feeds, or use wg.read."
            )
        if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError(f"{self.path} is in UTF-16; save it as UTF-8, or use wg.read.")
        return content if whole else content[: content.rfind(b"\n") + 1]


def _form(table: Table, name: str, wanted: WantedColumns) -> FieldForm:
    """Return what the fields of a column are read as; what nobody wants stays text."""
    held = table.columns[name].dtype.kind
    if name not in wanted.roles.columns or (held == "O" and name == wanted.roles.trajectory):
        return "text"
    if held == "O":
        return "stamp"
    # Ids and times may have more digits than a float.
    return "whole" if held == "i" and name not in wanted.roles.states else "number"


@dataclass(frozen=True)
class TextSource:
    """The lines that begin at the bytes ``first`` to ``last`` (not included).

    ``opens`` if the first of them begins the table, so that none from before reaches into it.
    """

    path: Path
    wanted: WantedColumns
    separator: str
    forms: Mapping[str, FieldForm]  # of all columns
    first: int
    last: int
    opens: bool

    def blocks(self) -> Iterator[Block]:
        content = self._lines()
        if BLANK_LINE.search(content):
            content = b"\n".join(line for line in content.split(b"\n") if line.strip())
        if content.strip():
            yield self.wanted.block(self._columns(content))

    def _lines(self) -> bytes:
        with as_data_error(self.path, "text"), open(self.path, "rb") as file:
            file.seek(self.first if self.opens else self.first - 1)
            if not self.opens:
                file.readline()
            content = file.read(max(0, self.last - file.tell()))
            if content and not content.endswith(b"\n"):
                content += file.readline()
        if content.count(b'"') % 2:
            raise DataError(f"{self.path} has a quoted field that runs over a line; use wg.read.")
        return content

    def _columns(self, content: bytes) -> dict[str, NDArray[Any]]:
        import polars as pl

        try:
            table = self._table(content, typed=True)
        except pl.exceptions.PolarsError:
            # Blanks around a number, or no number: slower, and with a sentence.
            with as_data_error(self.path, "a table of text"):
                table = self._table(content, typed=False)
        return {name: self._values(table[name], name) for name in self.wanted.roles.columns}

    def _values(self, fields: pl.Series, name: str) -> NDArray[Any]:
        import polars as pl

        form = self.forms[name]
        if fields.dtype == pl.String:
            fields = fields.str.strip_chars(" \t\r")
        if form == "text":
            return np.array([item or None for item in fields.to_list()], dtype=object)
        if form == "stamp":
            try:
                stamps = fields.str.to_datetime(strict=False)
            except pl.exceptions.PolarsError:  # none of them is one
                stamps = pl.Series([None] * len(fields), dtype=pl.Datetime)
            self._refuse(fields, stamps, name, "no timestamp in ISO 8601")
            return stamps.dt.replace_time_zone(None).to_numpy()
        if form == "whole":
            whole = fields.cast(pl.Int64, strict=False)
            if not whole.null_count():
                return whole.to_numpy()
        values = fields.cast(pl.Float64, strict=False)  # nothing to do for most files
        self._refuse(fields, values, name, "no number")
        return np.asarray(values.fill_null(float("nan")).to_numpy())

    def _refuse(self, fields: pl.Series, values: pl.Series, name: str, what: str) -> None:
        """Complain of the first field that has no value."""
        if values.null_count() > fields.null_count():
            odd = fields.filter(values.is_null() & fields.is_not_null())
            raise DataError(
                f"{self.path} has {odd[0][:40]!r} in column {name!r}, which is {what} (between the "
                f"bytes {self.first} and {self.last}); correct it, or use wg.read."
            )

    def _table(self, content: bytes, *, typed: bool) -> pl.DataFrame:
        """Split into columns; without ``typed`` all of them are text."""
        import polars as pl

        known: dict[FieldForm, Any] = {"number": pl.Float64, "whole": pl.Int64} if typed else {}
        return pl.read_csv(
            content,
            has_header=False,
            separator=self.separator,
            schema={name: known.get(form, pl.String) for name, form in self.forms.items()},
            null_values=NULLS,
            encoding="utf8-lossy",
        )
