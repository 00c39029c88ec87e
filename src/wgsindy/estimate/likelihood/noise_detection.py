"""Is there observation noise? Residuals of neighbouring steps tell.

The noise eta of a sample ends one step and begins the next: residuals are e + eta' - F eta, F the
flow of a step, so that neighbours covary by -Sigma F'. A drift that is fitted to noisy samples
takes part of that over, as much as the residual of a step says about the library at its end. Both
are undone here. What cannot be told from none is left as a doubt, which error bars have to carry.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from wgsindy.data import BoolArray, Chunk, FloatArray, block_labels, whole_blocks, zeros
from wgsindy.estimate.evidence import no_numbers
from wgsindy.estimate.likelihood.normal_equations import Runner
from wgsindy.estimate.likelihood.process import Process
from wgsindy.model import tensor
from wgsindy.passes import SumPass

# How often chance may take samples for noisy that are exact, by any of their coordinates: then a
# tensor is off by several times its error. What stands out less is a matter of doubt.
NOISE_ALARM = 0.01
ROUNDING_ERRORS = 0.3  # standard errors of the tensor that rounding may be worth
IMPERCEPTIBLE = 1e-9  # share of the variance of increments that rounding of numbers may make up
LEAST_NOISE = 0.01  # share of the variance of increments to begin with, if noise is forced
LEAST_LEFT = 0.05  # share of the lag products that a drift may leave to be seen
# Noise is as likely as none before the data are seen, and if there is some, it is anything up to
# so many standard errors of it.
PRIOR_WIDTH = 1.0
# Coefficients of all fields beyond which a filter takes too long, and noise is a matter of doubt.
MOST_FILTERED = 1500
LEAST_LIKELY = 10.0  # standard errors below zero from which on nothing changes


@dataclass
class ResidualLag:
    """Sums over pairs of neighbouring residuals, in units of a model."""

    pairs: int
    products: FloatArray  # (d, d)
    squares: FloatArray  # (d,) of the products on the diagonal
    variance: FloatArray  # (d,) squares of residuals
    flow: FloatArray  # (d, d) of the second step
    leaning: FloatArray  # (d, K) residuals times the library at their end
    gram: FloatArray  # (K, K) of that library


@dataclass(frozen=True)
class ResidualLagPass(SumPass[ResidualLag]):
    """Sum products of neighbouring residuals within blocks; never across two trajectories.

    Chunks must hold whole blocks: so no sum depends on how data are cut.
    """

    model: Process

    def empty(self) -> ResidualLag:
        d, k = self.model.drift.shape
        return ResidualLag(0, *zeros((d, d), (d,), (d,), (d, d), (d, k), (k, k)))

    def add(self, total: ResidualLag, chunk: Chunk) -> ResidualLag:
        path = self.model.dynamics.along(chunk)
        residual = chunk.increments.T / self.model.units[:, None] - path.mean
        first = np.flatnonzero(np.diff(block_labels(chunk)) == 0)
        left, right, theta = residual[:, first], residual[:, first + 1], path.theta[:, first + 1]
        total.pairs += len(first)
        total.products += left @ right.T
        total.squares += np.sum(left**2 * right**2, axis=1)
        total.variance += np.sum(left**2, axis=1)
        total.flow += path.flow[:, :, first + 1].sum(axis=2)
        total.leaning += left @ theta.T
        total.gram += theta @ theta.T
        return total


class UndetectedNoise(NamedTuple):
    """Noise that samples may have, though it does not stand out."""

    deviation: FloatArray  # (d,) root mean square of the variance that it may have
    pull: FloatArray  # (d, d, K) what noise q of variance one does to the cross sums of drift p


class Noise(NamedTuple):
    """Observation noise of samples, in units of a model."""

    covariance: FloatArray  # (d, d) of what stands out beside rounding
    rounding: FloatArray  # (d,) variances of rounding, where it matters
    doubt: UndetectedNoise | None = None  # if nothing stands out

    @property
    def variances(self) -> FloatArray:
        """Of both, ``(d,)``."""
        return np.diag(self.covariance) + self.rounding

    @classmethod
    def none(cls, dimension: int) -> Noise:
        """Return that of samples that are known to have none."""
        return cls(np.zeros((dimension, dimension)), np.zeros(dimension))


def detect_noise(
    model: Process, run: Runner, quantum: FloatArray, *, forced: bool = False
) -> Noise:
    """Find the noise that stands out, and that of rounding to multiples of ``quantum (d,)``.

    A number on a grid of that width is off by one that is uniform, of variance quantum^2 / 12. If
    noise stands out in one coordinate, or is ``forced``, every coordinate may have some. With more
    coefficients than can be followed along noisy samples, all of it widens error bars instead.
    """
    dt, d = run.data.mean_dt, len(model.units)
    rounding = (quantum / model.units) ** 2 / 12
    matters = 2 * rounding / dt > ROUNDING_ERRORS * np.sqrt(2 / run.data.n_increments)
    lag = run(ResidualLagPass(model), chunk_size=whole_blocks(run.chunk_size))
    if lag.pairs < 2:
        return Noise.none(d)
    seen, error = noise_estimate(lag)
    seen = seen - np.diag(rounding)
    kept = np.where(matters, rounding, 0.0)
    # Residuals of a coordinate without noise of its own are as small as a step makes them.
    asked = (model.noiseless_level == 0) & (np.diag(seen) > IMPERCEPTIBLE * dt)
    if model.drift.size + model.entries.size > MOST_FILTERED and not forced:
        asked, kept = np.zeros(d, dtype=bool), np.zeros(d)
        seen = seen + np.diag(rounding)
    if forced or stands_out(np.diag(seen), error, asked):
        covariance, least = tensor.clip(seen[None])[0], (LEAST_NOISE if forced else 0.0) * dt
        return Noise(covariance + np.diag(np.maximum(least - np.diag(covariance), 0.0)), kept)
    return Noise(
        np.zeros((d, d)), kept, UndetectedNoise(noise_bound(np.diag(seen), error), _pull(lag))
    )


def stands_out(variance: FloatArray, error: FloatArray, asked: BoolArray) -> bool:
    """Whether any ``variance (d,)`` that is ``asked`` for is more than chance makes of none."""
    needed = NormalDist().inv_cdf(1 - NOISE_ALARM / max(int(asked.sum()), 1))
    return bool((asked & (variance > needed * error)).any())


def _pull(lag: ResidualLag) -> FloatArray:
    """What noise does to the cross sums of the drift; see :class:`UndetectedNoise`.

    Noise at the start of a step moves the library there, whose slope is what a residual does to it
    over the square of that, and takes F off the end: as a drift of the step, that is F seen through
    the mean of F along it, half of one and F.
    """
    flow = lag.flow / lag.pairs
    seen = np.linalg.pinv((np.eye(len(flow)) + flow) / 2) @ flow
    variance = np.maximum(lag.variance / lag.pairs, np.finfo(float).tiny)
    return np.asarray(np.einsum("pq,qk->qpk", seen, lag.leaning / variance[:, None]))


def noise_estimate(lag: ResidualLag) -> tuple[FloatArray, FloatArray]:
    """Covariance ``(d, d)`` of the noise as residuals show it; errors ``(d,)`` of the diagonal."""
    if not (np.isfinite(lag.products).all() and np.isfinite(lag.gram).all()):
        raise no_numbers()
    flow = lag.flow / lag.pairs
    fitted = np.einsum("pk,kp->p", lag.leaning, np.linalg.lstsq(lag.gram, lag.leaning.T)[0])
    # What the drift has not taken over; steps that forget everything show no noise at all.
    left = np.maximum(1 - fitted / np.maximum(lag.variance, np.finfo(float).tiny), LEAST_LEFT)
    decay = np.clip(np.abs(np.diag(flow)), LEAST_LEFT, None)
    raw = -lag.products / lag.pairs @ np.linalg.pinv(flow.T, rcond=LEAST_LEFT)
    root = np.sqrt(left)
    covariance = (raw + raw.T) / 2 / np.outer(root, root)
    return covariance, np.sqrt(lag.squares) / lag.pairs / (decay * root)


def noise_bound(variance: FloatArray, error: FloatArray) -> FloatArray:
    """Root mean square ``(d,)`` of a variance that was estimated with an error, and may be zero.

    If it is not zero, it is what a normal number about the estimate is above zero.
    """
    z = np.clip(variance / np.maximum(error, np.finfo(float).tiny), -LEAST_LIKELY, None)
    above = np.array([0.5 * erfc(-one / sqrt(2)) for one in z.tolist()])  # SciPy loads slowly
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) / above
    square = 1 + z**2 + z * density
    return error * np.sqrt(np.maximum(square, 0.0) / (1 + PRIOR_WIDTH * density))
