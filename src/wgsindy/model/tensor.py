"""The cone of positive semidefinite tensors, for fields of them: arrays ``(n, d, d)``.

A symmetric tensor is stored by its ``E = d (d + 1) / 2`` independent entries, the lower triangle
row by row: for d = 2 these are a11, a21 = a12, a22. Where entries become tensors or come from
them, points are first, ``(n, E)``, as in states ``(n, d)`` and values of terms ``(n, K)``. What
computes entry by entry (:func:`has_root`, :func:`precision`, :func:`times`) takes them as rows,
``(E, n)``, each one block of memory; ``.T`` leads from one to the other without a copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from wgsindy.data import BoolArray, FloatArray


@cache
def pairs(dimension: int) -> tuple[tuple[int, int], ...]:
    """Index pairs (p, q) with q <= p of the independent entries, in storage order.

    >>> pairs(2)
    ((0, 0), (1, 0), (1, 1))
    """
    return tuple((p, q) for p in range(dimension) for q in range(p + 1))


@cache
def entry_number(p: int, q: int) -> int:
    """Place of the entry (p, q), or (q, p), in storage order.

    >>> [entry_number(p, q) for p, q in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]]
    [0, 1, 1, 2, 3]
    """
    larger, smaller = max(p, q), min(p, q)
    return larger * (larger + 1) // 2 + smaller


def dimension_of(entries: FloatArray) -> int:
    """Dimension d of tensors given by their ``E = d (d + 1) / 2`` entries ``(E, ...)``."""
    return int(np.sqrt(2 * len(entries)))


def outer_entries(vectors: FloatArray) -> FloatArray:
    """Independent entries ``(n, E)`` of v v' for vectors ``(n, d)``."""
    return np.stack([vectors[:, p] * vectors[:, q] for p, q in pairs(vectors.shape[1])]).T


def lower_triangle(entries: FloatArray, dimension: int) -> FloatArray:
    """Put entries ``(n, E)`` into lower triangles ``(n, d, d)``."""
    # Entries are neighbours in memory point by point: everything here works entry by entry, twice
    # as fast where an entry is one run of memory.
    out = np.zeros((dimension, dimension, len(entries))).transpose(2, 0, 1)
    for e, (p, q) in enumerate(pairs(dimension)):
        out[:, p, q] = entries[:, e]
    return out


def symmetric(entries: FloatArray, dimension: int) -> FloatArray:
    """Put entries ``(n, E)`` into symmetric tensors ``(n, d, d)``."""
    out = lower_triangle(entries, dimension)
    for p, q in pairs(dimension):
        out[:, q, p] = out[:, p, q]
    return out


def entries_of(tensor: FloatArray) -> FloatArray:
    """Independent entries ``(n, E)`` of tensors ``(n, d, d)``."""
    return np.stack([tensor[:, p, q] for p, q in pairs(tensor.shape[1])]).T


def cholesky(tensor: FloatArray) -> FloatArray:
    """Lower factor L with L L' = tensor, ``(n, d, d)``, for semidefinite tensors.

    A zero pivot gives a zero column instead of a division by zero, so rank-deficient tensors
    (a coordinate without noise) have a factor too.
    """
    factor, _ = _factorise(entries_of(tensor).T)
    return lower_triangle(factor.T, tensor.shape[1])


def has_root(entries: FloatArray) -> BoolArray:
    """Whether tensors with ``entries (E, n)`` are positive semidefinite, by trying a factor."""
    return _factorise(entries)[1]


