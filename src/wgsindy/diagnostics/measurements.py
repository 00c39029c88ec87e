"""What is measured about a fit: its data and their halves, its residuals, its rivals."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray
from wgsindy.data.chunk import Chunk
from wgsindy.data.dataset import Dataset
from wgsindy.diagnostics.probes import Prober
from wgsindy.diagnostics.residuals import CHUNK, ResidualPass, Residuals, standardised
from wgsindy.errors import WgsindyError
from wgsindy.estimate.fit import fit_likelihood
from wgsindy.estimate.held_out import log_likelihood
from wgsindy.estimate.predictions import Predictor
from wgsindy.estimate.result import Fit
from wgsindy.estimate.rival_libraries import RivalLibrary, rival_libraries
from wgsindy.model import tensor
from wgsindy.model.generator import Generator
from wgsindy.model.linear_form import field_names
from wgsindy.model.simulate import EulerMaruyama
from wgsindy.passes.engine import PassPair, SumPass, merged_by, reduce
from wgsindy.passes.segments import segments_of
from wgsindy.passes.summary import DataSummary
from wgsindy.recipes import SHARP, SHARP_EULER, LikelihoodRecipe

WORST_COVERED = 0.05  # share of the samples
MOST_POINTS = 2000  # of the data at which fields are compared
MOST_STEPS, SEGMENT = 25_000, 250  # of which the kind of step is judged
SIMULATED, SUBSTEPS = 4, 20  # steps from each of these points, and their own steps
SHORTEST = 0.01  # |J| dt: below, a chain and a process are the same


@dataclass(frozen=True)
class Halves:
    """Sums about ``origin (d,)`` over the samples of either half."""

    origin: FloatArray = field(metadata=merged_by(lambda left, right: left))  # the same for all
    count: IntArray  # (2,)
    first: FloatArray  # (2, d)
    second: FloatArray  # (2, d, d)

    @property
    def mean(self) -> FloatArray:
        """Mean states, ``(2, d)``."""
        return self.origin + self.first / self.count[:, None]

    @property
    def covariance(self) -> FloatArray:
        """Covariances of the states, ``(2, d, d)``; NaN for a half of one sample."""
        product = np.einsum("hp,hq->hpq", self.first, self.first) / self.count[:, None, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((self.second - product) / (self.count - 1)[:, None, None])


class HalvesPass(SumPass[Halves]):
    """Sum states before and from the middle of their trajectory, the last one included."""

    def __init__(self, data: Dataset) -> None:
        self.origin = data.first_state
        self.lengths = data.lengths
        steps = self.lengths - 1
        self.starts = np.cumsum(steps) - steps  # increments before each trajectory

    def empty(self) -> Halves:
        d = len(self.origin)
        count = np.zeros(2, dtype=np.int64)
        return Halves(self.origin, count, np.zeros((2, d)), np.zeros((2, d, d)))

    def add(self, total: Halves, chunk: Chunk) -> Halves:
        owner = chunk.trajectory
        within = chunk.start + np.arange(len(owner)) - self.starts[owner]
        length = self.lengths[owner]
        late = within >= length // 2
        self._add(total, 0, chunk.states, ~late)
        self._add(total, 1, chunk.states, late)
        # The last sample of a trajectory has no row of its own.
        self._add(total, 1, chunk.states + chunk.increments, within == length - 2)
        return total

    def _add(self, total: Halves, half: int, states: FloatArray, which: BoolArray) -> None:
        x = states[which] - self.origin
        total.count[half] += len(x)
        total.first[half] += x.sum(axis=0)
        total.second[half] += x.T @ x


class _Worth(NamedTuple):
    """Log-evidence of a fit, and its terms ``(d + E, K)``."""

    worth: float
    terms: BoolArray


@dataclass(frozen=True)
class Measurements:
    """Everything that the checks may ask about a fit, each measured when first asked for."""

    fit: Fit

    @property
    def data(self) -> Dataset:
        return self.fit.data

    @property
    def summary(self) -> DataSummary:
        return self.fit.summary

    @property
    def generator(self) -> Generator:
        return self.fit.generator

    def named(self, chosen: BoolArray) -> str:
        """Names of the ``chosen (d,)`` coordinates."""
        return ", ".join(name for name, yes in zip(self.data.names, chosen, strict=True) if yes)

    def drifts(self, chosen: BoolArray) -> tuple[str, ...]:
        """Drift components of the ``chosen (d,)`` coordinates."""
        return tuple(np.array(field_names(self.data.dimension)[0])[chosen].tolist())

    def variances(self, chosen: BoolArray) -> tuple[str, ...]:
        """Diagonal entries of the tensor of the ``chosen (d,)`` coordinates."""
        entries = field_names(self.data.dimension)[1]
        return tuple(entries[tensor.entry_number(p, p)] for p in np.flatnonzero(chosen).tolist())

    @property
    def noiseless(self) -> BoolArray:
        """Which coordinates are known to have no noise of their own, ``(d,)``."""
        nobody = np.zeros(self.data.dimension, dtype=bool)
        return nobody if self.fit.likelihood is None else self.fit.likelihood.noiseless

    @cached_property
    def _predictor(self) -> Predictor:
        return Predictor.of(self.generator, self.summary)

    @property
    def is_chain(self) -> bool:
        """Whether the fit takes each step for one Euler step."""
        return self._predictor.is_chain

    @cached_property
    def residuals(self) -> Residuals:
        """Sums over what the generator leaves of the increments."""
        return self._sums[0]

    @cached_property
    def _sums(self) -> tuple[Residuals, Halves]:
        prober = Prober.of(self.data, self.summary)
        left = ResidualPass(self._predictor, self.summary, len(self.data), self.noise_level, prober)
        step = PassPair(left, HalvesPass(self.data))
        return reduce(step, self.data, engine=self.fit.engine, chunk_size=CHUNK)

    @cached_property
    def noise_level(self) -> FloatArray:
        """Mean noise of each coordinate, ``(d,)``.

        Increments are no measure of it where they are mostly drift, nor is a formula that explodes
        at some state: the smaller of both. Increments alone where the fit finds no noise.
        """
        increments = self.summary.variation * self.summary.frame.scale**2
        fitted = tensor.fluctuation(self.generator.diffusion(self.points)).mean(axis=0)
        return np.where(fitted > 0, np.minimum(fitted, increments), increments)

    @cached_property
    def expected_kurtosis(self) -> FloatArray:
        """Excess kurtosis ``(d,)`` of residuals if the fit is right: steps simulated from the data.

        That of a long step of a bent process is not zero, though its noise is Gaussian.
        """
        d, sensor = self.data.dimension, self._predictor.observation_noise
        if self.is_chain:
            return np.zeros(d)
        rng = np.random.default_rng(0)
        start = np.repeat(self.points, SIMULATED, axis=0)
        dt = np.full(len(start), self.data.mean_dt)
        # Roots and logarithms end somewhere; where the data are they exist.
        low, high = (tuple(side.tolist()) for side in (self.summary.low, self.summary.high))
        lower, upper = (None, None) if self.generator.basis.is_closed else (low, high)
        with np.errstate(all="ignore"):
            ends = EulerMaruyama(lower, upper, SUBSTEPS)(self.generator, start, dt[0], 1, rng)
        factor = tensor.cholesky(tensor.symmetric(sensor[None], d))[0]
        seen = ends + rng.standard_normal(ends.shape) @ factor.T
        seen, alone = seen[np.isfinite(seen).all(axis=(1, 2))], np.arange(len(start))
        dt, alone = dt[: len(seen)], alone[: len(seen)]
        chunk = Chunk(seen[:, 0], seen[:, 1] - seen[:, 0], dt, alone)
        z = standardised(self._predictor(chunk), dt, self.noise_level)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.nanmean(z**4, axis=0) / np.nanmean(z**2, axis=0) ** 2 - 3.0)

    @cached_property
    def observation_noise(self) -> FloatArray:
        """Variance of the observation noise that the fit allows for, ``(d,)``."""
        entries = self._predictor.observation_noise
        return entries[[tensor.entry_number(p, p) for p in range(self.data.dimension)]]

    @cached_property
    def points(self) -> FloatArray:
        """States at which steps begin, evenly taken, ``(n, d)``."""
        return self.data.sample(MOST_POINTS)

    @cached_property
    def horizon(self) -> float:
        """Time that tells of the drift at the worst covered twentieth of the samples.

        The effective horizon at x is 1 / (theta' G^-1 theta), with G the integral of theta theta'
        over the observed time: an unweighted fit of the whole library knows b(x) as well as if it
        had stayed at x for so long, up to a variance of a(x) / horizon.
        """
        theta = self.generator.basis.values(self.points)
        size = np.linalg.norm(theta, axis=0)
        unit = np.linalg.qr(theta[:, size > 0] / size[size > 0])[0]
        # A sample at which every term vanishes has no leverage, and tells of nothing.
        leverage = np.quantile(np.einsum("nk,nk->n", unit, unit), 1 - WORST_COVERED)
        return float(self.data.total_time / (len(theta) * max(leverage, np.finfo(float).tiny)))

    @cached_property
    def rival(self) -> RivalLibrary | None:
        """The library that the data prefer most to the fitted one."""
        found = rival_libraries(self.fit)
        return found[0] if found else None

    @cached_property
    def chain_evidence(self) -> float:
        """Log-evidence by which the samples are Euler steps of a simulation rather than a process.

        Zero where nobody can tell: with noise, with short steps, or if the fit takes them for a
        chain already. A linear process is a chain with other coefficients.
        """
        fit = self.fit
        if self.is_chain or self.observation_noise.any() or fit.likelihood is None:
            return 0.0
        with np.errstate(all="ignore"):  # the slope of a root at zero is infinite
            slopes = self.generator.drift_jacobian(self.points)
        if not np.nanmean(np.abs(slopes).max(axis=(1, 2))) * self.data.mean_dt > SHORTEST:
            return 0.0
        # Enough to tell, and held in memory: each fit reads them several times.
        data = segments_of(self.data, MOST_STEPS // SEGMENT, SEGMENT, engine=fit.engine)
        try:
            chain = self._worth(data, SHARP_EULER)
            process = self._worth(data, SHARP)
            if chain.worth > process.worth:  # by its steps, or by its terms?
                process = max(
                    process, self._worth(data, SHARP, chain.terms), key=lambda one: one.worth
                )
        except WgsindyError:
            return 0.0
        return chain.worth - process.worth

    def _worth(
        self, data: Dataset, recipe: LikelihoodRecipe, given: BoolArray | None = None
    ) -> _Worth:
        """Fit by a recipe that knows no noise, and say what the fit is worth."""
        recipe, fit = replace(recipe, noise_correction=False), self.fit
        found = fit_likelihood(data, fit.library, recipe, self.summary, name="", given=given)
        assert found.likelihood is not None
        spread = found.likelihood.uncertainty
        terms = np.concatenate([spread.drift, found.likelihood.entries]) != 0
        gained = log_likelihood(found.generator, data) * data.n_increments
        return _Worth(gained - found.likelihood.term_cost * int(terms.sum()), terms)

    @cached_property
    def shift(self) -> float:
        """Distance of the mean states of first and second halves, in standard deviations.

        Only coordinates that the equations depend on count: a price may wander off for good.
        """
        active = self._active_coordinates()
        if not active.any():
            return 0.0
        halves = self._sums[1]
        scale = self.summary.region.scale[active]
        spread = halves.covariance[:, active][:, :, active].sum(axis=0) / 2
        spread /= np.outer(scale, scale)
        apart = np.subtract(*halves.mean[:, active]) / scale
        return float(np.sqrt(apart @ np.linalg.lstsq(spread, apart)[0]))

    def _active_coordinates(self) -> BoolArray:
        """Which coordinates any field depends on where the data are, ``(d,)``."""
        with np.errstate(all="ignore"):  # the slope of a root at zero is infinite
            slopes = self.generator.basis.gradients(self.points)
        spread = self.generator.uncertainty
        # An average over supports has a trace of every term.
        drift = self.generator.drift_coefficients if spread is None else spread.drift
        used = drift.any(axis=0) | self.generator.tensor_field.coefficients.any(axis=0)
        return np.asarray(slopes[:, used].any(axis=(0, 1)))

    @cached_property
    def drift_error(self) -> FloatArray:
        """Expected error of each drift component over its size, root mean squares, ``(d,)``."""
        spread = self.generator.uncertainty
        if spread is None:
            return np.zeros(0)
        theta = self.generator.basis.values(self.points)
        error = np.einsum("nk,pkl,nl->p", theta, spread.drift_spread, theta)
        size = np.sum(self.generator.drift(self.points) ** 2, axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.sqrt(np.maximum(error, 0.0) / size))
