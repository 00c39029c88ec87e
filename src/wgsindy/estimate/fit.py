"""One fit: a dataset, candidate terms and a recipe in, a :class:`Fit` out; only assembles stages.

:class:`wgsindy.WGSINDy` is this behind scikit-learn's interface. Commands call it directly, since
loading scikit-learn takes longer than a fit of their data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wgsindy import recipes
from wgsindy.data.dataset import Dataset
from wgsindy.errors import RecipeError
from wgsindy.estimate.grow_library import grow_library
from wgsindy.estimate.likelihood.fit import fit_likelihood
from wgsindy.estimate.result import Fit, check_length, check_terms
from wgsindy.passes.engine import SERIAL, Engine
from wgsindy.passes.summary import data_summary, warn_of_samples
from wgsindy.recipes import Recipe, WeakFormRecipe
from wgsindy.terms.library import Library, library

AUTO = "auto"
Candidates = str | Sequence[str] | Library


def fit_dataset(
    data: Dataset,
    candidates: Candidates = AUTO,
    recipe: str | Recipe = "sharp",
    *,
    random_state: int = 0,
    engine: Engine = SERIAL,
) -> Fit:
    """Fit a generator; ``candidates`` and ``recipe`` as in :class:`wgsindy.WGSINDy`.

    Raises
    ------
    LibraryError, RecipeError, NotEnoughDataError
        Each with the offending value and a way out.
    """
    check_integer("random_state", random_state, 0, 2**32 - 1)
    recipe = recipes.get(recipe)
    terms, name, fit = _chosen(candidates, data, engine)
    check_terms(data, len(terms.bind(data.names)))
    if isinstance(recipe, WeakFormRecipe):
        # Loaded when asked for: most fits are by the likelihood.
        from wgsindy.estimate.weak_form.fit import fit_weak_form

        return fit_weak_form(
            data, terms, recipe, name=name, random_state=random_state, engine=engine
        )
    if fit is not None and fit.recipe == recipe:  # growing the library has made it
        warn_of_samples(fit.summary, data.names, dropped=True)
        return fit
    summary = data_summary(data, standardise=True, engine=engine)
    check_length(data)
    warn_of_samples(summary, data.names, dropped=True)
    return fit_likelihood(data, terms, recipe, summary, name=name, engine=engine)


def check_integer(name: str, value: Any, low: int, high: int) -> None:
    """Refuse what is not a whole number from ``low`` to ``high``."""
    if not isinstance(value, int | np.integer) or not low <= value <= high:
        raise RecipeError(f"{name} must be a whole number from {low} to {high}, got {value!r}.")


def _chosen(
    candidates: Candidates, data: Dataset, engine: Engine
) -> tuple[Library, str, Fit | None]:
    """Return the library, what to call it, and a fit of it if there is one already."""
    if isinstance(candidates, str) and candidates == AUTO:
        check_length(data)
        return grow_library(data, engine=engine)
    name = candidates if isinstance(candidates, str) else "formulas"
    return library(candidates), name, None
