"""Streams: whatever way samples are cut and stored, a fit sees what it sees of trajectories."""

from __future__ import annotations

import pickle
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from alike import assert_same, assert_same_chunks
from drawn_streams import EDGES, QUICK, SIZE, Paths, blocks_of, streamed, trajectories
from hypothesis import given
from hypothesis import strategies as st

from wgsindy import WGSINDy, recipes, stream, zoo
from wgsindy.data import Block, FloatArray, Trajectories
from wgsindy.errors import DataError, NotEnoughDataError, ShortPiecesWarning


@QUICK
@given(drawn=trajectories(), edges=EDGES, size=SIZE, per_source=st.integers(1, 4))
def test_a_stream_has_the_chunks_of_trajectories_however_it_is_cut(
    drawn: tuple[Paths, Paths], edges: list[int], size: int, per_source: int
) -> None:
    paths, times = drawn
    for clock in (times, 0.25):
        found = streamed(blocks_of(paths, clock, edges), per_source)
        expected = (
            Trajectories(paths, clock)
            if isinstance(clock, float)
            else Trajectories(paths, times=clock)
        )
        assert_same(found, expected, size)
        starts = np.concatenate([path[:-1] for path in paths])
        for most in (1, 4, 100):
            every = max(1, len(starts) // most)
            np.testing.assert_array_equal(found.sample(most), starts[::every])
            np.testing.assert_array_equal(expected.sample(most), starts[::every])
    assert found.total_time == expected.total_time  # of a fixed step, bit for bit


@QUICK
@given(drawn=trajectories(), edges=EDGES, size=SIZE, count=st.integers(1, 5))
def test_the_chunks_of_all_partitions_are_those_of_the_whole(
    drawn: tuple[Paths, Paths], edges: list[int], size: int, count: int
) -> None:
    paths, times = drawn
    expected = Trajectories(paths, times=times)
    for data in (expected, streamed(blocks_of(paths, times, edges), per_source=1)):
        partitions = data.partitions(count)
        assert len(partitions) == min(count, data.n_samples - 1)
        found = (chunk for part in partitions for chunk in part.chunks(size, following=True))
        assert_same_chunks(found, expected.chunks(size, following=True))


@QUICK
@given(
    drawn=trajectories(),
    edges=EDGES,
    size=SIZE,
    count=st.integers(1, 5),
    chosen=st.sets(st.integers(0, 5), min_size=1),
)
def test_the_samples_sent_with_all_partitions_have_the_chunks_of_the_whole(
    drawn: tuple[Paths, Paths], edges: list[int], size: int, count: int, chosen: set[int]
) -> None:
    paths, times = drawn
    kept = sorted({k % len(paths) for k in chosen})
    expected = Trajectories(paths, times=times).subset(kept)
    clocks: list[Paths | float] = [times, 0.5]
    for clock in clocks:
        if isinstance(clock, float):
            expected = Trajectories(paths, clock).subset(kept)
        whole = streamed(blocks_of(paths, clock, edges), per_source=1).subset(kept)
        for data in (expected, whole):
            partitions = [
                replace(part, samples=data.between(part.first, part.last + size))
                for part in data.partitions(count)
            ]
            found = (chunk for part in partitions for chunk in part.chunks(size, following=True))
            # Steps of a subset of paths are differences of sums of steps.
            assert_same_chunks(found, data.chunks(size, following=True))
            if clock != times:
                assert_same(whole, expected, size)


def test_samples_that_are_sent_have_nothing_of_the_others() -> None:
    path = np.random.default_rng(0).normal(size=(1000, 2))
    held = Trajectories(path, 0.1).between(100, 150)
    np.testing.assert_array_equal(held.states, path[100:152])
    data = streamed([Block(path[k : k + 10], 0.1) for k in range(0, 1000, 10)], per_source=1)
    assert data.between(100, 150).sources == data._sources[10:16]
    assert data.between(98, 148).sources == data._sources[9:15]
    assert data.between(0, 10**9).sources == data._sources
    many = streamed([Block(path[k : k + 2], 0.1, k) for k in range(0, 1000, 2)], per_source=1)
    samples = many.between(100, 150)
    numbers = samples.runs.trajectory
    assert (len(numbers), len(samples.dt), numbers[0]) == (26, 26, 50)


@QUICK
@given(drawn=trajectories(), edges=EDGES, chosen=st.sets(st.integers(0, 5), min_size=1))
def test_a_subset_of_a_stream_is_the_subset_of_trajectories(
    drawn: tuple[Paths, Paths], edges: list[int], chosen: set[int]
) -> None:
    paths, _ = drawn
    indices = sorted({k % len(paths) for k in chosen})
    whole = streamed(blocks_of(paths, 0.5, edges), per_source=1)
    expected = Trajectories(paths, 0.5).subset(indices)
    assert_same(whole.subset(indices), expected)
    last = [len(indices) - 1]
    assert_same(whole.subset(indices).subset(last), expected.subset(last))


def test_a_subset_of_a_stream_keeps_the_order() -> None:
    data = streamed(blocks_of([np.eye(2), np.eye(3)[:, :2]], 1.0, []))
    for indices in ([1, 0], [0, 0], [2], [-1]):
        with pytest.raises(DataError, match="ascend"):
            data.subset(indices)
    with pytest.raises(NotEnoughDataError, match="at least one index"):
        data.subset([])


@QUICK
@given(drawn=trajectories(shortest=1), edges=EDGES)
def test_trajectories_of_one_sample_are_left_out(
    drawn: tuple[Paths, Paths], edges: list[int]
) -> None:
    paths, times = drawn
    long = [k for k, path in enumerate(paths) if len(path) > 1]
    alone = len(paths) - len(long)
    blocks = blocks_of(paths, times, edges)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if not long:
            with pytest.raises(NotEnoughDataError, match="no two of them follow"):
                streamed(blocks)
            return
        found = streamed(blocks, per_source=1)
    assert [w.category for w in caught] == [ShortPiecesWarning] * bool(alone)
    assert_same(found, Trajectories([paths[k] for k in long], times=[times[k] for k in long]))


def test_timestamps_count_in_seconds_and_large_integers_keep_their_digits() -> None:
    path = np.arange(8.0).reshape(4, 2)
    ticks = 1_700_000_000_000_000_000 + np.array([0, 250, 500, 1250])  # no float holds these
    stamps = ticks.astype("datetime64[ns]")
    by_number = streamed([Block(path[:3], ticks[:3]), Block(path[3:], ticks[3:])])
    by_stamp = streamed([Block(path[:1], stamps[:1]), Block(path[1:], stamps[1:])])
    assert [c.dt.tolist() for c in by_number.chunks()] == [[250.0, 250.0, 750.0]]
    np.testing.assert_allclose(next(by_stamp.chunks()).dt, [250e-9, 250e-9, 750e-9])


def test_chunks_cannot_write_into_what_the_caller_gave() -> None:
    path = np.arange(8.0).reshape(4, 2)
    chunk = next(streamed([Block(path, 0.1)]).chunks())
    with pytest.raises(ValueError, match="read-only"):
        chunk.states[0] = 5.0


ROWS = np.arange(10.0).reshape(5, 2)


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([Block(np.full((3, 2), np.nan), 0.1)], "no samples: of 3 rows each lacks a value"),
        ([Block(ROWS, np.arange(5.0)), Block(ROWS, np.arange(5.0))], "row 5 has 0.0 after 4.0"),
        ([Block(ROWS, np.array([0.0, 1.0, 1.0, 2.0, 3.0]))], "row 2 has 1.0 after 1.0"),
        ([Block(ROWS, np.array([0.0, 1.0, np.nan, 2.0, 3.0]))], r"row 2 has no time \(NaN\)"),
        ([Block(ROWS, 0.1, "a"), Block(ROWS, 0.1, "b"), Block(ROWS, 0.1, "a")], "'a' .* row 10"),
        ([Block(ROWS, 0.1, np.array([1, 1, 2, 2, 1]))], "trajectory 1 goes on at row 4"),
        ([Block(ROWS, 0.1, np.array([1, 1, np.nan, 2, 2]))], "row 2 has no trajectory id"),
        ([Block(ROWS, 0.1, np.array(["a", "a", "a", None, "b"]))], "row 3 has no trajectory id"),
        ([Block(ROWS, 0.1), Block(ROWS, np.arange(5.0), 1)], "row 5 is unlike row 0"),
        ([Block(ROWS, 0.1), Block(ROWS, 0.2)], "dt changes from 0.1 to 0.2.*row 5"),
        ([Block(ROWS, 0.0)], "dt must be > 0, got 0.0"),
        ([Block(ROWS, 0.1), Block(ROWS[:, :1], 0.1)], "row 0 has 2, row 5 has 1"),
        ([Block(ROWS, np.arange(4.0))], "5 samples and times of shape"),
        ([Block(ROWS, 0.1, np.arange(4))], "5 samples and ids of shape"),
        ([Block(ROWS[None], 0.1)], r"shape \(1, 5, 2\)"),
        ([Block(ROWS[:, :0], 0.1)], r"shape \(5, 0\)"),
        ([Block(ROWS.astype(complex), 0.1)], "complex128, not numbers"),
        ([Block(ROWS, "soon")], "times or dt must be numbers"),
        ([], "no samples"),
        ([Block(ROWS[:0], 0.1)], "no samples"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_row(blocks: list[Block], words: str) -> None:
    with pytest.raises(DataError, match=words):
        streamed(blocks)


def test_values_whose_sum_overflows_are_still_numbers() -> None:
    assert streamed([Block(np.full((3, 1), 1.7e308), 0.1)]).n_increments == 2


def test_a_source_that_changes_between_two_passes_is_noticed() -> None:
    fewer = iter([5, 5, 4])
    data = stream(lambda: [ROWS[: next(fewer)]], dt=0.1)
    assert sum(len(chunk.dt) for chunk in data.chunks()) == 4
    with pytest.raises(DataError, match="had 5 samples when it was first read"):
        list(data.chunks())
    ids = iter([[0, 0, 0, 0, 0], [0, 0, 0, 1, 1]])
    data = stream(lambda: [(ROWS, 0.1, np.array(next(ids)))], names=["p", "q"])
    with pytest.raises(DataError, match="has others now"):
        list(data.chunks())


def test_a_function_may_yield_arrays_or_tuples() -> None:
    expected = Trajectories([ROWS], 0.5)
    for function in (
        lambda: iter([ROWS[:2], ROWS[2:]]),
        lambda: iter([(ROWS[:2], 0.5), (ROWS[2:], 0.5)]),
        lambda: [(ROWS[:2].tolist(), 0.5, "a"), (ROWS[2:].tolist(), 0.5, "a")],
    ):
        assert_same(stream(function, dt=0.5), expected)
    with pytest.raises(DataError, match="needs its times or its step"):
        stream(lambda: [ROWS])
    with pytest.raises(DataError, match="an iterator can be read only once"):
        stream(iter([ROWS]), dt=0.5)
    with pytest.raises(DataError, match="no columns to choose"):
        stream(lambda: [ROWS], dt=0.5, states="x")


def odd_cuts(data: Trajectories) -> Callable[[], Iterator[tuple[FloatArray, float, int]]]:
    """Return a function that yields the trajectories of an even step in blocks of odd sizes."""

    def blocks() -> Iterator[tuple[FloatArray, float, int]]:
        for number, path in enumerate(data):
            step, first = float(data.steps(number)[0]), 0
            for size in (1, 0, 613, 2, 10**9):
                yield path[first : first + size], step, number
                first += size

    return blocks


@pytest.mark.parametrize(
    "recipe", ["sharp", "sharp-noise", "paper", replace(recipes.PAPER, cross_fit=True)]
)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_fit_of_a_stream_is_the_fit_of_trajectories_bit_for_bit(
    recipe: str | recipes.Recipe, threads: int
) -> None:
    data = zoo.get("duffing").simulate(seed=1, trajectories=4)
    moving = stream(odd_cuts(data), names=data.names)
    fits = [WGSINDy("poly3", recipe, threads=threads).fit(one) for one in (data, moving)]
    assert fits[0].generator_.to_dict() == fits[1].generator_.to_dict()
    assert repr(fits[0].diagnostics_) == repr(fits[1].diagnostics_)


def test_a_fit_of_uneven_steps_is_that_of_trajectories() -> None:
    rng = np.random.default_rng(5)
    times = np.cumsum(rng.uniform(0.005, 0.02, 3000))
    path = np.zeros((3000, 1))
    for n, step in enumerate(np.diff(times)):
        path[n + 1] = path[n] * (1 - step) + rng.normal() * np.sqrt(step)
    data = Trajectories([path], times=[times])
    moving = stream(lambda: ((path[k : k + 70], times[k : k + 70]) for k in range(0, 3000, 70)))
    sharp = [WGSINDy("poly2", "sharp").fit(one).generator_.to_dict() for one in (data, moving)]
    assert sharp[0] == sharp[1]
    # The paper's recipe weighs by the mean step, a sum of all steps in another order.
    points = np.linspace(-1, 1, 5)[:, None]
    paper = [WGSINDy("poly2", "paper").fit(one).generator_ for one in (data, moving)]
    np.testing.assert_allclose(paper[0].drift(points), paper[1].drift(points), rtol=1e-9)
    np.testing.assert_allclose(paper[0].diffusion(points), paper[1].diffusion(points), rtol=1e-9)


def test_library_auto_takes_a_stream() -> None:
    data = zoo.get("duffing").simulate(seed=0, trajectories=4)
    fit = WGSINDy("auto", "sharp").fit(stream(odd_cuts(data), names=data.names))
    assert fit.generator_.info["library"] == "poly3"


def test_a_stream_carries_its_own_step() -> None:
    with pytest.raises(DataError, match="carry their own steps"):
        WGSINDy().fit(stream(lambda: [ROWS], dt=0.1), dt=0.1)


def test_partitions_of_a_file_are_small_and_travel(tmp_path: object) -> None:
    path = f"{tmp_path}/paths.npy"
    data = zoo.get("rotational_ou").simulate(seed=0, trajectories=3)
    np.save(path, np.array(list(data)))
    partitions = stream(path, dt=data.mean_dt).partitions(4)
    letters = [pickle.dumps(part) for part in partitions]
    assert max(map(len, letters)) < 5000
    found = (chunk for letter in letters for chunk in pickle.loads(letter).chunks(100))
    for one, other in zip(found, data.chunks(100), strict=True):
        np.testing.assert_array_equal(one.increments, other.increments)
    with pytest.raises(DataError, match="at least 1, got 0"):
        data.partitions(0)


def walk(samples: int) -> Callable[[], Iterator[FloatArray]]:
    """Return a function that yields an Ornstein-Uhlenbeck path, 10,000 samples at a time."""

    def blocks() -> Iterator[FloatArray]:
        from scipy.signal import lfilter

        rng, state = np.random.default_rng(0), np.zeros(1)
        for _ in range(samples // 10_000):
            block, state = lfilter([0.1], [1.0, -0.99], rng.normal(size=10_000), zi=state)
            yield block[:, None]

    return blocks


def peak_megabytes(samples: int, threads: int) -> float:
    tracemalloc.start()
    try:
        WGSINDy("poly1", "sharp", threads=threads).fit(stream(walk(samples), dt=0.01))
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("threads", [1, 2])
def test_memory_does_not_grow_with_the_number_of_samples(threads: int) -> None:
    WGSINDy("poly1", "sharp").fit(stream(walk(20_000), dt=0.01))  # imports are no data
    few, many = peak_megabytes(800_000, threads), peak_megabytes(4_000_000, threads)
    # The states alone are 6 and 31 MiB. How many windows wait for a thread is chance, up to 3 of
    # 1.5 MiB for each.
    assert many < few + 9
