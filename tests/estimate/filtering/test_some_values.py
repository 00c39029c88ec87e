"""Values that were not measured, against joint normal densities of a linear process."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from working_models import linear_model

from wgsindy.data import BoolArray, FloatArray, Trajectories
from wgsindy.estimate.likelihood import transition
from wgsindy.estimate.likelihood.filter_sums import FilterPass, FreeFields
from wgsindy.estimate.likelihood.process import Process
from wgsindy.estimate.states import smoothed
from wgsindy.model import tensor
from wgsindy.model.simulation import linear_transition
from wgsindy.passes import reduce
from wgsindy.passes.engine import Threads

DT, N = 0.1, 40
STATES = np.array([[-0.8, 1.5], [-1.5, -0.4]]), np.array([[0.5, 0.15], [0.15, 0.3]])
MOTION = np.array([[0.0, 1.0], [-2.0, -0.5]]), np.array([[0.0, 0.0], [0.0, 0.4]])
SENSOR = np.array([[0.03, 0.01], [0.01, 0.05]])


@pytest.fixture(autouse=True)
def accurate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps so short that nothing is left of their error."""
    monkeypatch.setattr(transition, "SHORT_STEP", 0.0)
    monkeypatch.setattr(transition, "LONGEST_SUBSTEP", 0.06)
    monkeypatch.setattr(transition, "MOST_SUBSTEPS", 20)


def patterns(kind: str, rng: np.random.Generator) -> BoolArray:
    """What is seen of each of N + 1 samples of two coordinates."""
    seen = np.ones((N + 1, 2), dtype=bool)
    if kind == "motion":
        seen[:, 1] = False
        seen[1:, 0] = rng.random(N) > 0.1
    elif kind == "in turns":
        seen[::2, 0], seen[1::2, 1] = False, False
    else:
        seen[:, 1] = rng.random(N + 1) > 0.4
        seen[5] = False  # a sample without any value is a step without an update
    return seen


def problem(kind: str, noise: float) -> tuple[Process, Trajectories, FloatArray]:
    """A model, samples of it of which some values are hidden, and the states behind."""
    rng = np.random.default_rng(3)
    matrix, field = MOTION if kind == "motion" else STATES
    sensor = SENSOR * noise * (np.diag([1.0, 0.0]) if kind == "motion" else 1.0)
    model = linear_model(
        matrix, np.zeros(2), field, noise=tensor.entries_of(sensor[None])[0], longest_step=DT
    )
    if kind == "motion":
        model = replace(model, positions=np.array([True, False]))
    flow, _, covariance = linear_transition(matrix, np.zeros(2), field, DT)
    root = np.linalg.cholesky(covariance + 1e-15 * np.eye(2))
    x = [rng.normal(size=2)]
    for _ in range(N):
        x.append(flow @ x[-1] + root @ rng.standard_normal(2))
    states = np.array(x)
    deviation = np.sqrt(np.diag(sensor))
    y = states + rng.standard_normal(states.shape) * deviation
    data = Trajectories(y, DT).marked(patterns(kind, rng), 2 if kind == "motion" else 1)
    return model, data, states


