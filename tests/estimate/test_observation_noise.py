"""Observation noise from neighbouring increments: what is expected of them, what stands out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from wgsindy.data.arrays import FloatArray
from wgsindy.data.trajectories import Trajectories
from wgsindy.estimate.observation_noise import LagPass, observation_noise
from wgsindy.passes.engine import reduce

SCALE = np.array([2.0, 0.5])


def pull(states: FloatArray, dt: FloatArray) -> FloatArray:
    """A linear drift, in units of SCALE."""
    return -3.0 * states / SCALE * dt[:, None]


def noisy_paths(seed: int = 0) -> Trajectories:
    return Trajectories(list(np.random.default_rng(seed).normal(size=(3, 40, 2))), 0.1)


def by_hand(data: Trajectories) -> tuple[int, FloatArray]:
    total, pairs = np.zeros((2, 2)), 0
    for path in data:
        steps = np.diff(path, axis=0)
        left = steps / SCALE + 0.3 * path[:-1] / SCALE
        for n in range(len(steps) - 1):
            if steps[n].any() and steps[n + 1].any():
                total += np.outer(left[n], left[n + 1])
                pairs += 1
    return pairs, total


def with_repeats() -> Trajectories:
    repeated = [np.repeat(path, [1] * 20 + [4] + [1] * 19, axis=0) for path in noisy_paths()]
    return Trajectories(repeated, 0.1)


@pytest.mark.parametrize("data", [noisy_paths(), with_repeats()], ids=["plain", "repeats"])
def test_what_is_expected_is_taken_off_and_repeats_are_left_out(data: Trajectories) -> None:
    pairs, total = by_hand(data)
    expected = -(total + total.T) / 2 / pairs
    found = observation_noise(data, SCALE, mean=pull)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_sums_do_not_depend_on_the_chunk_size(size: int) -> None:
    lag = reduce(LagPass(SCALE, pull), with_repeats(), chunk_size=size, following=True)
    pairs, total = by_hand(with_repeats())
    assert lag.pairs == pairs
    np.testing.assert_allclose(lag.products, total, rtol=1e-12)


def decaying(rate: float, sigma: float, seed: int = 0) -> Trajectories:
    """An Euler chain with steps of 0.1, without or with observation noise."""
    rng = np.random.default_rng(seed)
    x = np.zeros((8, 2001, 2))
    for n in range(2000):
        x[:, n + 1] = x[:, n] * (1 - 0.1 * rate) + 0.3 * rng.normal(size=(8, 2))
    return Trajectories(list(x + sigma * rng.normal(size=x.shape)), 0.1)


def test_the_trace_of_a_drift_is_not_taken_for_noise() -> None:
    # Neighbouring steps of x' = r x + 0.3 noise, r = 0.7, covary by -0.09 (1 - r) / (1 + r).
    data = decaying(3.0, 0.0)
    found = observation_noise(data, SCALE) * np.outer(SCALE, SCALE)
    # Products of 16,000 pairs with variances below 0.09 x 2 / (1 + r).
    error = 0.09 * 2 / 1.7 / np.sqrt(16_000)
    np.testing.assert_allclose(np.diag(found), 0.09 * 0.3 / 1.7, atol=4.5 * error)
    freed = observation_noise(data, SCALE, mean=pull) * np.outer(SCALE, SCALE)
    assert np.diag(freed).max() < 4.5 * error


def test_noise_that_stands_out_is_kept_and_no_other() -> None:
    clean, noisy = decaying(3.0, 0.0), decaying(3.0, 0.1)
    paths = [np.column_stack([a[:, 0], b[:, 1]]) for a, b in zip(clean, noisy, strict=True)]
    data = Trajectories(paths, 0.1)
    found = observation_noise(data, SCALE, mean=pull, errors=3.0)
    assert not found[0].any()
    assert not found[:, 0].any()
    # The noise in the drift that is taken off adds a factor of 1 - 0.3.
    square = 0.01 / SCALE[1] ** 2
    assert found[1, 1] == pytest.approx(0.7 * square, rel=0.3)


@pytest.mark.statistical
@pytest.mark.parametrize("errors", [1.0, 2.0])
def test_chance_stands_out_as_often_as_it_should(errors: float) -> None:
    count = 0
    for seed in range(200):
        walk = np.cumsum(np.random.default_rng(seed).normal(size=(4, 200, 2)), axis=1)
        found = observation_noise(Trajectories(list(walk), 0.1), SCALE, errors=errors)
        count += int(np.count_nonzero(np.diag(found)))
    rate = float(norm.sf(errors))
    # Two-sided, one alarm in ten thousand.
    assert binom.ppf(5e-5, 400, rate) <= count <= binom.isf(5e-5, 400, rate)
