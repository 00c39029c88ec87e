"""The information floor: least squares on raw increments, true support and true noise weights.

No estimator that has to find support and noise for itself can be expected to do better; the
ratio of an error to the floor's says how much of the data's information it uses.
"""

from __future__ import annotations

import numpy as np

from wgsindy.data import Chunk, FloatArray, Trajectories, frozen
from wgsindy.model import Generator, TensorField, tensor
from wgsindy.passes import reduce

# Noise below this share of its coordinate's mean is taken to be this large, so that a coordinate
# without noise, or a boundary at which noise vanishes, does not divide by zero.
NOISE_FLOOR = 1e-8

Normal = tuple[FloatArray, FloatArray]


class DriftPass:
    """Normal equations of all drift components, weighted by the inverse of the true tensor."""

    def __init__(self, truth: Generator, units: FloatArray) -> None:
        self.truth, self.units = truth, units
        self.support = np.flatnonzero(truth.drift_coefficients)

    def empty(self) -> Normal:
        k = len(self.support)
        return np.zeros((k, k)), np.zeros(k)

    def add(self, total: Normal, chunk: Chunk) -> Normal:
        theta = self.truth.basis.values(chunk.states)
        square = np.outer(self.units, self.units)
        relative = tensor.clip(self.truth.diffusion(chunk.states) / square, NOISE_FLOOR)
        precision = np.linalg.inv(relative) / square
        d, k = self.truth.drift_coefficients.shape
        gram = np.einsum("nk,npq,nl,n->pkql", theta, precision, theta, chunk.dt, optimize=True)
        cross = np.einsum("nk,npq,nq->pk", theta, precision, chunk.increments, optimize=True)
        keep = self.support
        total[0][...] += gram.reshape(d * k, d * k)[np.ix_(keep, keep)]
        total[1][...] += cross.ravel()[keep]
        return total

    def merge(self, left: Normal, right: Normal) -> Normal:
        return left[0] + right[0], left[1] + right[1]


class TensorPass:
    """Normal equations of each tensor entry, weighted by its true variance."""

    def __init__(self, truth: Generator, drift: FloatArray, units: FloatArray) -> None:
        self.truth, self.drift, self.units = truth, drift, units

    def empty(self) -> Normal:
        e, k = self.truth.tensor_field.coefficients.shape
        return np.zeros((e, k, k)), np.zeros((e, k))

    def add(self, total: Normal, chunk: Chunk) -> Normal:
        theta = self.truth.basis.values(chunk.states)
        field = self.truth.diffusion(chunk.states)
        residual = chunk.increments - theta @ self.drift.T * chunk.dt[:, None]
        targets = tensor.outer_entries(residual) / chunk.dt[:, None]
        for e, (p, q) in enumerate(tensor.pairs(self.truth.dimension)):
            variance = field[:, p, p] * field[:, q, q] + field[:, p, q] ** 2
            least = (NOISE_FLOOR * self.units[p] * self.units[q]) ** 2
            weighted = theta / np.maximum(variance, least)[:, None]
            total[0][e] += weighted.T @ theta
            total[1][e] += weighted.T @ targets[:, e]
        return total

    def merge(self, left: Normal, right: Normal) -> Normal:
        return left[0] + right[0], left[1] + right[1]


def fit_oracle(data: Trajectories, truth: Generator) -> Generator:
    """Fit the coefficients of the truth's own terms with the truth's own noise weights."""
    noise = np.sqrt(np.einsum("npp->np", truth.diffusion(data.states)).mean(axis=0))
    units = np.where(noise > 0, noise, 1.0)
    step = DriftPass(truth, units)
    drift = np.zeros_like(truth.drift_coefficients)
    if len(step.support):
        drift.flat[step.support] = _solve(*reduce(step, data))
    entries = np.zeros_like(truth.tensor_field.coefficients)
    gram, cross = reduce(TensorPass(truth, drift, units), data)
    for e, row in enumerate(truth.tensor_field.coefficients):
        keep = np.flatnonzero(row)
        if len(keep):
            entries[e, keep] = _solve(gram[e][np.ix_(keep, keep)], cross[e][keep])
    field = TensorField("clipped", frozen(entries), 0.0, frozen(np.ones(truth.dimension)))
    return Generator(truth.basis, frozen(drift), field, {"baseline": "oracle"})


def _solve(gram: FloatArray, cross: FloatArray) -> FloatArray:
    scale = 1.0 / np.sqrt(np.diag(gram))
    solution = np.linalg.lstsq(gram * np.outer(scale, scale), cross * scale, rcond=None)[0]
    return np.asarray(solution * scale)
