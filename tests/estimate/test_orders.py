"""First or second order, by the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from wgsindy.data import Trajectories
from wgsindy.diagnostics import Limitation, diagnose
from wgsindy.estimate import OrderEvidence, Predictor, fit_dataset
from wgsindy.estimate.orders import ORDER_PREFERRED, order_evidence, with_velocity_terms
from wgsindy.terms import library


def langevin(friction: float, dt: float, seed: int = 0) -> Trajectories:
    """Positions in a harmonic well; fast friction makes them a first-order process of rate one."""
    rng, h = np.random.default_rng(seed), min(dt, 0.2 / friction) / 10
    x, v, out = np.zeros(8), np.zeros(8), []
    every = round(dt / h)
    for n in range(400 * every + 1):
        if n % every == 0:
            out.append(x.copy())
        shock = friction * np.sqrt(h) * rng.standard_normal(8)
        v = v + h * friction * (-x - v) + shock
        x = x + h * v
    return Trajectories(list(np.array(out).T[:, :, None]), dt)


def test_slow_friction_is_second_order_and_the_diagnosis_says_so() -> None:
    data = langevin(1.0, 0.1)
    fit = fit_dataset(data, "poly1", order="auto")
    assert fit.data.order == 2
    assert fit.orders is not None
    assert fit.orders.log_evidence > 10 * ORDER_PREFERRED
    (said,) = (one for one in diagnose(fit).findings if one.limitation == Limitation.ORDER)
    assert said.sentence[:1].isupper()
    assert said.sentence.lower() == fit.orders.sentence.lower()
    # Taken for states, they have a memory, and the finding says what to do about it.
    plain = diagnose(fit_dataset(data, "poly1"))
    remembers = (Limitation.HIDDEN, Limitation.SMOOTHED)
    hidden = next(one for one in plain.findings if one.limitation in remembers)
    assert "prefer second order" in hidden.sentence
    assert "--order 2" in hidden.advice


def test_states_of_a_diffusion_are_first_order() -> None:
    rng = np.random.default_rng(0)
    x = np.zeros((8, 2001, 1))
    for n in range(2000):
        x[:, n + 1] = 0.95 * x[:, n] + rng.normal(0, 0.3, (8, 1))
    fit = fit_dataset(Trajectories(list(x), 0.05), "poly1", order="auto")
    assert fit.data.order == 1
    assert fit.orders is not None
    assert fit.orders.preferred == 1


def test_fast_friction_is_not_called_second_order() -> None:
    # A velocity that is forgotten within a fortieth of a step leaves no trace.
    fit = fit_dataset(langevin(200.0, 0.2), "poly1", order="auto")
    assert fit.orders is not None
    assert fit.orders.preferred != 2


@pytest.mark.parametrize(
    ("log_evidence", "preferred", "words"),
    [
        (50.0, 2, "prefer second order"),
        (-50.0, 1, "prefer first order"),
        (3.0, None, "cannot tell"),
        (-np.inf, 1, "no second-order equation"),
    ],
)
def test_what_the_evidence_means(log_evidence: float, preferred: int | None, words: str) -> None:
    found = OrderEvidence(log_evidence, 100)
    assert found.preferred == preferred
    assert words in found.sentence


def test_the_exposure_of_a_camera_is_named() -> None:
    # Each sample is the mean of a diffusion over its whole step: neighbours correlate by 1/4.
    rng = np.random.default_rng(3)
    x = np.zeros((8, 20 * 1500, 1))
    for n in range(x.shape[1] - 1):
        x[:, n + 1] = 0.99 * x[:, n] + rng.normal(0, 0.1, (8, 1))
    seen = x.reshape(8, 1500, 20, 1).mean(axis=2)
    found = diagnose(fit_dataset(Trajectories(list(seen), 0.2), "poly1")).findings
    assert "the exposure of a camera (motion blur)" in " ".join(one.sentence for one in found)
    # Negative control: a short exposure is none.
    sharp = diagnose(fit_dataset(Trajectories(list(x[:, ::20]), 0.2), "poly1")).findings
    assert "motion blur" not in " ".join(one.sentence for one in sharp)


def test_the_evidence_is_the_likelihood_of_positions_less_the_terms_that_were_paid_for() -> None:
    data = langevin(1.0, 0.1)
    first, second = (fit_dataset(data, "poly1", order=order) for order in (1, 2))
    plain, filtered = (Predictor.of(one.generator, one.summary) for one in (first, second))
    gained, steps = 0.0, 0
    # As many samples as the filter takes at once, so that it warms up where it does.
    for whole, alone in zip(second.data.chunks(), data.chunks(), strict=True):
        moved, stepped = filtered(whole), plain(alone)
        assert moved.seen is not None
        for n in np.flatnonzero(moved.seen[:, 0]):
            spread = moved.covariance[n, 0, 0], stepped.covariance[n, 0, 0]
            errors = moved.error[n, 0], stepped.error[n, 0]
            better, worse = map(multivariate_normal.logpdf, errors, (0.0, 0.0), spread)
            gained, steps = gained + better - worse, steps + 1
    assert first.likelihood is not None
    assert second.likelihood is not None
    # x' = v is known: force -x - v, its noise; of first order, the drift and its noise.
    terms = len(second.generator.coefficients) - 1, len(first.generator.coefficients)
    costs = second.likelihood.term_cost, first.likelihood.term_cost
    found = order_evidence(first, second)
    assert found.steps == steps
    paid = terms[0] * costs[0] - terms[1] * costs[1]
    assert found.log_evidence == pytest.approx(gained - paid, rel=1e-9)


def test_what_cannot_be_fitted_or_runs_away_is_of_first_order() -> None:
    data = langevin(1.0, 0.1)
    first, second = (fit_dataset(data, "poly1", order=order) for order in (1, 2))
    assert order_evidence(first, None) == (-np.inf, 0)
    mad = replace(second.generator, drift_coefficients=second.generator.drift_coefficients * 1e200)
    assert order_evidence(first, replace(second, generator=mad)) == (-np.inf, 0)


@pytest.mark.parametrize(("log_evidence", "preferred"), [(10.0, None), (10.1, 2), (-10.1, 1)])
def test_evidence_must_be_clear(log_evidence: float, preferred: int | None) -> None:
    assert OrderEvidence(log_evidence, 7).preferred == preferred


def test_velocities_that_a_library_lacks_are_added_and_positions_are_not() -> None:
    names = ("x", "y", "v_x", "v_y")
    found = with_velocity_terms(library(["1", "x", "v_y"]), names)
    assert found.bind(names).terms == ("1", "x", "v_x", "v_y")
    whole = library("poly1")
    assert with_velocity_terms(whole, names) is whole
