"""Search over supports, against brute force."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wgsindy.data import BoolArray, FloatArray, Frame
from wgsindy.estimate import evidence as evidence
from wgsindy.estimate.evidence import (
    Problem,
    all_gains,
    all_supports,
    best_support,
    improved,
    search,
)
from wgsindy.terms import Basis, Monomials

# Least squares on a few dozen numbers of order one, condition number below 1e3.
ROUNDING = 1e-10


def random_problem(
    size: int, seed: int, strong: tuple[int, ...] = (), samples: int = 400
) -> Problem:
    """Correlated columns, a target made of the ``strong`` terms and unit noise."""
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(samples, size)) + 0.6 * rng.normal(size=(samples, 1))
    truth = np.zeros(size)
    truth[list(strong)] = 1.0 + rng.random(len(strong))
    target = design @ truth + rng.normal(size=samples)
    return Problem.from_sums(design.T @ design, design.T @ target, np.eye(size))


def gain_by_least_squares(root: FloatArray, target: FloatArray, support: BoolArray) -> float:
    """Half the squared length of the target's projection, from an independent solver."""
    fitted = root[:, support] @ np.linalg.lstsq(root[:, support], target, rcond=1e-6)[0]
    return 0.5 * float(fitted @ fitted)


def every_support(size: int) -> BoolArray:
    return np.array(list(product([False, True], repeat=size)))


