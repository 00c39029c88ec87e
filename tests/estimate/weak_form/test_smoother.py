"""The spatial smoother against its equations: moments, sample, centres, bandwidth, rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
import pytest
from scipy import stats

from wgsindy.data import Chunk, FloatArray, Frame, IntArray, Trajectories
from wgsindy.errors import DataError
from wgsindy.estimate.weak_form import smoother
from wgsindy.estimate.weak_form.smoother import (
    LOCAL_RIDGE,
    SamplePass,
    Smoother,
    bandwidth_matrix,
    build_smoother,
    grid_of_centres,
    kernel_weights,
    place_centres,
)
from wgsindy.passes import data_summary, engine
from wgsindy.passes import summary as survey_room
from wgsindy.passes.engine import Threads
from wgsindy.recipes import PAPER, WeakFormRecipe
from wgsindy.terms import Monomials

HUGE = 10**9
Order = Literal[0, 1, 2]


def correlated_cloud(
    dimension: int, *, samples: int = 1500, seed: int = 0, rho: float = 0.8
) -> Trajectories:
    """Independent Gaussian points in three trajectories; neighbours correlated by ``rho``."""
    rng = np.random.default_rng(seed)
    target = np.full((dimension, dimension), rho) + (1 - rho) * np.eye(dimension)
    scale = np.array([0.3, 20.0, 4.0])[:dimension]
    points = rng.standard_normal((3, samples // 3, dimension)) @ np.linalg.cholesky(target).T
    return Trajectories(list(points * scale + 5.0), dt=0.01)


def everything(data: Trajectories) -> Chunk:
    """All samples as one chunk."""
    (chunk,) = data.chunks(HUGE)
    return chunk


def built(data: Trajectories, recipe: WeakFormRecipe, *, ridge: float = LOCAL_RIDGE) -> Smoother:
    summary = data_summary(data, standardise=recipe.standardise)
    return build_smoother(data, summary, recipe, seed=0, ridge=ridge)


def rows_and_points(data: Trajectories, fitted: Smoother) -> tuple[FloatArray, FloatArray]:
    """Rows ``Pi (J, n)`` and standardised samples ``(n, d)``."""
    chunk = everything(data)
    return fitted.rows(chunk, data.mean_dt).copy(), fitted.frame.standardise(chunk.states)


def polynomial(degree: int, dimension: int) -> Callable[[FloatArray], FloatArray]:
    """A polynomial with every term up to ``degree`` present, coefficients of order one."""
    terms = Monomials.up_to(degree, dimension=dimension)
    signs = np.where(np.arange(len(terms)) % 2, -1.0, 1.0)
    coefficients = signs * np.linspace(1.0, 2.0, len(terms))
    return lambda z: coefficients @ terms.values(z)


# Rows reproduce polynomials.


def reproduction_error(dimension: int, order: Order, degree: int, *, ridge: float) -> FloatArray:
    """|Pi g - g(c)| over the size of g on the cloud, at each centre."""
    data = correlated_cloud(dimension)
    recipe = replace(PAPER, n_centres=12, local_order=order)
    fitted = built(data, recipe, ridge=ridge)
    rows, z = rows_and_points(data, fitted)
    g = polynomial(degree, dimension)
    return np.abs(rows @ g(z) - g(fitted.centres)) / np.abs(g(z)).max()


# Without a ridge only rounding remains: 2.2e-16 times the condition number of the local normal
# equations, which is below 5e3 for 12 wide kernels on 1500 points.
ROUNDING = 2e-12


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_rows_reproduce_polynomials_up_to_the_local_order(dimension: int, order: Order) -> None:
    for degree in range(order + 1):
        assert reproduction_error(dimension, order, degree, ridge=0.0).max() < ROUNDING


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_rows_do_not_reproduce_the_next_degree(dimension: int, order: Order) -> None:
    # Negative control: the leading bias of the next degree is there at most centres.
    assert np.median(reproduction_error(dimension, order, order + 1, ridge=0.0)) > 1e-3


def test_the_error_of_reproduction_is_proportional_to_a_small_ridge() -> None:
    # (G + r I)^-1 G = I - r G^-1 + O(r^2): ten times the ridge, ten times the error. The median
    # centre is far from both rounding and the second-order term.
    errors = [np.median(reproduction_error(2, 2, 2, ridge=r)) for r in (1e-7, 1e-6, 1e-5)]
    assert errors[0] < 1e-5
    np.testing.assert_allclose([errors[1] / errors[0], errors[2] / errors[1]], 10, rtol=0.02)


def test_the_ridge_is_relative_to_the_mean_of_the_gram_diagonal() -> None:
    # For local order 0 the Gram matrix is one number, so each row sums to 1 / (1 + ridge).
    data = correlated_cloud(2)
    rows, _ = rows_and_points(data, built(data, replace(PAPER, local_order=0), ridge=0.25))
    np.testing.assert_allclose(rows.sum(axis=1), 1 / 1.25, rtol=1e-12)
    assert LOCAL_RIDGE == 1e-8


# The kernel.


def direct_kernel(z: FloatArray, centres: FloatArray, precision: FloatArray) -> FloatArray:
    """exp(-(z - c)' P (z - c) / 2), one pair at a time."""
    out = np.empty((len(centres), len(z)))
    for j, centre in enumerate(centres):
        for n, point in enumerate(z):
            delta = point - centre
            out[j, n] = np.exp(-0.5 * delta @ precision @ delta)
    return out


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_kernel_uses_the_full_inverse_bandwidth_matrix(dimension: int) -> None:
    data = correlated_cloud(dimension, samples=600)
    summary = data_summary(data, standardise=True)
    fitted = built(data, replace(PAPER, n_centres=8, local_order=0), ridge=0.0)
    rows, z = rows_and_points(data, fitted)
    bandwidth = bandwidth_matrix(fitted.centres, summary.covariance, 1.5, shaped=True)
    precision = np.linalg.inv(bandwidth).astype(np.float64)
    full = direct_kernel(z, fitted.centres, precision)
    np.testing.assert_allclose(rows, full / full.sum(axis=1, keepdims=True), rtol=1e-9)
    # Negative control: the release's slip, only the diagonal of the inverse, is another kernel.
    slip = direct_kernel(z, fitted.centres, np.diag(precision) * np.eye(dimension))
    slipped = slip / slip.sum(axis=1, keepdims=True)
    assert np.linalg.norm(rows - slipped) > 0.3 * np.linalg.norm(rows)


def test_each_kernel_is_multiplied_by_the_mass_of_its_sample() -> None:
    rng = np.random.default_rng(1)
    z, centres = rng.standard_normal((40, 2)), rng.standard_normal((5, 2))
    whitening = np.array([[2.0, 0.0], [-1.5, 1.0]])
    mass = rng.uniform(0.2, 3.0, 40)
    expected = direct_kernel(z, centres, whitening.T @ whitening) * mass
    np.testing.assert_allclose(kernel_weights(z, centres, whitening, mass), expected, rtol=1e-12)


def test_a_sample_counts_in_proportion_to_its_step() -> None:
    # Half as many samples with twice the step are the same share of observed time.
    rng = np.random.default_rng(2)
    steps = rng.choice([0.01, 0.03], size=600)
    states = rng.standard_normal((601, 2))
    data = Trajectories([states], times=[np.concatenate([[0.0], np.cumsum(steps)])])
    fitted = built(data, replace(PAPER, n_centres=6, local_order=0), ridge=0.0)
    rows, z = rows_and_points(data, fitted)
    plain = direct_kernel(z, fitted.centres, fitted.whitening.T @ fitted.whitening) * steps
    np.testing.assert_allclose(rows, plain / plain.sum(axis=1, keepdims=True), rtol=1e-9)


# Bandwidth.

# Nearest-centre distances 1, 1, 2, 3: median 1.5, so h0 = 1.5 * 1.5 = 2.25 and h0^2 = 5.0625.
FOUR_CENTRES = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0], [4.0, 2.0]])
COVARIANCE = np.array([[4.0, 1.0], [1.0, 2.0]])  # tr / d = 3


