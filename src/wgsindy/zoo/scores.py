"""How close a recovered generator is to a known one.

Field errors are relative L2 errors with equal weights on a Cartesian grid over the central 2-98 %
range of the states, as in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np

from wgsindy.data import CENTRAL_RANGE, FloatArray
from wgsindy.model import Generator, field_names, tensor
from wgsindy.terms import monomial_name

GRID_POINTS = 15  # of the paper, along each coordinate
# The paper's accuracy thresholds.
LARGEST_DRIFT_ERROR, LARGEST_TENSOR_ERROR, LEAST_PSD, LEAST_COSINE = 0.80, 0.45, 0.99, 0.85


def central_grid(states: FloatArray, points: int = GRID_POINTS) -> FloatArray:
    """Grid ``(points ** d, d)`` over the coordinatewise 2-98 % range of ``states (n, d)``."""
    low, high = np.percentile(states, CENTRAL_RANGE, axis=0)
    axes = [np.linspace(a, b, points) for a, b in zip(low, high, strict=True)]
    return np.array(list(product(*axes)))


def relative_error(estimate: FloatArray, truth: FloatArray) -> float:
    """|estimate - truth| / |truth| over all points and components; NaN if the truth is zero."""
    size = float(np.linalg.norm(truth))
    return float(np.linalg.norm(estimate - truth)) / size if size > 0 else float("nan")


def cosine(estimate: FloatArray, truth: FloatArray) -> float:
    """Cosine between two fields; NaN if the truth is zero, 0 if only the estimate is."""
    sizes = float(np.linalg.norm(estimate)), float(np.linalg.norm(truth))
    if sizes[1] == 0:
        return float("nan")
    return float(np.sum(estimate * truth)) / (sizes[0] * sizes[1]) if sizes[0] > 0 else 0.0


@dataclass(frozen=True)
class TruthScores:
    """Errors of one recovered generator; NaN where a quantity is not defined.

    ``drift`` E_b over the scored components, ``tensor`` E_a, ``cosine`` of the off-diagonal
    entries, ``psd`` fraction of grid points, ``action`` mean relative error of L f over first and
    second degree monomials f, ``fields`` the error of each component on its own.
    """

    drift: float
    tensor: float
    cosine: float
    psd: float
    action: float
    fields: dict[str, float]

    @property
    def score(self) -> float:
        """The paper's composite score, 1 for a perfect recovery."""
        return composite_score(self.drift, self.tensor, self.psd, self.cosine)

    @property
    def passes(self) -> bool:
        """Whether the paper's accuracy thresholds are passed; undefined quantities do not count."""
        return accurate(self.drift, self.tensor, self.psd, self.cosine)


def composite_score(drift: float, tensor_error: float, psd: float, cosine12: float) -> float:
    """The paper's composite score.

    Where the truth has no covariance, its direction counts as right, as in the paper. Where the
    truth has no drift the paper says nothing; here the other three parts share its weight.

    >>> round(composite_score(float("nan"), 0.15, 1.0, 1.0), 3)
    0.945
    """
    direction = 1.0 if np.isnan(cosine12) else float(np.clip((cosine12 + 1) / 2, 0, 1))
    others = 0.34 * (1 - min(tensor_error, 1.5) / 1.5) + 0.16 * psd + 0.12 * direction
    if np.isnan(drift):
        return others / (0.34 + 0.16 + 0.12)
    return 0.38 * (1 - min(drift, 2) / 2) + others


def accurate(drift: float, tensor_error: float, psd: float, cosine12: float) -> bool:
    """Apply the accuracy thresholds: drift < 0.80, tensor < 0.45, PSD >= 0.99, cosine > 0.85."""
    return (
        not drift >= LARGEST_DRIFT_ERROR
        and not tensor_error >= LARGEST_TENSOR_ERROR
        and psd >= LEAST_PSD
        and not cosine12 <= LEAST_COSINE
    )


def scores_of(
    estimate: Generator,
    truth: Generator,
    states: FloatArray,
    *,
    scored: Sequence[int] | None = None,
) -> TruthScores:
    """Score a generator against the truth on the central grid of ``states``.

    ``scored`` names the drift components that count in the drift error; all unless given.
    """
    grid = central_grid(states)
    drift, true_drift = estimate.drift(grid), truth.drift(grid)
    field, true_field = estimate.diffusion(grid), truth.diffusion(grid)
    kept = list(range(truth.dimension)) if scored is None else list(scored)
    off = ~np.eye(truth.dimension, dtype=bool)
    return TruthScores(
        drift=relative_error(drift[:, kept], true_drift[:, kept]),
        tensor=relative_error(field, true_field),
        cosine=cosine(field[:, off], true_field[:, off]),
        psd=float(tensor.is_semidefinite(field).mean()),
        action=_action_error(estimate, truth, grid),
        fields=_field_errors(drift, true_drift, field, true_field),
    )


def _field_errors(
    drift: FloatArray, true_drift: FloatArray, field: FloatArray, true_field: FloatArray
) -> dict[str, float]:
    d = drift.shape[1]
    drift_names, entry_names = field_names(d)
    errors = {
        name: relative_error(drift[:, p], true_drift[:, p]) for p, name in enumerate(drift_names)
    }
    for name, (p, q) in zip(entry_names, tensor.pairs(d), strict=True):
        errors[name] = relative_error(field[:, p, q], true_field[:, p, q])
    return errors


def _action_error(estimate: Generator, truth: Generator, grid: FloatArray) -> float:
    """Mean over f of the relative error of L f; each f counts alike, whatever its units."""
    d = truth.dimension
    factors = [f for degree in (1, 2) for f in combinations_with_replacement(range(d), degree)]
    names = [monomial_name(np.bincount(f, minlength=d).tolist(), truth.names) for f in factors]
    errors = [relative_error(estimate.apply(f, grid), truth.apply(f, grid)) for f in names]
    return float(np.mean(errors))
