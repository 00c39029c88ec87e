"""The paper's oracle: true terms, weak rows."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy import zoo
from wgsindy.estimate.weak_form import weak_form
from wgsindy.recipes import PAPER
from wgsindy.terms import library
from wgsindy.zoo import scores
from wgsindy_evidence.baselines import fit_oracle, fit_weak_oracle
from wgsindy_evidence.experiments.paper.weak_rows import coverage, row_case, run_case


@pytest.mark.parametrize("name", ["correlated_ou", "heston_sv", "nonpoly_drift"])
def test_it_has_the_true_terms_and_no_others(name: str) -> None:
    system = zoo.get(name)
    data = system.simulate(0, trajectories=8)
    found = fit_weak_oracle(data, system.generator)
    truth = system.generator
    np.testing.assert_array_equal(found.drift_coefficients != 0, truth.drift_coefficients != 0)
    np.testing.assert_array_equal(
        found.tensor_field.coefficients != 0, truth.tensor_field.coefficients != 0
    )
    assert scores.scores_of(found, truth, data.states, scored=system.scored).tensor < 0.2


@pytest.mark.statistical
def test_it_loses_to_the_floor_where_noise_varies() -> None:
    # Weak rows of the tensor are not weighted by their noise: on each of ten data sets the floor,
    # which is, does better. By chance alone: once in a thousand times.
    system = zoo.get("heston_logsv")
    for seed in range(10):
        data = system.simulate(seed, trajectories=8)
        weak, floor = (
            scores.scores_of(fit(data, system.generator), system.generator, data.states).tensor
            for fit in (fit_weak_oracle, fit_oracle)
        )
        assert weak > floor


def test_without_noise_both_oracles_are_exact_in_the_drift() -> None:
    # Euler steps of a drift that quadratics reproduce, with next to no noise.
    system = zoo.get("rotational_ou")
    data = zoo.get("rotational_ou").simulate(0, trajectories=2)
    truth = system.generator
    steps = [path[:-1] + truth.drift(path[:-1]) * data.mean_dt for path in data]
    before, after = np.concatenate([path[:-1] for path in data]), np.concatenate(steps)
    pairs = list(np.stack([before, after], axis=1))
    short = type(data)(pairs[:2000], data.mean_dt, names=data.names)
    found = fit_weak_oracle(short, truth)
    np.testing.assert_allclose(found.drift_coefficients, truth.drift_coefficients, atol=1e-6)


def test_effective_time_and_largest_weight_by_hand() -> None:
    data = zoo.get("rotational_ou").simulate(0, trajectories=2, steps=300)
    weak = weak_form(data, library("poly1").bind(data.names), PAPER, seed=0)
    time, largest = coverage(weak.smoothers[0], data)
    (chunk,) = data.chunks(10**9)
    rows = weak.smoothers[0].rows(chunk, data.mean_dt)
    np.testing.assert_allclose(time, data.mean_dt / (rows**2).sum(axis=1))
    np.testing.assert_allclose(largest, np.abs(rows).max(axis=1))
    # A local mean over n equal weights would have an effective time of n dt: never more than all.
    assert time.max() < data.total_time


def test_more_trajectories_cover_kernels_better() -> None:
    few, many = (run_case(row_case("rotational_ou", "paper", count, 0)) for count in (1, 8))
    assert many["time_median"] > 4 * few["time_median"]
    assert many["largest_median"] < few["largest_median"] / 4
    naive = run_case(row_case("heston_sv", "naive", 1, 0))
    paper = run_case(row_case("heston_sv", "paper", 1, 0))
    assert naive["raw_condition"] > 1e6 * paper["raw_condition"]
