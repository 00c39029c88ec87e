"""A fit by kernel-weighted rows, as the paper does."""

from __future__ import annotations

from wgsindy.data.dataset import Dataset
from wgsindy.estimate.result import Fit, check_length, described
from wgsindy.estimate.weak_form.stages import recover_by_weak_form
from wgsindy.estimate.weak_form.weak_rows import weak_form
from wgsindy.model.generator import Generator
from wgsindy.passes.engine import SERIAL, Engine
from wgsindy.passes.summary import warn_of_samples
from wgsindy.recipes import WeakFormRecipe
from wgsindy.terms.library import Library


def fit_weak_form(
    data: Dataset,
    library: Library,
    recipe: WeakFormRecipe,
    *,
    name: str,
    random_state: int = 0,
    engine: Engine = SERIAL,
) -> Fit:
    """Fit the weak rows of all trajectories; ``name`` is what to call the library."""
    basis = library.bind(data.names)
    weak = weak_form(data, basis, recipe, seed=random_state, engine=engine)
    check_length(data)
    warn_of_samples(weak.summary, data.names)
    drift, field = recover_by_weak_form(weak, recipe)
    info = described(data, recipe, name)
    return Fit(
        data,
        weak.summary,
        library,
        recipe,
        Generator(weak.basis, drift, field, info, weak.summary.region),
        rows=len(weak.design),
        condition=weak.condition_number,
        engine=engine,
    )
