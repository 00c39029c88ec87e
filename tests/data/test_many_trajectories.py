"""Work grows in proportion to the number of trajectories: operations are counted, not seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from wgsindy import WGSINDy, read
from wgsindy.data import Block, FloatArray, FunctionSource, IntArray, Stream, Trajectories

SAMPLES, DT = 30, 0.05


class Counted(np.ndarray[Any, np.dtype[np.int64]]):
    """An array that counts the elements that NumPy goes through."""

    elements = 0

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        Counted.elements += self.size
        return super().__array_function__(func, types, args, kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        Counted.elements += self.size
        plain = [np.asarray(one) if isinstance(one, Counted) else one for one in inputs]
        return getattr(ufunc, method)(*plain, **kwargs)


class Recomputed(Trajectories):
    """What must not come back: lengths made anew whenever somebody asks."""

    __slots__ = ()

    @property
    def lengths(self) -> IntArray:
        return np.diff(self._offsets)


def simulated(count: int) -> FloatArray:
    """States ``(count, SAMPLES, 2)`` of two linear processes."""
    rng = np.random.default_rng(0)
    x = np.empty((count, SAMPLES, 2))
    x[:, 0] = rng.normal(size=(count, 2))
    for n in range(SAMPLES - 1):
        x[:, n + 1] = x[:, n] * (1 - DT) + np.sqrt(DT) * rng.normal(size=(count, 2))
    return x


def elements_of(data: Trajectories, work: Callable[[Trajectories], object]) -> int:
    """Elements of lengths and offsets that ``work`` goes through."""
    data._stored = replace(data._stored, lengths=data.lengths.view(Counted))
    data._offsets = data._offsets.view(Counted)
    Counted.elements = 0
    work(data)
    return Counted.elements


WORK: dict[str, Callable[[Trajectories], object]] = {
    "iterate": list,
    "steps": lambda data: [data.steps(k) for k in range(len(data))],
    "select": lambda data: data.select(["y"]),
    "subset": lambda data: data.subset(range(0, len(data), 2)),
    "thin": lambda data: data.thinned(2),
    "replace": lambda data: data.replaced("x", "u", np.exp),
    "chunks": lambda data: list(data.chunks(100)),
    "partitions": lambda data: [list(part.chunks(100)) for part in data.partitions(5)],
    "counts": lambda data: [(len(data), data.n_increments, data.mean_dt) for _ in range(1000)],
}


@pytest.mark.parametrize("name", WORK)
def test_lengths_are_not_gone_through_for_each_trajectory(name: str) -> None:
    assert elements_of(Trajectories(list(simulated(1000)), DT), WORK[name]) < 20 * 1000


def test_lengths_that_are_made_anew_would_be_seen() -> None:
    assert elements_of(Recomputed(list(simulated(1000)), DT), WORK["counts"]) > 1000 * 1000


def test_lengths_are_there_at_once_and_cannot_be_changed() -> None:
    states = simulated(3)
    blocks = [Block(one, DT, k) for k, one in enumerate(states)]
    for data in (Trajectories(list(states), DT), Stream([FunctionSource(lambda: blocks)])):
        assert data.lengths is data.lengths
        assert data.lengths.tolist() == [SAMPLES] * 3
        with pytest.raises(ValueError, match="read-only"):
            data.lengths[0] = 7


def calls_of(work: Callable[[], object]) -> int:
    """Count the calls of functions, of Python and of C, that ``work`` makes."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def constructed(count: int) -> Callable[[], object]:
    states = list(simulated(count))
    times = [np.arange(SAMPLES) * DT] * count
    return lambda: (Trajectories(states, DT), Trajectories(states, times=times))


def read_from_a_frame(count: int) -> Callable[[], object]:
    states = simulated(count)
    frame = pd.DataFrame(states.reshape(-1, 2), columns=["x", "y"])
    frame["id"], frame["t"] = np.arange(len(frame)) // SAMPLES, np.tile(np.arange(SAMPLES), count)
    return lambda: read(frame)


def streamed(count: int) -> Callable[[], object]:
    states, owner = simulated(count).reshape(-1, 2), np.repeat(np.arange(count), SAMPLES)
    source = FunctionSource(lambda: [Block(states, DT, owner)])
    return lambda: list(Stream([source]).subset(range(0, count, 2)).chunks(100))


def fitted(count: int) -> Callable[[], object]:
    data = Trajectories(list(simulated(count)), DT)
    return lambda: WGSINDy(library="poly2", recipe="sharp").fit(data)


def judged(count: int) -> Callable[[], object]:
    fit = WGSINDy(library="poly2", recipe="sharp").fit(Trajectories(list(simulated(count)), DT))
    return lambda: fit.diagnostics_


@pytest.mark.parametrize("start", [constructed, read_from_a_frame, streamed, fitted, judged])
def test_calls_grow_with_the_number_of_trajectories(
    start: Callable[[int], Callable[[], object]],
) -> None:
    start(50)()  # what is loaded or kept at the first call is not counted
    few, many = calls_of(start(200)), calls_of(start(1000))
    assert many < 6 * few
