"""A Gaussian filter along noisy samples.

Samples are Y = H (X + eta), eta normal of covariance Sigma, and H those rows of one whose values
were measured. Between samples the transition carries mean and covariance of what is known of X; at
a sample the innovation e = Y - H m, of covariance S = H (Q + Sigma) H', updates both. Without noise
this is the transition from sample to sample. A missing value is a row that H lacks, a velocity that
nobody measures a row that it never has.

A filter forgets. Trajectories are cut into blocks at fixed places, and each block begins with what
its first sample says, N(Y, Sigma): a likelihood of its own, short of nothing but what the samples
before would add at its start. What that sample does not tell is as likely as anywhere in the data,
and the step after it does not count. Blocks run side by side, and no sum depends on how data are
stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from wgsindy.data import BLOCK, Chunk, FloatArray, IntArray, Spans, block_labels
from wgsindy.estimate.likelihood.transition import (
    Dynamics,
    Transition,
    inverse_and_determinant,
    multiply,
)
from wgsindy.model import tensor

# Samples before a block from which a filter learns what the first of them does not tell: where
# innovations are looked at one by one, those of neighbouring blocks must not share that ignorance.
WARM_UP = 64
LEAST_VARIANCE = 1e-3  # of a prediction, as a share of the variance of the noise
NO_VARIANCE = 1e-12  # share of the variance of the data that is none
LEAST_PIVOT = 1e-6  # share of its variance that a coordinate keeps once those before it are known
# Coordinates that were measured at all, in a chunk, as a slice if they are neighbours.
Asked = slice | list[int]


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

    @classmethod
    def warmed_up(cls, chunk: Chunk) -> tuple[Blocks, IntArray]:
        """Begin each block earlier, within its trajectory; and by how many rows, ``(B,)``."""
        plain, spans = cls.of(chunk), Spans.of(chunk.trajectory)
        begin = spans.first[np.searchsorted(spans.owner, plain.owner)]
        first = np.maximum(plain.first - WARM_UP, begin)
        early = plain.first - first
        order = np.argsort(-(plain.length + early), kind="stable")
        whole = cls(first[order], (plain.length + early)[order], plain.owner[order])
        return whole, early[order]

    @classmethod
    def in_pieces(cls, chunk: Chunk, block: int, piece: int) -> tuple[Blocks, int]:
        """Cut blocks into pieces; and how many of these, the first, begin a piece earlier.

        These are all but the first of a block: by its second piece a filter has forgotten where it
        began. So the pieces of a block run side by side, and find what the block would.
        """
        whole = cls.of(chunk, block)
        count = -(-whole.length // piece)
        number = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        first, left = np.repeat(whole.first, count), np.repeat(whole.length, count) - number * piece
        later = number > 0
        length = np.minimum(left, piece) + piece * later
        order = np.argsort(-length, kind="stable")
        first += piece * (number - later)
        owner = np.repeat(whole.owner, count)
        return cls(first[order], length[order], owner[order]), int(np.count_nonzero(later))

    def steps(self) -> Iterator[IntArray]:
        """Yield the rows ``(n,)`` at which the blocks are, step by step; short ones drop out."""
        for step in range(int(self.length[0])):
            active = int(np.searchsorted(-self.length, -step, side="left"))
            yield self.first[:active] + step


class Innovation(NamedTuple):
    """What one step of ``n`` blocks finds, in units of the noise, sample last.

    Of the ``a`` coordinates that were measured at all: where one was not, its value is 0, its
    variance 1, its column of K zero.
    """

    rows: IntArray  # (n,)
    path: Transition
    value: FloatArray  # (a, n) e
    covariance: FloatArray  # (a, a, n) S
    whitening: FloatArray  # (a, a, n) W with W S W' = 1, a lower triangle
    pull: FloatArray  # (a, n) S^-1 e
    gain: FloatArray  # (d, a, n) K
    seen: FloatArray | None  # (a, n) 1 where a coordinate was measured, else 0; None if all were
    counts: bool  # not after a sample that has not told everything
    states: FloatArray  # (n, d) filtered mean before the step, as measured
    spread: FloatArray  # (d, d, n) its covariance
    asked: Asked

    def of_all(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Value and covariance of all coordinates, and which were measured, ``(d, n)``."""
        d, n = self.path.mean.shape
        value, seen, covariance = np.zeros((d, n)), np.zeros((d, n)), np.zeros((d, d, n))
        covariance[range(d), range(d)] = 1.0
        value[self.asked] = self.value
        seen[self.asked] = 1.0 if self.seen is None else self.seen
        own = np.arange(d)[self.asked]
        covariance[np.ix_(own, own)] = self.covariance
        return value, covariance, seen


def _asked(chunk: Chunk) -> tuple[Asked, FloatArray | None]:
    """What was measured at all, and where, ``(a, N)``, unless that is everywhere."""
    if chunk.seen is None:
        return slice(None), None
    measured = chunk.seen[:, 1].T
    numbers: list[int] = np.flatnonzero(measured.any(axis=1)).tolist()
    asked: Asked = numbers
    if numbers and numbers[-1] - numbers[0] == len(numbers) - 1:
        asked = slice(numbers[0], numbers[-1] + 1)
    always = bool(measured[asked].all())
    return asked, None if always else np.ascontiguousarray(measured[asked], dtype=np.float64)


