"""Samples that are left out: steps over short holes, cuts at long ones, in memory and streamed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from alike import assert_same
from drawn_streams import EDGES, QUICK, Paths, blocks_of, streamed
from hypothesis import given
from hypothesis import strategies as st

from wgsindy.data import LONGEST_HOLE, Block, Dataset, FloatArray, IntArray, Trajectories
from wgsindy.data.holes import (
    Runs,
    _differences,
    holes_of,
    stand_ins,
    third_differences,
    velocities,
)
from wgsindy.errors import DataError, MissingValuesWarning, NotEnoughDataError, WgsindyWarning

Pieces = list[tuple[FloatArray, FloatArray]]  # states and times


def pieces_by_hand(paths: Paths, times: Paths, missing: IntArray) -> Pieces:
    """Go through all samples one by one."""
    found: Pieces = []
    place = 0
    for path, clock in zip(paths, times, strict=True):
        piece: list[int] = []
        rows = []
        for n in range(len(path)):
            if place + n not in missing:
                if piece and n - piece[-1] > LONGEST_HOLE + 1:
                    rows.append(piece)
                    piece = []
                piece.append(n)
        rows.append(piece)
        found += [(path[some], clock[some]) for some in rows if len(some) > 1]
        place += len(path)
    return found


@st.composite
def holed(draw: st.DrawFn) -> tuple[Paths, Paths, IntArray]:
    """Draw trajectories, their times, and places that are missing in runs of all lengths."""
    lengths = draw(st.lists(st.integers(2, 60), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    missing = [
        np.arange(first, first + length)
        for first, length in draw(
            st.lists(st.tuples(st.integers(0, 200), st.integers(1, 14)), max_size=5)
        )
    ]
    places = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *missing]))
    paths = [rng.normal(size=(n, 2)) for n in lengths]
    times = [np.cumsum(rng.uniform(0.1, 2.0, n)) for n in lengths]
    return paths, times, places[places < sum(lengths)]


def spoiled(paths: Paths, missing: IntArray) -> Paths:
    states = np.concatenate(paths)
    states[missing] = np.where(missing % 3, np.nan, np.inf)[:, None]
    return np.split(states, np.cumsum([len(path) for path in paths])[:-1])


@QUICK
@given(drawn=holed(), edges=EDGES, per_source=st.integers(1, 4), every=st.integers(1, 3))
def test_missing_rows_are_left_out_the_same_way_everywhere(
    drawn: tuple[Paths, Paths, IntArray], edges: list[int], per_source: int, every: int
) -> None:
    paths, times, missing = drawn
    counts: Paths = [np.arange(len(path), dtype=np.float64) * 0.25 for path in paths]
    bad = spoiled(paths, missing)
    holes = holes_of(np.isin(np.arange(sum(map(len, paths))), missing))
    for clock in (times, counts):
        by_hand = pieces_by_hand(paths, clock, missing)
        even = clock is counts
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WgsindyWarning)
            if not by_hand:
                with pytest.raises(DataError):
                    Trajectories(bad, 0.25) if even else Trajectories(bad, times=clock)
                return
            whole = Trajectories(paths, 0.25) if even else Trajectories(paths, times=clock)
            given_bad = Trajectories(bad, 0.25) if even else Trajectories(bad, times=clock)
            blocks, good = (blocks_of(p, 0.25 if even else clock, edges) for p in (bad, paths))
            found: list[Dataset] = [
                given_bad,
                whole.without(holes),
                streamed(blocks, per_source),
                streamed(good, per_source).without(holes),
            ]
        expected = Trajectories([s for s, _ in by_hand], times=[t for _, t in by_hand])
        for one in found:
            assert_same(one, expected, rtol=1e-12)
            if expected.lengths.max() > every:
                assert_same(one.thinned(every), expected.thinned(every), rtol=1e-12)
            last = [len(expected) - 1]
            assert_same(one.subset(last), expected.subset(last), rtol=1e-12)


def runs_of(*lengths: int) -> Runs:
    """Trajectories that stand one behind the other."""
    counts = np.array(lengths)
    return Runs(np.cumsum(counts) - counts, counts, np.arange(len(counts)))


def test_what_is_left_knows_the_trajectory_that_it_is_of() -> None:
    holes = np.array([[2, 3], [12, 13], [15, 30]])
    found = runs_of(10, 25, 5).without(holes)
    assert found.rows.tolist() == [0, 3, 10, 13, 30, 35]
    assert found.counts.tolist() == [2, 7, 2, 2, 5, 5]
    assert found.trajectory.tolist() == [0, 0, 1, 1, 2, 3]  # cut at the longest hole
    assert found.first_rows.tolist() == [0, 10, 30, 35]


def test_what_is_left_of_every_third_row_is_where_it_was() -> None:
    # Places 0 to 4 are the rows 7, 10 ... 19, places 5 to 7 the rows 40, 43 and 46.
    third = Runs(np.array([7, 40]), np.array([5, 3]), np.array([0, 1]), every=3)
    found = third.without(np.array([[1, 2], [5, 6]]))
    assert found.all_rows().tolist() == [7, 13, 16, 19, 43, 46]
    assert found.lengths.tolist() == [4, 2]
    assert found.thinned(2).all_rows().tolist() == [7, 16]  # the other is too short
    assert third.between(2, 7).all_rows().tolist() == [13, 16, 19, 40, 43]
    assert third.subset(np.array([1])).all_rows().tolist() == [40, 43, 46]


def test_steps_of_a_fixed_length_stay_equal_to_the_last_bit() -> None:
    x = np.random.default_rng(0).normal(size=(100, 2))
    x[[7, 50, 51]] = np.nan
    with pytest.warns(MissingValuesWarning, match=r"value: 3, left out .*in all: 1\."):
        held = Trajectories(x, 0.1)
    with pytest.warns(MissingValuesWarning, match=r"value: 3, left out .*in all: 1\."):
        moving = streamed([Block(x[:50], 0.1), Block(x[50:], 0.1)])
    assert sorted(set(held.steps(0).tolist())) == [0.1, 2 * 0.1, 3 * 0.1]
    assert_same(moving, held)


def test_a_cut_leaves_a_fixed_step() -> None:
    data = Trajectories(np.arange(60.0)[:, None] ** 2, 0.5).without(np.array([[20, 40]]))
    assert data.lengths.tolist() == [20, 20]
    assert data.steps(1).tolist() == [0.5] * 19


def test_a_coordinate_without_values_is_refused() -> None:
    x = np.random.default_rng(0).normal(size=(50, 2))
    x[:, 1] = np.nan
    with pytest.raises(DataError, match="coordinate 1 is NaN or infinite in all 50 samples"):
        Trajectories(x, 0.1)
    with pytest.raises(NotEnoughDataError, match="of 50 rows each lacks a value"):
        streamed([Block(x, 0.1)])
    x[:] = np.where(np.arange(50) % 20 == 0, 1.0, np.nan)[:, None]
    with pytest.raises(NotEnoughDataError, match="no two near each other"):
        Trajectories(x, 0.1)


def test_a_trajectory_that_goes_on_after_a_long_hole_is_no_contradiction() -> None:
    x = np.random.default_rng(0).normal(size=(60, 1))
    x[20:35] = np.nan
    with pytest.warns(MissingValuesWarning):
        found = streamed([Block(x, 0.1, "a"), Block(x, 0.1, "b")], per_source=1)
    assert found.lengths.tolist() == [20, 25, 20, 25]
    assert found.total_time == pytest.approx(0.1 * (19 + 24) * 2)


# Values that are missing in rows that have others


def partly_seen() -> tuple[FloatArray, Trajectories]:
    x = np.random.default_rng(0).normal(size=(2, 60, 2)).cumsum(axis=1)
    x[0, 10:13, 0] = np.nan
    x[1, 30, 1] = np.inf
    x[1, :4, 1] = np.nan
    with pytest.warns(MissingValuesWarning, match=r"x: 3, y: 5\): the rows are kept"):
        return x, Trajectories(list(x), 0.1)


def test_rows_that_lack_some_values_are_kept_with_stand_ins() -> None:
    x, data = partly_seen()
    assert data.n_samples == 120
    assert data.seen is not None
    np.testing.assert_array_equal(data.seen, np.isfinite(x).reshape(-1, 2))
    np.testing.assert_array_equal(data.states[data.seen], x.reshape(-1, 2)[data.seen])
    line = np.linspace(x[0, 9, 0], x[0, 13, 0], 5)
    np.testing.assert_allclose(data[0][9:14, 0], line)
    np.testing.assert_allclose(data[1][:4, 1], x[1, 4, 1])  # nothing before: the first there is
    assert data.partly_seen == pytest.approx(8 / 120)
    assert data.complete().n_samples == 112
    assert data.complete().seen is None


def test_the_pattern_follows_the_samples() -> None:
    _, data = partly_seen()
    assert data.seen is not None
    chunks = list(data.chunks(32))
    found = [chunk.seen for chunk in chunks]
    assert all(one is not None for one in found)
    joined_up = np.concatenate([one for one in found if one is not None])
    starts = np.concatenate([data.seen[:59], data.seen[60:119]])
    np.testing.assert_array_equal(joined_up[:, 0], starts)
    ends = np.concatenate([data.seen[1:60], data.seen[61:]])
    np.testing.assert_array_equal(joined_up[:, 1], ends)
    thin, last = data.thinned(3), data.subset([1])
    assert thin.seen is not None
    np.testing.assert_array_equal(thin.seen[:20], data.seen[:60:3])
    assert last.seen is not None
    np.testing.assert_array_equal(last.seen, data.seen[60:])
    assert data.subset([0]).select(["y"]).seen is None


def test_velocities_are_coordinates_that_nobody_saw() -> None:
    x = np.sin(np.arange(0, 20, 0.1))[:, None]
    data = Trajectories(x, 0.1, names=["u"]).with_velocities()
    assert data.names == ("u", "v_u")
    assert data.order == 2
    assert data.seen is not None
    assert data.seen[:, 0].all()
    assert not data.seen[:, 1].any()
    np.testing.assert_allclose(data.states[1:-1, 1], np.cos(np.arange(0, 20, 0.1))[1:-1], atol=0.01)
    assert data.thinned(2).order == 2


def test_noise_widens_the_differences_that_stand_for_velocities() -> None:
    rng, t = np.random.default_rng(0), np.arange(0, 200, 0.05)
    x = np.sin(t) + rng.normal(0, 0.05, t.shape)
    off = Trajectories(x, 0.05).with_velocities().states[:, 1] - np.cos(t)
    plain = np.gradient(x, 0.05) - np.cos(t)
    assert off.std() < 0.4 * plain.std()  # noise falls with the width, 4 steps or more here


def test_third_differences_tell_noise_from_shaken_velocities() -> None:
    # Their variance: 20 s of noise s; a (k dt)^3 of a velocity of tensor a, k steps apart.
    rng, dt, a, s = np.random.default_rng(0), 0.1, 0.7, 2e-4
    shocks = rng.normal(0, np.sqrt(a * dt / 20), (50, 20 * 400))
    fine = np.cumsum(np.cumsum(shocks, axis=1), axis=1) * dt / 20
    x = fine[:, ::20] + rng.normal(0, np.sqrt(s), (50, 400)) + 1000 * np.arange(50)[:, None]
    data = Trajectories(list(x[:, :, None]), dt)
    for lag in (1, 2, 3):
        # 20,000 differences, of which neighbours are correlated.
        expected = 20 * s + a * (lag * dt) ** 3
        assert data.third_differences(lag)[0] == pytest.approx(expected, rel=0.06)
    assert not Trajectories([[0.0, 1.0, 0.0]], dt).third_differences().any()  # too short for one


def test_holes_up_to_ten_samples_are_bridged_and_longer_ones_cut() -> None:
    for length, trajectory in ((10, [0, 0]), (11, [0, 1])):
        holes = np.array([[5, 5 + length]])
        found = runs_of(30).without(holes)
        np.testing.assert_array_equal(found.rows, [0, 5 + length])
        np.testing.assert_array_equal(found.counts, [5, 25 - length])
        np.testing.assert_array_equal(found.trajectory, trajectory)


def test_single_samples_between_holes_are_left_out_and_trajectories_never_joined() -> None:
    # Two trajectories, of places 0 to 19 and 20 to 39: of the first, one sample alone is left late.
    holes = np.array([[2, 4], [5, 19], [20, 22]])
    found = runs_of(20, 20).without(holes)
    np.testing.assert_array_equal(found.rows, [0, 4, 22])
    np.testing.assert_array_equal(found.counts, [2, 1, 18])
    np.testing.assert_array_equal(found.trajectory, [0, 0, 1])
    np.testing.assert_array_equal(found.lengths, [3, 18])


def test_rows_of_runs_are_all_their_numbers() -> None:
    counts, trajectory = np.array([2, 0, 3]), np.array([0, 0, 1])
    found = Runs(np.array([3, 10, 12]), counts, trajectory).all_rows()
    np.testing.assert_array_equal(found, [3, 4, 12, 13, 14])


@pytest.mark.parametrize("width", [1, 2])
def test_differences_stay_within_their_trajectory(width: int) -> None:
    times, offsets = np.array([0.0, 1.0, 3.0, 4.0, 0.0, 2.0, 3.0]), np.array([0, 4, 7])
    states = np.array([0.0, 2.0, 3.0, 7.0, 50.0, 40.0, 45.0])[:, None]
    expected = []
    for first, last in ((0, 3), (4, 6)):
        for k in range(first, last + 1):
            low, high = max(k - width, first), min(k + width, last)
            expected.append((states[high, 0] - states[low, 0]) / (times[high] - times[low]))
    np.testing.assert_allclose(_differences(states, times, offsets, width)[:, 0], expected)


def test_third_differences_are_those_within_trajectories() -> None:
    rng, offsets = np.random.default_rng(0), np.array([0, 9, 14, 17])
    states = rng.normal(size=(17, 2)) + 1e3 * np.repeat([0.0, 1.0, 5.0], [9, 5, 3])[:, None]
    third = np.concatenate([np.diff(states[:9], n=3, axis=0), np.diff(states[9:14], n=3, axis=0)])
    np.testing.assert_allclose(third_differences(states, offsets), np.mean(third**2, axis=0))
    np.testing.assert_array_equal(third_differences(states[:3], np.array([0, 3])), [0.0, 0.0])
    turned, short = np.concatenate([states[14:], states[:9]]), np.array([0, 3, 12])
    alone = np.diff(states[:9], n=3, axis=0)  # the first three are too few for one
    np.testing.assert_allclose(third_differences(turned, short), np.mean(alone**2, axis=0))
    wide = np.concatenate([np.diff(states[k:9:2], n=3, axis=0) for k in (0, 1)])
    np.testing.assert_allclose(third_differences(states, offsets, 2), np.mean(wide**2, axis=0))


def test_differences_widen_until_noise_is_a_tenth_of_their_variance() -> None:
    rng, n, dt = np.random.default_rng(1), 4000, 0.1
    times, offsets = np.linspace(0.0, (n - 1) * dt, n), np.array([0, n])
    smooth = np.sin(0.5 * times)[:, None]  # velocities of variance 1/8
    for deviation, width in ((0.01, 1), (0.03, 2), (0.06, 4), (5.0, 16)):
        noisy = smooth + deviation * rng.standard_normal(smooth.shape)
        # Noise s makes s / 2 (w dt)^2 of the variance of differences over 2 w steps.
        found = velocities(noisy, times, offsets)
        np.testing.assert_array_equal(found, _differences(noisy, times, offsets, width))


def test_stand_ins_lie_on_lines_and_a_column_without_values_has_the_mean_of_others() -> None:
    states = np.array([[0.0, 1.0], [np.nan, 3.0], [6.0, np.nan], [1.0, np.nan], [3.0, np.nan]])
    times, offsets = np.array([0.0, 1.0, 3.0, 0.0, 1.0]), np.array([0, 3, 5])
    found = stand_ins(states, ~np.isnan(states), times, offsets)
    expected = [[0.0, 1.0], [2.0, 3.0], [6.0, 3.0], [1.0, 2.0], [3.0, 2.0]]
    np.testing.assert_allclose(found, expected)
