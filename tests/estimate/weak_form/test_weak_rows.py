"""Weak rows against loops written straight from the equations of the paper."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

import numpy as np
import pytest
from scipy import stats

from wgsindy.data import FloatArray, Trajectories
from wgsindy.errors import RecipeError
from wgsindy.estimate.weak_form import smoother
from wgsindy.estimate.weak_form import weak_rows as weakform
from wgsindy.estimate.weak_form.weak_rows import WeakForm, weak_form
from wgsindy.model import tensor
from wgsindy.passes import engine
from wgsindy.passes import summary as data_summary
from wgsindy.passes.engine import Threads
from wgsindy.recipes import PAPER, WeakFormRecipe
from wgsindy.terms import library

RECIPE = replace(PAPER, n_centres=6)
FLOOR = 1e-3


def sample_paths(
    dimension: int, *, even: bool, samples: int = 60, trajectories: int = 3
) -> Trajectories:
    """Short autoregressive paths in units of very different size."""
    rng = np.random.default_rng(dimension)
    scale, shift = np.array([3.0, 0.02, 50.0])[:dimension], np.array([1.0, -0.05, 7.0])[:dimension]
    paths, times = [], []
    for r in range(trajectories):
        z = np.zeros((samples + r, dimension))
        for n in range(1, len(z)):
            z[n] = 0.8 * z[n - 1] + 0.6 * rng.standard_normal(dimension)
        paths.append(z * scale + shift)
        steps = np.full(len(z) - 1, 0.1) if even else rng.uniform(0.02, 0.3, len(z) - 1)
        times.append(np.concatenate([[0.0], np.cumsum(steps)]))
    return Trajectories(paths, times=times)


@dataclass
class Loops:
    """The equations of the paper, one sample, centre and trajectory at a time.

    Kernel centres are inputs. A sample of an uneven record weighs in proportion to its step.
    """

    data: Trajectories
    centres: FloatArray
    in_frame: bool
    terms: str

    @cached_property
    def samples(self) -> list[tuple[int, FloatArray, FloatArray, float]]:
        """Trajectory, state, increment and step of every sample."""
        return [
            (r, path[n], path[n + 1] - path[n], float(self.data.steps(r)[n]))
            for r, path in enumerate(self.data)
            for n in range(len(path) - 1)
        ]

    @cached_property
    def mean(self) -> FloatArray:
        return np.mean([x for _, x, _, _ in self.samples], axis=0)

    @cached_property
    def spread(self) -> FloatArray:
        return np.std([x for _, x, _, _ in self.samples], axis=0, ddof=1)

    def theta(self, x: FloatArray) -> FloatArray:
        """The library at one point, by evaluating each formula as Python."""
        point = (x - self.mean) / self.spread if self.in_frame else x
        names = dict(zip(self.data.names, point, strict=True))
        basis = library(self.terms).bind(self.data.names)
        return np.array([eval(t, {"sin": np.sin, "cos": np.cos}, names) for t in basis.terms])

    @cached_property
    def thetas(self) -> list[FloatArray]:
        return [self.theta(x) for _, x, _, _ in self.samples]

    @cached_property
    def precision(self) -> FloatArray:
        nearest = [
            min(np.linalg.norm(c - other) for j, other in enumerate(self.centres) if j != i)
            for i, c in enumerate(self.centres)
        ]
        h0 = 1.5 * np.median(nearest)
        z = [(x - self.mean) / self.spread for _, x, _, _ in self.samples]
        covariance = np.atleast_2d(np.cov(np.transpose(z)))
        d = len(covariance)
        bandwidth = h0**2 * covariance / (np.trace(covariance) / d) + 1e-8 * np.eye(d)
        return np.linalg.inv(bandwidth).astype(np.float64)

    @staticmethod
    def local_basis(delta: FloatArray) -> FloatArray:
        d = len(delta)
        squares = [delta[p] * delta[q] for p in range(d) for q in range(p, d)]
        return np.array([1.0, *delta, *squares])

    @cached_property
    def rows(self) -> FloatArray:
        """Pi (J, n): e_1' (R' W R + eps I)^-1 R' W at each centre."""
        mean_step = np.mean([dt for *_, dt in self.samples])
        out = np.zeros((len(self.centres), len(self.samples)))
        for j, centre in enumerate(self.centres):
            local, weights = [], []
            for _, x, _, dt in self.samples:
                delta = (x - self.mean) / self.spread - centre
                local.append(self.local_basis(delta))
                weights.append(np.exp(-0.5 * delta @ self.precision @ delta) * dt / mean_step)
            gram = sum(w * np.outer(r, r) for w, r in zip(weights, local, strict=True))
            ridge = 1e-8 * np.mean(np.diag(gram))
            first = np.linalg.solve(gram + ridge * np.eye(len(gram)), np.eye(len(gram))[0])
            for n, (w, r) in enumerate(zip(weights, local, strict=True)):
                out[j, n] = first @ r * w
        return out

    def project(self, columns: list[FloatArray], *, squared: bool = False) -> FloatArray:
        """Rows of each trajectory and centre: the sum of Pi (or Pi^2) times ``columns``."""
        total = np.zeros((len(self.data), len(self.centres), len(columns[0])))
        for n, (r, *_) in enumerate(self.samples):
            for j in range(len(self.centres)):
                pi = self.rows[j, n]
                total[r, j] += (pi**2 if squared else pi) * columns[n]
        return total.reshape(-1, len(columns[0]))

    def lower(self, matrix: FloatArray) -> FloatArray:
        d = len(matrix)
        return np.array([matrix[p, q] for p in range(d) for q in range(p + 1)])

    def field(self, entries: FloatArray, theta: FloatArray) -> FloatArray:
        """The tensor with coefficients ``entries`` at one point, eigenvalues clipped."""
        d = self.data.dimension
        matrix = np.zeros((d, d))
        values = iter(entries @ theta)
        for p in range(d):
            for q in range(p + 1):
                matrix[p, q] = matrix[q, p] = next(values)
        eigenvalues, vectors = np.linalg.eigh(matrix)
        return (vectors * np.maximum(eigenvalues, FLOOR)) @ vectors.T


