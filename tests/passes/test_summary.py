"""Moments of the first look against the same quantities of all samples at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wgsindy import stream
from wgsindy.data import FloatArray, Trajectories
from wgsindy.errors import InterpolatedSamplesWarning, RepeatedSamplesWarning
from wgsindy.passes import (
    OUTLIER_RATIO,
    data_summary,
    outlier_sentence,
    reduce,
    screened_summary,
    warn_of_samples,
)
from wgsindy.passes.engine import Threads
from wgsindy.passes.summary import MomentPass


@pytest.mark.parametrize(("size", "threads"), [(1, 1), (7, 2), (10**6, 1)])
def test_moments_are_those_of_the_samples(size: int, threads: int) -> None:
    rng = np.random.default_rng(0)
    # Below where they start, so that the largest distance is to the left of the origin.
    paths = [3.0 - np.abs(rng.normal(size=(n, 2))).cumsum(axis=0) for n in (2, 30, 17)]
    paths[1][9] = paths[1][8]
    times = [np.cumsum(rng.uniform(0.1, 1.0, len(path))) for path in paths]
    data = Trajectories(paths, times=times)
    found = reduce(MomentPass(data), data, chunk_size=size, engine=Threads(threads))
    states = np.concatenate([path[:-1] for path in paths])
    steps = np.concatenate([np.diff(path, axis=0) for path in paths])
    dt = np.concatenate([np.diff(t) for t in times])
    x = states - paths[0][0]
    assert (found.count, found.repeated) == (46, 1)
    assert found.moved.all()
    np.testing.assert_array_equal(found.low, states.min(axis=0))
    np.testing.assert_array_equal(found.high, states.max(axis=0))
    np.testing.assert_array_equal(found.reach, np.abs(x).max(axis=0))
    np.testing.assert_array_equal(found.largest, (steps**2 / dt[:, None]).max(axis=0))
    np.testing.assert_allclose(found.time, dt.sum(), rtol=1e-13)
    np.testing.assert_allclose(found.first, x.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.second, x.T @ x, rtol=1e-12)
    np.testing.assert_allclose(found.variation, (steps**2).sum(axis=0), rtol=1e-12)
    by_trajectory = [(path[:-1] - paths[0][0]).sum(axis=0) for path in paths]
    np.testing.assert_allclose(found.by_trajectory, by_trajectory, rtol=1e-12)


def rounded_walks() -> FloatArray:
    x = np.cumsum(np.random.default_rng(1).normal(0.0, 0.1, (4, 3000, 2)), axis=1)
    x[:, :, 0] = np.round(x[:, :, 0], 2)
    return x


def test_the_grid_is_the_same_wherever_the_sums_are_made() -> None:
    x = rounded_walks()
    data = Trajectories(x, 0.1)
    moving = stream(
        lambda: ((x[k, a : a + 70], 0.1, k) for k in range(4) for a in range(0, 3000, 70))
    )
    for given in (data, moving):
        for threads in (1, 3):
            found = data_summary(given, standardise=True, engine=Threads(threads))
            assert found.quantum.tolist() == [0.01, 0.0]
            assert found.resolution.discrete.tolist() == [True, False]


def test_stalls_are_left_out_of_the_summary_and_told() -> None:
    x = rounded_walks()
    clean, summary = screened_summary(data := Trajectories(x, 0.1), standardise=True)
    assert clean is data
    assert (summary.stalled, summary.straight) == (0, 0)
    x[1, 500:700] = x[1, 500]
    x[2, 100:121] = np.linspace(x[2, 100], x[2, 120], 21)
    with (
        pytest.warns(RepeatedSamplesWarning, match="199 samples repeat"),
        pytest.warns(InterpolatedSamplesWarning, match="19 samples lie on straight lines"),
    ):
        left, summary = screened_summary(Trajectories(x, 0.1), standardise=True)
    assert (summary.stalled, summary.straight, summary.repeated) == (199, 19, 0)
    assert left.lengths.tolist() == [3000, 501, 2300, 101, 2880, 3000]
    alone = data_summary(left, standardise=True)
    np.testing.assert_array_equal(summary.covariance, alone.covariance)


def test_repeats_of_rounded_numbers_are_data() -> None:
    x = np.round(rounded_walks(), 1)
    data = Trajectories(x, 0.1)
    left, summary = screened_summary(data, standardise=True)
    assert left is data
    assert summary.repeated > 0.05 * data.n_increments
    assert summary.quantum.tolist() == [0.1, 0.1]
    warn_of_samples(summary, data.names)  # a warning would be an error here


@pytest.mark.parametrize("standardise", [True, False])
def test_a_summary_has_sizes_in_units_of_its_frame(standardise: bool) -> None:
    rng = np.random.default_rng(1)
    paths = [rng.normal([5.0 + r, 1.0], [2.0, 0.1], size=(n, 2)) for r, n in ((2, 40), (0, 60))]
    times = [np.cumsum(rng.uniform(0.1, 1.0, len(path))) for path in paths]
    found = data_summary(Trajectories(paths, times=times), standardise=standardise)
    states = np.concatenate([path[:-1] for path in paths])
    steps = np.concatenate([np.diff(path, axis=0) for path in paths])
    dt = np.concatenate([np.diff(t) for t in times])
    spread, rate = states.std(axis=0, ddof=1), (steps**2).sum(axis=0) / dt.sum()
    scale = spread if standardise else np.ones(2)
    np.testing.assert_allclose(found.region.centre, states.mean(axis=0))
    np.testing.assert_allclose(found.region.scale, spread)
    np.testing.assert_allclose(found.frame.scale, scale)
    covariance = np.cov(states.T) / np.outer(scale, scale)
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-12)
    np.testing.assert_allclose(found.variation, rate / scale**2)
    largest = (steps**2 / dt[:, None]).max(axis=0)
    np.testing.assert_allclose(found.worst, np.sqrt(largest / rate))
    np.testing.assert_array_equal(found.rank, [1, 0])  # the second lies lower
    assert found.longest_step == dt.max()
    np.testing.assert_array_equal(found.probe, states[::4])
    assert (found.count, found.inputs, found.every) == (98, 0, 1)


def test_an_increment_stands_out_by_its_ratio_to_the_typical_one() -> None:
    rng = np.random.default_rng(2)
    plain = data_summary(Trajectories([rng.normal(size=(99, 2))], 0.1), standardise=True)
    at, beyond = (replace(plain, worst=np.array([1.0, OUTLIER_RATIO * k])) for k in (1.0, 1.01))
    assert outlier_sentence(at, ("x", "y")) == ""
    said = f"the largest increment of y is {1.01 * OUTLIER_RATIO:.3g} times the typical one"
    assert outlier_sentence(beyond, ("x", "y")).startswith(said)


def test_trajectories_are_ranked_by_where_they_are_on_average_however_short_they_are() -> None:
    """A single step that begins at 1 lies above many that begin at 0.6."""
    rng, short = np.random.default_rng(2), np.array([[1.0], [0.0]])
    many = [level + rng.normal(0.0, 0.01, size=(200, 1)) for level in (0.0, 0.6)]
    found = data_summary(Trajectories([*many, short], 0.1), standardise=True)
    np.testing.assert_array_equal(found.rank, [0, 1, 2])
