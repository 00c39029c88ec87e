"""How likely a generator makes data that it was not fitted to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wgsindy.data import Chunk, Dataset, FloatArray, Trajectories
from wgsindy.errors import DataError
from wgsindy.estimate.filtering.filter import inverse_factor
from wgsindy.estimate.likelihood.matrices import multiply
from wgsindy.estimate.predictions import ORDER, Predictions, Predictor
from wgsindy.model import Generator
from wgsindy.passes import SERIAL, Engine, SumPass, data_summary, reduce

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
    if generator.info.get(ORDER) == 2 and data.order == 1 and isinstance(data, Trajectories):
        data = data.with_velocities()
    if data.names != generator.names:
        raise DataError(
            f"the generator is one of {list(generator.names)}, the data have {list(data.names)}."
        )
    summary = data_summary(data, standardise=False, engine=engine)
    step = LikelihoodPass(Predictor.of(generator, summary), np.sqrt(summary.variation))
    found = reduce(step, data, engine=engine)
    return found.total / found.steps
