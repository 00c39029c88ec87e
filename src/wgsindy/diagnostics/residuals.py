"""What a generator leaves of the increments, as sums over samples.

Standardised residuals z = (dX - b dt) / sqrt(a_pp dt) of the right generator are white, normal and
of variance 1. Noise of the observation makes neighbours covary by less than zero; a hidden
coordinate makes sums over many steps vary by more than their number.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from wgsindy.arrays import FloatArray, IntArray
from wgsindy.generator import Generator
from wgsindy.recordings import Chunk
from wgsindy.survey import Cloud

# Steps over which residuals are summed. Memory that lasts longer than the longest is taken for
# drift, and shorter memory shows better in the shorter ones.
BLOCKS = (4, 8, 16, 32, 64)
FEWEST_BLOCKS = 30
CHUNK = 8192  # long against a block: those that two chunks share are left out
LOW_NOISE = 0.05  # share of the mean noise below which a sample sits where noise vanishes
NEARLY_SINGULAR = 0.1  # smallest eigenvalue of the correlations; |rho| > 0.9 of two coordinates
LONG_STEP = 0.1  # share of the way back to rest that one step covers


@dataclass
class Residuals:
    """Sums over samples; see :class:`ResidualPass`."""

    samples: int
    count: FloatArray  # (d,) samples at which the coordinate has noise worth the name
    squares: FloatArray  # (d,) of z
    fourths: FloatArray  # (d,)
    pairs: int
    lagged: FloatArray  # (d,) products of neighbouring z
    lagged_squares: FloatArray  # (d,)
    block_counts: IntArray  # (B,)
    block_squares: FloatArray  # (B, d) squares of sums over a block, over its length
    low_noise: FloatArray  # (d,) samples where the coordinate has almost none
    at_edge: FloatArray  # (2, d) samples at the smallest and at the largest state
    singular: int  # samples where noise is nearly confined to fewer directions
    long_steps: int
    paired: FloatArray  # (2, 2, d) over one step and over two: b dX / v, and b^2 dt / v
    explained: FloatArray  # (R, d) b dX / v of each trajectory
    expected: FloatArray  # (R, d) b^2 dt / v, what it is if the drift is right
    trajectory_squares: FloatArray  # (R, d) of z
    trajectory_count: FloatArray  # (R, d)

    @property
    def variance(self) -> FloatArray:
        """Of z, ``(d,)``: 1 if the tensor is right; NaN without noise."""
        with np.errstate(invalid="ignore"):
            return self.squares / self.count

    @property
    def kurtosis(self) -> FloatArray:
        """Excess over the normal distribution, ``(d,)``, with the standard error sqrt(24 / n)."""
        with np.errstate(invalid="ignore"):
            return self.fourths / self.count / self.variance**2 - 3.0

    @property
    def lag_one(self) -> FloatArray:
        """Correlation of neighbours, ``(d,)``."""
        with np.errstate(invalid="ignore"):
            return self.lagged / max(self.pairs, 1) / self.variance

    @property
    def lag_one_errors(self) -> FloatArray:
        """The same in standard errors, ``(d,)``."""
        with np.errstate(invalid="ignore"):
            return self.lagged / np.sqrt(self.lagged_squares)

    def memory(self) -> tuple[FloatArray, FloatArray]:
        """Excess variance of sums, and the same in standard errors, at its clearest; ``(d,)``.

        A sum of m independent residuals has variance m. An estimate of it from k blocks is off by
        the share sqrt(2 / k).
        """
        enough = self.block_counts >= FEWEST_BLOCKS
        if not enough.any():
            return np.zeros_like(self.squares), np.zeros_like(self.squares)
        counts = self.block_counts[enough][:, None]
        with np.errstate(invalid="ignore"):
            excess = self.block_squares[enough] / counts / self.variance - 1.0
        errors = excess * np.sqrt(counts / 2)
        clearest = np.argmax(np.nan_to_num(errors), axis=0)
        place = (clearest, np.arange(errors.shape[1]))
        return excess[place], errors[place]

    @property
    def signal(self) -> FloatArray:
        """Standard errors by which each drift component as a whole stands out, ``(d,)``.

        sqrt(sum b^2 dt / v), with v never below a twentieth of the mean noise: a drift that shows
        only in samples without noise is known there and nowhere else.
        """
        return np.sqrt(self.expected.sum(axis=0))

    @property
    def thinning(self) -> FloatArray:
        """Relative change of the drift if every other sample is left out, ``(d,)``."""
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = self.paired[:, 0] / self.paired[:, 1]
            return slopes[1] / slopes[0] - 1.0

    @property
    def holdout(self) -> FloatArray:
        """Relative change of the size of the drift without each trajectory, ``(R, d)``."""
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = self.explained.sum(axis=0), self.expected.sum(axis=0)
            without = (whole[0] - self.explained) / (whole[1] - self.expected)
            return without / (whole[0] / whole[1]) - 1.0

    @property
    def odd_drift(self) -> FloatArray:
        """How far each trajectory is from the drift of all, in standard errors, ``(R, d)``."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.explained - self.expected) / np.sqrt(self.expected)

    @property
    def odd_noise(self) -> tuple[FloatArray, FloatArray]:
        """Residual variance of each trajectory, and its distance from 1 in standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = self.trajectory_squares / self.trajectory_count
            return variance, (variance - 1.0) * np.sqrt(self.trajectory_count / 2)


@dataclass(frozen=True)
class ResidualPass:
    """Sum what the checks of residuals need; samples that repeat are left out."""

    generator: Generator
    cloud: Cloud
    n_trajectories: int

    def empty(self) -> Residuals:
        d, b, r = self.generator.dimension, len(BLOCKS), self.n_trajectories
        return Residuals(
            samples=0,
            count=np.zeros(d),
            squares=np.zeros(d),
            fourths=np.zeros(d),
            pairs=0,
            lagged=np.zeros(d),
            lagged_squares=np.zeros(d),
            block_counts=np.zeros(b, dtype=np.int64),
            block_squares=np.zeros((b, d)),
            low_noise=np.zeros(d),
            at_edge=np.zeros((2, d)),
            singular=0,
            long_steps=0,
            paired=np.zeros((2, 2, d)),
            explained=np.zeros((r, d)),
            expected=np.zeros((r, d)),
            trajectory_squares=np.zeros((r, d)),
            trajectory_count=np.zeros((r, d)),
        )

    def add(self, total: Residuals, chunk: Chunk) -> Residuals:
        kept = chunk.increments.any(axis=1)
        if not kept.any():
            return total
        seen = Chunk(
            chunk.states[kept], chunk.increments[kept], chunk.dt[kept], chunk.trajectory[kept]
        )
        drift, field = self.generator.drift(seen.states), self.generator.diffusion(seen.states)
        noise = np.einsum("npp->np", field)
        level = self.cloud.variation * self.cloud.frame.scale**2
        with np.errstate(divide="ignore", invalid="ignore"):
            residual = (seen.increments - drift * seen.dt[:, None]) / np.sqrt(
                noise * seen.dt[:, None]
            )
        # Where noise vanishes, a formula that is off by little is off by a large share.
        residual[noise <= LOW_NOISE * level] = np.nan
        self._add_moments(total, residual, seen.trajectory)
        self._add_places(total, seen, noise, field, level)
        self._add_slopes(total, seen, drift, np.maximum(noise, LOW_NOISE * level))
        return total

    def _add_moments(self, total: Residuals, residual: FloatArray, owner: IntArray) -> None:
        noisy = ~np.isnan(residual)
        z = np.where(noisy, residual, 0.0)
        total.samples += len(z)
        total.count += noisy.sum(axis=0)
        total.squares += (z**2).sum(axis=0)
        total.fourths += (z**4).sum(axis=0)
        neighbours = owner[:-1] == owner[1:]
        products = (z[:-1] * z[1:])[neighbours]
        total.pairs += len(products)
        total.lagged += products.sum(axis=0)
        total.lagged_squares += (products**2).sum(axis=0)
        np.add.at(total.trajectory_squares, owner, z**2)
        np.add.at(total.trajectory_count, owner, noisy)
        for part in np.split(z, np.flatnonzero(~neighbours) + 1):
            for b, length in enumerate(BLOCKS):
                whole = len(part) // length
                sums = part[: whole * length].reshape(whole, length, z.shape[1]).sum(axis=1)
                total.block_counts[b] += whole
                total.block_squares[b] += (sums**2).sum(axis=0) / length

    def _add_places(
        self, total: Residuals, seen: Chunk, noise: FloatArray, field: FloatArray, level: FloatArray
    ) -> None:
        total.low_noise += (noise < LOW_NOISE * level).sum(axis=0)
        edges = np.stack([self.cloud.low, self.cloud.high])
        total.at_edge += (seen.states == edges[:, None]).sum(axis=1)
        noisy = (noise > 0).all(axis=1)
        root = np.sqrt(noise[noisy])
        correlation = field[noisy] / (root[:, :, None] * root[:, None, :])
        smallest = np.linalg.eigvalsh(correlation)[:, 0]
        total.singular += int(np.count_nonzero(smallest < NEARLY_SINGULAR))
        jacobian = self.generator.drift_jacobian(seen.states)
        rate = np.sqrt(np.einsum("npq,npq->n", jacobian, jacobian) / jacobian.shape[1])
        total.long_steps += int(np.count_nonzero(rate * seen.dt > LONG_STEP))

    def _add_slopes(
        self, total: Residuals, seen: Chunk, drift: FloatArray, variance: FloatArray
    ) -> None:
        """Sum what the drift explains, by trajectory, and of pairs of steps, alike weighted."""
        pull = drift / variance
        power = pull * drift
        np.add.at(total.explained, seen.trajectory, pull * seen.increments)
        np.add.at(total.expected, seen.trajectory, power * seen.dt[:, None])
        within = seen.trajectory[:-1] == seen.trajectory[1:]
        first, second = seen.increments[:-1][within], seen.increments[1:][within]
        before, after = seen.dt[:-1][within], seen.dt[1:][within]
        pull, power = pull[:-1][within], power[:-1][within]
        total.paired[0] += [(pull * first).sum(axis=0), before @ power]
        total.paired[1] += [(pull * (first + second)).sum(axis=0), (before + after) @ power]

    def merge(self, left: Residuals, right: Residuals) -> Residuals:
        return Residuals(
            *(getattr(left, item.name) + getattr(right, item.name) for item in fields(Residuals))
        )
