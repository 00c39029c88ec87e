"""Passes on a Dask cluster.

Every part of the data is a task, and so is every merge of a few totals. Nothing is scattered: parts
and passes are tasks as well, so the scheduler makes again whatever a worker held when it died.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from wgsindy import __version__
from wgsindy.data.arrays import IntArray
from wgsindy.data.dataset import WINDOW_SIZE, Dataset, Partition
from wgsindy.errors import EngineError
from wgsindy.passes.engine import Engine, Pass, Threads, watcher

Total = TypeVar("Total")

SHARES = 4  # parts for each thread of the cluster, so that all end together
FAN_IN = 8  # totals merged at a time: each level of the tree is a journey between workers
LEAST_SAMPLES = 32_768  # of a part: less is added up faster than it is handed out
WAIT_FOR_WORKERS = 30.0  # seconds without a worker after which a fit gives up
WAIT_FOR_SCHEDULER = 5.0  # seconds in which a scheduler must answer
INSTALL = 'pip install "wgsindy[dask]"'


def as_engine(engine: Any, threads: int) -> Engine:
    """Return what runs passes: ``threads`` of this process, a Dask client, or an engine as it is.

    Raises
    ------
    EngineError
        If it is none of them, or a client that cannot be used.
    """
    if engine is None:
        return Threads(threads)
    if _is_client(engine):
        return Cluster(engine)
    if callable(getattr(engine, "reduce", None)) and not isinstance(engine, type):
        return engine
    way_out = (
        "pass its client: engine=cluster.get_client()"
        if callable(getattr(engine, "get_client", None))
        else "pass a dask.distributed.Client, or None for threads of this process"
    )
    raise EngineError(f"an engine of type {type(engine).__name__} cannot run passes; {way_out}.")


def _is_client(engine: Any) -> bool:
    """Whether it is a Dask client; looked up by name, since Dask may not be installed."""
    return any(
        kind.__name__ == "Client" and kind.__module__.partition(".")[0] == "distributed"
        for kind in type(engine).__mro__
    )


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Give a client of the scheduler at ``address``, or None without one.

    Raises
    ------
    EngineError
        If Dask is not installed, or nothing answers within a few seconds.
    """
    if address is None:
        yield None
        return
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
    except ImportError:
        raise EngineError(
            f"the scheduler {address} is reached with Dask, which is not installed: {INSTALL}."
        ) from None
    try:
        get_address_host_port(address)  # a client made for a bad address does not end well
        client = Client(address, timeout=WAIT_FOR_SCHEDULER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise EngineError(
            f"no Dask scheduler answers at {address} ({error}); the address is the one that `dask "
            "scheduler` prints, like tcp://127.0.0.1:8786."
        ) from None
    with client:
        yield client


def threads_of(client: Any) -> int:
    """Count the threads of all workers; wait for the first of them.

    Raises
    ------
    EngineError
        If there is none for half a minute, or the scheduler is gone.
    """
    try:
        if not client.nthreads():
            client.wait_for_workers(1, timeout=WAIT_FOR_WORKERS)
        return sum(client.nthreads().values())
    except TimeoutError:
        raise EngineError(
            f"the scheduler {_address(client)} has had no worker for {WAIT_FOR_WORKERS:.0f} s; "
            f"start one: dask worker {_address(client)}"
        ) from None
    except OSError as error:
        raise _gone(client, error) from None


def completed(client: Any, futures: Iterable[Any]) -> Iterator[Any]:
    """Yield futures as they end, well or not.

    Whether there still are workers is asked now and then: without any, nothing ever ends.

    Raises
    ------
    EngineError
        If there is no worker for half a minute, or the scheduler is gone.
    """
    from distributed import as_completed

    waiting = {future.key: future for future in futures}
    while waiting:
        try:
            for future in as_completed(
                list(waiting.values()), loop=client.loop, timeout=WAIT_FOR_WORKERS
            ):
                if future.cancelled():
                    raise _gone(client, "tasks were cancelled")
                del waiting[future.key]
                yield future
        except TimeoutError:
            threads_of(client)


@dataclass(frozen=True, eq=False)
class Cluster:
    """The engine of a Dask cluster, behind a ``distributed.Client``.

    Workers add up the chunks of their parts; totals are merged by eights in a fixed order, so the
    result does not depend on who finishes when, and on the number of parts through rounding only.
    What a worker has read of data in memory it keeps until the data are gone; data on disk are
    read by the workers. A worker that dies is survived: its tasks run again, elsewhere.

    Parameters
    ----------
    client : connected ``distributed.Client``
    least : samples that a part has at least

    Raises
    ------
    EngineError
        If the client cannot be used. From a pass: if there is no worker for half a minute, if
        tasks take down one worker after the other, or the scheduler is gone.
    """

    client: Any
    least: int = LEAST_SAMPLES
    _sent: WeakKeyDictionary[Dataset, _Sent] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False
    )

    def __post_init__(self) -> None:
        if self.client.asynchronous:
            raise EngineError(
                "an asynchronous client cannot run passes, since a fit waits for each; pass "
                "Client(..., asynchronous=False)."
            )
        if self.client.status != "running":
            raise EngineError(
                f"the Dask client is {self.client.status}; connect a new one to its scheduler."
            )

    def reduce(
        self, step: Pass[Total], data: Dataset, *, chunk_size: int, following: bool
    ) -> Total:
        """Run one pass over all chunks of ``data`` and return its total."""
        with _told(self.client):
            sent = self._send(data, chunk_size)
            job = self._submit(_itself, _Job(step, chunk_size, following, np.geterr(), __version__))
            parts = [self._submit(_summed, job, part) for part in sent.parts]
            last = self._merge(job, parts)
            self._wait_for(parts, sent.increments)
            summed: _Summed[Total] = next(completed(self.client, [last])).result()
        for kind in sorted(summed.warned):
            warnings.warn(f"{kind} encountered on a worker", RuntimeWarning, stacklevel=3)
        return summed.total

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self.client.submit(function, *arguments, pure=False)

    def _send(self, data: Dataset, chunk_size: int) -> _Sent:
        """Describe the parts of ``data`` to the cluster, once."""
        import dask

        sent = self._sent.get(data)
        if sent is not None and sent.longest >= chunk_size:
            return sent
        count = min(SHARES * threads_of(self.client), data.n_samples // self.least)
        places, longest = data.partitions(max(1, count)), max(WINDOW_SIZE, chunk_size)
        # Data in memory are large, and have to go there.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            parts = [
                self._submit(
                    _itself, replace(part, data=data.excerpt(part.first, part.last + longest))
                )
                for part in places
            ]
        self._sent[data] = _Sent(longest, parts, _increments(data, places))
        return self._sent[data]

    def _merge(self, job: Any, totals: Sequence[Any]) -> Any:
        while len(totals) > 1:
            some = [totals[k : k + FAN_IN] for k in range(0, len(totals), FAN_IN)]
            totals = [self._submit(_merged, job, *few) for few in some]
        return totals[0]

    def _wait_for(self, parts: Sequence[Any], increments: IntArray) -> None:
        """Wait for all parts, and tell who watches; raise what the first that failed raised."""
        progress, done = watcher(), np.zeros(len(parts), dtype=bool)
        number = {part.key: k for k, part in enumerate(parts)}
        for part in completed(self.client, parts):
            if part.status == "error":
                # In order: the sentence is that of the earliest chunk, as in one process.
                next(one for one in parts if one.exception() is not None).result()
            done[number[part.key]] = True
            if progress is not None:
                progress(int(increments[done].sum()), int(increments.sum()))


