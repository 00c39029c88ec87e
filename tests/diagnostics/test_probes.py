"""Groups of residuals against sums by hand, chance, and data of each kind that they are to find."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from asked import ask
from measured import measured
from scipy.signal import lfilter
from scipy.stats import chi2, norm

from wgsindy import Trajectories, WGSINDy
from wgsindy.data import FloatArray
from wgsindy.diagnostics import (
    Finding,
    Limitation,
    Measurements,
    measurements,
    thresholds,
)
from wgsindy.diagnostics.groups import DELAYS, PARTS, PLACE_BINS, _slopes, beyond_chance
from wgsindy.errors import WgsindyWarning

DT = 0.05
Check = Callable[[Measurements], list[Finding]]


def relaxation(
    seed: int,
    rate: float = 1.0,
    trajectories: int = 8,
    steps: int = 1500,
    start: FloatArray | None = None,
) -> FloatArray:
    """Exact samples ``(R, n, 1)`` of dx = -rate x dt + dW, settled or from ``start (R, 1)``."""
    rng, kept = np.random.default_rng(seed), np.exp(-rate * DT)
    if start is None:
        start = rng.standard_normal((trajectories, 1)) / np.sqrt(2 * rate)
    shocks = np.sqrt((1 - kept**2) / (2 * rate)) * rng.standard_normal((trajectories, steps))
    path = lfilter([1.0], [1.0, -kept], np.concatenate([start, shocks], axis=1), axis=1)
    return np.asarray(path)[:, :, None]


def seen_of(paths: FloatArray | list[FloatArray], library: str = "poly2") -> Measurements:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)
        return measured(WGSINDy(library).fit(Trajectories(list(paths), DT)))


CHECKS: tuple[Check, ...] = (
    ask("predicted"),
    ask("facts.is_deterministic"),
    ask("drift_by_place", "tensor_by_place"),
    ask("in_time"),
    ask("correlations"),
    ask("bursts"),
    ask("odd_trajectory"),
    ask("residual_memory"),
    ask("heavy_tails", "light_tails", "leaning"),
)


def named(seen: Measurements) -> set[Limitation]:
    return {finding.limitation for check in CHECKS for finding in check(seen)}


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_said_of_a_plain_process(seed: int) -> None:
    # Nine questions with a false-alarm rate of at most 0.3 % each.
    assert named(seen_of(relaxation(seed))) == set()


def test_sums_over_groups_are_those_by_hand() -> None:
    paths = relaxation(7, trajectories=3, steps=700)
    seen = seen_of(paths)
    found = seen.residuals.groups
    z, x, part, owner = [], [], [], []
    for r, path in enumerate(paths):
        chunk = Trajectories([path], DT).chunks(10**6)
        whole = next(iter(chunk))
        step = seen._predictor(whole)
        z.append(step.residual[:, 0] / np.sqrt(step.noise[:, 0] * DT))
        x.append(path[:-1, 0])
        part.append(np.arange(700) * PARTS // 700)
        owner.append(np.full(700, r))
    values = np.concatenate(z)
    np.testing.assert_allclose(found.bins[1, 0, :, 0].sum(), values.sum(), rtol=1e-9)
    np.testing.assert_allclose(found.bins[0, 0].sum(), len(values))
    assert found.bins.shape[2] == PLACE_BINS
    assert found.bins[0].min() > 100  # about equal numbers
    squares = [np.sum(values[np.concatenate(part) == k] ** 2) for k in range(PARTS)]
    np.testing.assert_allclose(found.part_squares[1, :, 0], squares, rtol=1e-9)
    for k, lag in enumerate(DELAYS):
        expected = sum(one[lag:] @ one[:-lag] for one in z)
        assert found.lagged[k, 0, 0] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert found.lag_count[k] == 3 * (700 - lag)
    scale = np.sqrt(DT / seen.generator.diffusion(np.zeros((1, 1)))[0, 0, 0])
    slopes = [one.sum() for one in z]
    np.testing.assert_allclose(found.trajectories[0, :, 0, 0] / scale, slopes, rtol=0.02)


@pytest.mark.parametrize("freedom", [3, 12, 60])
def test_deviations_are_in_standard_errors(freedom: int) -> None:
    for tail in (0.5, 0.05, 1e-4):
        squares = np.array([chi2.isf(tail, freedom)])
        found = beyond_chance(squares, np.array([freedom]))
        assert found.errors[0] == pytest.approx(norm.isf(tail), abs=0.12)
        assert found.excess[0] == pytest.approx(squares[0] - freedom)
    assert beyond_chance(np.array([5.0]), np.array([0])).errors[0] == 0


def test_samples_that_predict_nothing() -> None:
    noise = np.random.default_rng(0).standard_normal((4, 1500, 1))
    found = list(ask("predicted")(seen_of(noise)))
    assert [one.limitation for one in found] == [Limitation.INDEPENDENT]
    assert WGSINDy("poly2").fit(Trajectories(list(noise), DT)).diagnostics_.verdict == (
        "not identified"
    )


def test_a_rate_that_changes_on_the_way() -> None:
    early = relaxation(1, 0.5)
    late = relaxation(2, 3.0, start=early[:, -1])
    paths = np.concatenate([early, late[:, 1:]], axis=1)
    assert Limitation.CHANGING in named(seen_of(paths))


def test_noise_that_grows_on_the_way() -> None:
    steps = np.diff(relaxation(3), axis=1) * np.linspace(0.7, 1.3, 1500)[:, None]
    assert Limitation.CHANGING in named(seen_of(np.cumsum(steps, axis=1)))


def test_trajectories_of_two_kinds() -> None:
    paths = [*relaxation(4, 0.5), *relaxation(5, 3.0)]
    assert Limitation.DISAGREEMENT in named(seen_of(paths))


def test_a_column_that_is_a_later_copy() -> None:
    x = relaxation(6, steps=1505)
    rng = np.random.default_rng(0)
    late = x[:, :-5] + 0.1 * rng.standard_normal(x[:, :-5].shape)
    seen = seen_of(np.concatenate([x[:, 5:], late], axis=2))
    found = list(ask("correlations")(seen))
    assert found
    assert "of y correlates with what it left of x 5 steps before" in found[0].sentence


def test_noise_that_comes_in_bursts() -> None:
    rng = np.random.default_rng(8)
    strength = np.exp(0.5 * lfilter([0.3], [1.0, -0.95], rng.standard_normal((8, 1500)), axis=1))
    shocks = strength * rng.standard_normal((8, 1500)) * np.sqrt(DT)
    paths = lfilter([1.0], [1.0, -np.exp(-DT)], shocks, axis=1)[:, :, None]
    assert Limitation.BURSTS in named(seen_of(paths))


def test_a_drift_of_another_form() -> None:
    rng, x = np.random.default_rng(9), np.zeros(16)
    paths = np.empty((16, 1601, 1))
    for n in range(1601):
        paths[:, n, 0] = x
        for shock in rng.standard_normal((10, 16)) * np.sqrt(DT / 10):
            x = x - 2 * np.sign(x) * DT / 10 + shock
    assert Limitation.MISSING_TERMS in named(seen_of(paths, "poly2"))


def test_a_column_that_counts() -> None:
    x = relaxation(10)
    ramp = np.broadcast_to(np.arange(x.shape[1])[:, None] * DT, x.shape)
    found = list(ask("facts.is_deterministic")(seen_of(np.concatenate([x, ramp], axis=2), "poly1")))
    assert [one.limitation for one in found] == [Limitation.CLOCK]
    assert "y grows at a constant rate" in found[0].sentence


def test_a_long_step_of_a_bent_process_has_tails_of_its_own() -> None:
    rng, x = np.random.default_rng(11), np.zeros(16)
    paths = np.empty((16, 1601, 1))
    for n in range(1601):
        paths[:, n, 0] = x
        for shock in rng.standard_normal((40, 16)) * np.sqrt(0.4 / 40):
            x = x - x * 0.4 / 40 + np.sqrt(0.2 + 0.3 * x**2) * shock
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)
        seen = measured(WGSINDy("poly2").fit(Trajectories(list(paths), 0.4)))
    assert seen.residuals.kurtosis[0] > thresholds.TAILS
    assert seen.expected_shape[1, 0] == pytest.approx(seen.residuals.kurtosis[0], abs=0.25)
    assert list(ask("heavy_tails", "light_tails", "leaning")(seen)) == []


def test_where_noise_is_too_little_no_tails_are_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, paths = np.random.default_rng(12), np.ones((4, 400, 1))
    for n in range(1, 400):
        now = paths[:, n - 1]
        paths[:, n] = now + (now - now**3) * DT + 0.7 * np.sqrt(DT) * rng.standard_normal((4, 1))
    seen = seen_of(paths, "poly3")
    assert np.isfinite(seen.expected_shape).all()
    del seen.__dict__["expected_shape"]
    seen.__dict__["noise_level"] = np.array([np.inf])
    np.testing.assert_array_equal(seen.expected_shape, np.zeros((2, 1)))
    del seen.__dict__["expected_shape"]
    # Nor of steps whose squares are no numbers.
    monkeypatch.setattr(measurements, "standardised", lambda *_: np.full((4, 1), 1e200))
    np.testing.assert_array_equal(seen.expected_shape, np.zeros((2, 1)))


def test_groups_with_a_common_slope_agree() -> None:
    variance = np.array([[2.0], [5.0], [3.0], [0.0]])  # the last has no samples
    agreed = _slopes(0.7 * variance, variance)
    assert agreed.excess == pytest.approx(-2.0)  # no squares where chance makes two
    # Away from 0.7 times the variance by 1 and -1: squares over variances.
    apart = _slopes(0.7 * variance + [[1.0], [-1.0], [0.0], [0.0]], variance)
    assert apart.excess == pytest.approx(1 / 2 + 1 / 5 - 2.0)
    assert apart.errors > agreed.errors
