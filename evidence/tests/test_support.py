"""Supports and ledgers against cases computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from square import X, Y, generator, mean_square, square_states

from wgsindy.data import FloatArray
from wgsindy.terms import library
from wgsindy_evidence.support import (
    Ledger,
    conditional_median,
    faint_terms,
    is_active,
    is_selected,
    projected_support,
    selection_rate,
    stable_support,
)

# Projected support.


def test_projected_support_is_coefficient_times_size_of_the_term() -> None:
    # On a grid over [-1, 1]^2 with library 1, x, y: rms of x is the root of its mean square.
    found = projected_support(
        generator([2 - 3 * X, Y], 4, 0.5 * X, 1), library("poly1").bind(("x", "y")), square_states()
    )
    rms = math.sqrt(mean_square(lambda x, y: x))
    expected = [[2, -3 * rms, 0], [0, 0, rms], [4, 0, 0], [0, 0.5 * rms, 0], [1, 0, 0]]
    np.testing.assert_allclose(found, np.array(expected), atol=1e-12)


def test_projected_support_of_a_field_outside_the_library_is_its_least_squares_fit() -> None:
    # x^3 on 1, x, y: slope <x^4> / <x^2>.
    found = projected_support(
        generator([X**3, 0], 1, 0, 1), library("poly1").bind(("x", "y")), square_states()
    )
    second, fourth = mean_square(lambda x, y: x), mean_square(lambda x, y: x**2)
    np.testing.assert_allclose(found[0], [0.0, fourth / math.sqrt(second), 0.0], atol=1e-12)


def test_projected_support_does_not_depend_on_units_within_a_target() -> None:
    small = projected_support(
        generator([2 - 3 * X, Y], 4, 0, 1), library("poly1").bind(("x", "y")), square_states()
    )
    # x in units 1000 times smaller: drift 1000 times larger in the first component.
    large = projected_support(
        generator([1000 * (2 - 3 * X / 1000), Y], 4e6, 0, 1),
        library("poly1").bind(("x", "y")),
        square_states() * [1000.0, 1.0],
    )
    np.testing.assert_allclose(large[0] / 1000, small[0], rtol=1e-9, atol=1e-9)


# The ledger.


def table(*rows: list[float], seeds: int = 10) -> FloatArray:
    """The same projected support in each of ten seeds, ``(seeds, targets, K)``."""
    return np.tile(np.array(rows, dtype=np.float64), (seeds, 1, 1))


def test_a_perfect_estimate_recovers_every_active_term() -> None:
    truth = table([1.0, 0.5, 0.0], [0.0, 2.0, -1.0])
    assert stable_support(truth, truth) == Ledger(active=4, recovered=4, false_positives=0)


def test_a_term_is_active_from_two_per_cent_of_its_target() -> None:
    found = is_active(np.array([[100.0, 2.0, -2.1, 1.9, 0.0]]))
    assert found.tolist() == [[True, True, True, False, False]]
    truth = table([100.0, 2.1, 1.9])
    assert stable_support(truth, truth).active == 2


def test_a_term_is_selected_from_twenty_per_cent_of_its_target() -> None:
    found = is_selected(np.array([[10.0, 2.0, -2.1, 1.9, 0.0]]))
    assert found.tolist() == [[True, True, True, False, False]]
    # Active at 10 %, but an estimate of 10 % does not count as recovered.
    truth = table([10.0, 1.0])
    assert stable_support(truth, truth) == Ledger(active=2, recovered=1, false_positives=0)
    assert stable_support(table([10.0, 2.1]), truth).recovered == 2


def test_targets_are_compared_within_themselves() -> None:
    # The second target is a million times smaller; its terms count all the same.
    truth = table([1e3, 0.0], [0.0, 1e-3])
    assert stable_support(truth, truth) == Ledger(active=2, recovered=2, false_positives=0)


def test_a_term_is_truly_active_if_it_is_so_in_eighty_per_cent_of_the_seeds() -> None:
    truths = table([1.0, 0.5])
    truths[:2, 0, 1] = 0.0
    assert stable_support(truths, truths).active == 2  # 8 of 10
    truths[2, 0, 1] = 0.0
    assert stable_support(truths, truths).active == 1  # 7 of 10


def test_a_term_is_recovered_if_it_is_selected_in_eighty_per_cent_of_the_seeds() -> None:
    truths, estimates = table([1.0, 0.5]), table([1.0, 0.5])
    estimates[:2, 0, 1] = 0.0
    assert stable_support(estimates, truths).recovered == 2
    estimates[2, 0, 1] = 0.0
    assert stable_support(estimates, truths).recovered == 1


def test_a_false_positive_recurs_in_eighty_per_cent_of_the_seeds() -> None:
    truths, estimates = table([1.0, 0.0]), table([1.0, 0.5])
    assert stable_support(estimates, truths).false_positives == 1
    estimates[:2, 0, 1] = 0.0
    assert stable_support(estimates, truths).false_positives == 1
    estimates[2, 0, 1] = 0.0
    assert stable_support(estimates, truths).false_positives == 0


def test_a_false_positive_is_active_in_at_most_twenty_per_cent_of_the_seeds() -> None:
    truths, estimates = table([1.0, 0.0]), table([1.0, 0.5])
    truths[:2, 0, 1] = 0.1
    assert stable_support(estimates, truths).false_positives == 1
    truths[2, 0, 1] = 0.1
    assert stable_support(estimates, truths).false_positives == 0


def test_a_false_positive_has_at_least_five_per_cent_of_the_system_s_largest_term() -> None:
    # Selected within its own small target, but next to nothing in the system.
    truths = table([100.0, 0.0], [1.0, 0.0])
    assert stable_support(table([100.0, 0.0], [4.9, 4.9]), truths).false_positives == 0
    assert stable_support(table([100.0, 0.0], [5.1, 5.1]), truths).false_positives == 1
    # It is the median over seeds that counts, of the sizes, not of the signed values.
    estimates = table([100.0, 0.0], [5.1, 5.1])
    estimates[:4, 1, 1] = 0.3 * 5.1
    assert stable_support(estimates, truths).false_positives == 1
    estimates[4:6, 1, 1] = 0.3 * 5.1
    assert stable_support(estimates, truths).false_positives == 0
    alternating = table([100.0, 0.0], [6.0, 6.0])
    alternating[::2, 1, 1] *= -1
    assert stable_support(alternating, truths).false_positives == 1


def test_a_field_that_vanishes_has_no_active_and_no_selected_terms() -> None:
    # Least squares leaves rounding instead of zero.
    truths = table([1.0, 0.5], [1e-17, -3e-17])
    assert stable_support(truths, truths) == Ledger(active=2, recovered=2, false_positives=0)


def test_terms_below_twenty_per_cent_of_the_truth_are_faint() -> None:
    truth = table([10.0, 1.9, 0.1], [0.0, 1.0, 1.0])
    assert faint_terms(truth).tolist() == [[False, True, False], [False, False, False]]


def test_ledgers_add_up() -> None:
    assert Ledger(4, 3, 1) + Ledger(2, 2, 0) == Ledger(active=6, recovered=5, false_positives=1)


# Reporting.


def test_selection_rate_counts_coefficients_above_the_reporting_threshold() -> None:
    assert selection_rate(np.array([0.5, -0.5, 0.0, 9.9e-4, -1.1e-3])) == pytest.approx(3 / 5)
    assert selection_rate(np.array([1e-3])) == 0  # above, not at


def test_conditional_median_is_over_the_seeds_that_select() -> None:
    assert conditional_median(np.array([0.0, 2.0, 0.0, 4.0, 0.0, 9.0, 5e-4])) == 4.0
    assert conditional_median(np.array([-1.0, -3.0, 0.0])) == -2.0
    assert math.isnan(conditional_median(np.array([0.0, 5e-4])))
