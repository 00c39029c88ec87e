"""Tables of text, a range of bytes at a time.

Stricter than :func:`wgsindy.read`: UTF-8, one separator, decimal points, no comments between rows.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wgsindy.errors import DataError
from wgsindy.files.dialect import find_dialect
from wgsindy.files.failures import told
from wgsindy.files.sheets import Wanted
from wgsindy.files.table import Table
from wgsindy.files.text import table_of_text
from wgsindy.shards import Block

if TYPE_CHECKING:
    import polars as pl

HEAD_BYTES = 2**17
SHARD_BYTES = 2**22
MISSING = ["", "NA", "nan", "NaN", "null"]


@dataclass(frozen=True)
class TextSheet:
    """One file of text."""

    path: Path

    def head(self) -> Table:
        return table_of_text(self._first_lines(), self.path.name)

    def shards(self, wanted: Wanted) -> list[TextShard]:
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
            wanted.trajectory is not None and table.columns[wanted.trajectory].dtype.kind == "O",
        )
        start = sum(len(line) for line in lines[: there[dialect.first]])
        size = self.path.stat().st_size
        edges = [*range(start, size, SHARD_BYTES), size]
        return [
            TextShard(self.path, wanted, form, first, last, opens=first == start)
            for first, last in pairwise(edges)
        ]

    def _first_lines(self) -> bytes:
        with told(self.path, "text"), open(self.path, "rb") as file:
            content = file.read(HEAD_BYTES)
            whole = not file.read(1)
        if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError(f"{self.path} is in UTF-16; save it as UTF-8, or use wg.read.")
        return content if whole else content[: content.rfind(b"\n") + 1]


@dataclass(frozen=True)
class Form:
    """How rows are written: ``places`` of the wanted columns; whether ids are text."""

    separator: str
    width: int
    places: tuple[int, ...]
    text_ids: bool


@dataclass(frozen=True)
class TextShard:
    """The lines that begin at the bytes ``first`` to ``last`` (not included).

    ``opens`` if the first of them begins the table, so that none from before reaches into it.
    """

    path: Path
    wanted: Wanted
    form: Form
    first: int
    last: int
    opens: bool

    def blocks(self) -> Iterator[Block]:
        content = self._lines()
        if content.strip():
            yield self.wanted.block(self._columns(content))

    def _lines(self) -> bytes:
        with told(self.path, "text"), open(self.path, "rb") as file:
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
            table = self._table(content, pl.Float64)
        except pl.exceptions.PolarsError:
            # Blanks around a number, or no number: slower, and with a sentence.
            with told(self.path, "a table of text"):
                table = self._table(content, pl.String)
        columns = {}
        for name, place in zip(self.wanted.columns, self.form.places, strict=True):
            fields = table[f"column_{place + 1}"]
            if self._is_text(place):
                columns[name] = np.array(fields.to_list(), dtype=object)
            else:
                columns[name] = self._numbers(fields, name)
        return columns

    def _table(self, content: bytes, numbers: Any) -> pl.DataFrame:
        """Split into columns: ``numbers`` is the type of those that are no text."""
        import polars as pl

        return pl.read_csv(
            content,
            has_header=False,
            separator=self.form.separator,
            schema={
                f"column_{place + 1}": pl.String if self._is_text(place) else numbers
                for place in range(self.form.width)
            },
            null_values=MISSING,
            encoding="utf8-lossy",
        )

    def _is_text(self, place: int) -> bool:
        if place not in self.form.places:
            return True
        ids = self.wanted.trajectory is not None and place == self.form.places[-1]
        return ids and self.form.text_ids

    def _numbers(self, fields: pl.Series, name: str) -> NDArray[Any]:
        import polars as pl

        values = fields.cast(pl.Float64, strict=False)  # nothing to do for most files
        if values.null_count() > fields.null_count():
            values = fields.str.strip_chars(" \t\r").cast(pl.Float64, strict=False)
            odd = fields.filter(values.is_null() & fields.is_not_null())
            if len(odd):
                raise DataError(
                    f"{self.path} has {odd[0][:40]!r} in column {name!r}, which is no number "
                    f"(between the bytes {self.first} and {self.last}); correct it, or use wg.read."
                )
        return np.asarray(values.fill_null(float("nan")).to_numpy())
