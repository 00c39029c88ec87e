"""Dask arrays and data frames, a chunk or partition at a time, computed where it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wgsindy.data.source import Block
from wgsindy.errors import DataError
from wgsindy.files.formats.arrays import tables_of_arrays
from wgsindy.files.formats.frames import is_column, table_of_frame
from wgsindy.files.streaming.lazy_table import HEAD_ROWS, Wanted
from wgsindy.files.table import Table, positional_name


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

        kept = {key: value for key, value in self.graph.items() if _is_future(value)}
        if not kept:
            return get_sync(self.graph, self.key)
        return get_sync({**self.graph, **_fetched(kept)}, self.key)


def _is_future(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "distributed" and hasattr(value, "result")


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
        for pieces in self._pieces():
            rows += pieces.read()
            if sum(map(len, rows)) >= HEAD_ROWS or len(pieces.members) > 1:
                break
        few = rows[0] if self.array.ndim == 3 else np.concatenate(rows)
        return tables_of_arrays({positional_name(0): few[:HEAD_ROWS]}, self.label)[0]

    def shards(self, wanted: Wanted) -> list[DaskArraySource]:
        return [DaskArraySource(pieces, wanted) for pieces in self._pieces()]

    def _pieces(self) -> Iterator[Pieces]:
        """Yield where all samples are: trajectory after trajectory, each in order of time."""
        import dask

        last = self.array.ndim - 1
        whole = self.array.rechunk({last: -1}) if last else self.array
        tasks = _tasks(dask.optimize(whole)[0])
        if last < 2:
            yield from (Pieces(task, (0,), None) for task in tasks)
            return
        along, stack = whole.numblocks[1], 0
        for row, count in enumerate(whole.chunks[0]):
            blocks = tasks[row * along : (row + 1) * along]
            # A chunk of whole trajectories is computed once, others once for each of theirs.
            members = [tuple(range(count))] if along == 1 else [(k,) for k in range(count)]
            yield from (Pieces(task, some, stack) for some in members for task in blocks)
            stack += count


@dataclass(frozen=True)
class Pieces:
    """Some ``members`` of a chunk, whose first one is number ``stack`` of all; None if no stack."""

    task: Task
    members: tuple[int, ...]
    stack: int | None

    def read(self) -> list[NDArray[Any]]:
        """Return ``(n, d)`` samples of each member."""
        chunk = np.asarray(self.task.compute())
        if self.stack is None:
            return [chunk if chunk.ndim > 1 else chunk[:, None]]
        return [chunk[member] for member in self.members]


@dataclass(frozen=True)
class DaskArraySource:
    """One chunk, or one trajectory of it."""

    pieces: Pieces
    wanted: Wanted

    def blocks(self) -> Iterator[Block]:
        for member, rows in zip(self.pieces.members, self.pieces.read(), strict=True):
            columns = {positional_name(k): rows[:, k] for k in range(rows.shape[1])}
            block = self.wanted.block(columns)
            number = None if self.pieces.stack is None else self.pieces.stack + member
            yield block._replace(group=(block.group, number))


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

        found: list[Any] = []
        for task in _tasks(self._with_index().optimize()):
            found.append(task.compute())
            if sum(map(len, found)) >= HEAD_ROWS:
                break
        return table_of_frame(pandas.concat(found).iloc[:HEAD_ROWS], self.label)

    def shards(self, wanted: Wanted) -> list[DaskFrameSource]:
        names = list(dict.fromkeys(wanted.columns))
        return [
            DaskFrameSource(task, wanted) for task in _tasks(self._with_index()[names].optimize())
        ]


@dataclass(frozen=True)
class DaskFrameSource:
    """One partition."""

    task: Task
    wanted: Wanted

    def blocks(self) -> Iterator[Block]:
        frame = self.task.compute()
        yield self.wanted.block({name: _values(frame[name]) for name in frame.columns})


def _values(series: Any) -> NDArray[Any]:
    if getattr(series.dtype, "tz", None) is not None:
        series = series.dt.tz_convert(None)  # NumPy has no time zones
    return np.asarray(series.to_numpy())
