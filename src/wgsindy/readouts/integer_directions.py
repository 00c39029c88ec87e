"""Tensors as sums of non-negative weights along integer directions.

Every positive definite tensor is a = sum_e w_e e e' with w_e >= 0 and d (d + 1) / 2 integer
vectors e (Selling 1874): with an obtuse superbase b_0 + ... + b_d = 0, <b_i, a b_j> <= 0, the
weights are w_ij = -<b_i, a b_j> and e_ij is orthogonal to all the other vectors of the superbase.
So a random walk on a grid, with jumps along these e, has any covariance one likes.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from wgsindy.data import FloatArray, IntArray
from wgsindy.errors import ReadoutError

MOST_FLIPS = 200  # an anisotropy of ten thousand takes as many as a hundred (tried)
OBTUSE = 1e-12  # of the trace: a product that rounding leaves of none


def decompose(tensor: FloatArray) -> tuple[FloatArray, IntArray]:
    """Weights ``(n, E)`` and integer directions ``(n, E, d)`` of tensors ``(n, d, d)``, d <= 3.

    Raises
    ------
    ReadoutError
        If a tensor is as good as singular.

    Examples
    --------
    >>> weights, directions = decompose(np.array([[[2.0, 1.0], [1.0, 2.0]]]))
    >>> np.einsum("e,ep,eq->pq", weights[0], directions[0], directions[0]).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    >>> bool((weights >= 0).all())
    True
    """
    n, d = tensor.shape[:2]
    if d == 1:
        return tensor[:, 0].copy(), np.ones((n, 1, 1), dtype=np.int64)
    base = np.zeros((n, d + 1, d), dtype=np.int64)
    base[:, :d] = np.eye(d, dtype=np.int64)
    base[:, d] = -1
    pairs = list(combinations(range(d + 1), 2))
    _make_obtuse(base, tensor, pairs)
    weights = np.stack([-_product(base, tensor, i, j) for i, j in pairs], axis=1)
    directions = np.stack([_orthogonal(base, pair) for pair in pairs], axis=1)
    return np.maximum(weights, 0.0), directions


def _product(base: IntArray, tensor: FloatArray, i: int, j: int) -> FloatArray:
    return np.asarray(np.einsum("np,npq,nq->n", base[:, i], tensor, base[:, j], optimize=True))


def _make_obtuse(base: IntArray, tensor: FloatArray, pairs: list[tuple[int, int]]) -> None:
    """Flip pairs of a superbase ``(n, d + 1, d)`` until every product is at most zero."""
    limit = OBTUSE * np.einsum("npp->n", tensor)
    active = np.arange(len(base))
    for _ in range(MOST_FLIPS):
        turned = np.zeros(len(active), dtype=bool)
        for i, j in pairs:
            product = _product(base[active], tensor[active], i, j)
            acute = (product > limit[active]) & ~turned
            turned |= acute
            _flip(base, active[acute], i, j)
        active = active[turned]
        if not len(active):
            return
    raise ReadoutError("a tensor is too close to singular to be put on a grid.")


def _flip(base: IntArray, at: IntArray, i: int, j: int) -> None:
    first, second = base[at, i], base[at, j]
    rest = [k for k in range(base.shape[1]) if k not in (i, j)]
    if len(rest) == 1:
        base[at, rest[0]] = first - second
    else:
        for k in rest:
            base[at, k] += first
    base[at, i] = -first


def _orthogonal(base: IntArray, pair: tuple[int, int]) -> IntArray:
    """Integer vector ``(n, d)`` orthogonal to every vector of the superbase but the pair."""
    rest = [base[:, k] for k in range(base.shape[1]) if k not in pair]
    if len(rest) == 1:
        return np.stack([-rest[0][:, 1], rest[0][:, 0]], axis=1)
    return np.asarray(np.cross(rest[0], rest[1]))