CASES = [
    pytest.param(d, even, terms, id=f"{d}d-{'even' if even else 'uneven'}-{terms}")
    for d in (1, 2, 3)
    for even in (True, False)
    for terms in ("poly2", "trig")
]


@cache
def both(dimension: int, even: bool, terms: str) -> tuple[WeakForm, Loops]:
    data = sample_paths(dimension, even=even)
    weak = weak_form(data, library(terms).bind(data.names), RECIPE, seed=0)
    loops = Loops(data, weak.smoothers[0].centres, in_frame=terms == "poly2", terms=terms)
    return weak, loops


def agree(found: FloatArray, expected: FloatArray) -> None:
    """Equal to 1e-10 of the largest in each column."""
    assert found.shape == expected.shape
    size = np.abs(expected).max(axis=0)
    assert (size > 0).all()
    np.testing.assert_allclose(found / size, expected / size, rtol=0, atol=1e-10)


def some_tensor(weak: WeakForm) -> FloatArray:
    """Tensor coefficients ``(E, K)`` that need clipping at half of the samples."""
    assert isinstance(weak.data, Trajectories)
    d, values = weak.data.dimension, weak.basis.values(weak.data.states)
    pairs = tensor.pairs(d)
    size = np.sqrt(np.mean(values**2, axis=0))
    entries = np.random.default_rng(7).standard_normal((len(pairs), len(size))) / size
    lowest = np.linalg.eigvalsh(tensor.symmetric(values @ entries.T, d))[:, 0]
    entries[[pairs.index((p, p)) for p in range(d)], 0] -= np.median(lowest)
    return entries


