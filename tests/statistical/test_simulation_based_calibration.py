"""Simulation-based calibration: truths drawn at random, and where they fall in their error bars.

Small enough for every day; ``make calibration`` is the evidence's, over all systems and seeds.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from drawn_systems import Linear
from scipy.stats import chi2, kstest

from wgsindy.data import FloatArray
from wgsindy.errors import WgsindyWarning
from wgsindy.estimate import fit_likelihood
from wgsindy.passes import data_summary
from wgsindy.recipes import SHARP
from wgsindy.terms import library

pytestmark = pytest.mark.statistical
# Otherwise the bar of the tensor is wider, by the noise that a sensor might have added unseen.
EXACT = replace(SHARP, name="exact", noise_correction=False)
DRAWS = 120
LEVEL = 0.001  # of each test: one false alarm in 500 changes of the numbers


def scores(seed: int) -> FloatArray:
    """Standard scores of rate, drift constant and noise of one random process, terms given."""
    rng = np.random.default_rng([1000, seed])
    rate, level, noise = rng.uniform(0.8, 2.0), rng.normal(), rng.uniform(0.3, 1.0)
    truth = Linear(np.array([[-rate]]), np.array([level]), np.array([[noise]]))
    data = truth.simulated(seed, dt=0.1, steps=400, runs=10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)
        summary = data_summary(data, standardise=True)
        given = np.array([[True, True], [True, False]])
        fit = fit_likelihood(data, library("poly1"), EXACT, summary, name="poly1", given=given)
    bars = fit.generator.uncertainty
    assert bars is not None
    errors = bars.std_errors()
    found = np.append(bars.drift[0], fit.generator.tensor_field.coefficients[0, 0])
    return (found - [level, -rate, noise]) / np.append(errors[0], errors[1, 0])


@pytest.fixture(scope="module")
def drawn() -> FloatArray:
    return np.array([scores(seed) for seed in range(DRAWS)])


@pytest.mark.parametrize("which", range(3), ids=["constant", "rate", "noise"])
def test_truths_fall_in_their_error_bars_as_often_as_they_should(
    drawn: FloatArray, which: int
) -> None:
    # The bias of a rate, about 4 / T, is a seventh of a standard error after T = 400: 120 draws,
    # whose mean is known to a tenth, do not see it.
    z = drawn[:, which]
    assert kstest(z, "norm").pvalue > LEVEL
    assert chi2.ppf(LEVEL, DRAWS) < (z**2).sum() < chi2.ppf(1 - LEVEL, DRAWS)


@pytest.mark.parametrize("factor", [0.7, 1.4])
def test_error_bars_that_are_off_by_a_third_would_be_noticed(
    drawn: FloatArray, factor: float
) -> None:
    total = ((drawn / factor) ** 2).sum()
    assert not chi2.ppf(LEVEL, 3 * DRAWS) < total < chi2.ppf(1 - LEVEL, 3 * DRAWS)
