"""The log-likelihood of data that were held out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from wgsindy import Trajectories, stream, zoo
from wgsindy.errors import DataError
from wgsindy.estimate.held_out import log_likelihood
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
