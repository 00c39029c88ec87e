"""A process as far as it is known, and what it says of each increment.

:class:`Process` is the one carrier of a fit on its way: the passes evaluate increments by it,
:class:`Predictor` says by the same code what a finished generator expects of data. While fitting,
increments are divided by the mean noise of their coordinate, so that no threshold has units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from wgsindy.data import BoolArray, Chunk, FloatArray
from wgsindy.estimate.likelihood.filter import Blocks, Innovation, innovations
from wgsindy.estimate.likelihood.transition import (
    DataRange,
    Dynamics,
    Transition,
    inverse_and_determinant,
    multiply,
)
from wgsindy.model import Generator, tensor
from wgsindy.passes import DataSummary
from wgsindy.terms import Basis

# Where noise is far below its mean, the tensor formula is extrapolated towards zero, and a target
# with variance a^2 gets a weight that a small error of a makes enormous.
TENSOR_WEIGHT_FLOOR = 0.25


@dataclass(frozen=True)
class Process:
    """Drift, tensor and noise at which residuals and weights are taken, in units of the noise."""

    basis: Basis
    units: FloatArray  # (d,) mean noise of each coordinate, by which increments are divided
    drift: FloatArray  # (d, K) coefficients of the basis
    entries: FloatArray  # (E, K) coefficients of the tensor
    variance_floor: FloatArray  # (d,) smallest variance that weights follow the formula to
    extra_variance: FloatArray  # (d,) variance that the formula misses where it is small
    floor_forced: BoolArray  # (d,) whose formula was not positive at some sample: the floor stays
    noiseless_level: FloatArray  # (d,) residual variance of a coordinate without noise, else zero
    observation_noise: FloatArray  # (E,) covariance of the sensor's noise
    rounding: FloatArray  # (d,) variance of rounding, which is part of it and known
    noisy: BoolArray  # (E,) entries of the noise that are estimated
    data_range: DataRange  # where the data lie
    is_chain: bool  # whether samples are Euler steps, or those of a process
    positions: BoolArray | None = None  # (d,) whose drift is a velocity that is not observed

    @classmethod
    def start(cls, basis: Basis, summary: DataSummary, *, is_chain: bool) -> Process:
        """No drift, and the same noise everywhere, whether or not the library has a constant."""
        units = summary.frame.scale * np.sqrt(summary.variation)
        blank = cls._blank(basis, units, DataRange.of(summary), is_chain=is_chain)
        d = len(units)
        driven = (np.arange(d) >= d - summary.inputs).astype(np.float64)
        return replace(blank, noiseless_level=driven)

    @classmethod
    def of(cls, generator: Generator, data_range: DataRange) -> Process:
        """Return that of a generator by its own account of how samples follow, physical units."""
        d, observed = generator.dimension, generator.observation
        blank = cls._blank(generator.basis, np.ones(d), data_range, is_chain=observed.is_chain)
        return replace(
            blank,
            drift=generator.drift_coefficients,
            entries=generator.tensor_field.coefficients,
            observation_noise=observed.covariance(d),
            positions=observed.measured(d) if observed.hidden_velocities else None,
        )

    @classmethod
    def _blank(
        cls, basis: Basis, units: FloatArray, data_range: DataRange, *, is_chain: bool
    ) -> Process:
        d, k, e = len(units), len(basis), len(tensor.pairs(len(units)))
        return cls(
            basis,
            units,
            drift=np.zeros((d, k)),
            entries=np.zeros((e, k)),
            variance_floor=np.ones(d),
            extra_variance=np.zeros(d),
            floor_forced=np.zeros(d, dtype=bool),
            noiseless_level=np.zeros(d),
            observation_noise=np.zeros(e),
            rounding=np.zeros(d),
            noisy=np.zeros(e, dtype=bool),
            data_range=data_range,
            is_chain=is_chain,
        )

    def in_units(self, units: FloatArray) -> Process:
        """Return the same fields measured in other units of noise."""
        ratio = self.units / units
        products = np.array([ratio[p] * ratio[q] for p, q in tensor.pairs(len(units))])
        return replace(
            self,
            units=units,
            drift=self.drift * ratio[:, None],
            entries=self.entries * products[:, None],
            observation_noise=self.observation_noise * products,
            rounding=self.rounding * ratio**2,
        )

    def mean(self, states: FloatArray, dt: FloatArray) -> FloatArray:
        """Increments ``(n, d)`` that the drift makes of ``states (n, d)`` within ``dt (n,)``."""
        return self.dynamics.step(states, dt).mean.T

    @cached_property
    def dynamics(self) -> Dynamics:
        """The fields as a step sees them: a coordinate without noise has no row in the tensor."""
        entries = self.entries.copy()
        blank_noiseless(entries, self.noiseless_level)
        return Dynamics(self.basis, self.units, self.drift, entries, self.data_range, self.is_chain)


class StepResiduals(NamedTuple):
    """A chunk seen by a working model; the sample is the last axis.

    What a process does within a step is undone first: residuals and their noise are those of the
    drift itself, averaged along the path.
    """

    theta: FloatArray  # (K, n) library, averaged along the path
    dt: FloatArray  # (n,)
    steps: FloatArray  # (d, n) increments
    residual: FloatArray  # (d, n)
    entries: FloatArray  # (E, n) the fitted tensor, averaged along the path
    noise: FloatArray  # (E, n) of a step over dt, which weights follow
    gain: FloatArray | float  # (E, n) how much of the tensor a step shows: one for a chain
    shrunk: FloatArray | float = (
        1.0  # (n,) volume of the response, which residuals are seen through
    )

    @property
    def targets(self) -> FloatArray:
        """What the tensor entries are fitted to, ``(E, n)``: residual products over dt."""
        residual = self.residual
        products = [residual[p] * residual[q] for p, q in tensor.pairs(len(residual))]
        return (np.stack(products) / self.dt - self.noise) / self.gain + self.entries


@np.errstate(all="ignore")  # fields that run away are seen by what is summed of them
def evaluate(model: Process, chunk: Chunk) -> StepResiduals:
    """Evaluate library, fields and residuals at the samples of a chunk."""
    steps = np.ascontiguousarray(chunk.increments.T) / model.units[:, None]
    states, dt = chunk.states, chunk.dt
    if model.is_chain:
        theta = np.ascontiguousarray(model.basis.values(states).T)
        entries = model.dynamics.entries @ theta
        gain: FloatArray | float = 1.0
        shrunk: FloatArray | float = 1.0
        residual, noise = steps - (model.drift @ theta) * dt, entries
    else:
        path = model.dynamics.along(chunk)
        theta, entries = path.theta, model.dynamics.entries @ path.theta
        error = steps - path.mean
        residual, square, back, shrunk = through_response(path, error, path.covariance, dt)
        noise = np.stack([square[p, q] for p, q in tensor.pairs(len(steps))])
        gain = _gains(path, back)
        steps = residual + (model.drift @ theta) * dt
    if model.observation_noise.any():  # a step has the noise of both its ends
        noise = noise + 2 * model.observation_noise[:, None] / dt
    return StepResiduals(theta, dt, steps, residual, entries, noise, gain, shrunk)


def through_response(
    path: Transition, error: FloatArray, covariance: FloatArray, dt: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Residual ``(d, n)`` of a process and its noise ``(d, d, n)`` over dt, as those of its drift.

    What it does within the step is undone by the inverse of the response, which is the third; the
    determinant of the response ``(n,)`` is the fourth.
    """
    back, volume = inverse_and_determinant(path.response)
    residual = multiply(back, error[:, None])[:, 0]
    return residual, multiply(multiply(back, covariance), back.swapaxes(0, 1)) / dt, back, volume


