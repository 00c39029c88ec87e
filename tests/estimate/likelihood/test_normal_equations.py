"""Sums of the working likelihood against dense computations and closed forms."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import fields, replace

import numpy as np
import pytest

from wgsindy.data.arrays import FloatArray
from wgsindy.data.frame import Frame
from wgsindy.data.trajectories import Trajectories
from wgsindy.estimate.likelihood import normal_equations as likelihood
from wgsindy.estimate.likelihood import working_model as workingmodel
from wgsindy.estimate.likelihood.normal_equations import LeakPass, NormalPass, ScorePass, Sums
from wgsindy.estimate.likelihood.working_model import (
    SecondOrder,
    WorkingModel,
    evaluate,
    second_order,
)
from wgsindy.model import tensor
from wgsindy.model.simulate import linear_transition
from wgsindy.passes.engine import Threads, reduce
from wgsindy.terms.library import library

# Sums of some tens of numbers of order one.
ROUNDING = 1e-11

Formula = dict[str, float]


def names_of(d: int) -> tuple[str, ...]:
    return ("x", "y", "z")[:d]


def model_of(
    drift: Sequence[Formula],
    entries: Sequence[Formula],
    *,
    mean_corrected: bool = False,
    terms: str = "poly2",
) -> WorkingModel:
    """A working model of physical formulas, in a frame and in units that are not one."""
    d = len(drift)
    physical = library(terms).bind(names_of(d))
    frame = Frame(np.linspace(0.2, 0.5, d), np.linspace(0.7, 1.6, d))
    units = np.linspace(0.5, 1.3, d)
    change = physical.in_frame(frame).from_physical

    def coefficients(rows: Sequence[Formula]) -> FloatArray:
        return np.array([[row.get(term, 0.0) for term in physical.terms] for row in rows]) @ change

    products = np.array([units[p] * units[q] for p, q in tensor.pairs(d)])
    return WorkingModel(
        basis=physical.in_frame(frame),
        units=units,
        drift=coefficients(drift) / units[:, None],
        entries=coefficients(entries) / products[:, None],
        variance_floor=np.zeros(d),
        extra_variance=np.linspace(0.01, 0.02, d),
        floor_forced=np.zeros(d, dtype=bool),
        noiseless_level=np.zeros(d),
        observation_noise=np.zeros(len(products)),
        spread=np.ones(d),
        mean_corrected=np.full(d, mean_corrected),
        covariance_corrected=mean_corrected,
    )


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


def random_model(d: int) -> WorkingModel:
    return model_of(DRIFT[:d], ENTRIES[d])


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
    """Trajectory, state, increment and step of each increment that is not exactly zero."""
    found = []
    for r, path in enumerate(data):
        for x, dx, dt in zip(path[:-1], np.diff(path, axis=0), data.steps(r), strict=True):
            if dx.any():
                found.append((r, x, dx, float(dt)))
    return found


def second_order_of_growth(
    growth: FloatArray, shared: FloatArray, x: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Coefficients of dt^2 in mean and covariance of a geometric Brownian motion.

    Exactly, E X_p = x_p exp(m_p dt) and Cov = x_p x_q exp((m_p + m_q) dt) (exp(c_pq dt) - 1).
    """
    mean = growth**2 * x / 2
    rates = growth[:, None] + growth
    return mean, np.outer(x, x) * (shared**2 / 2 + rates * shared)


def dense_sums(
    model: WorkingModel,
    data: Trajectories,
    growth: tuple[FloatArray, FloatArray] | None = None,
) -> Sums:
    """One sample at a time, with matrices inverted by NumPy."""
    d = len(model.drift)
    pairs, grid = tensor.pairs(d), likelihood.EXTRA_VARIANCES
    total = NormalPass(model).empty()
    for _, x, dx, dt in samples_of(data):
        theta = model.basis.values(x[None])[0]
        steps, drift, values = dx / model.units, model.drift @ theta, model.entries @ theta
        a = np.zeros((d, d))
        for e, (p, q) in enumerate(pairs):
            loud = not (model.noiseless_level[p] or model.noiseless_level[q])
            a[p, q] = a[q, p] = values[e] if loud else 0.0
        excess = np.zeros((d, d))
        if growth is not None:
            mean, wider = second_order_of_growth(*growth, x)
            steps = steps - mean / model.units * dt**2
            excess = wider / np.outer(model.units, model.units) * dt
        noise = a.copy()
        for p in range(d):
            noise[p, p] = max(a[p, p], model.variance_floor[p]) + model.extra_variance[p]
            if model.noiseless_level[p]:
                noise[p, p] = model.noiseless_level[p]
        weight = np.linalg.inv(noise)
        residual = steps - drift * dt
        total.count += 1
        total.residual += residual**2 / dt
        total.drift_cross += np.outer(weight @ steps, theta)
        own = np.maximum(np.diag(noise), workingmodel.TENSOR_WEIGHT_FLOOR)
        for e, (p, q) in enumerate(pairs):
            shared = own[p] if p == q else noise[p, q]
            variance = own[p] * own[q] + shared**2
            target = residual[p] * residual[q] / dt - excess[p, q]
            total.drift_gram[e] += np.outer(theta, theta) * weight[p, q] * dt
            total.entry_gram[e] += np.outer(theta, theta) / variance
            total.entry_cross[e] += theta * target / variance
        for p in range(d):
            total.impossible[p] += a[p, p] <= 0 and not model.noiseless_level[p]
            decided = (
                model.variance_floor[p] < likelihood.LOW_NOISE and not model.noiseless_level[p]
            )
            if decided and a[p, p] < likelihood.LOW_NOISE:
                raised = max(a[p, p], 0.0) + grid
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


