"""Observation noise, from neighbouring increments.

Independent noise on each sample makes neighbouring increments covary by minus its covariance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wgsindy.data.arrays import FloatArray
from wgsindy.data.chunk import Chunk, moved
from wgsindy.data.dataset import Dataset
from wgsindy.model import tensor
from wgsindy.passes.engine import SERIAL, Engine, SumPass, added, reduce

Mean = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Lag:
    """Sums over pairs of neighbouring increments."""

    pairs: int
    products: FloatArray  # (d, d)
    squares: FloatArray  # (d,) of the products on the diagonal


class LagPass(SumPass[Lag]):
    """Sum products of neighbouring increments of one trajectory; never across two.

    Increments are divided by ``scale (d,)``. ``mean(states (n, d), dt (n,))`` is what is expected
    of them, in the same units, and is taken off first; samples that repeat are left out then.
    Without it, the last step of a trajectory counts as a pair, whose product is zero.
    """

    def __init__(self, scale: FloatArray, mean: Mean | None = None) -> None:
        self.scale, self.mean = scale, mean

    def empty(self) -> Lag:
        d = len(self.scale)
        return Lag(0, np.zeros((d, d)), np.zeros(d))

    def add(self, total: Lag, chunk: Chunk) -> Lag:
        assert chunk.following is not None
        step, following = chunk.increments / self.scale, chunk.following / self.scale
        if self.mean is not None:
            kept = chunk.moved & moved(chunk.following)
            states, dt = chunk.states[kept], chunk.dt[kept]
            step = step[kept] - self.mean(states, dt)
            # The next step is taken to be as long as this one.
            following = following[kept] - self.mean(states + chunk.increments[kept], dt)
        squares = np.einsum("np,np->p", step**2, following**2)
        found = Lag(len(step), step.T @ following, squares)
        return added(total, found)


def observation_noise(
    data: Dataset,
    scale: FloatArray,
    *,
    mean: Mean | None = None,
    errors: float | None = None,
    engine: Engine = SERIAL,
) -> FloatArray:
    """Covariance of additive observation noise, ``(d, d)``, positive semidefinite.

    In units of ``scale (d,)``; see :class:`LagPass` for ``mean``. Without it, the drift leaves its
    own trace: -(E[b b'] + E[a J']) dt^2, J its derivatives, is taken for noise. A coordinate whose
    noise does not stand out by so many standard ``errors`` gets none; unless given, all get theirs.
    """
    lag = reduce(LagPass(scale, mean), data, engine=engine, following=True)
    last = len(data) if mean is None else 0
    pairs = max(lag.pairs - last, 1)
    raw = -(lag.products + lag.products.T) / (2 * pairs)
    covariance = tensor.clip(raw[None])[0]
    if errors is not None:
        noisy = np.diag(raw) > errors * np.sqrt(lag.squares) / pairs
        covariance = covariance * np.outer(noisy, noisy)
    return covariance
