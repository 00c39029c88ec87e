"""What streaming asks of a file: its first rows, and shards of the columns that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wgsindy.data.source import Block, Source
from wgsindy.files.columns.units import SECONDS
from wgsindy.files.table import Table

HEAD_ROWS = 1000  # by which columns are recognised
BLOCK_ROWS = 65_536


@dataclass(frozen=True)
class Wanted:
    """Names of columns; without ``time`` the step is ``dt``. ``group`` tells files apart.

    ``epoch`` is the unit of times that count since 1970, if they do.
    """

    states: tuple[str, ...]
    time: str | None
    trajectory: str | None
    dt: float | None
    group: int
    epoch: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.states, *(name for name in (self.time, self.trajectory) if name is not None))

    def block(self, columns: Mapping[str, NDArray[Any]]) -> Block:
        """Make a block of ``columns`` by name, each ``(n,)``."""
        return self.beside(np.stack([columns[name] for name in self.states], axis=1), columns)

    def beside(self, states: NDArray[Any], columns: Mapping[str, NDArray[Any]]) -> Block:
        """Make a block of ``states (n, d)`` with the times and ids among ``columns``."""
        clock: Any = self.dt if self.time is None else columns[self.time]
        if self.epoch is not None:
            clock = _since_1970(clock, self.epoch)
        owner: Any = 0 if self.trajectory is None else columns[self.trajectory]
        return Block(states, clock, owner, self.group)


def _since_1970(counts: NDArray[Any], unit: str) -> NDArray[Any]:
    """Make timestamps of counts, whose steps are in seconds."""
    if counts.dtype.kind in "iu":
        return counts.astype(np.int64).astype(f"datetime64[{unit}]")
    missing = np.isnan(counts)
    # Apart from each other: both together have more digits than a float.
    fraction, whole = np.modf(np.where(missing, 0.0, counts))
    each = round(SECONDS[unit] * 1e9)
    nanoseconds = whole.astype(np.int64) * each + np.rint(fraction * each).astype(np.int64)
    stamps = nanoseconds.astype("datetime64[ns]")
    stamps[missing] = np.datetime64("NaT")
    return stamps


class Sheet(Protocol):
    """One file, store or array."""

    def head(self) -> Table:
        """Return the first rows, with the names that :func:`wgsindy.read` gives to columns."""
        ...

    def shards(self, wanted: Wanted) -> Sequence[Source]:
        """Describe where all rows are."""
        ...
