"""A Gaussian filter along noisy samples, with derivatives that run along.

Samples are Y = X + eta, eta normal of covariance Sigma. Between samples the transition carries mean
and covariance of what is known of X; at a sample the innovation e = Y - m, of covariance S = Q +
Sigma, updates both. Without noise this is the transition from sample to sample.

The derivatives of m and Q with respect to every coefficient of drift, tensor and noise are linear
in what the transition gives, so one pass has the slope of the log-likelihood of the innovations and
its information. What tells noise from diffusion is the correlation of innovations: the gain of the
filter depends on both, and the mean on the gain.

A filter forgets. Trajectories are cut into blocks at fixed places, and each block begins with what
its first sample says, N(Y, Sigma): a likelihood of its own, short of nothing but what the samples
before would add at its start. Blocks run side by side, and no sum depends on how data are stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from wgsindy.data.arrays import BoolArray, FloatArray, IntArray
from wgsindy.data.chunk import Chunk
from wgsindy.estimate.likelihood.normal_equations import Coupling, NormalEquations, Scores
from wgsindy.estimate.likelihood.transition import (
    Dynamics,
    Transition,
    congruence,
    inverse,
    multiply,
)
from wgsindy.estimate.likelihood.working_model import WorkingModel
from wgsindy.model import tensor
from wgsindy.passes.engine import SumPass

BLOCK = 128  # samples a block, at most; chunks hold a whole number of blocks
LEAST_VARIANCE = 1e-3  # of a prediction, as a share of the variance of the noise
LEAST_TOLD = 1e-12  # eigenvalue of the information about the noise, with a diagonal of one
LEAST_PIVOT = 1e-6  # share of its variance that a coordinate keeps once those before it are known


def block_labels(chunk: Chunk, block: int = BLOCK) -> IntArray:
    """Number ``(n,)`` of the block that each row is in; those of two trajectories differ."""
    place = chunk.start + np.arange(len(chunk.dt)) + chunk.trajectory
    return place // block + chunk.trajectory


def whole_blocks(size: int) -> int:
    """Return the number of samples of whole blocks nearest to ``size``, at least one block."""
    return BLOCK * max(round(size / BLOCK), 1)


class Blocks(NamedTuple):
    """Stretches of a chunk, the longest first."""

    first: IntArray  # (B,) first row of each
    length: IntArray  # (B,) number of rows
    owner: IntArray  # (B,) trajectory

    @classmethod
    def of(cls, chunk: Chunk, block: int = BLOCK) -> Blocks:
        """Cut at places that are multiples of the length of a block, and between trajectories."""
        first = np.append(0, np.flatnonzero(np.diff(block_labels(chunk, block))) + 1)
        length = np.diff(np.append(first, len(chunk.dt)))
        order = np.argsort(-length, kind="stable")
        return cls(first[order], length[order], chunk.trajectory[first[order]])

    def steps(self) -> Iterator[IntArray]:
        """Yield the rows ``(n,)`` at which the blocks are, step by step; short ones drop out."""
        for step in range(int(self.length[0])):
            active = int(np.searchsorted(-self.length, -step, side="left"))
            yield self.first[:active] + step


class Innovation(NamedTuple):
    """What one step of ``n`` blocks finds: in units of the noise, sample last."""

    rows: IntArray  # (n,)
    path: Transition
    value: FloatArray  # (d, n) e
    covariance: FloatArray  # (d, d, n) S
    whitening: FloatArray  # (d, d, n) W with W S W' = 1, a lower triangle
    gain: FloatArray  # (d, d, n) K


def innovations(
    dynamics: Dynamics, observation_noise: FloatArray, chunk: Chunk, blocks: Blocks
) -> Iterator[Innovation]:
    """Run the filter along all blocks of a chunk; ``observation_noise (E,)`` is a covariance."""
    d, units = len(dynamics.units), dynamics.units[:, None]
    noise = tensor.symmetric(observation_noise[None], d).transpose(1, 2, 0)
    states = chunk.states[blocks.first]
    spread = np.broadcast_to(noise, (d, d, len(states)))
    for rows in blocks.steps():
        n, dt = len(rows), chunk.dt[rows]
        path = dynamics.step(states[:n], dt, spread[:, :, :n])
        predicted = path.covariance
        for p in range(d):
            predicted[p, p] = np.maximum(predicted[p, p], LEAST_VARIANCE * noise[p, p])
            for q in range(p):  # a formula that is no tensor here must not make gains beyond one
                most = np.sqrt(predicted[p, p] * predicted[q, q])
                predicted[p, q] = predicted[q, p] = np.clip(predicted[p, q], -most, most)
        observed = chunk.states[rows] + chunk.increments[rows]
        value = (observed - states[:n]).T / units - path.mean
        covariance = predicted + noise
        whitening = _inverse_factor(covariance)
        gain = multiply(predicted, multiply(whitening.swapaxes(0, 1), whitening))
        yield Innovation(rows, path, value, covariance, whitening, gain)
        rest = _one_minus(gain)
        shift = path.mean + multiply(gain, value[:, None])[:, 0]
        states = np.clip(states[:n] + (shift * units).T, dynamics.place.low, dynamics.place.high)
        spread = multiply(multiply(rest, predicted), rest.swapaxes(0, 1))
        spread += multiply(multiply(gain, noise), gain.swapaxes(0, 1))


@dataclass
class FilterSums:
    """Information and slope of the log-likelihood of innovations, in working terms.

    ``C = E K + N`` coefficients of the tensor, then the ``N = E`` entries of the noise.
    """

    count: int
    log_likelihood: float
    drift: FloatArray  # (d K, d K) information
    drift_slope: FloatArray  # (R or 1, d K) by trajectory, if asked for
    tensor: FloatArray  # (C, C) information
    tensor_slope: FloatArray  # (R or 1, C)
    mixed: FloatArray  # (d K, C) information that drift and tensor share
    clipped: int = field(default=0)  # samples at which the tensor is not positive

    def is_sound(self, model: WorkingModel) -> bool:
        """Whether the filter has not run away, and tells of the noise at all."""
        slopes = (self.drift_slope, self.tensor_slope)
        sums = (self.log_likelihood, self.drift, self.tensor, self.mixed, *slopes)
        if not all(bool(np.isfinite(one).all()) for one in sums):
            return False
        noise = _places(model)[1]
        own = self.tensor[np.ix_(noise, noise)]
        scale = np.sqrt(np.maximum(np.diag(own), np.finfo(np.float64).tiny))
        relative = np.linalg.eigvalsh(own / np.outer(scale, scale)) if len(noise) else np.ones(1)
        return bool(relative.min() > LEAST_TOLD)

    def equations(self, model: WorkingModel) -> NormalEquations:
        """Pose them as normal equations about ``model``, with the noise of the sensor left open."""
        (d, k), e = model.drift.shape, len(model.entries)
        gram, slopes = self._left_open(model)
        blocks, size = gram.reshape(d + e, k, d + e, k), d * k
        slope = slopes.sum(axis=0)
        drift_cross = slope[:size] + gram[:size, :size] @ model.drift.ravel()
        entry_cross = slope[size:] + gram[size:, size:] @ model.entries.ravel()
        cross = slope + gram @ np.append(model.drift, model.entries)
        return NormalEquations(
            np.stack([blocks[p, :, q] for p, q in tensor.pairs(d)]),
            drift_cross.reshape(d, k),
            np.stack([blocks[row, :, row] for row in range(d, d + e)]),
            entry_cross.reshape(e, k),
            model.basis.from_physical,
            Coupling(blocks, cross.reshape(d + e, k)),
        )

    def _left_open(self, model: WorkingModel) -> tuple[FloatArray, FloatArray]:
        """Information and slopes of drift and tensor if the noise may be anything.

        Its part is eliminated (Schur complement).
        """
        fields, noise = _places(model)
        own = self.tensor[np.ix_(fields, fields)]
        shared = self.mixed[:, fields]
        gram = np.block([[self.drift, shared], [shared.T, own]])
        slopes = np.hstack([self.drift_slope, self.tensor_slope[:, fields]])
        with_noise = np.vstack([self.mixed[:, noise], self.tensor[np.ix_(fields, noise)]])
        solved = np.linalg.solve(self.tensor[np.ix_(noise, noise)], with_noise.T)
        return gram - with_noise @ solved, slopes - self.tensor_slope[:, noise] @ solved

    def noise(self, model: WorkingModel, drift: FloatArray, entries: FloatArray) -> FloatArray:
        """Noise ``(E,)`` that is most likely with ``drift (d, K)`` and ``entries (E, K)``."""
        fields, noise = _places(model)
        slope = self.tensor_slope.sum(axis=0)[noise]
        slope = slope - self.mixed[:, noise].T @ (drift - model.drift).ravel()
        slope -= self.tensor[np.ix_(noise, fields)] @ (entries - model.entries).ravel()
        change = np.linalg.solve(self.tensor[np.ix_(noise, noise)], slope)
        found = model.observation_noise.copy()
        found[model.noisy] += change
        covariance = tensor.symmetric((found - _diagonal(model.rounding))[None], len(model.units))
        return tensor.entries_of(tensor.clip(covariance))[0] + _diagonal(model.rounding)

    def noise_errors(self, model: WorkingModel, support: BoolArray) -> FloatArray:
        """Standard errors ``(d,)`` of the variances of the noise; zero where they are known.

        ``support (E, K)`` has the physical terms of the tensor.
        """
        (fields, noise), d = _places(model), len(model.units)
        change = np.kron(np.eye(len(support)), model.basis.from_physical)[support.ravel()]
        mixed = change @ self.tensor[np.ix_(fields, noise)]
        own = change @ self.tensor[np.ix_(fields, fields)] @ change.T
        left = self.tensor[np.ix_(noise, noise)] - mixed.T @ np.linalg.lstsq(own, mixed)[0]
        variances = np.zeros(len(support))
        variances[model.noisy] = np.diag(np.linalg.pinv(left))
        return np.sqrt(variances[[tensor.entry_number(p, p) for p in range(d)]])

    def scores(self, model: WorkingModel) -> Scores:
        """Slopes by trajectory."""
        d, k = model.drift.shape
        slopes = self._left_open(model)[1]
        slopes = slopes.reshape(len(slopes), -1, k)
        return Scores(
            slopes[:, :d],
            slopes[:, d:],
            self.clipped,
            self.count,
        )


def _places(model: WorkingModel) -> tuple[IntArray, IntArray]:
    """Which of the coefficients are those of the tensor, and which those of noise that is free."""
    fields = model.entries.size
    return np.arange(fields), fields + np.flatnonzero(model.noisy)


def _diagonal(variances: FloatArray) -> FloatArray:
    return tensor.entries_of(np.diag(variances)[None])[0]


@dataclass(frozen=True)
class FilterPass(SumPass[FilterSums]):
    """Sum information and slopes over all innovations.

    Slopes by trajectory if there are ``n_trajectories``, else over all of them.
    """

    model: WorkingModel
    n_trajectories: int = 0
    block: int = BLOCK  # samples

    def empty(self) -> FilterSums:
        d, k = self.model.drift.shape
        c, rows = len(self.model.entries) * (k + 1), max(self.n_trajectories, 1)
        return FilterSums(
            0,
            0.0,
            np.zeros((d * k, d * k)),
            np.zeros((rows, d * k)),
            np.zeros((c, c)),
            np.zeros((rows, c)),
            np.zeros((d * k, c)),
        )

    def add(self, total: FilterSums, chunk: Chunk) -> FilterSums:
        with np.errstate(all="ignore"):  # a filter that runs away is seen by its sums
            return self._added(total, chunk)

    def _added(self, total: FilterSums, chunk: Chunk) -> FilterSums:
        blocks = Blocks.of(chunk, self.block)
        tangent = _Tangent.start(self.model, len(blocks.first))
        dynamics = self.model.dynamics
        for found in innovations(dynamics, self.model.observation_noise, chunk, blocks):
            tangent.predict(found.path, chunk.dt[found.rows])
            tangent.add_to(total, found)
            tangent.update(found)
            total.count += len(found.rows)
            entries = dynamics.entries @ found.path.theta
            total.clipped += int(np.count_nonzero(~tensor.has_root(entries)))
        owner = blocks.owner if self.n_trajectories else np.zeros_like(blocks.owner)
        np.add.at(total.drift_slope, owner, tangent.drift_slope.T)
        np.add.at(total.tensor_slope, owner, tangent.tensor_slope.T)
        return total


@dataclass
class _Tangent:
    """Derivatives of filtered mean and covariance with respect to all coefficients.

    Mean: ``by_drift (d, d K, B)`` and ``by_tensor (d, C, B)``; covariance ``spread (E, C, B)``.
    The covariance hardly depends on the drift, whose derivative is left out.
    """

    by_drift: FloatArray
    by_tensor: FloatArray
    spread: FloatArray
    drift_slope: FloatArray  # (d K, B) of each block
    tensor_slope: FloatArray  # (C, B)

    @classmethod
    def start(cls, model: WorkingModel, blocks: int) -> _Tangent:
        (d, k), e = model.drift.shape, len(model.entries)
        c = e * (k + 1)
        spread = np.zeros((e, c, blocks))
        for row in range(e):  # a block begins with the noise of its first sample
            spread[row, e * k + row] = 1.0
        return cls(
            np.zeros((d, d * k, blocks)),
            np.zeros((d, c, blocks)),
            spread,
            np.zeros((d * k, blocks)),
            np.zeros((c, blocks)),
        )

    def predict(self, path: Transition, dt: FloatArray) -> None:
        """Carry the derivatives over a step, and add what the step itself depends on."""
        n, (d, e) = len(dt), (len(self.by_drift), len(self.spread))
        k = len(path.theta)
        theta = path.theta * dt
        by_drift = multiply(path.flow, self.by_drift[:, :, :n])
        own = by_drift.reshape(d, d, k, n)
        own += path.response[:, :, None] * theta
        self.by_drift = by_drift
        self.by_tensor = multiply(path.flow, self.by_tensor[:, :, :n])
        start, middle = (congruence(stage) for stage in path.stages)
        response = (start + 4 * middle + np.eye(e)[:, :, None]) / 6
        self.spread = multiply(start, self.spread[:, :, :n])
        own = self.spread[:, : e * k].reshape(e, e, k, n)
        own += response[:, :, None] * theta

    def add_to(self, total: FilterSums, found: Innovation) -> None:
        """Add information and slopes of one step; ``spread`` is that of the prediction here."""
        d, n = found.value.shape
        white = multiply(found.whitening, found.value[:, None])[:, 0]
        by_drift = multiply(found.whitening, self.by_drift)
        by_tensor = multiply(found.whitening, self.by_tensor)
        spread = multiply(congruence(found.whitening), self._observed())
        for p in range(d):
            total.drift += by_drift[p] @ by_drift[p].T
            total.tensor += by_tensor[p] @ by_tensor[p].T
            total.mixed += by_drift[p] @ by_tensor[p].T
            self.drift_slope[:, :n] += by_drift[p] * white[p]
            self.tensor_slope[:, :n] += by_tensor[p] * white[p]
            total.log_likelihood += float(np.log(found.whitening[p, p]).sum())
        total.log_likelihood -= 0.5 * float(np.sum(white**2))
        for e, (p, q) in enumerate(tensor.pairs(d)):
            # Products p q and q p are the same, and both count.
            weight = 0.5 if p == q else 1.0
            total.tensor += weight * (spread[e] @ spread[e].T)
            self.tensor_slope[:, :n] += spread[e] * (weight * (white[p] * white[q] - (p == q)))

    def _observed(self) -> FloatArray:
        """Derivative of S: that of Q and, for the noise, of itself."""
        e = len(self.spread)
        observed = self.spread.copy()
        for row in range(e):
            observed[row, row - e] += 1.0
        return observed

    def update(self, found: Innovation) -> None:
        """Update the derivatives as the filter updates mean and covariance."""
        d, e = len(found.value), len(self.spread)
        rest, pairs = _one_minus(found.gain), tensor.pairs(d)
        white = multiply(found.whitening, found.value[:, None])
        pull = multiply(found.whitening.swapaxes(0, 1), white)[:, 0]
        # The gain moves with the coefficients, and with it what an innovation does to the mean.
        moved = self.by_tensor
        for row, (p, q) in enumerate(pairs):
            moved[p] += self.spread[row] * pull[q]
            if p != q:
                moved[q] += self.spread[row] * pull[p]
        self.by_drift = multiply(rest, self.by_drift)
        self.by_tensor = multiply(rest, moved)
        self.spread = multiply(congruence(rest), self.spread)
        kept = congruence(found.gain)
        for row, (p, q) in enumerate(pairs):
            self.spread[:, row - e] += kept[:, row]
            self.by_tensor[:, row - e] -= found.gain[:, p] * pull[q]
            if p != q:
                self.by_tensor[:, row - e] -= found.gain[:, q] * pull[p]


def _one_minus(matrices: FloatArray) -> FloatArray:
    return np.eye(len(matrices))[:, :, None] - matrices


def _inverse_factor(covariance: FloatArray) -> FloatArray:
    """Lower triangles W ``(d, d, n)`` with W S W' = 1, for S that may be a little indefinite."""
    d = len(covariance)
    factor = np.zeros_like(covariance)
    for q in range(d):
        for p in range(q, d):
            rest = covariance[p, q] - sum(factor[p, k] * factor[q, k] for k in range(q))
            if p == q:
                rest = np.sqrt(np.maximum(rest, LEAST_PIVOT * covariance[p, p]))
                factor[p, p] = rest
            else:
                factor[p, q] = rest / factor[q, q]
    return inverse(factor)
