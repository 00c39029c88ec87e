"""Products and inverses of many small matrices at once, sample last."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from wgsindy.data import FloatArray, IntArray
from wgsindy.model import tensor


def multiply(left: FloatArray, right: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """Products ``(p, r, n)`` of matrices ``(p, q, n)`` and ``(q, r, n)``, sample by sample."""
    found: FloatArray = np.einsum("pqn,qrn->prn", left, right, out=out)
    return found


@np.errstate(all="ignore")
def inverse(matrices: FloatArray) -> FloatArray:
    """Inverses of ``(d, d, n)`` matrices that are not far from one (no pivots are sought).

    NaN where there is none: what is made of it does not count.
    """
    d = len(matrices)
    work = np.concatenate([matrices, np.zeros_like(matrices)], axis=1)
    for p in range(d):
        work[p, d + p] = 1.0
    for p in range(d):
        work[p] /= work[p, p].copy()
        for q in range(d):
            if q != p:
                work[q] -= work[q, p].copy() * work[p]
    return work[:, d:]


def congruence(matrices: FloatArray, entries: Sequence[int] | None = None) -> FloatArray:
    """Matrices ``(E, g, n)`` that take ``g`` entries of a symmetric X, or all, to those of F X F'.

    All other entries are zero.
    """
    d, _, n = matrices.shape
    places, apart = _factors(d, None if entries is None else tuple(entries))
    flat = matrices.reshape(d * d, n)
    first, second, third, fourth = (flat.take(place, axis=0) for place in places)
    first *= second
    third *= fourth
    third *= apart
    first += third
    return first.reshape(d * (d + 1) // 2, -1, n)


@cache
def _factors(d: int, entries: tuple[int, ...] | None) -> tuple[IntArray, FloatArray]:
    """Say which numbers of F are multiplied by :func:`congruence`, and where two products count."""
    p, q = np.array(tensor.pairs(d), dtype=np.int64).reshape(-1, 2).T
    r, s = (p, q) if entries is None else (p[list(entries)], q[list(entries)])
    p, q = p[:, None] * d, q[:, None] * d
    places = np.stack([(p + r).ravel(), (q + s).ravel(), (p + s).ravel(), (q + r).ravel()])
    return places, np.tile(r != s, len(p))[:, None].astype(np.float64)
