"""What is measured about a fit: its data and their halves, its residuals, its rivals."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from wgsindy.data import BoolArray, Chunk, Dataset, FloatArray, IntArray
from wgsindy.diagnostics.extrapolation import KnownDrift, known_drift
from wgsindy.diagnostics.refits import (
    APART,
    StepChange,
    chain_evidence,
    nats_apart,
    second_order_evidence,
    step_change,
)
from wgsindy.diagnostics.residuals.echoes import Listener
from wgsindy.diagnostics.residuals.probes import Prober
from wgsindy.diagnostics.residuals.rhythm import Stretches
from wgsindy.diagnostics.residuals.sums import CHUNK, ResidualPass, Residuals, standardised
from wgsindy.estimate import Fit, OrderEvidence, Predictor, RivalLibrary, rival_libraries
from wgsindy.model import EulerMaruyama, Generator, field_names, tensor
from wgsindy.passes import DataSummary, PassPair, SumPass, merged_by, reduce

WORST_COVERED = 0.05  # share of the samples
MOST_POINTS = 2000  # of the data at which fields are compared
FEWER = 4  # one in so many of these, for a mean that need not be known well
SIMULATED, SUBSTEPS = 16, 20  # steps from each of these points, and their own steps
# Correlation of neighbouring residuals, and its change within three steps: what a velocity leaves.
# With less, so many steps as are asked prefer no order by more than ten nats.
LASTING, FADING = 0.5, 0.05
SHORTEST = 0.03  # |J| dt: below, nobody can tell a chain from a process


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
    def n_states(self) -> int:
        """How many of the coordinates have an equation: all but known inputs, which come last."""
        return self.data.dimension - len(self.data.inputs)

    @property
    def noiseless(self) -> BoolArray:
        """Which coordinates are known to have no noise of their own, ``(d,)``; inputs have none."""
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
    def stretches(self) -> Stretches:
        """How time is cut to look for what comes back in it."""
        return Stretches.of(self.data)

    @cached_property
    def listener(self) -> Listener:
        """Which fitted terms have their say before the past has."""
        return Listener.of(self.generator.basis, self._written_drift, self.summary.region.centre)

    @cached_property
    def residuals(self) -> Residuals:
        """Sums over what the generator leaves of the increments."""
        return self._sums[0]

    @cached_property
    def _sums(self) -> tuple[Residuals, Halves]:
        prober = Prober.of(self.data, self.summary)
        left = ResidualPass(
            self._predictor,
            self.summary,
            len(self.data),
            self.noise_level,
            prober,
            self.listener,
            self.stretches,
        )
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
    def expected_shape(self) -> FloatArray:
        """Skewness and excess kurtosis ``(2, d)`` of residuals if the fit is right.

        Of steps simulated from the data: those of a long step of a bent process are not zero,
        though its noise is Gaussian.
        """
        d, sensor = self.data.dimension, self._predictor.observation_noise
        if self.is_chain or self._is_linear:
            return np.zeros((2, d))
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
        # What does not move, or always runs away, has no shape that could be expected.
        z, there = np.nan_to_num(z), np.maximum(np.isfinite(z).sum(axis=0), 1)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            second, third, fourth = ((z**power).sum(axis=0) / there for power in (2, 3, 4))
            shape = np.stack([third / second**1.5, fourth / second**2 - 3.0])
        return np.where(np.isfinite(shape), shape, 0.0)

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
    def rivals(self) -> list[RivalLibrary]:
        """Larger libraries, the one that the data prefer most first."""
        return rival_libraries(self.fit)

    @property
    def rival(self) -> RivalLibrary | None:
        """The library that the data prefer most to the fitted one."""
        return self.rivals[0] if self.rivals else None

    @cached_property
    def chain_evidence(self) -> float:
        """Log-evidence by which the samples are Euler steps of a simulation, not a process."""
        if self.is_chain or self.observation_noise.any():
            return 0.0
        with np.errstate(all="ignore"):  # the slope of a root at zero is infinite
            slopes = self.generator.drift_jacobian(self.points)
        if not np.nanmean(np.abs(slopes).max(axis=(1, 2))) * self.data.mean_dt > SHORTEST:
            return 0.0
        if nats_apart(self._predictor.dynamics, self.points[::FEWER], self.data.mean_dt) < APART:
            return 0.0
        return chain_evidence(self.fit)

    @cached_property
    def orders(self) -> OrderEvidence | None:
        """First against second order, where the data may be positions; else nothing.

        A velocity fades from step to step, or lasts as a whole. A drift that is missed makes up a
        share of the residuals, which is the same a few steps later.
        """
        lags = np.einsum("lpp->lp", self.residuals.probes.correlations[:3])
        shows = np.abs(np.diff(lags, axis=0)).max() > FADING or lags[0].max() > LASTING
        if shows or self.observation_noise.any() or self.fit.orders is not None:
            return second_order_evidence(self.fit)
        return None

    @cached_property
    def step_change(self) -> StepChange | None:
        """What longer steps do to the equations, where noise was found; else nothing."""
        return step_change(self.fit)

    @cached_property
    def known_drift(self) -> KnownDrift | None:
        """What is known of the drift in the box about the data; nothing in one dimension."""
        return known_drift(self.generator, self.points, self.data.total_time)

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

    @property
    def _written_drift(self) -> FloatArray:
        """Coefficients ``(d, K)`` of the formula; an average over supports has all terms."""
        spread = self.generator.uncertainty
        return self.generator.drift_coefficients if spread is None else spread.drift

    @property
    def _is_linear(self) -> bool:
        """Whether the formulas are those of a linear process, of which every step is Gaussian."""
        degrees = self.generator.basis.degrees
        drift = self._written_drift[:, degrees > 1]
        noise = self.generator.tensor_field.coefficients[:, degrees > 0]
        return self.generator.basis.is_polynomial and not (drift.any() or noise.any())

    def _active_coordinates(self) -> BoolArray:
        """Which coordinates any field depends on where the data are, ``(d,)``."""
        with np.errstate(all="ignore"):  # the slope of a root at zero is infinite
            slopes = self.generator.basis.gradients(self.points)
        used = self._written_drift.any(axis=0) | self.generator.tensor_field.coefficients.any(
            axis=0
        )
        return np.asarray(slopes[:, used].any(axis=(0, 1)))

    @property
    def drift_error(self) -> FloatArray:
        """Expected error of each drift component over its size, root mean squares, ``(d,)``."""
        return self.field_errors[0]

    @cached_property
    def field_errors(self) -> FloatArray:
        """That of drift components, and of the diagonal of the tensor, ``(2, d)``.

        As far as their form is right: what that may miss is a question of its own.
        """
        spread = self.generator.uncertainty
        if spread is None:
            return np.zeros((2, 0))
        own = [tensor.entry_number(p, p) for p in range(self.data.dimension)]
        drift, field = (f(self.points) for f in (self.generator.drift, self.generator.diffusion))
        size = np.sum([drift**2, np.diagonal(field, axis1=1, axis2=2) ** 2], axis=1)
        theta = self.generator.basis.values(self.points)
        spreads = np.stack([spread.drift_spread, spread.entry_covariance[own]])
        error = np.einsum("nk,fpkl,nl->fp", theta, spreads, theta, optimize=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.sqrt(np.maximum(error, 0.0) / size))