def joint(model: Process, data: Trajectories, kind: str) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of all states, given what the first sample says of the first."""
    matrix, field = MOTION if kind == "motion" else STATES
    seen, y = data.seen, data.states
    assert seen is not None
    sensor = _sensor(model)
    first = np.where(np.outer(seen[0], seen[0]), sensor, 0.0) + np.diag(np.where(seen[0], 0.0, 1.0))
    flow, _, step = linear_transition(matrix, np.zeros(2), field, DT)
    mean, covariance = np.zeros((N + 1, 2)), np.zeros((N + 1, 2, N + 1, 2))
    mean[0], covariance[0, :, 0] = np.where(seen[0], y[0], 0.0), first
    for k in range(1, N + 1):
        mean[k] = flow @ mean[k - 1]
        covariance[k, :, :k] = np.einsum("pq,qlr->plr", flow, covariance[k - 1, :, :k])
        covariance[:k, :, k] = covariance[k, :, :k].transpose(1, 2, 0)
        covariance[k, :, k] = flow @ covariance[k - 1, :, k - 1] @ flow.T + step
    return mean.ravel(), covariance.reshape(2 * N + 2, 2 * N + 2)


def _sensor(model: Process) -> FloatArray:
    units = np.outer(model.units, model.units)
    return np.asarray(tensor.symmetric(model.observation_noise[None], 2)[0] * units)


def observed(
    model: Process, data: Trajectories, kind: str
) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
    """Mean and covariance of what is seen after the first sample, its values, and where it is."""
    mean, covariance = joint(model, data, kind)
    seen = data.seen
    assert seen is not None
    where = np.concatenate([[False, False], seen[1:].ravel()])
    noisy = covariance + np.kron(np.eye(N + 1), _sensor(model))
    return mean[where], noisy[np.ix_(where, where)], data.states.ravel()[where], where


KINDS = [("gaps", 1.0), ("gaps", 0.0), ("in turns", 1.0), ("motion", 1.0), ("motion", 0.0)]


@pytest.mark.parametrize(("kind", "noise"), KINDS)
def test_the_likelihood_is_that_of_what_was_measured(kind: str, noise: float) -> None:
    model, data, _ = problem(kind, noise)
    mean, covariance, values, _ = observed(model, data, kind)
    assert data.seen is not None
    first = int(data.seen[1].sum())  # of the second sample: its step does not count
    expected = multivariate_normal(mean, covariance).logpdf(values)
    if first:
        expected -= multivariate_normal(mean[:first], covariance[:first, :first]).logpdf(
            values[:first]
        )
    found = reduce(FilterPass(model), data).log_likelihood
    units = np.log(model.units) @ data.seen[2:].sum(axis=0)
    constant = units + 0.5 * np.log(2 * np.pi) * data.seen[2:].sum()
    assert found - constant == pytest.approx(expected, abs=2e-3)
    # Negative control: a value that was not measured says something if it is taken for one.
    shown = data.seen.copy()
    shown[np.flatnonzero(~shown.all(axis=1))[-1]] = True
    other = reduce(FilterPass(model), data.marked(shown, data.order)).log_likelihood
    assert abs(other - found) > 0.1


@pytest.mark.parametrize(("kind", "noise"), KINDS)
def test_smoothed_states_are_conditional_means(kind: str, noise: float) -> None:
    model, data, _ = problem(kind, noise)
    mean, covariance = joint(model, data, kind)
    seen_mean, seen_covariance, values, where = observed(model, data, kind)
    gain = covariance[:, where] @ np.linalg.inv(seen_covariance)
    expected = (mean + gain @ (values - seen_mean)).reshape(N + 1, 2)
    spread = np.sqrt(np.maximum(np.diag(covariance - gain @ covariance[where]), 0.0))
    found = smoothed(model.dynamics, model.observation_noise, data)
    np.testing.assert_allclose(found.mean, expected, atol=2e-3)
    np.testing.assert_allclose(found.deviation, spread.reshape(N + 1, 2), atol=2e-3)


def test_values_that_were_not_measured_do_not_matter() -> None:
    model, data, _ = problem("gaps", 1.0)
    assert data.seen is not None
    other = data.completed(np.full(data.states.shape, 7.0))
    assert (other.states != data.states).any()
    found, same = (reduce(FilterPass(model), one) for one in (data, other))
    np.testing.assert_allclose(found.drift, same.drift, rtol=1e-9)
    assert found.log_likelihood == pytest.approx(same.log_likelihood, rel=1e-12)


def test_everything_seen_is_the_filter_without_a_pattern_but_for_the_first_step() -> None:
    model, data, _ = problem("gaps", 1.0)
    whole = data.marked(None, 1)
    seen = np.ones((N + 1, 2), dtype=bool)
    seen[-1] = False  # or the pattern would be dropped
    counted = reduce(FilterPass(model), data.marked(seen, 1)).log_likelihood
    ends = [reduce(FilterPass(model), Trajectories(whole[0][:n], DT)) for n in (2, N)]
    assert counted == pytest.approx(ends[1].log_likelihood - ends[0].log_likelihood, rel=1e-9)


def test_what_is_known_of_positions_is_not_estimated() -> None:
    model, data, _ = problem("motion", 1.0)
    own = FreeFields.of(model)
    assert (own.drift, own.entries, own.noise) == ([1], [2], [0])
    sums = reduce(FilterPass(model), data)
    k = model.drift.shape[1]
    assert sums.drift.shape == (k, k)
    assert sums.tensor.shape == (k + 1, k + 1)


def test_threads_give_the_same_sums() -> None:
    model, one, _ = problem("gaps", 1.0)
    assert one.seen is not None
    many = Trajectories([one.states] * 8, DT).marked(np.tile(one.seen, (8, 1)), 1)
    alone, shared = (reduce(FilterPass(model), many, engine=e) for e in (Threads(1), Threads(2)))
    np.testing.assert_allclose(alone.drift, shared.drift, rtol=1e-12)
    assert alone.log_likelihood == pytest.approx(shared.log_likelihood, rel=1e-12)


def test_slopes_by_tensor_and_noise_are_derivatives_of_the_likelihood() -> None:
    model, data, _ = problem("motion", 1.0)
    sums = reduce(FilterPass(model), data)
    constant = int(np.flatnonzero(model.basis.degrees == 0)[0])
    for field, row, slope in (
        ("entries", (2, constant), sums.tensor_slope[0, constant]),
        ("observation_noise", (0,), sums.tensor_slope[0, -1]),
    ):
        ends = []
        for by in (1e-4, -1e-4):
            values = getattr(model, field).copy()
            values[row] += by
            changed = replace(model, **{field: values})
            ends.append(reduce(FilterPass(changed), data).log_likelihood)
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=0.02), field
