"""The cone of positive semidefinite tensors."""

from __future__ import annotations

import numpy as np
import pytest

from wgsindy.data import FloatArray
from wgsindy.model import tensor

# d x d products of numbers of order one: a few roundings of 1.1e-16 each.
ATOL = 1e-14


def random_symmetric(d: int, n: int = 200, seed: int = 0) -> FloatArray:
    """Symmetric tensors, most of them indefinite, none aligned with the axes."""
    a = np.random.default_rng(seed).normal(size=(n, d, d))
    return (a + a.transpose(0, 2, 1)) / 2


def random_definite(d: int, n: int = 200, seed: int = 1) -> FloatArray:
    a = np.random.default_rng(seed).normal(size=(n, d, d))
    return np.einsum("npk,nqk->npq", a, a) + 0.01 * np.eye(d)


def clipped_by_eigenvalues(field: FloatArray, floor: float) -> FloatArray:
    out = []
    for one in field:
        values, vectors = np.linalg.eigh(one)
        out.append(vectors @ np.diag(np.maximum(values, floor)) @ vectors.T)
    return np.array(out)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_cholesky_is_the_lower_factor_of_numpy(d: int) -> None:
    field = random_definite(d)
    # The smallest pivot is 0.01 of a tensor of order 10, which costs three of sixteen digits.
    np.testing.assert_allclose(
        tensor.cholesky(field), np.linalg.cholesky(field), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize(
    "rows",
    [
        [[0.0]],
        [[0.0, 0.0], [0.0, 1.0]],
        [[1.0, 0.0], [0.0, 0.0]],
        [[4.0, 2.0], [2.0, 1.0]],
        [[0.0, 0.0, 0.0], [0.0, 2.0, 1.0], [0.0, 1.0, 2.0]],
        [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 6.0, 9.0]],
        [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 5.0]],
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ],
)
def test_rank_deficient_tensors_have_a_factor_too(rows: list[list[float]]) -> None:
    field = np.array([rows])
    factor = tensor.cholesky(field)
    np.testing.assert_allclose(factor @ factor.transpose(0, 2, 1), field, rtol=0, atol=ATOL)
    np.testing.assert_array_equal(factor, np.tril(factor))


@pytest.mark.parametrize(("d", "rank"), [(2, 1), (3, 1), (3, 2), (4, 2)])
def test_tensors_of_low_rank_have_a_factor_whatever_the_rounding(d: int, rank: int) -> None:
    rng = np.random.default_rng(2)
    a = np.tril(rng.normal(size=(500, d, rank)))
    # Without pivoting, rounding is divided by the pivots before it: these are of order one.
    a[:, range(rank), range(rank)] = rng.uniform(0.5, 2.0, size=(500, rank))
    field = np.einsum("npk,nqk->npq", a, a)
    factor = tensor.cholesky(field)
    # A pivot that should be zero is 1e-16 instead: its root, 1e-8, enters squared or times zero.
    scale = np.einsum("npp->n", field)[:, None, None]
    assert np.max(np.abs(factor @ factor.transpose(0, 2, 1) - field) / scale) < 1e-13


def test_rounding_beside_a_zero_pivot_is_left_out_of_the_factor() -> None:
    factor = tensor.cholesky(np.array([[[0.0, 1e-17], [1e-17, 4.0]]]))
    np.testing.assert_array_equal(factor, [[[0.0, 0.0], [0.0, 2.0]]])


@pytest.mark.parametrize("floor", [0.0, 0.3])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_clip_raises_eigenvalues_to_the_floor(d: int, floor: float) -> None:
    field = random_symmetric(d)
    wanted = clipped_by_eigenvalues(field, floor)
    assert np.abs(wanted - field).max() > 0.1
    np.testing.assert_allclose(tensor.clip(field, floor), wanted, rtol=0, atol=ATOL)


@pytest.mark.parametrize(
    "rows",
    [
        [[0.0, 1.0], [1.0, 5.0]],
        [[0.0, 1.0], [1.0, 0.0]],
        [[5.0, 1.0], [1.0, 0.0]],
        [[1.0, 1.0, 1.0], [1.0, 1.0, 2.0], [1.0, 2.0, 9.0]],
    ],
)
def test_clip_sees_a_zero_variance_with_a_covariance(rows: list[list[float]]) -> None:
    # A coordinate without noise cannot be correlated with anything: these are indefinite, though
    # no pivot of theirs is negative.
    field = np.array([rows])
    assert not tensor.is_semidefinite(field)[0]
    clipped = tensor.clip(field)
    np.testing.assert_allclose(clipped, clipped_by_eigenvalues(field, 0.0), rtol=0, atol=ATOL)
    assert tensor.is_semidefinite(clipped)[0]


def test_clip_leaves_tensors_inside_the_cone_bit_for_bit() -> None:
    inside, outside = random_definite(3), random_symmetric(3)
    field = np.concatenate([inside, outside])
    before = field.copy()
    np.testing.assert_array_equal(tensor.clip(field)[: len(inside)], inside)
    np.testing.assert_array_equal(tensor.clip(inside), inside)
    np.testing.assert_array_equal(field, before)


