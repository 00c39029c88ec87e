"""What a fit is: data, candidate terms and recipe in, a generator out, all of it as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wgsindy.data.dataset import Dataset
from wgsindy.model.generator import Generator
from wgsindy.passes.engine import SERIAL, Engine
from wgsindy.passes.summary import DataSummary
from wgsindy.recipes import Recipe
from wgsindy.terms.library import Library

if TYPE_CHECKING:
    from wgsindy.estimate.likelihood.stages import LikelihoodEstimate
    from wgsindy.estimate.rival_libraries import RivalLibrary

Info = dict[str, str | int]


@dataclass(frozen=True)
class Fit:
    """One fit, by either estimator. The diagnostics need nothing else."""

    data: Dataset
    summary: DataSummary  # what the samples look like
    library: Library  # candidate terms
    recipe: Recipe
    generator: Generator
    rows: int  # equations of the linear systems
    condition: float  # of the design with unit columns
    likelihood: LikelihoodEstimate | None = None  # of a likelihood recipe, which has error bars
    rivals: tuple[RivalLibrary, ...] | None = None  # larger libraries, if they were looked for
    engine: Engine = SERIAL  # where the passes ran, and where those of the diagnostics will


def described(data: Dataset, recipe: Recipe, library_name: str) -> Info:
    """What a generator keeps of its origin."""
    return {
        "library": library_name,
        "recipe": recipe.name,
        "increments": data.n_increments,
        "trajectories": len(data),
    }
