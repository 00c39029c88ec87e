"""What all samples together say of each state: a filter forth, a smoother back.

The filter knows the past. Backwards, with the gain G = P F' Q^-1 of a step whose flow is F, from
covariance P to the prediction Q (Rauch, Tung and Striebel),

    m <- m + G (m' - F-prediction),    P <- P + G (P' - Q) G'.

Trajectories are cut into pieces that overlap: at the ends of a piece the smoother has forgotten
what it was not told, and only the middle is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from wgsindy.data import Chunk, FloatArray, IntArray, Trajectories
from wgsindy.estimate.filtering.filter import (
    Blocks,
    Innovation,
    innovations,
    inverse_factor,
    updated,
)
from wgsindy.estimate.likelihood.matrices import multiply
from wgsindy.estimate.likelihood.transition import Dynamics
from wgsindy.model import tensor

CORE, MARGIN = 128, 48  # samples of a piece that are kept, and to either side of them
MANY_PIECES = 256  # at a time, to bound what is held


class Smoothed(NamedTuple):
    """Mean and standard deviation of each state, ``(n_samples, d)``, as measured."""

    mean: FloatArray
    deviation: FloatArray


def smoothed(dynamics: Dynamics, observation_noise: FloatArray, data: Trajectories) -> Smoothed:
    """Run forth and back along all trajectories; ``observation_noise (E,)`` is a covariance."""
    chunk = next(data.chunks(data.n_samples))
    found = Smoothed(np.empty(data.states.shape), np.empty(data.states.shape))
    for pieces, kept in _pieces(data.lengths):
        means, spreads = _forth_and_back(dynamics, observation_noise, chunk, pieces)
        for number, (first, last) in enumerate(kept.tolist()):
            begin = int(pieces.first[number])
            place = begin + int(pieces.owner[number])  # a trajectory has a sample more than steps
            rows = slice(first - begin, last - begin)
            to = slice(place + rows.start, place + rows.stop)
            found.mean[to] = means[rows, number]
            found.deviation[to] = (
                np.sqrt(np.maximum(spreads[rows, :, number], 0.0)) * dynamics.units
            )
    return found


def _pieces(lengths: IntArray) -> Iterator[tuple[Blocks, IntArray]]:
    """Yield pieces, some at a time, and the samples ``(B, 2)`` that are kept of each.

    Samples are counted as increments are: the last one of a trajectory by the row after its last.
    """
    whole, kept = [], []
    start = 0
    for owner, steps in enumerate((lengths - 1).tolist()):
        for first in range(0, steps, CORE):
            last = min(first + CORE, steps)
            low, high = max(first - MARGIN, 0), min(last + MARGIN, steps)
            whole.append((start + low, high - low, owner))
            kept.append((start + first, start + last + (last == steps)))
        start += steps
    order = np.argsort([-length for _, length, _ in whole], kind="stable")
    for some in range(0, len(order), MANY_PIECES):
        chosen = order[some : some + MANY_PIECES]
        first, length, owner = np.array(whole)[chosen].T
        yield Blocks(first, length, owner), np.array(kept)[chosen]


def _forth_and_back(
    dynamics: Dynamics, observation_noise: FloatArray, chunk: Chunk, pieces: Blocks
) -> tuple[FloatArray, FloatArray]:
    """Means ``(L + 1, B, d)`` and variances ``(L + 1, d, B)`` at the samples of each piece."""
    d, count = len(dynamics.units), len(pieces.first)
    noise = tensor.symmetric(observation_noise[None], d).transpose(1, 2, 0)
    steps = list(innovations(dynamics, observation_noise, chunk, pieces))
    means, variances = np.empty((len(steps) + 1, count, d)), np.empty((len(steps) + 1, d, count))
    mean, spread = np.empty((count, d)), np.empty((d, d, count))  # of the state after each step
    after = 0  # pieces that go on beyond this step
    for k in range(len(steps) - 1, -1, -1):
        step, n = steps[k], len(steps[k].rows)
        # Pieces that end with this step know no more than the filter.
        ends, wide = updated(dynamics, noise, step)
        mean[after:n], spread[:, :, after:n] = ends[after:n], wide[:, :, after:n]
        means[k + 1, :n] = mean[:n]
        variances[k + 1, :, :n] = np.einsum("ppn->pn", spread[:, :, :n])
        mean[:n], spread[:, :, :n] = _back(dynamics, step, mean[:n], spread[:, :, :n])
        after = n
    means[0], variances[0] = mean, np.einsum("ppn->pn", spread)
    return means, variances


def _back(
    dynamics: Dynamics, step: Innovation, mean: FloatArray, spread: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Carry ``mean (n, d)`` and covariance ``(d, d, n)`` from the end of a step to its start."""
    units, path = dynamics.units, step.path
    root = inverse_factor(path.covariance)
    precision = multiply(root.swapaxes(0, 1), root)
    gain = multiply(multiply(step.spread, path.flow.swapaxes(0, 1)), precision)
    off = (mean - step.states).T / units[:, None] - path.mean
    shift = multiply(gain, off[:, None])[:, 0]
    wider = multiply(multiply(gain, spread - path.covariance), gain.swapaxes(0, 1))
    back = step.states + (shift * units[:, None]).T
    return np.clip(back, dynamics.place.low, dynamics.place.high), step.spread + wider
