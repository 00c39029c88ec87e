"""The sharp recipe on states that are observed with noise: bias, error bars, and clean data."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

from wgsindy import zoo
from wgsindy.data import Trajectories
from wgsindy.estimate.likelihood.fit_likelihood import recover_by_likelihood
from wgsindy.estimate.weak_form.weak_rows import lag_one_noise
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator
from wgsindy.passes import data_summary
from wgsindy.recipes import SHARP, LikelihoodRecipe
from wgsindy.terms import library
from wgsindy.zoo import scores_of

pytestmark = pytest.mark.statistical

FALSE_ALARM = 1e-3
QUANTILE = float(stats.norm.isf(FALSE_ALARM / 2))
CORRECTED = replace(SHARP, name="sharp-corrected", noise_correction=True)
PLAIN = replace(SHARP, name="sharp-plain", noise_correction=False)
FILTERED = pytest.mark.parametrize("recipe", [SHARP, CORRECTED], ids=lambda recipe: recipe.name)


def fit(data: Trajectories, terms: str | tuple[str, ...], recipe: LikelihoodRecipe) -> Generator:
    found: Generator = WGSINDy(terms, recipe).fit(data).generator_
    return found


def with_noise(data: Trajectories, share: float, seed: int) -> Trajectories:
    """Add independent noise of a share of the spread of each coordinate."""
    rng = np.random.default_rng([5, seed])
    size = share * data.states.std(axis=0)
    paths = [path + size * rng.standard_normal(path.shape) for path in data]
    return Trajectories(paths, data.mean_dt, names=data.names)


@cache
def clean(name: str, seed: int) -> Trajectories:
    return zoo.get(name).simulate(seed, trajectories=8)


@FILTERED
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ten_per_cent_noise_leaves_a_linear_process_within_its_error_bars(
    seed: int, recipe: LikelihoodRecipe
) -> None:
    system = zoo.get("rotational_ou")
    noisy = with_noise(system.simulate(seed, trajectories=8, substeps=10), 0.1, seed)
    truth = {(c.target, c.term): c.value for c in system.generator.coefficients}
    rows = {(c.target, c.term): c for c in fit(noisy, system.library, recipe).coefficients}
    assert set(rows) == set(truth)
    for key, row in rows.items():
        assert abs(row.value - truth[key]) < QUANTILE * row.std_error, key
    # Control: without the filter the noise is in both fields, far outside of any bar.
    dt, variance = 0.01, 0.01 * 0.5  # stationary variance 1/2, a = 1
    biased = {(c.target, c.term): c for c in fit(noisy, system.library, PLAIN).coefficients}
    # E[Y dY] has - Sigma in it, and its drift is Sigma / (dt (S + Sigma)) too strong: by 1.
    for key in (("b1", "x"), ("b2", "y")):
        assert biased[key].value - truth[key] < -0.5
    for key in (("a11", "1"), ("a22", "1")):
        assert biased[key].value - truth[key] > 0.5 * 2 * variance / dt


@FILTERED
@pytest.mark.parametrize("name", ["double_well_transverse", "diag_multiplicative", "heston_logsv"])
@pytest.mark.parametrize("share", [0.05, 0.1])
def test_the_filter_takes_most_of_the_noise_out_of_both_fields(
    name: str, share: float, recipe: LikelihoodRecipe
) -> None:
    system = zoo.get(name)
    data = clean(name, 0)
    noisy = with_noise(data, share, 0)
    plain, corrected = (
        scores_of(fit(noisy, system.library, one), system.generator, data.states)
        for one in (PLAIN, recipe)
    )
    reference = scores_of(fit(data, system.library, PLAIN), system.generator, data.states)
    assert corrected.tensor < plain.tensor / 5
    assert corrected.drift < plain.drift / 2
    assert corrected.drift < 2 * reference.drift + 0.1


@pytest.mark.parametrize(
    "name", ["rotational_ou", "double_well_transverse", "heston_logsv", "cir_pair", "duffing"]
)
def test_clean_data_are_left_alone(name: str) -> None:
    # Chance stands out by 2 standard errors in one of 44 coordinates: in none of these.
    system, data = zoo.get(name), clean(name, 1)
    plain, usual = (fit(data, system.library, recipe) for recipe in (PLAIN, SHARP))
    np.testing.assert_array_equal(usual.drift_coefficients, plain.drift_coefficients)
    np.testing.assert_array_equal(usual.tensor_field.coefficients, plain.tensor_field.coefficients)


# Error bars

SETS = 60


def squared_errors(bars_of: LikelihoodRecipe) -> float:
    """Sum over data sets of the squared distance from the truth in standard errors.

    dX = -X dt + dW, seen with noise of variance 0.02 at steps of 0.01: of the noise of a step,
    1 + 4, the next one takes most of the 4 back. ``bars_of`` is what the bars are taken from.
    """
    truth = np.array([0.0, -1.0])
    given = np.array([[True, True], [True, False]])
    total = 0.0
    for seed in range(SETS):
        rng = np.random.default_rng([9, seed])
        x = np.zeros((8, 601, 1))
        x[:, 0] = np.sqrt(0.5) * rng.normal(size=(8, 1))
        for n in range(600):
            x[:, n + 1] = 0.99 * x[:, n] + 0.1 * rng.normal(size=(8, 1))
        data = Trajectories(list(x + np.sqrt(0.02) * rng.normal(size=x.shape)), 0.01)
        basis, summary = library("poly1").bind(data.names), data_summary(data, standardise=True)
        found, bars = (
            recover_by_likelihood(data, basis, summary, recipe, given=given).uncertainty
            for recipe in (SHARP, bars_of)
        )
        off = found.drift[0] - truth
        total += float(off @ np.linalg.solve(bars.drift_covariance[0, :, 0], off))
    return total


def window() -> tuple[float, float]:
    """Where twice SETS squared standard normal numbers are, but once in a thousand times."""
    law = stats.chi2(2 * SETS)
    return float(law.ppf(FALSE_ALARM / 2)), float(law.isf(FALSE_ALARM / 2))


def test_noise_that_the_next_step_takes_back_is_not_in_the_error_bars() -> None:
    low, high = window()
    assert low < squared_errors(SHARP) < high


def test_bars_of_independent_steps_would_be_too_wide() -> None:
    # Negative control.
    assert squared_errors(PLAIN) < window()[0]


def test_errors_from_trajectories_agree_with_those_of_the_model_under_noise() -> None:
    count = 64
    system = zoo.get("rotational_ou")
    data = with_noise(system.simulate(0, trajectories=count, steps=300), 0.1, 0)
    bars = fit(data, "poly1", CORRECTED).uncertainty
    assert bars is not None
    plain, clustered = (bars.std_errors(clustered=each)[:2] for each in (False, True))
    ratio = (clustered[plain > 0] / plain[plain > 0]) ** 2
    assert len(ratio) == 4
    # A variance from 64 trajectories scatters like chi2; four of them, an alarm in ten thousand.
    law = stats.chi2(count - 1)
    assert (ratio > law.ppf(1.25e-5) / (count - 1)).all()
    assert (ratio < law.isf(1.25e-5) / (count - 1)).all()


def test_a_large_step_is_not_taken_for_noise() -> None:
    # x' = 0.8 x + noise: neighbouring increments covary by -0.2 / 1.8 of the noise, as if the
    # states were observed with noise of that variance, until the drift is known.
    rng = np.random.default_rng(3)
    x = np.zeros((8, 2001, 1))
    for n in range(2000):
        x[:, n + 1] = 0.8 * x[:, n] + 0.3 * rng.normal(size=(8, 1))
    data = Trajectories(list(x), 0.1)
    # By three standard errors of the product of two increments.
    assert lag_one_noise(data, np.ones(1))[0, 0] == pytest.approx(0.09 * 0.2 / 1.8, rel=0.25)
    plain, usual = (fit(data, "poly2", recipe) for recipe in (PLAIN, SHARP))
    np.testing.assert_array_equal(usual.drift_coefficients, plain.drift_coefficients)
    np.testing.assert_array_equal(usual.tensor_field.coefficients, plain.tensor_field.coefficients)
