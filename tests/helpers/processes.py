"""Small processes that several test files fit."""

from __future__ import annotations

import numpy as np

from wgsindy import Trajectories

DT = 0.01


def linear(seed: int, d: int = 2, *, steps: int = 800, trajectories: int = 4) -> Trajectories:
    """A linear process, so that nothing is missing."""
    rng = np.random.default_rng(seed)
    x = np.zeros((trajectories, steps + 1, d))
    for n in range(steps):
        noise = rng.standard_normal((trajectories, d))
        x[:, n + 1] = x[:, n] * (1 - 3 * DT) + np.sqrt(DT) * noise
    return Trajectories(list(x), DT)
