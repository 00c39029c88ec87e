"""The engine: every section goes to one thread, once; failures come out; progress is told."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from wgsindy import stream
from wgsindy.data import Chunk, Dataset, FloatArray, Trajectories
from wgsindy.passes import reduce, reporting_progress
from wgsindy.passes.engine import Threads

STATES = np.random.default_rng(0).normal(size=(5000, 1))


class StartPass:
    """Collect where chunks begin and how long they are."""

    def __init__(self, effect: Callable[[Chunk], object] = lambda chunk: None) -> None:
        self.effect = effect

    def empty(self) -> list[tuple[int, int]]:
        return []

    def add(self, total: list[tuple[int, int]], chunk: Chunk) -> list[tuple[int, int]]:
        self.effect(chunk)
        return [*total, (chunk.start, len(chunk.dt))]

    def merge(
        self, left: list[tuple[int, int]], right: list[tuple[int, int]]
    ) -> list[tuple[int, int]]:
        return left + right


def recording() -> Trajectories:
    return Trajectories([STATES[:1203], STATES[1203:1205], STATES[1205:]], dt=0.1)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 64, 10**6])
def test_every_increment_is_added_once(threads: int, size: int) -> None:
    found = reduce(StartPass(), recording(), engine=Threads(threads), chunk_size=size)
    place = 0
    for start, length in sorted(found):
        assert start == place
        place += length
    assert place == recording().n_increments


@pytest.mark.parametrize("size", [10, 500])  # chunks may be longer, but not at the cost of a thread
def test_every_thread_gets_its_share(size: int) -> None:
    workers: list[int] = []
    step = StartPass(lambda chunk: workers.append(threading.get_ident()))
    reduce(step, recording(), engine=Threads(3), chunk_size=size)
    shares = [workers.count(worker) for worker in set(workers)]
    assert len(shares) == 3
    assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize(
    ("size", "samples", "expected"),
    [
        (4_000, 10_000, 4_000),  # too few to be shared
        (4_000, 100_000, 12_000),  # four chunks for each of two threads
        (4_000, 10_000_000, 32_000),
        (65_536, 10_000_000, 131_072),  # what waits for two threads would fill the memory
        (200_000, 10_000_000, 200_000),
    ],
)
def test_several_threads_get_longer_chunks_up_to_a_limit(
    size: int, samples: int, expected: int
) -> None:
    assert Threads(2)._longer(size, samples) == expected


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_pass_reads_the_source_once_whatever_the_threads(threads: int) -> None:
    calls = []

    def blocks() -> Iterable[FloatArray]:
        calls.append(1)
        return (STATES[k : k + 100] for k in range(0, 5000, 100))

    data = stream(blocks, dt=0.1)
    before = len(calls)
    reduce(StartPass(), data, engine=Threads(threads), chunk_size=50)
    assert len(calls) == before + 1


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_pass_comes_out(threads: int) -> None:
    def fail(chunk: Chunk) -> None:
        if chunk.start > 500:
            raise ZeroDivisionError("of chunk")

    with pytest.raises(ZeroDivisionError, match="of chunk"):
        reduce(StartPass(fail), recording(), engine=Threads(threads), chunk_size=4)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_the_source_comes_out(threads: int) -> None:
    broken = iter([False, True])

    def blocks() -> Iterable[FloatArray]:
        fails = next(broken)
        for k in range(0, 5000, 100):
            if fails and k == 4000:
                raise OSError("the disk is gone")
            yield STATES[k : k + 100]

    data = stream(blocks, dt=0.1)
    with pytest.raises(OSError, match="the disk is gone"):
        reduce(StartPass(), data, engine=Threads(threads), chunk_size=10)


def test_threads_share_the_state_of_warnings() -> None:
    def overflow(chunk: Chunk) -> None:
        _ = chunk.states * 1e308 * 1e308

    with warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
        warnings.simplefilter("error")
        reduce(StartPass(overflow), recording(), engine=Threads(2), chunk_size=64)


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_goes_up_to_the_number_of_increments(threads: int) -> None:
    data: Dataset = recording()
    seen: list[tuple[int, int]] = []
    with reporting_progress(lambda done, total: seen.append((done, total))):
        reduce(StartPass(), data, engine=Threads(threads), chunk_size=16)
    reduce(StartPass(), data, engine=Threads(threads))  # nobody watches any more
    done = [pair[0] for pair in seen]
    assert done == sorted(done)
    assert done[0] > 0
    assert {pair[1] for pair in seen} == {data.n_increments}
    assert done[-1] == data.n_increments
    assert len(done) < 100  # not once a chunk


def blas_threads() -> set[int]:
    """How many threads each BLAS of this process may use."""
    return {int(one["num_threads"]) for one in threadpool_info() if one["user_api"] == "blas"}


@pytest.mark.parametrize("threads", [1, 2])
def test_blas_has_one_thread_during_a_pass_and_its_own_afterwards(threads: int) -> None:
    """Also where one pass begins within another and ends before it, and where one fails."""
    seen: list[set[int]] = []

    def look(chunk: Chunk) -> None:
        reduce(StartPass(), recording(), chunk_size=5000)
        seen.append(blas_threads())

    def fail(chunk: Chunk) -> None:
        raise ValueError("on purpose")

    with threadpool_limits(3, user_api="blas"):
        before = blas_threads()
        reduce(StartPass(look), recording(), engine=Threads(threads), chunk_size=500)
        with pytest.raises(ValueError, match="on purpose"):
            reduce(StartPass(fail), recording(), engine=Threads(threads), chunk_size=500)
        assert blas_threads() == before
    assert seen
    assert before != {1}
    assert all(found == {1} for found in seen)
