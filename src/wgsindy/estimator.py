"""WGSINDy: trajectories in, generator out. This module only assembles the stages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from wgsindy import recipes
from wgsindy.alternatives import Fitted
from wgsindy.arrays import FloatArray, frozen
from wgsindy.auto import Chosen, chosen_and_fitted
from wgsindy.diagnostics import Diagnostics, Examination, diagnose, warn_of_samples
from wgsindy.engine import Engine, Threads
from wgsindy.errors import DataError, NotEnoughDataError, RecipeError
from wgsindy.generator import Generator
from wgsindy.libraries import Basis, Library, library
from wgsindy.recipes import Recipe
from wgsindy.recordings import Recording
from wgsindy.recovery import recover
from wgsindy.sharp import recover_sharp
from wgsindy.survey import survey
from wgsindy.tensor import TensorField
from wgsindy.trajectories import Trajectories
from wgsindy.weakform import weak_form

FEWEST_INCREMENTS = 50
AUTO = "auto"
Info = dict[str, str | int]


class WGSINDy(BaseEstimator):  # type: ignore[misc]
    """Recover drift and diffusion tensor of an Ito process from its trajectories.

    Parameters
    ----------
    library : candidate terms: ``"poly3"``, ``"sqrt"``, ``"trig"``, a list of formulas, a Library;
        ``"auto"`` lets the data choose
    recipe : ``"paper"``, ``"sharp"`` or a :class:`wgsindy.recipes.Recipe`
    random_state : seed of the only random stage, the placement of kernel centres
    threads : number of threads for passes over the data

    Attributes
    ----------
    generator_ : Generator
        The recovered generator.
    library_ : Library
        The candidate terms.
    examination_ : Examination
        Data and fit, for the checks behind the diagnostics.
    diagnostics_ : Diagnostics
        What limits the fit, and the verdict; made when it is first asked for.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = np.zeros((8, 2001, 2))
    >>> for n in range(2000):
    ...     x[:, n + 1] = x[:, n] * 0.98 + rng.normal(0, 0.1, (8, 2))
    >>> gen = WGSINDy(library="poly1").fit(list(x), dt=0.01).generator_
    >>> gen.equations(digits=1)
    ['b1 = -2*x', 'b2 = -2*y', 'a11 = 1', 'a12 = 0', 'a22 = 1']
    """

    def __init__(
        self,
        library: str | Sequence[str] | Library = "poly3",
        recipe: str | Recipe = "paper",
        random_state: int = 0,
        threads: int = 1,
    ) -> None:
        self.library = library
        self.recipe = recipe
        self.random_state = random_state
        self.threads = threads

    def fit(self, X: Any, y: None = None, *, dt: float | Sequence[float] | None = None) -> Self:
        """Fit to :class:`Trajectories`, to a ``Stream``, or to arrays together with ``dt``.

        Raises
        ------
        DataError, LibraryError, RecipeError, NotEnoughDataError
            Each with the offending value and a way out.
        """
        data = _as_recording(X, dt)
        _check_integer("random_state", self.random_state, 0, 2**32 - 1)
        _check_integer("threads", self.threads, 1, 4096)
        recipe = recipes.get(self.recipe)
        (self.library_, described), known = self._candidates(data)
        basis = self.library_.bind(data.names)
        if data.n_increments < len(basis):
            raise NotEnoughDataError(
                f"{data.n_increments} increments cannot determine {len(basis)} terms a field; "
                "give more data or a smaller library."
            )
        by_samples = partial(self._fit_samples, known=known)
        fit = by_samples if recipe.rows == "samples" else self._fit_rows
        info = _info(data, recipe, described)
        self.generator_, self.examination_ = fit(data, basis, recipe, info)
        self.n_features_in_ = data.dimension
        self.__dict__.pop("diagnostics_", None)  # of an earlier fit
        return self

    def _candidates(self, data: Recording) -> tuple[Chosen, Fitted | None]:
        if isinstance(self.library, str) and self.library == AUTO:
            _check_length(data)
            return chosen_and_fitted(data, engine=self._engine)
        name = self.library if isinstance(self.library, str) else "formulas"
        return Chosen(library(self.library), name), None

    @property
    def _engine(self) -> Engine:
        return Threads(self.threads)

    @cached_property
    def diagnostics_(self) -> Diagnostics:
        """What limits the fit, and the verdict; made when it is first asked for."""
        check_is_fitted(self)
        return diagnose(self.examination_)

    def _fit_rows(
        self, data: Recording, basis: Basis, recipe: Recipe, info: Info
    ) -> tuple[Generator, Examination]:
        """Fit kernel-weighted rows, as the paper does."""
        weak = weak_form(data, basis, recipe, seed=self.random_state, engine=self._engine)
        _check_length(data)
        warn_of_samples(weak.cloud, data.names)
        drift, field = recover(weak, recipe)
        generator = Generator(weak.basis, drift, field, info, weak.cloud.region)
        return generator, Examination(
            data,
            weak.cloud,
            generator,
            rows=len(weak.design),
            condition=weak.condition_number,
            corrected=recipe.noise_correction,
            engine=self._engine,
        )

    def _fit_samples(
        self, data: Recording, basis: Basis, recipe: Recipe, info: Info, known: Fitted | None
    ) -> tuple[Generator, Examination]:
        """Fit every increment on its own, unless the choice of the library has done so."""
        fitted = known if known is not None and known.recipe == recipe else None
        cloud = (
            survey(data, standardise=recipe.standardise, engine=self._engine)
            if fitted is None
            else fitted.cloud
        )
        _check_length(data)
        warn_of_samples(cloud, data.names, dropped=True)
        if fitted is None:
            fit = recover_sharp(data, basis, cloud, recipe, engine=self._engine)
            fitted = Fitted(data, basis, cloud, recipe, fit, self._engine)
        fit = fitted.fit
        field = TensorField("clipped", fit.entries, 0.0, frozen(np.ones(data.dimension)))
        generator = Generator(basis, fit.drift, field, info, cloud.region, fit.uncertainty)
        return generator, Examination(
            data,
            cloud,
            generator,
            rows=data.n_increments - cloud.repeated,
            condition=fit.condition,
            corrected=recipe.noise_correction,
            fitted=fitted,
            engine=self._engine,
        )

    def predict(self, X: ArrayLike) -> FloatArray:
        """Drift at points ``(n, d)``."""
        check_is_fitted(self)
        return self.generator_.drift(X)


def _info(data: Recording, recipe: Recipe, library_name: str) -> Info:
    return {
        "library": library_name,
        "recipe": recipe.name,
        "increments": data.n_increments,
        "trajectories": len(data),
    }


def _check_length(data: Recording) -> None:
    if data.n_increments < FEWEST_INCREMENTS:
        raise NotEnoughDataError(
            f"{data.n_increments} increments are too few to check any choice of terms; give at "
            f"least {FEWEST_INCREMENTS}."
        )


def _check_integer(name: str, value: Any, low: int, high: int) -> None:
    if not isinstance(value, int | np.integer) or not low <= value <= high:
        raise RecipeError(f"{name} must be a whole number from {low} to {high}, got {value!r}.")


def _as_recording(X: Any, dt: float | Sequence[float] | None) -> Recording:
    if isinstance(X, Recording):
        if dt is not None:
            raise DataError(f"these trajectories carry their own steps; leave out dt={dt}.")
        return X
    if dt is None:
        raise DataError("arrays need the sampling interval: pass dt=..., or Trajectories.")
    return Trajectories(X, dt)