def test_bandwidth_matrix_by_hand() -> None:
    expected = np.array([[6.75, 1.6875], [1.6875, 3.375]]) + 1e-8 * np.eye(2)
    found = bandwidth_matrix(FOUR_CENTRES, COVARIANCE, 1.5, shaped=True)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_isotropic_bandwidth_by_hand() -> None:
    found = bandwidth_matrix(FOUR_CENTRES, COVARIANCE, 1.5, shaped=False)
    np.testing.assert_allclose(found, (5.0625 + 1e-8) * np.eye(2), rtol=1e-14)


def test_the_bandwidth_ridge_keeps_a_flat_cloud_invertible() -> None:
    found = bandwidth_matrix(FOUR_CENTRES, np.array([[1.0, 1.0], [1.0, 1.0]]), 1.5, shaped=True)
    assert np.linalg.eigvalsh(found)[0] == pytest.approx(1e-8, rel=1e-6)


def test_a_single_centre_takes_the_spread_of_the_cloud_as_its_distance() -> None:
    found = bandwidth_matrix(FOUR_CENTRES[:1], COVARIANCE, 1.5, shaped=True)
    np.testing.assert_allclose(found, 1.5**2 * COVARIANCE + 1e-8 * np.eye(2), rtol=1e-14)


# Centres.


