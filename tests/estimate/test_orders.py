"""First or second order, by the data."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy.data.trajectories import Trajectories
from wgsindy.diagnostics import diagnose
from wgsindy.diagnostics.findings import Limitation
from wgsindy.estimate.fit import fit_dataset
from wgsindy.estimate.orders import PREFERRED, OrderEvidence


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
    assert fit.orders.log_evidence > 10 * PREFERRED
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
