"""Recipes: every choice of every stage, as one frozen value.

The paper's frozen configuration, each of its ablations and each variant are values of
:class:`Recipe`, so that a study of them is a list of recipes and not a second code path.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_type_hints

from wgsindy.errors import RecipeError


@dataclass(frozen=True)
class Recipe:
    """Choices of a fit; the defaults are the paper's frozen configuration.

    Parameters
    ----------
    name : what to call it
    standardise : divide each coordinate by its standard deviation after subtracting its mean
    n_centres : number of kernel centres
    centres : where they are: at k-means of the states, or evenly spread over their range
    bandwidth : kernels shaped by the covariance of the states, by the diagonal of its inverse (a
        slip of the authors' release, for the errata), or isotropic
    bandwidth_factor : bandwidth over the median distance between neighbouring centres
    local_order : degree of the local polynomial whose intercept is the weak row
    drift_square : subtract the finite-step term b b' dt from the tensor targets
    solver : how a sparse system is solved; ``evidence`` is for rows ``samples``
    debias : refit the selected terms by least squares
    threshold : drop terms below this fraction of the largest one, refitting each time
    folds : number of cross-validation folds
    slack : standard errors by which a sparser model may be worse than the best in cross-validation
    rows : one weak row per centre and trajectory, or per centre of one pooled cloud, or every
        increment on its own (``samples``: no kernels at all)
    gls : reweight drift rows by their noise: per component, jointly, or not at all
    tensor : read the tensor out through Cholesky factors, entry by entry, or entry by entry with
        negative eigenvalues clipped at each point
    shrinkage : weight of the isotropic part mixed into the tensor read-out
    noise_correction : estimate observation noise from lag-one increments and subtract it from the
        tensor; rows ``samples`` free the drift of it, too
    cross_fit : build smoother and noise weights of a trajectory from the other trajectories
    false_alarm : probability, at most, that chance adds a term to a field that has none
    degree_cost : nats that evidence asks for each degree of a term beyond the first
    averaging : average the drift field over supports of similar evidence; formulas stay sparse
    finite_step : take samples for an Euler chain, or correct drift and tensor for the finite step
        of a continuous process by the next term of the Ito-Taylor moments
    """

    name: str = "paper"
    standardise: bool = True
    n_centres: int = 64
    centres: Literal["kmeans", "grid"] = "kmeans"
    bandwidth: Literal["covariance", "diagonal", "isotropic"] = "covariance"
    bandwidth_factor: float = 1.5
    local_order: Literal[0, 1, 2] = 2
    drift_square: bool = True
    solver: Literal["adaptive_lasso", "lasso", "stlsq", "evidence"] = "adaptive_lasso"
    debias: bool = True
    threshold: float = 0.12
    folds: int = 5
    slack: float = 1.0
    rows: Literal["trajectory", "pooled", "samples"] = "trajectory"
    gls: Literal["none", "diagonal", "full"] = "diagonal"
    tensor: Literal["cholesky", "entries", "clipped"] = "cholesky"
    shrinkage: float = 0.05
    noise_correction: bool = False
    cross_fit: bool = False
    false_alarm: float = 0.01
    degree_cost: float = 0.5
    averaging: bool = False
    finite_step: Literal["euler", "taylor"] = "euler"

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for field in fields(self):
            _check_choice(field.name, getattr(self, field.name), hints[field.name])
        _check_range("n_centres", self.n_centres, 1, 4096)
        _check_range("bandwidth_factor", self.bandwidth_factor, 1e-3, 1e3)
        _check_range("threshold", self.threshold, 0, 1)
        _check_range("folds", self.folds, 2, 100)
        _check_range("slack", self.slack, 0, 100)
        _check_range("shrinkage", self.shrinkage, 0, 1)
        _check_range("false_alarm", self.false_alarm, 1e-12, 1)
        _check_range("degree_cost", self.degree_cost, 0, 100)
        _check_together(self)


def _check_choice(field: str, value: Any, hint: Any) -> None:
    allowed = get_args(hint)
    if allowed and value not in allowed:
        raise RecipeError(f"recipe choice {field} must be one of {list(allowed)}, got {value!r}.")
    expected = (int, float) if hint is float else hint
    if not allowed and (
        not isinstance(value, expected) or isinstance(value, bool) != (hint is bool)
    ):
        raise RecipeError(f"recipe choice {field} must be a {hint.__name__}, got {value!r}.")


def _check_range(field: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise RecipeError(f"recipe choice {field} must be in [{low:g}, {high:g}], got {value!r}.")


def _check_together(recipe: Recipe) -> None:
    """Refuse choices that would have no effect: weak rows and single increments are two ways."""
    by_sample = recipe.rows == "samples"
    needs_samples = {
        "solver": recipe.solver == "evidence",
        "tensor": recipe.tensor == "clipped",
        "averaging": recipe.averaging,
        "finite_step": recipe.finite_step == "taylor",
    }
    needs_kernels = {
        "solver": recipe.solver != "evidence",
        "tensor": recipe.tensor != "clipped",
        "gls": recipe.gls != "full",
        "shrinkage": recipe.shrinkage > 0,
        "cross_fit": recipe.cross_fit,
    }
    for field, asked in (needs_kernels if by_sample else needs_samples).items():
        if asked:
            raise RecipeError(
                f"recipe choice {field}={getattr(recipe, field)!r} does not go together with "
                f"rows={recipe.rows!r}; start from recipes.{'SHARP' if by_sample else 'PAPER'} and "
                "change that."
            )


PAPER = Recipe()

SHARP = Recipe(
    name="sharp",
    rows="samples",
    solver="evidence",
    gls="full",
    tensor="clipped",
    shrinkage=0.0,
    averaging=True,
)

# Leave one out: five of the paper's six mechanisms, each switched off alone. The sixth, pooling,
# is a matter of how many trajectories are given, not of the recipe.
ABLATIONS: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        replace(PAPER, name="paper-no-anisotropy", bandwidth="isotropic"),
        replace(PAPER, name="paper-no-local-polynomial", local_order=0),
        replace(PAPER, name="paper-no-adaptive-lasso", solver="stlsq"),
        replace(PAPER, name="paper-no-gls", gls="none"),
        replace(PAPER, name="paper-no-cholesky", tensor="entries", shrinkage=0.0),
    )
}

SHARP_ABLATIONS: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        replace(SHARP, name="sharp-one-support", averaging=False),
        replace(SHARP, name="sharp-no-degree-cost", degree_cost=0.0),
    )
}

# The scalar estimator, component by component in raw coordinates: where the paper's ladder starts.
NAIVE = Recipe(
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


def _grafted(*steps: tuple[str, dict[str, Any]]) -> dict[str, Recipe]:
    """Return the recipes that arise when changes are made one after the other."""
    found, recipe = {NAIVE.name: NAIVE}, NAIVE
    for name, changes in steps:
        recipe = found[name] = replace(recipe, name=name, **changes)
    return found


# The paper's mechanisms added one by one; the last step is the paper's recipe under another name.
LADDER: dict[str, Recipe] = _grafted(
    ("ladder-kernels", {"standardise": True, "centres": "kmeans", "bandwidth": "covariance"}),
    ("ladder-local-polynomial", {"local_order": 2}),
    ("ladder-adaptive-lasso", {"solver": "adaptive_lasso"}),
    ("ladder-cholesky", {"tensor": "cholesky", "shrinkage": 0.05}),
    ("ladder-gls", {"gls": "diagonal", "rows": "trajectory"}),
)

# Where the paper leaves a choice open, the other choice; and what its release does instead.
VARIANTS: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        replace(PAPER, name="paper-cv-minimum", slack=0.0),
        replace(PAPER, name="paper-pooled-rows", rows="pooled"),
        replace(PAPER, name="paper-noise", noise_correction=True),
        replace(PAPER, name="paper-no-shrinkage", shrinkage=0.0),
        replace(PAPER, name="paper-diagonal-kernel", bandwidth="diagonal"),
        replace(SHARP, name="sharp-continuous", finite_step="taylor"),
        replace(SHARP, name="sharp-noise", noise_correction=True),
    )
}

_NAMED: dict[str, Recipe] = {
    PAPER.name: PAPER,
    SHARP.name: SHARP,
    **ABLATIONS,
    **SHARP_ABLATIONS,
    **LADDER,
    **VARIANTS,
}


def names() -> list[str]:
    """Names that :func:`get` knows."""
    return list(_NAMED)


def get(recipe: str | Recipe) -> Recipe:
    """Return a recipe by name, or the recipe itself.

    >>> get("paper").n_centres
    64
    """
    if isinstance(recipe, Recipe):
        return recipe
    if not isinstance(recipe, str) or recipe not in _NAMED:
        raise RecipeError(
            f"there is no recipe {recipe!r}; choose one of {list(_NAMED)}, or pass a Recipe."
        )
    return _NAMED[recipe]
