"""Noise of the observation in the sums of the drift, against brute force and Stein's identity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wgsindy.data.arrays import FloatArray
from wgsindy.data.frame import Frame
from wgsindy.data.trajectories import Trajectories
from wgsindy.estimate.likelihood.normal_equations import (
    NormalEquations,
    NormalPass,
    ScorePass,
    Sums,
)
from wgsindy.estimate.likelihood.working_model import TENSOR_WEIGHT_FLOOR, WorkingModel
from wgsindy.model import tensor
from wgsindy.passes.engine import reduce
from wgsindy.terms.library import library

NAMES = ("x", "y", "z")
STEP = 1e-5  # of central differences: their error is STEP^2, their rounding 1e-16 / STEP
DIFFERENCES = 1e-7


def noisy_model(d: int, variance_floor: float = 0.0) -> WorkingModel:
    """Noise that is linear in the state, so that weights have no second derivatives to neglect."""
    rng = np.random.default_rng(d)
    frame = Frame(np.linspace(0.2, 0.5, d), np.linspace(0.7, 1.6, d))
    basis = library("poly2").bind(NAMES[:d]).in_frame(frame)
    linear = basis.degrees < 2
    entries = 0.1 * rng.normal(size=(len(tensor.pairs(d)), len(basis))) * linear
    for p in range(d):
        entries[tensor.entry_number(p, p), 0] = 1.0 + 0.3 * p
    root = 0.1 * rng.normal(size=(d, d)) + 0.1 * np.eye(d)
    start = WorkingModel.start(
        basis, np.linspace(0.5, 1.3, d), np.linspace(2.0, 3.0, d), finite_step=False
    )
    return replace(
        start,
        drift=0.3 * rng.normal(size=(d, len(basis))),
        entries=entries,
        variance_floor=np.array([variance_floor, 0.0, 0.0][:d]),
        extra_variance=np.linspace(0.01, 0.02, d),
        observation_noise=tensor.entries_of((root @ root.T)[None])[0],
    )


def paths(d: int, samples: int = 12) -> Trajectories:
    rng = np.random.default_rng(7)
    listed = [rng.normal(0.3, 0.5, size=(n, d)) for n in (samples, samples // 2, samples)]
    times = [np.cumsum(rng.uniform(0.05, 0.4, len(path))) for path in listed]
    return Trajectories(listed, times=times, names=NAMES[:d])


class BruteForce:
    """One sample at a time; derivatives by central differences, weights by NumPy's inverse."""

    def __init__(self, model: WorkingModel) -> None:
        self.model, self.d = model, len(model.units)
        self.sigma = tensor.symmetric(model.observation_noise[None], self.d)[0]

    def theta(self, x: FloatArray) -> FloatArray:
        return self.model.basis.values(x[None])[0]

    def moved(self, x: FloatArray, q: int, step: float) -> FloatArray:
        return x + step * self.model.units[q] * np.eye(self.d)[q]

    def tensor(self, x: FloatArray) -> FloatArray:
        return tensor.symmetric((self.model.entries @ self.theta(x))[None], self.d)[0]

    def noise(self, x: FloatArray, dt: float) -> FloatArray:
        total = self.tensor(x) + 2 * self.sigma / dt
        slopes = [
            (self.tensor(self.moved(x, q, STEP)) - self.tensor(self.moved(x, q, -STEP))) / 2 / STEP
            for q in range(self.d)
        ]
        for p in range(self.d):
            slope = np.array([along[p, p] for along in slopes])
            total[p, p] += np.sqrt(slope @ self.sigma @ slope)
            total[p, p] = (
                max(total[p, p], self.model.variance_floor[p]) + self.model.extra_variance[p]
            )
        return total

    def weighted_terms(self, x: FloatArray, dt: float) -> FloatArray:
        """P_pr theta_k, ``(d, d, K)``."""
        return np.multiply.outer(np.linalg.inv(self.noise(x, dt)), self.theta(x))

    def stein(self, x: FloatArray, dt: float) -> FloatArray:
        """sum_qr Sigma_qr d_q (P_pr theta_k), ``(d, K)``."""
        total = np.zeros((self.d, len(self.theta(x))))
        for q in range(self.d):
            up, down = (self.weighted_terms(self.moved(x, q, s), dt) for s in (STEP, -STEP))
            total += np.einsum("r,prk->pk", self.sigma[q], (up - down) / (2 * STEP))
        return total

    def sums(self, data: Trajectories) -> Sums:
        total, units = NormalPass(self.model).empty(), self.model.units
        for r, path in enumerate(data):
            for x, dx, dt in zip(path[:-1], np.diff(path, axis=0), data.steps(r), strict=True):
                theta, noise, step = self.theta(x), self.noise(x, dt), dx / units
                residual = step - self.model.drift @ theta * dt
                weight = np.linalg.inv(noise)
                total.count += 1
                total.residual += residual**2 / dt
                total.drift_cross += np.outer(weight @ step, theta) + self.stein(x, dt)
                lasting = noise - 2 * self.sigma / dt
                lasting += np.diag(np.diag(noise) ** 2 * dt / self.model.spread**2)
                total.lasting += np.diag(weight @ lasting @ weight)
                total.stepwise += np.diag(weight)
                own = np.maximum(np.diag(noise), TENSOR_WEIGHT_FLOOR)
                for e, (p, q) in enumerate(tensor.pairs(self.d)):
                    variance = own[p] * own[q] + (own[p] if p == q else noise[p, q]) ** 2
                    target = (residual[p] * residual[q] - 2 * self.sigma[p, q]) / dt
                    total.drift_gram[e] += np.outer(theta, theta) * weight[p, q] * dt
                    total.entry_gram[e] += np.outer(theta, theta) / variance
                    total.entry_cross[e] += theta * target / variance
        return total


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("variance_floor", [0.0, 50.0], ids=["free", "held"])
def test_sums_with_observation_noise_are_those_of_brute_force(
    d: int, variance_floor: float
) -> None:
    model, data = noisy_model(d, variance_floor), paths(d)
    found, expected = reduce(NormalPass(model), data), BruteForce(model).sums(data)
    assert found.count == expected.count
    for name in (
        "residual",
        "drift_gram",
        "drift_cross",
        "entry_gram",
        "entry_cross",
        "lasting",
        "stepwise",
    ):
        one, other = getattr(found, name), getattr(expected, name)
        size = np.abs(other).max()
        np.testing.assert_allclose(one, other, rtol=0, atol=DIFFERENCES * size, err_msg=name)