@dataclass(frozen=True)
class _Sent:
    """Parts that the cluster knows: tasks, and the increments of each; good for chunks so long."""

    longest: int
    parts: list[Any]
    increments: IntArray


@dataclass(frozen=True)
class _Job(Generic[Total]):
    """What is the same for all parts of a pass."""

    step: Pass[Total]
    chunk_size: int
    following: bool
    on_error: Mapping[str, object]  # as np.geterr has it
    version: str


@dataclass(frozen=True)
class _Summed(Generic[Total]):
    """A total, and what NumPy had to warn of."""

    total: Total
    warned: frozenset[str] = frozenset()


def _itself(value: Any) -> Any:
    return value


def _summed(job: _Job[Total], part: Partition) -> _Summed[Total]:
    """Add up all chunks of a part; runs on a worker."""
    if job.version != __version__:
        raise EngineError(
            f"a worker has wgsindy {__version__}, this program {job.version}; install the same "
            "version everywhere."
        )
    with _noted(job) as warned:
        total = job.step.empty()
        for chunk in part.chunks(job.chunk_size, following=job.following):
            total = job.step.add(total, chunk)
    return _Summed(total, frozenset(warned))


def _merged(job: _Job[Total], first: _Summed[Total], *others: _Summed[Total]) -> _Summed[Total]:
    """Merge some totals in order; runs on a worker."""
    # Merging may change the left one, which is needed as it was if this task has to run again.
    total, warned = copy.deepcopy(first.total), first.warned
    with _noted(job) as here:
        for other in others:
            total = job.step.merge(total, other.total)
            warned |= other.warned
    return _Summed(total, warned | here)


@contextmanager
def _noted(job: _Job[Any]) -> Iterator[set[str]]:
    """Treat floating-point errors as the caller wants; note those to warn of, who hears them."""
    warned: set[str] = set()
    quietly: Any = {
        kind: mode if mode in ("ignore", "raise") else "call" for kind, mode in job.on_error.items()
    }
    with np.errstate(**quietly, call=lambda kind, flag: warned.add(kind)):
        yield warned


def _increments(data: Dataset, parts: Sequence[Partition]) -> IntArray:
    """Count the increments that begin in each part."""
    ends = np.cumsum(data.lengths) - 1  # these places have none
    edges = np.array([(part.first, part.last) for part in parts])
    return np.asarray(np.diff(edges - np.searchsorted(ends, edges), axis=1)[:, 0])


def _address(client: Any) -> str:
    return str(client.scheduler.address) if client.scheduler else "that was there"


def _gone(client: Any, why: object) -> EngineError:
    return EngineError(
        f"the scheduler {_address(client)} has dropped the work ({why}); is it still there?"
    )


@contextmanager
def _told(client: Any) -> Iterator[None]:
    """Turn what Dask raises when a cluster fails into one sentence."""
    from distributed import CancelledError, KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise EngineError(
            f"a task took down {error.allowed_failures + 1} workers, one after the other, most "
            "likely for want of memory; give workers more of it, or stream the data from files."
        ) from None
    except CancelledError as error:
        raise _gone(client, error) from None
    except OSError as error:
        if client.status == "running":  # it is about a file, not about the scheduler
            raise
        raise _gone(client, error) from None
