"""How likely a generator makes data that it was not fitted to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy.data.chunk import Chunk
from wgsindy.data.dataset import Dataset
from wgsindy.errors import DataError
from wgsindy.estimate.predictions import Predictor
from wgsindy.model.generator import Generator
from wgsindy.passes.engine import SERIAL, Engine, SumPass, reduce
from wgsindy.passes.summary import data_summary

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
        found = self.predictor(chunk)
        size = self.units * np.sqrt(chunk.dt)[:, None]  # of an increment, (n, d)
        values, vectors = np.linalg.eigh(found.covariance / (size[:, :, None] * size[:, None]))
        values = np.maximum(values, VARIANCE_FLOOR)
        along = np.einsum("npk,np->nk", vectors, found.error / size)
        log_density = -0.5 * np.sum(along**2 / values + np.log(2 * np.pi * values), axis=1)
        total.total += float(np.sum(log_density - np.log(size).sum(axis=1)))
        total.steps += len(size)
        return total


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
    if data.names != generator.names:
        raise DataError(
            f"the generator is one of {list(generator.names)}, the data have {list(data.names)}."
        )
    summary = data_summary(data, standardise=False, engine=engine)
    step = LikelihoodPass(Predictor.of(generator, summary), np.sqrt(summary.variation))
    found = reduce(step, data, engine=engine)
    return found.total / found.steps
