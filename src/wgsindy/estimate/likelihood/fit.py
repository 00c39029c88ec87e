"""A fit by the likelihood of every increment."""

from __future__ import annotations

import numpy as np

from wgsindy.data.arrays import frozen
from wgsindy.data.dataset import Dataset
from wgsindy.estimate.likelihood.stages import recover_by_likelihood
from wgsindy.estimate.result import Fit, described
from wgsindy.model.generator import Generator
from wgsindy.model.tensor import TensorField
from wgsindy.passes.engine import SERIAL, Engine
from wgsindy.passes.summary import DataSummary
from wgsindy.recipes import LikelihoodRecipe
from wgsindy.terms.library import Library


def fit_likelihood(
    data: Dataset,
    library: Library,
    recipe: LikelihoodRecipe,
    summary: DataSummary,
    *,
    name: str,
    engine: Engine = SERIAL,
) -> Fit:
    """Fit every increment on its own; ``name`` is what to call the library."""
    basis = library.bind(data.names)
    found = recover_by_likelihood(data, basis, summary, recipe, engine=engine)
    field = TensorField("clipped", found.entries, 0.0, frozen(np.ones(data.dimension)))
    info = described(data, recipe, name)
    return Fit(
        data,
        summary,
        library,
        recipe,
        Generator(basis, found.drift, field, info, summary.region, found.uncertainty),
        rows=data.n_increments - summary.repeated,
        condition=found.condition,
        likelihood=found,
        engine=engine,
    )
