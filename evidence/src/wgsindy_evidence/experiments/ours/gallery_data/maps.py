"""Nulls without noise: maps, and a flow of which not every coordinate is seen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wgsindy.data import FloatArray
from wgsindy_evidence.experiments.ours.gallery_data.kind import ALONE, Kind

Rng = np.random.Generator
SETTLED = 100


def iterate(step: Callable[[FloatArray], FloatArray], start: FloatArray, steps: int) -> FloatArray:
    """States after each step, ``(R, steps + 1, d)``, the first hundred left out."""
    path = np.empty((steps + 1 + SETTLED, *start.shape))
    path[0] = start
    for k in range(len(path) - 1):
        path[k + 1] = step(path[k])
    return path[SETTLED:].transpose(1, 0, 2)


def _logistic(rng: Rng, r: int, n: int) -> FloatArray:
    return iterate(lambda x: 3.9 * x * (1 - x), rng.uniform(0.1, 0.9, (r, 1)), n)


def _tent(rng: Rng, r: int, n: int) -> FloatArray:
    # Askew: with a slope of two, binary numbers run out of digits.
    def step(x: FloatArray) -> FloatArray:
        return np.where(x < 0.6, x / 0.6, (1 - x) / 0.4)

    return iterate(step, rng.uniform(0.1, 0.9, (r, 1)), n)


def _henon(rng: Rng, r: int, n: int) -> FloatArray:
    def step(x: FloatArray) -> FloatArray:
        return np.column_stack([1 - 1.4 * x[:, 0] ** 2 + x[:, 1], 0.3 * x[:, 0]])

    return iterate(step, rng.uniform(-0.1, 0.1, (r, 2)), n)


def _standard(rng: Rng, r: int, n: int) -> FloatArray:
    def step(x: FloatArray) -> FloatArray:
        momentum = np.mod(x[:, 1] + 6 * np.sin(x[:, 0]), 2 * np.pi)
        return np.column_stack([np.mod(x[:, 0] + momentum, 2 * np.pi), momentum])

    return iterate(step, rng.uniform(0, 2 * np.pi, (r, 2)), n)


def _ikeda(rng: Rng, r: int, n: int) -> FloatArray:
    def step(x: FloatArray) -> FloatArray:
        z = x[:, 0] + 1j * x[:, 1]
        z = 1 + 0.9 * z * np.exp(1j * (0.4 - 6 / (1 + np.abs(z) ** 2)))
        return np.column_stack([z.real, z.imag])

    return iterate(step, rng.uniform(-0.1, 0.1, (r, 2)), n)


def lorenz_flow(x: FloatArray, h: float) -> FloatArray:
    """One step of the Lorenz system, of the fourth order."""

    def slope(x: FloatArray) -> FloatArray:
        a, b, c = x.T
        return np.column_stack([10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c])

    k1 = slope(x)
    k2 = slope(x + h / 2 * k1)
    k3 = slope(x + h / 2 * k2)
    k4 = slope(x + h * k3)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def lorenz(rng: Rng, r: int, n: int) -> FloatArray:
    """All three coordinates, a hundredth apart."""
    start = rng.uniform(-1, 1, (r, 3)) + np.array([5.0, 5.0, 25.0])
    return iterate(lambda x: lorenz_flow(lorenz_flow(x, 0.005), 0.005), start, n)


def _lorenz_x(rng: Rng, r: int, n: int) -> FloatArray:
    return lorenz(rng, r, n)[..., :1]


def _lorenz_pair(rng: Rng, r: int, n: int) -> FloatArray:
    return lorenz(rng, r, n)[..., [0, 2]]


NO_NOISE = "a map has neither drift nor noise"
KINDS: tuple[Kind, ...] = (
    Kind("logistic", "logistic map", _logistic, NO_NOISE, ALONE),
    Kind("tent", "tent map", _tent, NO_NOISE),
    Kind("henon", "Henon map", _henon, NO_NOISE, ALONE),
    Kind("standard_map", "standard map", _standard, NO_NOISE),
    Kind("ikeda", "Ikeda map", _ikeda, NO_NOISE, ALONE),
    Kind("lorenz_x", "Lorenz system, x alone", _lorenz_x, "two are not seen", ALONE, dt=0.01),
    Kind("lorenz_pair", "Lorenz system, x and z", _lorenz_pair, "one is not seen", dt=0.01),
)
