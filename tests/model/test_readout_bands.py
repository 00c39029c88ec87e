"""Leverage, curl and validity at the samples: values by hand, bands by how often they hold."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy

from wgsindy import Generator, WGSINDy, zoo
from wgsindy.data import FloatArray, frozen
from wgsindy.model import ReadOut, TensorField, readouts
from wgsindy.model.readout_bands import _curl_error, _leverage_error, _moved

X, Y, Z = sympy.symbols("x y z")
SEEDS = 60
# Of 60 intervals at 95 %, fewer than 51 hold with probability 1e-4.
LEAST = 51


def by_name(found: list[ReadOut]) -> dict[str, ReadOut]:
    return {item.name: item for item in found}


def test_values_by_hand_in_three_dimensions() -> None:
    tensor = [[4, 1, 0], [1, 1, 0], [0, 0, 1]]
    truth = Generator.from_sympy(("x", "y", "z"), [-3 * Y, X + Z**2, 0], tensor)
    states = np.column_stack([np.zeros((3, 2)), [0.0, 1.0, 5.0]])
    found = by_name(readouts(truth, states))
    assert found["leverage of x and y"].value == pytest.approx(0.5)
    assert found["leverage of x and z"].value == 0
    assert found["curl of x and y"].value == pytest.approx((1 + 3) / 2)
    # (d_y b_z - d_z b_y) / 2 = -z, of which the median state has -1.
    assert found["curl of y and z"].value == pytest.approx(-1)
    assert all(math.isnan(item.low) and math.isnan(item.high) for item in found.values())
    assert len(found) == 7


def test_one_coordinate_has_neither_leverage_nor_curl() -> None:
    truth = Generator.from_sympy(("x",), [-X], [[1]])
    assert [item.name for item in readouts(truth, np.zeros((4, 1)))] == [
        "positive semidefinite before clipping"
    ]


def test_validity_is_that_of_the_formula_and_not_of_the_clipped_tensor() -> None:
    truth = Generator.from_sympy(("x", "y"), [-X, -Y], [[X, 0], [0, 1]])
    clipped = TensorField("clipped", truth.tensor_field.coefficients, 0.0, frozen(np.ones(2)))
    generator = Generator(truth.basis, truth.drift_coefficients, clipped)
    states = np.column_stack([[-3.0, -1.0, 1.0, 2.0], np.zeros(4)])
    assert readouts(generator, states)[-1].value == 0.5


@cache
def fitted(seed: int) -> tuple[dict[str, ReadOut], int]:
    system = zoo.get("spiral_sink_corr")
    data = system.simulate(seed, trajectories=8, steps=1600)
    est = WGSINDy(system.library, "sharp-euler").fit(data)
    return by_name(readouts(est.generator_, data.states)), data.n_increments


def holds(name: str, true: float) -> int:
    found = [fitted(seed)[0][name] for seed in range(SEEDS)]
    return sum(item.low <= true <= item.high for item in found)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("name", "true"), [("leverage of x and y", -0.5), ("curl of x and y", 1.5)]
)
def test_bands_hold_the_truth(name: str, true: float) -> None:
    assert holds(name, true) >= LEAST
    # And they do not hold everything: one and a half widths away is outside of most.
    widths = [fitted(seed)[0][name] for seed in range(SEEDS)]
    apart = float(np.median([item.high - item.low for item in widths]))
    assert holds(name, true + 1.5 * apart) < SEEDS // 4


@pytest.mark.slow
@pytest.mark.statistical
def test_the_band_of_a_leverage_is_that_of_a_correlation() -> None:
    # Standard error (1 - rho^2) / sqrt(n), and a little more for terms that are left open: entries
    # with errors of their own would give 1.6 times as much.
    for seed in range(5):
        found, n = fitted(seed)
        item = found["leverage of x and y"]
        expected = 2 * 1.96 * (1 - item.value**2) / math.sqrt(n)
        assert 0.95 < (item.high - item.low) / expected < 1.3


def test_a_covariance_that_was_not_selected_says_so() -> None:
    system = zoo.get("rotational_ou")
    data = system.simulate(0, trajectories=4, steps=400)
    est = WGSINDy(system.library, "sharp-euler").fit(data)
    found = by_name(readouts(est.generator_, data.states))
    assert found["leverage of x and y"].text == "0 (no term was selected)"
    assert "to" in found["curl of x and y"].text
    assert found["positive semidefinite before clipping"].text == "100 %"


def test_the_paper_s_recipe_has_values_without_bands() -> None:
    system = zoo.get("correlated_ou")
    data = system.simulate(0, trajectories=4, steps=400)
    found = readouts(WGSINDy(system.library, "paper").fit(data).generator_, data.states)
    assert all(math.isnan(item.low) for item in found)
    assert found[-1].text == "100 %"


def small_fit() -> Generator:
    system = zoo.get("spiral_sink_corr")
    data = system.simulate(0, trajectories=4, steps=400)
    return WGSINDy(system.library, "sharp-euler").fit(data).generator_


def test_the_error_of_a_curl_has_what_both_components_share() -> None:
    generator, states = small_fit(), np.array([[0.3, -0.7], [1.0, 0.2]])
    sure, slopes = generator.uncertainty, generator.basis.gradients(states)
    assert sure is not None
    k = slopes.shape[1]
    root = np.random.default_rng(0).normal(size=(2 * k, 2 * k))
    joint = root @ root.T
    sure = replace(
        sure,
        drift_covariance=joint.reshape(2, k, 2, k),
        drift_spread=np.stack([joint[:k, :k], joint[k:, k:]]),
    )
    # (d_x b_2 - d_y b_1) / 2 as a sum over all coefficients of both.
    ways = [np.concatenate([-slope[:, 1], slope[:, 0]]) / 2 for slope in slopes]
    expected = [np.sqrt(along @ joint @ along) for along in ways]
    np.testing.assert_allclose(_curl_error(sure, slopes, 0, 1), expected, rtol=1e-9)
    # What the form of either may miss, they do not share.
    apart = np.stack([2 * np.eye(k), 3 * np.eye(k)])
    missed = [2 * (slope[:, 1] @ slope[:, 1]) + 3 * (slope[:, 0] @ slope[:, 0]) for slope in slopes]
    wide = np.sqrt(np.array(expected) ** 2 + np.array(missed) / 4)
    np.testing.assert_allclose(
        _curl_error(replace(sure, form_spread=apart), slopes, 0, 1), wide, rtol=1e-9
    )


def test_no_band_of_a_leverage_reaches_beyond_one() -> None:
    generator = small_fit()
    sure = generator.uncertainty
    assert sure is not None
    unsure = replace(
        sure, entry_covariance=1e6 * sure.entry_covariance, drift_spread=1e6 * sure.drift_spread
    )
    found = by_name(readouts(replace(generator, uncertainty=unsure), np.array([[0.3, -0.7]])))
    assert (found["leverage of x and y"].low, found["leverage of x and y"].high) == (-1.0, 1.0)
    assert found["curl of x and y"].high > 1.0


def test_the_error_of_a_leverage_is_that_of_entries_that_vary_together() -> None:
    generator, states = small_fit(), np.array([[0.3, -0.7], [1.0, 0.2]])
    sure, values = generator.uncertainty, generator.basis.values(states)
    assert sure is not None

    def leverage(entries: FloatArray) -> float:
        return float(entries[1] / np.sqrt(entries[0] * entries[2]))

    expected = []
    for theta, (a, (b, c)) in zip(
        values, ((f[0, 0], (f[0, 1], f[1, 1])) for f in generator.diffusion(states)), strict=True
    ):
        errors = np.sqrt([theta @ sure.entry_covariance[e] @ theta for e in range(3)])
        # Products of normal numbers covary as a_ik a_jl + a_il a_jk.
        spread = np.array([
            [2 * a * a, 2 * a * b, 2 * b * b],
            [2 * a * b, a * c + b * b, 2 * b * c],
            [2 * b * b, 2 * b * c, 2 * c * c],
        ])  # fmt: skip
        size = np.sqrt(np.diag(spread))
        here, slope = np.array([a, b, c]), []
        for k in range(3):
            step = np.where(np.arange(3) == k, 1e-6, 0.0)
            slope.append((leverage(here + step) - leverage(here - step)) / 2e-6)
        along = np.array(slope) * errors / size
        expected.append(np.sqrt(along @ spread @ along))
    found = _leverage_error(generator, sure, values, (0, 1))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_entries_move_to_the_ends_that_are_worst_and_best() -> None:
    entries, half = np.array([[1.0, 0.5, 2.0], [1.0, -0.1, 2.0]]), np.array([[0.1, 0.2, 0.3]])
    worst, best = _moved(entries, np.repeat(half, 2, axis=0), 2)
    np.testing.assert_allclose(worst, [[0.9, 0.7, 1.7], [0.9, -0.3, 1.7]])
    np.testing.assert_allclose(best, [[1.1, 0.3, 2.3], [1.1, 0.0, 2.3]])
