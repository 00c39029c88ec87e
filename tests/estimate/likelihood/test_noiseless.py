"""Data without noise: ordinary differential equations, seen at intervals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from wgsindy import WGSINDy
from wgsindy.data import FloatArray, Trajectories
from wgsindy.model import Generator

Flow = Callable[[float, FloatArray], list[float]]


def oscillator(_: float, y: FloatArray) -> list[float]:
    return [y[1], -0.2 * y[1] - y[0]]


def van_der_pol(_: float, y: FloatArray) -> list[float]:
    return [y[1], (1 - y[0] ** 2) * y[1] - y[0]]


def pendulum(_: float, y: FloatArray) -> list[float]:
    return [y[1], -0.2 * y[1] - np.sin(y[0])]


def lorenz(_: float, y: FloatArray) -> list[float]:
    return [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]]


def solved(flow: Flow, start: tuple[float, ...], dt: float, steps: int = 1000) -> Trajectories:
    times = np.arange(steps) * dt
    path = solve_ivp(flow, (0, times[-1]), start, t_eval=times, rtol=1e-10, atol=1e-12)
    return Trajectories(path.y.T, dt)


def terms(gen: Generator, target: str) -> dict[str, tuple[float, float]]:
    rows = [row for row in gen.coefficients if row.target == target]
    return {row.term: (row.value, row.std_error) for row in rows}


def assert_truth_within(gen: Generator, target: str, truth: dict[str, float]) -> None:
    """Errors are numerical, not those of chance: three stated errors hold without exception."""
    found = terms(gen, target)
    assert set(found) == set(truth)
    for term, value in truth.items():
        estimate, error = found[term]
        assert 0 < error < 1e-3
        assert abs(estimate - value) < 3 * error, (term, estimate, error)


@pytest.mark.parametrize("dt", [0.01, 0.05, 0.2])
@pytest.mark.parametrize(
    ("flow", "force"),
    [
        (oscillator, {"x": -1.0, "y": -0.2}),
        (van_der_pol, {"x": -1.0, "y": 1.0, "x**2*y": -1.0}),
    ],
)
def test_error_bars_of_noiseless_equations_hold_the_truth(
    flow: Flow, force: dict[str, float], dt: float
) -> None:
    est = WGSINDy("poly3").fit(solved(flow, (1.5, 0.3), dt))
    assert est.diagnostics_.noiseless == ("x", "y")
    assert not est.generator_.diffusion(np.ones((1, 2))).any()
    assert_truth_within(est.generator_, "b1", {"y": 1.0})
    assert_truth_within(est.generator_, "b2", force)


@pytest.mark.parametrize("dt", [0.01, 0.05, 0.2])
def test_the_sine_of_a_pendulum_is_found(dt: float) -> None:
    est = WGSINDy("auto").fit(solved(pendulum, (1.5, 0.0), dt, 2000))
    assert_truth_within(est.generator_, "b1", {"y": 1.0})
    assert_truth_within(est.generator_, "b2", {"y": -0.2, "sin(x)": -1.0})


def test_a_polynomial_in_the_place_of_a_sine_is_not_called_identified() -> None:
    est = WGSINDy("poly3").fit(solved(pendulum, (1.5, 0.0), 0.05))
    assert est.diagnostics_.verdict != "identified"
    assert any("sin(x)" in reason for reason in est.diagnostics_.reasons)


def test_chaos_without_noise_is_an_equation_with_error_bars() -> None:
    est = WGSINDy("poly2").fit(solved(lorenz, (1.0, 1.0, 20.0), 0.01, 3000))
    assert est.diagnostics_.noiseless == ("x", "y", "z")
    assert_truth_within(est.generator_, "b1", {"x": -10.0, "y": 10.0})
    assert_truth_within(est.generator_, "b2", {"x": 28.0, "y": -1.0, "x*z": -1.0})
    assert_truth_within(est.generator_, "b3", {"z": -8 / 3, "x*y": 1.0})


def test_a_little_noise_is_not_taken_for_none() -> None:
    path = solved(oscillator, (1.5, 0.3), 0.05).states
    wander = np.cumsum(np.random.default_rng(0).normal(0, 1e-3, path.shape), axis=0)
    est = WGSINDy("poly1").fit(Trajectories(path + wander, 0.05))
    assert est.diagnostics_.noiseless == ()