def long_data(*, order: IntArray | None = None, factor: float = 1.0) -> Trajectories:
    """20,000 samples, more than k-means is given."""
    rng = np.random.default_rng(5)
    paths = [rng.standard_normal((4001, 2)) * [1.0, 0.2] + r for r in range(5)]
    chosen = range(5) if order is None else order
    return Trajectories([factor * paths[r] for r in chosen], dt=0.01)


def centres_of(data: Trajectories, *, seed: int = 0, threads: int = 1) -> FloatArray:
    return place_centres(
        data, data_summary(data, standardise=True).frame, 64, seed, Threads(threads)
    )


def test_centres_are_the_same_bit_for_bit_for_the_same_seed() -> None:
    np.testing.assert_array_equal(centres_of(long_data()), centres_of(long_data()))


def test_one_centre_is_the_mean() -> None:
    data = Trajectories([np.arange(42.0).reshape(21, 2)], dt=0.01)
    (centre,) = place_centres(data, Frame.identity(2), 1, 0)
    np.testing.assert_allclose(centre, [19.0, 20.0])  # of the states that steps begin at


def test_centres_depend_on_the_seed() -> None:
    first, second = centres_of(long_data()), centres_of(long_data(), seed=1)
    assert not np.allclose(np.sort(first, axis=0), np.sort(second, axis=0), atol=1e-3)


def test_centres_do_not_depend_on_the_order_of_trajectories() -> None:
    shuffled = centres_of(long_data(order=np.array([3, 1, 4, 0, 2])))
    np.testing.assert_allclose(shuffled, centres_of(long_data()), rtol=0, atol=1e-9)


