"""Sparse solvers of overdetermined linear systems, behind one function: :func:`solve`.

Columns and target are scaled to unit length first, so that coefficients, penalties and
thresholds are free of units: multiplying states or time by 1000 changes no selection. (With the
absolute floors of the paper's text the target keeps its units.)

The lasso path is exact. Between two knots the solution is linear in the strength s of the penalty:
with the terms A in the model and their signs, c_A = G_AA^-1 (g_A - s sign_A). A knot is where a
term comes in or leaves. A principal pivot transform of G, which is its own inverse, does either in
place.

The problems of a cross-validation are small and alike, so they walk side by side: what a path of
scikit-learn costs here is mostly the overhead of its calls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wgsindy.data import BoolArray, FloatArray, IntArray
from wgsindy.errors import LibraryError, NotEnoughDataError
from wgsindy.recipes import WeakFormRecipe

DEGENERATE = 1e-14  # rounding: what a term must have left that those in the model do not explain
MOST_KNOTS = 500  # rounding can lead a degenerate problem in circles
PILOT_FLOOR = 1e-3  # of the paper: the least pilot coefficient, so that no penalty is infinite
PATH = np.geomspace(1.0, 1e-4, 60)  # penalties, of what kills every term: steps of 15 %

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


@dataclass(frozen=True)
class Rows:
    """A linear system: ``design (M, K)``, ``target (M,)``, cross-validation ``folds (M,)``.

    ``blocks (K,)`` numbers the equations if several are solved at once; the relative threshold
    is applied within each.
    """

    design: FloatArray
    target: FloatArray
    folds: IntArray
    blocks: IntArray | None = None

    def weighted(self, weights: FloatArray) -> Rows:
        """Multiply each row by its weight."""
        return Rows(self.design * weights[:, None], self.target * weights, self.folds, self.blocks)


@dataclass(frozen=True)
class Normalised:
    """A system with unit columns and target, reduced by QR to at most K + 1 rows."""

    triangle: FloatArray  # R of [design | target]
    column_norm: FloatArray
    target_norm: float

    @property
    def design(self) -> FloatArray:
        return self.triangle[:, :-1]

    @property
    def target(self) -> FloatArray:
        return self.triangle[:, -1]


def _normalise(rows: Rows, *, unit_target: bool = True) -> Normalised:
    column_norm = np.linalg.norm(rows.design, axis=0)
    target_norm = float(np.linalg.norm(rows.target))
    if not unit_target and target_norm > 0:
        target_norm = 1.0
    joined = np.column_stack([rows.design, rows.target])
    scale = np.append(column_norm, target_norm)
    triangle = np.asarray(np.linalg.qr(joined / np.where(scale > 0, scale, 1.0), mode="r"))
    return Normalised(triangle, column_norm, target_norm)


def solve(rows: Rows, recipe: WeakFormRecipe) -> FloatArray:
    """Solve one sparse system; returns coefficients ``(K,)``, zero where not selected.

    Raises
    ------
    NotEnoughDataError
        If there are fewer rows than terms.
    LibraryError
        If a term vanishes on all data.
    """
    m, k = rows.design.shape
    if m < k:
        raise NotEnoughDataError(
            f"there are {m} weak rows for {k} terms; give more data or a smaller library."
        )
    system = _normalise(rows, unit_target=recipe.floors == "relative")
    if not system.column_norm.all():
        raise LibraryError(
            f"term number {int(np.argmin(system.column_norm))} of the library is zero on all "
            "data; leave it out."
        )
    if system.target_norm == 0:
        return np.zeros(k)
    coefficients = _select(rows, system, recipe)
    coefficients = _prune(system, coefficients, recipe, rows.blocks)
    return coefficients * system.target_norm / system.column_norm


def _select(rows: Rows, system: Normalised, recipe: WeakFormRecipe) -> FloatArray:
    everything = np.ones(system.design.shape[1], dtype=bool)
    if recipe.solver == "stlsq":
        return _least_squares(system, everything)
    if recipe.solver == "lasso":
        penalties = np.ones(len(everything))
    else:
        pilot = _ridge(system, recipe.pilot_ridge)
        penalties = 1.0 / np.maximum(np.abs(pilot), PILOT_FLOOR)
    coefficients = _lasso_cv(rows, system, penalties, recipe.slack)
    if recipe.debias:
        return _least_squares(system, coefficients != 0)
    return coefficients


def _ridge(system: Normalised, weight: float) -> FloatArray:
    k = system.design.shape[1]
    stacked = np.vstack([system.design, np.sqrt(weight) * np.eye(k)])
    return np.linalg.lstsq(stacked, np.append(system.target, np.zeros(k)), rcond=None)[0]


def _least_squares(system: Normalised, support: BoolArray) -> FloatArray:
    coefficients = np.zeros(len(support))
    if support.any():
        coefficients[support] = np.linalg.lstsq(
            system.design[:, support], system.target, rcond=None
        )[0]
    return coefficients


def _prune(
    system: Normalised, coefficients: FloatArray, recipe: WeakFormRecipe, blocks: IntArray | None
) -> FloatArray:
    """Drop terms below the relative threshold of their equation, refitting after each round."""
    blocks = np.zeros(len(coefficients), dtype=np.int64) if blocks is None else blocks
    while True:
        size = np.abs(coefficients)
        largest = np.zeros(blocks.max() + 1)
        np.maximum.at(largest, blocks, size)
        keep = (size > 0) & (size >= recipe.threshold * largest[blocks])
        if (keep == (size > 0)).all():
            return coefficients
        coefficients = _least_squares(system, keep) if recipe.debias else coefficients * keep


def _lasso_cv(rows: Rows, system: Normalised, penalties: FloatArray, slack: float) -> FloatArray:
    """Lasso with one penalty weight per term; its strength by cross-validation over folds."""
    scaled = rows.design / (system.column_norm * penalties)
    target = rows.target / system.target_norm
    n_folds = int(rows.folds.max()) + 1
    members = [np.flatnonzero(rows.folds == fold) for fold in range(n_folds)]
    held_out = [(scaled[member], target[member]) for member in members]
    gram = np.stack([part.T @ part for part, _ in held_out])
    cross = np.stack([part.T @ aim for part, aim in held_out])
    total_gram, total_cross = gram.sum(axis=0), cross.sum(axis=0)
    strengths = np.abs(total_cross).max() * PATH
    if n_folds == 1:  # nothing to hold out: no reason to prefer any model to the fullest
        return lasso_paths(gram, cross, strengths[None, -1:])[0, 0] / penalties
    # All data are one more problem, for the answer: a hold-out of nothing.
    kept = np.append([1.0 - len(member) / len(target) for member in members], 1.0)
    paths = lasso_paths(
        np.concatenate([total_gram - gram, total_gram[None]]),
        np.concatenate([total_cross - cross, total_cross[None]]),
        kept[:, None] * strengths,
    )
    errors = np.einsum("fsk,fsk->fs", paths[:-1] @ gram - 2 * cross[:, None], paths[:-1])
    return paths[-1, _sparsest_good(errors, slack)] / penalties


def _sparsest_good(errors: FloatArray, slack: float) -> int:
    """Choose the strongest penalty whose error ``(folds, S)`` is hardly above the smallest.

    "Hardly" is ``slack`` standard errors of the difference over folds: the minimum itself is
    noisy, and where the truth is zero it keeps terms that only fit noise.
    """
    excess = errors - errors[:, [int(np.argmin(errors.sum(axis=0)))]]
    spread = excess.std(axis=0, ddof=1) * np.sqrt(len(errors))
    return int(np.argmax(excess.sum(axis=0) <= slack * spread))
