"""Supports that take part in error bars: which of them, and what they add."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from wgsindy.estimate.evidence import Posterior, Problem
from wgsindy.estimate.likelihood.error_bars import (
    COEFFICIENT_SHARE,
    LEAST_WEIGHT,
    OPEN_SHARE,
    ErrorBars,
    OpenSupports,
)

SUPPORTS = np.array([[True, True, False], [True, False, False], [True, False, True]])


def posterior(weights: list[float], paid: list[float]) -> Posterior:
    coefficients = np.array([[1.0, 2.0, 0.0], [1.5, 0.0, 0.0], [0.5, 0.0, -1.0]])
    given = np.array(weights) / sum(weights)
    return Posterior(SUPPORTS, given, coefficients, np.array(paid), 0.0)


def problem() -> Problem:
    design = np.random.default_rng(0).normal(size=(30, 3))
    return Problem.from_sums(design.T @ design, np.zeros(3), np.eye(3))


def test_weights_at_a_share_of_the_cost_are_those_of_cheaper_terms() -> None:
    found = posterior([6.0, 3.0, 1.0], [4.0, 2.0, 4.0])
    np.testing.assert_array_equal(found.weights_at(1.0), found.weights)
    cheap = found.weights * np.exp(0.75 * found.paid)
    np.testing.assert_allclose(found.weights_at(0.25), cheap / cheap.sum())
    np.testing.assert_allclose(found.inclusion, [1.0, 0.6, 0.1])
    np.testing.assert_allclose(
        found.inclusion_at(0.25), np.array([1.0, cheap[0] / cheap.sum(), cheap[2] / cheap.sum()])
    )


@pytest.mark.parametrize(("share", "kept"), [(0.99, 2), (1.01, 3)])
def test_supports_of_no_weight_are_left_out(share: float, kept: int) -> None:
    least = share * LEAST_WEIGHT
    found = OpenSupports.of(problem(), posterior([1.0, 0.5, least], [0.0, 0.0, 0.0]), 1.0)
    np.testing.assert_array_equal(found.supports, SUPPORTS[:kept])
    expected = np.array([1.0, 0.5, least])[:kept]
    np.testing.assert_allclose(found.weights, expected / expected.sum())
    np.testing.assert_allclose(found.covariances, problem().covariances(SUPPORTS[:kept]))


def test_the_chosen_support_takes_part_whatever_its_weight_at_a_share_of_the_cost() -> None:
    paid = [0.0, 100.0, 100.0]
    found = OpenSupports.of(problem(), posterior([1.0, 0.9, 0.1], paid), OPEN_SHARE)
    np.testing.assert_array_equal(found.supports, SUPPORTS)
    assert found.weights[0] < LEAST_WEIGHT
    assert 0 < COEFFICIENT_SHARE < OPEN_SHARE < 1


def test_spread_and_widening_by_hand() -> None:
    found = OpenSupports.of(problem(), posterior([6.0, 3.0, 1.0], [0.0, 0.0, 0.0]), 1.0)
    centre, spread = np.array([1.0, 1.0, 0.2]), np.zeros((3, 3))
    for weight, row, covariance in zip(*found[1:], strict=True):
        spread += weight * (covariance + np.outer(row - centre, row - centre))
    np.testing.assert_allclose(found.spread(centre), spread)
    given = np.array([[0.1, 0.05, 0.0], [0.05, 0.2, -0.1], [0.0, -0.1, 0.3]])
    factors = np.ones(3)
    for k in (0, 1):  # the terms that were chosen
        inside = found.supports[:, k]
        own = (
            found.covariances[:, k, k] + (found.coefficients[:, k] - found.coefficients[0, k]) ** 2
        )
        mean = np.sum((found.weights * own)[inside]) / found.weights[inside].sum()
        more = mean - found.covariances[0, k, k]
        factors[k] = np.sqrt(max(1.0, 1 + more / given[k, k]))
    assert factors[0] > 1.2
    np.testing.assert_allclose(found.widened(given), given * np.outer(factors, factors))
    np.testing.assert_array_equal(found.widened(np.zeros((3, 3))), np.zeros((3, 3)))


@pytest.mark.parametrize("coupled", [False, True])
def test_a_component_follows_what_others_may_be(coupled: bool) -> None:
    """Where b2 is off by e y, b1 takes over e a12 / a22 of y, and nothing of what it lacks."""
    precision = np.linalg.inv(np.array([[0.36, 0.3], [0.3, 0.34]]))
    gram = np.kron(precision, np.diag([4.0, 9.0])).astype(np.float64)
    joint = Problem.from_sums(gram, np.zeros(4), np.eye(4))
    seen = SimpleNamespace(
        _joint=joint,
        _support=np.array([[False, True], [True, True]]),
        model=SimpleNamespace(basis=range(2)),
        equations=SimpleNamespace(coupled=coupled),
    )
    coefficients = np.array([[0.0, -2.0], [0.0, -2.5], [0.7, -2.0]])
    weights = np.array([0.5, 0.3, 0.2])
    left = OpenSupports(coefficients != 0, weights, coefficients, np.zeros((3, 2, 2)))
    own = OpenSupports(np.ones((1, 2), bool), np.ones(1), np.ones((1, 2)), np.zeros((1, 2, 2)))
    found = ErrorBars._followed(cast(Any, seen), 0, [own, left])
    expected = np.zeros((2, 2))
    expected[1, 1] = 0.3 * (0.5 * 0.3 / 0.34) ** 2 * coupled
    np.testing.assert_allclose(found, expected, atol=1e-12)