def _factorise(entries: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return the factor ``(E, n)`` and whether each tensor was positive semidefinite."""
    factor = np.zeros(entries.shape)
    valid = np.ones(entries.shape[1], dtype=bool)
    dimension = dimension_of(entries)
    for q in range(dimension):
        for p in range(q, dimension):
            rest = entries[entry_number(p, q)].copy()
            for k in range(q):
                rest -= factor[entry_number(p, k)] * factor[entry_number(q, k)]
            if p == q:
                valid &= rest >= 0
                root = np.sqrt(np.maximum(rest, 0.0))
                divisor = np.where(root > 0, root, np.inf)
                factor[entry_number(q, q)] = root
            else:
                # A coordinate without variance cannot covary.
                valid &= (root > 0) | (rest == 0)
                factor[entry_number(p, q)] = rest / divisor
    return factor, valid


def clip(tensor: FloatArray, floor: float = 0.0) -> FloatArray:
    """Raise every eigenvalue below ``floor`` to it; tensors inside the cone are untouched."""
    # Most points need nothing, which a Cholesky attempt tells far sooner than eigenvalues do.
    inside = has_root(entries_of(tensor - floor * np.eye(tensor.shape[1])).T)
    outside = ~inside
    if not outside.any():
        return tensor
    clipped = tensor.copy()
    values, vectors = np.linalg.eigh(tensor[outside])
    clipped[outside] = np.einsum(
        "npk,nk,nqk->npq", vectors, np.maximum(values, floor), vectors, optimize=True
    )
    return clipped


def precision(entries: FloatArray, floor: float) -> tuple[FloatArray, FloatArray]:
    """Independent entries ``(E, n)`` of the inverse of tensors given by theirs, ``(E, n)``.

    And the root of its determinant, ``(n,)``.

    Correlations are held back so that no coordinate has less than ``floor`` of its variance left
    once the coordinates before it are known: an estimate may say that noise is shared entirely,
    but weights must not believe it. Variances must be positive.
    """
    d = dimension_of(entries)
    scale = [1.0 / np.sqrt(entries[entry_number(p, p)]) for p in range(d)]
    # The first coordinate has nothing before it.
    factor: dict[tuple[int, int], FloatArray | float] = {(0, 0): 1.0}
    inverse: dict[tuple[int, int], FloatArray | float] = {(0, 0): 1.0}
    root = scale[0]
    for p in range(1, d):
        known: FloatArray | float = 0.0
        for q in range(p):
            shared = entries[entry_number(p, q)] * scale[p] * scale[q]
            for k in range(q):
                shared = shared - factor[p, k] * factor[q, k]
            factor[p, q] = shared / factor[q, q]
            known = known + factor[p, q] ** 2
        factor[p, p] = np.sqrt(np.maximum(1.0 - known, floor))
        held = np.sqrt(np.minimum(1.0, (1.0 - floor) / np.maximum(known, 1.0 - floor)))
        for q in range(p):
            factor[p, q] = factor[p, q] * held
        inverse[p, p] = 1.0 / factor[p, p]
        root = root * inverse[p, p] * scale[p]
        for q in range(p):
            carried = sum(factor[p, k] * inverse[k, q] for k in range(q, p))
            inverse[p, q] = -carried / factor[p, p]
    rows = [
        sum(inverse[k, p] * inverse[k, q] for k in range(p, d)) * (scale[p] * scale[q])
        for p, q in pairs(d)
    ]
    return np.stack(rows), root


def times(entries: FloatArray, vectors: FloatArray) -> FloatArray:
    """Products ``(d, n)`` of symmetric tensors, entries ``(E, n)``, with vectors ``(d, n)``."""
    out = np.zeros_like(vectors)
    for e, (p, q) in enumerate(pairs(len(vectors))):
        out[p] += entries[e] * vectors[q]
        if p != q:
            out[q] += entries[e] * vectors[p]
    return out


def is_semidefinite(tensor: FloatArray, tolerance: float = 1e-12) -> BoolArray:
    """Whether the smallest eigenvalue is not negative, up to rounding of the largest."""
    values = np.linalg.eigvalsh(tensor)
    return np.asarray(values[:, 0] >= -tolerance * np.abs(values).max(axis=1))


def shrink(tensor: FloatArray, weight: float, units: FloatArray) -> FloatArray:
    """Mix in the isotropic part, ``(1 - w) a + w tr(a) / d I``, in units of each coordinate.

    In units ``u`` the tensor is a_pq / (u_p u_q), so that rescaling one coordinate together with
    its unit changes nothing.
    """
    if weight == 0:
        return tensor
    mean = np.einsum("npp,p->n", tensor, units**-2.0) / len(units)
    isotropic = np.diag(units**2)
    return (1 - weight) * tensor + weight * mean[:, None, None] * isotropic


TensorForm = Literal["entries", "clipped", "factor"]


@dataclass(frozen=True)
class TensorField:
    """How the tensor is made from the terms.

    ``entries``: a_pq = theta c, as it is. ``clipped``: the same with negative eigenvalues set to
    zero at each point. ``factor``: L_pq = theta c, a = L L'; positive semidefinite everywhere by
    construction.
    """

    form: TensorForm
    coefficients: FloatArray  # (E, K): of the entries of a, or of L
    shrinkage: float  # weight of the isotropic part that is mixed in
    units: FloatArray  # (d,): of each coordinate, in which that part is isotropic
    order: tuple[int, ...] | None = None  # in which a factor takes the coordinates; None: as is

    @property
    def place(self) -> list[int]:
        """Place of each coordinate in the order of the factor."""
        return (
            list(range(len(self.units))) if self.order is None else np.argsort(self.order).tolist()
        )

    def __call__(self, theta: FloatArray) -> FloatArray:
        """Return tensors ``(n, d, d)`` for library values ``(n, K)``."""
        d = len(self.units)
        values = theta @ self.coefficients.T
        if self.form == "factor":
            factor = lower_triangle(values, d)[:, self.place]
            field = np.einsum("npk,nqk->npq", factor, factor)
        else:
            field = symmetric(values, d)
            if self.form == "clipped":
                field = clip(field)
        return shrink(field, self.shrinkage, self.units)


def correlation(diffusion: FloatArray) -> FloatArray:
    """Shock correlations a_pq / sqrt(a_pp a_qq), ``(n, d, d)``; zero where a variance is zero."""
    variance = np.einsum("npp->np", diffusion)
    scale = np.sqrt(np.maximum(variance[:, :, None] * variance[:, None, :], 0.0))
    return np.divide(diffusion, scale, out=np.zeros_like(diffusion), where=scale > 0)


def fluctuation(diffusion: FloatArray) -> FloatArray:
    """Local variances (a_11, ..., a_dd), ``(n, d)``."""
    return np.einsum("npp->np", diffusion).copy()
