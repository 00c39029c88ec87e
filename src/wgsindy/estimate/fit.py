"""One fit: a recording, candidate terms and a recipe in, a generator out; only assembles stages.

:class:`wgsindy.WGSINDy` is this behind scikit-learn's interface. Commands call it directly, since
loading scikit-learn takes longer than a fit of their data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from wgsindy import recipes
from wgsindy.data.arrays import frozen
from wgsindy.data.dataset import Dataset
from wgsindy.diagnostics import Diagnostics, Examination, diagnose
from wgsindy.errors import NotEnoughDataError, RecipeError
from wgsindy.estimate.likelihood.auto_library import Chosen, chosen_and_fitted
from wgsindy.estimate.likelihood.rival_libraries import Fitted
from wgsindy.estimate.likelihood.stages import recover_sharp
from wgsindy.estimate.weak_form.stages import recover
from wgsindy.estimate.weak_form.weak_rows import weak_form
from wgsindy.model.generator import Generator
from wgsindy.model.tensor import TensorField
from wgsindy.passes.engine import SERIAL, Engine
from wgsindy.passes.summary import data_summary, warn_of_samples
from wgsindy.recipes import Recipe
from wgsindy.terms.library import Basis, Library, library

FEWEST_INCREMENTS = 50
AUTO = "auto"
Candidates = str | Sequence[str] | Library
Info = dict[str, str | int]


@dataclass(frozen=True)
class Outcome:
    """What a fit gives: the generator, its candidate terms, data and fit for the diagnostics."""

    library: Library
    generator: Generator
    examination: Examination

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """What limits the fit, and the verdict; made when it is first asked for."""
        return diagnose(self.examination)


def fit_recording(
    data: Dataset,
    candidates: Candidates = "poly3",
    recipe: str | Recipe = "paper",
    *,
    random_state: int = 0,
    engine: Engine = SERIAL,
) -> Outcome:
    """Fit a generator; ``candidates`` and ``recipe`` as in :class:`wgsindy.WGSINDy`.

    Raises
    ------
    LibraryError, RecipeError, NotEnoughDataError
        Each with the offending value and a way out.
    """
    check_integer("random_state", random_state, 0, 2**32 - 1)
    recipe = recipes.get(recipe)
    (terms, described), known = _chosen(candidates, data, engine)
    basis = terms.bind(data.names)
    if data.n_increments < len(basis):
        raise NotEnoughDataError(
            f"{data.n_increments} increments cannot determine {len(basis)} terms a field; "
            "give more data or a smaller library."
        )
    info = _info(data, recipe, described)
    if recipe.rows == "samples":
        fitted = known if known is not None and known.recipe == recipe else None
        return Outcome(terms, *_fit_samples(data, basis, recipe, info, engine, fitted))
    return Outcome(terms, *_fit_rows(data, basis, recipe, info, random_state, engine))


def check_integer(name: str, value: Any, low: int, high: int) -> None:
    """Refuse what is not a whole number from ``low`` to ``high``."""
    if not isinstance(value, int | np.integer) or not low <= value <= high:
        raise RecipeError(f"{name} must be a whole number from {low} to {high}, got {value!r}.")


def _chosen(candidates: Candidates, data: Dataset, engine: Engine) -> tuple[Chosen, Fitted | None]:
    if isinstance(candidates, str) and candidates == AUTO:
        _check_length(data)
        return chosen_and_fitted(data, engine=engine)
    name = candidates if isinstance(candidates, str) else "formulas"
    return Chosen(library(candidates), name), None


def _fit_rows(
    data: Dataset, basis: Basis, recipe: Recipe, info: Info, random_state: int, engine: Engine
) -> tuple[Generator, Examination]:
    """Fit kernel-weighted rows, as the paper does."""
    weak = weak_form(data, basis, recipe, seed=random_state, engine=engine)
    _check_length(data)
    warn_of_samples(weak.summary, data.names)
    drift, field = recover(weak, recipe)
    generator = Generator(weak.basis, drift, field, info, weak.summary.region)
    return generator, Examination(
        data,
        weak.summary,
        generator,
        rows=len(weak.design),
        condition=weak.condition_number,
        corrected=recipe.noise_correction,
        engine=engine,
    )


def _fit_samples(
    data: Dataset,
    basis: Basis,
    recipe: Recipe,
    info: Info,
    engine: Engine,
    fitted: Fitted | None,
) -> tuple[Generator, Examination]:
    """Fit every increment on its own, unless the choice of the library has done so."""
    summary = (
        data_summary(data, standardise=recipe.standardise, engine=engine)
        if fitted is None
        else fitted.summary
    )
    _check_length(data)
    warn_of_samples(summary, data.names, dropped=True)
    if fitted is None:
        fit = recover_sharp(data, basis, summary, recipe, engine=engine)
        fitted = Fitted(data, basis, summary, recipe, fit, engine)
    fit = fitted.fit
    field = TensorField("clipped", fit.entries, 0.0, frozen(np.ones(data.dimension)))
    generator = Generator(basis, fit.drift, field, info, summary.region, fit.uncertainty)
    return generator, Examination(
        data,
        summary,
        generator,
        rows=data.n_increments - summary.repeated,
        condition=fit.condition,
        corrected=recipe.noise_correction,
        fitted=fitted,
        engine=engine,
    )


def _info(data: Dataset, recipe: Recipe, library_name: str) -> Info:
    return {
        "library": library_name,
        "recipe": recipe.name,
        "increments": data.n_increments,
        "trajectories": len(data),
    }


def _check_length(data: Dataset) -> None:
    if data.n_increments < FEWEST_INCREMENTS:
        raise NotEnoughDataError(
            f"{data.n_increments} increments are too few to check any choice of terms; give at "
            f"least {FEWEST_INCREMENTS}."
        )