def brute_force(problem: Problem, costs: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Every support and its score, one least-squares fit at a time."""
    supports = every_support(len(problem))
    gains = [gain_by_least_squares(problem.root, problem.target, s) for s in supports]
    return supports, np.array(gains) - supports @ costs


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_gains_of_all_supports_are_those_of_least_squares(size: int) -> None:
    problem = random_problem(size, seed=size, strong=(0,))
    gains, supports = all_gains(problem.root, problem.target), all_supports(size)
    assert len(np.unique(supports, axis=0)) == 2**size
    expected = [gain_by_least_squares(problem.root, problem.target, s) for s in supports]
    np.testing.assert_allclose(gains, expected, rtol=ROUNDING, atol=ROUNDING)


def test_a_column_that_repeats_others_gains_nothing() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 4))
    root = np.column_stack([root, root[:, 0], root[:, 1] + root[:, 2]])
    root /= np.linalg.norm(root, axis=0)
    target = rng.normal(size=6)
    expected = [gain_by_least_squares(root, target, s) for s in all_supports(6)]
    np.testing.assert_allclose(all_gains(root, target), expected, rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-7])
def test_what_a_nearly_repeated_column_adds_is_not_rounding_blown_up(apart: float) -> None:
    # Two columns that differ by less than what sums of squares resolve: the direction of their
    # difference is noise, and no support may gain more than the whole target holds.
    rng = np.random.default_rng(1)
    root = rng.normal(size=(5, 3))
    root = np.column_stack([root, root[:, 0] + apart * rng.normal(size=5)])
    root /= np.linalg.norm(root, axis=0)
    target = rng.normal(size=5)
    gains, supports = all_gains(root, target), all_supports(4)
    both, one = supports[:, 0] & supports[:, 3], supports[:, 0] & ~supports[:, 3]
    np.testing.assert_allclose(gains[both], gains[one], rtol=ROUNDING)
    assert gains.max() <= 0.5 * target @ target * (1 + ROUNDING)


def test_search_survives_repeated_columns() -> None:
    # The third term is the first, the fourth is the sum of the first two.
    rng = np.random.default_rng(2)
    design = rng.normal(size=(300, 2))
    design = np.column_stack([design, design[:, 0], design.sum(axis=1)])
    target = design[:, 0] + rng.normal(size=300)
    problem = Problem.from_sums(design.T @ design, design.T @ target, np.eye(4))
    for size_limit in (0, evidence.QUICK_LIMIT):  # climbing, then every support
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(evidence, "QUICK_LIMIT", size_limit)
            found = search(problem, np.full(4, 4.0))
        assert np.isfinite(found.coefficients).all()
        assert found.best.tolist() in ([True, False, False, False], [False, False, True, False])
        fitted = design @ found.coefficients[0]
        alone = design[:, 0] * (design[:, 0] @ target) / (design[:, 0] @ design[:, 0])
        np.testing.assert_allclose(fitted, alone, rtol=0, atol=1e-8)


def far_from_zero(spread: float) -> tuple[FloatArray, FloatArray, Problem]:
    """Terms 1, s, s^2, s^3 of a price near 100 as columns, a target, and the problem they make.

    With unit columns their condition number is 4e3 for a spread of 10 and 4e6 for a spread of 1.
    """
    rng = np.random.default_rng(3)
    s = (100 + spread * rng.normal(size=500))[:, None]
    target = 2.0 - 0.3 * (s[:, 0] - 100) / spread + 0.1 * rng.normal(size=500)
    physical = Basis(("s",), Monomials.up_to(3, dimension=1))
    work = physical.in_frame(Frame(s.mean(axis=0), s.std(axis=0)))
    theta = work.values(s)
    problem = Problem.from_sums(theta.T @ theta, theta.T @ target, work.from_physical)
    return physical.values(s), target, problem


def fitted_by_qr(raw: FloatArray, target: FloatArray) -> FloatArray:
    columns = raw / np.linalg.norm(raw, axis=0)
    return np.asarray(columns @ np.linalg.lstsq(columns, target)[0])


SUPPORTS_OF_POWERS = [
    [True, True, True, True],
    [True, True, True, False],
    [False, True, False, True],
    [False, False, True, False],
]
# An orthogonal solver on 500 rows loses the condition number, 4e6 at worst, times 1e-16, times a
# factor of some tens for the sums.
QR_ACCURACY = 1e-8


@pytest.mark.parametrize("spread", [10.0, 1.0])
@pytest.mark.parametrize("chosen", SUPPORTS_OF_POWERS)
def test_terms_far_from_zero_are_solved_as_accurately_as_by_qr(
    chosen: list[bool], spread: float
) -> None:
    raw, target, problem = far_from_zero(spread)
    support = np.array(chosen)
    expected = fitted_by_qr(raw[:, support], target)
    found = raw @ problem.solve(support)
    np.testing.assert_allclose(found, expected, rtol=0, atol=QR_ACCURACY * np.abs(expected).max())


def test_plain_normal_equations_would_not_be_that_accurate() -> None:
    # The control of the test above: squaring the condition number costs what it must not cost.
    raw, target, _ = far_from_zero(1.0)
    expected = fitted_by_qr(raw, target)
    columns = raw / np.linalg.norm(raw, axis=0)
    plain = columns @ np.linalg.solve(columns.T @ columns, columns.T @ target)
    assert np.abs(plain - expected).max() > QR_ACCURACY * np.abs(expected).max()


def test_solving_many_supports_is_solving_each() -> None:
    problem = random_problem(6, seed=4, strong=(1, 4))
    supports = every_support(6)
    expected = np.array([problem.solve(support) for support in supports])
    np.testing.assert_allclose(problem.solve_all(supports), expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(problem.solve_all(supports)[~supports], 0.0)


@pytest.mark.parametrize("spread", [10.0, 1.0])
def test_what_a_search_returns_far_from_zero_is_the_field_of_its_support(spread: float) -> None:
    raw, _, problem = far_from_zero(spread)
    found = search(problem, np.full(4, -5.0))  # all four terms, paid for taking part
    assert found.best.all()
    expected = raw @ problem.solve(found.best)
    # These coefficients become the tensor: they must not be worse than those of 1e10 samples are.
    difference = np.abs(raw @ found.coefficients[0] - expected).max()
    assert difference < 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("chosen", [[True] * 4, [True, False, True, False], [False] * 4])
def test_the_covariance_is_the_inverse_information_of_the_support(chosen: list[bool]) -> None:
    rng = np.random.default_rng(5)
    design = rng.normal(size=(50, 4)) * [1.0, 30.0, 0.01, 1.0]
    change = np.eye(4) + np.tril(rng.normal(size=(4, 4)), -1) * 0.3
    problem = Problem.from_sums(design.T @ design, np.zeros(4), change)
    wanted, support = design @ change.T, np.array(chosen)
    expected = np.zeros((4, 4))
    expected[np.ix_(support, support)] = np.linalg.inv(wanted[:, support].T @ wanted[:, support])
    size = np.sqrt(np.diag(expected)) + (~support)
    found = problem.covariance(support)
    np.testing.assert_allclose(
        found / np.outer(size, size), expected / np.outer(size, size), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("size", [1, 3, 7, 10])
def test_the_best_support_is_the_best_of_all(size: int) -> None:
    for seed in range(3):
        problem = random_problem(size, seed=100 + seed, strong=tuple(range(0, size, 3)))
        costs = np.random.default_rng(seed).uniform(1.0, 6.0, size)
        supports, scores = brute_force(problem, costs)
        found = search(problem, costs)
        np.testing.assert_array_equal(found.best, supports[np.argmax(scores)])
        expected = gain_by_least_squares(problem.root, problem.target, found.best)
        assert found.gain == pytest.approx(expected, rel=ROUNDING)


@pytest.mark.parametrize("size", [1, 6, 12, 16])
@pytest.mark.parametrize("strong", [(), (0,), (0, 3, 5)])
def test_the_best_support_alone_is_the_first_of_a_search(
    size: int, strong: tuple[int, ...]
) -> None:
    for seed in range(8):
        problem = random_problem(size, seed, strong=tuple(k for k in strong if k < size))
        # From costs at which chance brings terms in, to those at which it does not.
        costs = np.random.default_rng(seed).uniform(0.3, 1.0, size) * (1 + seed)
        best, gain = best_support(problem, costs)
        expected = search(problem, costs)
        np.testing.assert_array_equal(best, expected.best)
        assert gain == pytest.approx(expected.gain, rel=ROUNDING, abs=ROUNDING)


@pytest.mark.parametrize("size", [6, 12, 16, 17])
def test_a_guess_changes_nothing_but_the_way_to_the_best_support(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    climb, climbed = evidence._climb, list[int]()

    def counted(problem: Problem, costs: FloatArray) -> Any:
        climbed.append(len(problem))
        return climb(problem, costs)

    monkeypatch.setattr(evidence, "_climb", counted)
    problem, costs = random_problem(size, seed=1, strong=(0, 3, 5)), np.full(size, 2.5)
    expected = best_support(problem, costs)
    climbed.clear()
    for guess in (expected[0], np.zeros(size, dtype=bool), np.ones(size, dtype=bool)):
        best, gain = best_support(problem, costs, guess)
        np.testing.assert_array_equal(best, expected[0])
        assert gain == pytest.approx(expected[1], rel=ROUNDING)
    assert len(climbed) == (3 if size > 16 else 0)


def test_the_best_support_of_nearly_dependent_terms_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ways to compute gains of 1e9 differ by more than what rounding was said to be."""
    problem, costs = random_problem(6, seed=5), np.full(6, 3.0)
    climbed = evidence._climb
    monkeypatch.setattr(
        evidence, "_climb", lambda *given: (climbed(*given)[0], climbed(*given)[1] + 50.0)
    )
    best, gain = best_support(problem, costs)
    assert best.shape == (6,)
    assert gain == pytest.approx(problem.gain(best) + 50.0)


def test_for_the_best_support_alone_few_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def counted(*given: Any) -> FloatArray:
        gains = all_gains(*given)
        tried.append(len(gains))
        return gains

    monkeypatch.setattr(evidence, "all_gains", counted)
    problem, costs = random_problem(15, seed=0, strong=(2, 7)), np.full(15, 5.0)
    search(problem, costs)
    best_support(problem, costs)
    assert tried[0] == 2**13
    assert tried[1] < 2**8


@pytest.mark.parametrize("most", [0, 1, 3, 6])
def test_gains_of_small_supports_are_those_among_all(most: int) -> None:
    problem = random_problem(6, seed=2, strong=(1,))
    few = all_supports(6).sum(axis=1) <= most
    found = all_gains(problem.root, problem.target, most)
    np.testing.assert_allclose(found, all_gains(problem.root, problem.target)[few], rtol=ROUNDING)


@pytest.mark.parametrize("size", [1, 4, 7])
def test_inclusion_is_the_posterior_summed_over_all_supports(size: int) -> None:
    assert 2**size <= evidence.CANDIDATES
    # Costs near the gains of single terms, so that no term is certain or excluded.
    problem = random_problem(size, seed=6 + size, samples=60)
    costs = np.full(size, 0.7)
    supports, scores = brute_force(problem, costs)
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    found = search(problem, costs)
    assert ((found.inclusion > 0.05) & (found.inclusion < 0.95)).any()
    np.testing.assert_allclose(found.inclusion, weights @ supports, rtol=1e-8)
    coefficients = np.array([problem.solve(support) for support in supports])
    np.testing.assert_allclose(found.mean, weights @ coefficients, rtol=0, atol=1e-9)
    assert found.weights.sum() == pytest.approx(1.0)
    assert (np.diff(found.weights) <= 0).all()


def test_a_penalty_on_coefficients_changes_the_winner() -> None:
    problem = random_problem(5, seed=8, strong=(1, 3))
    costs = np.full(5, 3.0)
    free = search(problem, costs)
    np.testing.assert_array_equal(free.best, [False, True, False, True, False])

    def penalty(coefficients: FloatArray) -> FloatArray:
        return np.where(coefficients[:, 3] > 0, 1e6, 0.0)

    supports, scores = brute_force(problem, costs)
    fitted = np.array([problem.solve(support) for support in supports])
    held = search(problem, costs, penalty)
    np.testing.assert_array_equal(held.best, supports[np.argmax(scores - penalty(fitted))])
    assert held.coefficients[0, 3] <= 0
    assert held.gain < free.gain


@pytest.mark.parametrize("size", [11, 13, 16])
@pytest.mark.parametrize("strong", [(), (0, 5, 9)])
def test_leaving_certain_terms_out_of_the_search_changes_nothing(
    size: int, strong: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = random_problem(size, seed=size, strong=strong)
    costs = np.full(size, 3.0)
    quick = search(problem, costs)
    monkeypatch.setattr(evidence, "QUICK_LIMIT", evidence.EXHAUSTIVE_LIMIT)
    full = search(problem, costs)
    np.testing.assert_array_equal(quick.best, full.best)
    assert quick.gain == pytest.approx(full.gain, rel=ROUNDING)
    # What is left out lies at least NEGLIGIBLE nats below the best.
    left_out = evidence.CANDIDATES * np.exp(-evidence.NEGLIGIBLE)
    np.testing.assert_allclose(quick.inclusion, full.inclusion, rtol=0, atol=left_out)


def test_strong_terms_are_certain_and_noise_is_not() -> None:
    # Without this the test above would compare plain enumeration with itself.
    problem = random_problem(12, seed=12, strong=(0, 5, 9))
    reached = gain_by_least_squares(problem.root, problem.target, np.isin(np.arange(12), (0, 5, 9)))
    certain = evidence._certain(problem, np.full(12, 3.0), reached - 9.0)
    np.testing.assert_array_equal(np.flatnonzero(certain), [0, 5, 9])


@pytest.mark.parametrize("size", [11, 14])
@pytest.mark.parametrize("sure", [30.0, 1e6])
def test_terms_that_are_paid_for_taking_part_do_not_bring_in_others(size: int, sure: float) -> None:
    # Where the terms are known, costs are large and of both signs.
    problem = random_problem(size, seed=9, strong=(1,))
    known = np.isin(np.arange(size), (1, 4))
    found = search(problem, np.where(known, -sure, sure))
    np.testing.assert_array_equal(found.best, known)
    np.testing.assert_allclose(found.inclusion, known, rtol=0, atol=1e-6)


@pytest.mark.parametrize("size", [17, 20, 40])
def test_climbing_finds_strong_terms_among_many(size: int) -> None:
    for seed in range(3):
        strong = tuple(np.random.default_rng(seed).choice(size, 5, replace=False).tolist())
        problem = random_problem(size, seed=seed, strong=strong, samples=600)
        # At 10 nats the chance that any of the other terms gets in is at most
        # 40 P(|z| > sqrt(20)) = 40 x 8e-6; a strong term is worth 600 / 2 x (its part not shared).
        found = search(problem, np.full(size, 10.0))
        np.testing.assert_array_equal(found.best, np.isin(np.arange(size), strong))
        assert (found.inclusion[list(strong)] > 0.999).all()


def test_climbing_exchanges_a_stand_in_for_the_term_it_stands_for() -> None:
    # The sum of two true terms is the best single term. Once one of the two is in as well, the
    # other would not pay for itself beside the sum, but is better in its place.
    rng = np.random.default_rng(10)
    design = rng.normal(size=(500, 20))
    design[:, 2] = design[:, 0] + design[:, 1] + 0.15 * rng.normal(size=500)
    target = design[:, 0] + 1.5 * design[:, 1] + rng.normal(size=500)
    problem = Problem.from_sums(design.T @ design, design.T @ target, np.eye(20))
    costs = np.full(20, 10.0)

    def score(*terms: int) -> float:
        support = np.isin(np.arange(20), terms)
        return gain_by_least_squares(problem.root, problem.target, support) - 10.0 * len(terms)

    assert np.argmax(np.abs(problem.root.T @ problem.target)) == 2
    assert score(1, 2) > score(2)
    assert score(0, 1, 2) < score(1, 2) < score(0, 1)
    np.testing.assert_array_equal(np.flatnonzero(search(problem, costs).best), [0, 1])


def test_neighbours_are_all_supports_one_move_away_with_their_gains() -> None:
    size = 6
    problem = random_problem(size, seed=13, strong=(0, 3))
    gram, cross = problem.root.T @ problem.root, problem.root.T @ problem.target
    for current in every_support(size):
        found = {
            tuple(support.tolist()): gain
            for support, gain in evidence._neighbours(gram, cross, current)
        }
        moves = [
            support
            for support in every_support(size)
            if (support != current).sum() == 1
            or ((support != current).sum() == 2 and support.sum() == current.sum())
        ]
        assert set(found) == {tuple(support.tolist()) for support in moves}
        for support in moves:
            gain = gain_by_least_squares(problem.root, problem.target, support)
            assert found[tuple(support.tolist())] == pytest.approx(gain, rel=1e-8, abs=1e-8)


def test_a_repeated_column_is_not_a_neighbour() -> None:
    rng = np.random.default_rng(14)
    design = rng.normal(size=(50, 3))
    design = np.column_stack([design, design[:, 0]])
    problem = Problem.from_sums(design.T @ design, design.T @ rng.normal(size=50), np.eye(4))
    gram, cross = problem.root.T @ problem.root, problem.root.T @ problem.target
    current = np.array([True, False, False, False])
    found = [s.tolist() for s, _ in evidence._neighbours(gram, cross, current)]
    assert [True, True, False, False] in found
    assert [False, False, False, True] in found
    assert [True, False, False, True] not in found


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    exponents=st.lists(st.floats(-6, 6), min_size=6, max_size=12),
    seed=st.integers(0, 1000),
)
def test_units_of_the_columns_do_not_matter(exponents: list[float], seed: int) -> None:
    size = len(exponents)  # six to twelve: every support, climbing and certain terms
    scale = 10.0 ** np.array(exponents)
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(80, size))
    target = design[:, 0] + rng.normal(size=80)
    plain = Problem.from_sums(design.T @ design, design.T @ target, np.eye(size))
    costs = np.full(size, 2.0)
    expected = search(plain, costs)
    scaled = design * scale
    for problem in (
        Problem.from_sums(scaled.T @ scaled, scaled.T @ target, np.eye(size)),
        Problem.from_sums(design.T @ design, design.T @ target, np.diag(scale)),
    ):
        found = search(problem, costs)
        np.testing.assert_array_equal(found.best, expected.best)
        np.testing.assert_allclose(found.inclusion, expected.inclusion, rtol=0, atol=1e-7)
        np.testing.assert_allclose(
            found.coefficients[0] * scale, expected.coefficients[0], rtol=0, atol=1e-7
        )


