"""What streaming asks of a file: its first rows, and sources of the columns that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wgsindy.data import Block, Source
from wgsindy.files.columns.times import SECONDS
from wgsindy.files.table import Table

HEAD_ROWS = 1000  # by which columns are recognised
BLOCK_ROWS = 65_536


@dataclass(frozen=True)
class WantedColumns:
    """Which columns of a table are read, and what becomes of them."""

    states: tuple[str, ...]
    time: str | None  # without it the step is ``dt``
    trajectory: str | None
    dt: float | None
    file: int  # number of the file: the same id in another one is another trajectory
    epoch: str | None = None  # unit of times that count since 1970, if they do

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.states, *(name for name in (self.time, self.trajectory) if name is not None))

    def block(
        self,
        columns: Mapping[str, NDArray[Any]],
        *,
        states: NDArray[Any] | None = None,
        number: int | None = None,
    ) -> Block:
        """Make a block of samples.

        ``columns`` by name, each ``(n,)``; ``states (n, d)``, if they are there in one array;
        ``number`` of the trajectory in a stack ``(R, n, d)``.
        """
        if states is None:
            states = np.stack([columns[name] for name in self.states], axis=1)
        clock: Any = self.dt if self.time is None else columns[self.time]
        if self.epoch is not None:
            clock = _since_1970(clock, self.epoch)
        owner: Any = 0 if self.trajectory is None else columns[self.trajectory]
        return Block(states, clock, owner, (self.file, number))


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
    stamps[missing] = np.datetime64("NaT", "ns")
    return stamps


class LazyTable(Protocol):
    """One file, store or array, which stays where it is."""

    def head(self) -> Table:
        """Return the first rows, with the names that :func:`wgsindy.read` gives to columns."""
        ...

    def sources(self, wanted: WantedColumns) -> Sequence[Source]:
        """Describe where all rows are."""
        ...
