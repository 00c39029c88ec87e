"""The front door for data: what goes in comes out once, in order, and never changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest

from wgsindy.data import Chunk, FloatArray, Trajectories
from wgsindy.errors import DataError, NotEnoughDataError

# Lengths on both sides of every chunk size, two-sample paths at both ends and side by side.
LENGTHS = (2, 2, 50, 3, 131, 7, 8, 2)
CHUNK_SIZES = (1, 7, 100, 10**9)


def ragged_paths(seed: int = 0, dimension: int = 2) -> list[FloatArray]:
    rng = np.random.default_rng(seed)
    # Far apart, so that an increment into the next trajectory would be unmistakable.
    return [1000.0 * i + rng.normal(size=(n, dimension)) for i, n in enumerate(LENGTHS)]


def dyadic_times(seed: int = 1) -> list[FloatArray]:
    """Uneven times whose sums and differences are exact in floating point."""
    rng = np.random.default_rng(seed)
    return [3.0 + np.cumsum(rng.integers(1, 64, size=n)) / 64 for n in LENGTHS]


class Row(NamedTuple):
    state: list[float]
    increment: list[float]
    dt: float
    trajectory: int
    following: list[float] | None  # None after the last increment of a trajectory


def rows_by_loop(paths: Sequence[FloatArray], steps: Sequence[FloatArray]) -> list[Row]:
    """Every increment, one at a time."""
    rows = []
    for r, path in enumerate(paths):
        for n in range(len(path) - 1):
            is_last = n == len(path) - 2
            after = None if is_last else (path[n + 2] - path[n + 1]).tolist()
            increment = path[n + 1] - path[n]
            rows.append(Row(path[n].tolist(), increment.tolist(), float(steps[r][n]), r, after))
    return rows


def rows_of(chunks: Sequence[Chunk]) -> list[Row]:
    rows = []
    for chunk in chunks:
        following = chunk.following
        assert following is not None
        assert len({len(part) for part in (*chunk[:4], following)}) == 1
        for n, is_followed in enumerate(chunk.is_followed):
            assert is_followed or np.isnan(following[n]).all()
            rows.append(
                Row(
                    chunk.states[n].tolist(),
                    chunk.increments[n].tolist(),
                    float(chunk.dt[n]),
                    int(chunk.trajectory[n]),
                    following[n].tolist() if is_followed else None,
                )
            )
    return rows


@pytest.mark.parametrize("size", CHUNK_SIZES)
def test_chunks_hold_every_increment_once_with_even_steps(size: int) -> None:
    paths = ragged_paths()
    dt = [0.01 * (r + 1) for r in range(len(paths))]
    chunks = list(Trajectories(paths, dt).chunks(size, following=True))
    steps = [np.full(len(path) - 1, step) for path, step in zip(paths, dt, strict=True)]
    assert rows_of(chunks) == rows_by_loop(paths, steps)
    assert max(len(chunk.dt) for chunk in chunks) <= size


@pytest.mark.parametrize("size", CHUNK_SIZES)
def test_chunks_hold_every_increment_once_with_uneven_steps(size: int) -> None:
    paths, times = ragged_paths(dimension=3), dyadic_times()
    chunks = list(Trajectories(paths, times=times).chunks(size, following=True))
    assert rows_of(chunks) == rows_by_loop(paths, [np.diff(t) for t in times])


@pytest.mark.parametrize("size", CHUNK_SIZES)
def test_no_increment_leads_into_the_next_trajectory(size: int) -> None:
    data = Trajectories(ragged_paths(), 0.1)
    last = []
    for chunk in data.chunks(size, following=True):
        # Paths are 1000 apart and each is a cloud of unit spread.
        assert np.abs(chunk.increments).max() < 20
        assert chunk.following is not None
        assert np.abs(chunk.following[chunk.is_followed]).max(initial=0.0) < 20
        last += chunk.trajectory[~chunk.is_followed].tolist()
    assert last == list(range(len(LENGTHS)))


def test_the_following_increment_is_left_out_unless_asked_for() -> None:
    assert next(Trajectories(ragged_paths(), 0.1).chunks()).following is None


def test_a_list_a_stack_and_nested_lists_are_the_same_data() -> None:
    stack = np.random.default_rng(2).normal(size=(3, 5, 2))
    forms = [
        Trajectories(list(stack), 0.1),
        Trajectories(stack, 0.1),
        Trajectories(stack.tolist(), 0.1),
    ]
    for data in forms:
        assert (len(data), data.dimension, data.n_increments) == (3, 2, 12)
        np.testing.assert_array_equal(data.states, stack.reshape(15, 2))


def test_one_matrix_is_one_trajectory() -> None:
    path = np.random.default_rng(3).normal(size=(6, 2))
    data = Trajectories(path, 0.1)
    assert len(data) == 1
    np.testing.assert_array_equal(data[0], path)


def test_one_vector_is_one_path_of_a_scalar_process() -> None:
    vector = np.array([1.0, 4.0, 9.0, 16.0])
    for form in (vector, vector.tolist(), [vector]):
        data = Trajectories(form, 0.1)
        assert len(data) == 1
        np.testing.assert_array_equal(data[0], vector[:, None])


def test_a_list_of_vectors_is_several_scalar_paths() -> None:
    data = Trajectories([np.arange(3.0), np.arange(4.0)], 0.1)
    assert [path.shape for path in data] == [(3, 1), (4, 1)]


def test_integers_become_floating_point_numbers() -> None:
    data = Trajectories([np.array([[1, 2], [3, 4]])], 1)
    assert data.states.dtype == np.float64
    assert data.states.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_one_dt_serves_all_and_a_list_serves_each() -> None:
    paths = [np.zeros((3, 1)), np.zeros((4, 1))]
    assert [Trajectories(paths, 0.5).steps(r).tolist() for r in (0, 1)] == [[0.5] * 2, [0.5] * 3]
    each = Trajectories(paths, [0.5, 0.25])
    assert [each.steps(r).tolist() for r in (0, 1)] == [[0.5] * 2, [0.25] * 3]


def test_shared_times_serve_every_path() -> None:
    times = np.array([0.0, 1.0, 4.0])
    data = Trajectories(np.zeros((2, 3, 1)), times=times)
    assert [data.steps(r).tolist() for r in (0, 1)] == [[1.0, 3.0], [1.0, 3.0]]


def test_times_of_one_path_may_be_a_plain_list() -> None:
    assert Trajectories(np.zeros((3, 2)), times=[2.0, 3.0, 6.0]).steps(0).tolist() == [1.0, 3.0]


def test_times_per_path_give_each_path_its_own_steps() -> None:
    data = Trajectories([np.zeros(3), np.zeros(2)], times=[[0.0, 1.0, 4.0], [10.0, 10.5]])
    assert [data.steps(r).tolist() for r in (0, 1)] == [[1.0, 3.0], [0.5]]


@pytest.mark.parametrize(
    ("dimension", "names"),
    [(1, ("x",)), (2, ("x", "y")), (3, ("x", "y", "z")), (4, ("x1", "x2", "x3", "x4"))],
)
def test_coordinates_have_names_by_default(dimension: int, names: tuple[str, ...]) -> None:
    assert Trajectories(np.zeros((2, dimension)), 1.0).names == names


def test_given_names_are_kept() -> None:
    assert Trajectories(np.zeros((2, 2)), 1.0, names=["price", "v_1"]).names == ("price", "v_1")


def test_observed_time_is_summed_over_trajectories_not_over_gaps() -> None:
    even = Trajectories([np.zeros(4), np.zeros(9)], [0.5, 0.25])
    assert even.total_time == 3 * 0.5 + 8 * 0.25
    assert even.mean_dt == 3.5 / 11
    times = dyadic_times()
    uneven = Trajectories(ragged_paths(), times=times)
    observed = sum(float(t[-1] - t[0]) for t in times)
    assert uneven.total_time == observed
    assert uneven.mean_dt == observed / sum(n - 1 for n in LENGTHS)


def test_only_differences_of_times_matter() -> None:
    times = dyadic_times()
    late = [t + 4096.0 for t in times]
    first, second = (Trajectories(ragged_paths(), times=t) for t in (times, late))
    for r in range(len(first)):
        np.testing.assert_array_equal(first.steps(r), second.steps(r))


def test_a_subset_keeps_states_steps_and_names_in_the_order_asked_for() -> None:
    paths, times = ragged_paths(), dyadic_times()
    dt = [0.01 * (r + 1) for r in range(len(paths))]
    for data in (
        Trajectories(paths, dt, names=("u", "v")),
        Trajectories(paths, times=times, names=("u", "v")),
    ):
        part = data.subset([4, 0, 4])
        assert part.names == ("u", "v")
        for place, index in enumerate([4, 0, 4]):
            np.testing.assert_array_equal(part[place], paths[index])
            np.testing.assert_array_equal(part.steps(place), data.steps(index))


@pytest.mark.parametrize("even", [True, False])
def test_negative_indices_count_from_the_end_everywhere(even: bool) -> None:
    paths = ragged_paths()
    data = Trajectories(paths, 0.5) if even else Trajectories(paths, times=dyadic_times())
    np.testing.assert_array_equal(data[-2], paths[-2])
    np.testing.assert_array_equal(data.steps(-2), data.steps(len(paths) - 2))
    np.testing.assert_array_equal(data.subset([-2]).steps(0), data.steps(len(paths) - 2))


def test_selected_coordinates_keep_states_and_steps() -> None:
    paths, times = ragged_paths(dimension=3), dyadic_times()
    data = Trajectories(paths, times=times)
    part = data.select(["z", "x"])
    assert part.names == ("z", "x")
    for r, path in enumerate(paths):
        np.testing.assert_array_equal(part[r], path[:, [2, 0]])
        np.testing.assert_array_equal(part.steps(r), np.diff(times[r]))


def test_selecting_nothing_or_an_unknown_name_is_refused() -> None:
    data = Trajectories(ragged_paths(), 0.1)
    with pytest.raises(DataError, match=r"'w'.*\['x', 'y'\]"):
        data.select(["x", "w"])
    with pytest.raises(NotEnoughDataError, match="at least one"):
        data.subset([])


def test_a_trajectory_that_is_not_there_is_an_index_error() -> None:
    data = Trajectories(np.zeros((3, 4, 1)), 0.1)
    for index in (3, -4):
        with pytest.raises(IndexError, match=str(index)):
            data[index]


def test_arrays_handed_out_cannot_be_written_to() -> None:
    data = Trajectories(ragged_paths(), times=dyadic_times())
    for array in (data.states, data[2], data.steps(2)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_attributes_cannot_be_replaced() -> None:
    data = Trajectories(ragged_paths(), 0.1)
    for name in ("states", "names", "anything"):
        with pytest.raises(AttributeError):
            setattr(data, name, None)


def test_later_changes_of_the_callers_arrays_do_not_matter() -> None:
    path, times = np.arange(6.0).reshape(3, 2), np.array([0.0, 1.0, 3.0])
    stack, dt = np.arange(6.0).reshape(1, 3, 2), np.array([0.5])
    by_times = Trajectories([path], times=[times])
    by_dt = Trajectories(stack, dt)  # type: ignore[arg-type]
    for array in (path, times, stack, dt):
        array[...] = -7.0
    assert by_times[0].tolist() == by_dt[0].tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert by_times.steps(0).tolist() == [1.0, 2.0]
    assert by_dt.steps(0).tolist() == [0.5, 0.5]


def test_writing_into_a_chunk_does_not_reach_the_data() -> None:
    data = Trajectories(ragged_paths(), times=dyadic_times())
    before = data.states.copy(), data.steps(4).copy()
    for chunk in data.chunks(7, following=True):
        for array in chunk:
            if isinstance(array, np.ndarray) and array.flags.writeable:
                array[...] = 0
    np.testing.assert_array_equal(data.states, before[0])
    np.testing.assert_array_equal(data.steps(4), before[1])


def test_thinning_keeps_every_nth_sample_and_joins_nothing() -> None:
    paths = [np.arange(n, dtype=float)[:, None] for n in (10, 3, 7)]
    thin = Trajectories(paths, [0.1, 0.2, 0.3]).thinned(3)
    # The second has three samples: no step of three.
    assert [path[:, 0].tolist() for path in thin] == [[0, 3, 6, 9], [0, 3, 6]]
    np.testing.assert_allclose(thin.steps(0), 0.3)
    np.testing.assert_allclose(thin.steps(1), 0.9)


def test_thinning_adds_up_uneven_steps() -> None:
    data = Trajectories([np.arange(6.0)], times=[[0.0, 0.1, 0.3, 0.6, 1.0, 1.5]], names=["v"])
    thin = data.thinned(2)
    np.testing.assert_allclose(thin.steps(0), [0.3, 0.7])
    assert thin[0][:, 0].tolist() == [0.0, 2.0, 4.0]
    assert thin.names == ("v",)
    np.testing.assert_array_equal(data.thinned(1).states, data.states)


def test_thinning_that_leaves_nothing_is_refused() -> None:
    data = Trajectories([np.arange(6.0)], 0.1)
    with pytest.raises(NotEnoughDataError, match=r"every=6 leaves no step.* has 6 samples"):
        data.thinned(6)
    for every in (0, -1, 2.0):
        with pytest.raises(DataError, match="every must be a whole number"):
            data.thinned(every)  # type: ignore[arg-type]
