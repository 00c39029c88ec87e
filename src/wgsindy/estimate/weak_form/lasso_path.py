"""The lasso path, exactly, of several problems at once.

Between two knots the solution is linear in the strength s of the penalty: with the terms A in the
model and their signs, c_A = G_AA^-1 (g_A - s sign_A). A knot is where a term comes in or leaves.
A principal pivot transform of G, which is its own inverse, does either in place.

The problems of a cross-validation are small and alike, so they walk side by side: what a path of
scikit-learn costs here is mostly the overhead of its calls.
"""

from __future__ import annotations

import numpy as np

from wgsindy.data import BoolArray, FloatArray, IntArray

DEGENERATE = 1e-14  # what a term must have left that the terms in the model do not explain
MOST_KNOTS = 500  # rounding can lead a degenerate problem in circles

_SIGN_AFTER = np.array([1.0, -1.0, 0.0])  # of a term that comes in as +, comes in as -, leaves


def lasso_paths(gram: FloatArray, cross: FloatArray, strengths: FloatArray) -> FloatArray:
    """Minimise c' G c / 2 - g' c + s |c|_1 for each problem and strength; returns ``(B, S, K)``.

    ``gram (B, K, K)`` and ``cross (B, K)`` are G and g, ``strengths (B, S)`` are not negative.
    Terms that are not in the model are exactly zero. A term that the terms in the model explain
    is left out for good.
    """
    tableau, sign, barred = gram.copy(), np.zeros_like(cross), np.zeros(cross.shape, dtype=bool)
    problems, last = np.arange(len(cross)), strengths.min(axis=1)
    strength = np.full(len(cross), np.inf)
    pieces = []
    for _ in range(MOST_KNOTS):
        active = sign != 0
        both = tableau @ np.stack([cross * active, sign], axis=2)
        fit, slope = both[..., 0], both[..., 1]
        pieces.append((strength, fit * active, slope * active))
        knots = _knots(sign, ~(active | barred), cross - fit, fit, slope)
        kind, term = np.divmod(knots.reshape(len(cross), -1).argmax(axis=1), cross.shape[1])
        strength = np.minimum(strength, knots[problems, kind, term])
        going = strength > last
        if not going.any():
            break
        explained = (kind < 2) & (tableau[problems, term, term] < DEGENERATE)
        barred[problems, term] |= going & explained
        turning = np.flatnonzero(going & ~explained)
        sign[turning, term[turning]] = _SIGN_AFTER[kind[turning]]
        _pivot(tableau, turning, term[turning])
    starts, fits, slopes = (np.stack(parts) for parts in zip(*pieces, strict=True))
    piece = np.count_nonzero(strengths <= starts[1:, :, None], axis=0)
    at = problems[:, None]
    return np.asarray(fits[piece, at] - strengths[:, :, None] * slopes[piece, at])


def _knots(
    sign: FloatArray, outside: BoolArray, residual: FloatArray, fit: FloatArray, slope: FloatArray
) -> FloatArray:
    """Strengths ``(B, 3, K)`` at which each term would come in as +, come in as -, or leave.

    The correlation of a term outside is residual + s slope, and it comes in where that reaches s;
    only what gets nearer as s falls counts, so a term that just turned does not turn again.
    """
    gap = np.stack([1.0 - slope, 1.0 + slope, slope], axis=1)
    reach = np.stack([residual, -residual, fit], axis=1)
    nearer = (gap > 0) & outside[:, None]
    nearer[:, 2] = sign * slope < 0
    return np.divide(reach, gap, out=np.full_like(gap, -np.inf), where=nearer)


def _pivot(tableau: FloatArray, problems: IntArray, terms: IntArray) -> None:
    """Exchange one term of each problem: into the model if it is outside, out of it if it is in."""
    pivot = tableau[problems, terms, terms]
    row, column = tableau[problems, terms], tableau[problems, :, terms]
    update = column[:, :, None] * (row / pivot[:, None])[:, None, :]
    tableau[problems] -= update
    tableau[problems, terms] = -row / pivot[:, None]
    tableau[problems, :, terms] = column / pivot[:, None]
    tableau[problems, terms, terms] = 1.0 / pivot
