"""Passes on a Dask cluster: its client, the work that is sent, a sentence for what fails.

Every partition of the data is a task, and so is every merge of a few totals. Nothing is scattered:
partitions and passes are tasks as well, so the scheduler makes again whatever a worker held when it
died. Dask is imported when a cluster is used.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Generic
from weakref import WeakKeyDictionary

import numpy as np

from wgsindy import __version__
from wgsindy.data import WINDOW_SIZE, Dataset, IntArray, Partition
from wgsindy.errors import EngineError
from wgsindy.passes.engine import PROGRESS, SHARES, Engine, Pass, Threads, Total

WAIT_FOR_WORKERS = 30.0  # seconds without a worker after which a fit gives up
WAIT_FOR_SCHEDULER = 5.0  # seconds in which a scheduler must answer
LONGEST_GREETING = WAIT_FOR_SCHEDULER + 1  # what listens and says nothing does not end the first
INSTALL = 'pip install "dask[array,dataframe]" distributed'


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
        _refuse_stranger(address)
        client = Client(address, timeout=WAIT_FOR_SCHEDULER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise EngineError(
            f"no Dask scheduler answers at {address} ({error}); the address is the one that `dask "
            "scheduler` prints, like tcp://127.0.0.1:8786."
        ) from None
    with client:
        yield client


def _refuse_stranger(address: str) -> None:
    """Shake hands once: a client waits for ever at a port where something else listens.

    Raises
    ------
    OSError
        If what is there is no Dask.
    """
    import asyncio  # 40 ms, which only clusters need

    from distributed.comm import connect

    async def greet() -> None:
        comm = await asyncio.wait_for(
            connect(address, timeout=WAIT_FOR_SCHEDULER), LONGEST_GREETING
        )
        comm.abort()

    try:
        asyncio.run(greet())
    except TimeoutError:
        raise OSError(f"nobody says a word within {LONGEST_GREETING:.0f} s") from None
    except OSError:
        raise
    except Exception as error:  # whatever its first bytes look like to Dask
        raise OSError(f"what listens there is no Dask: {type(error).__name__}") from None


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


@contextmanager
def as_engine_errors(client: Any) -> Iterator[None]:
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


def _address(client: Any) -> str:
    return str(client.scheduler.address) if client.scheduler else "that was there"


def _gone(client: Any, why: object) -> EngineError:
    return EngineError(
        f"the scheduler {_address(client)} has dropped the work ({why}); is it still there?"
    )


FAN_IN = 8  # totals merged at a time: each level of the tree is a journey between workers
LEAST_SAMPLES = 32_768  # of a partition: less is added up faster than it is handed out


@dataclass(frozen=True, eq=False)
class Cluster:
    """The engine of a Dask cluster, behind a ``distributed.Client``.

    Workers add up the chunks of their partitions; totals are merged by eights in a fixed order, so
    the result does not depend on who finishes when, and on the number of partitions through
    rounding only.
    What a worker has read of data in memory it keeps until the data are gone; data on disk are
    read by the workers. A worker that dies is survived: its tasks run again, elsewhere.

    Parameters
    ----------
    client : connected ``distributed.Client``
    least : samples that a partition has at least

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
        with as_engine_errors(self.client):
            sent = self._send(data, chunk_size)
            job = self._submit(_itself, _Job(step, chunk_size, following, np.geterr(), __version__))
            totals = [self._submit(_summed, job, partition) for partition in sent.partitions]
            last = self._merge(job, totals)
            self._wait_for(totals, sent.increments)
            summed: _Summed[Total] = next(completed(self.client, [last])).result()
        for kind in sorted(summed.warned):
            warnings.warn(f"{kind} encountered on a worker", RuntimeWarning, stacklevel=3)
        return summed.total

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self.client.submit(function, *arguments, pure=False)

    def _send(self, data: Dataset, chunk_size: int) -> _Sent:
        """Describe the partitions of ``data`` to the cluster, once."""
        import dask

        sent = self._sent.get(data)
        if sent is not None and sent.longest >= chunk_size:
            return sent
        count = min(SHARES * threads_of(self.client), data.n_samples // self.least)
        partitions, longest = data.partitions(max(1, count)), max(WINDOW_SIZE, chunk_size)
        # Data in memory are large, and have to go there.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            tasks = [
                self._submit(
                    _itself, replace(one, samples=data.between(one.first, one.last + longest))
                )
                for one in partitions
            ]
        self._sent[data] = _Sent(longest, tasks, _increments(data, partitions))
        return self._sent[data]

    def _merge(self, job: Any, totals: Sequence[Any]) -> Any:
        while len(totals) > 1:
            some = [totals[k : k + FAN_IN] for k in range(0, len(totals), FAN_IN)]
            totals = [self._submit(_merged, job, *few) for few in some]
        return totals[0]

    def _wait_for(self, totals: Sequence[Any], increments: IntArray) -> None:
        """Wait for the totals of all partitions; report progress; raise what the first one did."""
        progress, done = PROGRESS.get(), np.zeros(len(totals), dtype=bool)
        number = {total.key: k for k, total in enumerate(totals)}
        for total in completed(self.client, totals):
            if total.status == "error":
                # In order: the sentence is that of the earliest chunk, as in one process.
                next(one for one in totals if one.exception() is not None).result()
            done[number[total.key]] = True
            if progress is not None:
                progress(int(increments[done].sum()), int(increments.sum()))


