"""What a generator leaves of the increments, as sums over samples, of one pass over the data.

Residuals of the right generator, over their standard deviations, are white, normal and of
variance 1. Observation noise that it does not know of makes neighbours covary by less than zero; a
hidden coordinate makes sums over many steps vary by more than their number.

The same pass looks for samples that are counted twice: windows that overlap, copied files,
resampled trajectories. Stretches of samples become numbers that look random, and the smallest ones
of all are kept: a sample of the stretches that any two parts of the data choose alike. A stretch
that stands in two places is then seen twice, wherever these are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from wgsindy.data import BoolArray, Chunk, FloatArray, HashArray, Spans, scrambled, zeros
from wgsindy.diagnostics.groups import (
    PACES,
    Deviation,
    Groups,
    GroupSums,
    Stretches,
    beyond_chance,
    variances_apart,
)
from wgsindy.diagnostics.past_scores import PastScores, PastSums
from wgsindy.estimate import Predictions, Predictor
from wgsindy.model import tensor
from wgsindy.passes import DataSummary, SumPass, added, merged_by

DUPLICATE_LENGTH = 16  # samples: of digits as fine as a step, chance repeats none [derived]
KEPT = 2048  # stretches; the error of a share of one in twenty is half a percent [derived]


def no_stretches() -> HashArray:
    """No stretches at all."""
    return np.empty(0, dtype=np.uint64)


def smallest_stretches(one: HashArray, other: HashArray) -> HashArray:
    """Keep the smallest of two sets of stretches."""
    return np.sort(np.concatenate([one, other]))[:KEPT]


def stretch_numbers(chunk: Chunk) -> HashArray:
    """Numbers of the stretches of a chunk whose samples are not mostly at rest."""
    if len(chunk.states) < DUPLICATE_LENGTH:
        return no_stretches()
    number = np.zeros(len(chunk.states), dtype=np.uint64)
    for column in np.ascontiguousarray(chunk.states.T + 0.0).view(np.uint64):  # no minus zero
        number = scrambled(number + column)
    length = 1
    while length < DUPLICATE_LENGTH:
        first, second = scrambled(number[:-length]), number[length:]  # in this order
        number, length = first + second, 2 * length
    moved = np.append(0, np.cumsum((chunk.increments != 0).any(axis=1)))
    moving = (moved[DUPLICATE_LENGTH:] - moved[:-DUPLICATE_LENGTH]) > DUPLICATE_LENGTH // 2
    whole = chunk.trajectory[DUPLICATE_LENGTH - 1 :] == chunk.trajectory[: 1 - DUPLICATE_LENGTH]
    return number[moving & whole]


def share_repeated(kept: HashArray) -> float:
    """Share of the stretches that stand in several places."""
    if not len(kept):
        return 0.0
    count = np.unique(kept, return_counts=True)[1]
    return float(count[count > 1].sum() / len(kept))


# Steps over which residuals are summed. Memory that lasts longer than the longest is taken for
# drift, and shorter memory shows better in the shorter ones.
# Powers of two, since each is made of two of the one before. [derived]
BLOCKS = (4, 8, 16, 32, 64, 128, 256, 512)
FEWEST_BLOCKS = 30  # of a length that is judged [zoo]
SHORT_MEMORY = 1.3  # variances of sums over 64 and 16 steps; lasting ones have 2+ [gallery]
CHUNK = 8192  # long against a block: those that two chunks share are left out [by hand]
VANISHING_NOISE = 0.05  # share of the mean noise: below, a sample sits where it vanishes [zoo]
NEARLY_SINGULAR = 0.1  # smallest eigenvalue of correlations; |rho| > 0.9 of two [zoo]
DOUBLED = 0.01  # the same of columns that are copies of each other, but for little [gallery]
NEAR_END = 0.1  # of the spread: how near to the smallest or largest state is near [by hand]
LONG_STEP = 0.1  # share of the way back to rest that one step covers [zoo]


def standardised(found: Predictions, dt: FloatArray, level: FloatArray) -> FloatArray:
    """Residuals z ``(n, d)`` over their standard deviations; NaN where there is too little noise.

    ``level (d,)`` is the mean noise. Where noise vanishes, a formula that is off by little is off
    by a large share.
    """
    none = np.full_like(found.residual, np.nan)
    deviation = np.sqrt(np.maximum(found.noise * dt[:, None], 0.0))
    there = found.noise > VANISHING_NOISE * level
    return np.divide(found.residual, deviation, out=none, where=there)


@dataclass
class ResidualSums:
    """Sums over samples; see :class:`ResidualPass`."""

    samples: int
    singular: int  # samples where noise is nearly confined to fewer directions
    doubled: int  # samples where it is so to within a percent, as that of copies
    long_steps: int
    groups: GroupSums = field(metadata=merged_by(added))  # z by place, time, trajectory and past
    past: PastSums = field(metadata=merged_by(added))  # z by sums of earlier ones
    stretches_kept: HashArray = field(metadata=merged_by(smallest_stretches))
    count: FloatArray  # (d,) samples at which the coordinate has noise worth the name
    squares: FloatArray  # (d,) of z
    cubes: FloatArray  # (d,)
    fourths: FloatArray  # (d,)
    leftover: FloatArray  # (d,) squares of dX - b dt
    allotted: FloatArray  # (d,) what the tensor says these are
    pairs: FloatArray  # (d,) neighbours that both have noise
    lagged: FloatArray  # (d,) products of neighbouring z
    lagged_squares: FloatArray  # (d,)
    block_counts: FloatArray  # (B, d) blocks; those with fewer z count for their share
    block_squares: FloatArray  # (B, d) squares of sums over a block, over its length
    low_noise: FloatArray  # (d,) samples where the coordinate has almost none
    at_edge: FloatArray  # (2, d) samples at the smallest and at the largest state
    visits: FloatArray  # (2, d) times that a trajectory came within half a step of these
    paired: FloatArray  # (2, 2, d) over one step and over two: b dX / v, and b^2 dt / v
    explained: FloatArray  # (R, d) b dX / v of each trajectory
    expected: FloatArray  # (R, d) b^2 dt / v, what it is if the drift is right
    trajectory_squares: FloatArray  # (R, d) of z
    trajectory_count: FloatArray  # (R, d)
    stretches: FloatArray  # (2, d, S) z and z^2 - 1, by stretches of time
    paces: FloatArray  # (2, P, d) number and sum of z^2, by length of step

    @property
    def copied(self) -> float:
        """Share of the samples that stand in several places."""
        return share_repeated(self.stretches_kept)

    @property
    def variance(self) -> FloatArray:
        """Of z, ``(d,)``: 1 if the tensor is right; NaN without noise."""
        with np.errstate(invalid="ignore"):
            return self.squares / self.count

    @property
    def balance(self) -> FloatArray:
        """Squared residuals over what the tensor says they are, both summed, ``(d,)``.

        Almost zero if the formula of the tensor explodes at a few samples, which hardly shows in
        the variance of z. Infinite without noise.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.leftover / self.allotted

    @property
    def kurtosis(self) -> FloatArray:
        """Excess over the normal distribution, ``(d,)``, with the standard error sqrt(24 / n)."""
        with np.errstate(invalid="ignore"):
            return self.fourths / self.count / self.variance**2 - 3.0

    @property
    def skewness(self) -> FloatArray:
        """Third moment, ``(d,)``, with the standard error sqrt(6 / n)."""
        with np.errstate(invalid="ignore"):
            return self.cubes / self.count / self.variance**1.5

    @property
    def lag_one(self) -> FloatArray:
        """Correlation of neighbours, ``(d,)``."""
        with np.errstate(invalid="ignore"):
            return self.lagged / self.pairs / self.variance

    @property
    def lag_one_errors(self) -> FloatArray:
        """The same in standard errors, ``(d,)``."""
        with np.errstate(invalid="ignore"):
            return self.lagged / np.sqrt(self.lagged_squares)

    @property
    def memory_is_short(self) -> BoolArray:
        """Whether sums over the longest blocks vary hardly more than over medium ones, ``(d,)``."""
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = self.block_squares / self.block_counts
            return variance[BLOCKS.index(64)] < SHORT_MEMORY * variance[BLOCKS.index(16)]

    def pace_variances(self) -> Deviation:
        """Variances of residuals by the length of the step, ``(d,)``."""
        count, second = self.paces
        return variances_apart(count, second, axis=0)

    def memory(self) -> tuple[FloatArray, FloatArray]:
        """Excess variance of sums, and the same in standard errors, at its clearest; ``(d,)``.

        A sum of m independent residuals has variance m. Squares of k such sums, over it, add up to
        a chi-squared number of freedom k.
        """
        enough = self.block_counts >= FEWEST_BLOCKS
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = self.block_squares / self.block_counts / self.variance - 1.0
        excess = np.where(enough | np.isnan(self.variance), excess, 0.0)
        errors = beyond_chance((1.0 + excess) * self.block_counts, self.block_counts).errors
        errors = np.where(np.isnan(excess), np.nan, errors)
        clearest = np.argmax(np.where(enough, errors, -np.inf), axis=0)
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
        """Residual variance of each trajectory, and its distance from 1 in standard errors.

        The cube root of a mean of n squares is close to normal even for small n, which the mean is
        not (Wilson and Hilferty).
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = self.trajectory_squares / self.trajectory_count
            spread = 2.0 / (9.0 * self.trajectory_count)
            return variance, (np.cbrt(variance) - (1.0 - spread)) / np.sqrt(spread)


@dataclass(frozen=True)
class ResidualPass(SumPass[ResidualSums]):
    """Sum what the checks of residuals need; ``level (d,)`` is the mean noise."""

    predictor: Predictor
    summary: DataSummary
    n_trajectories: int
    level: FloatArray
    groups: Groups
    past_scores: PastScores
    stretches: Stretches

    def empty(self) -> ResidualSums:
        d, b, r = len(self.level), len(BLOCKS), self.n_trajectories
        shapes = *[(d,)] * 9, (b, d), (b, d), (d,), (2, d), (2, d), (2, 2, d), *[(r, d)] * 4
        time = (2, d, self.stretches.total), (2, PACES, d)
        others = self.groups.empty(), self.past_scores.empty(), no_stretches()
        return ResidualSums(0, 0, 0, 0, *others, *zeros(*shapes, *time))

    @np.errstate(all="ignore")  # a formula that explodes is seen by what is summed of it
    def add(self, total: ResidualSums, chunk: Chunk) -> ResidualSums:
        found = self.predictor(chunk)
        dt, generator = chunk.dt[:, None], self.predictor.generator
        total.leftover += _column_sums(found.residual**2)
        total.allotted += _column_sums(found.noise * dt)
        z = np.ascontiguousarray(standardised(found, chunk.dt, self.level).T)
        noisy = ~np.isnan(z)
        spans = Spans.of(chunk.trajectory)
        z = np.where(noisy, z, 0.0)
        self._add_moments(total, z, noisy, spans)
        self.groups.add(total.groups, chunk, found, z, noisy)
        self.past_scores.add(total.past, chunk, found, z, noisy)
        total.stretches_kept = smallest_stretches(total.stretches_kept, stretch_numbers(chunk))
        self.stretches.add(total.stretches, chunk, z)
        self.stretches.add_paces(total.paces, chunk, z)
        jacobian = generator.drift_jacobian(chunk.states)
        asked = ~noisy if found.seen is None else ~noisy & found.seen.T
        total.low_noise += np.count_nonzero(asked, axis=1)
        self._add_places(total, chunk, generator.diffusion(chunk.states), found.drift, jacobian)
        self._add_slopes(total, found, chunk.dt, spans)
        return total

    def _add_moments(
        self, total: ResidualSums, z: FloatArray, noisy: BoolArray, spans: Spans
    ) -> None:
        """Add powers and products of ``z (d, n)``, zero where it is not ``noisy``."""
        square, present = z**2, noisy.astype(np.float64)
        total.samples += z.shape[1]
        total.count += present.sum(axis=1)
        total.squares += square.sum(axis=1)
        total.cubes += (square * z).sum(axis=1)
        total.fourths += (square**2).sum(axis=1)
        products = z[:, :-1] * z[:, 1:] * spans.joined
        total.pairs += np.count_nonzero(noisy[:, :-1] & noisy[:, 1:] & spans.joined, axis=1)
        total.lagged += products.sum(axis=1)
        total.lagged_squares += (products**2).sum(axis=1)
        spans.add_to(total.trajectory_squares, square)
        spans.add_to(total.trajectory_count, present)
        sums, counts, length = z, present, 1
        while length < BLOCKS[-1]:
            # A block of 2 m residuals is two neighbouring ones of m, both from the same start.
            (sums, counts), spans = spans.paired(sums, counts)
            length *= 2
            if length in BLOCKS:
                b = BLOCKS.index(length)
                total.block_counts[b] += counts.sum(axis=1) / length
                total.block_squares[b] += (sums**2).sum(axis=1) / length

    def _add_places(
        self,
        total: ResidualSums,
        seen: Chunk,
        field: FloatArray,
        drift: FloatArray,
        jacobian: FloatArray,
    ) -> None:
        edges = np.stack([self.summary.low, self.summary.high])
        total.at_edge += np.count_nonzero(seen.states == edges[:, None], axis=1)
        own = np.einsum("npp->np", field)
        # Half a step of each state itself: where noise vanishes, so does the step. Long steps are
        # not asked for more than the ends of the distribution, nor steep drifts for more than half
        # the distance a / 2 b over which they make it fade: visits within all of it are chance.
        noise = np.maximum(own, 0.0)
        step = 0.5 * np.sqrt(noise * seen.dt[:, None])
        step = np.minimum(step, NEAR_END * self.summary.region.scale)
        pull = 4 * np.abs(drift)
        np.divide(noise, pull, out=step, where=pull * step > noise)
        near = (np.abs(seen.states - edges[:, None]) < step) & (own > VANISHING_NOISE * self.level)
        arriving = near[:, 1:] & ~near[:, :-1] & Spans.of(seen.trajectory).joined[:, None]
        total.visits += np.count_nonzero(arriving, axis=1)
        positive = (own > 0).all(axis=1)
        correlation = tensor.correlation(field[positive])
        smallest = _smallest(correlation)
        total.singular += int(np.count_nonzero(smallest < NEARLY_SINGULAR))
        total.doubled += int(np.count_nonzero(smallest < DOUBLED))
        spread = self.summary.region.scale
        relative = np.outer(1.0 / spread, spread).ravel() ** 2
        rate = np.sqrt(jacobian.reshape(len(jacobian), -1) ** 2 @ relative / len(spread))
        total.long_steps += int(np.count_nonzero(rate * seen.dt > LONG_STEP))

    def _add_slopes(
        self, total: ResidualSums, found: Predictions, dt: FloatArray, spans: Spans
    ) -> None:
        """Sum what the drift explains, by trajectory, and of pairs of steps, alike weighted."""
        variance = np.maximum(found.noise, VANISHING_NOISE * self.level)
        pull = np.ascontiguousarray((found.drift / variance).T)
        power = pull * found.drift.T
        steps = np.ascontiguousarray((found.residual + found.drift * dt[:, None]).T)
        explained = pull * steps
        spans.add_to(total.explained, explained)
        spans.add_to(total.expected, power * dt)
        joined = spans.joined.astype(np.float64)
        first, second = explained[:, :-1], pull[:, :-1] * steps[:, 1:]
        before, after = dt[:-1] * joined, dt[1:] * joined
        total.paired[0] += [first @ joined, power[:, :-1] @ before]
        total.paired[1] += [(first + second) @ joined, power[:, :-1] @ (before + after)]


def _column_sums(values: FloatArray) -> FloatArray:
    return np.ones(len(values)) @ values  # many times faster than a sum along a short axis


def _smallest(correlation: FloatArray) -> FloatArray:
    """Smallest eigenvalue of each matrix of correlations ``(n, d, d)``."""
    if correlation.shape[1] == 2:
        return 1.0 - np.abs(correlation[:, 0, 1])
    return np.asarray(np.linalg.eigvalsh(correlation)[:, 0])
