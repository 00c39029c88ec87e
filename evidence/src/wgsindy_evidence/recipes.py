"""Recipes that only the evidence fits: ablations, the ladder, choices that the paper leaves open.

Stored lines name them. Whoever fits in the evidence asks :func:`get`, which knows the recipes of
:mod:`wgsindy.recipes` as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import wgsindy.recipes
from wgsindy.data import FloatArray
from wgsindy.recipes import PAPER, SHARP_EULER, LikelihoodRecipe, Recipe, WeakFormRecipe


@dataclass(frozen=True)
class DiagonalKernel(WeakFormRecipe):
    """Kernels that use the diagonal of the inverse bandwidth only: a slip of the authors' release.

    Correlated states then get kernels that are too narrow across their correlation.
    """

    def kernel_shape(self, bandwidth: FloatArray) -> FloatArray:
        """Return the diagonal matrix ``(d, d)`` whose inverse has that diagonal."""
        return np.diag(1.0 / np.diag(np.linalg.inv(bandwidth)))


# Leave one out: five of the paper's six mechanisms, each switched off alone. The sixth, pooling,
# is a matter of how many trajectories are given, not of the recipe.
ABLATIONS: dict[str, WeakFormRecipe] = {
    recipe.name: recipe
    for recipe in (
        replace(PAPER, name="paper-no-anisotropy", bandwidth="isotropic"),
        replace(PAPER, name="paper-no-local-polynomial", local_order=0),
        replace(PAPER, name="paper-no-adaptive-lasso", solver="stlsq"),
        replace(PAPER, name="paper-no-gls", gls="none"),
        replace(PAPER, name="paper-no-cholesky", tensor="entries", shrinkage=0.0),
    )
}

SHARP_ABLATIONS: dict[str, LikelihoodRecipe] = {
    recipe.name: recipe
    for recipe in (
        replace(SHARP_EULER, name="sharp-one-support", averaging=False),
        replace(SHARP_EULER, name="sharp-no-degree-cost", degree_cost=0.0),
    )
}

# The scalar estimator, component by component in raw coordinates: where the paper's ladder starts.
NAIVE = replace(
    PAPER,
    name="naive",
    standardise=False,
    centres="grid",
    bandwidth="isotropic",
    local_order=0,
    solver="stlsq",
    rows="pooled",
    gls="none",
    tensor="entries",
    shrinkage=0.0,
)


def _grafted(*steps: tuple[str, dict[str, Any]]) -> dict[str, WeakFormRecipe]:
    """Return the recipes that arise when changes are made one after the other."""
    found, recipe = {NAIVE.name: NAIVE}, NAIVE
    for name, changes in steps:
        recipe = found[name] = replace(recipe, name=name, **changes)
    return found


# The paper's mechanisms added one by one; the last step is the paper's recipe under another name.
LADDER: dict[str, WeakFormRecipe] = _grafted(
    ("ladder-kernels", {"standardise": True, "centres": "kmeans", "bandwidth": "covariance"}),
    ("ladder-local-polynomial", {"local_order": 2}),
    ("ladder-adaptive-lasso", {"solver": "adaptive_lasso"}),
    ("ladder-cholesky", {"tensor": "cholesky", "shrinkage": 0.05}),
    ("ladder-gls", {"gls": "diagonal", "rows": "trajectory"}),
)

# Where the paper leaves a choice open, the other choice; and what its release does instead.
VARIANTS: dict[str, WeakFormRecipe] = {
    recipe.name: recipe
    for recipe in (
        replace(PAPER, name="paper-pooled-rows", rows="pooled"),
        replace(PAPER, name="paper-pooled-entries", rows="pooled", tensor="entries", shrinkage=0.0),
        replace(PAPER, name="paper-no-shrinkage", shrinkage=0.0),
        DiagonalKernel(name="paper-diagonal-kernel"),
    )
}

# What the paper describes and does not use.
DESCRIBED: dict[str, WeakFormRecipe] = {
    recipe.name: recipe
    for recipe in (
        replace(PAPER, name="paper-full-whitening", gls="full"),
        replace(PAPER, name="paper-cross-fit", cross_fit=True),
    )
}

# Where ``paper`` departs from the paper's text, the text's own formula: each change alone.
_LITERAL: dict[str, dict[str, Any]] = {
    "paper-separate-rows": {"rows": "separate"},
    "paper-cv-minimum": {"slack": 0.0},
    "paper-absolute-floors": {"floors": "absolute"},
    "paper-pilot-ridge": {"pilot_ridge": 1e-2},
    "paper-one-tensor": {"refit_tensor": False},
    "paper-columns-order": {"cholesky_order": "given"},
    "paper-raw-shrinkage": {"shrinkage_units": "raw"},
}
# Then all of them together, without and with rows of separate smoothers. The text names no ridge of
# the pilot, so there is none of its own to go back to.
_TOGETHER = {
    key: value
    for name, changes in _LITERAL.items()
    if name not in ("paper-separate-rows", "paper-pilot-ridge")
    for key, value in changes.items()
}
AS_WRITTEN: dict[str, WeakFormRecipe] = {
    **{name: replace(PAPER, name=name, **changes) for name, changes in _LITERAL.items()},
    "paper-as-written": replace(PAPER, name="paper-as-written", **_TOGETHER),
    "paper-to-the-letter": replace(PAPER, name="paper-to-the-letter", rows="separate", **_TOGETHER),
}

OWN: dict[str, Recipe] = {
    **ABLATIONS,
    **SHARP_ABLATIONS,
    **LADDER,
    **VARIANTS,
    **DESCRIBED,
    **AS_WRITTEN,
}

__all__ = [
    "ABLATIONS",
    "AS_WRITTEN",
    "LADDER",
    "NAIVE",
    "OWN",
    "PAPER",
    "SHARP_ABLATIONS",
    "SHARP_EULER",
    "VARIANTS",
    "Recipe",
    "get",
]


def get(name: str) -> Recipe:
    """Return a recipe of the evidence, or one of :mod:`wgsindy.recipes`, by name.

    >>> get("ladder-cholesky").name, get("paper").name
    ('ladder-cholesky', 'paper')

    Raises
    ------
    RecipeError
        If nobody knows the name.
    """
    return OWN[name] if name in OWN else wgsindy.recipes.get(name)