def _gains(path: Transition, back: FloatArray) -> FloatArray:
    """How much of a constant in each tensor entry the noise of a step shows, ``(E, n)``.

    By Simpson's rule over F(s), seen through its mean, as residuals are.
    """
    start, middle = multiply(back, path.flow), multiply(back, path.middle)
    return np.stack(
        [
            sum(
                weight * (f[p, p] * f[q, q] + (f[p, q] * f[q, p] if p != q else 0.0))
                for f, weight in ((start, 1 / 6), (middle, 2 / 3), (back, 1 / 6))
            )
            for p, q in tensor.pairs(len(back))
        ]
    )


def blank_noiseless(entries: FloatArray | BoolArray, noiseless_level: FloatArray) -> None:
    """Blank the rows ``(E, ...)`` of entries whose coordinates have no noise, in place."""
    for e, (p, q) in enumerate(tensor.pairs(len(noiseless_level))):
        if noiseless_level[p] or noiseless_level[q]:
            entries[e] = 0.0


def drift_noise(model: Process, local: StepResiduals) -> FloatArray:
    """Noise of a step over dt, ``(E, n)``, with variances that can be divided by."""
    noise = local.noise.copy()
    for p in range(len(model.units)):
        own = tensor.entry_number(p, p)
        noise[own] = (
            model.noiseless_level[p]
            or np.maximum(noise[own], model.variance_floor[p]) + model.extra_variance[p]
        )
    return noise


