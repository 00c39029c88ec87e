"""How terms are chosen: what they cost, in which order fields are asked, and how thoroughly."""

from __future__ import annotations

from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from wgsindy.data import BoolArray, FloatArray
from wgsindy.estimate.evidence import Posterior, search
from wgsindy.estimate.likelihood import selection as term_selection
from wgsindy.estimate.likelihood.normal_equations import NormalEquations
from wgsindy.estimate.likelihood.selection import (
    NEGATIVE_COST,
    SHARED_BONUS,
    SURE,
    Extrapolation,
    TermSelection,
    best_entries,
    same_terms,
)
from wgsindy.model import tensor
from wgsindy.recipes import LikelihoodRecipe
from wgsindy.terms import library


def place(low: list[float], high: list[float], inputs: int = 0) -> Any:
    return SimpleNamespace(low=np.array(low), high=np.array(high), inputs=inputs)


def selection(
    terms: Any = "poly1",
    *,
    inputs: int = 0,
    given: BoolArray | None = None,
    known: FloatArray | None = None,
) -> TermSelection:
    basis = library(terms).bind(("x", "y"))
    where = Extrapolation(basis, place([-1.0, -1.0], [1.0, 1.0], inputs))
    return TermSelection(basis, where, LikelihoodRecipe(), given, known)


def equations(shared: float) -> NormalEquations:
    """Two coordinates, three terms; ``shared`` is what the components tell of each other."""
    rng, pairs = np.random.default_rng(0), tensor.pairs(2)
    design = rng.normal(size=(40, 3))
    own = design.T @ design
    drift = np.array([own if p == q else shared * own for p, q in pairs])
    cross = rng.normal(size=(2, 3)) * 50, rng.normal(size=(3, 3)) * 50
    return NormalEquations(drift, cross[0], np.array([own] * 3), cross[1], np.eye(3))


def test_a_term_costs_what_the_largest_of_all_gains_by_chance_and_degrees_cost_more() -> None:
    recipe, found = LikelihoodRecipe(), selection(["1", "x", "x**2", "x*y**2", "sin(x)"])
    normal = NormalDist().inv_cdf(1 - recipe.false_alarm / 5 / 2)
    extra = recipe.degree_cost * np.maximum(found.basis.degrees - 1.0, 0.0)
    assert sorted(set(extra / recipe.degree_cost)) == [0.0, 1.0, 2.0]
    np.testing.assert_allclose(found.costs, normal**2 / 2 + extra, rtol=1e-12)


def test_terms_that_are_given_are_certain_and_inputs_have_none() -> None:
    given = np.zeros((5, 3), dtype=bool)
    given[1, 2] = given[3, 0] = True
    chosen = selection(given=given)
    np.testing.assert_array_equal(chosen._costs_of(1), [SURE, SURE, -SURE])
    np.testing.assert_array_equal(chosen._costs_of(3), [-SURE, SURE, SURE])
    driven = selection(inputs=1)
    # Fields are b1, b2 and a11, a12, a22: all but the first of either are about the input.
    free = [bool((driven._costs_of(field) < SURE).all()) for field in range(5)]
    assert free == [True, False, True, False, False]
    assert all((selection()._costs_of(field) < SURE).all() for field in range(5))


