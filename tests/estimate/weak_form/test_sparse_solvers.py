"""Sparse solvers by their optimality conditions and by hand; weights of the drift refit."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from wgsindy.data import FloatArray, IntArray, Trajectories
from wgsindy.errors import LibraryError, NotEnoughDataError
from wgsindy.estimate.weak_form import sparse_solvers as selection
from wgsindy.estimate.weak_form.fit_weak import first_pass_tensors, reweighted_drift, row_weights
from wgsindy.estimate.weak_form.sparse_solvers import Rows, lasso_paths, solve
from wgsindy.estimate.weak_form.weak_rows import WeakForm, weak_form
from wgsindy.model import tensor
from wgsindy.recipes import PAPER, WeakFormRecipe
from wgsindy.terms import library

Solver = Literal["adaptive_lasso", "lasso", "stlsq"]
SOLVERS: tuple[Solver, ...] = ("adaptive_lasso", "lasso", "stlsq")
PLAIN = replace(PAPER, solver="stlsq", threshold=0.0)  # ordinary least squares


def folds_of(rows: int, n: int = 5) -> IntArray:
    return np.arange(rows, dtype=np.int64) % n


def noisy_system(*, rows: int = 200, seed: int = 0, noise: float = 0.3) -> Rows:
    """Six correlated columns, three of them in the truth."""
    rng = np.random.default_rng(seed)
    design = rng.standard_normal((rows, 6))
    design[:, 3] += 0.7 * design[:, 0]
    design[:, 5] -= 0.5 * design[:, 1]
    target = design @ [1.0, 0.0, -0.6, 0.0, 0.4, 0.0] + noise * rng.standard_normal(rows)
    return Rows(design, target, folds_of(rows))


def orthonormal(rows: int, columns: int, seed: int = 0) -> FloatArray:
    """Columns that are orthonormal to each other."""
    raw = np.random.default_rng(seed).standard_normal((rows, columns))
    return np.linalg.qr(raw)[0].astype(np.float64)


# The lasso path.


def gram_of(rows: Rows) -> tuple[FloatArray, FloatArray]:
    return rows.design.T @ rows.design, rows.design.T @ rows.target


def lasso_path(gram: FloatArray, cross: FloatArray, strengths: FloatArray) -> FloatArray:
    """The path ``(S, K)`` of one problem."""
    return lasso_paths(gram[None], cross[None], strengths[None])[0]


@pytest.mark.parametrize("seed", range(5))
def test_the_lasso_path_satisfies_the_optimality_conditions(seed: int) -> None:
    # |X'(y - X c)| <= s everywhere, and = s sign(c) on the support.
    gram, cross = gram_of(noisy_system(seed=seed, noise=3.0))
    largest = np.abs(cross).max()
    strengths = largest * np.array([1.5, 1.0, 0.6, 0.2, 0.03, 1e-3, 1e-6])
    path = lasso_path(gram, cross, strengths)
    sizes = [np.count_nonzero(c) for c in path]
    assert sizes[0] == sizes[1] == 0
    assert 0 < sizes[2] < 6  # the path has a sparse part
    assert sizes[-1] == 6
    for strength, c in zip(strengths, path, strict=True):
        slope = cross - gram @ c
        assert (np.abs(slope) <= strength + 1e-9 * largest).all()
        np.testing.assert_allclose(
            slope[c != 0], strength * np.sign(c[c != 0]), rtol=0, atol=1e-9 * largest
        )


def dropping_system(seed: int) -> tuple[FloatArray, FloatArray]:
    """Column 2 is nearly the sum of the first two: it enters early and often has to leave."""
    rng = np.random.default_rng(seed)
    design = rng.standard_normal((30, 4))
    design[:, 2] = design[:, 0] + design[:, 1] + 0.3 * rng.standard_normal(30)
    target = design @ [1.0, 1.0, 0.2, 0.3] + rng.standard_normal(30)
    return gram_of(Rows(design, target, folds_of(30)))


def test_the_lasso_path_drops_terms_that_cross_zero_and_leaves_nothing_of_them() -> None:
    # Plain least-angle regression would keep them; and rounding must not either, because every
    # term that is not exactly zero is refitted with full size.
    drops = 0
    for seed in range(100):
        gram, cross = dropping_system(seed)
        largest = np.abs(cross).max()
        strengths = largest * np.geomspace(1.0, 1e-4, 600)
        path = lasso_path(gram, cross, strengths)
        drops += bool(((path[:-1] != 0) & (path[1:] == 0)).any())
        slopes = cross - path @ gram
        full = np.broadcast_to(strengths[:, None], path.shape)
        assert (np.abs(slopes) <= full + 1e-9 * largest).all()
        active = path != 0
        np.testing.assert_allclose(
            slopes[active], (full * np.sign(path))[active], rtol=0, atol=1e-9 * largest
        )
    assert drops > 10  # the cases do contain drops


def test_a_lasso_without_penalty_is_least_squares() -> None:
    rows = noisy_system()
    found = lasso_path(*gram_of(rows), np.array([0.0]))[0]
    expected = np.linalg.lstsq(rows.design, rows.target, rcond=None)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_lasso_with_orthonormal_columns_is_soft_thresholding() -> None:
    design = orthonormal(40, 4)
    rows = Rows(design, design @ [3.0, -2.0, 1.0, 0.5], folds_of(40))
    found = lasso_path(*gram_of(rows), np.array([0.75]))[0]
    np.testing.assert_allclose(found, [2.25, -1.25, 0.25, 0.0], atol=1e-12)


def test_terms_that_enter_together_are_all_right() -> None:
    # scikit-learn's path alone gives 1.5 and more for coefficients of 0.5 here.
    cross = np.array([1.0, -1.0, 1.0, 0.5, 1.0])
    found = lasso_path(np.eye(5), cross, np.array([0.5, 0.25, 0.0]))
    expected = np.array([[0.5, -0.5, 0.5, 0, 0.5], [0.75, -0.75, 0.75, 0.25, 0.75], cross.tolist()])
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_problems_side_by_side_are_solved_as_if_alone() -> None:
    # Some paths have drops and are long, others end after one knot: none may disturb another.
    systems = [dropping_system(seed) for seed in range(20)]
    gram, cross = (np.stack(parts) for parts in zip(*systems, strict=True))
    depth = np.geomspace(1e-4, 0.9, 20)[:, None]
    strengths = np.abs(cross).max(axis=1)[:, None] * np.geomspace(1.0, depth, 30, axis=2)[:, 0]
    together = lasso_paths(gram, cross, strengths)
    for b in range(20):
        alone = lasso_path(gram[b], cross[b], strengths[b])
        np.testing.assert_allclose(together[b], alone, rtol=1e-12, atol=1e-14)
        assert ((together[b] != 0) == (alone != 0)).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_term_that_others_explain_is_left_out_and_the_rest_is_optimal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    design = rng.standard_normal((40, 5))
    design[:, 2] = design[:, 0] - design[:, 1]
    design[:, 4] = -3.0 * design[:, 0]
    design /= np.linalg.norm(design, axis=0)
    target = design @ [1.0, 0.5, 0.8, 0.3, -0.4] + 0.1 * rng.standard_normal(40)
    gram, cross = gram_of(Rows(design, target, folds_of(40)))
    strengths = np.abs(cross).max() * np.geomspace(1.0, 1e-6, 40)
    path = lasso_path(gram, cross, strengths)
    slopes = cross - path @ gram
    assert (np.abs(slopes) <= strengths[:, None] + 1e-9 * strengths[0]).all()
    assert (np.count_nonzero(path, axis=1) <= 3).all()


def test_equal_penalties_give_the_plain_lasso_whatever_their_size() -> None:
    # The strengths tried are relative to the one that kills every term, so a common factor of
    # all penalties drops out.
    rows = noisy_system(noise=2.0)
    system = selection._normalise(rows)
    plain = selection._lasso_cv(rows, system, np.ones(6), 1.0)
    np.testing.assert_allclose(
        selection._lasso_cv(rows, system, np.full(6, 37.0), 1.0), plain, rtol=1e-9
    )
    unequal = selection._lasso_cv(rows, system, np.array([1.0, 9, 1, 9, 1, 9]), 1.0)
    assert not np.allclose(unequal, plain, rtol=1e-3)


def test_the_adaptive_lasso_is_the_lasso_where_the_pilot_is_even() -> None:
    # Orthonormal columns with coefficients of one size, noise outside their span: the ridge pilot
    # has equal sizes, hence equal penalties.
    basis = orthonormal(60, 10)
    design, residual = basis[:, :4], basis[:, 4:] @ np.linspace(0.2, 1.0, 6)
    rows = Rows(design, design @ [1.0, -1.0, 1.0, 1.0] + residual, folds_of(60))
    shrunk = replace(PAPER, debias=False, threshold=0.0)
    adaptive, plain = (solve(rows, replace(shrunk, solver=s)) for s in ("adaptive_lasso", "lasso"))
    np.testing.assert_allclose(adaptive, plain, rtol=1e-6)
    assert (np.abs(plain) < 1).all()  # a lasso shrinks: the comparison is not of least squares


def test_the_adaptive_lasso_penalises_by_the_inverse_of_the_pilot() -> None:
    rows = noisy_system(noise=2.0)
    system = selection._normalise(rows)
    unit = rows.design / np.linalg.norm(rows.design, axis=0)
    goal = rows.target / np.linalg.norm(rows.target)
    pilot = np.linalg.solve(unit.T @ unit + 1e-6 * np.eye(6), unit.T @ goal)
    expected = selection._lasso_cv(rows, system, 1 / np.maximum(np.abs(pilot), 1e-3), 1.0)
    found = solve(rows, replace(PAPER, debias=False, threshold=0.0))
    back = expected * system.target_norm / system.column_norm
    np.testing.assert_allclose(found, back, rtol=1e-9)


@pytest.mark.parametrize("slack", [0.5, 1.0, 2.0])
def test_cross_validation_takes_the_sparsest_of_the_good_penalties(slack: float) -> None:
    # Excess over the best penalty m + 1 and m - 1 in two folds: 2 m in sum, with standard error
    # sd * sqrt 2 = 2. A stronger penalty may be worse by SLACK standard errors and no more.
    for m, chosen in ((0.95 * slack, 1), (1.05 * slack, 2)):
        errors = np.array([[9.0, 5 + m + 1, 5.0, 7.0], [9.0, 5 + m - 1, 5.0, 7.0]])
        assert selection._sparsest_good(errors, slack) == chosen


def test_a_single_fold_has_nothing_to_hold_out_and_keeps_what_explains_the_target() -> None:
    # One trajectory of a handful of samples has one centre, hence one fold: cross-validation has
    # no rows to train on, which is no reason to return zero.
    design = orthonormal(12, 2)
    rows = Rows(design, design @ [2.0, -1.0], np.zeros(12, dtype=np.int64))
    for solver in SOLVERS:
        np.testing.assert_allclose(solve(rows, replace(PAPER, solver=solver)), [2, -1], atol=1e-9)


# Thresholds.


def thresholded(coefficients: list[float], threshold: float = 0.12) -> list[bool]:
    """Which of some orthonormal terms survive the relative threshold."""
    design = orthonormal(30, len(coefficients))
    rows = Rows(design, design @ coefficients, folds_of(30))
    found = solve(rows, replace(PAPER, solver="stlsq", threshold=threshold))
    return [bool(c) for c in found]


def test_terms_below_twelve_per_cent_of_the_largest_are_dropped() -> None:
    assert thresholded([1.0, 0.121, -0.119, -0.5]) == [True, True, False, True]


def test_the_threshold_is_relative_to_the_largest_term() -> None:
    assert thresholded([10.0, 0.121, -0.119, -0.5]) == [True, False, False, False]


def test_a_threshold_of_zero_keeps_every_term() -> None:
    assert thresholded([1.0, 1e-6, -1e-9, 0.5], threshold=0.0) == [True] * 4


def test_the_threshold_acts_on_contributions_not_on_units() -> None:
    # A column of length 1000 with coefficient 0.001 contributes as much as one of length 1.
    design = orthonormal(30, 3) * [1.0, 1000.0, 1.0]
    rows = Rows(design, design @ [1.0, 0.001, 0.1], folds_of(30))
    np.testing.assert_allclose(
        solve(rows, replace(PAPER, solver="stlsq")), [1.0, 0.001, 0.0], atol=1e-12
    )


def loop_stlsq(design: FloatArray, target: FloatArray, threshold: float) -> FloatArray:
    """Sequentially thresholded least squares on unit columns, as the paper words it."""
    size = np.linalg.norm(design, axis=0)
    unit, kept = design / size, list(range(design.shape[1]))
    while True:
        c = np.linalg.lstsq(unit[:, kept], target, rcond=None)[0]
        limit = threshold * np.abs(c).max()
        still = [k for k, value in zip(kept, c, strict=True) if abs(value) >= limit]
        if still == kept:
            break
        kept = still
    out = np.zeros(design.shape[1])
    out[kept] = c
    return out / size


def test_dropped_terms_lead_to_refits_and_further_drops() -> None:
    # Column 2 is nearly column 1 plus a little of column 0: once it goes, 1 and 0 change.
    cascades = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        design = rng.standard_normal((40, 5))
        design[:, 2] = design[:, 1] + 0.3 * rng.standard_normal(40)
        target = design @ rng.uniform(-1, 1, 5) + rng.standard_normal(40)
        rows = Rows(design, target, folds_of(40))
        expected = loop_stlsq(design, target, 0.3)
        found = solve(rows, replace(PAPER, solver="stlsq", threshold=0.3))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        dense = np.linalg.lstsq(design, target, rcond=None)[0] * np.linalg.norm(design, axis=0)
        first_round = np.abs(dense) >= 0.3 * np.abs(dense).max()
        cascades += bool((first_round != (expected != 0)).any())
    assert cascades > 0  # the cases do contain a second round


def test_debiasing_is_least_squares_on_the_support() -> None:
    rows = noisy_system(noise=1.0)
    for solver in SOLVERS:
        found = solve(rows, replace(PAPER, solver=solver))
        support = found != 0
        assert 0 < support.sum() < 6
        refit = np.linalg.lstsq(rows.design[:, support], rows.target, rcond=None)[0]
        np.testing.assert_allclose(found[support], refit, rtol=1e-9)


def test_without_debiasing_the_lasso_stays_shrunk() -> None:
    rows = noisy_system(noise=1.0)
    for solver in SOLVERS[:2]:
        biased = solve(rows, replace(PAPER, solver=solver, debias=False))
        support = biased != 0
        refit = np.linalg.lstsq(rows.design[:, support], rows.target, rcond=None)[0]
        assert np.abs(biased).sum() < np.abs(refit).sum()


def test_each_block_has_its_own_threshold() -> None:
    # The second equation is ten times smaller; its own largest term is what counts.
    coefficients = np.array([1.0, 0.5, 0.05, 0.1, 0.05, 0.005])
    design = orthonormal(50, 6)
    blocks = np.array([0, 0, 0, 1, 1, 1], dtype=np.int64)
    together = Rows(design, design @ coefficients, folds_of(50))
    apart = replace(together, blocks=blocks)
    recipe = replace(PAPER, solver="stlsq")
    np.testing.assert_allclose(solve(together, recipe), [1, 0.5, 0, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(solve(apart, recipe), [1, 0.5, 0, 0.1, 0.05, 0], atol=1e-12)


# Units and edges.


@pytest.mark.parametrize("debias", [True, False])
@pytest.mark.parametrize("solver", SOLVERS)
def test_solutions_are_equivariant_under_units(solver: Solver, debias: bool) -> None:
    rows = noisy_system(noise=1.0)
    recipe = replace(PAPER, solver=solver, debias=debias)
    columns, factor = np.array([1e-6, 1e3, 1e6, 1.0, 1e-3, 7.0]), 1e-5
    scaled = Rows(rows.design * columns, rows.target * factor, rows.folds)
    expected = solve(rows, recipe)
    assert expected.any()
    np.testing.assert_allclose(
        solve(scaled, recipe), expected * factor / columns, rtol=1e-8, atol=0
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_zero_target_has_no_terms(solver: Solver) -> None:
    rows = noisy_system()
    zero = Rows(rows.design, np.zeros(200), rows.folds)
    np.testing.assert_array_equal(solve(zero, replace(PAPER, solver=solver)), np.zeros(6))


def test_fewer_rows_than_terms_are_refused_with_both_numbers() -> None:
    rows = noisy_system()
    with pytest.raises(NotEnoughDataError, match="5 weak rows for 6 terms"):
        solve(Rows(rows.design[:5], rows.target[:5], rows.folds[:5]), PAPER)


def test_as_many_rows_as_terms_are_enough() -> None:
    rows = noisy_system(noise=0.0)
    square = Rows(rows.design[:6], rows.target[:6], rows.folds[:6])
    np.testing.assert_allclose(solve(square, PLAIN), [1, 0, -0.6, 0, 0.4, 0], atol=1e-10)


def test_a_term_that_is_zero_on_all_rows_is_refused_by_number() -> None:
    rows = noisy_system()
    design = rows.design * [1, 1, 1, 1, 0, 1]
    with pytest.raises(LibraryError, match="term number 4"):
        solve(Rows(design, rows.target, rows.folds), PAPER)


# Folds.


def form(
    recipe: WeakFormRecipe, *, trajectories: int, dimension: int = 2, samples: int = 160
) -> WeakForm:
    rng = np.random.default_rng(trajectories)
    paths = list(rng.standard_normal((trajectories, samples, dimension)))
    data = Trajectories(paths, dt=0.1)
    return weak_form(data, library("poly1").bind(data.names), recipe, seed=0)


def test_folds_hold_whole_trajectories() -> None:
    weak = form(replace(PAPER, n_centres=7), trajectories=12)
    folds = weak.row_folds.reshape(12, 7)
    assert (folds == folds[:, :1]).all()
    counts = np.bincount(folds[:, 0])
    assert len(counts) == 5
    assert counts.max() - counts.min() <= 1


def test_there_are_no_more_folds_than_trajectories() -> None:
    weak = form(replace(PAPER, n_centres=7), trajectories=3)
    assert sorted(weak.row_folds[::7].tolist()) == [0, 1, 2]


@pytest.mark.parametrize(("rows", "groups"), [("trajectory", 9), ("pooled", 4)])
def test_rows_without_a_fold_are_grouped_as_all_of_them_are(
    rows: Literal["trajectory", "pooled"], groups: int
) -> None:
    weak = form(replace(PAPER, n_centres=7, rows=rows, cross_fit=True), trajectories=12)
    left = weak.without(0)
    assert (left.data.n_increments, left.n_groups) == (9 * 159, groups)  # 3 of 12 in the first
    assert np.unique(left.row_folds).tolist() == [0, 1, 2, 3]


def test_folds_deal_out_trajectories_in_order_of_position() -> None:
    rng = np.random.default_rng(0)
    offsets = [50.0, 10.0, 40.0, 20.0, 30.0, 60.0]
    data = Trajectories([rng.standard_normal((60, 2)) + c for c in offsets], dt=0.1)
    weak = weak_form(
        data, library("poly1").bind(data.names), replace(PAPER, n_centres=4, folds=3), seed=0
    )
    assert weak.row_folds[::4].tolist() == [1, 0, 0, 1, 2, 2]


@pytest.mark.parametrize(("rows", "trajectories"), [("trajectory", 1), ("pooled", 12)])
def test_rows_of_one_cloud_are_split_into_blocks(
    rows: Literal["trajectory", "pooled"], trajectories: int
) -> None:
    weak = form(replace(PAPER, n_centres=13, rows=rows), trajectories=trajectories)
    folds = weak.row_folds
    assert len(folds) == 13
    assert (np.diff(folds) >= 0).all()  # a fold is a stretch of neighbouring rows
    counts = np.bincount(folds)
    assert len(counts) == 5
    assert counts.max() - counts.min() <= 1


def test_cross_fitted_pooled_rows_keep_the_folds_of_their_trajectories() -> None:
    weak = form(replace(PAPER, n_centres=7, rows="pooled", cross_fit=True), trajectories=12)
    assert weak.row_folds.tolist() == np.repeat(np.arange(5), weak.n_centres).tolist()
    np.testing.assert_array_equal(weak.group, weak.fold)


# Generalised least squares.


def test_row_weights_by_hand() -> None:
    # V^-1/2 is 0.5, 1, 2, 1e6, 1e-6 with median 1; the clip is [0.05, 20].
    variance = np.array([4.0, 1.0, 0.25, 1e-12, 1e12])
    np.testing.assert_allclose(row_weights(variance), [0.5, 1.0, 2.0, 20.0, 0.05], rtol=1e-14)


def test_row_weights_are_relative_to_their_median() -> None:
    # V^-1/2 is 0.1, 0.2, 0.4 with median 0.2.
    np.testing.assert_allclose(row_weights(np.array([100.0, 25.0, 6.25])), [0.5, 1, 2], rtol=1e-14)


def test_a_row_without_noise_gets_the_upper_limit_and_does_not_move_the_median() -> None:
    weights = row_weights(np.array([0.0, 100.0, 25.0, 6.25, 0.0]))
    np.testing.assert_allclose(weights, [20.0, 0.5, 1.0, 2.0, 20.0], rtol=1e-14)


def test_weighted_rows_solve_the_weighted_normal_equations() -> None:
    rows = noisy_system(noise=2.0)
    s = np.random.default_rng(1).uniform(0.05, 20.0, 200)
    a, b, w = rows.design, rows.target, np.diag(s**2)
    expected = np.linalg.solve(a.T @ w @ a, a.T @ w @ b)
    np.testing.assert_allclose(solve(rows.weighted(s), PLAIN), expected, rtol=1e-9)
    assert not np.allclose(solve(rows, PLAIN), expected, rtol=1e-2)


def some_noise(weak: WeakForm, *, correlation: float) -> FloatArray:
    """Row-noise entries ``(M, E)`` in a range in which no clip acts.

    The last component is 14 times as noisy as the others, more than the inverse of the relative
    threshold: whitened, its terms would all be dropped beside theirs.
    """
    rng = np.random.default_rng(5)
    d, m = weak.data.dimension, len(weak.design)
    root = np.sqrt(rng.uniform(0.6, 1.2, (m, d)))
    root[:, -1] *= 14 if d > 1 else 1
    # The correlation changes from row to row, so that whitening matrices do not commute.
    shape = rng.uniform(0.5, 1.0, (m, 1, 1)) * correlation * np.ones((d, d))
    shape[:, range(d), range(d)] = 1.0
    return tensor.entries_of(root[:, :, None] * shape * root[:, None, :])


def test_diagonal_reweighting_is_weighted_least_squares_of_each_component() -> None:
    weak = form(replace(PAPER, n_centres=7), trajectories=6)
    noise = some_noise(weak, correlation=0.6)
    found = reweighted_drift(replace(weak, recipe=replace(PLAIN, gls="diagonal")), noise)
    a, b = weak.design, weak.drift_targets
    for p, column in enumerate([0, 2]):  # entries are a11, a21, a22
        w = np.diag(1 / noise[:, column])
        expected = np.linalg.solve(a.T @ w @ a, a.T @ w @ b[:, p])
        np.testing.assert_allclose(found[p], expected, rtol=1e-8)


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("threshold", [0.0, 0.12])
def test_full_whitening_by_a_diagonal_tensor_is_componentwise(
    dimension: int, threshold: float
) -> None:
    weak = form(replace(PAPER, n_centres=7), trajectories=6, dimension=dimension)
    noise = some_noise(weak, correlation=0.0)
    recipe = replace(PLAIN, threshold=threshold)
    full = reweighted_drift(replace(weak, recipe=replace(recipe, gls="full")), noise)
    diagonal = reweighted_drift(replace(weak, recipe=replace(recipe, gls="diagonal")), noise)
    assert diagonal.any()
    np.testing.assert_allclose(full, diagonal, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("dimension", [2, 3])
def test_full_whitening_is_joint_generalised_least_squares(dimension: int) -> None:
    weak = form(replace(PAPER, n_centres=7), trajectories=6, dimension=dimension)
    noise = some_noise(weak, correlation=0.6)
    k = len(weak.basis)
    normal, right = np.zeros((dimension * k, dimension * k)), np.zeros(dimension * k)
    for m, covariance in enumerate(tensor.symmetric(noise, dimension)):
        precision = np.linalg.inv(covariance)
        normal += np.kron(precision, np.outer(weak.design[m], weak.design[m]))
        right += np.kron(precision @ weak.drift_targets[m], weak.design[m])
    expected = np.linalg.solve(normal, right).reshape(dimension, k)
    found = reweighted_drift(replace(weak, recipe=replace(PLAIN, gls="full")), noise)
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    # Negative control: leaving the cross-covariance out is another estimate.
    diagonal = reweighted_drift(replace(weak, recipe=replace(PLAIN, gls="diagonal")), noise)
    assert np.abs(diagonal - expected).max() > 1e-2 * np.abs(expected).max()


def test_first_pass_tensors_of_a_fold_do_not_know_its_data() -> None:
    # Least squares in a closed library does not depend on the frame, so the field may be compared
    # although the common frame has seen everything.
    rng = np.random.default_rng(0)
    paths = (
        np.cumsum(rng.standard_normal((10, 200, 2)), axis=1) * 0.1 + np.arange(10)[:, None, None]
    )
    recipe = replace(PLAIN, n_centres=7, cross_fit=True)

    def fields(changed: list[FloatArray]) -> tuple[IntArray, FloatArray]:
        data = Trajectories(changed, dt=0.01)
        weak = weak_form(data, library("poly1").bind(data.names), recipe, seed=0)
        entries = np.zeros((3, len(weak.basis)))
        found = first_pass_tensors(weak, entries)
        units = weak.frame.scale[[0, 1, 1]] * weak.frame.scale[[0, 0, 1]]
        return weak.fold, found @ weak.basis.values(np.array([[1.0, 2.0]]))[0] * units

    fold, before = fields(list(paths))
    paths[2] += 0.3 * rng.standard_normal((200, 2))
    same, after = fields(list(paths))
    assert (fold == same).all()
    relative = np.abs(after / before - 1).max(axis=1)
    assert relative[fold[2]] < 1e-9
    assert (np.delete(relative, fold[2]) > 1e-3).all()  # the other folds did see the change


def test_targets_are_of_unit_length_or_as_they_are() -> None:
    rows = noisy_system()
    length = float(np.linalg.norm(rows.target))
    unit, plain = (selection._normalise(rows, unit_target=one) for one in (True, False))
    assert unit.target_norm == pytest.approx(length)
    assert plain.target_norm == 1.0
    assert np.linalg.norm(unit.target) == pytest.approx(1.0)
    assert np.linalg.norm(plain.target) == pytest.approx(length)
    nothing = replace(rows, target=np.zeros_like(rows.target))
    for one in (True, False):
        assert selection._normalise(nothing, unit_target=one).target_norm == 0.0
