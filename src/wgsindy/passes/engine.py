"""Where sums over samples run.

Every quantity of a fit is a sum over samples, so every stage is a :class:`Pass`: an empty total,
a way to add one chunk to it, and a way to merge two totals. :func:`reduce` runs a pass
on an :class:`Engine`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from queue import Queue
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from wgsindy.data import CHUNK_SIZE, WINDOW_SIZE, Chunk, Dataset, Partition, Window

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Total = TypeVar("Total")
One = TypeVar("One")
Other = TypeVar("Other")
Progress = Callable[[int, int], object]  # told increments so far, and in all

SHARES = 4  # chunks, or partitions, that each thread gets at least, so that all end together
LONGER = 8  # times as long as one thread's are chunks of several threads
LONGEST_CHUNK = 131_072  # samples: chunks of a filter are long already, and several are held
MERGE = "merge"  # in the metadata of a field: how it is merged if not added
WAITING = 2  # windows that wait for each thread, which bounds what is held in memory

# Whom passes tell of their progress, if anybody.
PROGRESS: ContextVar[Progress | None] = ContextVar("progress", default=None)


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


class SumPass(Generic[Total]):
    """A pass whose totals are merged by :func:`added`: most are nothing but sums."""

    def merge(self, left: Total, right: Total) -> Total:
        return added(left, right)


def added(left: Total, right: Total) -> Total:
    """Add two totals: numbers, arrays, lists, or dataclasses of these, field by field.

    A field that is not a sum names its own way, ``field(metadata=merged_by(np.maximum))``.

    >>> added([1], [2])
    [1, 2]
    """
    if not is_dataclass(left) or isinstance(left, type):
        return operator.add(left, right)
    return type(left)(
        **{
            item.name: item.metadata.get(MERGE, operator.add)(
                getattr(left, item.name), getattr(right, item.name)
            )
            for item in fields(left)
        }
    )


def merged_by(merge: Callable[[Any, Any], Any]) -> dict[str, Callable[[Any, Any], Any]]:
    """Return the metadata of a field that is merged by a function of two values."""
    return {MERGE: merge}


@dataclass(frozen=True)
class PassPair(Generic[One, Other]):
    """Two passes in one reading of the data: each chunk goes to both, and the total has both."""

    one: Pass[One]
    other: Pass[Other]

    def empty(self) -> tuple[One, Other]:
        return self.one.empty(), self.other.empty()

    def add(self, total: tuple[One, Other], chunk: Chunk) -> tuple[One, Other]:
        return self.one.add(total[0], chunk), self.other.add(total[1], chunk)

    def merge(self, left: tuple[One, Other], right: tuple[One, Other]) -> tuple[One, Other]:
        return self.one.merge(left[0], right[0]), self.other.merge(left[1], right[1])


@contextmanager
def reporting_progress(progress: Progress) -> Iterator[None]:
    """Call ``progress(done, total)`` during every pass within: increments so far, and in all.

    >>> from wgsindy.passes.summary import data_summary
    >>> from wgsindy.data.trajectories import Trajectories
    >>> seen = []
    >>> with reporting_progress(lambda done, total: seen.append((done, total))):
    ...     _ = data_summary(Trajectories([[0.0, 1.0, 3.0, 2.0]], dt=0.1), standardise=True)
    >>> seen
    [(3, 3)]
    """
    token = PROGRESS.set(progress)
    try:
        yield
    finally:
        PROGRESS.reset(token)


class _OneBlasThread:
    """Lets BLAS work with one thread while any pass runs.

    Products of a few dozen rows gain nothing from more, and threads that wait for each other by
    spinning make a pass ten times as long where the machine has other work. The setting is that of
    the whole process: passes may run at the same time, and the last one to end restores it.
    """

    def __init__(self) -> None:
        self.lock, self.running, self.limit = Lock(), 0, ExitStack()

    def __enter__(self) -> None:
        with self.lock:
            if not self.running:
                self.limit.enter_context(_blas().limit(limits=1))
            self.running += 1

    def __exit__(self, *unused: object) -> None:
        with self.lock:
            self.running -= 1
            if not self.running:
                self.limit.close()


ONE_BLAS_THREAD = _OneBlasThread()


@cache
def _blas() -> ThreadpoolController:
    """The threads of BLAS; to look for them again would take 10 ms each time."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


