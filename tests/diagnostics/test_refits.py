"""Questions that take another fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy
from asked import ask

from wgsindy.data import FloatArray, Trajectories
from wgsindy.diagnostics import Measurements, measurements
from wgsindy.errors import DataError
from wgsindy.estimate import Fit, Predictor, fit_dataset
from wgsindy.model import Generator
from wgsindy.passes import data_summary


def noisy_walk() -> Trajectories:
    rng = np.random.default_rng(0)
    x = np.zeros((4, 1501, 1))
    for n in range(1500):
        x[:, n + 1] = 0.95 * x[:, n] + rng.normal(0, 0.3, (4, 1))
    return Trajectories(list(x + rng.normal(0, 0.2, x.shape)), 0.05)


def pulled(
    pull: Callable[[FloatArray], FloatArray], dt: float, steps: int, dimension: int = 1
) -> Trajectories:
    """Paths of dX = pull(X) dt + dW, ten steps of a simulation between two samples."""
    rng = np.random.default_rng(1)
    x = np.zeros((8, steps + 1, dimension))
    for n in range(steps):
        state = x[:, n]
        for _ in range(10):
            kick = np.sqrt(dt / 10) * rng.normal(size=state.shape)
            state = state + pull(state) * dt / 10 + kick
        x[:, n + 1] = state
    return Trajectories(list(x), dt)


@pytest.mark.parametrize("dt", [0.02, 0.3])
def test_how_far_euler_steps_are_from_those_of_a_linear_process(dt: float) -> None:
    # dX = -X dt + dW: means x (1 - dt) and x exp(-dt), variances dt and (1 - exp(-2 dt)) / 2.
    generator = Generator.from_sympy(("x",), (-sympy.Symbol("x", real=True),), ((1,),))
    x = np.linspace(-1.5, 2.0, 9)[:, None]
    data = Trajectories([2.5 * np.sin(np.arange(50.0))[:, None]], dt)  # x is within
    dynamics = Predictor.of(generator, data_summary(data, standardise=True)).dynamics
    process = replace(dynamics, is_chain=False)
    variance = -np.expm1(-2 * dt) / 2
    gap, ratio = x[:, 0] * (1 - dt - np.exp(-dt)), dt / variance
    expected = np.mean(gap**2 / variance + ratio - 1 - np.log(ratio)) / 2 * measurements.CHAIN_STEPS
    assert measurements.nats_apart(process, x, dt) == pytest.approx(expected, rel=0.05)


@dataclass
class RunningAway:
    """Steps of a process or of a chain, of which one leaves the numbers."""

    running: bool
    is_chain: bool = False

    def step(self, points: FloatArray, _: FloatArray) -> Any:
        variance = np.inf if self.is_chain == self.running else 1.0
        covariance = np.full((1, 1, len(points)), variance)
        return SimpleNamespace(mean=np.zeros((1, len(points))), covariance=covariance)


@pytest.mark.parametrize("running", [True, False])
def test_what_runs_away_is_far_from_what_does_not(running: bool) -> None:
    dynamics: Any = RunningAway(running)
    assert measurements.nats_apart(dynamics, np.zeros((3, 1)), 0.1) == np.inf


def test_no_chain_is_fitted_where_steps_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Fit] = []

    def evidence(fit: Fit) -> float:
        asked.append(fit)
        return 0.0

    monkeypatch.setattr(measurements, "chain_evidence", evidence)
    for dt in (0.01, 0.05):
        seen = Measurements(fit_dataset(pulled(lambda x: -4 * x, dt, 600), "poly3"))
        assert seen.chain_evidence == 0.0
        assert bool(asked) == (dt == 0.05)
    # Negative control: not because the drift is slow.
    assert measurements.TELLING_STEP < 4 * 0.01


def test_a_drift_that_is_missed_is_not_asked_for_velocities(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Fit] = []
    monkeypatch.setattr(measurements, "second_order_evidence", asked.append)
    # A line through a parabola of a slow state: what it misses lasts, and looks like a memory.
    missed = pulled(
        lambda x: np.stack([-x[:, 0] + 4 * x[:, 1] ** 2, -x[:, 1] / 2], axis=1), 0.01, 2000, 2
    )
    assert list(ask("residual_memory")(Measurements(fit_dataset(missed, "poly1"))))
    assert not asked
    # A position: its steps are nearly those of one before.
    smooth = pulled(lambda x: -x, 0.05, 1000)
    fit = fit_dataset(Trajectories([0.05 * path.cumsum(axis=0) for path in smooth], 0.05), "poly1")
    assert list(ask("residual_memory")(Measurements(fit)))
    assert asked


@pytest.mark.parametrize(
    ("lags", "asked"),
    [
        ((0.49, 0.48, 0.47), False),
        ((0.51, 0.49, 0.47), True),  # it lasts, and so it hardly fades
        ((0.20, 0.24, 0.28), False),
        ((0.20, 0.21, 0.27), True),  # it changes from step to step
        ((0.20, 0.14, 0.13), True),
    ],
)
def test_velocities_are_asked_for_where_residuals_last_or_fade(
    lags: tuple[float, ...], asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = object()
    monkeypatch.setattr(measurements, "second_order_evidence", lambda _: found)
    seen = Measurements(fit_dataset(pulled(lambda x: -x, 0.05, 200), "poly1"))
    correlations = np.array([*lags, 0.9])[:, None, None]  # a later one is not looked at
    left = SimpleNamespace(groups=SimpleNamespace(correlations=correlations))
    seen.__dict__.update(residuals=left, observation_noise=np.zeros(1))
    assert (seen.orders is found) == asked


def test_a_refit_that_cannot_be_solved_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = fit_dataset(noisy_walk(), "poly1")
    asked = []

    def unsolved(*_: Any, **__: Any) -> None:
        asked.append(1)
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(measurements, "fit_likelihood", unsolved)
    found = measurements.step_change(fit)
    assert asked  # there was noise, so fewer samples were asked
    assert found is not None
    assert found.fields == ()


def test_a_chain_that_cannot_be_fitted_is_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = fit_dataset(pulled(lambda x: -x - x**3, 0.3, 300), "poly3")
    assert measurements.chain_evidence(fit) != 0.0

    def refused(*_: Any, **__: Any) -> None:
        raise DataError("it runs away.")

    monkeypatch.setattr(measurements, "fit_likelihood", refused)
    assert measurements.chain_evidence(fit) == 0.0


@pytest.mark.parametrize(("gap", "found"), [(8.0, True), (6.9, False)])
def test_a_coefficient_changes_by_the_error_of_a_difference(
    gap: float, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = fit_dataset(noisy_walk(), "poly1")
    bars = fit.generator.uncertainty
    assert bars is not None
    term = fit.generator.basis.terms.index("x")
    error = bars.std_errors()[0, term]
    drift = bars.drift.copy()
    drift[0, term] += gap * error
    # Fewer samples with five times the variance: that of the difference is four times as large.
    wide = replace(bars, drift=drift, drift_covariance=5 * bars.drift_covariance)
    other = replace(fit, generator=replace(fit.generator, uncertainty=wide))
    monkeypatch.setattr(measurements, "fit_likelihood", lambda *_, **__: other)
    change = measurements.step_change(fit)
    assert change is not None
    assert change.fields == (("b1",) if found else ())
    if found:
        assert change.every == 2
        assert change.errors == pytest.approx(gap / 2)
        assert change.size == pytest.approx(gap * error / abs(bars.drift[0, term]))


def test_an_error_is_at_least_that_of_all_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = fit_dataset(noisy_walk(), "poly1")
    bars = fit.generator.uncertainty
    assert bars is not None
    term = fit.generator.basis.terms.index("x")
    drift = bars.drift.copy()
    drift[0, term] += 5 * bars.std_errors()[0, term]
    other = replace(fit, generator=replace(fit.generator, uncertainty=replace(bars, drift=drift)))
    monkeypatch.setattr(measurements, "fit_likelihood", lambda *_, **__: other)
    change = measurements.step_change(fit)
    assert change is not None
    assert change.errors == pytest.approx(5.0)
