"""What a fit is: data, candidate terms and recipe in, a generator out, all of it as one value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from wgsindy.data import Dataset, Trajectories
from wgsindy.errors import DataError, NotEnoughDataError, RecipeError
from wgsindy.estimate.states import with_states
from wgsindy.model import Generator, symmetric
from wgsindy.passes import SERIAL, DataSummary, Engine, data_summary
from wgsindy.recipes import LikelihoodRecipe, Recipe
from wgsindy.terms import Library

if TYPE_CHECKING:
    from wgsindy.estimate.libraries import FormDoubt, RivalLibrary
    from wgsindy.estimate.likelihood.fit_likelihood import LikelihoodEstimate
    from wgsindy.estimate.orders import OrderEvidence

FEWEST_INCREMENTS = 50
LARGEST_VARIANCE = 1e6  # over that of the steps
FASTEST = 30.0  # |J| dt of a decay: e^-30 is below rounding
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


def check_seen(data: Trajectories) -> None:
    """Refuse coordinates that were measured too rarely to be followed."""
    if data.seen is None or data.order == 2:
        return
    counts = np.count_nonzero(data.seen, axis=0)
    rare = int(np.argmin(counts))
    if counts[rare] < FEWEST_INCREMENTS:
        raise NotEnoughDataError(
            f"{data.names[rare]!r} has a value in {counts[rare]} of {data.n_samples} samples, too "
            f"few to follow it; leave it out, or give at least {FEWEST_INCREMENTS}."
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
    form: FormDoubt | None = None  # of a library that was grown: nobody said that it is the one
    orders: OrderEvidence | None = None  # of first against second order, if that was asked
    engine: Engine = SERIAL  # where the passes ran, and where those of the diagnostics will
    is_completed: bool = False

    @cached_property
    def completed(self) -> Fit:
        """The same fit, what all samples say of a state in place of what was not measured of it.

        No equation depends on it: made when it is first asked for.
        """
        data = self.data if self.is_completed else with_states(self.generator, self.data)
        if data is self.data:
            return self
        seen = data_summary(data, standardise=True, engine=self.engine)
        named = ("region", "frame", "covariance", "variation", "low", "high", "probe")
        summary = replace(self.summary, **{name: getattr(seen, name) for name in named})
        return replace(self, data=data, summary=summary, is_completed=True)


def check_inputs(data: Dataset, recipe: Recipe, order: int | str) -> None:
    """Refuse known inputs where they cannot be allowed for.

    Raises
    ------
    RecipeError
        If there are any with the recipe ``paper``, or with hidden velocities.
    """
    if not data.inputs:
        return
    which = f"inputs ({', '.join(data.inputs)})"
    if not isinstance(recipe, LikelihoodRecipe):
        raise RecipeError(f"recipe {recipe.name!r} knows no {which}; use recipe='sharp'.")
    if order == 2:
        raise RecipeError(f"order=2 knows no {which} yet; measure the velocities, or leave it out.")


def check_error_bars(fit: Fit) -> None:
    """Refuse a fit that is sure of a term without a reason: numbers have left floating point.

    Raises
    ------
    DataError
        If the error bar of a selected term is zero or infinite.
    """
    generator, bars = fit.generator, fit.generator.uncertainty
    if bars is None:
        return
    check_sizes(fit)
    errors, d = bars.std_errors(), generator.dimension
    chosen = generator.written_coefficients != 0
    if fit.data.order == 2:
        chosen[: d // 2] = False  # a position moves by its velocity, which nobody has estimated
    odd = np.argwhere(chosen & ~(np.isfinite(errors) & (errors > 0)))
    if len(odd):
        field, term = odd[0]
        what = f"drift of {generator.names[field]}" if field < d else "tensor"
        raise DataError(
            f"the error bar of {generator.basis.formulas[term]} in the {what} came out as "
            f"{errors[field, term]:.3g}, which no data can give: numbers have left the range of "
            "floating point. Change the units of states or time, or use a smaller library."
        )


def check_sizes(fit: Fit) -> None:
    """Refuse fields that have left their data, as of numbers that jump between two values.

    Raises
    ------
    DataError
        If a variance is out of all proportion to the steps, or a rate is.
    """
    generator, summary = fit.generator, fit.summary
    with np.errstate(all="ignore"):
        rates = np.diagonal(generator.drift_jacobian(summary.region.centre[None])[0])
    fast = np.flatnonzero(rates * fit.data.mean_dt < -FASTEST)
    if len(fast):
        raise DataError(
            f"the rate of {generator.names[fast[0]]} came out as {rates[fast[0]]:.3g}: over a step "
            f"of {fit.data.mean_dt:.3g} nothing would be left to see it by. "
            "Samples that jump between a few values are no diffusion; else sample faster."
        )
    theta = generator.basis.values(summary.region.centre[None])
    entries = symmetric(theta @ generator.tensor_field.coefficients.T, generator.dimension)
    found, seen = np.diagonal(entries[0]), summary.variation * summary.frame.scale**2
    odd = np.flatnonzero(np.abs(found) > LARGEST_VARIANCE * seen)
    if len(odd):
        raise DataError(
            f"the variance of {generator.names[odd[0]]} came out as {found[odd[0]]:.3g} where its "
            f"steps show {seen[odd[0]]:.3g}, which no diffusion explains. Samples that jump "
            "between a few values are none; else use a smaller library."
        )


def described(data: Dataset, recipe: Recipe, library_name: str) -> Info:
    """What a generator keeps of its origin."""
    return {
        "library": library_name,
        "recipe": recipe.name,
        "increments": data.n_increments,
        "trajectories": len(data),
    }
