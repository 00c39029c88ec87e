"""What a generator says of each step of data, by its own account of how samples follow each other.

A generator remembers whether it was fitted to a chain or to a process, and the observation noise
that was found. Diagnostics, held-out scores and reports all ask here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from wgsindy.data import BoolArray, Chunk, FloatArray
from wgsindy.estimate.filtering.filter import Blocks, Innovation, innovations
from wgsindy.estimate.likelihood.matrices import inverse, multiply
from wgsindy.estimate.likelihood.transition import Dynamics, Place, Transition
from wgsindy.model import Generator, tensor
from wgsindy.passes import DataSummary

CHAIN = "chain"  # in the info of a generator: its samples are Euler steps
TRANSITION, OBSERVATION_NOISE, ORDER = "transition", "observation_noise", "order"


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
    """Predicts steps of data that lie in a ``place``."""

    generator: Generator
    place: Place

    @classmethod
    def of(cls, generator: Generator, summary: DataSummary) -> Predictor:
        return cls(generator, Place.of(summary))

    @property
    def is_chain(self) -> bool:
        """Whether each step is one Euler step."""
        return self.generator.info.get(TRANSITION, CHAIN) == CHAIN

    @cached_property
    def observation_noise(self) -> FloatArray:
        """Covariance ``(E,)`` of the observation noise that the fit allows for."""
        entries = len(tensor.pairs(self.generator.dimension))
        return np.array(self.generator.info.get(OBSERVATION_NOISE, [0.0] * entries))

    @cached_property
    def dynamics(self) -> Dynamics:
        """Drift and tensor as a step sees them, in physical units."""
        generator = self.generator
        return Dynamics(
            generator.basis,
            np.ones(generator.dimension),
            generator.drift_coefficients,
            generator.tensor_field.coefficients,
            self.place,
            self.is_chain,
        )

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
        back = inverse(path.response)
        seen = multiply(multiply(back, covariance), back.swapaxes(0, 1))
        return Predictions(
            error.T,
            covariance.transpose(2, 0, 1),
            (self.dynamics.drift @ path.theta).T,
            multiply(back, error[:, None])[:, 0].T,
            np.einsum("ppn->np", seen) / dt[:, None],
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
        if chunk.seen is not None and self.generator.info.get(ORDER) == 2:
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
            back = inverse(moved[:half]) * dt
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
