"""Observation noise, from neighbouring increments.

Independent noise on each sample makes neighbouring increments covary by minus its covariance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wgsindy.data import Chunk, Dataset, FloatArray
from wgsindy.model import tensor
from wgsindy.passes import SERIAL, Engine, SumPass, added, reduce


@dataclass(frozen=True)
class Lag:
    """Sums over pairs of neighbouring increments."""

    pairs: int
    products: FloatArray  # (d, d)


class LagPass(SumPass[Lag]):
    """Sum products of neighbouring increments of one trajectory; never across two.

    Increments are divided by ``scale (d,)``.
    """

    def __init__(self, scale: FloatArray) -> None:
        self.scale = scale

    def empty(self) -> Lag:
        d = len(self.scale)
        return Lag(0, np.zeros((d, d)))

    def add(self, total: Lag, chunk: Chunk) -> Lag:
        assert chunk.following is not None
        kept = chunk.is_followed
        following = np.where(kept[:, None], chunk.following / self.scale, 0.0)
        found = Lag(int(kept.sum()), (chunk.increments / self.scale).T @ following)
        return added(total, found)


def observation_noise(data: Dataset, scale: FloatArray, *, engine: Engine = SERIAL) -> FloatArray:
    """Covariance of additive observation noise in units of ``scale (d,)``, ``(d, d)``.

    Positive semidefinite. The drift leaves its own trace: -(E[b b'] + E[a J']) dt^2, J its
    derivatives, is taken for noise.
    """
    lag = reduce(LagPass(scale), data, engine=engine, following=True)
    raw = -(lag.products + lag.products.T) / (2 * max(lag.pairs, 1))
    return tensor.clip(raw[None])[0]