class Engine(Protocol):
    """Whoever runs passes."""

    def reduce(
        self, step: Pass[Total], data: Dataset, *, chunk_size: int, following: bool
    ) -> Total:
        """Run one pass over all chunks of ``data`` and return its total."""
        ...


@dataclass(frozen=True)
class Threads:
    """The engine of one process, with ``count`` threads.

    The data are read once, by the caller's own thread. Each thread gets every ``count``-th window;
    totals are merged in a fixed order, so the result depends on the number of threads only through
    rounding.
    """

    count: int = 1

    def reduce(
        self, step: Pass[Total], data: Dataset, *, chunk_size: int, following: bool
    ) -> Total:
        """Run one pass over all chunks of ``data`` and return its total."""

        def added(total: Total, window: Window) -> Total:
            for chunk in window.chunks(size, following=following):
                total = step.add(total, chunk)
            return total

        with ONE_BLAS_THREAD:
            if self.count > 1:
                size = self._longer(chunk_size, data.n_samples)
                return _shared(step, added, _reported(data, size, 1), self.count)
            size = chunk_size
            total = step.empty()
            for window in _reported(data, size, max(1, WINDOW_SIZE // size)):
                total = added(total, window)
            return total

    def _longer(self, chunk_size: int, samples: int) -> int:
        """Return a larger size of chunks, if there are enough samples for all threads.

        Between two calls of NumPy a thread holds Python's lock. With short calls, threads wait for
        it most of the time.
        """
        most = min(samples // (self.count * SHARES), LONGEST_CHUNK)
        return chunk_size * max(1, min(LONGER, most // chunk_size))


SERIAL = Threads()


def reduce(
    step: Pass[Total],
    data: Dataset,
    *,
    engine: Engine = SERIAL,
    chunk_size: int = CHUNK_SIZE,
    following: bool = False,
) -> Total:
    """Run one pass over all chunks of ``data`` and return its total.

    ``following`` asks for the increment after each one as well.
    """
    return engine.reduce(step, data, chunk_size=chunk_size, following=following)


def _reported(data: Dataset, chunk_size: int, held: int) -> Iterator[Window]:
    """Yield all windows of so many chunks; report each when the next one is asked for."""
    progress = PROGRESS.get()
    for window in Partition(data, 0, data.n_samples - 1).windows(chunk_size, held):
        yield window
        if progress is not None:
            # Trajectories that are over have one increment less than samples.
            place = window.place + len(window)
            progress(place - int(window.trajectory[len(window)]), data.n_increments)


def _shared(
    step: Pass[Total],
    added: Callable[[Total, Window], Total],
    windows: Iterator[Window],
    threads: int,
) -> Total:
    """Deal the windows out to threads, in turns."""
    queues: list[Queue[Window | None]] = [Queue(WAITING) for _ in range(threads)]

    def work(queue: Queue[Window | None]) -> Total:
        total = step.empty()
        try:
            while (window := queue.get()) is not None:
                total = added(total, window)
        except BaseException:
            while queue.get() is not None:  # whoever deals must not wait for a thread that is gone
                pass
            raise
        return total

    with ThreadPoolExecutor(threads) as pool:
        # The state of NumPy's warnings belongs to a context, and threads start with a fresh one.
        found: list[Future[Total]] = [
            pool.submit(copy_context().run, work, queue) for queue in queues
        ]
        try:
            for number, window in enumerate(windows):
                queues[number % threads].put(window)
        finally:
            for queue in queues:
                queue.put(None)
    total = found[0].result()
    for other in found[1:]:
        total = step.merge(total, other.result())
    return total
