"""Small processes that several test files fit, and how they are observed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from wgsindy import Trajectories
from wgsindy.model import EulerMaruyama, Generator, simulate

DT = 0.01


def linear(seed: int, d: int = 2, *, steps: int = 800, trajectories: int = 4) -> Trajectories:
    """A linear process, so that nothing is missing."""
    rng = np.random.default_rng(seed)
    x = np.zeros((trajectories, steps + 1, d))
    for n in range(steps):
        noise = rng.standard_normal((trajectories, d))
        x[:, n + 1] = x[:, n] * (1 - 3 * DT) + np.sqrt(DT) * noise
    return Trajectories(list(x), DT)


def observed(
    truth: Generator,
    start: ArrayLike,
    *,
    dt: float,
    steps: int,
    trajectories: int = 16,
    seed: int = 0,
    substeps: int = 10,
    noise: ArrayLike = 0.0,
) -> Trajectories:
    """Samples of the process itself, with ``substeps`` between two of them.

    ``noise`` is the standard deviation of the sensor, one number or one a coordinate.
    """
    scheme = EulerMaruyama(substeps=substeps)
    data = simulate(
        truth, start, dt=dt, steps=steps, trajectories=trajectories, random_state=seed,
        scheme=scheme,
    )  # fmt: skip
    return with_noise(data, noise, seed) if np.any(noise) else data


def with_noise(data: Trajectories, noise: ArrayLike, seed: int) -> Trajectories:
    """The same samples seen by a sensor that adds ``noise``, a standard deviation, of its own."""
    rng = np.random.default_rng([seed, 1])
    size = np.asarray(noise, dtype=np.float64)
    paths = [path + size * rng.standard_normal(path.shape) for path in data]
    times = [np.append(0.0, np.cumsum(data.steps(r))) for r in range(len(data))]
    return Trajectories(paths, times=times, names=data.names)
