"""Recipes: every choice of every stage, as one frozen value.

There are two estimators and so two types: :class:`WeakFormRecipe` (the paper's) and
:class:`LikelihoodRecipe` (``sharp``). What one of them has no use for, it does not have. A study of
choices is a list of recipes and not a second code path.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args, get_type_hints

from wgsindy.errors import RecipeError

if TYPE_CHECKING:
    from wgsindy.data import FloatArray


@dataclass(frozen=True)
class _Checked:
    """Choices that are checked when they are made."""

    _RANGES: ClassVar[dict[str, tuple[float, float]]] = {}

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for field in fields(self):
            _check_choice(field.name, getattr(self, field.name), hints[field.name])
        for name, (low, high) in self._RANGES.items():
            _check_range(name, getattr(self, name), low, high)


@dataclass(frozen=True)
class WeakFormRecipe(_Checked):
    """Choices of a fit by weak rows; the defaults are the recipe ``paper``.

    That is the paper's frozen configuration, but for formulas of its text that depend on units or
    on the order of columns, or are much worse than what its release does: for each of these there
    is a value that gives the text's own (``rows="separate"``, ``slack=0``, ``floors="absolute"``,
    ``refit_tensor=False``, ``cholesky_order="given"``, ``shrinkage_units="raw"``).

    Parameters
    ----------
    name : what to call it
    standardise : divide each coordinate by its standard deviation after subtracting its mean
    n_centres : number of kernel centres
    centres : where they are: at k-means of the states, or evenly spread over their range
    bandwidth : kernels shaped by the covariance of the states, or isotropic
    bandwidth_factor : bandwidth over the median distance between neighbouring centres
    local_order : degree of the local polynomial whose intercept is the weak row
    drift_square : subtract the finite-step term b b' dt from the tensor targets
    solver : how a sparse system is solved
    debias : refit the selected terms by least squares
    threshold : drop terms below this fraction of the largest one, refitting each time
    folds : number of cross-validation folds
    pilot_ridge : ridge of the pilot fit that gives the adaptive lasso its weights
    slack : standard errors by which a sparser model may be worse than the best in cross-validation
    floors : smallest eigenvalue, pivot and pilot coefficient relative to the data's own noise, or
        absolute (1e-10, 1e-10 and 1e-3) in the units in which the data are given
    rows : one weak row per centre and trajectory, all by the smoother of all data; per centre with
        all trajectories pooled; or per centre and trajectory, by a smoother of that trajectory
        alone
    gls : reweight drift rows by their noise: per component, jointly, or not at all
    refit_tensor : fit the tensor again with the reweighted drift
    tensor : read the tensor out through Cholesky factors, or entry by entry
    cholesky_order : factorise with the noisiest coordinate first, or in the order of the columns
    shrinkage : weight of the isotropic part mixed into the tensor read-out
    shrinkage_units : measure each coordinate by its own noise while mixing, or mix raw numbers
    noise_correction : estimate observation noise from lag-one increments and subtract it from the
        tensor
    cross_fit : build smoother and noise weights of a trajectory from the other trajectories
    """

    name: str = "paper"
    standardise: bool = True
    n_centres: int = 64
    centres: Literal["kmeans", "grid"] = "kmeans"
    bandwidth: Literal["covariance", "isotropic"] = "covariance"
    bandwidth_factor: float = 1.5
    local_order: Literal[0, 1, 2] = 2
    drift_square: bool = True
    solver: Literal["adaptive_lasso", "lasso", "stlsq"] = "adaptive_lasso"
    debias: bool = True
    threshold: float = 0.12
    folds: int = 5
    pilot_ridge: float = 1e-6
    slack: float = 1.0
    floors: Literal["relative", "absolute"] = "relative"
    rows: Literal["trajectory", "pooled", "separate"] = "trajectory"
    gls: Literal["none", "diagonal", "full"] = "diagonal"
    refit_tensor: bool = True
    tensor: Literal["cholesky", "entries"] = "cholesky"
    cholesky_order: Literal["noisiest", "given"] = "noisiest"
    shrinkage: float = 0.05
    shrinkage_units: Literal["noise", "raw"] = "noise"
    noise_correction: bool = False
    cross_fit: bool = False

    _RANGES: ClassVar[dict[str, tuple[float, float]]] = {
        "n_centres": (1, 4096),
        "bandwidth_factor": (1e-3, 1e3),
        "threshold": (0, 1),
        "folds": (2, 100),
        "pilot_ridge": (0, 1e6),
        "slack": (0, 100),
        "shrinkage": (0, 1),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cross_fit and self.rows == "separate":
            raise RecipeError(
                "rows='separate' smooths each trajectory by itself alone, cross_fit=True by the "
                "other trajectories alone; choose one of them."
            )

    def kernel_shape(self, bandwidth: FloatArray) -> FloatArray:
        """Return the matrix ``(d, d)`` that kernels use for this bandwidth matrix: itself.

        A place for studies of other kernels.
        """
        return bandwidth


@dataclass(frozen=True)
class LikelihoodRecipe(_Checked):
    """Choices of a fit by the likelihood of every increment; the defaults are ``sharp``.

    Parameters
    ----------
    name : what to call it
    transition : what leads from one sample to the next: a continuous process, whose mean and
        covariance over the step are integrated, or one Euler step of a simulated chain
    noise_correction : filter the samples for observation noise: where it stands out ("auto"),
        always, or never
    false_alarm : probability, at most, that chance adds a term to a field that has none
    degree_cost : log-evidence that each degree of a term beyond the first must be worth
    averaging : average the drift field over supports of similar evidence; formulas stay sparse
    """

    name: str = "sharp"
    transition: Literal["process", "chain"] = "process"
    noise_correction: Literal["auto", True, False] = "auto"
    false_alarm: float = 0.01
    degree_cost: float = 0.5
    averaging: bool = True

    _RANGES: ClassVar[dict[str, tuple[float, float]]] = {
        "false_alarm": (1e-12, 1),
        "degree_cost": (0, 100),
    }


Recipe = WeakFormRecipe | LikelihoodRecipe


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


PAPER = WeakFormRecipe()
SHARP = LikelihoodRecipe()
SHARP_EULER = LikelihoodRecipe("sharp-euler", transition="chain", noise_correction=False)


def with_noise_correction(recipe: Recipe) -> Recipe:
    """Return the recipe with its correction for observation noise switched on."""
    if recipe.noise_correction is True:
        return recipe
    return replace(recipe, name=f"{recipe.name}-noise", noise_correction=True)


_NAMED: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        PAPER,
        SHARP,
        SHARP_EULER,
        with_noise_correction(PAPER),
        with_noise_correction(SHARP),
    )
}


def names() -> list[str]:
    """Names that :func:`get` knows."""
    return list(_NAMED)


def get(recipe: str | Recipe) -> Recipe:
    """Return a recipe by name, or the recipe itself.

    >>> get("paper").name
    'paper'

    Raises
    ------
    RecipeError
        If there is no recipe of that name.
    """
    if isinstance(recipe, Recipe):
        return recipe
    if not isinstance(recipe, str) or recipe not in _NAMED:
        raise RecipeError(
            f"there is no recipe {recipe!r}; choose one of {names()}, or pass a WeakFormRecipe or "
            "a LikelihoodRecipe."
        )
    return _NAMED[recipe]