def test_centres_do_not_depend_on_units() -> None:
    np.testing.assert_allclose(
        centres_of(long_data(factor=1000.0)), centres_of(long_data()), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize(("chunk_size", "threads"), [(100, 1), (HUGE, 1), (700, 2)])
def test_centres_do_not_depend_on_chunks_and_threads(
    chunk_size: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = centres_of(long_data())
    monkeypatch.setattr(smoother, "reduce", partial(engine.reduce, chunk_size=chunk_size))
    np.testing.assert_allclose(
        centres_of(long_data(), threads=threads), expected, rtol=0, atol=1e-9
    )


def test_few_distinct_samples_get_fewer_centres() -> None:
    # 230 samples, but only 23 distinct states: five for each of 4 centres, not for 46.
    states = np.repeat(np.linspace(0.0, 1.0, 24), 10)[:231]
    assert len(centres_of(Trajectories([states], dt=0.1))) == 4


# The sample that k-means sees.

SIZE = 4000
LATTICE = np.arange(20000.0)  # regular data are the hard case for a hash


def sampled(
    data: Trajectories, *, seed: int = 0, chunk_size: int = 2048, threads: int = 1
) -> FloatArray:
    """The ``SIZE`` points of lowest key, in the order of their keys."""
    step = SamplePass(Frame(np.zeros(1), np.array([1e4])), SIZE, seed)
    points, keys = engine.reduce(step, data, chunk_size=chunk_size, engine=Threads(threads))
    order = np.argsort(keys, kind="stable")[:SIZE]
    return points[order, 0]


def uniformity(points: FloatArray) -> float:
    """Chi-square of the counts in 25 equal stretches of the lattice.

    Counts of a uniform sample without replacement are hypergeometric: Pearson's statistic over
    (1 - sampling fraction) is chi-square with 24 degrees of freedom.
    """
    counts, _ = np.histogram(points * 1e4, bins=25, range=(-0.5, 19999.5))
    expected = SIZE / 25
    return float(((counts - expected) ** 2).sum() / expected / (1 - SIZE / 20000))


FALSE_ALARM = 1e-3
LIMIT = float(stats.chi2.isf(FALSE_ALARM, 24))


def lattice_data(*, shuffled: bool = False) -> Trajectories:
    states = np.append(LATTICE, 0.0)
    if shuffled:
        states = np.append(np.random.default_rng(0).permutation(LATTICE), 0.0)
    return Trajectories([states], dt=1.0)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_sample_is_uniform(seed: int) -> None:
    points = sampled(lattice_data(), seed=seed)
    assert len(points) == SIZE
    assert len(np.unique(points)) == SIZE
    assert uniformity(points) < LIMIT


def test_a_sample_by_value_instead_of_hash_is_not_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smoother, "scrambled", lambda value: value)
    assert uniformity(sampled(lattice_data())) > LIMIT


def test_samples_of_different_seeds_overlap_as_little_as_chance() -> None:
    # Hypergeometric overlap: mean 800, variance 800 * 0.8 * 0.8; 3.3 sigma is a false-alarm rate
    # of 1e-3.
    first = sampled(lattice_data(), seed=0)
    second = sampled(lattice_data(), seed=1)
    overlap = len(np.intersect1d(first, second))
    assert abs(overlap - 800) < 3.3 * np.sqrt(800 * 0.8 * 0.8)


@pytest.mark.parametrize(("chunk_size", "threads"), [(97, 1), (HUGE, 1), (97, 2), (2048, 3)])
def test_the_sample_does_not_depend_on_chunks_and_threads(chunk_size: int, threads: int) -> None:
    expected = sampled(lattice_data())
    found = sampled(lattice_data(), chunk_size=chunk_size, threads=threads)
    np.testing.assert_array_equal(found, expected)


def test_the_sample_does_not_depend_on_the_order_of_samples() -> None:
    np.testing.assert_array_equal(sampled(lattice_data(shuffled=True)), sampled(lattice_data()))


# The survey.


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_survey_gives_exact_mean_spread_and_covariance(dimension: int, shift: float) -> None:
    paths = [path + shift for path in correlated_cloud(dimension)]
    data = Trajectories(paths, dt=0.01)
    # A sample is a state with an increment, so the last state of each path does not count.
    used = np.concatenate([path[:-1] for path in paths])
    summary = data_summary(data, standardise=True)
    spread = used.std(axis=0, ddof=1)
    np.testing.assert_allclose(summary.frame.centre, used.mean(axis=0), rtol=1e-14)
    # Subtracting a state first is exact, so the shift costs no digits beyond those of numpy's
    # own two-pass oracle.
    np.testing.assert_allclose(summary.frame.scale, spread, rtol=1e-11)
    correlation = np.atleast_2d(np.cov(used.T)) / np.outer(spread, spread)
    np.testing.assert_allclose(summary.covariance, correlation, rtol=1e-10)


def test_the_one_pass_formula_would_lose_the_spread_of_shifted_data() -> None:
    # Negative control of the test above: what happens without the nearby origin.
    used = np.concatenate([path[:-1] + 1e6 for path in correlated_cloud(1)])[:, 0]
    naive = np.sqrt(np.mean(used**2) - np.mean(used) ** 2)
    assert abs(naive / used.std() - 1) > 1e-6


def test_survey_does_not_depend_on_chunks_and_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    # Many short paths with close means, and the largest step in the second chunk of 100: every
    # total differs if one thread's share is lost.
    paths = np.random.default_rng(8).standard_normal((30, 51, 2))
    paths[2, 30:] += 10.0
    data = Trajectories(list(paths), dt=0.01)
    whole = data_summary(data, standardise=True)
    monkeypatch.setattr(survey_room, "reduce", partial(engine.reduce, chunk_size=100))
    pieces = data_summary(data, standardise=True, engine=Threads(2))
    np.testing.assert_allclose(pieces.frame.centre, whole.frame.centre, rtol=1e-12)
    np.testing.assert_allclose(pieces.frame.scale, whole.frame.scale, rtol=1e-12)
    np.testing.assert_allclose(pieces.covariance, whole.covariance, rtol=1e-12)
    np.testing.assert_allclose(pieces.variation, whole.variation, rtol=1e-12)
    np.testing.assert_allclose(pieces.worst, whole.worst, rtol=1e-12)
    assert pieces.repeated == whole.repeated
    assert pieces.rank.tolist() == whole.rank.tolist()


def test_survey_without_standardising_keeps_physical_units() -> None:
    data = correlated_cloud(2)
    summary = data_summary(data, standardise=False)
    np.testing.assert_array_equal(summary.frame.scale, [1.0, 1.0])
    np.testing.assert_array_equal(summary.frame.centre, [0.0, 0.0])
    np.testing.assert_allclose(summary.covariance, np.cov(everything(data).states.T), rtol=1e-12)


def test_survey_measures_increments_by_hand() -> None:
    # Increments of x: 1, 0, 2 and -1, 0; of y: 1, 0, -1 and 0, 2; steps 0.5 and 0.25. Both are
    # zero once, in the first path.
    data = Trajectories(
        [[[0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [3.0, 0.0]], [[2.0, 0.0], [1.0, 0.0], [1.0, 2.0]]],
        dt=[0.5, 0.25],
    )
    summary = data_summary(data, standardise=False)
    assert summary.repeated == 1
    np.testing.assert_allclose(summary.variation, [6 / 2.0, 6 / 2.0], rtol=1e-14)
    largest = np.array([max(4 / 0.5, 1 / 0.25), max(1 / 0.5, 4 / 0.25)])
    np.testing.assert_allclose(summary.worst, np.sqrt(largest / 3.0), rtol=1e-14)


def test_trajectories_are_ranked_by_mean_position() -> None:
    rng = np.random.default_rng(3)
    offsets = [3.0, -1.0, 0.5, 7.0]
    data = Trajectories([0.1 * rng.standard_normal((50, 2)) + c for c in offsets], dt=1.0)
    assert data_summary(data, standardise=True).rank.tolist() == [2, 0, 1, 3]


def test_a_constant_coordinate_is_an_error_that_names_it() -> None:
    states = np.column_stack([np.arange(10.0), np.full(10, 2.5)])
    with pytest.raises(DataError, match="'y' is constant"):
        data_summary(Trajectories([states], dt=1.0), standardise=True)


@pytest.mark.parametrize(("d", "wanted", "side"), [(1, 7, 7), (2, 9, 3), (2, 13, 4), (3, 1, 1)])
def test_centres_on_a_grid_span_the_range_of_the_states(d: int, wanted: int, side: int) -> None:
    summary = data_summary(correlated_cloud(d), standardise=True)
    found = grid_of_centres(summary, wanted)
    assert found.shape == (side**d, d)
    corners = summary.frame.standardise(np.array([summary.low, summary.high]))
    np.testing.assert_array_equal(found[0], corners[0])
    if side > 1:
        np.testing.assert_array_equal(found[-1], corners[1])
        lines = [np.linspace(corners[0, p], corners[1, p], side) for p in range(d)]
        np.testing.assert_array_equal([np.unique(column) for column in found.T], lines)
