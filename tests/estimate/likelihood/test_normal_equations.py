"""Sums of the working likelihood against dense computations and closed forms."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields, replace

import numpy as np
import pytest
from working_models import Formula, asked, model_of, names_of

from wgsindy.data import FloatArray, Frame, Trajectories
from wgsindy.estimate.likelihood import normal_equations as likelihood
from wgsindy.estimate.likelihood import process as workingmodel
from wgsindy.estimate.likelihood.normal_equations import (
    DriftTensorPass,
    LaggedPass,
    NormalEquations,
    NormalPass,
    ScorePass,
    Sums,
    TrapezoidPass,
    WithinStepNoise,
    WithinStepNoisePass,
)
from wgsindy.estimate.likelihood.process import Process, evaluate
from wgsindy.model import tensor
from wgsindy.model.simulation import linear_transition
from wgsindy.passes import data_summary, reduce
from wgsindy.passes.engine import Threads
from wgsindy.terms import library

# Sums of some tens of numbers of order one.
ROUNDING = 1e-11

DRIFT: list[Formula] = [
    {"1": 0.3, "x": -1.0, "x**2": 0.2},
    {"x": 0.7, "y": -0.4},
    {"1": -0.2, "x": 0.5, "z": -1.5},
]
# Variances from near zero to a few times their unit, all correlations below 0.8.
ENTRIES: dict[int, list[Formula]] = {
    1: [{"1": 0.02, "x**2": 0.5}],
    2: [{"1": 0.02, "x**2": 0.5}, {"1": 0.005, "x**2": 0.3}, {"1": 0.05, "x**2": 0.5}],
    3: [
        {"1": 0.02, "x**2": 0.5},
        {"1": 0.005, "x**2": 0.3},
        {"1": 0.05, "x**2": 0.5},
        {"1": 0.01},
        {"x**2": -0.1},
        {"1": 0.9, "z**2": 0.2},
    ],
}


def random_model(d: int, *, is_chain: bool = True) -> Process:
    model = model_of(DRIFT[:d], ENTRIES[d], is_chain=is_chain)
    return asked(model, uneven_data(d).states, 0.4)


KINDS = pytest.mark.parametrize("is_chain", [True, False], ids=["chain", "process"])


def uneven_data(d: int, seed: int = 0) -> Trajectories:
    """Three short paths with uneven steps; some samples repeat, some repeat in one coordinate."""
    rng = np.random.default_rng(seed)
    paths, times = [], []
    for n in (9, 14, 2):
        path = rng.normal(0.5, 0.8, size=(n, d))
        path[n // 2] = path[n // 2 - 1]
        if n > 10:
            path[4] = path[3] = path[2]
            path[-1, 0] = path[-2, 0]
        paths.append(path)
        times.append(np.cumsum(rng.uniform(0.05, 0.4, n)))
    return Trajectories(paths, times=times, names=names_of(d))


def samples_of(data: Trajectories) -> list[tuple[int, FloatArray, FloatArray, float]]:
    """Trajectory, state, increment and step of each increment."""
    return [
        (r, x, dx, float(dt))
        for r, path in enumerate(data)
        for x, dx, dt in zip(path[:-1], np.diff(path, axis=0), data.steps(r), strict=True)
    ]


def seen_through_the_path(
    model: Process, x: FloatArray, dx: FloatArray, dt: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Library, residual, tensor, noise, gain and response of one step.

    The drift that would have made the residual is the residual through the inverse of the response,
    and its noise is that of the step through the same. Three nodes along the path say how much of
    a constant tensor is seen.
    """
    d = len(x)
    if model.is_chain:
        theta = model.basis.values(x[None])[0]
        a = tensor.symmetric((model.dynamics.entries @ theta)[None], d)[0]
        one = np.ones((d, d))
        return theta, dx / model.units - model.drift @ theta * dt, a, a, one, np.eye(d)
    path = model.dynamics.step(x[None], np.array([dt]))
    theta, back = path.theta[:, 0], np.linalg.inv(path.response[:, :, 0])
    a = tensor.symmetric((model.dynamics.entries @ theta)[None], d)[0]
    nodes = [back @ path.flow[:, :, 0], back @ path.middle[:, :, 0], back]
    gain = np.zeros((d, d))
    for p, q in tensor.pairs(d):
        unit = np.zeros((d, d))
        unit[p, q] = unit[q, p] = 1.0
        seen = [(f @ unit @ f.T)[p, q] for f in nodes]
        gain[p, q] = gain[q, p] = (seen[0] + 4 * seen[1] + seen[2]) / 6
    noise = back @ path.covariance[:, :, 0] @ back.T / dt
    error = dx / model.units - path.mean[:, 0]
    return theta, back @ error, a, noise, gain, path.response[:, :, 0]


