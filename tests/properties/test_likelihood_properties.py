"""Transition and filter of random linear processes against exact moments and Kalman's filter."""

from __future__ import annotations

import numpy as np
from drawn_systems import MANY, SEEDS, Linear, linear_systems
from hypothesis import given
from hypothesis import strategies as st
from working_models import asked, linear_model, physical_moments

from wgsindy.data import FloatArray, Trajectories
from wgsindy.estimate.likelihood import transition
from wgsindy.estimate.likelihood.filter_sums import FilterPass
from wgsindy.model import tensor
from wgsindy.model.simulation import linear_transition
from wgsindy.passes import reduce

PLANE = st.integers(1, 2)


@MANY
@given(system=linear_systems(), seed=SEEDS, length=st.floats(0.01, 1.5))
def test_a_step_has_the_exact_moments(system: Linear, seed: int, length: float) -> None:
    d = len(system.matrix)
    model = linear_model(*system)
    rate = float(np.linalg.norm(system.matrix * np.outer(1 / model.units, model.units)))
    dt = length / rate
    x = np.random.default_rng(seed).normal(size=(6, d))
    path = asked(model, x, dt).dynamics.step(x, np.full(6, dt), None)
    found = physical_moments(path, model.units)
    flow, shift, covariance = linear_transition(*system, dt)
    substeps = max(1.0, np.ceil(length / transition.LONGEST_SUBSTEP))
    each = 2 * length / substeps
    bound = each**2 / 6 if length <= transition.SHORT_STEP else substeps * each**4 / 120
    allowed = 3 * bound * np.exp(each)
    mean = x @ flow.T + shift - x
    assert np.abs(found.mean - mean).max() <= allowed * np.abs(mean).max()
    assert np.abs(found.covariance - covariance).max() <= allowed * np.abs(covariance).max()


def kalman(y: FloatArray, dt: float, system: Linear, noise: FloatArray) -> float:
    """Log-likelihood of noisy samples after the first, the state being N(first sample, noise)."""
    flow, shift, wider = linear_transition(*system, dt)
    mean, own, total = y[0], noise, 0.0
    for sample in y[1:]:
        mean, own = flow @ mean + shift, flow @ own @ flow.T + wider
        seen = own + noise
        off = sample - mean
        gain = own @ np.linalg.inv(seen)
        total -= 0.5 * (off @ np.linalg.solve(seen, off) + np.linalg.slogdet(2 * np.pi * seen)[1])
        mean, own = mean + gain @ off, own - gain @ own
    return float(total)


@MANY
@given(system=linear_systems(PLANE), seed=SEEDS)
def test_the_filter_has_the_likelihood_of_kalman(system: Linear, seed: int) -> None:
    rng, d, dt = np.random.default_rng(seed), len(system.matrix), 0.05
    noise = np.diag(rng.uniform(0.02, 0.1, d))
    y = system.simulated(seed, dt=dt, steps=60, runs=1)[0]
    y = y + rng.standard_normal(y.shape) @ np.sqrt(noise)
    model = linear_model(*system, noise=tensor.entries_of(noise[None])[0], longest_step=dt)
    data = Trajectories([y], dt)
    sums = reduce(FilterPass(model), data)
    # In units of the model, and without the constant.
    constant = len(y[1:]) * (d / 2 * np.log(2 * np.pi) + np.log(model.units).sum())
    found = float(sums.log_likelihood) - constant
    # Sixty steps, each with moments off by (2 |A| dt)^2 / 6 of themselves at most.
    rate = np.linalg.norm(system.matrix * np.outer(1 / model.units, model.units), 2)
    assert abs(found - kalman(y, dt, system, noise)) <= 60 * (2 * rate * dt) ** 2 / 6 + 0.05
