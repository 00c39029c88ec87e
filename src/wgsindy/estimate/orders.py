"""First or second order: whether samples are states, or positions whose velocities are hidden.

A first-order process is the limit of a second-order one whose friction is fast: where a velocity is
forgotten within a step, nobody can tell them apart, and this says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np

from wgsindy.data import Chunk, Dataset, FloatArray, Resolution, Trajectories
from wgsindy.errors import DataError, RecipeError
from wgsindy.estimate.held_out import log_densities
from wgsindy.estimate.predictions import Predictor
from wgsindy.estimate.result import Fit
from wgsindy.passes import SERIAL, DataSummary, Engine, SumPass, data_summary, reduce
from wgsindy.recipes import LikelihoodRecipe, Recipe
from wgsindy.terms import Library

Order = Literal[1, 2, "auto"]
ORDERS: tuple[Order, ...] = get_args(Order)
MOST_POSITIONS = 3
# Log-evidence by which one order must be better. A velocity that is forgotten within a step or two
# leaves hardly a trace, and what is left of it is also what a small error of the model leaves.
PREFERRED = 10.0
MARGIN = 0.5  # spreads by which velocities may exceed differences of positions


class OrderEvidence(NamedTuple):
    """What the data say of first against second order."""

    log_evidence: float  # by which the second is better; minus infinity if none can be fitted
    steps: int

    @property
    def preferred(self) -> int | None:
        """1 or 2, or None if the data cannot tell."""
        if abs(self.log_evidence) <= PREFERRED:
            return None
        return 2 if self.log_evidence > 0 else 1

    @property
    def sentence(self) -> str:
        """What that means."""
        if self.log_evidence == -np.inf:
            return "no second-order equation fits these data: they are of first order."
        by = f"by {abs(self.log_evidence):.0f} in log-evidence, over {self.steps} steps"
        if self.preferred == 2:
            return f"the data prefer second order, with hidden velocities, {by}."
        if self.preferred == 1:
            return f"the data prefer first order {by}."
        return (
            "the data cannot tell first from second order (the difference is "
            f"{self.log_evidence:.1f} in log-evidence): if there are velocities, friction is so "
            "fast that they are forgotten within a step."
        )


def checked_order(order: object, recipe: Recipe) -> Order:
    """Refuse orders that there are not, and recipes that know no filter.

    Raises
    ------
    RecipeError
        With what there is.
    """
    if order not in ORDERS or isinstance(order, bool):
        raise RecipeError(f"order must be 1, 2 or 'auto', got {order!r}.")
    knows_filter = isinstance(recipe, LikelihoodRecipe) and recipe.transition != "chain"
    if order != 1 and not knows_filter:
        raise RecipeError(
            f"order={order!r} needs a filter along positions, which recipe {recipe.name!r} has "
            "not; use recipe='sharp'."
        )
    return order


def can_be_positions(data: Dataset) -> bool:
    """Whether the coordinates may be taken for positions."""
    return (
        isinstance(data, Trajectories)
        and data.order == 1
        and data.dimension <= MOST_POSITIONS
        and not data.inputs
    )


def as_positions(
    data: Dataset, summary: DataSummary, *, engine: Engine = SERIAL
) -> tuple[Trajectories, DataSummary]:
    """Take the coordinates for positions and add their velocities; what they look like then.

    Raises
    ------
    DataError
        If there are more than three, or data that are not in memory.
    """
    if data.dimension > MOST_POSITIONS:
        raise DataError(
            f"order=2 takes the coordinates for positions, of which there may be "
            f"{MOST_POSITIONS}; these data have {data.dimension}. Choose some (--states), or leave "
            "measured velocities out."
        )
    if not isinstance(data, Trajectories):
        raise DataError("order=2 needs data in memory; read them with stream=False.")
    found = data.with_velocities()
    seen = data_summary(found, standardise=True, engine=engine)
    d, beyond = data.dimension, MARGIN * seen.region.scale
    beyond[:d] = 0.0
    none = np.zeros(d)
    return found, replace(
        seen,
        low=seen.low - beyond,
        high=seen.high + beyond,
        repeated=summary.repeated,
        # Differences of numbers on a grid are on one, too, and nobody wrote them.
        resolution=Resolution(
            np.append(summary.quantum, none), np.append(summary.resolution.discrete, none > 0)
        ),
        stalled=summary.stalled,
        straight=summary.straight,
        every=summary.every,
    )


def with_velocity_terms(library: Library, names: tuple[str, ...]) -> Library:
    """Add the velocities to a library that lacks any: each is the drift of its position."""
    terms = library.bind(names).terms
    missing = [name for name in names[len(names) // 2 :] if name not in terms]
    return library + Library.custom(missing) if missing else library


@dataclass
class _Difference:
    """Log-likelihood of steps by the second order beyond that by the first."""

    steps: int
    total: float


@dataclass(frozen=True)
class _DifferencePass(SumPass[_Difference]):
    """Sum it over the steps that the filter of the second order has anything to say about."""

    first: Predictor
    second: Predictor
    units: FloatArray  # (d,) of the positions

    def empty(self) -> _Difference:
        return _Difference(0, 0.0)

    def add(self, total: _Difference, chunk: Chunk) -> _Difference:
        d = len(self.units)
        assert chunk.seen is not None
        seen = chunk.seen[:, :, :d]
        positions = chunk._replace(
            states=np.ascontiguousarray(chunk.states[:, :d]),
            increments=np.ascontiguousarray(chunk.increments[:, :d]),
            seen=None if seen.all() else seen,
        )
        with np.errstate(all="ignore"):  # a motion that runs away ends in no number
            second = self.second(chunk)
            gained = log_densities(second, chunk.dt, np.append(self.units, self.units))
        assert second.seen is not None
        counts = second.seen.any(axis=1)
        gained -= log_densities(self.first(positions), chunk.dt, self.units)
        total.steps += int(np.count_nonzero(counts))
        total.total += float(gained[counts].sum())
        return total


def order_evidence(first: Fit, second: Fit | None) -> OrderEvidence:
    """Compare fits of the same data; no ``second`` if none could be fitted."""
    if second is None:
        return OrderEvidence(-np.inf, 0)
    assert first.likelihood is not None
    assert second.likelihood is not None
    step = _DifferencePass(
        Predictor.of(first.generator, first.summary),
        Predictor.of(second.generator, second.summary),
        np.sqrt(first.summary.variation) * first.summary.frame.scale,
    )
    found = reduce(step, second.data, engine=second.engine)
    paid = _terms(first) * first.likelihood.term_cost
    paid -= _terms(second) * second.likelihood.term_cost
    if not np.isfinite(found.total):
        return OrderEvidence(-np.inf, 0)
    return OrderEvidence(found.total + paid, found.steps)


def _terms(fit: Fit) -> int:
    """Number of coefficients that were estimated: not those of x' = v."""
    spread = fit.generator.uncertainty
    assert spread is not None
    known = fit.data.dimension // 2 if fit.data.order == 2 else 0
    chosen = np.count_nonzero(spread.drift[known:])
    return int(chosen + np.count_nonzero(fit.generator.tensor_field.coefficients))
