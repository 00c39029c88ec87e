"""Parquet by row groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wgsindy.data.source import Block
from wgsindy.files.failures import as_data_error, extra_needed
from wgsindy.files.formats.frames import table_of_frame
from wgsindy.files.streaming.lazy_table import BLOCK_ROWS, HEAD_ROWS, Wanted
from wgsindy.files.table import Table

BUFFER = 2**20  # bytes of a column held at a time: row groups may be large
SOURCE_ROWS = 2**20  # the index of all row groups is read anew for so many rows


def _opened(path: Path) -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise extra_needed(path.name, "Parquet", "pyarrow", "parquet") from None
    return pyarrow.parquet.ParquetFile(path, buffer_size=BUFFER)


@dataclass(frozen=True)
class ParquetTable:
    """One Parquet file."""

    path: Path

    def head(self) -> Table:
        with as_data_error(self.path, "Parquet"), _opened(self.path) as file:
            import pyarrow

            first = next(file.iter_batches(HEAD_ROWS), None)
            few = pyarrow.Table.from_batches([] if first is None else [first], file.schema_arrow)
            return table_of_frame(few, self.path.name)

    def shards(self, wanted: Wanted) -> list[ParquetSource]:
        with as_data_error(self.path, "Parquet"), _opened(self.path) as file:
            footer = file.metadata
            rows = [footer.row_group(group).num_rows for group in range(footer.num_row_groups)]
        shards, first, held = [], 0, 0
        for group, count in enumerate(rows):
            held += count
            if held >= SOURCE_ROWS or group == len(rows) - 1:
                shards.append(ParquetSource(self.path, wanted, first, group + 1))
                first, held = group + 1, 0
        return shards


@dataclass(frozen=True)
class ParquetSource:
    """The row groups ``first`` to ``last`` (not included)."""

    path: Path
    wanted: Wanted
    first: int
    last: int

    def blocks(self) -> Iterator[Block]:
        names, groups = list(self.wanted.columns), range(self.first, self.last)
        with as_data_error(self.path, "Parquet"), _opened(self.path) as file:
            for batch in file.iter_batches(
                BLOCK_ROWS, row_groups=[*groups], columns=names, use_threads=False
            ):
                yield self.wanted.block(
                    {name: batch.column(name).to_numpy(zero_copy_only=False) for name in names}
                )