@pytest.mark.parametrize(("dimension", "even", "terms"), CASES)
def test_design_and_targets_agree_with_loops(dimension: int, even: bool, terms: str) -> None:
    weak, loops = both(dimension, even, terms)
    assert len(weak.design) == 3 * 6
    agree(weak.design, loops.project(loops.thetas))
    rates = [dx / loops.spread / dt for _, _, dx, dt in loops.samples]
    agree(weak.drift_targets, loops.project(rates))
    squares = [loops.lower(np.outer(v, v) * loops.samples[n][3]) for n, v in enumerate(rates)]
    agree(weak.square_targets, loops.project(squares))


@pytest.mark.parametrize(("dimension", "even", "terms"), CASES)
def test_drift_square_agrees_with_loops(dimension: int, even: bool, terms: str) -> None:
    weak, loops = both(dimension, even, terms)
    drift = np.random.default_rng(3).standard_normal((dimension, len(weak.basis)))
    columns = []
    for (*_, dt), theta in zip(loops.samples, loops.thetas, strict=True):
        b = drift @ theta
        columns.append(loops.lower(np.outer(b, b) * dt))
    agree(weak.drift_square(drift), loops.project(columns))


@pytest.mark.parametrize(("dimension", "even", "terms"), CASES)
def test_row_noise_and_factor_targets_agree_with_loops(
    dimension: int, even: bool, terms: str
) -> None:
    weak, loops = both(dimension, even, terms)
    entries = some_tensor(weak)
    fields = [loops.field(entries, theta) for theta in loops.thetas]
    noise = [loops.lower(a) / loops.samples[n][3] for n, a in enumerate(fields)]
    agree(weak.row_noise(entries[None], FLOOR), loops.project(noise, squared=True))
    factors = [loops.lower(np.linalg.cholesky(a).astype(np.float64)) for a in fields]
    agree(weak.factor_targets(entries, FLOOR), loops.project(factors))


@pytest.mark.parametrize(("dimension", "even", "terms"), CASES)
def test_noise_rows_agree_with_loops(dimension: int, even: bool, terms: str) -> None:
    weak, loops = both(dimension, even, terms)
    root = np.random.default_rng(4).standard_normal((dimension, dimension))
    covariance = root @ root.T
    columns = [2 * loops.lower(covariance) / dt for *_, dt in loops.samples]
    agree(weak.noise_rows(covariance), loops.project(columns))


# Chunks, threads, groups.


def all_rows(data: Trajectories, recipe: WeakFormRecipe, threads: int = 1) -> FloatArray:
    """Everything a fit asks of the weak form, side by side, and the lag-one noise below."""
    weak = weak_form(
        data, library("poly2").bind(data.names), recipe, seed=0, engine=Threads(threads)
    )
    entries = some_tensor(weak)
    drift = np.random.default_rng(3).standard_normal((data.dimension, len(weak.basis)))
    noise = np.array([[0.3, 0.1], [0.1, 0.2]])
    folds = np.stack([entries] * len(weak.smoothers))
    columns = [
        weak.design,
        weak.drift_targets,
        weak.square_targets,
        weak.drift_square(drift),
        weak.row_noise(folds, FLOOR),
        weak.factor_targets(entries, FLOOR),
        weak.noise_rows(noise),
    ]
    lag = np.zeros((1, sum(c.shape[1] for c in columns)))
    lag[0, :4] = weak.observation_noise.ravel()
    return np.vstack([np.hstack(columns), lag])