@pytest.mark.parametrize("thorough", [False, True])
def test_every_support_is_tried_in_the_last_sweep_of_a_thorough_search(
    thorough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def recorded(*given: Any, exhaustive: bool = True, **more: Any) -> Posterior:
        asked.append(exhaustive)
        return search(*given, exhaustive=exhaustive, **more)

    monkeypatch.setattr(term_selection, "search", recorded)
    selection().entries(equations(0.0), np.zeros((3, 3)), thorough=thorough)
    assert asked == ([False] * 3 + [True] * 3 if thorough else [False] * 3)
    asked.clear()
    selection().drift(equations(0.0), np.zeros((2, 3)), thorough=thorough)
    assert asked == [thorough] * 2
    asked.clear()
    # Components that share noise are asked until they agree.
    selection().drift(equations(0.5), np.zeros((2, 3)), thorough=thorough)
    assert asked[-4:] == [thorough] * 4
    assert asked == sorted(asked)
    assert (len(asked) > 6) == thorough


def test_components_that_share_noise_end_where_each_is_best_given_the_other() -> None:
    shared, every = equations(0.5), selection(given=np.ones((5, 3), dtype=bool))
    found = np.array(
        [one.coefficients[0] for one in every.drift(shared, np.zeros((2, 3)), thorough=True)]
    )
    joint = shared.all_components().solve(np.ones(6, dtype=bool)).reshape(2, 3)
    np.testing.assert_allclose(found, joint, atol=1e-3 * np.abs(joint).max())


def shared_noise(truth: FloatArray) -> NormalEquations:
    """Sums of a drift ``truth (2, 3)`` without any error, with noise of leverage 0.86."""
    precision = np.linalg.inv(np.array([[0.36, 0.3], [0.3, 0.34]]))
    gram = 30.0 * np.eye(3)
    blocks = np.array([precision[p, q] * gram for p, q in tensor.pairs(2)])
    cross = precision @ truth @ gram
    return NormalEquations(blocks, cross, np.array([gram] * 3), np.zeros((3, 3)), np.eye(3))


TRUTH = np.array([[0.0, -1.0, 0.5], [0.0, 0.0, -2.0]])
# What is best if the first lacks its second term: -2 - 0.5 a12 / a11; and if the second has both.
TRAPS = ([[0, -1.0, 0], [0, 0, -2.4167]], [[0, -0.7, 0], [0, 0.3, -2.4167]])


@pytest.mark.parametrize("trap", TRAPS)
def test_a_term_that_noise_has_moved_to_another_component_is_moved_back(
    trap: list[list[float]],
) -> None:
    sums, choice = shared_noise(TRUTH), selection()
    alone = choice._sweep_drift(sums, np.array(trap), exhaustive=True)
    assert not np.array_equal([one.best for one in alone], TRUTH != 0)  # neither misses it
    found = choice.drift(sums, np.array(trap))
    np.testing.assert_allclose([one.coefficients[0] for one in found], TRUTH, atol=1e-9)


def test_of_the_same_terms_what_was_found_first_stays() -> None:
    sums, choice = shared_noise(TRUTH), selection()
    found = choice._sweep_drift(sums, TRUTH.copy(), exhaustive=True)
    later = choice._reconsidered(sums, found, exhaustive=True)
    assert all(one is other for one, other in zip(found, later, strict=True))


def test_a_component_is_less_sure_if_the_others_follow_it() -> None:
    sums, choice = shared_noise(TRUTH), selection()
    found = choice.drift(sums, TRUTH.copy(), thorough=True)
    problem, posterior = choice.all_beside(sums, found)[0]
    np.testing.assert_array_equal(posterior.best, TRUTH[0] != 0)
    # Of y the other component has the same noise to tell from; of x it has nothing to say.
    error = np.sqrt(np.diag(problem.covariance(posterior.best)))
    np.testing.assert_allclose(error[2], np.sqrt(0.36 / 30.0), rtol=1e-9)
    np.testing.assert_allclose(error[1], np.sqrt((0.36 - 0.3**2 / 0.34) / 30.0), rtol=1e-9)
    joint = np.diag(sums.all_components().covariance((TRUTH != 0).ravel()))
    np.testing.assert_allclose(error**2, joint[:3], rtol=1e-9)


def test_a_known_component_does_not_follow() -> None:
    known = np.full((5, 3), np.nan)
    known[1] = TRUTH[1]
    sums, choice = shared_noise(TRUTH), selection(known=known)
    found = choice.drift(sums, TRUTH.copy())
    np.testing.assert_allclose([one.coefficients[0] for one in found], TRUTH, atol=1e-9)
    (problem, _), (_, other) = choice.all_beside(sums, found)
    np.testing.assert_array_equal(other.coefficients, known[1:2])
    error = np.sqrt(np.diag(problem.covariance(found[0].best)))
    np.testing.assert_allclose(error[1:], np.sqrt((0.36 - 0.3**2 / 0.34) / 30.0), rtol=1e-9)


def test_terms_are_the_same_if_they_are_in_every_field() -> None:
    def posteriors(*chosen: list[bool]) -> list[Any]:
        return [SimpleNamespace(best=np.array(one)) for one in chosen]

    now = posteriors([True, False], [True, True])
    assert same_terms(posteriors([True, False], [True, True]), now)
    assert not same_terms(posteriors([True, False], [False, True]), now)


def test_fields_that_are_known_are_not_asked() -> None:
    known = np.full((5, 3), np.nan)
    known[0], known[3] = [0.0, 1.0, 0.0], 0.0
    chosen = selection(known=known)
    drift = chosen.drift(equations(0.0), np.zeros((2, 3)))
    np.testing.assert_array_equal(drift[0].coefficients[0], known[0])
    assert drift[1].coefficients[0].any()
    entries = chosen.entries(equations(0.0), np.zeros((3, 3)), thorough=True)
    assert not entries[1].coefficients[0].any()
    assert entries[0].coefficients[0].any()


def test_terms_of_the_other_entries_are_cheaper_but_not_a_constant() -> None:
    inclusion = np.array([[1.0, 1.0, 0.0], [1.0, 0.5, 0.5], [1.0, 0.0, 0.5]])
    found = selection()._shared_bonus(inclusion, 1)
    np.testing.assert_allclose(found, SHARED_BONUS * np.array([0.0, 0.5, 0.25]))
    known = np.full((5, 3), np.nan)
    known[2] = 0.0  # says nothing of the others
    found = selection(known=known)._shared_bonus(inclusion, 1)
    np.testing.assert_allclose(found, SHARED_BONUS * np.array([0.0, 0.0, 0.5]))


@pytest.mark.parametrize(
    ("low", "high", "ends"),
    [(0.5, 2.0, (0.5, 4.0)), (-1.0, 3.0, (-6.0, 6.0)), (-3.0, -1.0, (-6.0, -1.0))],
)
def test_the_box_reaches_twice_as_far_as_the_data_on_either_side_of_zero(
    low: float, high: float, ends: tuple[float, float]
) -> None:
    box = Extrapolation(library("poly1").bind(("x", "y")), place([low, 0.0], [high, 1.0])).library
    np.testing.assert_allclose(np.unique(box[:, 1]), np.linspace(*ends, 7))
    np.testing.assert_allclose(np.unique(box[:, 2]), np.linspace(0.0, 2.0, 7))
    assert box.shape == (49, 3)


@pytest.mark.parametrize(("end", "largest"), [(7.0, 6.0), (5.0, 3.0), (2.0, None)])
def test_a_root_that_ends_is_asked_as_far_as_it_goes(end: float, largest: float | None) -> None:
    basis = library(["x", f"sqrt({end} - x)"]).bind(("x",))
    box = Extrapolation(basis, place([0.0], [3.0])).library
    assert (box[:, 0].max() if len(box) else None) == largest
    assert box.shape[1] == 2


def test_with_many_coordinates_there_are_fewer_points_each() -> None:
    names = ("t", "u", "x", "y")
    box = Extrapolation(library("poly1").bind(names), place([-1.0] * 4, [1.0] * 4)).library
    assert len(box) == 3**4
    few = Extrapolation(library("poly1").bind(names[:3]), place([-1.0] * 3, [1.0] * 3)).library
    assert len(few) == 7**3


def test_variances_that_turn_negative_beyond_the_data_cost() -> None:
    box = Extrapolation(library(["1", "x"]).bind(("x",)), place([-1.0], [1.0]))
    # From -2 to 2: 1 + 0.5 x just reaches zero.
    rows = np.array([[1.0, 0.5], [1.0, 0.51], [1.0, -0.51], [0.0, 0.0]])
    for unit in (1.0, 1e-12):
        found = box.against_negative(unit * rows)
        np.testing.assert_array_equal(found, [0.0, NEGATIVE_COST, NEGATIVE_COST, 0.0])


def test_covariances_beyond_what_two_variances_allow_cost() -> None:
    box = Extrapolation(library(["1", "x"]).bind(("x",)), place([-1.0], [1.0]))
    penalty = box.against_indefinite(np.array([4.0, 0.0]), np.array([1.0, 0.0]))
    rows = np.array([[2.0, 0.0], [-2.0, 0.0], [2.01, 0.0], [-2.01, 0.0], [0.0, 1.01]])
    np.testing.assert_array_equal(penalty(rows) / NEGATIVE_COST, [0, 0, 1, 1, 1])
    # Variances of no sign are taken for zero, and allow none.
    nothing = box.against_indefinite(np.array([-4.0, 0.0]), np.array([-1.0, 0.0]))
    np.testing.assert_array_equal(nothing(rows[:1]), [NEGATIVE_COST])


def test_a_coordinate_without_noise_has_no_entries() -> None:
    found = [Posterior.certain(np.full(3, e + 1.0)) for e in range(3)]
    fitted = best_entries(found, np.array([0.0, 1e-6]))
    np.testing.assert_array_equal(fitted, [[1.0] * 3, [0.0] * 3, [0.0] * 3])
