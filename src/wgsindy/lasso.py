"""The lasso path, exactly, of several problems at once.

Between two knots the solution is linear in the strength s of the penalty: with the terms A in the
model and their signs, c_A = G_AA^-1 (g_A - s sign_A). A knot is where a term comes in or leaves.
A principal pivot transform of G, which is its own inverse, does either in place.

The problems of a cross-validation are small and alike, so they walk side by side: what a path of
scikit-learn costs here is mostly the overhead of its calls.
"""

from __future__ import annotations

import numpy as np

from wgsindy.arrays import BoolArray, FloatArray, IntArray

TIE_BREAK = 1e-11
DEGENERATE = 1e-14  # what a term must have left that the terms in the model do not explain
MOST_KNOTS = 500  # rounding can lead a degenerate problem in circles

_SIGNS = np.array([1.0, -1.0, 0.0])[:, None]  # of a term after it came in, came in, left


def lasso_paths(gram: FloatArray, cross: FloatArray, strengths: FloatArray) -> FloatArray:
    """Minimise c' G c / 2 - g' c + s |c|_1 for each problem and strength; returns ``(B, S, K)``.

    ``gram (B, K, K)`` and ``cross (B, K)`` are G and g, ``strengths (B, S)`` are not negative.
    Terms that are not in the model are exactly zero. A term that the terms in the model explain
    is left out for good.
    """
    # Which of two terms comes in first must not be left to rounding.
    cross = cross * (1.0 - TIE_BREAK * np.arange(cross.shape[1]))
    paths = np.zeros((*strengths.shape, cross.shape[1]))
    tableau, sign, barred = gram.copy(), np.zeros_like(cross), np.zeros(cross.shape, dtype=bool)
    strength = np.full(len(cross), np.inf)
    walking = np.arange(len(cross))
    for _ in range(MOST_KNOTS):
        active = sign[walking] != 0
        columns = np.stack([cross[walking] * active, sign[walking]], axis=2)
        fit, slope = np.moveaxis(tableau[walking] @ columns, 2, 0)
        _fill(paths, strengths, walking, strength, fit * active, slope * active)
        knots = _knots(active, sign[walking], barred[walking], cross[walking] - fit, fit, slope)
        event = knots.reshape(len(walking), -1).argmax(axis=1)
        kind, term = np.divmod(event, cross.shape[1])
        strength[walking] = np.minimum(strength[walking], knots[np.arange(len(event)), kind, term])
        going = strength[walking] > strengths[walking].min(axis=1)
        if not going.any():
            break
        walking, kind, term = walking[going], kind[going], term[going]
        explained = tableau[walking, term, term] < DEGENERATE
        explained &= sign[walking, term] == 0
        barred[walking[explained], term[explained]] = True
        turning, term, kind = walking[~explained], term[~explained], kind[~explained]
        sign[turning, term] = _SIGNS[kind, 0]
        _pivot(tableau, turning, term)
    return paths


def _fill(
    paths: FloatArray,
    strengths: FloatArray,
    walking: IntArray,
    strength: FloatArray,
    fit: FloatArray,
    slope: FloatArray,
) -> None:
    """Write the solution at every strength from here on; the next knot corrects what is beyond."""
    problem, place = np.nonzero(strengths[walking] <= strength[walking, None])
    wanted = strengths[walking[problem], place]
    paths[walking[problem], place] = fit[problem] - wanted[:, None] * slope[problem]


def _knots(
    active: BoolArray,
    sign: FloatArray,
    barred: BoolArray,
    residual: FloatArray,
    fit: FloatArray,
    slope: FloatArray,
) -> FloatArray:
    """Strengths ``(B, 3, K)`` at which each term would come in as +, come in as -, or leave.

    The correlation of a term outside is residual + s slope, and it comes in where that reaches s;
    only what gets nearer as s falls counts, so a term that just turned does not turn again.
    """
    outside = ~(active | barred)
    gap = np.stack([1.0 - slope, 1.0 + slope, slope], axis=1)
    reach = np.stack([residual, -residual, fit], axis=1)
    nearer = np.stack([outside & (gap[:, 0] > 0), outside & (gap[:, 1] > 0), sign * slope < 0], 1)
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
