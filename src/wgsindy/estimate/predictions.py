"""What a generator says of each step of data, by its own account of how samples follow each other.

A generator remembers whether it was fitted to a chain or to a process, and the observation noise
that was found. Diagnostics, held-out scores and reports all ask here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy.data.chunk import Chunk
from wgsindy.estimate.likelihood.filter import Blocks, innovations
from wgsindy.estimate.likelihood.transition import (
    Dynamics,
    Place,
    Transition,
    inverse,
    multiply,
)
from wgsindy.model import tensor
from wgsindy.model.generator import Generator
from wgsindy.passes.summary import DataSummary

CHAIN = "chain"  # in the info of a generator: its samples are Euler steps
TRANSITION, OBSERVATION_NOISE = "transition", "observation_noise"


class Predictions(NamedTuple):
    """Steps that are predicted, sample first; in physical units."""

    error: FloatArray  # (n, d) state at the end minus its prediction
    covariance: FloatArray  # (n, d, d) of that
    drift: FloatArray  # (n, d) averaged along the path
    residual: FloatArray  # (n, d) error, as one of the drift over the step
    noise: FloatArray  # (n, d) variance of that over dt: of a chain, the diagonal of the tensor


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
    def _dynamics(self) -> Dynamics:
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
        if self.observation_noise.any():
            return self._filtered(chunk)
        path = self._dynamics.step(chunk.states, chunk.dt)
        return self._along(path, chunk.increments.T - path.mean, path.covariance, chunk.dt)

    def _of_chain(self, seen: Chunk) -> Predictions:
        theta = self.generator.basis.values(seen.states)
        drift = theta @ self.generator.drift_coefficients.T
        field = self.generator.tensor_field(theta)
        sensor = 2 * tensor.symmetric(self.observation_noise[None], drift.shape[1])
        dt = seen.dt[:, None]
        covariance = field * dt[:, :, None] + sensor
        error = seen.increments - drift * dt
        noise = np.einsum("npp->np", covariance) / dt
        return Predictions(error, covariance, drift, error, noise)

    def _along(
        self,
        path: Transition,
        error: FloatArray,
        covariance: FloatArray,
        dt: FloatArray,
    ) -> Predictions:
        """Predictions of a process; ``error (d, n)``, ``covariance (d, d, n)``."""
        back = inverse(path.response)
        seen = multiply(multiply(back, covariance), back.swapaxes(0, 1))
        return Predictions(
            error.T,
            covariance.transpose(2, 0, 1),
            (self._dynamics.drift @ path.theta).T,
            multiply(back, error[:, None])[:, 0].T,
            np.einsum("ppn->np", seen) / dt[:, None],
        )

    def _filtered(self, chunk: Chunk) -> Predictions:
        """Innovations of a filter, in the order of the samples."""
        found = list(innovations(self._dynamics, self.observation_noise, chunk, Blocks.of(chunk)))
        order = np.argsort(np.concatenate([step.rows for step in found]))
        whole = [
            self._along(step.path, step.value, step.covariance, chunk.dt[step.rows])
            for step in found
        ]
        return Predictions(*(np.concatenate(column)[order] for column in zip(*whole, strict=True)))
