"""Clocks: of a call, of a process of its own, of every pass of a fit."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple, ParamSpec, TypeVar

from wgsindy.data import Dataset
from wgsindy.passes import Engine, Pass, Total
from wgsindy.passes.engine import Threads
from wgsindy_evidence.campaign import one_thread

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def seconds_of(task: Callable[[], object]) -> float:
    """Wall time of a call."""
    started = time.perf_counter()
    task()
    return time.perf_counter() - started


def in_fresh_process(
    work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Call in a process that has done nothing before, where linear algebra has one thread."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=one_thread) as pool:
        return pool.submit(work, *args, **kwargs).result()


class Lap(NamedTuple):
    """One pass, the increments that it saw, and its seconds."""

    step: object
    increments: int
    wall: float


@dataclass
class Stopwatch:
    """An engine that runs passes on another one and takes the time of each."""

    engine: Engine = field(default_factory=Threads)
    laps: list[Lap] = field(default_factory=list)

    def reduce(
        self, step: Pass[Total], data: Dataset, *, chunk_size: int, following: bool
    ) -> Total:
        """Run one pass and add a lap."""
        started = time.perf_counter()
        total = self.engine.reduce(step, data, chunk_size=chunk_size, following=following)
        self.laps.append(Lap(step, data.n_increments, time.perf_counter() - started))
        return total
