"""What nobody measured is left out, and nothing else: stalls, interpolation, and their controls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from alike import assert_same
from drawn_streams import streamed

from wgsindy.data import Block, FloatArray, Trajectories, resolution_of, screened, screening
from wgsindy.data.screening import Screened, _Runs
from wgsindy.errors import InterpolatedSamplesWarning, RepeatedSamplesWarning

STEP, N = 0.1, 5000


def walk(seed: int = 0, d: int = 2, n: int = N) -> FloatArray:
    rng = np.random.default_rng(seed)
    x = np.zeros((n, d))
    for k in range(n - 1):
        x[k + 1] = 0.99 * x[k] + rng.normal(0.0, STEP, d)
    return x


def rounded(x: FloatArray, width: float) -> FloatArray:
    return np.asarray(np.round(x / width) * width)


def seen(x: FloatArray) -> Screened:
    data = Trajectories(x, 0.01)
    return screened(data, resolution_of(data))


def held(x: FloatArray, first: int, count: int) -> FloatArray:
    x = x.copy()
    x[first : first + count + 1] = x[first]
    return x


def interpolated(x: FloatArray, first: int, count: int) -> FloatArray:
    x, last = x.copy(), first + count + 1
    share = np.linspace(0.0, 1.0, count + 2)[:, None]
    x[first : last + 1] = (1 - share) * x[first] + share * x[last]
    return x


# ------------------------------------------------------------------- left out


@pytest.mark.parametrize(("count", "lengths"), [(1, [N - 1]), (10, [N - 10]), (60, [1001, 3939])])
def test_a_stall_is_missing(count: int, lengths: list[int]) -> None:
    x = held(walk(), 1000, count)
    found = seen(x)
    assert (found.stalled, found.straight) == (count, 0)
    assert found.data.lengths.tolist() == lengths
    rows = np.delete(np.arange(N), np.arange(1001, 1001 + count))
    states = np.concatenate(list(found.data))  # type: ignore[call-overload]
    np.testing.assert_array_equal(states, x[rows])
    ((kind, samples, sentence),) = found.findings
    assert (kind, samples) == (RepeatedSamplesWarning, count)
    assert (f"{count} samples repeat" if count > 1 else "1 sample repeats") in sentence
    assert "first: sample 1001 of trajectory 0" in sentence


@pytest.mark.parametrize("width", [0.015, 0.05, 0.1])
@pytest.mark.parametrize("d", [1, 2])
def test_a_stall_of_rounded_numbers_is_longer_than_chance(width: float, d: int) -> None:
    x = held(rounded(walk(d=d), width), 1000, 200)
    found = seen(x)
    assert 200 <= found.stalled < 210  # and what was equal around it
    assert found.data.n_samples == N - found.stalled


def test_what_a_slow_sensor_holds_becomes_its_own_samples() -> None:
    x = walk()
    slow = Trajectories(np.repeat(x[::5], 5, axis=0), 0.01)
    found = screened(slow, resolution_of(slow)).data
    assert_same(found, Trajectories(x[::5], 5 * 0.01), rtol=1e-12)


@pytest.mark.parametrize("count", [2, 4, 10, 60])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_interpolation_is_left_out(count: int, kind: type) -> None:
    x = interpolated(walk(), 1000, count).astype(kind).astype(float)
    found = seen(x)
    assert (found.stalled, found.straight) == (0, count)
    assert len(found.data) == (1 if count <= 10 else 2)
    assert found.data.n_samples == N - count
    ((warning, samples, sentence),) = found.findings
    assert (warning, samples) == (InterpolatedSamplesWarning, count)
    assert "first: sample 1001 of trajectory 0" in sentence


def test_interpolation_over_uneven_times_is_left_out() -> None:
    times = np.cumsum(np.random.default_rng(1).uniform(0.1, 2.0, N))
    x = walk()
    for p in range(2):
        x[1001:1020, p] = np.interp(times[1001:1020], times[[1000, 1020]], x[[1000, 1020], p])
    data = Trajectories(x, times=times)
    assert screened(data, resolution_of(data)).straight == 19


def test_single_samples_that_are_means_of_their_neighbours_are_left_out() -> None:
    x = walk()
    rows = np.arange(50, N - 1, 97)
    x[rows] = (x[rows - 1] + x[rows + 1]) / 2
    found = seen(x)
    assert found.straight == len(rows)
    assert len(found.data) == 1
    rows = rows[:5]  # five in 5000 may be chance, and do no harm
    x = walk()
    x[rows] = (x[rows - 1] + x[rows + 1]) / 2
    assert seen(x).straight == 0


def test_a_line_between_rounded_numbers_is_left_out() -> None:
    x = interpolated(rounded(walk(), 0.05), 1000, 100)
    assert 100 <= seen(x).straight < 105
    fast = walk(d=1)
    fast[1001:1100] = fast[1000] + 0.03 * np.arange(1, 100)[:, None]
    assert seen(rounded(fast, 0.01)).straight == pytest.approx(98, abs=2)


def test_most_samples_on_lines_are_named_and_kept() -> None:
    x = walk(n=1001)
    fine = np.stack([np.interp(np.arange(5000) / 5, np.arange(1001), one) for one in x.T], axis=1)
    found = seen(fine)
    assert (found.straight, found.data.n_samples) == (0, 5000)
    ((kind, _, sentence),) = found.findings
    assert kind is InterpolatedSamplesWarning
    assert "kept, since they are more than half" in sentence
    assert "one sample in 5 only" in sentence


# ------------------------------------------------------------------- kept


def proportional(seed: int, n: int = N) -> FloatArray:
    """Noise in proportion to the state: repeats come in crowds where it is small."""
    return np.exp(walk(seed, d=1, n=n) * 0.7)


def square_root(seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    x = np.ones((N, 1))
    for k in range(N - 1):
        x[k + 1] = np.abs(x[k] + 0.01 * (0.5 - x[k]) + 0.1 * np.sqrt(x[k]) * rng.normal())
    return x


def lattice(seed: int) -> FloatArray:
    return np.cumsum(np.random.default_rng(seed).choice([-1.0, 1.0], (N, 1)), axis=0)


CLEAN: dict[str, Callable[[int], FloatArray]] = {
    "clean": walk,
    "one coordinate": lambda seed: walk(seed, d=1),
    "far from zero": lambda seed: walk(seed) + 1e6,
    **{
        f"rounded to {width}, {d}-D": lambda seed, w=width, d=d: rounded(walk(seed, d), w)  # type: ignore[misc]
        for width in (1e-4, 0.015, 0.07, 0.1, 0.5, 1.0)
        for d in (1, 2)
    },
    **{
        f"proportional, rounded to {width}": lambda seed, w=width: rounded(proportional(seed), w)  # type: ignore[misc]
        for width in (0.01, 0.1)
    },
    "logarithm of rounded": lambda seed: np.log(rounded(100 * proportional(seed), 1.0) + 1.0),
    "square root, rounded": lambda seed: rounded(square_root(seed), 0.03),
    "lattice": lattice,
    "one coordinate is time": lambda seed: np.stack([np.arange(N) * 0.1, walk(seed)[:, 0]], axis=1),
    "one coordinate is held": lambda seed: np.stack(
        [np.repeat(walk(seed)[: N // 5, 0], 5), walk(seed)[:, 1]], axis=1
    ),
    "circle": lambda seed: np.stack([f(np.arange(N) / 300.0 + seed) for f in (np.sin, np.cos)], 1),
    "smooth": lambda seed: np.cumsum(np.cumsum(walk(seed, d=1), axis=0), axis=0),
}


@pytest.mark.parametrize("name", CLEAN)
def test_what_was_measured_stays(name: str) -> None:
    for seed in range(5):
        found = seen(CLEAN[name](seed))
        assert found.findings == (), (name, seed)
        assert (found.stalled, found.straight) == (0, 0)


def test_a_straight_motion_stays() -> None:
    data = Trajectories(np.outer(np.arange(3000.0), [0.3, 0.1]), 0.01)
    assert screened(data, resolution_of(data)).data is data


# ------------------------------------------------------------------- wherever they are kept


@pytest.mark.parametrize("spoil", [held, interpolated])
@pytest.mark.parametrize("first", [32_760, 40_000])  # one of them across two windows
def test_a_stream_is_screened_like_trajectories(
    spoil: Callable[[FloatArray, int, int], FloatArray], first: int
) -> None:
    x = np.cumsum(np.random.default_rng(0).normal(size=(70_000, 1)), axis=0)
    paths = np.split(spoil(x, first, 30), [35_000, 35_003])
    data = Trajectories(paths, 0.01)
    resolution = resolution_of(data)
    found = screened(data, resolution)
    assert found.stalled + found.straight == 30
    moving = streamed([Block(path, 0.01, k) for k, path in enumerate(paths)], per_source=1)
    other = screened(moving, resolution)
    assert other.findings == found.findings
    assert_same(other.data, found.data, size=4096, rtol=1e-12)


def runs(by_chance: bool, *pieces: tuple[int, int], near: int = 0) -> _Runs:
    """Runs of places, each of its first and last (not included), as one window has them."""
    found = _Runs(by_chance, near=near)
    rows = np.concatenate([np.arange(*piece) for piece in pieces])
    found.add(rows, np.empty(0, dtype=np.int64), 0)
    return found


def test_neighbouring_places_are_runs_and_runs_without_a_clear_end_are_none() -> None:
    found = _Runs(by_chance=False)
    found.add(np.array([3, 4, 5, 9, 12, 13]), np.array([2, 8, 20]), 100)
    found.add(np.empty(0, dtype=np.int64), np.array([7]), 200)
    (kept,) = found.found
    np.testing.assert_array_equal(kept, [[112, 114]])  # 3 to 5 and 9 begin beside one that is near
    assert (found.places, found.near) == (2, 4)
    found.add(np.array([1, 2]), np.array([3]), 300)  # ends beside one
    assert found.places == 2


def test_a_run_that_two_windows_cut_is_one() -> None:
    found = _Runs(by_chance=False)
    found.add(np.array([8, 9]), np.empty(0, dtype=np.int64), 0)
    found.add(np.array([0, 1, 5]), np.empty(0, dtype=np.int64), 10)
    np.testing.assert_array_equal(found.beyond_chance(1000), [[8, 12], [15, 16]])


def test_of_numbers_that_repeat_by_chance_a_run_must_be_far_longer_than_all_others() -> None:
    n, short = 10_000, [(100 * k, 100 * k + 2) for k in range(40)]
    for length, expected in ((7, 0), (8, 1)):  # four times as long as two
        found = runs(True, *short, (9000, 9000 + length)).beyond_chance(n)
        assert len(found) == expected
    # A third of all places: chance makes runs of log(n / 0.001) / log(3) = 14.7.
    short = [(6 * k, 6 * k + 2) for k in range(1500)]
    for length, expected in ((14, 0), (15, 1)):
        pieces = runs(True, *short, (9500, 9500 + length))
        pieces.places = n // 3
        np.testing.assert_array_equal(
            pieces.beyond_chance(n), [[9500, 9500 + length]][:expected] or np.empty((0, 2))
        )


def test_where_every_place_repeats_no_run_is_long() -> None:
    assert len(runs(True, (0, 50)).beyond_chance(50)) == 0


def test_places_that_are_nearly_in_a_run_tell_how_many_are_in_one_by_chance() -> None:
    single = [(10 * k, 10 * k + 1) for k in range(40)]
    # Nine times as many are near by chance as are in one: 18 near stand for two, one in 20.
    assert len(runs(False, *single, near=17).beyond_chance(1000)) == 40
    assert len(runs(False, *single, near=18).beyond_chance(1000)) == 0
    # Then those are left that chance does not make so long: log(n / 0.001) / log(n / 2) = 2.2.
    longer = runs(False, *single, (900, 903), (950, 952), near=27)
    np.testing.assert_array_equal(longer.beyond_chance(1000), [[900, 903]])


def test_of_many_runs_the_longest_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screening, "LONGEST_RUNS", 2)
    pieces = [(10 * k, 10 * k + size) for k, size in enumerate((1, 3, 2, 5, 1, 1))]
    np.testing.assert_array_equal(
        runs(True, *pieces).found[0], [[0, 1], [10, 13], [30, 35], [50, 51]]
    )
    assert len(runs(False, *pieces).found[0]) == 6


def test_where_a_hole_is_counts_from_its_trajectory() -> None:
    data = Trajectories([np.zeros((5, 1)), np.arange(7.0)[:, None]], 0.1)
    for place, said in ((4, "sample 4 of trajectory 0"), (5, "sample 0 of trajectory 1")):
        assert screening._place(data, np.array([[place, place + 1]])) == said


def test_little_data_are_not_judged() -> None:
    for n, stalled in ((20, 0), (21, 3)):
        x = held(walk(n=n), 8, 3)
        assert seen(x).stalled == stalled