def test_both_derivatives_are_large_enough_to_be_seen() -> None:
    # The control of the test above: its tolerance is 1e-7 of sums of order ten, and neither the
    # slope of the terms nor that of the weights comes near that, even at a single sample.
    model, data = noisy_model(2), paths(2)
    flat = replace(model, entries=model.entries * (model.basis.degrees == 0))
    brute, constant = BruteForce(model), BruteForce(flat)
    x, dt = data[0][0], 0.1
    assert np.abs(brute.stein(x, dt)).max() > 1e-4
    assert np.abs(brute.stein(x, dt) - constant.stein(x, dt)).max() > 1e-4


@pytest.mark.parametrize("d", [1, 2, 3])
def test_slopes_by_trajectory_make_up_for_the_noise_as_the_sums_do(d: int) -> None:
    model, data = noisy_model(d), paths(d)
    scores = reduce(ScorePass(model, len(data)), data, chunk_size=5)
    for r in range(len(data)):
        sums = reduce(NormalPass(model), data.subset([r]))
        for p in range(d):
            pulls = [sums.drift_gram[tensor.entry_number(p, q)] @ model.drift[q] for q in range(d)]
            slope = sums.drift_cross[p] - np.sum(pulls, axis=0)
            np.testing.assert_allclose(scores.drift[r, p], slope, rtol=0, atol=1e-9)
        own = np.einsum("ekl,el->ek", sums.entry_gram, model.entries)
        np.testing.assert_allclose(scores.entries[r], sums.entry_cross - own, rtol=0, atol=1e-9)


