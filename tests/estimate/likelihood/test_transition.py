"""The transition over a step against exact transitions, the backward equation and simulation."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy
from scipy.linalg import expm
from working_models import (
    FAR,
    Formula,
    Moments,
    asked,
    linear_model,
    model_of,
    physical_moments,
)

from wgsindy.data import FloatArray
from wgsindy.estimate.likelihood import transition
from wgsindy.estimate.likelihood.process import Process
from wgsindy.estimate.likelihood.transition import congruence, inverse_and_determinant, multiply
from wgsindy.model import EulerMaruyama, Generator, simulate, tensor
from wgsindy.model.simulation import linear_transition

X, Y = sympy.symbols("x y", real=True)

MATRIX = np.array([[-1.0, 0.8, 0.0], [-0.5, -2.0, 0.3], [0.2, 0.0, -0.7]])
OFFSET = np.array([0.4, -0.3, 0.6])
ROOT = np.array([[0.9, 0.0, 0.0], [-0.4, 0.7, 0.0], [0.3, 0.2, 0.5]])


def stepped(
    model: Process, x: FloatArray, dt: FloatArray | float, start: FloatArray | None = None
) -> Moments:
    """Step from ``x (n, d)``, and from the physical covariance ``start (d, d)``."""
    steps = np.broadcast_to(np.asarray(dt, dtype=np.float64), len(x))
    covariance = None
    if start is not None:
        scaled = start / np.outer(model.units, model.units)
        covariance = np.repeat(scaled[:, :, None], len(x), axis=2)
    model = asked(model, x, float(steps.max()))
    return physical_moments(model.dynamics.step(x, steps, covariance), model.units)


def points(d: int, n: int = 7) -> FloatArray:
    return np.random.default_rng(d).normal(0.3, 1.0, size=(n, d))


# Linear processes, whose transitions are known


def exact(d: int, dt: float) -> Moments:
    """Of the linear process, at points(d)."""
    matrix, offset, field = MATRIX[:d, :d], OFFSET[:d], (ROOT @ ROOT.T)[:d, :d]
    flow, shift, covariance = linear_transition(matrix, offset, field, dt)
    x = points(d)
    block = np.zeros((2 * d, 2 * d))
    block[:d, :d], block[:d, d:] = matrix * dt, np.eye(d)
    response = expm(block)[:d, d:]  # integral of exp(A s) over a step of length one
    same = (len(x), d, d)
    return Moments(
        x @ flow.T + shift - x,
        np.broadcast_to(covariance, same),
        np.broadcast_to(flow, same),
        np.broadcast_to(response, same),
    )


def linear(d: int) -> Process:
    return linear_model(MATRIX[:d, :d], OFFSET[:d], (ROOT @ ROOT.T)[:d, :d])


def relative_errors(found: Moments, expected: Moments) -> FloatArray:
    return np.array(
        [np.abs(a - b).max() / np.abs(b).max() for a, b in zip(found, expected, strict=True)]
    )


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("length", [0.02, 0.09, 0.3, 0.9, 2.5, 6.0])
def test_a_linear_process_takes_its_exact_step(d: int, length: float) -> None:
    # ``length`` is |A| dt in the units in which the step is taken. The covariance grows with twice
    # the rates of the mean. A step of second order is off by (2 |A| h)^2 / 6, one of fourth order
    # by (2 |A| h)^4 / 120, of a h, which is up to exp(2 |A| h) times the covariance; and there may
    # be several of these one after the other.
    model = linear(d)
    rate = float(np.linalg.norm(MATRIX[:d, :d] * np.outer(1 / model.units, model.units)))
    dt = length / rate
    errors = relative_errors(stepped(model, points(d), dt), exact(d, dt))
    substeps = max(1.0, np.ceil(length / transition.LONGEST_SUBSTEP))
    each = 2 * length / substeps
    bound = each**2 / 6 if length <= transition.SHORT_STEP else substeps * each**4 / 120
    assert errors.max() <= bound * np.exp(each)
    # Negative control: an Euler step is off by |A| dt / 2.
    euler = relative_errors(stepped(replace(model, is_chain=True), points(d), dt), exact(d, dt))
    assert euler[:2].min() > length / 20
    assert errors.max() < euler[:2].min()


def test_noise_that_comes_through_another_coordinate_is_as_exact_as_data_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A position, moved by a velocity that alone has noise, of a million samples at a coarse step.
    matrix, field, dt = np.array([[0.0, 1.0], [-2.0, -0.5]]), np.diag([0.0, 0.5]), 0.2
    _, _, covariance = linear_transition(matrix, np.zeros(2), field, dt)
    model = linear_model(matrix, np.zeros(2), field)

    def off(count: int) -> float:
        counted = replace(model, data_range=replace(model.data_range, count=count))
        found = stepped(counted, points(2), dt).covariance[0, 0, 0]
        return float(abs(found / covariance[0, 0] - 1))

    told = transition.WORST * np.sqrt(2 / 1e6)
    assert off(1_000_000) < told
    # Negative controls: one step is not enough, and one of fourth order is off by much more.
    assert off(1) > told
    simpson = off(1)
    monkeypatch.setattr(transition, "set_covariance", lambda *_: None)
    assert off(1) > 10 * simpson


@pytest.mark.parametrize("length", [0.05, 0.8])
def test_uncertainty_of_the_start_is_carried_to_the_end(length: float) -> None:
    start = np.array([[0.5, -0.2], [-0.2, 0.3]])
    dt = length / float(np.linalg.norm(MATRIX[:2, :2]))
    found, expected = stepped(linear(2), points(2), dt, start), exact(2, dt)
    flow = expected.flow[0]
    whole = expected.covariance[0] + flow @ start @ flow.T
    np.testing.assert_allclose(found.covariance[0], whole, rtol=length**2 / 3)
    np.testing.assert_allclose(found.mean, expected.mean, atol=length**3 / 3)


def test_steps_of_one_call_may_be_uneven() -> None:
    dt = np.array([0.01, 0.3, 0.1, 0.02, 0.25, 0.07, 0.004])
    together = stepped(linear(2), points(2), dt)
    for row, step in enumerate(dt):
        # Each at least as well as the longest of them, whose |A| dt is 0.75.
        for one, other in zip(together, exact(2, float(step)), strict=True):
            np.testing.assert_allclose(one[row], other[row], rtol=1.5**4 / 120, atol=1e-6)


# Multiplicative noise: a geometric Brownian motion, whose first two moments are closed


@pytest.mark.parametrize("dt", [0.05, 0.3, 1.0])
def test_growth_has_its_exact_moments(dt: float) -> None:
    growth, shared = np.array([0.8, -0.5]), np.array([[0.3, 0.1], [0.1, 0.4]])
    entries: list[Formula] = [{"x**2": 0.3}, {"x*y": 0.1}, {"y**2": 0.4}]
    model = model_of([{"x": 0.8}, {"y": -0.5}], entries)
    x = points(2)
    found = stepped(model, x, dt)
    rates = growth[:, None] + growth
    expected = np.einsum("np,nq->npq", x, x) * np.exp(rates * dt) * np.expm1(shared * dt)
    # Squares grow at 1.9, twice the growth and the variance. The step of second order at dt = 0.05
    # is off by (rate dt)^2 / 6 of itself, that of fourth order by (rate dt)^4 / 120.
    short = dt == 0.05
    off = (1.9 * dt) ** 2 / 6 if short else (1.9 * dt) ** 4 / 120
    np.testing.assert_allclose(found.covariance, expected, rtol=3 * off)
    off = (0.8 * dt) ** 2 / 6 if short else (0.8 * dt) ** 4 / 120
    np.testing.assert_allclose(found.mean, x * np.expm1(growth * dt), rtol=3 * off)


# Curved processes in one dimension, by the backward equation


CURVED: dict[str, tuple[list[Formula], list[Formula]]] = {
    "double well": ([{"x": 1.0, "x**3": -1.0}], [{"1": 0.5}]),
    "multiplicative": ([{"x": 1.0, "x**3": -1.0}], [{"1": 0.3, "x**2": 0.3}]),
}
PLACES = np.linspace(-1.5, 1.5, 13).round(1)


@cache
def backward(name: str, dt: float) -> tuple[FloatArray, FloatArray]:
    """Mean displacement and variance at PLACES, from u' = b u_x + a u_xx / 2 on a fine grid.

    The grid reaches three standard deviations of the longest step beyond the places; differences
    of second order on it are off by h^2 / 6 of third derivatives.
    """
    h = 0.02
    x = np.arange(-160, 161) * h
    (drift,), (field,) = CURVED[name]
    powers = np.stack([np.ones_like(x), x, x**2, x**3])
    b, a = (
        np.array([f.get(term, 0.0) for term in ("1", "x", "x**2", "x**3")]) @ powers
        for f in (drift, field)
    )
    up, down = a / (2 * h**2) + b / (2 * h), a / (2 * h**2) - b / (2 * h)
    operator = np.diag(-up - down) + np.diag(up[:-1], 1) + np.diag(down[1:], -1)
    operator[[0, -1]] = 0.0  # nothing comes back from so far out, and next to nothing gets there
    step = expm(operator * dt)
    where = 160 + np.rint(PLACES / h).astype(int)
    mean, second = (step @ x)[where], (step @ x**2)[where]
    return mean - x[where], second - mean**2


@pytest.mark.parametrize("name", CURVED)
@pytest.mark.parametrize("dt", [0.05, 0.1, 0.2, 0.4])
def test_a_curved_process_has_the_moments_of_the_backward_equation(name: str, dt: float) -> None:
    # Third moments are followed and fourth ones are not: what is left at |J| dt = 2.3, the fastest
    # place of the longest step, is 2 % of the variance and less of the mean.
    model, x = model_of(*CURVED[name], terms="poly3"), PLACES[:, None]
    mean, variance = backward(name, dt)
    found, euler = stepped(model, x, dt), stepped(replace(model, is_chain=True), x, dt)
    off = np.abs(found.mean[:, 0] - mean) / np.sqrt(variance)
    assert off.max() < 0.005
    assert np.abs(np.log(found.covariance[:, 0, 0] / variance)).max() < 0.02
    # Negative control: an Euler step.
    assert np.abs((euler.mean[:, 0] - mean) / np.sqrt(variance)).max() > dt / 2
    assert np.abs(np.log(euler.covariance[:, 0, 0] / variance)).max() > 0.2


@pytest.mark.parametrize("name", CURVED)
def test_third_moments_count_in_long_steps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, x = model_of(*CURVED[name], terms="poly3"), PLACES[:, None]
    _, variance = backward(name, 0.4)
    with_third = stepped(model, x, 0.4).covariance[:, 0, 0]
    monkeypatch.setattr(transition.Dynamics, "_is_curved", False)
    without = stepped(model, x, 0.4).covariance[:, 0, 0]
    errors = [np.abs(np.log(found / variance)).max() for found in (with_third, without)]
    assert errors[0] < errors[1] / 3


# A curved process in two dimensions, by simulation


WELLS: list[Formula] = [{"x": 1.0, "x**3": -1.0, "y": 0.5}, {"y": -1.0, "x*y": -0.6}]
WELLS_TENSOR: list[Formula] = [{"1": 0.3, "y**2": 0.2}, {"1": 0.1}, {"1": 0.2, "x**2": 0.1}]


@pytest.mark.slow
@pytest.mark.statistical
def test_a_curved_process_has_the_moments_of_simulated_paths() -> None:
    dt, paths, substeps = 0.3, 20_000, 50
    x = np.array([[0.1, 0.4], [1.2, -0.5], [-0.6, 0.9], [0.8, 0.0]])
    truth = Generator.from_sympy(
        ("x", "y"),
        [X - X**3 + Y / 2, -Y - 0.6 * X * Y],
        [[0.3 + 0.2 * Y**2, 0.1], [0.1, 0.2 + 0.1 * X**2]],
    )
    starts = np.repeat(x, paths, axis=0)
    data = simulate(
        truth, starts, dt=dt, steps=1, trajectories=len(starts), random_state=0,
        scheme=EulerMaruyama(substeps=substeps),
    )  # fmt: skip
    moved = (data.states[1::2] - starts).reshape(len(x), paths, 2)
    model = model_of(WELLS, WELLS_TENSOR, terms="poly3")
    found = stepped(model, x, dt)
    euler = stepped(replace(model, is_chain=True), x, dt)
    deviation = moved.std(axis=1)
    # Mean and variances of 20,000 paths: 4.5 standard errors, 20 numbers, one alarm in 7,000. The
    # simulation itself is off by |J| h / 2 = 1 % of what a step does to the mean and of variances.
    off = np.abs(found.mean - moved.mean(axis=1)) / deviation
    assert off.max() < 4.5 / np.sqrt(paths) + 0.01
    correlated = np.einsum("np,nq->npq", deviation, deviation)
    sample = np.array([np.cov(row.T) for row in moved])
    wrong = np.abs(found.covariance - sample) / correlated
    assert wrong.max() < 4.5 * np.sqrt(2 / paths) + 0.01
    # Negative control: an Euler step.
    assert np.abs((euler.mean - moved.mean(axis=1)) / deviation).max() > 0.2
    assert (np.abs(euler.covariance - sample) / correlated).max() > 0.2


# The library averaged along the path


LIBRARIES: dict[str, list[str] | str] = {
    "polynomial": "poly3",
    "others": ["1", "x", "y", "x**2", "x*y", "y**2", "x**3", "sin(x)", "exp(0.5*y)"],
}


def field_errors(
    terms: list[str] | str, entries: list[Formula], dt: float
) -> tuple[float, float, float]:
    """Errors of derivatives of mean and covariance, and of the mean if the library were constant.

    By coefficients of drift and tensor, against central differences; over their largest value.
    """
    x, steps = np.array([[0.3, 0.5], [-0.8, 0.2], [1.1, -0.6]]), np.full(3, dt)
    model = asked(model_of(WELLS, entries, terms=terms, low=-3.0, high=3.0), x, dt)
    path = model.dynamics.step(x, steps)
    start, middle = congruence(path.flow), congruence(path.middle)
    spreading = (start + 4 * middle + np.eye(3)[:, :, None]) / 6
    at_start = model.basis.values(x).T

    def difference(field: str, row: int, k: int) -> tuple[FloatArray, FloatArray]:
        ends = []
        for shift in (1e-4, -1e-4):
            moved = getattr(model, field).copy()
            moved[row, k] += shift
            changed: Process = replace(model, **{field: moved})
            ends.append(changed.dynamics.step(x, steps))
        return (ends[0].mean - ends[1].mean) / 2e-4, (
            (ends[0].covariance - ends[1].covariance) / 2e-4
        )

    worst = np.zeros(3)
    for k in range(len(model.basis)):
        for p in range(2):
            expected = difference("drift", p, k)[0]
            for place, theta in ((0, path.theta[k]), (2, at_start[k])):
                off = path.response[:, p] * theta * dt - expected
                worst[place] = max(worst[place], np.abs(off).max() / np.abs(expected).max())
        for e in range(3):
            expected = tensor.entries_of(difference("entries", e, k)[1].transpose(2, 0, 1)).T
            off = spreading[:, e] * path.theta[k] * dt - expected
            worst[1] = max(worst[1], np.abs(off).max() / np.abs(expected).max())
    return float(worst[0]), float(worst[1]), float(worst[2])


@pytest.mark.parametrize("terms", LIBRARIES)
def test_a_row_of_the_design_is_the_derivative_of_the_end_of_the_path(terms: str) -> None:
    # In second order of |J| dt: half the step, a quarter of the error; the rates are up to 3.
    constant: list[Formula] = [{"1": 0.3}, {"1": 0.1}, {"1": 0.2}]
    coarse, fine = (np.array(field_errors(LIBRARIES[terms], constant, dt)) for dt in (0.02, 0.01))
    assert coarse[:2].max() < (3 * 0.02) ** 2
    assert (fine[:2] < coarse[:2] / 3).all()
    # Negative control: the library where the path begins is right in first order only.
    assert coarse[2] > 5 * coarse[0]
    assert coarse[2] / 1.5 > fine[2] > coarse[2] / 3


def test_a_tensor_that_curves_makes_its_rows_right_in_first_order() -> None:
    # Where a = c x^2, a wider spread has more noise, by c Q: that the spread itself depends on c is
    # left out of the row. It is a'' dt / 4 of the derivative: 0.4 dt / 4 and 0.2 dt / 4 here, more
    # where the other coordinate spreads more. The mean has nothing of it.
    coarse, fine = (np.array(field_errors("poly3", WELLS_TENSOR, dt)) for dt in (0.02, 0.01))
    assert coarse[0] < (3 * 0.02) ** 2
    assert fine[0] < coarse[0] / 3
    assert coarse[1] < 0.02
    assert coarse[1] / 1.5 > fine[1] > coarse[1] / 3


# The shortest path


@pytest.mark.parametrize("terms", LIBRARIES)
def test_a_chain_takes_euler_steps(terms: str) -> None:
    model = model_of(WELLS, WELLS_TENSOR, terms=LIBRARIES[terms], is_chain=True)
    x, dt = points(2), np.linspace(0.01, 0.5, 7)
    path = model.dynamics.step(x, dt)
    theta = model.basis.values(x).T
    np.testing.assert_allclose(path.theta, theta, rtol=1e-14)
    np.testing.assert_allclose(path.mean, model.drift @ theta * dt, rtol=1e-13)
    found = tensor.entries_of(path.covariance.transpose(2, 0, 1)).T
    np.testing.assert_allclose(found, model.entries @ theta * dt, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(
        path.response, np.repeat(np.eye(2)[:, :, None], 7, axis=2), rtol=0, atol=0
    )
    shift, turn = 1e-6, np.outer(model.units, 1 / model.units)
    for q in range(2):
        ends = [
            (x + s * np.eye(2)[q] + stepped(model, x + s * np.eye(2)[q], dt).mean)
            for s in (shift, -shift)
        ]
        slope = (ends[0] - ends[1]) / (2 * shift)
        flow = path.flow[:, q].T * turn[:, q]
        np.testing.assert_allclose(flow, slope, rtol=1e-6, atol=1e-8)


def test_a_short_step_is_nearly_an_euler_step() -> None:
    model, x = model_of(WELLS, WELLS_TENSOR, terms="poly3"), points(2)
    chain = replace(model, is_chain=True)
    for dt in (1e-3, 1e-4, 1e-5):
        one, other = (asked(m, x, dt).dynamics.step(x, np.full(7, dt)) for m in (model, chain))
        for name in ("theta", "mean", "covariance", "flow", "response"):
            a, b = getattr(one, name), getattr(other, name)
            assert np.abs(a - b).max() < 30 * dt * np.abs(b).max()


# Where a term ends


ROOTS = ["1", "x", "y", "sqrt(x)", "sqrt(x*y)", "x*y"]


def roots(is_chain: bool = False) -> Process:
    """A square-root process whose data touch zero."""
    return model_of(
        [{"1": 0.5, "sqrt(x)": -0.8}, {"1": 0.2, "y": -1.0}],
        [{"x": 0.4}, {"sqrt(x*y)": 0.1}, {"y": 0.3}],
        terms=ROOTS,
        is_chain=is_chain,
        low=0.0,
        high=4.0,
    )


@pytest.mark.parametrize("dt", [1e-4, 0.01, 0.2, 1.0])
def test_roots_stay_finite_at_the_edge_of_the_data(dt: float) -> None:
    x = np.array([[0.0, 0.0], [0.0, 1.0], [1e-12, 1e-9], [4.0, 4.0], [1e-3, 0.0], [2.0, 1.0]])
    model = asked(roots(), x, dt)
    with np.errstate(all="ignore"):  # negative control: slopes where a root begins
        assert not np.isfinite(model.basis.gradients(x)).all()
    spread = np.repeat(0.01 * np.eye(2)[:, :, None], len(x), axis=2)
    with np.errstate(all="raise"):
        paths = [model.dynamics.step(x, np.full(len(x), dt), start) for start in (None, spread)]
        # A filter may believe a state to be below zero, a little beyond what was measured.
        paths.append(model.dynamics.step(x - 0.05, np.full(len(x), dt), spread))
    for path in paths:
        for name in ("theta", "mean", "covariance", "flow", "response"):
            assert np.isfinite(getattr(path, name)).all(), name
    # A short step from the edge still is what drift and tensor say there.
    if dt == 1e-4:
        euler = roots(is_chain=True).dynamics.step(x, np.full(len(x), dt))
        np.testing.assert_allclose(paths[0].mean, euler.mean, rtol=0.02, atol=1e-6)


@pytest.mark.parametrize("dt", [0.01, 0.2])
def test_units_of_the_noise_do_not_matter_where_a_root_ends(dt: float) -> None:
    x = np.array([[0.0, 0.0], [0.0, 1.0], [1e-3, 0.0], [2.0, 1.0]])
    one = asked(roots(), x, dt)
    other = one.in_units(one.units * [3.0, 0.2])
    first, second = (
        physical_moments(model.dynamics.step(x, np.full(len(x), dt)), model.units)
        for model in (one, other)
    )
    for name, found, expected in zip(Moments._fields, second, first, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_formulas_are_followed_a_little_beyond_the_data() -> None:
    near, far = (
        model_of(WELLS, WELLS_TENSOR, terms="poly3", low=-size, high=size) for size in (0.5, FAR)
    )
    beyond = np.array([[0.6, -0.7], [-0.7, 0.1], [0.2, 0.65]])
    for one, other in zip(*(stepped(m, beyond, 1e-3) for m in (near, far)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    # Where that ends, in a quarter of their range, drift and tensor are what they are there.
    edge = np.array([[0.75, -0.75], [-0.75, 0.1]])
    outside = np.array([[9.0, -1.2], [-300.0, 0.1]])
    for dt in (1e-3, 0.3):
        held, known = (near.dynamics.step(x, np.full(2, dt)) for x in (outside, edge))
        assert np.isfinite(held.mean).all()
        if dt == 1e-3:
            np.testing.assert_allclose(held.mean, known.mean, rtol=0.02)
            np.testing.assert_allclose(held.theta, known.theta, rtol=0.02, atol=1e-3)
    # Negative control: the formula itself, far off.
    free = replace(far, is_chain=True).dynamics.step(outside, np.full(2, 1e-3))
    assert (
        np.abs(free.mean).max()
        > 1e3 * np.abs(near.dynamics.step(edge, np.full(2, 1e-3)).mean).max()
    )


def test_no_spread_is_wider_than_that_of_the_data() -> None:
    """An unstable process widens by e^60 within such a step, and means are taken over that."""
    model = linear_model(np.array([[30.0]]), np.zeros(1), np.array([[0.5]]), longest_step=2.0)
    model = replace(model, data_range=replace(model.data_range, low=-np.ones(1), high=np.ones(1)))
    path = model.dynamics.step(np.zeros((1, 1)), np.array([2.0]))
    square = model.basis.terms.index("x**2")
    frame = model.basis.frame
    # The mean of ((x - centre) / scale)^2 over a spread of one and a mean within the box.
    assert (
        abs(path.theta[square, 0]) <= ((1.5 + 0.2) / frame.scale[0]) ** 2 + 1 / frame.scale[0] ** 2
    )


# Substeps


@pytest.mark.parametrize("dt", [0.01, 0.2])
def test_terms_that_no_field_has_are_followed_as_those_that_hardly_act(dt: float) -> None:
    x, steps = points(2, 20), np.full(20, dt)
    none = asked(model_of(WELLS, WELLS_TENSOR, terms=LIBRARIES["others"]), x, dt)
    hardly = replace(none, drift=none.drift + np.where(none.drift == 0, 1e-9, 0.0))
    found, expected = none.dynamics.step(x, steps), hardly.dynamics.step(x, steps)
    assert not none.dynamics._others_act
    assert hardly.dynamics._others_act
    np.testing.assert_allclose(found.theta, expected.theta, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-6, atol=1e-7)


def test_long_steps_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    model, x, dt = model_of(WELLS, WELLS_TENSOR, terms="poly3"), points(2), 0.4
    found = stepped(model, x, dt)
    monkeypatch.setattr(transition, "LONGEST_SUBSTEP", 0.05)
    monkeypatch.setattr(transition, "MOST_SUBSTEPS", 200)
    fine = stepped(model, x, dt)
    monkeypatch.setattr(transition, "MOST_SUBSTEPS", 1)
    whole = stepped(model, x, dt)
    for one, other, poor in zip(found, fine, whole, strict=True):
        size = np.abs(other).max()
        assert np.abs(one - other).max() < 0.01 * size
        assert np.abs(one - other).max() < np.abs(poor - other).max()


@pytest.mark.parametrize("dt", [0.01, 0.03, 0.2])
def test_a_step_does_not_depend_on_what_else_is_asked(dt: float) -> None:
    """Chunks are cut anyhow, and the sums over them must agree to rounding."""
    x, steps = points(2, 40), np.random.default_rng(1).uniform(0.1, 1.0, 40) * dt
    model = asked(model_of(WELLS, WELLS_TENSOR, terms="poly3"), x, dt)
    together = physical_moments(model.dynamics.step(x, steps), model.units)
    for row in range(len(x)):
        part = slice(row, row + 1)
        alone = physical_moments(model.dynamics.step(x[part], steps[part]), model.units)
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_allclose(one[row], other[0], rtol=1e-12, atol=1e-14)


# Small matrices, sample last


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_small_matrices_are_those_of_numpy(d: int) -> None:
    rng = np.random.default_rng(d)
    a = np.eye(d)[:, :, None] + 0.2 * rng.normal(size=(d, d, 9)) / d
    b = rng.normal(size=(d, d, 9))
    b = b + b.swapaxes(0, 1)
    np.testing.assert_allclose(multiply(a, b), np.einsum("pqn,qrn->prn", a, b), atol=1e-14)
    np.testing.assert_allclose(
        inverse_and_determinant(a)[0].transpose(2, 0, 1),
        np.linalg.inv(a.transpose(2, 0, 1)),
        atol=1e-12,
    )
    entries = tensor.entries_of(b.transpose(2, 0, 1)).T
    turned = tensor.entries_of(np.einsum("pqn,qrn,srn->nps", a, b, a)).T
    np.testing.assert_allclose(np.einsum("efn,fn->en", congruence(a), entries), turned, atol=1e-13)


def test_congruence_of_some_entries_is_part_of_that_of_all() -> None:
    matrices = np.random.default_rng(0).normal(size=(3, 3, 5))
    whole, symmetric = congruence(matrices), np.random.default_rng(1).normal(size=(3, 3))
    symmetric = symmetric + symmetric.T
    entries = np.array([symmetric[p, q] for p, q in tensor.pairs(3)])
    found = np.einsum("efn,f->en", whole, entries)
    for n in range(5):
        moved = matrices[:, :, n] @ symmetric @ matrices[:, :, n].T
        np.testing.assert_allclose(found[:, n], [moved[p, q] for p, q in tensor.pairs(3)])
    np.testing.assert_array_equal(congruence(matrices, [4, 1]), whole[:, [4, 1]])


# How finely a step is cut


def scheme(
    rate: float, count: float = 1e-9, *, tensor_of: float = 0.5, step: float = 0.1, **more: bool
) -> tuple[transition.Stages, int]:
    """Of dx = -rate x dt + noise at steps of ``step``, as ``count`` samples ask for it."""
    model = linear_model(
        np.array([[-rate]]), np.zeros(1), np.array([[tensor_of]]), longest_step=step
    )
    place = replace(model.data_range, count=count)  # type: ignore[arg-type]
    return replace(model, data_range=place, **more).dynamics._scheme  # type: ignore[arg-type]


def test_a_chain_and_a_process_that_stands_still_take_euler_steps() -> None:
    assert scheme(50.0, is_chain=True) == (transition.EULER, 1)
    assert scheme(0.0, tensor_of=0.0) == (transition.EULER, 1)
    assert scheme(0.0) == (transition.MIDPOINT, 1)
    assert scheme(0.1, tensor_of=0.0)[0] == transition.RUNGE_KUTTA


@pytest.mark.parametrize(("fastest", "expected"), [(0.149, 1), (0.151, 1), (0.81, 2), (2.41, 4)])
def test_a_step_is_cut_by_how_much_the_drift_changes_in_it(fastest: float, expected: int) -> None:
    stages, substeps = scheme(fastest / 0.1)
    assert substeps == expected
    assert stages == (transition.MIDPOINT if fastest < 0.15 else transition.RUNGE_KUTTA)


def test_no_step_is_cut_into_more_than_eight() -> None:
    assert scheme(1e3) == (transition.RUNGE_KUTTA, 8)


def worth(rate: float, count: float, step: float = 0.1) -> float:
    """Standard errors that the whole drift is worth, over those that a step may be off by."""
    x = linear_model(np.eye(1), np.zeros(1), np.eye(1)).data_range.probe[:, 0]
    return float(np.sqrt(count * np.mean((rate * x / 0.5) ** 2) * step) / 0.3)


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_a_drift_that_is_worth_much_takes_finer_steps(share: float) -> None:
    # An error of (J h)^2 / 24 of two points a step, of (J h)^4 / 120 of four.
    rate, step = 10.0, 0.01
    count = (share * 24 / (rate * step) ** 2 / worth(rate, 1.0, step)) ** 2
    found = scheme(rate, count, step=step)[0]
    assert found == (transition.MIDPOINT if share < 1 else transition.RUNGE_KUTTA)
    step = 0.1
    count = (share * 120 * 2**4 / (rate * step) ** 4 / worth(rate, 1.0)) ** 2
    assert scheme(rate, count) == (transition.RUNGE_KUTTA, 2 if share < 1 else 3)


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_a_tensor_that_is_known_well_takes_finer_steps(share: float) -> None:
    # Of n samples it is known to the root of 2 / n, of which the error may be 0.3: (J h)^3 / 12 of
    # a tensor that is the same everywhere, else (J h)^2 / 24. Long steps say little of the drift.
    expected = transition.MIDPOINT if share < 1 else transition.RUNGE_KUTTA
    step, turned = 100.0, 0.1
    count = 2 * (share * 12 * 0.3 / turned**3) ** 2
    assert scheme(turned / step, count, step=step)[0] == expected
    model = model_of([{"x": -turned / step}], [{"1": 0.5, "x**2": 1e-9}])
    count = 2 * (share * 24 * 0.3 / turned**2) ** 2
    place = replace(model.data_range, longest_step=step, count=count)  # type: ignore[arg-type]
    assert replace(model, data_range=place).dynamics._scheme[0] == expected


@pytest.mark.parametrize("of_tensor", [0.0, 0.2])
@pytest.mark.parametrize("rate", [1.5, -1.0])
def test_two_points_a_step_put_a_tensor_wrong_by_next_to_nothing(
    rate: float, of_tensor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # dx = -rate x dt with a tensor of 0.5 + of_tensor x^2, whose second moment is known:
    # E[x^2]' = (of_tensor - 2 rate) E[x^2] + 0.5.
    x, dt = points(1), 0.05
    model = model_of([{"x": -rate}], [{"1": 0.5, "x**2": of_tensor}])
    assert asked(model, x, dt).dynamics._scheme == (transition.MIDPOINT, 1)
    grown = (of_tensor - 2 * rate) * dt
    second = x[:, 0] ** 2 * np.exp(grown) + 0.5 * dt * np.expm1(grown) / grown
    expected = second - (x[:, 0] * np.exp(-rate * dt)) ** 2

    def off() -> float:
        return float(np.abs(stepped(model, x, dt).covariance[:, 0, 0] / expected - 1).max())

    bound = 0.3 * (rate * dt) ** 2
    assert off() < (bound if of_tensor else 1.1 * abs(rate * dt) ** 3 / 12)
    # Negative controls: what the rates of two points say, and a response of first order.
    for missing in ("complete_response", "set_covariance"):
        monkeypatch.setattr(transition, missing, lambda *_: None)
        assert off() > bound


@pytest.mark.parametrize(("dt", "stages"), [(0.01, 2), (0.4, 4)])
def test_a_model_that_was_sent_to_a_worker_steps_as_it_does_here(dt: float, stages: int) -> None:
    x = points(1)
    here = asked(model_of([{"x": -1.0}], [{"1": 0.5}]), x, dt).dynamics
    assert len(here._scheme[0]) == stages  # which travels with it
    there = pickle.loads(pickle.dumps(here))
    steps = np.full(len(x), dt)
    np.testing.assert_equal(vars(there.step(x, steps)), vars(here.step(x, steps)))


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_noise_through_another_coordinate_takes_finer_steps(share: float) -> None:
    matrix, field = np.array([[0.0, 1.0], [-2.0, -0.5]]), np.diag([0.0, 0.4])
    step = 0.3
    model = linear_model(matrix, np.zeros(2), field, longest_step=step)
    fastest = np.linalg.norm(matrix * model.units / model.units[:, None]) * step
    # (J h)^2 / 240 of it, where data tell a tensor to sqrt(2 / n): 0.3 of that is cut into two.
    told = fastest**2 / 240 / (share * 2**4)
    count, near = (
        2 / (told / 0.3) ** 2,
        model.data_range.probe * 1e-6,
    )  # where there is no drift to see
    place = replace(model.data_range, count=count, probe=near)  # type: ignore[arg-type]
    cut = replace(model, data_range=place).dynamics._scheme
    assert cut == (transition.RUNGE_KUTTA, 2 if share < 1 else 3)


def test_noise_through_another_coordinate_takes_three_points_where_little_is_asked() -> None:
    matrix, field, step = np.array([[0.0, 1.0], [-2.0, -0.5]]), np.diag([0.0, 0.5]), 0.05

    def found(step: float, count: int) -> tuple[transition.Stages, float]:
        model = linear_model(matrix, np.zeros(2), field, longest_step=step)
        counted = replace(model, data_range=replace(model.data_range, count=count))
        _, _, exact = linear_transition(matrix, np.zeros(2), field, step)
        end = stepped(counted, points(2), step)
        return counted.dynamics._scheme[0], float(np.abs(end.covariance[0] / exact - 1).max())

    stages, off = found(step, 1)
    assert stages is transition.HEUN
    assert off < transition.THIRD_ORDER
    assert found(step, 2)[0] is transition.RUNGE_KUTTA
    assert found(0.3, 1)[0] is transition.RUNGE_KUTTA


def test_spreads_of_many_coordinates_are_taken_for_normal(monkeypatch: pytest.MonkeyPatch) -> None:
    bent = model_of([{"x**2": -1.0}], [{"1": 0.5}])
    assert bent.dynamics._is_curved
    assert not linear(1).dynamics._is_curved
    monkeypatch.setattr(transition, "MOST_SKEWED", 0)
    assert not replace(bent).dynamics._is_curved
