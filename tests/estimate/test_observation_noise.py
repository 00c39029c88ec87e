"""Observation noise from neighbouring increments, as the paper takes it off."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy.data import FloatArray, Trajectories
from wgsindy.estimate.weak_form.weak_rows import LagPass, lag_one_noise
from wgsindy.passes import reduce

SCALE = np.array([2.0, 0.5])


def noisy_paths(seed: int = 0) -> Trajectories:
    return Trajectories(list(np.random.default_rng(seed).normal(size=(3, 40, 2))), 0.1)


def by_hand(data: Trajectories) -> tuple[int, FloatArray]:
    total, pairs = np.zeros((2, 2)), 0
    for path in data:
        steps = np.diff(path, axis=0) / SCALE
        total += steps[:-1].T @ steps[1:]
        pairs += len(steps) - 1
    return pairs, total


def test_it_is_minus_the_covariance_of_neighbouring_increments() -> None:
    pairs, total = by_hand(noisy_paths())
    expected = -(total + total.T) / 2 / pairs
    assert np.linalg.eigvalsh(expected).min() > 0
    np.testing.assert_allclose(lag_one_noise(noisy_paths(), SCALE), expected, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_sums_do_not_depend_on_the_chunk_size(size: int) -> None:
    lag = reduce(LagPass(SCALE), noisy_paths(), chunk_size=size, following=True)
    pairs, total = by_hand(noisy_paths())
    assert lag.pairs == pairs
    np.testing.assert_allclose(lag.products, total, rtol=1e-12)


def test_the_trace_of_a_drift_is_taken_for_noise() -> None:
    # Neighbouring steps of x' = r x + 0.3 noise, r = 0.7, covary by -0.09 (1 - r) / (1 + r).
    rng = np.random.default_rng(0)
    x = np.zeros((8, 2001, 2))
    for n in range(2000):
        x[:, n + 1] = 0.7 * x[:, n] + 0.3 * rng.normal(size=(8, 2))
    found = lag_one_noise(Trajectories(list(x), 0.1), SCALE) * np.outer(SCALE, SCALE)
    # Products of 16,000 pairs with variances below 0.09 x 2 / (1 + r).
    error = 0.09 * 2 / 1.7 / np.sqrt(16_000)
    np.testing.assert_allclose(np.diag(found), 0.09 * 0.3 / 1.7, atol=4.5 * error)
