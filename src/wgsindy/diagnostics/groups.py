"""Does anything else tell of the residuals? Where, when, in which trajectory, after what.

Residuals of the right generator, over their standard deviations, have mean zero and variance one
wherever the state is, early and late, in every trajectory, and whatever came before. Each of these
is a group of samples, and the sums over groups are compared with what chance makes of them.

A drift or a noise that follows the hour or the day of the year leaves a line in the spectrum of the
residuals, whatever the clock counts. For that they are summed over short stretches of equal numbers
of steps, so that data of any length fit into memory; periods of a few steps show in correlations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from wgsindy.data import BoolArray, Chunk, Dataset, FloatArray, IntArray, Spans, zeros
from wgsindy.estimate import Predictions
from wgsindy.passes import DataSummary

PLACE_BINS = 12  # of equal numbers of samples along each coordinate [by hand]
PARTS = 8  # of each trajectory, in time [by hand]
# Steps back; each delay of a few is there. [by hand]
DELAYS = (*range(1, 9), 10, 12, 14, 16, 20, 24, 28, 32)
FEWEST_OF_GROUP = 20  # samples of a group that is judged [by hand: nearly normal]
FARTHEST = 2.5  # spreads from the middle, beyond which a state weighs no more [by hand]


@dataclass
class GroupSums:
    """Sums over groups of standardised residuals z; directions are 1, each state, the drift."""

    bins: FloatArray  # (3, d, B, d) number, sum of z and of z^2, by coordinate, bin and component
    parts: FloatArray  # (2, P, d, D) slope along each direction, and its variance, by time
    part_squares: FloatArray  # (2, P, d) number and sum of z^2, by time
    trajectories: FloatArray  # (2, R, d, D) as parts, by trajectory
    lagged: FloatArray  # (L, d, d) sum of z_p now times z_q so many steps ago
    bursts: FloatArray  # (L, d) sum of z^2 - 1 now times the same so many steps ago
    lag_count: FloatArray  # (L,)
    leaning: FloatArray  # (2, d, d) product of z_p and the one before it, times state q; its square
    missed: FloatArray  # (d,) squares of what a prediction is off by
    spread: FloatArray  # (d,) squares of states about their mean

    def places(self) -> Deviation:
        """Mean residuals by bins of each coordinate, ``(d, d)``: coordinate, component."""
        count, first, _ = self.bins
        there = count > FEWEST_OF_GROUP
        squares = np.where(there, first**2 / np.maximum(count, 1), 0.0).sum(axis=1)
        return beyond_chance(squares, there.sum(axis=1))

    def place_variances(self) -> Deviation:
        """Variances of residuals by bins of each coordinate, ``(d, d)``."""
        count, _, second = self.bins
        return variances_apart(count, second, axis=1)

    def times(self) -> Deviation:
        """Slopes by parts of the trajectories, ``(d, D)``: component, direction."""
        return _slopes(*self.parts)

    def time_variances(self) -> Deviation:
        """Variances of residuals by parts of the trajectories, ``(d,)``."""
        count, second = self.part_squares
        return variances_apart(count, second, axis=0)

    def kinds(self) -> Deviation:
        """Slopes by trajectories, ``(d, D)``."""
        return _slopes(*self.trajectories)

    @property
    def correlations(self) -> FloatArray:
        """Of residuals with those so many steps ago, ``(L, d, d)``: now, then."""
        return self.lagged / np.maximum(self.lag_count, 1)[:, None, None]

    def together(self) -> Deviation:
        """All of these correlations of two coordinates together, ``(d, d)``."""
        squares = np.sum(self.correlations**2 * self.lag_count[:, None, None], axis=0)
        return beyond_chance(squares, np.full(squares.shape, float(len(DELAYS))))

    def neighbours_by_place(self) -> FloatArray:
        """How the product of neighbours changes along each state, ``(d, d)``: state, component.

        In standard errors. Noise of a sensor that is the same everywhere leaves them uncorrelated
        everywhere.
        """
        product, square = self.leaning
        return np.divide(product, np.sqrt(square), out=np.zeros_like(product), where=square > 0)

    def burstiness(self, kurtosis: FloatArray) -> FloatArray:
        """Correlation of squared residuals with those so many steps ago, ``(L, d)``.

        Squares of residuals have variance 2 and their excess ``kurtosis (d,)`` on top.
        """
        variance = 2 + np.maximum(np.nan_to_num(kurtosis), 0.0)
        return np.asarray(self.bursts / np.maximum(self.lag_count, 1)[:, None] / variance)

    @property
    def predicted(self) -> FloatArray:
        """Share of the variance of the next state that this one predicts, ``(d,)``."""
        return 1.0 - self.missed / self.spread


class Deviation(NamedTuple):
    """How far sums over groups are from what chance makes of them."""

    errors: FloatArray  # standard deviations of a chi-squared number beyond its mean
    excess: FloatArray  # the same as a sum of squares beyond that of chance


def _slopes(slope: FloatArray, variance: FloatArray) -> Deviation:
    """Compare slopes of groups, along the first axis, with what their common mean makes of them."""
    there = variance > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = slope.sum(axis=0) / variance.sum(axis=0)
        squares = np.where(there, (slope - mean * variance) ** 2 / variance, 0.0).sum(axis=0)
    return beyond_chance(squares, there.sum(axis=0) - 1)


def variances_apart(count: FloatArray, second: FloatArray, axis: int) -> Deviation:
    """Compare variances of groups, along ``axis``, with that of all."""
    there = count > FEWEST_OF_GROUP
    whole = second.sum(axis=axis, keepdims=True) / np.maximum(
        count.sum(axis=axis, keepdims=True), 1
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = second / count / whole
    # The cube root of a mean of squares is nearly normal, whose logarithm or square is not.
    spread = 2.0 / (9.0 * np.maximum(count, 1))
    away = np.where(there, (np.cbrt(ratio) - (1 - spread)) / np.sqrt(spread), 0.0)
    return beyond_chance(np.sum(away**2, axis=axis), there.sum(axis=axis) - 1)


def beyond_chance(squares: FloatArray, freedom: IntArray | FloatArray) -> Deviation:
    """Compare sums of ``freedom`` squares with a chi-squared number; none is no deviation.

    The cube root of such a number over its freedom is nearly normal (Wilson and Hilferty).
    """
    known = np.maximum(freedom, 1.0)
    spread = 2.0 / (9.0 * known)
    errors = (np.cbrt(squares / known) - (1.0 - spread)) / np.sqrt(spread)
    none = freedom <= 0
    return Deviation(np.where(none, 0.0, errors), np.where(none, 0.0, squares - freedom))


def in_deviations(found: Predictions, dt: FloatArray) -> FloatArray:
    """How many standard deviations of a step a drift of one is worth, ``(d, n)``."""
    return np.sqrt(dt / np.maximum(found.noise.T, np.finfo(np.float64).tiny))


@dataclass(frozen=True)
class Groups:
    """Sums what :class:`GroupSums` has; ``edges (B - 1, d)`` are those of the bins."""

    edges: FloatArray
    centre: FloatArray  # (d,)
    scale: FloatArray  # (d,)
    lengths: IntArray  # (R,) increments of each trajectory
    starts: IntArray  # (R,) increments before each

    @classmethod
    def of(cls, data: Dataset, summary: DataSummary) -> Groups:
        edges = np.quantile(summary.probe, np.arange(1, PLACE_BINS) / PLACE_BINS, axis=0)
        steps = data.lengths - 1
        region = summary.region
        return cls(edges, region.centre, region.scale, steps, np.cumsum(steps) - steps)

    def empty(self) -> GroupSums:
        (d, r), count = (len(self.centre), len(self.lengths)), len(DELAYS)
        groups = (3, d, PLACE_BINS, d), (2, PARTS, d, d + 2), (2, PARTS, d), (2, r, d, d + 2)
        return GroupSums(
            *zeros(*groups, (count, d, d), (count, d), (count,), (2, d, d), (d,), (d,))
        )

    def add(
        self, total: GroupSums, chunk: Chunk, found: Predictions, z: FloatArray, noisy: BoolArray
    ) -> None:
        """Add a chunk; ``z (d, n)`` is zero where it is not ``noisy``."""
        end = chunk.states + chunk.increments - self.centre
        total.missed += np.einsum("np,np->p", found.error, found.error)
        total.spread += np.einsum("np,np->p", end, end)
        chunk = chunk._replace(states=found.states)
        self._add_bins(total, chunk.states, z, noisy)
        self._add_groups(total, chunk, found, z, noisy)
        self._add_lags(total, chunk.trajectory, z)
        self._add_leaning(total, chunk, z)

    def _add_bins(
        self, total: GroupSums, states: FloatArray, z: FloatArray, noisy: BoolArray
    ) -> None:
        for q in range(len(z)):
            place = np.searchsorted(self.edges[:, q], states[:, q])
            for p in range(len(z)):
                for row, weights in enumerate((noisy[p], z[p], z[p] ** 2)):
                    total.bins[row, q, :, p] += np.bincount(place, weights, minlength=PLACE_BINS)

    def _add_groups(
        self, total: GroupSums, chunk: Chunk, found: Predictions, z: FloatArray, noisy: BoolArray
    ) -> None:
        owner = chunk.trajectory
        within = chunk.start + np.arange(len(owner)) - self.starts[owner]
        part = within * PARTS // self.lengths[owner]
        where = ((chunk.states - self.centre) / self.scale).T
        root = in_deviations(found, chunk.dt) * noisy
        spans = Spans.of(owner * PARTS + part)  # one part of one trajectory each
        trajectory, piece = np.divmod(spans.owner, PARTS)
        for p in range(len(z)):
            along = np.concatenate([np.ones((1, z.shape[1])), where, found.drift.T[p : p + 1]])
            along *= root[p]
            for row, values in enumerate((along * z[p], along**2)):
                sums = spans.sums(values)
                np.add.at(total.trajectories[row, :, p], trajectory, sums)
                np.add.at(total.parts[row, :, p], piece, sums)
            sums = spans.sums(np.stack([noisy[p], z[p] ** 2]))
            np.add.at(total.part_squares[:, :, p].T, piece, sums)

    def _add_lags(self, total: GroupSums, trajectory: IntArray, z: FloatArray) -> None:
        square = np.where(z != 0, z**2 - 1, 0.0)
        for k, lag in enumerate(DELAYS):
            if lag >= len(trajectory):
                break
            same = (trajectory[lag:] == trajectory[:-lag]).astype(np.float64)
            total.lag_count[k] += same.sum()
            total.lagged[k] += z[:, lag:] @ (z[:, :-lag] * same).T
            total.bursts[k] += (square[:, lag:] * square[:, :-lag]) @ same

    def _add_leaning(self, total: GroupSums, chunk: Chunk, z: FloatArray) -> None:
        where = (chunk.states[1:] - self.centre) / self.scale
        where = np.clip(where, -FARTHEST, FARTHEST) * (np.diff(chunk.trajectory) == 0)[:, None]
        products = z[:, 1:] * z[:, :-1]
        total.leaning[0] += (products @ where).T
        total.leaning[1] += (products**2 @ where**2).T


MOST_STRETCHES = 32_768  # of which the spectrum is [by hand: memory]
FEWEST_STRETCHES = 32  # of a trajectory that is looked at [by hand]
LONGEST_SHARE = 8  # times shorter than the longest trajectory, one tells little [by hand]
FEWEST_CYCLES = 1.5  # of the longest trajectory: less is a trend [by hand]
PACES = 17  # lengths of steps by half octaves about their mean [by hand]


class Line(NamedTuple):
    """The clearest line of a spectrum, of each of ``d`` coordinates."""

    errors: FloatArray  # (d,) standard errors beyond what the whole is at one frequency by chance
    excess: FloatArray  # (d,) sum of squares that it explains beyond that
    period: FloatArray  # (d,) in steps
    frequencies: int  # that are independent of each other


@dataclass(frozen=True)
class Stretches:
    """How the steps of all trajectories are cut into stretches of ``width`` steps."""

    width: int
    first: IntArray  # (R,) stretch at which each trajectory begins
    count: IntArray  # (R,) stretches of each
    starts: IntArray  # (R,) steps before each
    mean_dt: float

    @classmethod
    def of(cls, data: Dataset) -> Stretches:
        """Cut so that there are few enough."""
        steps = data.lengths - 1
        width = -(-int(steps.sum()) // MOST_STRETCHES)
        count = -(-steps // width)
        return cls(width, np.cumsum(count) - count, count, np.cumsum(steps) - steps, data.mean_dt)

    @property
    def total(self) -> int:
        """Stretches of all trajectories."""
        return int(self.count.sum())

    def add(self, total: FloatArray, chunk: Chunk, z: FloatArray) -> None:
        """Add z and z^2 - 1 of ``z (d, n)``, zero where there is none, to ``total (2, d, S)``."""
        owner = chunk.trajectory
        within = chunk.start + np.arange(len(owner)) - self.starts[owner]
        place = self.first[owner] + within // self.width
        low, high = int(place[0]), int(place[-1]) + 1
        for row, values in enumerate((z, np.where(z != 0, z**2 - 1, 0.0))):
            for p, value in enumerate(values):
                total[row, p, low:high] += np.bincount(place - low, value)

    def add_paces(self, total: FloatArray, chunk: Chunk, z: FloatArray) -> None:
        """Add number of z and z^2 to ``total (2, P, d)``, by the length of the step."""
        octave = np.rint(2 * np.log2(chunk.dt / self.mean_dt)).astype(np.int64)
        pace = np.clip(octave + PACES // 2, 0, PACES - 1)
        for p, value in enumerate(z):
            for row, weights in enumerate((value != 0, value**2)):
                total[row, :, p] += np.bincount(pace, weights, minlength=PACES)

    def line(self, sums: FloatArray) -> Line:
        """Find the clearest line of ``sums (d, S)``; none if every trajectory is too short.

        Spectra of all trajectories are added up, since nobody knows when each began.
        """
        long = self.count >= max(FEWEST_STRETCHES, int(self.count.max()) // LONGEST_SHARE)
        if not long.any():
            none = np.zeros(len(sums))
            return Line(none, none, none, 1)
        longest = int(self.count[long].max())
        size = 2 ** int(np.ceil(np.log2(2 * longest)))
        power, squares, counts = np.zeros((len(sums), size // 2 + 1)), np.zeros(len(sums)), []
        for first, count in zip(self.first[long], self.count[long], strict=True):
            part = sums[:, first : first + count]
            part = part - part.mean(axis=1, keepdims=True)
            power += np.abs(np.fft.rfft(part, size)) ** 2
            squares += np.sum(part**2, axis=1)
            counts.append(float(count))
        freedom = 2 * sum(counts) ** 2 / sum(one**2 for one in counts)
        relative = power / np.maximum(squares, np.finfo(np.float64).tiny)[:, None]
        relative[:, : int(np.ceil(FEWEST_CYCLES * size / longest))] = 0.0
        at = np.argmax(relative, axis=1)
        peak = relative[np.arange(len(sums)), at] * freedom
        found = beyond_chance(peak, np.full(len(peak), freedom))
        return Line(found.errors, found.excess, self.width * size / np.maximum(at, 1), longest // 2)