def log_density(
    model: Process, residual: FloatArray, noise: FloatArray, dt: float, response: FloatArray
) -> float:
    """That of one step over the root of dt, with variances that are positive smoothly."""
    noise, least = noise.copy(), likelihood.SOFT_FLOOR
    for p in range(len(noise)):
        if model.noiseless_level[p]:
            noise[p, p] = model.noiseless_level[p]
        else:
            half = (noise[p, p] - least) / 2
            noise[p, p] = least + half + np.hypot(half, least)
    held, _ = tensor.precision(tensor.entries_of(noise[None]).T, likelihood.LEAST_UNSHARED)
    inverse = tensor.symmetric(held.T, len(noise))[0]
    density = np.linalg.slogdet(inverse)[1] - residual @ inverse @ residual / dt
    return float(density / 2 - np.linalg.slogdet(response)[1])


def dense_sums(model: Process, data: Trajectories) -> Sums:
    """One sample at a time, with matrices inverted by NumPy."""
    d = len(model.drift)
    pairs, grid = tensor.pairs(d), likelihood.EXTRA_VARIANCES
    total = NormalPass(model).empty()
    for _, x, dx, dt in samples_of(data):
        theta, residual, a, seen, gain, response = seen_through_the_path(model, x, dx, dt)
        noise = seen.copy()
        for p in range(d):
            noise[p, p] = max(seen[p, p], model.variance_floor[p]) + model.extra_variance[p]
            if model.noiseless_level[p]:
                noise[p, p] = model.noiseless_level[p]
        weight = np.linalg.inv(noise)
        total.log_likelihood += log_density(model, residual, seen, dt, response)
        total.count += 1
        total.residual += residual**2 / dt
        total.drift_cross += np.outer(weight @ (residual + model.drift @ theta * dt), theta)
        own = np.maximum(np.diag(noise), workingmodel.TENSOR_WEIGHT_FLOOR)
        for e, (p, q) in enumerate(pairs):
            shared = own[p] if p == q else noise[p, q]
            weight_of_entry = gain[p, q] ** 2 / (own[p] * own[q] + shared**2)
            target = (residual[p] * residual[q] / dt - seen[p, q]) / gain[p, q] + a[p, q]
            total.drift_gram[e] += np.outer(theta, theta) * weight[p, q] * dt
            total.entry_gram[e] += np.outer(theta, theta) * weight_of_entry
            total.entry_cross[e] += theta * target * weight_of_entry
        for p in range(d):
            total.impossible[p] += seen[p, p] <= 0 and not model.noiseless_level[p]
            decided = (
                model.variance_floor[p] < likelihood.LOW_NOISE and not model.noiseless_level[p]
            )
            if decided and seen[p, p] < likelihood.LOW_NOISE:
                raised = max(seen[p, p], 0.0) + grid
                total.low_noise_likelihood[p] -= (
                    np.log(raised) + residual[p] ** 2 / dt / raised
                ) / 2
    return total


def assert_same(found: Sums, expected: Sums, tolerance: float = ROUNDING) -> None:
    assert found.count == expected.count
    for item in fields(Sums):
        one, other = getattr(found, item.name), np.asarray(getattr(expected, item.name))
        size = np.abs(other).max(initial=0.0)
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * size, err_msg=item.name)


@KINDS
@pytest.mark.parametrize("d", [1, 2, 3])
def test_sums_are_those_of_a_dense_computation(d: int, is_chain: bool) -> None:
    model, data = random_model(d, is_chain=is_chain), uneven_data(d)
    found = reduce(NormalPass(model), data)
    assert found.count == data.n_increments == 22  # samples that repeat are data
    assert found.low_noise_likelihood.any(), "no sample has low noise, so slack is not tested"
    assert_same(found, dense_sums(model, data))


