"""Metrics, gates and ledgers against cases computed by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import sympy
from square import X, Y, generator, mean_square, square_states

from wgsindy import zoo
from wgsindy.model import Generator
from wgsindy.zoo import (
    TruthScores,
    accurate,
    central_grid,
    cosine,
    relative_error,
    scores_of,
)

# The grid.


def test_the_central_grid_spans_the_2_to_98_per_cent_range() -> None:
    grid = central_grid(square_states())
    assert grid.shape == (225, 2)
    axis = np.linspace(-1, 1, 15)
    np.testing.assert_allclose(np.unique(grid[:, 0].round(12)), axis, atol=1e-12)
    np.testing.assert_allclose(np.unique(grid[:, 1].round(12)), axis, atol=1e-12)
    assert len(np.unique(grid.round(9), axis=0)) == 225  # every pair once


def test_the_central_grid_ignores_outliers_and_scales_with_each_coordinate() -> None:
    states = square_states() * [1.0, 50.0] + [3.0, 0.0]
    states[:5] = 1e9
    grid = central_grid(states, points=3)
    assert np.abs(grid).max() < 51
    assert grid.shape == (9, 2)


@pytest.mark.parametrize("dimension", [1, 3])
def test_the_central_grid_has_a_point_for_each_combination(dimension: int) -> None:
    states = np.random.default_rng(0).standard_normal((500, dimension))
    assert central_grid(states, points=4).shape == (4**dimension, dimension)


# Errors.


def test_relative_error_by_hand() -> None:
    # |(3, 4) - (0, 4)| / |(0, 4)| = 3 / 4.
    assert relative_error(np.array([3.0, 4.0]), np.array([0.0, 4.0])) == pytest.approx(0.75)
    assert relative_error(np.zeros(2), np.array([0.0, 4.0])) == 1.0
    assert math.isnan(relative_error(np.ones(2), np.zeros(2)))


def test_cosine_by_hand() -> None:
    assert cosine(np.array([1.0, 0.0]), np.array([1.0, 1.0])) == pytest.approx(math.sqrt(0.5))
    assert cosine(np.array([-2.0, -2.0]), np.array([1.0, 1.0])) == pytest.approx(-1)
    assert cosine(np.zeros(2), np.array([1.0, 1.0])) == 0
    assert math.isnan(cosine(np.ones(2), np.zeros(2)))


def test_drift_error_is_joint_over_components() -> None:
    # Truth (x, 2 y), estimate (x + 0.5, 2 y): |error|^2 = 0.25 over mean(x^2 + 4 y^2).
    truth = generator([X, 2 * Y], 1, 0, 1)
    estimate = generator([X + 0.5, 2 * Y], 1, 0, 1)
    second = mean_square(lambda x, y: x)
    expected = math.sqrt(0.25 / (5 * second))
    assert scores_of(estimate, truth, square_states()).drift == pytest.approx(expected, rel=1e-9)


def test_drift_error_over_scored_components_only() -> None:
    truth = generator([X, 2 * Y], 1, 0, 1)
    estimate = generator([100 * X, 2 * Y + 0.5], 1, 0, 1)
    expected = math.sqrt(0.25 / (4 * mean_square(lambda x, y: y)))
    found = scores_of(estimate, truth, square_states(), scored=(1,))
    assert found.drift == pytest.approx(expected, rel=1e-9)


def test_tensor_error_counts_the_off_diagonal_twice() -> None:
    # Frobenius: errors 0.1, 0.2 (twice) and 0.3 against 2, 0.5 (twice) and 1.
    truth, estimate = generator([-X, -Y], 2, 0.5, 1), generator([-X, -Y], 2.1, 0.7, 1.3)
    expected = math.sqrt((0.01 + 2 * 0.04 + 0.09) / (4 + 2 * 0.25 + 1))
    assert scores_of(estimate, truth, square_states()).tensor == pytest.approx(expected, rel=1e-9)


def test_off_diagonal_cosine_by_hand() -> None:
    # a12 of the truth is x, of the estimate x + 1: cos = <x, x + 1> / (|x| |x + 1|) and <x> = 0.
    truth, estimate = generator([-X, -Y], 5, X, 5), generator([-X, -Y], 5, X + 1, 5)
    second = mean_square(lambda x, y: x)
    expected = second / math.sqrt(second * (second + 1))
    assert scores_of(estimate, truth, square_states()).cosine == pytest.approx(expected, rel=1e-9)


def test_psd_fraction_by_hand() -> None:
    # [[1, x], [x, 0.25]] is semidefinite where |x| <= 1/2: 7 of the 15 columns of the grid.
    truth = generator([-X, -Y], 1, 0, 1)
    found = scores_of(generator([-X, -Y], 1, X, 0.25), truth, square_states())
    assert found.psd == pytest.approx(7 / 15)
    assert scores_of(truth, truth, square_states()).psd == 1


def test_a_singular_tensor_counts_as_semidefinite() -> None:
    truth = generator([-X, -Y], 1, 0, 1)
    # Rank one, rounded: its smallest eigenvalue is zero up to rounding of either sign.
    singular = generator([-X, -Y], 0.09 * (1 + X**2), 0.21 * (1 + X**2), 0.49 * (1 + X**2))
    assert scores_of(singular, truth, square_states()).psd == 1


def test_action_error_by_hand() -> None:
    # L x = b1, L y = b2, L x^2 = 2 x b1 + a11, L xy = y b1 + x b2 + a12, L y^2 = 2 y b2 + a22.
    # Truth b = (-x, -y), a = I; estimate with b1 = -1.1 x and a11 = 1.3.
    truth, estimate = generator([-X, -Y], 1, 0, 1), generator([-1.1 * X, -Y], 1.3, 0, 1)
    errors = [
        0.1,
        0.0,
        math.sqrt(
            mean_square(lambda x, y: 0.3 - 0.2 * x**2) / mean_square(lambda x, y: 1 - 2 * x**2)
        ),
        math.sqrt(mean_square(lambda x, y: 0.1 * x * y) / mean_square(lambda x, y: 2 * x * y)),
        0.0,
    ]
    found = scores_of(estimate, truth, square_states()).action
    assert found == pytest.approx(np.mean(errors), rel=1e-9)


def test_each_field_has_its_own_error() -> None:
    truth, estimate = generator([X, 2 * Y], 2, 0.5, 1), generator([1.5 * X, 2 * Y], 2.2, 0.4, 1)
    found = scores_of(estimate, truth, square_states()).fields
    expected = {"b1": 0.5, "b2": 0.0, "a11": 0.1, "a12": 0.2, "a22": 0.0}
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-12)


def test_the_truth_has_no_error() -> None:
    truth = zoo.get("nondiag_cholesky").generator
    found = scores_of(truth, truth, square_states())
    assert (found.drift, found.tensor, found.psd, found.action) == (0, 0, 1, 0)
    assert found.cosine == pytest.approx(1)
    assert found.score == pytest.approx(1)
    assert found.passes


def test_errors_in_one_and_three_dimensions() -> None:
    (x,) = sympy.symbols("x,", real=True)
    line = Generator.from_sympy(("x",), [-x], [[2]])
    other = Generator.from_sympy(("x",), [-x], [[3]])
    found = scores_of(other, line, square_states()[:, :1])
    assert found.tensor == pytest.approx(0.5)
    assert math.isnan(found.cosine)  # there is no off-diagonal
    names = ("x", "y", "z")
    drift = [-sympy.Symbol(n, real=True) for n in names]
    cube = Generator.from_sympy(names, drift, [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
    turned = Generator.from_sympy(names, drift, [[1, 0, 0], [0, 1, 0.5], [0, 0.5, 1]])
    states = np.random.default_rng(0).standard_normal((300, 3))
    assert scores_of(turned, cube, states).cosine == pytest.approx(0)
    # Squared differences 4 x 0.25 over 3 x 1 + 2 x 0.25.
    assert scores_of(turned, cube, states).tensor == pytest.approx(math.sqrt(1 / 3.5))


# What is not defined.


def test_a_driftless_truth_has_no_drift_error_and_passes_without_it() -> None:
    truth, estimate = generator([0, 0], 1, 0.5, 1), generator([-X, -Y], 1, 0.5, 1)
    found = scores_of(estimate, truth, square_states())
    assert math.isnan(found.drift)
    assert math.isnan(found.fields["b1"])
    assert math.isnan(found.action)
    assert found.tensor == 0
    assert found.passes


def test_a_diagonal_truth_has_no_cosine_and_passes_without_it() -> None:
    truth, estimate = generator([-X, -Y], 1, 0, 1), generator([-X, -Y], 1, 0.1, 1)
    found = scores_of(estimate, truth, square_states())
    assert math.isnan(found.cosine)
    assert math.isnan(found.fields["a12"])
    assert found.tensor == pytest.approx(math.sqrt(0.02 / 2))
    assert found.passes


# Score and gates.

PERFECT = TruthScores(drift=0.0, tensor=0.0, cosine=1.0, psd=1.0, action=0.0, fields={})


def test_the_score_by_hand() -> None:
    assert PERFECT.score == pytest.approx(1)
    found = replace(PERFECT, drift=0.5, tensor=0.3, cosine=0.8, psd=0.9)
    expected = 0.38 * (1 - 0.25) + 0.34 * (1 - 0.2) + 0.16 * 0.9 + 0.12 * 0.9
    assert found.score == pytest.approx(expected)


def test_the_score_stops_at_drift_two_and_tensor_one_and_a_half() -> None:
    worst = replace(PERFECT, drift=7.0, tensor=9.0, cosine=-1.0, psd=0.0)
    assert worst.score == pytest.approx(0)
    assert replace(PERFECT, drift=2.0).score == pytest.approx(1 - 0.38)
    assert replace(PERFECT, tensor=1.5).score == pytest.approx(1 - 0.34)


def test_an_undefined_cosine_does_not_lower_the_score() -> None:
    assert replace(PERFECT, cosine=float("nan")).score == pytest.approx(1)


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ({"drift": 0.799}, {"drift": 0.80}),
        ({"tensor": 0.449}, {"tensor": 0.45}),
        ({"psd": 0.99}, {"psd": 0.989}),
        ({"cosine": 0.851}, {"cosine": 0.85}),
    ],
)
def test_each_gate_has_its_limit(good: dict[str, float], bad: dict[str, float]) -> None:
    assert replace(PERFECT, **good).passes  # type: ignore[arg-type]
    assert not replace(PERFECT, **bad).passes  # type: ignore[arg-type]


def test_a_gate_on_an_undefined_quantity_is_left_out() -> None:
    nan = float("nan")
    assert accurate(nan, 0.1, 1.0, 0.9)
    assert accurate(0.1, 0.1, 1.0, nan)
    assert not accurate(nan, 0.5, 1.0, nan)
