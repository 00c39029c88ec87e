"""Where sums over samples run.

Every quantity of a fit is a sum over samples, so every stage is a :class:`Pass`: an empty total,
a way to add one chunk to it, and a way to merge two totals. :func:`reduce` runs a pass.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Protocol, TypeVar

from wgsindy.trajectories import CHUNK_SIZE, Chunk, Trajectories

Total = TypeVar("Total")


class Pass(Protocol[Total]):
    """One pass over the data. Totals form a monoid: merging is associative."""

    def empty(self) -> Total:
        """Return the total of no samples."""
        ...

    def add(self, total: Total, chunk: Chunk) -> Total:
        """Add one chunk; may change ``total`` in place."""
        ...

    def merge(self, left: Total, right: Total) -> Total:
        """Combine the totals of two disjoint sets of samples; may change ``left`` in place."""
        ...


def reduce(
    step: Pass[Total],
    data: Trajectories,
    *,
    threads: int = 1,
    chunk_size: int = CHUNK_SIZE,
    following: bool = False,
) -> Total:
    """Run one pass over all chunks of ``data`` and return its total.

    With several threads each takes every ``threads``-th chunk; totals are merged in a fixed
    order, so the result depends on the number of threads only through rounding.
    """

    def run(first: int) -> Total:
        total = step.empty()
        chunks = data.chunks(chunk_size, following=following)
        for chunk in islice(chunks, first, None, threads):
            total = step.add(total, chunk)
        return total

    if threads == 1:
        return run(0)
    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(run, range(threads)))
    total = parts[0]
    for part in parts[1:]:
        total = step.merge(total, part)
    return total