@pytest.mark.parametrize("d", [1, 2, 3])
def test_sums_are_those_of_a_dense_computation(d: int) -> None:
    model, data = random_model(d), uneven_data(d)
    found = reduce(NormalPass(model), data)
    # 22 increments, of which 1 + 3 + 1 repeat, the last path being nothing else; one more repeats
    # in the first coordinate alone.
    assert found.count == (22 - 5 if d > 1 else 22 - 6)
    assert found.low_noise_likelihood.any(), "no sample has low noise, so slack is not tested"
    assert_same(found, dense_sums(model, data))


@pytest.mark.parametrize("silent", [0, 1])
def test_a_coordinate_without_noise_is_weighted_by_its_own_level(silent: int) -> None:
    noiseless_level = np.zeros(2)
    noiseless_level[silent] = 1e-3
    model = replace(random_model(2), noiseless_level=noiseless_level)
    assert_same(reduce(NormalPass(model), uneven_data(2)), dense_sums(model, uneven_data(2)))


def test_the_least_noise_holds_weights_back() -> None:
    model = replace(random_model(2), variance_floor=np.array([0.2, 0.9]))
    found = reduce(NormalPass(model), uneven_data(2))
    assert_same(found, dense_sums(model, uneven_data(2)))
    assert not found.low_noise_likelihood[1].any()


def test_sums_are_corrected_for_the_finite_step() -> None:
    growth, shared = np.array([0.8, -0.5]), np.array([[0.3, 0.1], [0.1, 0.4]])
    entries: list[Formula] = [{"x**2": 0.3}, {"x*y": 0.1}, {"y**2": 0.4}]
    model = model_of([{"x": 0.8}, {"y": -0.5}], entries, mean_corrected=True)
    data = uneven_data(2)
    found = reduce(NormalPass(model), data)
    assert_same(found, dense_sums(model, data, (growth, shared)))
    plain = reduce(NormalPass(replace(model, mean_corrected=np.full(2, False))), data)
    assert np.abs(plain.entry_cross - found.entry_cross).max() > 0.1


def test_a_lifted_coordinate_alone_has_its_mean_corrected() -> None:
    entries: list[Formula] = [{"x**2": 0.3}, {"x*y": 0.1}, {"y**2": 0.4}]
    both = model_of([{"x": 0.8}, {"y": -0.5}], entries, mean_corrected=True)
    none = replace(both, mean_corrected=np.array([False, False]))
    first = replace(both, mean_corrected=np.array([True, False]), covariance_corrected=False)
    chunk = next(uneven_data(2).chunks())
    steps = [evaluate(model, chunk).steps for model in (both, none, first)]
    np.testing.assert_array_equal(steps[2][0], steps[0][0])
    np.testing.assert_array_equal(steps[2][1], steps[1][1])
    assert evaluate(first, chunk).excess == 0.0


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("mean_corrected", [False, True])
def test_sums_do_not_depend_on_the_chunk_size(size: int, mean_corrected: bool) -> None:
    # At a chunk size of 1, chunks of repeated samples hold nothing at all.
    model, data = (
        replace(random_model(2), mean_corrected=np.full(2, mean_corrected)),
        uneven_data(2),
    )
    expected = reduce(NormalPass(model), data, chunk_size=5)
    assert_same(reduce(NormalPass(model), data, chunk_size=size), expected)
    leaks = [reduce(LeakPass(model), data, chunk_size=n) for n in (size, 5)]
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
        random_model(3), observation_noise=np.arange(1.0, 7.0), spread=np.arange(1.0, 4.0)
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
    np.testing.assert_allclose(other.spread * units, model.spread * model.units)