def test_a_hundred_terms_are_climbed_and_not_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    # Four rounds (three terms and one that finds nothing better), each over one addition or an
    # exchange for each term that is there: 100 (1 + 0 + 1 + 2 + 3) supports and some. All subsets
    # would be 2^100.
    looked = 0
    neighbours = evidence._neighbours

    def counted(*arguments: Any) -> Any:
        nonlocal looked
        found = neighbours(*arguments)
        looked += len(found)
        return found

    monkeypatch.setattr(evidence, "_neighbours", counted)
    problem = random_problem(100, seed=11, strong=(3, 50, 77), samples=2000)
    found = search(problem, np.full(100, 10.0))
    np.testing.assert_array_equal(np.flatnonzero(found.best), [3, 50, 77])
    assert 300 < looked < 2000


def test_coefficients_may_move_along_other_directions_as_well() -> None:
    rng = np.random.default_rng(8)
    design = rng.normal(size=(40, 5)) * [1, 10, 0.1, 3, 1]
    gram, support = design.T @ design, np.array([True, False, True, False, False])
    problem = Problem.from_sums(gram, np.zeros(5), np.eye(5))
    free = np.column_stack([[0.0, 2.0, 1.0, 0.0, -3.0], np.zeros(5)])
    ways = np.column_stack([np.eye(5)[:, support], free[:, 0]])
    expected = ways @ np.linalg.inv(ways.T @ gram @ ways) @ ways.T
    np.testing.assert_allclose(problem.covariance(support, free), expected, atol=1e-12)
    # What the support holds already is not free twice.
    inside = np.eye(5)[:, :1]
    np.testing.assert_allclose(
        problem.covariance(support, inside), problem.covariance(support), atol=1e-12
    )