@pytest.mark.parametrize("cross_fit", [False, True])
@pytest.mark.parametrize(
    ("chunk_size", "threads"), [(100, 1), (10**9, 1), (100, 2), (2048, 2), (10**9, 2)]
)
def test_rows_do_not_depend_on_chunks_and_threads(
    chunk_size: int, threads: int, cross_fit: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = sample_paths(2, even=False, samples=1500)
    recipe = replace(PAPER, n_centres=16, cross_fit=cross_fit)
    expected = all_rows(data, recipe)
    for module in (data_summary, smoother, weakform):
        monkeypatch.setattr(module, "reduce", partial(engine.reduce, chunk_size=chunk_size))
    found = all_rows(data, recipe, threads)
    size = np.abs(expected).max(axis=0)
    np.testing.assert_allclose(found / size, expected / size, rtol=0, atol=1e-10)


def test_pooled_rows_are_the_sum_of_trajectory_rows() -> None:
    data = sample_paths(2, even=True, samples=200)
    by_trajectory = all_rows(data, replace(RECIPE, rows="trajectory"))[:-1]
    pooled = all_rows(data, replace(RECIPE, rows="pooled"))[:-1]
    agree(pooled, by_trajectory.reshape(3, 6, -1).sum(axis=0))


def test_rows_of_one_trajectory_come_from_its_own_increments() -> None:
    data = sample_paths(2, even=True)
    weak = weak_form(data, library("poly1").bind(data.names), RECIPE, seed=0)
    # The same states, then a jump at the very end of the second trajectory: only its last
    # increment changes, so only its rows do.
    paths = [np.array(path) for path in data]
    paths[1][-1] += 100.0
    changed = Trajectories(paths, times=[np.arange(len(p)) * 0.1 for p in paths])
    other = weak_form(changed, library("poly1").bind(data.names), RECIPE, seed=0)
    difference = np.abs(other.drift_targets - weak.drift_targets).max(axis=1).reshape(3, 6)
    assert difference[[0, 2]].max() < 1e-9
    assert difference[1].max() > 1


# Observation noise.


def physical_noise(data: Trajectories) -> FloatArray:
    weak = weak_form(data, library("poly1").bind(data.names), RECIPE, seed=0)
    scale = weak.frame.scale
    return weak.observation_noise * scale[:, None] * scale


def zigzag(samples: int = 41) -> FloatArray:
    return (np.arange(samples) % 2).astype(np.float64)


def test_lag_one_noise_by_hand_in_one_dimension() -> None:
    # Increments 1, -1, 1, ...: each of the 39 neighbouring products is -1.
    assert physical_noise(Trajectories([zigzag()], dt=0.1))[0, 0] == pytest.approx(1.0, rel=1e-12)


def test_lag_one_noise_by_hand_in_two_dimensions() -> None:
    # The second coordinate moves by twice the first: products -1, -2, -2, -4 each time.
    states = np.column_stack([zigzag(), 2 * zigzag()])
    states += 1e-9 * np.random.default_rng(0).standard_normal(states.shape)  # not a line exactly
    found = physical_noise(Trajectories([states], dt=0.1))
    np.testing.assert_allclose(found, [[1.0, 2.0], [2.0, 4.0]], rtol=1e-7)


def test_lag_one_noise_is_the_symmetrised_mean_of_neighbouring_products() -> None:
    # Independent points are nothing but noise: the estimate is far from the edge of the cone.
    data = Trajectories(list(np.random.default_rng(2).standard_normal((3, 40, 2))), dt=0.1)
    total, pairs = np.zeros((2, 2)), 0
    for path in data:
        for n in range(len(path) - 2):
            total += np.outer(path[n + 1] - path[n], path[n + 2] - path[n + 1])
            pairs += 1
    np.testing.assert_allclose(physical_noise(data), -(total + total.T) / 2 / pairs, rtol=1e-12)


def test_positive_lag_one_products_give_no_noise_instead_of_a_negative_one() -> None:
    assert physical_noise(Trajectories([np.arange(40.0) ** 1.1], dt=0.1))[0, 0] == 0


def test_lag_one_products_never_span_two_trajectories() -> None:
    # The junction's step, 1000, would meet -1 on both of its sides.
    near, far = zigzag(), 1000 - zigzag()
    found = physical_noise(Trajectories([near, far], dt=0.1))[0, 0]
    assert found == pytest.approx(1.0, rel=1e-9)
    # Negative control: as one path the junction does enter.
    joined = physical_noise(Trajectories([np.concatenate([near, far])], dt=0.1))[0, 0]
    assert joined == pytest.approx((79 - 1 + 2000) / 80, rel=1e-9)


SIGMA = np.array([[0.04, -0.02], [-0.02, 0.03]])


def noisy_walk(seed: int, covariance: FloatArray) -> Trajectories:
    """Brownian paths with unit diffusion and correlated observation noise."""
    rng = np.random.default_rng(seed)
    paths = np.cumsum(0.1 * rng.standard_normal((10, 2001, 2)), axis=1)
    noise = rng.standard_normal(paths.shape) @ np.linalg.cholesky(covariance).T
    return Trajectories(list(paths + noise), dt=0.01)


def noise_tolerance(covariance: FloatArray) -> FloatArray:
    """Bartlett's standard error of a lag-one covariance, times the quantile of the test.

    Increments are MA(1) with G0 = a dt + 2 S and G1 = -S; the variance of the mean of
    D_p(n) D_q(n + 1) over n pairs is (G0_pp G0_qq + 2 G1_pp G1_qq + G1_pq^2) / n, and averaging
    it with its transpose does not increase it. Three entries, false-alarm rate 1e-3.
    """
    g0, g1 = 0.01 * np.eye(2) + 2 * covariance, covariance
    variance = np.outer(np.diag(g0), np.diag(g0)) + 2 * np.outer(np.diag(g1), np.diag(g1)) + g1**2
    return float(stats.norm.isf(1e-3 / 2 / 3)) * np.sqrt(variance / (10 * 1999))


def test_lag_one_noise_recovers_a_known_covariance() -> None:
    error = physical_noise(noisy_walk(0, SIGMA)) - SIGMA
    assert (np.abs(error) < noise_tolerance(SIGMA)).all()


def test_lag_one_noise_tells_a_covariance_from_one_ten_per_cent_larger() -> None:
    # Negative control: the tolerance is narrow enough to reject a wrong covariance.
    error = physical_noise(noisy_walk(0, 1.1 * SIGMA)) - SIGMA
    assert (np.abs(error) > noise_tolerance(SIGMA)).any()


# Cross-fitting.


def spread_out_paths() -> list[FloatArray]:
    """Seven paths far enough apart that replacing one of them keeps their ranks."""
    rng = np.random.default_rng(9)
    return [rng.standard_normal((120, 2)) + 10 * r for r in range(7)]


def smoothers_with(path: FloatArray, recipe: WeakFormRecipe) -> WeakForm:
    """Weak form of the seven paths with the third replaced by ``path``."""
    paths = spread_out_paths()
    paths[2] = path
    data = Trajectories(paths, dt=0.1)
    return weak_form(data, library("poly1").bind(data.names), recipe, seed=0)


def same_smoother(left: smoother.Smoother, right: smoother.Smoother) -> bool:
    return all(
        a.shape == b.shape and np.array_equal(a, b)
        for a, b in (
            (left.frame.centre, right.frame.centre),
            (left.frame.scale, right.frame.scale),
            (left.centres, right.centres),
            (left.whitening, right.whitening),
            (left.intercept, right.intercept),
        )
    )


def changed_path() -> FloatArray:
    return (spread_out_paths()[2] - 20) * [3.0, 0.5] + 20


def test_a_cross_fitted_smoother_does_not_see_the_trajectory_it_serves() -> None:
    recipe = replace(RECIPE, cross_fit=True)
    before, after = (
        smoothers_with(path, recipe) for path in (spread_out_paths()[2], changed_path())
    )
    assert before.fold.tolist() == after.fold.tolist()
    own = before.fold[2]
    assert same_smoother(before.smoothers[own], after.smoothers[own])
    # It serves some trajectories only, and the others' smoothers do see the change.
    assert len(before.smoothers) == 5
    for fold in set(range(5)) - {int(own)}:
        assert not same_smoother(before.smoothers[fold], after.smoothers[fold])


def test_without_cross_fitting_the_smoother_sees_every_trajectory() -> None:
    before, after = (
        smoothers_with(path, RECIPE) for path in (spread_out_paths()[2], changed_path())
    )
    assert len(before.smoothers) == 1
    assert not same_smoother(before.smoothers[0], after.smoothers[0])


def test_each_trajectory_is_projected_by_the_smoother_of_its_fold() -> None:
    weak = smoothers_with(spread_out_paths()[2], replace(RECIPE, cross_fit=True))
    design = weak.design.reshape(7, weak.n_centres, 3)
    assert isinstance(weak.data, Trajectories)
    for r, path in enumerate(weak.data):
        served_by = weak.smoothers[weak.fold[r]]
        (chunk,) = Trajectories([path], dt=0.1).chunks(10**9)
        rows = served_by.rows(chunk, weak.mean_dt)
        np.testing.assert_allclose(design[r], rows @ weak.basis.values(path[:-1]), atol=1e-10)


def test_the_row_noise_of_a_trajectory_comes_from_the_tensor_of_its_fold() -> None:
    weak = smoothers_with(spread_out_paths()[2], replace(RECIPE, cross_fit=True))
    constant = np.zeros((3, len(weak.basis)))
    constant[:, 0] = [2.0, 0.5, 1.0]
    alike = weak.row_noise(np.stack([constant] * 5), 0.0)
    growing = weak.row_noise(np.stack([(f + 1) * constant for f in range(5)]), 0.0)
    factor = np.repeat(weak.fold + 1, weak.n_centres)
    np.testing.assert_allclose(growing, alike * factor[:, None], rtol=1e-12)


# Switches for the formulas of the paper's text.


def test_separate_rows_are_those_of_a_smoother_of_one_trajectory() -> None:
    weak = smoothers_with(spread_out_paths()[2], replace(RECIPE, rows="separate"))
    shared = smoothers_with(spread_out_paths()[2], RECIPE).smoothers[0]
    assert weak.fold.tolist() == list(range(7))
    design = weak.design.reshape(7, weak.n_centres, 3)
    assert isinstance(weak.data, Trajectories)
    for r, path in enumerate(weak.data):
        own = smoother.taught_by(Trajectories([path], dt=0.1), shared, 0.1)
        (chunk,) = Trajectories([path], dt=0.1).chunks(10**9)
        rows = own.rows(chunk, weak.mean_dt)
        np.testing.assert_allclose(design[r], rows @ weak.basis.values(path[:-1]), atol=1e-9)
    # Local polynomials reproduce constants from whatever samples they have.
    near = np.abs(design[:, :, 0] - 1) < 1e-3
    assert near.any(axis=1).all()


def test_one_trajectory_smoothed_by_itself_is_one_trajectory() -> None:
    data = Trajectories([np.random.default_rng(0).standard_normal((200, 2))], dt=0.1)
    rows = [all_rows(data, replace(RECIPE, rows=kind)) for kind in ("separate", "trajectory")]
    np.testing.assert_allclose(rows[0], rows[1])


def test_one_trajectory_cannot_be_cross_fitted_and_says_so() -> None:
    data = Trajectories([np.random.default_rng(0).standard_normal((200, 2))], dt=0.1)
    with pytest.raises(RecipeError, match="there is 1 trajectory; give several"):
        weak_form(data, library("poly1").bind(data.names), replace(RECIPE, cross_fit=True), seed=0)


def test_smoothing_by_itself_and_by_the_others_exclude_each_other() -> None:
    with pytest.raises(RecipeError, match="choose one"):
        replace(RECIPE, cross_fit=True, rows="separate")


def test_targets_with_absolute_floors_are_in_the_units_of_the_data() -> None:
    data = sample_paths(2, even=True)
    basis = library("poly1").bind(data.names)
    usual, raw = (
        weak_form(data, basis, replace(RECIPE, floors=floors), seed=0)
        for floors in ("relative", "absolute")
    )
    scale = usual.frame.scale
    np.testing.assert_allclose(raw.drift_targets, usual.drift_targets * scale)
    first, both, second = scale[0] ** 2, scale[0] * scale[1], scale[1] ** 2
    np.testing.assert_allclose(raw.square_targets, usual.square_targets * [first, both, second])