def test_the_start_weighs_every_sample_alike() -> None:
    basis = library(["x", "y"]).bind(("x", "y"))  # no constant that could stand for equal noise
    model = WorkingModel.start(basis, np.array([1.0, 3.0]), np.ones(2), finite_step=False)
    data = uneven_data(2)
    sums = reduce(NormalPass(model), data)
    kept = samples_of(data)
    x, dt = np.array([s[1] for s in kept]), np.array([s[3] for s in kept])
    expected = np.einsum("nk,nl,n->kl", x, x, dt)
    np.testing.assert_allclose(sums.drift_gram[0], expected, rtol=ROUNDING)
    np.testing.assert_allclose(sums.drift_gram[1], 0.0)
    np.testing.assert_allclose(sums.drift_gram[2], expected, rtol=ROUNDING)


# Moments of the second order


def at_points(model: WorkingModel, n: int = 20) -> tuple[FloatArray, SecondOrder]:
    d = len(model.units)
    x = np.random.default_rng(1).normal(0.5, 1.0, size=(n, d))
    theta = model.basis.values(x).T
    return x, second_order(model, x, model.drift @ theta, model.entries @ theta)


def in_physical_units(model: WorkingModel, second: SecondOrder) -> tuple[FloatArray, FloatArray]:
    d = len(model.units)
    covariance = tensor.symmetric(second.covariance.T, d) * np.outer(model.units, model.units)
    return second.mean.T * model.units, covariance


@pytest.mark.parametrize("d", [1, 2, 3])
def test_second_order_of_a_linear_process_is_its_expansion(d: int) -> None:
    matrix = np.array([[-1.0, 0.8, 0.0], [-0.5, -2.0, 0.3], [0.2, 0.0, -0.7]])[:d, :d]
    offset = np.array([0.4, -0.3, 0.6])[:d]
    root = np.array([[0.9, 0.0, 0.0], [-0.4, 0.7, 0.0], [0.3, 0.2, 0.5]])[:d, :d]
    a = root @ root.T
    names = names_of(d)
    drift: list[Formula] = [
        {"1": float(offset[p]), **{names[q]: float(matrix[p, q]) for q in range(d)}}
        for p in range(d)
    ]
    entries: list[Formula] = [{"1": float(a[p, q])} for p, q in tensor.pairs(d)]
    model = model_of(drift, entries)
    x, second = at_points(model)
    mean, covariance = in_physical_units(model, second)
    # E X - x = (A x + c) dt + A (A x + c) dt^2 / 2 + ..., Cov = a dt + (A a + a A') dt^2 / 2 + ...
    np.testing.assert_allclose(mean, (x @ matrix.T + offset) @ matrix.T / 2, atol=1e-12)
    expected = (matrix @ a + a @ matrix.T) / 2
    np.testing.assert_allclose(covariance, np.broadcast_to(expected, covariance.shape), atol=1e-12)
    # Exact transitions, not expanded by hand, differ by the next order.
    dt = 1e-3
    flow, shift, exact = linear_transition(matrix, offset, a, dt)
    left = (x @ flow.T + shift - x - (x @ matrix.T + offset) * dt) / dt**2
    np.testing.assert_allclose(mean, left, atol=20 * dt)
    np.testing.assert_allclose(covariance[0], (exact - a * dt) / dt**2, atol=20 * dt)
    np.testing.assert_allclose(
        np.einsum("pqn,p,q->npq", second.jacobian, model.units, 1 / model.units),
        np.broadcast_to(matrix, (len(x), d, d)),
        atol=1e-12,
    )


@pytest.mark.parametrize("d", [1, 2, 3])
def test_second_order_of_a_geometric_brownian_motion_is_its_expansion(d: int) -> None:
    names = names_of(d)
    growth = np.array([0.8, -0.5, 0.3])[:d]
    shared = np.array([[0.3, 0.1, -0.2], [0.1, 0.4, 0.05], [-0.2, 0.05, 0.6]])[:d, :d]
    products = {
        (p, q): f"{names[p]}**2" if p == q else f"{names[q]}*{names[p]}" for p, q in tensor.pairs(d)
    }
    model = model_of(
        [{name: float(rate)} for name, rate in zip(names, growth, strict=True)],
        [{term: float(shared[pair])} for pair, term in products.items()],
    )
    x, second = at_points(model)
    mean, covariance = in_physical_units(model, second)
    for n, point in enumerate(x):
        expected = second_order_of_growth(growth, shared, point)
        np.testing.assert_allclose(mean[n], expected[0], atol=1e-12)
        np.testing.assert_allclose(covariance[n], expected[1], atol=1e-12)


