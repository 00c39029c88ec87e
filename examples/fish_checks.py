"""What stands behind the fish example: the law of the noise, and whether a direction is special."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

import wgsindy as wg
from wgsindy.data import FloatArray
from wgsindy.model import EulerMaruyama

BINS = (0.0, 0.3, 0.6, 0.8, 0.9, 1.01)  # of |m|
PATHS, STEPS = 16, 1500  # as many increments as there are measured
SUBSTEPS = 5  # of the simulator, between two samples


def noise_by_polarisation(data: wg.Trajectories) -> list[tuple[float, float, float]]:
    """Mean |m|, 1 - |m|^2 and noise variance, from products of neighbouring increments."""
    steps = [np.diff(path, axis=0) for path in data]
    # Sorted by the sample two before the noisy one they share: its noise is in neither increment.
    size = np.concatenate([np.hypot(*path[:-3].T) for path in data])
    products = np.concatenate([np.mean(-s[1:-1] * s[2:], axis=1) for s in steps])
    found = []
    for low, high in pairwise(BINS):
        there = (size >= low) & (size < high)
        mean = float(size[there].mean())
        found.append((mean, float(1 - np.mean(size[there] ** 2)), float(products[there].mean())))
    return found


def isotropic_law(generator: wg.Generator) -> tuple[float, float, list[tuple[str, float, float]]]:
    """Compare with a = alpha (1 - |m|^2) 1 + c (|m|^2 1 - m m'), in which no direction is special.

    alpha is the mean constant of a11 and a22, c that of -mx*my in a12. The squares are then a
    prediction: (name, predicted, found).
    """
    found = {(row.target, row.term): row.value for row in generator.coefficients}
    alpha = (found.get(("a11", "1"), 0.0) + found.get(("a22", "1"), 0.0)) / 2
    c = -found.get(("a12", "mx*my"), 0.0)
    law = {
        ("a11", "mx**2"): -alpha,
        ("a11", "my**2"): c - alpha,
        ("a22", "mx**2"): c - alpha,
        ("a22", "my**2"): -alpha,
    }
    return alpha, c, [(" ".join(key), value, found.get(key, 0.0)) for key, value in law.items()]


def simulated(generator: wg.Generator, dt: float, seed: int = 0) -> FloatArray:
    """Paths of a known generator, ``(R, n, 2)``: what was put in can be compared."""
    paths = generator.simulate(
        [0.5, 0.3],
        dt=dt,
        steps=STEPS,
        trajectories=PATHS,
        random_state=seed,
        scheme=EulerMaruyama(substeps=SUBSTEPS),
    )
    return np.stack(list(paths))


def with_noise(
    x: FloatArray, dt: float, variance: float, *, of_state: bool, seed: int = 0
) -> wg.Trajectories:
    """Add observation noise of a mean variance: the same everywhere, or as 1 - |m|^2."""
    shape = np.ones(x.shape[:2]) if not of_state else np.maximum(1 - np.sum(x**2, axis=2), 0)
    scale = np.sqrt(variance * shape / shape.mean())[..., None]
    noise = scale * np.random.default_rng(seed).normal(size=x.shape)
    return wg.Trajectories(x + noise, dt=dt, names=("mx", "my"))
