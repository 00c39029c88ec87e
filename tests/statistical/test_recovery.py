"""Recovery as statistics: rates, wrong libraries, no signal, the information floor, noise.

Data of Euler-Maruyama steps obey the working model of the fit exactly, so coarse steps give long
observation times at no bias; that is what most tests use. Seeds are fixed; each limit is derived
where it stands.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy
from scipy import stats
from scipy.linalg import solve_continuous_lyapunov
from scipy.special import polygamma

from wgsindy import zoo
from wgsindy.data import FloatArray, Trajectories
from wgsindy.estimate.weak_form.weak_rows import weak_form
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator, simulate, tensor
from wgsindy.recipes import PAPER, WeakFormRecipe
from wgsindy.terms import library
from wgsindy.zoo import central_grid, relative_error, scores_of
from wgsindy_evidence.baselines import fit_oracle

pytestmark = pytest.mark.statistical

FALSE_ALARM = 1e-3
QUANTILE = float(stats.norm.isf(FALSE_ALARM / 2))
COARSE = 0.05


def fit(
    data: Trajectories, terms: str | tuple[str, ...], recipe: WeakFormRecipe = PAPER
) -> Generator:
    return WGSINDy(terms, recipe).fit(data).generator_


def paths_of(truth: Generator, steps: int, seed: int, trajectories: int = 8) -> Trajectories:
    return simulate(
        truth, (0.0, 0.0), dt=COARSE, steps=steps, trajectories=trajectories, random_state=seed
    )


# The error falls like one over the root of the observation time.


def slopes(recipe: WeakFormRecipe, terms: str, seeds: int) -> tuple[FloatArray, FloatArray]:
    """Slope of log error in log T between T and 16 T, for drift and tensor, one a seed."""
    truth = zoo.get("rotational_ou").generator
    logs = np.empty((2, seeds, 2))
    for level, steps in enumerate((100, 1600)):
        for seed in range(seeds):
            data = paths_of(truth, steps, seed=1000 * level + seed)
            found = scores_of(fit(data, terms, recipe), truth, data.states)
            logs[level, seed] = np.log([found.drift, found.tensor])
    drift, field = ((logs[1] - logs[0]) / np.log(16)).T
    return drift, field


def slope_window(seeds: int, degrees: int) -> float:
    """Half-width for the mean slope if the squared error is chi-square over its degrees.

    The logarithm of a chi-square variable has variance polygamma(1, degrees / 2); the error is
    its half, and two levels enter.
    """
    spread = np.sqrt(float(polygamma(1, degrees / 2)) / 4)
    return float(QUANTILE * spread * np.sqrt(2 / seeds) / np.log(16))


def test_the_drift_error_falls_like_the_root_of_time() -> None:
    # Four coefficients are in the truth; terms that are found beside them only add degrees.
    drift, _ = slopes(PAPER, "poly1", seeds=12)
    window = slope_window(12, degrees=4)
    assert window < 0.2  # tells -1/2 from 0 and from -1
    assert abs(drift.mean() + 0.5) < window


def test_the_tensor_error_falls_like_the_root_of_time() -> None:
    # Least squares on all terms, without shrinkage: its bias does not fall. 18 coefficients, of
    # which those of one entry are correlated: at least 8 degrees.
    dense = replace(PAPER, solver="stlsq", threshold=0.0, tensor="entries", shrinkage=0.0)
    _, field = slopes(replace(dense, gls="none"), "poly2", seeds=6)
    window = slope_window(6, degrees=8)
    assert window < 0.2
    assert abs(field.mean() + 0.5) < window


# A wrong library is worse than the right one.


def projection_floor(truth: Generator, terms: str, states: FloatArray) -> float:
    """Smallest drift error that any coefficients of a library can reach on the grid."""
    grid = central_grid(states)
    theta, drift = library(terms).bind(truth.names).values(grid), truth.drift(grid)
    return relative_error(theta @ np.linalg.lstsq(theta, drift, rcond=None)[0], drift)


def test_a_linear_library_is_worse_than_trigonometric_terms_on_the_zoo_s_system() -> None:
    truth = zoo.get("nonpoly_drift").generator
    for seed in range(3):
        data = paths_of(truth, 1600, seed, trajectories=16)
        right, wrong = (
            scores_of(fit(data, terms), truth, data.states).drift for terms in ("trig", "poly1")
        )
        floor = projection_floor(truth, "poly1", data.states)
        assert wrong >= floor > right


def test_polynomials_are_worse_than_trigonometric_terms_over_a_wide_range() -> None:
    # Stronger noise spreads the states over several radians, where parabolas no longer do.
    x, y = sympy.symbols("x y", real=True)
    drift = [-x + 2 * sympy.sin(y), -y + 2 * sympy.cos(x)]
    truth = Generator.from_sympy(("x", "y"), drift, [[4, 0], [0, 4]])
    data = paths_of(truth, 1200, seed=0, trajectories=16)
    error = {
        terms: scores_of(fit(data, terms), truth, data.states).drift
        for terms in ("poly1", "poly2", "trig")
    }
    for terms in ("poly1", "poly2"):
        assert error[terms] >= projection_floor(truth, terms, data.states) > error["trig"]


# No signal, no drift.


def separate_steps(states: FloatArray, increments: FloatArray) -> Trajectories:
    """Each step as a trajectory of its own, so that increments may be exchanged."""
    return Trajectories(list(np.stack([states, states + increments], axis=1)), COARSE)


def noise_limit(data: Trajectories, recipe: WeakFormRecipe, grid: FloatArray) -> float:
    """Norm over the grid that a drift fitted to pure noise exceeds with small probability.

    Given the smoother and row weights S, least squares on all terms is linear in the increments,
    c = (S A)^+ S Pi dX / dt, and the norm of a Gaussian vector with covariance C is below
    sqrt(tr C + 2 sqrt(tr C^2 t) + 2 |C| t) except with probability exp(-t) (Laurent and Massart
    2000). Selection only removes terms.
    """
    weak = weak_form(data, library("poly2").bind(data.names), recipe, seed=0)
    (chunk,) = data.chunks(10**9)
    rows = weak.smoothers[0].rows(chunk, weak.mean_dt)
    weights = 1 / np.linalg.norm(rows, axis=1)
    weights = np.clip(weights / np.median(weights), 0.05, 20)[:, None]
    linear = np.linalg.pinv(weak.design * weights) @ (rows * weights)
    theta = weak.basis.values(grid)
    variance = chunk.increments.var(axis=0) / COARSE**2
    c = np.linalg.eigvalsh(theta @ linear @ linear.T @ theta.T)
    t = -np.log(FALSE_ALARM)
    square = c.sum() + 2 * np.sqrt((c**2).sum() * t) + 2 * c.max() * t
    return float(np.sqrt(square * variance.sum()))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_permuted_increments_yield_no_drift(seed: int) -> None:
    truth = zoo.get("rotational_ou").generator
    (chunk,) = paths_of(truth, 1600, seed).chunks(10**9)
    recipe, grid = replace(PAPER, rows="pooled"), central_grid(chunk.states)
    order = np.random.default_rng(seed).permutation(len(chunk.dt))
    permuted = separate_steps(chunk.states, chunk.increments[order])
    limit = noise_limit(permuted, recipe, grid)
    true_size = np.linalg.norm(truth.drift(grid))
    assert limit < 0.25 * true_size
    assert np.linalg.norm(fit(permuted, "poly2", recipe).drift(grid)) < limit
    # Control: the same increments in their own order do have a drift, and it is the true one.
    ordered = fit(separate_steps(chunk.states, chunk.increments), "poly2", recipe)
    assert np.linalg.norm(ordered.drift(grid)) > 3 * limit
    assert np.linalg.norm(ordered.drift(grid) - truth.drift(grid)) < limit


# Small units.


@pytest.mark.parametrize("seed", range(4))
def test_the_vasicek_tensor_is_recovered_at_the_scale_of_rates(seed: int) -> None:
    # Entries are of order 1e-4, where the release's absolute thresholds return zero (error 1).
    # 0.1 is twice the paper's error on its other linear systems, 0.028 to 0.051.
    system = zoo.get("two_factor_vasicek")
    data = system.simulate(seed)
    found = scores_of(fit(data, system.library), system.generator, data.states)
    assert found.tensor < 0.1
    assert found.cosine > 0.99


# The information floor.

REPEATS = 60


@cache
def repeated_data(name: str) -> tuple[Trajectories, ...]:
    """Sixty independent data sets of four trajectories."""
    system = zoo.get(name)
    data = simulate(
        system.generator,
        system.start,
        dt=0.02,
        steps=300,
        trajectories=4 * REPEATS,
        random_state=0,
    )
    return tuple(data.subset(range(4 * r, 4 * r + 4)) for r in range(REPEATS))


def information(truth: Generator, data: Trajectories) -> tuple[FloatArray, list[FloatArray]]:
    """Fisher information of drift coefficients, and of those of each tensor entry."""
    (chunk,) = data.chunks(10**9)
    theta, a = truth.basis.values(chunk.states), truth.diffusion(chunk.states)
    d, k = truth.dimension, len(truth.basis)
    weighted = np.einsum("npq,n->npq", np.linalg.inv(a), chunk.dt)
    drift = np.einsum("npq,nk,nl->pkql", weighted, theta, theta, optimize=True)
    entries = []
    for p, q in tensor.pairs(d):
        weight = 1 / (a[:, p, p] * a[:, q, q] + a[:, p, q] ** 2)
        entries.append((theta * weight[:, None]).T @ theta)
    return drift.reshape(d * k, d * k), entries


def test_the_information_floor_is_least_squares_weighted_by_the_true_noise() -> None:
    truth, data = zoo.get("nondiag_cholesky").generator, repeated_data("nondiag_cholesky")[0]
    found = fit_oracle(data, truth)
    (chunk,) = data.chunks(10**9)
    theta, a = truth.basis.values(chunk.states), truth.diffusion(chunk.states)
    matrix, entry_matrices = information(truth, data)
    right = np.einsum("npq,nq,nk->pk", np.linalg.inv(a), chunk.increments, theta).ravel()
    keep = np.flatnonzero(truth.drift_coefficients)
    expected = np.linalg.solve(matrix[np.ix_(keep, keep)], right[keep])
    np.testing.assert_allclose(found.drift_coefficients.ravel()[keep], expected, rtol=1e-8)
    residual = chunk.increments - found.drift(chunk.states) * chunk.dt[:, None]
    for e, (p, q) in enumerate(tensor.pairs(2)):
        target = residual[:, p] * residual[:, q] / chunk.dt
        weight = 1 / (a[:, p, p] * a[:, q, q] + a[:, p, q] ** 2)
        keep = np.flatnonzero(truth.tensor_field.coefficients[e])
        right = theta[:, keep].T @ (weight * target)
        expected = np.linalg.solve(entry_matrices[e][np.ix_(keep, keep)], right)
        np.testing.assert_allclose(found.tensor_field.coefficients[e, keep], expected, rtol=1e-6)


@cache
def oracle_statistics(name: str) -> tuple[FloatArray, FloatArray]:
    """Squared distances from the truth in units of the information, and their degrees.

    Four targets: drift, a11, a12, a22, each summed over the data sets.
    """
    truth = zoo.get(name).generator
    true_drift, true_entries = truth.drift_coefficients, truth.tensor_field.coefficients
    totals, degrees = np.zeros(4), np.zeros(4)
    for data in repeated_data(name):
        found = fit_oracle(data, truth)
        drift_information, entry_information = information(truth, data)
        targets = [
            (found.drift_coefficients - true_drift, true_drift, drift_information),
            *(
                (found.tensor_field.coefficients[e] - true_entries[e], true_entries[e], matrix)
                for e, matrix in enumerate(entry_information)
            ),
        ]
        for i, (delta, reference, matrix) in enumerate(targets):
            keep = np.flatnonzero(reference)
            error = delta.ravel()[keep]
            totals[i] += error @ matrix[np.ix_(keep, keep)] @ error
            degrees[i] += len(keep)
    return totals, degrees


ORACLE_SYSTEMS = ("spiral_sink_corr", "nondiag_cholesky")


def inside(total: float, degrees: float) -> bool:
    """Two-sided chi-square test; the false-alarm rate is for all four targets of a system."""
    law = stats.chi2(degrees)
    return bool(law.ppf(FALSE_ALARM / 8) < total < law.isf(FALSE_ALARM / 8))


@pytest.mark.parametrize("name", ORACLE_SYSTEMS)
def test_the_information_floor_has_its_theoretical_variance(name: str) -> None:
    totals, degrees = oracle_statistics(name)
    for total, count in zip(totals, degrees, strict=True):
        if count:
            assert inside(total, count)


def test_a_floor_with_twice_the_variance_would_be_noticed() -> None:
    # Negative control.
    totals, degrees = oracle_statistics("nondiag_cholesky")
    for total, count in zip(totals, degrees, strict=True):
        assert not inside(2 * total, count)
        assert not inside(total / 2, count)


def test_the_information_floor_beats_the_paper_s_recipe_in_the_median() -> None:
    ratios = []
    for name in ("spiral_sink_corr", "maier_stein", "nondiag_cholesky"):
        system = zoo.get(name)
        for seed in range(4):
            data = system.simulate(seed, trajectories=8, steps=800)
            paper = scores_of(fit(data, system.library), system.generator, data.states)
            floor = scores_of(fit_oracle(data, system.generator), system.generator, data.states)
            ratios.append((paper.drift / floor.drift, paper.tensor / floor.tensor))
    drift, field = np.median(ratios, axis=0)
    assert drift > 1
    assert field > 1


# Observation noise.


def with_noise(data: Trajectories, share: float, seed: int) -> Trajectories:
    """Add independent noise of a share of the spread of each coordinate."""
    rng = np.random.default_rng(seed)
    size = share * data.states.std(axis=0)
    paths = [path + size * rng.standard_normal(path.shape) for path in data]
    return Trajectories(paths, data.mean_dt, names=data.names)


CORRECTED = replace(PAPER, noise_correction=True)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_correction_takes_ten_per_cent_noise_out_of_the_tensor(seed: int) -> None:
    system = zoo.get("rotational_ou")
    truth, clean = system.generator, system.simulate(seed, trajectories=8)
    noisy = with_noise(clean, 0.1, seed)
    variance, dt, n = 0.01 * 0.5, 0.01, clean.n_increments  # stationary variance 1/2, a = 1
    plain, corrected, without_noise = (
        scores_of(fit(data, "poly2", recipe), truth, clean.states).tensor
        for data, recipe in ((noisy, PAPER), (noisy, CORRECTED), (clean, PAPER))
    )
    # Uncorrected, 2 Sigma / dt = 1 comes on top of the tensor.
    assert plain > 0.5 * 2 * variance / dt
    # Corrected, increments are noisier by g0 / (a dt), and the lag-one estimate has Bartlett's
    # standard error on two diagonal entries of two.
    g0, g1 = dt + 2 * variance, variance
    lag_error = 2 / dt * np.sqrt((g0**2 + 3 * g1**2) / n)
    assert corrected < g0 / dt * without_noise + QUANTILE * lag_error < plain / 2


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_correction_leaves_clean_data_nearly_unchanged(seed: int) -> None:
    system = zoo.get("correlated_ou")
    data, truth = system.simulate(seed), system.generator
    grid = central_grid(data.states)
    plain, corrected = (fit(data, "poly2", recipe).diffusion(grid) for recipe in (PAPER, CORRECTED))
    # Neighbouring increments of dX = A X dt + noise covary by (A S A' + A a) dt^2 without any
    # observation noise, S the stationary covariance; twice that over dt is what is subtracted,
    # with sampling error 2 a / sqrt(n).
    matrix, a = truth.drift(np.eye(2)).T, truth.diffusion(np.zeros((1, 2)))[0]
    lag = matrix @ solve_continuous_lyapunov(matrix, -a) @ matrix.T + matrix @ a
    expected = np.linalg.norm(lag + lag.T) * data.mean_dt / np.linalg.norm(a)
    limit = expected + QUANTILE * 2 / np.sqrt(data.n_increments)
    assert limit < 0.06
    assert relative_error(corrected, plain) < limit