def entry_variance(noise: FloatArray) -> FloatArray:
    """a_pp a_qq + a_pq^2 of the targets of each entry, ``(E, n)``, held away from zero.

    ``noise (E, n)`` is what :func:`drift_noise` gives.
    """
    d, held = tensor.dimension_of(noise), noise.copy()
    own = [held[tensor.entry_number(p, p)] for p in range(d)]
    for variance in own:
        np.maximum(variance, TENSOR_WEIGHT_FLOOR, out=variance)
    return np.stack([own[p] * own[q] + held[e] ** 2 for e, (p, q) in enumerate(tensor.pairs(d))])


class Predictions(NamedTuple):
    """Steps that are predicted, sample first; in physical units."""

    error: FloatArray  # (n, d) state at the end minus its prediction
    covariance: FloatArray  # (n, d, d) of that
    drift: FloatArray  # (n, d) averaged along the path
    residual: FloatArray  # (n, d) error, as one of the drift over the step
    noise: FloatArray  # (n, d) variance of that over dt: of a chain, the diagonal of the tensor
    states: FloatArray  # (n, d) where steps begin, as far as known before they are over
    seen: BoolArray | None = None  # (n, d) what has an error that tells of the model; None if all


@dataclass(frozen=True)
class Predictor:
    """Predicts steps of data that lie in a ``data_range``, by the account of a generator."""

    generator: Generator
    data_range: DataRange

    @classmethod
    def of(cls, generator: Generator, summary: DataSummary) -> Predictor:
        return cls(generator, DataRange.of(summary))

    @cached_property
    def process(self) -> Process:
        """The generator as the passes see it, in physical units."""
        return Process.of(self.generator, self.data_range)

    @property
    def is_chain(self) -> bool:
        """Whether each step is one Euler step."""
        return self.process.is_chain

    @property
    def observation_noise(self) -> FloatArray:
        """Covariance ``(E,)`` of the observation noise that the fit allows for."""
        return self.process.observation_noise

    @property
    def dynamics(self) -> Dynamics:
        """Drift and tensor as a step sees them."""
        return self.process.dynamics

    def __call__(self, chunk: Chunk) -> Predictions:
        """Predict the steps of a chunk."""
        if self.is_chain:
            return self._of_chain(chunk)
        if self.observation_noise.any() or chunk.seen is not None:
            return self._filtered(chunk)
        path = self.dynamics.along(chunk)
        error = chunk.increments.T - path.mean
        return self._along(path, error, path.covariance, chunk.dt, chunk.states)

    def _of_chain(self, seen: Chunk) -> Predictions:
        theta = self.generator.basis.values(seen.states)
        drift = theta @ self.generator.drift_coefficients.T
        field = self.generator.tensor_field(theta)
        sensor = 2 * tensor.symmetric(self.observation_noise[None], drift.shape[1])
        dt = seen.dt[:, None]
        covariance = field * dt[:, :, None] + sensor
        error = seen.increments - drift * dt
        noise = np.einsum("npp->np", covariance) / dt
        return Predictions(error, covariance, drift, error, noise, seen.states)

    def _along(
        self,
        path: Transition,
        error: FloatArray,
        covariance: FloatArray,
        dt: FloatArray,
        states: FloatArray,
    ) -> Predictions:
        """Predictions of a process; ``error (d, n)``, ``covariance (d, d, n)``."""
        residual, noise, *_ = through_response(path, error, covariance, dt)
        return Predictions(
            error.T,
            covariance.transpose(2, 0, 1),
            (self.dynamics.drift @ path.theta).T,
            residual.T,
            np.einsum("ppn->np", noise),
            states,
        )

    def _filtered(self, chunk: Chunk) -> Predictions:
        """Innovations of a filter, in the order of the samples."""
        blocks = Blocks.of(chunk)
        early = np.zeros_like(blocks.first)  # rows of each block that only warm up
        if chunk.seen is not None:
            blocks, early = Blocks.warmed_up(chunk)
        found = list(innovations(self.dynamics, self.observation_noise, chunk, blocks))
        kept = [k >= early[: len(step.rows)] for k, step in enumerate(found)]
        rows = [step.rows[own] for step, own in zip(found, kept, strict=True)]
        order = np.argsort(np.concatenate(rows))
        columns = [
            np.concatenate([one[own] for one, own in zip(steps, kept, strict=True)])[order]
            for steps in zip(*self._stepwise(found, chunk), strict=True)
            if steps[0] is not None
        ]
        return Predictions(*columns)

    def _stepwise(self, found: list[Innovation], chunk: Chunk) -> Iterator[Predictions]:
        """Predictions of one step of all blocks after the other."""
        if chunk.seen is not None and self.process.positions is not None:
            yield from self._of_positions(found, chunk)
            return
        for step in found:
            if chunk.seen is not None:
                yield self._of_some(step, chunk)
            else:
                at, rows = step.path, step.rows
                dt, states = chunk.dt[rows], chunk.states[rows]
                yield self._along(at, step.value, step.covariance, dt, states)

    def _of_some(self, step: Innovation, chunk: Chunk) -> Predictions:
        """Innovations of the coordinates that were measured."""
        value, covariance, measured = step.of_all()
        known = covariance * measured * measured[:, None]
        whole = self._along(step.path, value, known, chunk.dt[step.rows], step.states)
        seen = measured.T.astype(bool) & step.counts
        return whole._replace(
            covariance=covariance.transpose(2, 0, 1),
            drift=whole.drift * seen,
            residual=whole.residual * seen,
            noise=whole.noise * seen,
            seen=seen,
        )

    def _of_positions(self, found: list[Innovation], chunk: Chunk) -> Iterator[Predictions]:
        """Innovations of positions, as residuals of the force that moves them.

        A constant force moves the innovation by g, which runs along as the filter does.
        """
        d = self.generator.dimension
        half = d // 2
        moved = np.zeros((d, half, len(found[0].rows)))
        for step in found:
            value, covariance, seen = step.of_all()
            n, dt = len(step.rows), chunk.dt[step.rows]
            moved = multiply(step.path.flow, moved[:, :, :n]) + step.path.response[:, half:] * dt
            back = inverse_and_determinant(moved[:half])[0] * dt
            measured = seen[:half].astype(bool) & step.counts
            own = covariance[:half, :half]
            square = multiply(multiply(back, own), back.swapaxes(0, 1))
            residual, noise = np.zeros((d, n)), np.zeros((d, n))
            residual[half:] = multiply(back, value[:half, None])[:, 0] * measured
            noise[half:] = np.einsum("ppn->pn", square) / dt * measured
            drift = self.dynamics.drift @ step.path.theta
            drift[half:] *= measured
            yield Predictions(
                value.T,
                covariance.transpose(2, 0, 1),
                drift.T,
                residual.T,
                noise.T,
                step.states,
                np.concatenate([measured, np.zeros_like(measured)]).T,
            )
            moved = moved - multiply(step.gain, moved[step.asked])
