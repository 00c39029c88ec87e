"""What a fit is: data, candidate terms and recipe in, a generator out, all of it as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wgsindy.data.dataset import Dataset
from wgsindy.errors import NotEnoughDataError
from wgsindy.model.generator import Generator
from wgsindy.passes.engine import SERIAL, Engine
from wgsindy.passes.summary import DataSummary
from wgsindy.recipes import Recipe
from wgsindy.terms.library import Library

if TYPE_CHECKING:
    from wgsindy.estimate.likelihood.stages import LikelihoodEstimate
    from wgsindy.estimate.rival_libraries import RivalLibrary

FEWEST_INCREMENTS = 50
Info = dict[str, str | int | list[float]]


def check_terms(data: Dataset, terms: int) -> None:
    """Refuse to determine more terms than there are increments."""
    if data.n_increments < terms:
        raise NotEnoughDataError(
            f"{data.n_increments} increments cannot determine {terms} terms a field; "
            "give more data or a smaller library."
        )


def check_length(data: Dataset) -> None:
    """Refuse data that are too short to check any choice of terms."""
    if data.n_increments < FEWEST_INCREMENTS:
        raise NotEnoughDataError(
            f"{data.n_increments} increments are too few to check any choice of terms; give at "
            f"least {FEWEST_INCREMENTS}."
        )


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
