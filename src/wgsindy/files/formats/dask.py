"""Dask arrays and data frames, a chunk or partition at a time, computed where it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgsindy.data import Block, FunctionSource
from wgsindy.errors import DataError
from wgsindy.files.formats.arrays import tables_of_arrays
from wgsindy.files.formats.frames import is_column, table_of_frame
from wgsindy.files.table import HEAD_ROWS, Table, WantedColumns, positional_name


def is_dask(source: object) -> bool:
    """Whether a source is a Dask collection."""
    return hasattr(source, "__dask_graph__") and not isinstance(source, type)


@dataclass(frozen=True)
class Task:
    """One chunk or partition: the tasks that make it, and no others."""

    graph: Mapping[Any, Any]
    key: Any

    def compute(self) -> Any:
        """Return the chunk.

        Its tasks run one after the other in this thread, since on a worker a task that waits for
        other tasks may keep them from running. Only what was persisted is fetched.
        """
        from dask.local import get_sync

        kept = {
            key: value
            for key, value in self.graph.items()
            if type(value).__module__.startswith("distributed.") and hasattr(value, "result")
        }
        if not kept:
            return get_sync(self.graph, self.key)
        return get_sync({**self.graph, **_fetched(kept)}, self.key)


def _fetched(futures: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return what a cluster holds already.

    Raises
    ------
    DataError
        On a worker, where a task that waits for what others hold may wait for ever.
    """
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return {key: future.result() for key, future in futures.items()}
    raise DataError(
        "a persisted Dask collection can be read here, but not by workers; stream the collection "
        "as it was before persist()."
    )


def _tasks(optimized: Any) -> list[Task]:
    """Take a collection apart, in the order of its keys."""
    from dask.core import flatten
    from dask.optimization import cull

    graph = dict(optimized.__dask_graph__())
    keys = list(flatten(optimized.__dask_keys__()))
    return [Task(dict(cull(graph, [key])[0]), key) for key in keys]


@dataclass(frozen=True)
class DaskArrayTable:
    """An array ``(n,)``, ``(n, d)`` or ``(R, n, d)``, with chunks cut anywhere."""

    array: Any
    label: str

    def head(self) -> Table:
        rows: list[NDArray[Any]] = []
        for chunk in self._chunks():
            rows += chunk.read()
            if sum(map(len, rows)) >= HEAD_ROWS or len(chunk.trajectories) > 1:
                break
        few = rows[0] if self.array.ndim == 3 else np.concatenate(rows)
        return tables_of_arrays({positional_name(0): few[:HEAD_ROWS]}, self.label)[0]

    def sources(self, wanted: WantedColumns) -> list[FunctionSource]:
        return [FunctionSource(partial(chunk.blocks, wanted)) for chunk in self._chunks()]

    def _chunks(self) -> Iterator[DaskChunk]:
        """Yield where all samples are: trajectory after trajectory, each in order of time."""
        import dask

        last = self.array.ndim - 1
        whole = self.array.rechunk({last: -1}) if last else self.array
        tasks = _tasks(dask.optimize(whole)[0])
        if last < 2:
            yield from (DaskChunk(task, (0,), None) for task in tasks)
            return
        along, before = whole.numblocks[1], 0
        for row, count in enumerate(whole.chunks[0]):
            same_trajectories = tasks[row * along : (row + 1) * along]
            # A chunk of whole trajectories is computed once, others once for each of theirs.
            wanted = [tuple(range(count))] if along == 1 else [(k,) for k in range(count)]
            for some in wanted:
                yield from (DaskChunk(task, some, before) for task in same_trajectories)
            before += count


@dataclass(frozen=True)
class DaskChunk:
    """Some ``trajectories`` of a chunk."""

    task: Task
    trajectories: tuple[int, ...]  # their numbers within the chunk
    before: int | None  # trajectories of a stack in front of this chunk; None if there is no stack

    def read(self) -> list[NDArray[Any]]:
        """Return the samples ``(n, d)`` of each trajectory."""
        chunk = np.asarray(self.task.compute())
        if self.before is None:
            return [chunk if chunk.ndim > 1 else chunk[:, None]]
        return [chunk[number] for number in self.trajectories]

    def blocks(self, wanted: WantedColumns) -> Iterator[Block]:
        """Yield the samples of each trajectory as a block."""
        for within, rows in zip(self.trajectories, self.read(), strict=True):
            columns = {positional_name(k): rows[:, k] for k in range(rows.shape[1])}
            number = None if self.before is None else self.before + within
            yield wanted.block(columns, number=number)


@dataclass(frozen=True)
class DaskFrameTable:
    """A data frame, partition by partition."""

    frame: Any
    label: str

    def _with_index(self) -> Any:
        frame = self.frame.reset_index() if is_column(self.frame._meta.index) else self.frame
        return frame.rename(columns=str)

    def head(self) -> Table:
        import pandas

        partitions: list[Any] = []
        for task in _tasks(self._with_index().optimize()):
            partitions.append(task.compute())
            if sum(map(len, partitions)) >= HEAD_ROWS:
                break
        return table_of_frame(pandas.concat(partitions).iloc[:HEAD_ROWS], self.label)

    def sources(self, wanted: WantedColumns) -> list[FunctionSource]:
        names = list(dict.fromkeys(wanted.roles.columns))
        tasks = _tasks(self._with_index()[names].optimize())
        return [FunctionSource(partial(_partition, task, wanted)) for task in tasks]


def _partition(task: Task, wanted: WantedColumns) -> Iterator[Block]:
    frame = task.compute()
    yield wanted.block({name: _values(frame[name]) for name in frame.columns})


def _values(series: Any) -> NDArray[Any]:
    if getattr(series.dtype, "tz", None) is not None:
        series = series.dt.tz_convert(None)  # NumPy has no time zones
    return np.asarray(series.to_numpy())
