"""What a kind of data is, and the processes from which others are spoilt."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from scipy.signal import lfilter

from wgsindy.data import FloatArray, Trajectories
from wgsindy.model import Generator

DT = 0.05
SUBSTEPS = 10  # Euler steps of a sampling step
FORGOTTEN = 200  # steps after which a linear recursion has forgotten its start

Field = Callable[[FloatArray, float], FloatArray]  # of states (R, d) and time
Make = Callable[[np.random.Generator, int, int], FloatArray]  # (R, steps + 1, d)
Role = Literal["null", "later", "latest", "hard", "control"]  # the first three are nulls


class Size(NamedTuple):
    """Trajectories, and the steps of each."""

    trajectories: int
    steps: int


SMALL, LONG, LARGE = Size(4, 1000), Size(1, 6000), Size(16, 1600)
SEVERAL, ALONE = (SMALL, LARGE), (LONG, LARGE)


class Kind(NamedTuple):
    """Data of one kind.

    ``why`` says of a null what must not be called identified, of others what they are. ``truth``
    is that of a genuine diffusion, or of the one behind a null, where it is known.
    """

    key: str
    title: str
    make: Make
    why: str
    sizes: tuple[Size, ...] = SEVERAL
    dt: float = DT
    role: Role = "null"
    truth: Generator | None = None

    def data(self, seed: int, size: Size) -> Trajectories:
        """Make the data of a seed."""
        rng = np.random.default_rng([seed, zlib.crc32(self.key.encode())])
        return Trajectories(list(self.make(rng, *size)), self.dt)


def simulate(
    drift: Field,
    noise: Field | float,
    rng: np.random.Generator,
    trajectories: int,
    steps: int,
    *,
    d: int = 1,
    dt: float = DT,
    substeps: int = SUBSTEPS,
    settling: float = 5.0,
    start: float = 0.0,
) -> FloatArray:
    """Euler steps much finer than the samples, ``(R, steps + 1, d)``; nothing is clipped.

    Time is zero when sampling begins. ``noise`` has a component a coordinate.
    """
    h = dt / substeps
    x = np.full((trajectories, d), start)
    path = np.empty((steps + 1, trajectories, d))
    for n in range(-int(np.ceil(settling / h)), steps * substeps + 1):
        if n >= 0 and n % substeps == 0:
            path[n // substeps] = x
        size = noise(x, n * h) if callable(noise) else noise
        shock = np.sqrt(h) * rng.standard_normal(x.shape)
        x = x + h * drift(x, n * h) + size * shock
    return path.transpose(1, 0, 2)


def recursion(shocks: FloatArray, *memory: float) -> FloatArray:
    """``x[n] = memory[0] x[n - 1] + ... + shocks[n]``, the first FORGOTTEN steps left out."""
    weights = [1.0, *(-weight for weight in memory)]
    return np.asarray(lfilter([1.0], weights, shocks, axis=1))[:, FORGOTTEN:]


def normals(rng: np.random.Generator, trajectories: int, steps: int, d: int = 1) -> FloatArray:
    """Shocks for a recursion of ``steps + 1`` samples."""
    return rng.standard_normal((trajectories, steps + 1 + FORGOTTEN, d))


def relaxation(
    rng: np.random.Generator, trajectories: int, steps: int, rate: float = 1.0, dt: float = DT
) -> FloatArray:
    """Exact samples of ``dx = -rate x dt + dW`` in its stationary state."""
    kept = np.exp(-rate * dt)
    spread = np.sqrt((1 - kept**2) / (2 * rate))
    start = rng.standard_normal((trajectories, 1, 1)) / np.sqrt(2 * rate)
    shocks = spread * rng.standard_normal((trajectories, steps, 1))
    return np.asarray(lfilter([1.0], [1.0, -kept], np.concatenate([start, shocks], 1), axis=1))


def double_well(rng: np.random.Generator, trajectories: int, steps: int) -> FloatArray:
    """``dx = (x - x^3) dt + sqrt(1/2) dW``."""
    return simulate(lambda x, t: x - x**3, np.sqrt(0.5), rng, trajectories, steps, start=1.0)


def rotation(rng: np.random.Generator, trajectories: int, steps: int) -> FloatArray:
    """A damped rotation in two coordinates, a turn in three units of time."""
    turn = np.array([[-0.5, 2.0], [-2.0, -0.5]])
    return simulate(lambda x, t: x @ turn, 0.7, rng, trajectories, steps, d=2)