def innovations(
    dynamics: Dynamics, observation_noise: FloatArray, chunk: Chunk, blocks: Blocks
) -> Iterator[Innovation]:
    """Run the filter along all blocks of a chunk; ``observation_noise (E,)`` is a covariance."""
    noise = tensor.symmetric(observation_noise[None], len(dynamics.units)).transpose(1, 2, 0)
    states, spread = _beginning(dynamics, noise, chunk, blocks)
    asked, measured = _asked(chunk)
    nothing = NO_VARIANCE * (dynamics.data_range.region.scale / dynamics.units) ** 2
    units, own_noise = dynamics.units[asked, None], noise[asked][:, asked]
    observed = np.ascontiguousarray((chunk.states + chunk.increments).T[asked])
    for step, rows in enumerate(blocks.steps()):
        n = len(rows)
        states, spread = states[:n], spread[:, :, :n]
        path = dynamics.step(states, chunk.dt.take(rows), spread)
        predicted = path.covariance
        _make_possible(predicted, noise, nothing)
        value = (observed.take(rows, axis=1) - states.T[asked]) / units - path.mean[asked]
        towards, seen = predicted[:, asked], None
        covariance = towards[asked] + own_noise
        if measured is not None:
            seen = measured.take(rows, axis=1)
            value, covariance = value * seen, _where_seen(covariance, seen)
            towards = towards * seen
        whitening = inverse_factor(covariance)
        precision = multiply(whitening.swapaxes(0, 1), whitening)
        pull, gain = multiply(precision, value[:, None])[:, 0], multiply(towards, precision)
        counts = step > 0 or chunk.seen is None
        measures = (value, covariance, whitening, pull, gain, seen, counts)
        found = Innovation(rows, path, *measures, states, spread, asked)
        yield found
        states, spread = updated(dynamics, noise, found)


def updated(
    dynamics: Dynamics, noise: FloatArray, found: Innovation
) -> tuple[FloatArray, FloatArray]:
    """Filtered mean ``(n, d)`` after a step, as measured, and its covariance ``(d, d, n)``."""
    predicted, gain, asked = found.path.covariance, found.gain, found.asked
    shift = found.path.mean + multiply(gain, found.value[:, None])[:, 0]
    states = found.states + (shift * dynamics.units[:, None]).T
    left = predicted - multiply(gain, predicted[asked])
    kept = left[:, asked] - multiply(gain, noise[asked][:, asked])
    left -= multiply(kept, gain.swapaxes(0, 1))
    inside = dynamics.data_range
    np.maximum(states, inside.low, out=states)
    return np.minimum(states, inside.high, out=states), left


def _beginning(
    dynamics: Dynamics, noise: FloatArray, chunk: Chunk, blocks: Blocks
) -> tuple[FloatArray, FloatArray]:
    """States ``(B, d)`` at which blocks begin and their covariance ``(d, d, B)``."""
    d, states = len(noise), chunk.states[blocks.first]
    if chunk.seen is None:
        return states, np.broadcast_to(noise, (d, d, len(states)))
    seen, region = chunk.seen[blocks.first, 0], dynamics.data_range.region
    spread = _where_seen(np.broadcast_to(noise, (d, d, len(states))), seen.T.astype(np.float64))
    anywhere = (region.scale / dynamics.units) ** 2
    for p in range(d):
        spread[p, p] = np.where(seen[:, p], spread[p, p], anywhere[p])
    return np.where(seen, states, region.centre), spread


def _make_possible(predicted: FloatArray, noise: FloatArray, nothing: FloatArray) -> None:
    """Raise variances to their least; what is no tensor must not make gains beyond one.

    ``nothing (d,)`` is as good as no variance, and can be divided by.
    """
    variances = predicted.reshape(-1, predicted.shape[2])[:: len(noise) + 1]
    least = LEAST_VARIANCE * noise.reshape(-1, 1)[:: len(noise) + 1]
    least = np.maximum(least, nothing[:, None])
    np.maximum(variances, least, out=variances)
    for p in range(len(predicted)):
        for q in range(p):
            most = np.sqrt(variances[p] * variances[q])
            held = np.maximum(np.minimum(predicted[p, q], most), -most)
            predicted[p, q] = predicted[q, p] = held


def _where_seen(covariance: FloatArray, seen: FloatArray) -> FloatArray:
    """Covariance ``(d, d, n)`` of what is ``seen (d, n)``, and one for all else."""
    found = covariance * seen * seen[:, None]
    for p in range(len(seen)):
        found[p, p] += 1.0 - seen[p]
    return found


def inverse_factor(covariance: FloatArray) -> FloatArray:
    """Lower triangles W ``(d, d, n)`` with W S W' = 1, for S that may be a little indefinite."""
    d = len(covariance)
    if d == 1:
        return 1 / np.sqrt(covariance)
    factor = np.zeros_like(covariance)
    for q in range(d):
        for p in range(q, d):
            rest = covariance[p, q] - sum(factor[p, k] * factor[q, k] for k in range(q))
            if p == q:
                rest = np.sqrt(np.maximum(rest, LEAST_PIVOT * covariance[p, p]))
                factor[p, p] = rest
            else:
                factor[p, q] = rest / factor[q, q]
    return inverse_and_determinant(factor)[0]
