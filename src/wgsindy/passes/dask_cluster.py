"""Passes on a Dask cluster.

Every partition of the data is a task, and so is every merge of a few totals. Nothing is scattered:
partitions and passes are tasks as well, so the scheduler makes again whatever a worker held when it
died.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from wgsindy import __version__
from wgsindy.data import WINDOW_SIZE, Dataset, IntArray, Partition
from wgsindy.errors import EngineError
from wgsindy.passes.dask_client import as_engine_errors, completed, threads_of
from wgsindy.passes.engine import Pass, progress_callback

Total = TypeVar("Total")

SHARES = 4  # partitions for each thread of the cluster, so that all end together
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
        progress, done = progress_callback(), np.zeros(len(totals), dtype=bool)
        number = {total.key: k for k, total in enumerate(totals)}
        for total in completed(self.client, totals):
            if total.status == "error":
                # In order: the sentence is that of the earliest chunk, as in one process.
                next(one for one in totals if one.exception() is not None).result()
            done[number[total.key]] = True
            if progress is not None:
                progress(int(increments[done].sum()), int(increments.sum()))


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