def as_engine(engine: Any, threads: int) -> Engine:
    """Return what runs passes: ``threads`` of this process, a Dask client, or an engine as it is.

    Raises
    ------
    EngineError
        If it is none of them, or a client that cannot be used.
    """
    if engine is None:
        return Threads(threads)
    if _is_dask_client(engine):
        return Cluster(engine)
    if callable(getattr(engine, "reduce", None)) and not isinstance(engine, type):
        return engine
    way_out = (
        "pass its client: engine=cluster.get_client()"
        if callable(getattr(engine, "get_client", None))
        else "pass a dask.distributed.Client, or None for threads of this process"
    )
    raise EngineError(f"an engine of type {type(engine).__name__} cannot run passes; {way_out}.")


def _is_dask_client(engine: Any) -> bool:
    """Whether it is a Dask client; looked up by name, since Dask may not be installed."""
    return any(
        kind.__name__ == "Client" and kind.__module__.partition(".")[0] == "distributed"
        for kind in type(engine).__mro__
    )


@dataclass(frozen=True)
class _Sent:
    """Partitions that the cluster knows."""

    longest: int  # samples of a chunk that they are good for
    partitions: list[Any]  # as tasks
    increments: IntArray  # of each partition


@dataclass(frozen=True)
class _Job(Generic[Total]):
    """What is the same for all partitions."""

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


def _summed(job: _Job[Total], partition: Partition) -> _Summed[Total]:
    """Add up all chunks of a partition; runs on a worker."""
    if job.version != __version__:
        raise EngineError(
            f"a worker has wgsindy {__version__}, this program {job.version}; install the same "
            "version everywhere."
        )
    with _collecting_errors(job) as warned:
        total = job.step.empty()
        for chunk in partition.chunks(job.chunk_size, following=job.following):
            total = job.step.add(total, chunk)
    return _Summed(total, frozenset(warned))


def _merged(job: _Job[Total], first: _Summed[Total], *others: _Summed[Total]) -> _Summed[Total]:
    """Merge some totals in order; runs on a worker."""
    # Merging may change the left one, which is needed as it was if this task has to run again.
    total, warned = copy.deepcopy(first.total), first.warned
    with _collecting_errors(job) as here:
        for other in others:
            total = job.step.merge(total, other.total)
            warned |= other.warned
    return _Summed(total, warned | here)


@contextmanager
def _collecting_errors(job: _Job[Any]) -> Iterator[set[str]]:
    """Treat floating-point errors as the caller does; collect those to warn of there."""
    warned: set[str] = set()
    quietly: Any = {
        kind: mode if mode in ("ignore", "raise") else "call" for kind, mode in job.on_error.items()
    }
    with np.errstate(**quietly, call=lambda kind, flag: warned.add(kind)):
        yield warned


def _increments(data: Dataset, partitions: Sequence[Partition]) -> IntArray:
    """Count the increments that begin in each partition."""
    ends = np.cumsum(data.lengths) - 1  # these places have none
    edges = np.array([(one.first, one.last) for one in partitions])
    return np.asarray(np.diff(edges - np.searchsorted(ends, edges), axis=1)[:, 0])
