"""Parquet by row groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wgsindy.data import Block
from wgsindy.files.formats.frames import table_of_frame
from wgsindy.files.formats.loading import as_data_error
from wgsindy.files.formats.stores import open_parquet
from wgsindy.files.streaming.lazy_table import BLOCK_ROWS, HEAD_ROWS, WantedColumns
from wgsindy.files.table import Table

SOURCE_ROWS = 2**20  # the index of all row groups is read anew for so many rows


@dataclass(frozen=True)
class ParquetTable:
    """One Parquet file."""

    path: Path

    def head(self) -> Table:
        name = self.path.name
        with as_data_error(self.path, "Parquet"), open_parquet(self.path, name) as file:
            import pyarrow

            first = next(file.iter_batches(HEAD_ROWS), None)
            few = pyarrow.Table.from_batches([] if first is None else [first], file.schema_arrow)
            return table_of_frame(few, name)

    def sources(self, wanted: WantedColumns) -> list[ParquetSource]:
        with as_data_error(self.path, "Parquet"), open_parquet(self.path, self.path.name) as file:
            footer = file.metadata
            rows = [footer.row_group(group).num_rows for group in range(footer.num_row_groups)]
        sources, first, held = [], 0, 0
        for group, count in enumerate(rows):
            held += count
            if held >= SOURCE_ROWS or group == len(rows) - 1:
                sources.append(ParquetSource(self.path, wanted, first, group + 1))
                first, held = group + 1, 0
        return sources


@dataclass(frozen=True)
class ParquetSource:
    """The row groups ``first`` to ``last`` (not included)."""

    path: Path
    wanted: WantedColumns
    first: int
    last: int

    def blocks(self) -> Iterator[Block]:
        names, groups = list(self.wanted.columns), range(self.first, self.last)
        with as_data_error(self.path, "Parquet"), open_parquet(self.path, self.path.name) as file:
            for batch in file.iter_batches(
                BLOCK_ROWS, row_groups=[*groups], columns=names, use_threads=False
            ):
                yield self.wanted.block(
                    {name: batch.column(name).to_numpy(zero_copy_only=False) for name in names}
                )