def test_clip_does_nothing_the_second_time() -> None:
    once = tensor.clip(random_symmetric(3), 0.2)
    np.testing.assert_allclose(tensor.clip(once, 0.2), once, rtol=0, atol=ATOL)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_clip_turns_with_the_coordinates(d: int) -> None:
    field = random_symmetric(d)
    turn, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(d, d)))
    turned = turn @ field @ turn.T
    np.testing.assert_allclose(
        tensor.clip(turned), turn @ tensor.clip(field) @ turn.T, rtol=0, atol=ATOL
    )


@pytest.mark.parametrize("d", [1, 2, 3])
def test_shrinking_keeps_the_trace_in_its_units(d: int) -> None:
    field, units = random_definite(d), np.array([0.1, 3.0, 20.0])[:d]
    shrunk = tensor.shrink(field, 0.3, units)
    relative = np.outer(units, units)
    traces = [np.einsum("npp->n", f / relative) for f in (field, shrunk)]
    np.testing.assert_allclose(traces[1], traces[0], rtol=1e-14)


def test_shrinking_is_the_mixture_it_claims_to_be() -> None:
    field, units = random_definite(2), np.array([0.5, 2.0])
    shrunk = tensor.shrink(field, 0.25, units)
    a11, a12, a22 = field[:, 0, 0], field[:, 0, 1], field[:, 1, 1]
    mean = (a11 / 0.25 + a22 / 4.0) / 2
    np.testing.assert_allclose(shrunk[:, 0, 0], 0.75 * a11 + 0.25 * mean * 0.25, rtol=1e-14)
    np.testing.assert_allclose(shrunk[:, 0, 1], 0.75 * a12, rtol=1e-14)
    np.testing.assert_allclose(shrunk[:, 1, 0], 0.75 * a12, rtol=1e-14)
    np.testing.assert_allclose(shrunk[:, 1, 1], 0.75 * a22 + 0.25 * mean * 4.0, rtol=1e-14)


def test_shrinking_by_nothing_and_by_everything() -> None:
    field, units = random_definite(3), np.array([0.1, 3.0, 20.0])
    np.testing.assert_array_equal(tensor.shrink(field, 0.0, units), field)
    isotropic = tensor.shrink(field, 1.0, units) / np.outer(units, units)
    mean = np.einsum("npp->n", field / np.outer(units, units)) / 3
    np.testing.assert_allclose(isotropic, mean[:, None, None] * np.eye(3), rtol=1e-14, atol=1e-12)


def test_rescaling_one_coordinate_with_its_unit_changes_nothing() -> None:
    field, units = random_definite(3), np.array([0.1, 3.0, 20.0])
    stretch = np.array([1.0, 1000.0, 1.0])
    square = np.outer(stretch, stretch)
    wanted = tensor.shrink(field, 0.1, units) * square
    np.testing.assert_allclose(
        tensor.shrink(field * square, 0.1, units * stretch), wanted, rtol=1e-13
    )
    # The unit has to go along: shrinking in raw units mixes the coordinates.
    raw = tensor.shrink(field * square, 0.1, units)
    assert np.abs(raw / wanted - 1).max() > 0.1


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_entries_and_tensors_are_two_forms_of_the_same(d: int) -> None:
    pairs = tensor.pairs(d)
    assert len(pairs) == len(set(pairs)) == d * (d + 1) // 2
    entries = np.random.default_rng(4).normal(size=(5, len(pairs)))
    field = tensor.symmetric(entries, d)
    np.testing.assert_array_equal(field, field.transpose(0, 2, 1))
    for e, (p, q) in enumerate(pairs):
        assert q <= p
        np.testing.assert_array_equal(field[:, p, q], entries[:, e])
    np.testing.assert_array_equal(tensor.entries_of(field), entries)
    triangle = tensor.lower_triangle(entries, d)
    np.testing.assert_array_equal(triangle, np.tril(field))


def test_outer_entries_are_those_of_the_outer_product() -> None:
    vectors = np.random.default_rng(5).normal(size=(6, 3))
    square = np.einsum("np,nq->npq", vectors, vectors)
    np.testing.assert_array_equal(tensor.outer_entries(vectors), tensor.entries_of(square))


def test_semidefinite_means_no_negative_eigenvalue_at_any_scale() -> None:
    field = np.array(
        [
            [[1.0, 0.0], [0.0, 0.0]],
            [[0.0, 0.0], [0.0, 0.0]],
            [[1.0, 0.99], [0.99, 1.0]],
            [[1.0, 1.01], [1.01, 1.0]],
            [[-1.0, 0.0], [0.0, 1.0]],
            [[0.0, 0.5], [0.5, 0.0]],
        ]
    )
    wanted = [True, True, True, False, False, False]
    for scale in (1e-30, 1.0, 1e30):
        assert tensor.is_semidefinite(scale * field).tolist() == wanted


def test_rounding_of_the_largest_eigenvalue_is_forgiven_but_no_more() -> None:
    forgiven, refused = np.diag([1.0, -1e-13]), np.diag([1.0, -1e-9])
    assert tensor.is_semidefinite(np.stack([forgiven, refused])).tolist() == [True, False]