def test_climbing_keeps_the_best_of_all_that_it_met(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, costs = random_problem(20, seed=1, strong=(2, 7), samples=600), np.full(20, 3.0)
    supports, gains = evidence._climb(problem, costs)
    scores = gains - supports @ costs
    assert (np.diff(scores) <= 0).all()
    monkeypatch.setattr(evidence, "CANDIDATES", 5)
    few, _ = evidence._climb(problem, costs)
    np.testing.assert_array_equal(few, supports[:5])


def test_terms_beside_others_that_are_fitted_anew() -> None:
    """Gains add up to that of all, and coefficients are those of all at once."""
    rng = np.random.default_rng(7)
    design, target = rng.normal(size=(50, 6)), rng.normal(size=50)
    whole = Problem.from_sums(design.T @ design, design.T @ target, np.eye(6))
    terms, others = np.array([1, 1, 1, 0, 0, 0], bool), np.array([0, 0, 0, 1, 0, 1], bool)
    alone = whole.beside(terms, others)
    np.testing.assert_allclose(np.linalg.norm(alone.root, axis=0), 1.0)
    for chosen in ([True, False, True], [False, True, False]):
        support = others.copy()
        support[:3] = chosen
        assert alone.gain(np.array(chosen)) == pytest.approx(
            whole.gain(support) - whole.gain(others)
        )
        np.testing.assert_allclose(alone.solve(np.array(chosen)), whole.solve(support)[:3])


def test_beside_its_copy_a_term_is_none() -> None:
    copies = np.array([[1.0, 1.0], [1.0, 1.0]]) + 1e-13 * np.eye(2)
    problem = Problem.from_sums(copies, np.array([5.0, 5.0]), np.eye(2))
    alone = problem.beside(np.array([True, False]), np.array([False, True]))
    assert search(alone, np.ones(1)).best.tolist() == [False]


def test_a_support_is_improved_from_where_it_is() -> None:
    """Of two copies but for 1 %, climbing from the worse one exchanges it."""
    gram = np.array([[1.0, 0.99, 0.0], [0.99, 1.0, 0.0], [0.0, 0.0, 1.0]])
    problem = Problem.from_sums(100 * gram, 100 * gram @ np.array([1.0, 0.0, 0.0]), np.eye(3))
    costs = np.full(3, 5.0)
    for start in ([False, True, False], [False, True, True], [True, False, False], [False] * 3):
        assert improved(problem, costs, np.array(start)).tolist() == [True, False, False]
    dear = np.array([1e6, 5.0, 5.0])
    assert improved(problem, dear, np.zeros(3, dtype=bool)).tolist() == [False, True, False]