def test_second_order_of_a_curved_drift_has_the_term_of_ito() -> None:
    # b = x^3, a = 2: L b = 3 x^2 x^3 + 6 x, and J a + a J' = 12 x^2.
    model = model_of([{"x**3": 1.0}], [{"1": 2.0}], terms="poly3")
    x, second = at_points(model)
    mean, covariance = in_physical_units(model, second)
    s = x[:, 0]
    np.testing.assert_allclose(mean[:, 0], (3 * s**5 + 6 * s) / 2, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(covariance[:, 0, 0], 6 * s**2, rtol=1e-9, atol=1e-9)


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
    found = tensor.precision(tensor.entries_of(field[free]).T, floor)
    expected = tensor.entries_of(np.asarray(np.linalg.inv(field[free]), np.float64)).T
    size = np.abs(expected).max(axis=0)
    np.testing.assert_allclose(found / size, expected / size, rtol=0, atol=1e-10)


@pytest.mark.parametrize("shared", [0.9999, 1.0, -1.0, 1.7, -40.0])
def test_noise_that_is_shared_entirely_is_not_believed(shared: float) -> None:
    floor, spread = 0.01, np.array([3.0, 0.02])
    entries = np.array([[spread[0] ** 2], [shared * spread[0] * spread[1]], [spread[1] ** 2]])
    held = np.sign(shared) * np.sqrt(1 - floor)
    expected = np.linalg.inv(np.array([[1.0, held], [held, 1.0]])) / np.outer(spread, spread)
    found = tensor.symmetric(tensor.precision(entries, floor).T, 2)[0]
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
    found = tensor.precision(entries, floor)
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
    found = tensor.precision(entries, floor)
    for p in range(d):
        e = tensor.pairs(d).index((p, p))
        assert (found[e] * entries[e]).max() <= floor ** (1 - d) * (1 + 1e-6)
    field = tensor.symmetric(found.T, d)
    values = np.linalg.eigvalsh(field)
    assert (values[:, 0] > -1e-12 * values[:, -1]).all()


@pytest.mark.parametrize("d", [1, 2, 3])
def test_multiplying_by_entries_is_multiplying_by_the_tensor(d: int) -> None:
    field, vectors = definite(d), np.random.default_rng(9).normal(size=(d, 200))
    found = tensor.multiply(tensor.entries_of(field).T, vectors)
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


def kinetic_model(stiffness: float, friction: float, strength: float) -> WorkingModel:
    model = model_of(
        [{"y": 1.0}, {"x": -stiffness, "y": -friction}],
        [{}, {}, {"1": strength}],
        terms="poly1",
    )
    return replace(model, noiseless_level=np.array([1e-9, 0.0]))


def test_noise_leaks_into_the_position_as_in_the_closed_form() -> None:
    stiffness, friction, strength, dt = 4.0, 0.7, 1.3, 0.02
    model = kinetic_model(stiffness, friction, strength)
    rng = np.random.default_rng(4)
    data = Trajectories(list(rng.normal(size=(3, 30, 2))), dt)
    leak = reduce(LeakPass(model), data)
    x = np.concatenate([path[:-1] for path in data])
    pull = -stiffness * x[:, 0] - friction * x[:, 1]
    expected = strength * dt**2 / 3 + pull**2 * dt**3 / 4
    assert leak.count == len(x)
    np.testing.assert_allclose(leak.level[0] * model.units[0] ** 2, expected.sum(), rtol=1e-10)
    # The exact transition says the same up to the next order in dt.
    matrix = np.array([[0.0, 1.0], [-stiffness, -friction]])
    flow, _, covariance = linear_transition(matrix, np.zeros(2), np.diag([0.0, strength]), dt)
    missed = x @ flow.T[:, 0] - x[:, 0] - x[:, 1] * dt
    exact = np.sum(missed**2 + covariance[0, 0]) / dt
    assert leak.level[0] * model.units[0] ** 2 == pytest.approx(exact, rel=2 * friction * dt)


def test_leaks_of_two_halves_add_up() -> None:
    step, data = LeakPass(kinetic_model(1.0, 1.0, 1.0)), uneven_data(2)
    halves = [reduce(step, data.subset(rows)) for rows in ([0], [1, 2])]
    both, whole = step.merge(*halves), reduce(step, data)
    assert both.count == whole.count
    np.testing.assert_allclose(both.level, whole.level, rtol=ROUNDING)


# Slopes by trajectory


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("mean_corrected", [False, True])
def test_slopes_of_a_trajectory_are_those_of_its_own_normal_equations(
    d: int, mean_corrected: bool
) -> None:
    flags = np.full(d, mean_corrected)
    model, data = (
        replace(random_model(d), mean_corrected=flags, covariance_corrected=mean_corrected),
        uneven_data(d),
    )
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
    model = model_of([{}, {}], [{"x": 1.0}, {"1": 0.5}, {"1": 1.0}])
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
