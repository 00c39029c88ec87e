"""Uneven steps: how samples are taken of a path, and what is counted of the fits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import gamma, kstest

from wgsindy import zoo
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.experiments.ours import uneven
from wgsindy_evidence.experiments.ours.uneven import (
    FINE,
    RECIPES,
    SAMPLINGS,
    SHAPE,
    SYSTEMS,
    sampled,
)
from wgsindy_evidence.pages.ours.uneven import summarise
from wgsindy_evidence.scope import Scope

SYSTEM = "rotational_ou"


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_first_and_last_sample_and_the_total_time_are_kept(sampling: str) -> None:
    system = zoo.get(SYSTEM)
    data, fine = sampled(SYSTEM, sampling, 3), uneven._fine(SYSTEM, 3)
    assert len(data) == len(fine) == system.trajectories
    for r, (path, behind) in enumerate(zip(data, fine, strict=True)):
        assert np.array_equal(path[0], behind[0])
        assert np.array_equal(path[-1], behind[-1])
        assert data.steps(r).sum() == pytest.approx(system.dt * system.steps, rel=1e-9)
    assert data.total_time == pytest.approx(fine.total_time, rel=1e-9)


def test_even_samples_are_a_step_apart() -> None:
    system, data = zoo.get(SYSTEM), sampled(SYSTEM, "even", 3)
    assert data.n_increments == system.trajectories * system.steps
    np.testing.assert_allclose(data.steps(0), system.dt, rtol=1e-9)


def test_both_samplings_are_of_the_same_path() -> None:
    fine = uneven._fine(SYSTEM, 3)
    for sampling in SAMPLINGS:
        data = sampled(SYSTEM, sampling, 3)
        for r, path in enumerate(data):
            places = np.rint(np.append(0, np.cumsum(data.steps(r))) / fine.mean_dt).astype(int)
            assert np.array_equal(path, fine[r][places])
    even, odd = (sampled(SYSTEM, sampling, 3) for sampling in SAMPLINGS)
    assert even.names == odd.names == zoo.get(SYSTEM).names


def test_the_same_seed_gives_the_same_samples_and_another_one_others() -> None:
    one, two = sampled(SYSTEM, "uneven", 3), sampled(SYSTEM, "uneven", 3)
    assert np.array_equal(one.states, two.states)
    other = sampled(SYSTEM, "uneven", 4)
    assert not np.array_equal(one.steps(0)[:50], other.steps(0)[:50])
    assert not np.array_equal(one.steps(0)[:50], one.steps(1)[:50])


@pytest.mark.statistical
def test_uneven_steps_have_the_gamma_distribution_and_the_mean_of_even_ones() -> None:
    system, data = zoo.get(SYSTEM), sampled(SYSTEM, "uneven", 3)
    # The last step of a path is cut short by its end.
    steps = np.concatenate([data.steps(r)[:-1] for r in range(len(data))]) / system.dt
    n = len(steps)
    assert n > 25_000
    # Five standard errors, exceeded once in a million times: of the mean 0.71 / sqrt(n), of the
    # variance 0.5 sqrt((kurtosis + 2) / n) with an excess kurtosis of 6 / 2 = 3. Steps are rounded
    # to a twentieth, which adds 1 / 4800 to the variance.
    assert steps.mean() == pytest.approx(1.0, abs=5 * np.sqrt(0.5 / n) + 2e-3)
    assert steps.var() == pytest.approx(1 / SHAPE, abs=5 * 0.5 * np.sqrt(5 / n) + 1e-3)
    assert steps.min() >= 1 / FINE - 1e-9
    # Distances between distribution functions: 2.8 / sqrt(n) is exceeded once in 3 million times;
    # rounding adds half a twentieth of the largest density, 0.74.
    distance = kstest(steps, gamma(SHAPE, scale=1 / SHAPE).cdf).statistic
    assert distance < 2.8 / np.sqrt(n) + 0.74 / (2 * FINE)


def test_a_short_path_keeps_its_ends() -> None:
    rng = np.random.default_rng(0)
    for length in (2, 3, 21, 45):
        places = uneven._places(length, "uneven", rng)
        assert places[0] == 0
        assert places[-1] == length - 1
        assert (np.diff(places) > 0).all()


def line(system: str, recipe: str, seed: int, sampling: str, drift: float, tensor: float) -> Line:
    case = Case("uneven", system, recipe, seed, options=(("sampling", sampling),))
    return Line(case, "code", {"drift": drift, "tensor": tensor, "samples": 1}, None)


def test_rows_have_root_mean_squares_of_each_sampling() -> None:
    lines = [
        line("van_der_pol", "sharp-euler", 1, "even", 3.0, 0.1),
        line("van_der_pol", "sharp-euler", 2, "even", 4.0, 0.1),
        line("van_der_pol", "sharp-euler", 1, "uneven", 6.0, 0.2),
        line("van_der_pol", "sharp-euler", 2, "uneven", 8.0, 0.4),
        line("van_der_pol", "paper", 1, "even", 1.0, 0.5),
        line("heston_logsv", "paper", 1, "even", 2.0, 0.6),
        line("heston_logsv", "paper", 1, "uneven", 1.0, 0.7),
        line("van_der_pol", "sharp-euler", 3, "even", 9.0, 9.0)._replace(result=None, error="no"),
    ]
    first, second = summarise(lines)  # the paper's fit of van_der_pol has no uneven half
    assert (first.system, first.recipe, first.seeds) == ("van_der_pol", "sharp-euler", 2)
    assert first.drift == pytest.approx((np.sqrt(12.5), np.sqrt(50.0)))
    assert first.tensor == pytest.approx((0.1, np.sqrt(0.1)))
    assert (second.system, second.recipe, second.seeds) == ("heston_logsv", "paper", 1)
    assert second.drift == (2.0, 1.0)


def test_every_system_comes_in_both_samplings() -> None:
    cases = uneven.uneven_cases(Scope(seeds=[1, 2]))
    assert len(set(cases)) == len(cases) == len(SYSTEMS) * 2 * len(RECIPES) * 2
    # Neighbours share a path, which is kept for one seed only.
    changes = sum((a.system, a.seed) != (b.system, b.seed) for a, b in pairwise(cases))
    assert changes == len(SYSTEMS) * 2 - 1
