"""How likely a generator makes data that it was not fitted to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np

from wgsindy.data import Chunk, Dataset, FloatArray, Resolution, Trajectories
from wgsindy.errors import DataError, RecipeError
from wgsindy.estimate.likelihood.filter import inverse_factor
from wgsindy.estimate.likelihood.process import Predictions, Predictor
from wgsindy.estimate.likelihood.transition import multiply
from wgsindy.estimate.result import Fit
from wgsindy.model import Generator
from wgsindy.passes import SERIAL, DataSummary, Engine, SumPass, data_summary, reduce
from wgsindy.recipes import LikelihoodRecipe, Recipe
from wgsindy.terms import Library

# Smallest variance along any direction, relative to the mean squared increments of the data: a
# generator without noise somewhere would otherwise be infinitely right or infinitely wrong there.
VARIANCE_FLOOR = 1e-6


@dataclass
class LikelihoodSum:
    """Sum of log-likelihoods over steps."""

    steps: int
    total: float


@dataclass(frozen=True)
class LikelihoodPass(SumPass[LikelihoodSum]):
    """Sum log N(e; 0, S) over the steps: e the error of a prediction, S its covariance."""

    predictor: Predictor
    units: FloatArray  # (d,) root mean squared increments over time

    def empty(self) -> LikelihoodSum:
        return LikelihoodSum(0, 0.0)

    def add(self, total: LikelihoodSum, chunk: Chunk) -> LikelihoodSum:
        found = log_densities(self.predictor(chunk), chunk.dt, self.units)
        total.total += float(np.sum(found))
        total.steps += len(found)
        return total


@np.errstate(over="ignore")  # what cannot be has a density of zero
def log_densities(found: Predictions, dt: FloatArray, units: FloatArray) -> FloatArray:
    """Log-density ``(n,)`` of steps over ``dt (n,)``; ``units (d,)`` as in :class:`LikelihoodPass`.

    Of what was measured, whose covariance stands beside one for the rest: a step of which nothing
    counts has none.
    """
    if found.seen is not None:
        # As the filter does, whose covariance may be a little indefinite where a tensor is none.
        whitening = inverse_factor(found.covariance.transpose(1, 2, 0))
        white = multiply(whitening, found.error.T[:, None])[:, 0]
        own = white**2 / 2 + np.log(np.sqrt(2 * np.pi) / np.einsum("ppn->pn", whitening))
        return -np.sum(np.where(found.seen.T, own, 0.0), axis=0)
    size = units * np.sqrt(dt)[:, None]  # of an increment, (n, d)
    values, vectors = np.linalg.eigh(found.covariance / (size[:, :, None] * size[:, None]))
    values = np.maximum(values, VARIANCE_FLOOR)
    along = np.einsum("npk,np->nk", vectors, found.error / size)
    log_density = -0.5 * np.sum(along**2 / values + np.log(2 * np.pi * values), axis=1)
    return np.asarray(log_density - np.log(size).sum(axis=1))


def log_likelihood(generator: Generator, data: Dataset, *, engine: Engine = SERIAL) -> float:
    """Mean log-likelihood of a step of ``data``, in the units of the states.

    Differences between generators mean something, the value itself depends on the units.

    Raises
    ------
    DataError
        If the data have other coordinates than the generator.

    Examples
    --------
    >>> from wgsindy import zoo
    >>> system = zoo.get("rotational_ou")
    >>> held_out = system.simulate(seed=1, trajectories=2)
    >>> other = zoo.get("indep_ou").generator
    >>> log_likelihood(system.generator, held_out) > log_likelihood(other, held_out)
    True
    """
    data = generator.observation.coordinates(data)
    if data.names != generator.names:
        raise DataError(
            f"the generator is one of {list(generator.names)}, the data have {list(data.names)}."
        )
    summary = data_summary(data, standardise=False, engine=engine)
    step = LikelihoodPass(Predictor.of(generator, summary), np.sqrt(summary.variation))
    found = reduce(step, data, engine=engine)
    return found.total / found.steps


Order = Literal[1, 2, "auto"]
ORDERS: tuple[Order, ...] = get_args(Order)
MOST_POSITIONS = 3
# Log-evidence by which one order must be better. A velocity that is forgotten within a step or two
# leaves hardly a trace, and what is left of it is also what a small error of the model leaves.
ORDER_PREFERRED = 10.0
VELOCITY_MARGIN = 0.5  # spreads by which velocities may exceed differences of positions


class OrderEvidence(NamedTuple):
    """What the data say of first against second order."""

    log_evidence: float  # by which the second is better; minus infinity if none can be fitted
    steps: int

    @property
    def preferred(self) -> int | None:
        """1 or 2, or None if the data cannot tell."""
        if abs(self.log_evidence) <= ORDER_PREFERRED:
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
        and not data.hidden_velocities
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
    d, beyond = data.dimension, VELOCITY_MARGIN * seen.region.scale
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
    known = fit.data.dimension // 2 if fit.data.hidden_velocities else 0
    chosen = np.count_nonzero(spread.drift[known:])
    return int(chosen + np.count_nonzero(fit.generator.tensor_field.coefficients))