@pytest.mark.parametrize("size", [1, 7])
def test_sums_with_observation_noise_do_not_depend_on_the_chunk_size(size: int) -> None:
    model, data = noisy_model(2), paths(2)
    one, other = (reduce(NormalPass(model), data, chunk_size=n) for n in (size, 1000))
    np.testing.assert_allclose(one.drift_cross, other.drift_cross, rtol=1e-9)
    np.testing.assert_allclose(one.lasting, other.lasting, rtol=1e-9)


@pytest.mark.statistical
def test_a_state_at_rest_that_is_seen_through_noise_has_no_drift() -> None:
    # Two noisy looks at each of some points that do not move. Increments are nothing but noise,
    # and their sums with terms and weights must vanish in the mean; without Stein's sums they do
    # not.
    d, batches, draws = 2, 20, 1500
    model = noisy_model(d)
    root = np.linalg.cholesky(BruteForce(model).sigma) * model.units[:, None]
    rng = np.random.default_rng(0)
    corrected, plain = [], []
    for _ in range(batches):
        x = rng.normal(0.3, 0.5, size=(draws, 1, d))
        looks = x + rng.normal(size=(draws, 2, d)) @ root.T
        data = Trajectories(list(looks), 0.2, names=NAMES[:d])
        sums = reduce(NormalPass(model), data)
        corrected.append(sums.drift_cross / draws)
        dx = looks[:, 1] - looks[:, 0]
        brute = BruteForce(model)
        pulled = [brute.weighted_terms(y, 0.2) for y in looks[:50, 0]]
        plain.append(np.einsum("nprk,nr->pk", pulled, dx[:50] / model.units) / 50)
    error = np.std(corrected, axis=0) / np.sqrt(batches - 1)
    # 12 sums at 4.5 standard errors, themselves known to 16 %: one alarm in some thousands.
    assert (np.abs(np.mean(corrected, axis=0)) < 4.5 * error).all()
    control = np.std(plain, axis=0) / np.sqrt(batches - 1)
    assert (np.abs(np.mean(plain, axis=0)) > 5 * control).any()


# Noise that is taken back


def equations_of(model: WorkingModel, data: Trajectories) -> NormalEquations:
    return NormalEquations(reduce(NormalPass(model), data), model.basis.from_physical)


def test_without_observation_noise_steps_are_independent() -> None:
    model = noisy_model(2)
    silent = replace(model, observation_noise=np.zeros(3))
    assert equations_of(silent, paths(2)).lasting_share.tolist() == [1.0, 1.0]
    assert (equations_of(model, paths(2, 60)).lasting_share < 1.0).all()


def test_the_share_of_constant_noise_is_in_closed_form() -> None:
    # One dimension, a = 1, dt = 0.1, Sigma = 0.2: T = 5, and a + T^2 dt / S of it lasts.
    basis = library(["1", "x"]).bind(("x",))
    start = WorkingModel.start(basis, np.ones(1), np.full(1, 5.0), finite_step=False)
    model = replace(
        start,
        entries=np.array([[1.0, 0.0]]),
        variance_floor=np.zeros(1),
        observation_noise=np.array([0.2]),
    )
    data = Trajectories(np.random.default_rng(0).normal(size=40), 0.1)
    share = equations_of(model, data).lasting_share
    assert share[0] == pytest.approx((1.0 + 25 * 0.1 / 25) / 5.0, rel=1e-12)


def test_a_share_of_the_noise_changes_errors_and_not_coefficients() -> None:
    model, data = noisy_model(2), paths(2, 60)
    taken_back = equations_of(model, data)
    sums = taken_back.sums
    stepwise = NormalEquations(replace(sums, lasting=sums.stepwise), taken_back.change)
    assert stepwise.lasting_share.tolist() == [1.0, 1.0]
    support = np.ones(len(model.basis), dtype=bool)
    for p, share in enumerate(taken_back.lasting_share):
        one, other = (each.component(model.drift, p) for each in (taken_back, stepwise))
        np.testing.assert_allclose(one.solve(support), other.solve(support), rtol=1e-8)
        expected = share * other.covariance(support)
        np.testing.assert_allclose(one.covariance(support), expected, rtol=1e-8)
