"""The log-likelihood of data that were held out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from wgsindy import Trajectories, stream, zoo
from wgsindy.errors import DataError
from wgsindy.estimate import Predictions, log_likelihood
from wgsindy.estimate.orders import log_densities
from wgsindy.passes.engine import Threads


@pytest.mark.parametrize("name", ["heston_logsv", "nondiag_cholesky"])
def test_it_is_the_mean_normal_log_density_of_the_steps(name: str) -> None:
    system = zoo.get(name)
    data = system.simulate(seed=3, trajectories=2, steps=200)
    truth, expected = system.generator, []
    for path in data:
        for x, y in pairwise(path):
            mean = x + truth.drift([x])[0] * system.dt
            covariance = truth.diffusion([x])[0] * system.dt
            expected.append(multivariate_normal(mean, covariance).logpdf(y))
    assert log_likelihood(truth, data) == pytest.approx(np.mean(expected), rel=1e-9)


def test_the_truth_is_more_likely_than_a_rotation() -> None:
    # Per step the truth is ahead of a drift that is off by delta by m = delta^2 dt / (2 a) on
    # average, with variance 2 m. Here delta = 2 |x|, so all steps make it some hundreds, give or
    # take the root of twice that.
    system = zoo.get("indep_ou")
    data = system.simulate(seed=5)
    other = zoo.get("rotational_ou").generator
    assert log_likelihood(system.generator, data) > log_likelihood(other, data)


def test_chunks_threads_and_streams_give_one_answer() -> None:
    system = zoo.get("duffing")
    data = system.simulate(seed=2, trajectories=4)
    whole = log_likelihood(system.generator, data)
    threaded = log_likelihood(system.generator, data, engine=Threads(2))
    streamed = log_likelihood(system.generator, stream(list(data), dt=system.dt))
    assert threaded == pytest.approx(whole, rel=1e-12)
    assert streamed == whole


def test_a_coordinate_without_noise_has_a_finite_score() -> None:
    system = zoo.get("duffing_degenerate")
    data = system.simulate(seed=2, trajectories=2)
    assert np.isfinite(log_likelihood(system.generator, data))


def test_other_coordinates_are_refused() -> None:
    data = Trajectories([np.random.default_rng(0).normal(size=(99, 2))], 0.1, names=("u", "v"))
    with pytest.raises(DataError, match=r"one of \['x', 'y'\], the data have \['u', 'v'\]"):
        log_likelihood(zoo.get("duffing").generator, data)


def test_a_density_is_that_of_what_was_measured() -> None:
    error = np.array([[0.3, -0.2], [0.5, 7.0], [9.0, 9.0]])
    whole, part = np.array([[0.5, 0.2], [0.2, 0.3]]), np.diag([0.4, 1.0])
    blank = np.zeros_like(error)
    seen = np.array([[True, True], [True, False], [False, False]])
    covariance = np.stack([whole, part, np.eye(2)])
    found = Predictions(error, covariance, blank, blank, blank, blank, seen)
    expected = [
        multivariate_normal([0.0, 0.0], whole).logpdf(error[0]),
        multivariate_normal(0.0, 0.4).logpdf(0.5),
        0.0,
    ]
    np.testing.assert_allclose(log_densities(found, np.ones(3), np.ones(2)), expected, rtol=1e-12)
    # Units are for the floor of a variance alone: the density is one of the states.
    all_seen = found._replace(seen=None)
    for units in (np.ones(2), np.array([3.0, 0.2])):
        first = log_densities(all_seen, np.full(3, 0.7), units)[0]
        assert first == pytest.approx(expected[0], rel=1e-12)


def test_a_step_that_cannot_be_has_no_density_and_no_warning() -> None:
    far, blank = np.array([[1e200, 0.0]]), np.zeros((1, 2))
    found = Predictions(far, np.eye(2)[None], blank, blank, blank, blank, None)
    assert log_densities(found, np.ones(1), np.ones(2)).tolist() == [-np.inf]


def test_a_covariance_that_is_a_little_indefinite_has_a_density_as_in_the_filter() -> None:
    """Second order of a process of first order: a tensor that is none at some states."""
    apart, together = np.array([[2.0, 0.6], [0.6, 1.0]]), np.array([[2.0, 1.42], [1.42, 1.0]])
    assert np.linalg.det(together) < 0
    error, dt = np.array([[0.3, -0.2], [0.3, -0.2]]), np.full(2, 0.1)
    seen = np.ones((2, 2), dtype=bool)
    covariance = np.stack([apart, together])
    found = Predictions(error, covariance, error, error, error, error, seen)
    first, second = log_densities(found, dt, np.ones(2))
    assert first == pytest.approx(multivariate_normal([0, 0], apart).logpdf(error[0]))
    # What the second coordinate keeps once the first is known is a millionth of its variance.
    left = error[1, 1] - together[0, 1] / together[0, 0] * error[1, 0]
    expected = -0.5 * (0.3**2 / 2 + left**2 / 1e-6 + np.log(4 * np.pi**2 * 2 * 1e-6))
    assert second == pytest.approx(expected)