@KINDS
@pytest.mark.parametrize("silent", [0, 1])
def test_a_coordinate_without_noise_is_weighted_by_its_own_level(
    silent: int, is_chain: bool
) -> None:
    noiseless_level = np.zeros(2)
    noiseless_level[silent] = 1e-3
    model = replace(random_model(2, is_chain=is_chain), noiseless_level=noiseless_level)
    assert_same(reduce(NormalPass(model), uneven_data(2)), dense_sums(model, uneven_data(2)))


@KINDS
def test_the_least_noise_holds_weights_back(is_chain: bool) -> None:
    model = replace(random_model(2, is_chain=is_chain), variance_floor=np.array([0.2, 0.9]))
    found = reduce(NormalPass(model), uneven_data(2))
    assert_same(found, dense_sums(model, uneven_data(2)))
    assert not found.low_noise_likelihood[1].any()


@pytest.mark.parametrize("terms", ["poly2", "poly3", ["1", "x", "x*y", "x**2", "sin(x)"]])
def test_weighted_grams_of_a_chain_are_the_direct_ones(terms: str | list[str]) -> None:
    """Products of monomials are monomials: a few moments make up every Gram matrix."""
    entries: list[Formula] = [{"1": 0.5}, {"1": 0.1}, {"1": 0.4}]
    model = model_of([{"x": -1.0}, {"x": 0.7}], entries, terms=terms, is_chain=True)
    rng = np.random.default_rng(0)
    theta = model.basis.values(rng.normal(size=(300, 2))).T.copy()
    weights = rng.uniform(0.1, 2.0, size=(6, 300))
    found = NormalPass(model)._weighted_grams(weights, theta)
    expected = np.einsum("mn,kn,ln->mkl", weights, theta, theta)
    size = np.abs(expected).max(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(found / size, expected / size, rtol=0, atol=1e-13)
    direct = NormalPass(replace(model, is_chain=False))._weighted_grams(weights, theta)
    np.testing.assert_allclose(direct / size, expected / size, rtol=0, atol=1e-13)
    (left, _), index = model.basis.products
    if terms == "poly3":
        assert len(left) == 28  # monomials to the sixth degree, instead of 100 products
    assert index.shape == (len(theta), len(theta))


def test_moments_are_of_no_use_for_a_library_averaged_along_a_path() -> None:
    # Negative control: mean squares are not squares of means.
    model, data = random_model(2, is_chain=False), uneven_data(2)
    x, dt = np.concatenate([path[:-1] for path in data]), data.steps(0)[0]
    theta = model.dynamics.step(x, np.full(len(x), dt)).theta
    (left, right), index = model.basis.products
    products = np.einsum("kn,ln->kln", theta, theta)
    shared = (theta[left] * theta[right])[index]
    assert np.abs(products - shared).max() > 1e-3


@KINDS
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_sums_do_not_depend_on_the_chunk_size(size: int, is_chain: bool) -> None:
    model, data = random_model(2, is_chain=is_chain), uneven_data(2)
    expected = reduce(NormalPass(model), data, chunk_size=5)
    assert_same(reduce(NormalPass(model), data, chunk_size=size), expected)
    leaks = [reduce(WithinStepNoisePass(model), data, chunk_size=n) for n in (size, 5)]
    np.testing.assert_allclose(leaks[0].level, leaks[1].level, rtol=ROUNDING)
    scores = [reduce(ScorePass(model, 3), data, chunk_size=n) for n in (size, 5)]
    np.testing.assert_allclose(scores[0].drift, scores[1].drift, rtol=0, atol=1e-9)
    np.testing.assert_allclose(scores[0].entries, scores[1].entries, rtol=0, atol=1e-9)
    assert (scores[0].count, scores[0].clipped) == (scores[1].count, scores[1].clipped)


def test_totals_can_be_merged_in_any_grouping() -> None:
    step, data = NormalPass(random_model(2)), uneven_data(2)
    a, b, c = (reduce(step, data.subset([r])) for r in range(3))
    left = step.merge(step.merge(deepcopy(a), b), c)
    right = step.merge(deepcopy(a), step.merge(deepcopy(b), c))
    assert_same(left, right)
    assert_same(left, reduce(step, data))
    assert_same(step.merge(step.empty(), a), a, tolerance=0.0)
    assert_same(step.merge(deepcopy(a), step.empty()), a, tolerance=0.0)


def test_threads_leave_no_sample_out() -> None:
    step, data = NormalPass(random_model(2)), uneven_data(2)
    assert_same(reduce(step, data, engine=Threads(2), chunk_size=3), reduce(step, data))


def test_other_units_are_the_same_fields() -> None:
    model = replace(
        random_model(3), observation_noise=np.arange(1.0, 7.0), rounding=np.arange(1.0, 4.0)
    )
    units = np.array([2.0, 0.1, 30.0])
    other, theta = model.in_units(units), model.basis.values(uneven_data(3).states)
    np.testing.assert_allclose(
        other.drift @ theta.T * units[:, None], model.drift @ theta.T * model.units[:, None]
    )
    products = [np.array([u[p] * u[q] for p, q in tensor.pairs(3)]) for u in (units, model.units)]
    np.testing.assert_allclose(
        other.entries @ theta.T * products[0][:, None],
        model.entries @ theta.T * products[1][:, None],
    )
    np.testing.assert_allclose(
        other.observation_noise * products[0], model.observation_noise * products[1]
    )
    np.testing.assert_allclose(other.rounding * units**2, model.rounding * model.units**2)


@KINDS
def test_the_start_weighs_every_sample_alike(is_chain: bool) -> None:
    basis = library(["x", "y"]).bind(("x", "y"))  # no constant that could stand for equal noise
    data = uneven_data(2)
    model = Process.start(basis, data_summary(data, standardise=True), is_chain=is_chain)
    sums = reduce(NormalPass(model), data)
    kept = samples_of(data)
    x, dt = np.array([s[1] for s in kept]), np.array([s[3] for s in kept])
    expected = np.einsum("nk,nl,n->kl", x, x, dt)
    np.testing.assert_allclose(sums.drift_gram[0], expected, rtol=ROUNDING)
    np.testing.assert_allclose(sums.drift_gram[1], 0.0)
    np.testing.assert_allclose(sums.drift_gram[2], expected, rtol=ROUNDING)


def test_the_trapezoid_rule_averages_the_library_over_both_ends() -> None:
    data = uneven_data(2)
    basis, summary = library("poly2").bind(data.names), data_summary(data, standardise=True)
    start = Process.start(basis.in_frame(summary.region), summary, is_chain=False)
    found = reduce(TrapezoidPass(start), data)
    values = [start.basis.values(path) for path in data]
    theta = np.concatenate([(one[:-1] + one[1:]) / 2 for one in values])
    steps = np.concatenate([np.diff(path, axis=0) for path in data]) / start.units
    dt = np.concatenate([data.steps(r) for r in range(len(data))])
    np.testing.assert_allclose(found.drift_gram[0], (theta.T * dt) @ theta, rtol=ROUNDING)
    np.testing.assert_allclose(found.drift_cross, steps.T @ theta, rtol=0, atol=1e-9)
    # Of long steps of x' = -x it nearly knows the rate, where the start of a step does not.
    slow = Trajectories(np.exp(-0.9 * np.arange(6.0))[:, None], 0.9)
    basis, summary = library(["x"]).bind(slow.names), data_summary(slow, standardise=True)
    start, rates = Process.start(basis, summary, is_chain=False), []
    for step in (TrapezoidPass(start), NormalPass(start)):
        sums = reduce(step, slow)
        rate = -sums.drift_cross[0, 0] / sums.drift_gram[0, 0, 0] * start.units[0]
        rates.append(float(rate))
    assert rates == pytest.approx([2 * np.tanh(0.45) / 0.9, (1 - np.exp(-0.9)) / 0.9])
    assert abs(rates[0] - 1) < 0.07


def test_lagged_sums_are_those_of_the_increment_after_the_next() -> None:
    # A state and an increment that share no sample: x_n goes with x_{n+2} - x_{n+1}.
    model, data = random_model(2), uneven_data(2)
    found = reduce(LaggedPass(model), data, following=True)
    paths = [
        np.stack([path[:-2], path[:-2] + path[2:] - path[1:-1]], axis=1)
        for path in data
        if len(path) > 2
    ]
    pairs = np.concatenate(paths)
    dt = np.concatenate([data.steps(r)[:-1] for r in range(len(data)) if len(data[r]) > 2])
    moved = Trajectories(
        list(pairs), times=[np.array([0.0, step]) for step in dt], names=data.names
    )
    assert_same(found, dense_sums(model, moved))


# Derivatives and frames of a library


@pytest.mark.parametrize(
    "terms", ["poly3", ["1", "x*y", "sin(x)*y", "exp(y)", "x**2*y**3"], ["y**3", "x**2*y"]]
)
def test_second_derivatives_of_a_library_are_differences_of_its_gradients(
    terms: str | list[str],
) -> None:
    basis = library(terms).bind(("x", "y"))
    if basis.is_closed:
        basis = basis.in_frame(Frame(np.array([0.3, -0.2]), np.array([2.0, 0.5])))
    x = np.random.default_rng(2).normal(size=(8, 2))
    found, step = basis.hessians(x), 1e-5
    for q in range(2):
        shift = step * np.eye(2)[q]
        slope = (basis.gradients(x + shift) - basis.gradients(x - shift)) / (2 * step)
        # Central differences: step^2 times a fourth derivative, and rounding over the step.
        np.testing.assert_allclose(found[:, :, :, q], slope, rtol=1e-6, atol=1e-6)


def test_terms_in_a_frame_and_back_are_the_same_terms() -> None:
    physical = library("poly3").bind(("x", "y"))
    work = physical.in_frame(Frame(np.array([100.0, 0.04]), np.array([10.0, 0.02])))
    x = np.array([[95.0, 0.03], [120.0, 0.01], [100.0, 0.04]])
    found = work.values(x) @ work.from_physical.T
    np.testing.assert_allclose(found, physical.values(x), rtol=1e-12)
    np.testing.assert_allclose(work.from_physical @ work.to_physical, np.eye(len(work)), atol=1e-6)


def test_a_library_that_is_not_closed_stays_as_it_is() -> None:
    basis = library(["x", "x*y"]).bind(("x", "y"))
    np.testing.assert_array_equal(basis.from_physical, np.eye(2))


# Tensors by their entries


def definite(d: int, n: int = 200) -> FloatArray:
    root = np.random.default_rng(d).normal(size=(n, d, d)) + 1.5 * np.eye(d)
    return np.einsum("npk,nqk->npq", root, root)


def left_over(field: FloatArray) -> FloatArray:
    """Share of each coordinate's variance that those before it leave, ``(n, d)``."""
    pivots = np.einsum("npp->np", np.linalg.cholesky(field)) ** 2
    return pivots / np.einsum("npp->np", field)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_the_precision_is_the_inverse_where_nothing_is_held_back(d: int) -> None:
    floor = 1e-3
    field = definite(d)
    free = (left_over(field) > 2 * floor).all(axis=1)
    assert free.mean() > 0.9
    found, root = tensor.precision(tensor.entries_of(field[free]).T, floor)
    expected = tensor.entries_of(np.asarray(np.linalg.inv(field[free]), np.float64)).T
    size = np.abs(expected).max(axis=0)
    np.testing.assert_allclose(found / size, expected / size, rtol=0, atol=1e-10)
    # And the root of the determinant of that inverse, of which log-likelihoods are made.
    logarithm = -0.5 * np.linalg.slogdet(field[free])[1]
    np.testing.assert_allclose(np.log(root), logarithm, rtol=0, atol=1e-9)


@pytest.mark.parametrize("shared", [0.9999, 1.0, -1.0, 1.7, -40.0])
def test_noise_that_is_shared_entirely_is_not_believed(shared: float) -> None:
    floor, spread = 0.01, np.array([3.0, 0.02])
    entries = np.array([[spread[0] ** 2], [shared * spread[0] * spread[1]], [spread[1] ** 2]])
    held = np.sign(shared) * np.sqrt(1 - floor)
    expected = np.linalg.inv(np.array([[1.0, held], [held, 1.0]])) / np.outer(spread, spread)
    found = tensor.symmetric(tensor.precision(entries, floor)[0].T, 2)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def impossible(d: int) -> FloatArray:
    """Entries ``(E, n)`` of which most have correlations that no noise can have."""
    rng = np.random.default_rng(d)
    entries = rng.normal(scale=2.0, size=(len(tensor.pairs(d)), 500))
    for p in range(d):
        entries[tensor.pairs(d).index((p, p))] = rng.uniform(0.1, 2.0, 500)
    assert np.mean(tensor.has_root(entries)) < 0.5
    return entries


@pytest.mark.parametrize("d", [2, 3, 4])
def test_weights_of_impossible_tensors_leave_the_last_coordinate_its_share(d: int) -> None:
    floor, entries = 0.01, impossible(d)
    found, root = tensor.precision(entries, floor)
    assert (np.isfinite(root) & (root > 0)).all()
    assert np.isfinite(found).all()
    # What the others leave of the last coordinate is the inverse of its precision.
    share = 1 / (found[-1] * entries[-1])
    assert (share >= floor * (1 - 1e-9)).all()
    assert (share < 1.5 * floor).any()


@pytest.mark.parametrize("d", [2, 3, 4])
def test_weights_of_impossible_tensors_are_those_of_a_possible_one(d: int) -> None:
    # Correlations of which each coordinate keeps a share of at least ``floor`` have a determinant
    # of at least floor^(d-1), and no minor above 1: this bounds the diagonal of their inverse.
    floor, entries = 0.01, impossible(d)
    found, root = tensor.precision(entries, floor)
    assert (np.isfinite(root) & (root > 0)).all()
    for p in range(d):
        e = tensor.pairs(d).index((p, p))
        assert (found[e] * entries[e]).max() <= floor ** (1 - d) * (1 + 1e-6)
    field = tensor.symmetric(found.T, d)
    values = np.linalg.eigvalsh(field)
    assert (values[:, 0] > -1e-12 * values[:, -1]).all()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_multiplying_by_entries_is_multiplying_by_the_tensor(d: int) -> None:
    field, vectors = definite(d), np.random.default_rng(9).normal(size=(d, 200))
    found = tensor.times(tensor.entries_of(field).T, vectors)
    np.testing.assert_allclose(found, np.einsum("npq,qn->pn", field, vectors), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_having_a_root_is_having_no_negative_eigenvalue(d: int) -> None:
    field = definite(d) - np.random.default_rng(3).uniform(0, 3, 200)[:, None, None] * np.eye(d)
    smallest = np.linalg.eigvalsh(field)[:, 0]
    clear = np.abs(smallest) > 1e-9
    assert 20 < np.count_nonzero(smallest[clear] < 0) < 180
    found = tensor.has_root(tensor.entries_of(field).T)
    np.testing.assert_array_equal(found[clear], smallest[clear] > 0)


# What leaks into a coordinate without noise


def kinetic_model(stiffness: float, friction: float, strength: float) -> Process:
    model = model_of(
        [{"y": 1.0}, {"x": -stiffness, "y": -friction}],
        [{}, {}, {"1": strength}],
        terms="poly1",
    )
    return replace(model, noiseless_level=np.array([1e-9, 0.0]))


@KINDS
def test_noise_leaks_into_the_position_as_in_the_exact_transition(is_chain: bool) -> None:
    stiffness, friction, strength, dt = 4.0, 0.7, 1.3, 0.02
    rng = np.random.default_rng(4)
    data = Trajectories(list(rng.normal(size=(3, 30, 2))), dt)
    model = replace(kinetic_model(stiffness, friction, strength), is_chain=is_chain)
    model = asked(model, data.states, dt)
    leak = reduce(WithinStepNoisePass(model), data)
    x = np.concatenate([path[:-1] for path in data])
    assert leak.count == len(x)
    matrix = np.array([[0.0, 1.0], [-stiffness, -friction]])
    flow, _, covariance = linear_transition(matrix, np.zeros(2), np.diag([0.0, strength]), dt)
    exact = np.full(len(x), covariance[0, 0])
    assert covariance[0, 0] == pytest.approx(strength * dt**3 / 3, rel=friction * dt)
    if is_chain:  # which does not know that the velocity changes within a step
        exact += (x @ flow.T[:, 0] - x[:, 0] - x[:, 1] * dt) ** 2
    # In fourth order of |A| dt, which is 0.1.
    found = leak.level[0] * model.units[0] ** 2
    assert found == pytest.approx(np.sum(exact) / dt, rel=1e-3)


def test_leaks_of_two_halves_add_up() -> None:
    step, data = WithinStepNoisePass(kinetic_model(1.0, 1.0, 1.0)), uneven_data(2)
    halves = [reduce(step, data.subset(rows)) for rows in ([0], [1, 2])]
    both, whole = step.merge(*halves), reduce(step, data)
    assert both.count == whole.count
    np.testing.assert_allclose(both.level, whole.level, rtol=ROUNDING)


# Slopes by trajectory


@KINDS
@pytest.mark.parametrize("d", [1, 2, 3])
def test_slopes_of_a_trajectory_are_those_of_its_own_normal_equations(
    d: int, is_chain: bool
) -> None:
    model, data = random_model(d, is_chain=is_chain), uneven_data(d)
    scores = reduce(ScorePass(model, len(data)), data, chunk_size=4)
    index = {pair: e for e, pair in enumerate(tensor.pairs(d))}
    for r in range(len(data)):
        sums = reduce(NormalPass(model), data.subset([r]))
        for p in range(d):
            pulls = [
                sums.drift_gram[index[max(p, q), min(p, q)]] @ model.drift[q] for q in range(d)
            ]
            slope = sums.drift_cross[p] - np.sum(pulls, axis=0)
            np.testing.assert_allclose(scores.drift[r, p], slope, rtol=0, atol=1e-9)
        own = np.einsum("ekl,el->ek", sums.entry_gram, model.entries)
        np.testing.assert_allclose(scores.entries[r], sums.entry_cross - own, rtol=0, atol=1e-9)


def test_the_slope_is_the_derivative_of_the_log_likelihood() -> None:
    d = 2
    model, data = random_model(d), uneven_data(d)

    def log_likelihood(drift: FloatArray) -> float:
        total = 0.0
        for _, x, dx, dt in samples_of(data):
            theta = model.basis.values(x[None])[0]
            a = tensor.symmetric((model.entries @ theta)[None], d)[0] + np.diag(
                model.extra_variance
            )
            off = dx / model.units - drift @ theta * dt
            total -= float(off @ np.linalg.solve(a, off)) / dt / 2
        return total

    slopes = reduce(ScorePass(model, len(data)), data).drift.sum(axis=0)
    for p in range(d):
        for k in range(model.drift.shape[1]):
            shift = np.zeros_like(model.drift)
            shift[p, k] = 1e-3
            up, down = log_likelihood(model.drift + shift), log_likelihood(model.drift - shift)
            # A quadratic has no error of differences; rounding is 1e-16 of some thousands / 1e-3.
            assert slopes[p, k] == pytest.approx((up - down) / 2e-3, rel=1e-7, abs=1e-6)


def test_samples_at_which_the_tensor_is_clipped_are_counted() -> None:
    # a11 = x is negative on one side; a12 = 0.5 is too much for a22 = 1 where x < 1/4.
    model = model_of([{}, {}], [{"x": 1.0}, {"1": 0.5}, {"1": 1.0}], is_chain=True)
    data = uneven_data(2)
    x = np.array([sample[1] for sample in samples_of(data)])
    scores = reduce(ScorePass(model, len(data)), data)
    assert scores.count == len(x)
    assert 0 < np.count_nonzero(x[:, 0] < 0.25) < len(x)
    assert scores.clipped == np.count_nonzero(x[:, 0] < 0.25)


def test_scores_of_two_halves_add_up() -> None:
    step, data = ScorePass(random_model(2), 3), uneven_data(2)
    chunks = list(data.chunks(5))
    parts = []
    for half in (chunks[:2], chunks[2:]):
        total = step.empty()
        for chunk in half:
            total = step.add(total, chunk)
        parts.append(total)
    both, whole = step.merge(*parts), reduce(step, data)
    np.testing.assert_allclose(both.drift, whole.drift, rtol=0, atol=1e-9)
    np.testing.assert_allclose(both.entries, whole.entries, rtol=0, atol=1e-9)
    assert (both.count, both.clipped) == (whole.count, whole.clipped)


# How the tensor leans on the drift


def test_the_tensor_leans_on_the_drift_as_its_refit_does() -> None:
    """Refit the tensor after a small change of the drift, by the sums themselves."""
    rng = np.random.default_rng(3)
    dt = 0.002
    data = Trajectories(list(np.cumsum(rng.normal(0, 0.15, size=(4, 200, 2)), axis=1)), dt)
    entries: list[Formula] = [{"1": 1.0}, {"1": 0.3}, {"1": 0.8}]
    model = asked(model_of([{"x": -1.0}, {"y": -0.5}], entries, terms="poly1"), data.states, dt)
    lean = reduce(DriftTensorPass(model), data)

    def refitted(drift: FloatArray) -> FloatArray:
        """Tensor that makes the noise of steps what it is under the model."""
        steps = np.full(data.n_increments, dt)
        x = np.concatenate([path[:-1] for path in data])
        now, then = (
            replace(model, drift=b).dynamics.step(x, steps).covariance for b in (drift, model.drift)
        )
        change = tensor.entries_of(((then - now) / dt).transpose(2, 0, 1))
        theta = model.basis.values(x)
        return np.asarray(np.linalg.lstsq(theta, change)[0].T, dtype=np.float64)

    for p in range(2):
        for k in range(3):
            moved = model.drift.copy()
            moved[p, k] += 1e-3
            expected = refitted(moved) / 1e-3
            for e in range(3):
                found = -np.linalg.lstsq(lean.gram[e], lean.cross[e][:, p, k])[0]
                # In first order of |J| dt: a refit also has 4/3 of it, the next of exp(2 J dt).
                np.testing.assert_allclose(found, expected[e], rtol=1.4 * dt, atol=0.05 * dt**2)


def test_chunks_of_fewer_samples_than_are_skipped_add_up() -> None:
    """One in four of these has no sample that counts, as the last of a data set may not."""
    rng = np.random.default_rng(4)
    data = Trajectories(list(rng.normal(size=(3, 21, 2))), 0.05)
    step = DriftTensorPass(asked(random_model(2, is_chain=False), data.states, 0.05))
    whole, parts = reduce(step, data), reduce(step, data, chunk_size=3)
    np.testing.assert_allclose(parts.gram, whole.gram, rtol=1e-12)
    np.testing.assert_allclose(parts.cross, whole.cross, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("d", [1, 3])
def test_components_are_coupled_if_they_share_noise(d: int) -> None:
    alone = np.array([float(p == q) for p, q in tensor.pairs(d)])[:, None, None] * np.eye(2)
    blank = np.zeros((d, 2)), alone, np.zeros((len(alone), 2)), np.eye(2)
    assert not NormalEquations(alone, *blank).coupled
    if d > 1:
        shared = alone.copy()
        shared[tensor.entry_number(2, 1), 0, 1] = 1e-3
        assert NormalEquations(shared, *blank).coupled


@pytest.mark.parametrize(
    ("later", "smooth", "repeats"),
    [
        ((3.0, 2.0), 0.75 + 0.25 / 3, 1.75 / 0.25),
        ((-2.0, 0.0), -0.5 - 0.5 / 3, 1.0),  # they do not last
        ((4.0, 4.0), 1.0, 1.999 / 0.001),
    ],
)
def test_residuals_last_by_their_correlations(
    later: tuple[float, float], smooth: float, repeats: float
) -> None:
    products = np.array([[4.0], [later[0]], [later[1]]])
    found = WithinStepNoise(9, np.zeros(1), np.zeros(1), products, np.zeros(1))
    np.testing.assert_allclose(found.smooth_share, smooth)
    np.testing.assert_allclose(found.repeats, repeats)
    nothing = replace(found, products=0 * products)
    np.testing.assert_array_equal(nothing.smooth_share, 0.0)
    np.testing.assert_array_equal(nothing.repeats, 1.0)


@KINDS
def test_a_step_has_the_sensor_noise_of_both_its_ends(is_chain: bool) -> None:
    model, (chunk,) = random_model(2, is_chain=is_chain), uneven_data(2).chunks()
    sensor = np.array([0.3, -0.1, 0.2])
    plain, noisy = (evaluate(replace(model, observation_noise=k * sensor), chunk) for k in (0, 1))
    expected = plain.noise + 2 * sensor[:, None] / chunk.dt
    np.testing.assert_allclose(noisy.noise, expected, rtol=1e-13)
    np.testing.assert_array_equal(noisy.residual, plain.residual)
