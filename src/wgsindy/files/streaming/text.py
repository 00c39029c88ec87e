"""Tables of text, a range of bytes at a time.

Stricter than :func:`wgsindy.read`: UTF-8, one separator, decimal points, no comments between rows.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from wgsindy.data import Block
from wgsindy.errors import DataError
from wgsindy.files.formats.dialect import find_dialect
from wgsindy.files.formats.loading import as_data_error
from wgsindy.files.formats.text import table_of_text
from wgsindy.files.streaming.lazy_table import WantedColumns
from wgsindy.files.table import Table

if TYPE_CHECKING:
    import polars as pl

HEAD_BYTES, FEWEST_LINES = 2**17, 40
SOURCE_BYTES = 2**22
BLANK_LINE = re.compile(rb"(?:^|\n)[ \t\r]*(?=\n)")
Kind = Literal["number", "whole", "text", "stamp"]
MISSING = ["", "NA", "nan", "NaN", "null"]


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
        form = Form(
            dialect.separator,
            dialect.width,
            tuple(list(table.columns).index(name) for name in wanted.columns),
            tuple(_kind(table, name, wanted) for name in wanted.columns),
        )
        start = sum(len(line) for line in lines[: there[dialect.first]])
        size = self.path.stat().st_size
        edges = [*range(start, size, SOURCE_BYTES), size]
        return [
            TextSource(self.path, wanted, form, first, last, opens=first == start)
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


def _kind(table: Table, name: str, wanted: WantedColumns) -> Kind:
    held = table.columns[name].dtype.kind
    if held == "O":
        return "text" if name == wanted.trajectory else "stamp"
    # Ids and times may have more digits than a float.
    return "whole" if held == "i" and name not in wanted.states else "number"


@dataclass(frozen=True)
class Form:
    """How rows are written: ``places`` of the wanted columns and what they hold."""

    separator: str
    width: int
    places: tuple[int, ...]
    kinds: tuple[Kind, ...]


@dataclass(frozen=True)
class TextSource:
    """The lines that begin at the bytes ``first`` to ``last`` (not included).

    ``opens`` if the first of them begins the table, so that none from before reaches into it.
    """

    path: Path
    wanted: WantedColumns
    form: Form
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
        columns = {}
        for name, place, kind in zip(
            self.wanted.columns, self.form.places, self.form.kinds, strict=True
        ):
            columns[name] = self._values(table[f"column_{place + 1}"], name, kind)
        return columns

    def _values(self, fields: pl.Series, name: str, kind: Kind) -> NDArray[Any]:
        import polars as pl

        if fields.dtype == pl.String:
            fields = fields.str.strip_chars(" \t\r")
        if kind == "text":
            return np.array([item or None for item in fields.to_list()], dtype=object)
        if kind == "stamp":
            try:
                stamps = fields.str.to_datetime(strict=False)
            except pl.exceptions.PolarsError:  # none of them is one
                stamps = pl.Series([None] * len(fields), dtype=pl.Datetime)
            self._refuse(fields, stamps, name, "no timestamp in ISO 8601")
            return stamps.dt.replace_time_zone(None).to_numpy()
        if kind == "whole":
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

        known: dict[Kind, Any] = {"number": pl.Float64, "whole": pl.Int64} if typed else {}
        kinds = zip(self.form.places, self.form.kinds, strict=True)
        types = {place: known.get(kind, pl.String) for place, kind in kinds}
        return pl.read_csv(
            content,
            has_header=False,
            separator=self.form.separator,
            schema={
                f"column_{place + 1}": types.get(place, pl.String)
                for place in range(self.form.width)
            },
            null_values=MISSING,
            encoding="utf8-lossy",
        )
