"""Two passes in one reading of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from wgsindy.data.dataset import Chunk
from wgsindy.passes.engine import Pass

One = TypeVar("One")
Other = TypeVar("Other")


@dataclass(frozen=True)
class Both(Generic[One, Other]):
    """Each chunk goes to two passes; the total is that of both."""

    one: Pass[One]
    other: Pass[Other]

    def empty(self) -> tuple[One, Other]:
        return self.one.empty(), self.other.empty()

    def add(self, total: tuple[One, Other], chunk: Chunk) -> tuple[One, Other]:
        return self.one.add(total[0], chunk), self.other.add(total[1], chunk)

    def merge(self, left: tuple[One, Other], right: tuple[One, Other]) -> tuple[One, Other]:
        return self.one.merge(left[0], right[0]), self.other.merge(left[1], right[1])
