"""Families of processes whose parameters are drawn: sixteen of one to three coordinates.

All ranges are fixed here, before any fit. Each family has a drift and a tensor that its library
holds, noise in every coordinate, and paths that stay in a bounded region most of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wgsindy.data import FloatArray
from wgsindy_evidence.experiments.ours.unseen import Process, X, Y, Z
from wgsindy_evidence.experiments.tensors import Tensor, correlated, diagonal

Drawn = tuple[tuple[Any, ...], Tensor, tuple[float, ...]]  # drift, tensor, start
Family = Callable[[np.random.Generator], Drawn]


def _additive(rng: np.random.Generator, d: int, low: float, high: float) -> Tensor:
    """Constant noise, of another variance in each coordinate (log-uniform)."""
    return diagonal(*np.exp(rng.uniform(np.log(low), np.log(high), d)).tolist())


def _proportional(rng: np.random.Generator, low: float, high: float, *states: Any) -> Tensor:
    """Noise that grows with the state: a_ii = (s_i x_i)^2, s_i from a range."""
    scales = _uniform(rng, low, high, len(states))
    return diagonal(*(s**2 * x**2 for s, x in zip(scales, states, strict=True)))


def _uniform(rng: np.random.Generator, low: float, high: float, size: int) -> list[float]:
    return [float(value) for value in rng.uniform(low, high, size)]


def _matrix(rng: np.random.Generator, d: int) -> FloatArray:
    """A random matrix whose eigenvalues all have a real part of at most -0.2 to -1."""
    matrix = 0.8 * rng.standard_normal((d, d))
    slowest = np.linalg.eigvals(matrix).real.max() + rng.uniform(0.2, 1.0)
    return np.asarray(matrix - slowest * np.eye(d))


def _linear_1(rng: np.random.Generator) -> Drawn:
    rate, level = rng.uniform(0.3, 3.0), rng.uniform(-2.0, 2.0)
    return (rate * (level - X),), _additive(rng, 1, 0.1, 2.0), (level,)


def _linear_2(rng: np.random.Generator) -> Drawn:
    (a, b), (c, d) = _matrix(rng, 2).tolist()
    first, second = _uniform(rng, 0.2, 1.0, 2)
    cross = rng.uniform(-0.7, 0.7) * np.sqrt(first * second)
    return (a * X + b * Y, c * X + d * Y), correlated(first, second, cross), (0.0, 0.0)


def _linear_3(rng: np.random.Generator) -> Drawn:
    rows = _matrix(rng, 3).tolist()
    drift = tuple(a * X + b * Y + c * Z for a, b, c in rows)
    return drift, _additive(rng, 3, 0.1, 1.0), (0.0, 0.0, 0.0)


def _rotation(rng: np.random.Generator) -> Drawn:
    loss, turn = rng.uniform(0.05, 0.6), rng.uniform(1.0, 6.0)
    return (-loss * X - turn * Y, turn * X - loss * Y), _additive(rng, 2, 0.1, 1.0), (0.0, 0.0)


def _wells(rng: np.random.Generator) -> Drawn:
    """One coordinate, or a second one that follows the first."""
    push, pull, tilt = rng.uniform(0.5, 2.0), rng.uniform(0.5, 2.0), rng.uniform(-0.1, 0.1)
    force, noise = tilt + push * X - pull * X**3, rng.uniform(0.3, 1.0) * push**2 / pull
    if rng.random() < 0.5:
        return (force,), ((noise,),), (1.0,)
    second = rng.uniform(0.1, 0.5)
    cross = rng.uniform(-0.6, 0.6) * np.sqrt(noise * second)
    return (force, rng.uniform(0.5, 2.0) * (X - Y)), correlated(noise, second, cross), (1.0, 1.0)


def _van_der_pol(rng: np.random.Generator) -> Drawn:
    mu = rng.uniform(0.5, 3.0)
    return (Y, mu * (1 - X**2) * Y - X), _additive(rng, 2, 0.01, 0.3), (1.0, 0.0)


def _rayleigh(rng: np.random.Generator) -> Drawn:
    gain, loss = _uniform(rng, 0.5, 2.0, 2)
    return (Y, -X + gain * Y - loss * Y**3), _additive(rng, 2, 0.02, 0.3), (1.0, 0.0)


def _duffing(rng: np.random.Generator) -> Drawn:
    pull, push, friction = *_uniform(rng, 0.5, 2.0, 2), rng.uniform(0.1, 1.0)
    noise = _additive(rng, 1, 0.01, 0.1)[0][0], _additive(rng, 1, 0.1, 1.0)[0][0]
    return (Y, push * X - pull * X**3 - friction * Y), diagonal(*noise), (1.0, 0.0)


def _fitzhugh_nagumo(rng: np.random.Generator) -> Drawn:
    slow, drive = rng.uniform(0.08, 0.5), rng.uniform(0.0, 1.0)
    drift = (X - X**3 / 3 - Y + drive, slow * (X + 0.7 - 0.8 * Y))
    return drift, _additive(rng, 2, 0.005, 0.1), (0.0, 0.0)


def _hindmarsh_rose(rng: np.random.Generator) -> Drawn:
    slow, drive = rng.uniform(0.02, 0.1), rng.uniform(1.5, 3.5)
    drift = (Y - X**3 + 3 * X**2 + drive - Z, 1 - 5 * X**2 - Y, slow * (4 * (X + 1.6) - Z))
    return drift, _additive(rng, 3, 0.01, 0.1), (0.0, 0.0, 2.0)


def _lotka_volterra(rng: np.random.Generator) -> Drawn:
    birth, eaten = rng.uniform(0.6, 1.5), rng.uniform(0.2, 0.6)
    growth, death = rng.uniform(0.1, 0.4), rng.uniform(0.3, 0.8)
    # A little crowding: without it the size of the cycles has no stationary distribution.
    crowding = rng.uniform(0.05, 0.3) * birth * growth / death
    drift = (X * (birth - crowding * X - eaten * Y), Y * (growth * X - death))
    start = death / growth, (birth - crowding * death / growth) / eaten
    return drift, _proportional(rng, 0.05, 0.25, X, Y), start


def _stuart_landau(rng: np.random.Generator) -> Drawn:
    gain, turn = rng.uniform(0.5, 2.0), rng.uniform(1.0, 5.0)
    rest = gain - X**2 - Y**2
    return (rest * X - turn * Y, rest * Y + turn * X), _additive(rng, 2, 0.03, 0.3), (1.0, 0.0)


def _sir(rng: np.random.Generator) -> Drawn:
    """Susceptible and infected shares, with births and deaths."""
    turnover, contact, recovery = rng.uniform(0.1, 0.5), rng.uniform(3, 7), rng.uniform(0.5, 1.5)
    drift = (turnover * (1 - X) - contact * X * Y, contact * X * Y - (recovery + turnover) * Y)
    healthy = (recovery + turnover) / contact
    start = healthy, turnover * (1 - healthy) / (contact * healthy)
    return drift, _proportional(rng, 0.05, 0.25, X, Y), start


def _schnakenberg(rng: np.random.Generator) -> Drawn:
    first, second = rng.uniform(0.05, 0.2), rng.uniform(0.5, 1.2)
    drift = (first - X + X**2 * Y, second - X**2 * Y)
    start = first + second, second / (first + second) ** 2
    return drift, _proportional(rng, 0.05, 0.25, X, Y), start


def _multiplicative(rng: np.random.Generator) -> Drawn:
    rate, level = rng.uniform(0.5, 2.0), rng.uniform(-1.0, 1.0)
    noise = rng.uniform(0.1, 0.5) + rate * rng.uniform(0.1, 0.5) * X**2
    return (rate * (level - X),), ((noise,),), (level,)


def _lorenz(rng: np.random.Generator) -> Drawn:
    sigma, rho, beta = rng.uniform(8, 12), rng.uniform(24, 35), rng.uniform(2, 3.5)
    drift = (sigma * (Y - X), X * (rho - Z) - Y, X * Y - beta * Z)
    return drift, _additive(rng, 3, 1.0, 20.0), (1.0, 1.0, 20.0)


FAMILIES: dict[str, tuple[str, str, Family]] = {  # title and library of each
    "linear_1d": ("linear, 1-D", "poly2", _linear_1),
    "linear_2d": ("linear, 2-D", "poly2", _linear_2),
    "linear_3d": ("linear, 3-D", "poly2", _linear_3),
    "rotation": ("rotation", "poly2", _rotation),
    "wells": ("wells", "poly3", _wells),
    "van_der_pol": ("Van der Pol", "poly3", _van_der_pol),
    "rayleigh": ("Rayleigh", "poly3", _rayleigh),
    "duffing": ("Duffing", "poly3", _duffing),
    "fitzhugh_nagumo": ("FitzHugh-Nagumo", "poly3", _fitzhugh_nagumo),
    "hindmarsh_rose": ("Hindmarsh-Rose", "poly3", _hindmarsh_rose),
    "lotka_volterra": ("Lotka-Volterra", "poly2", _lotka_volterra),
    "stuart_landau": ("Stuart-Landau", "poly3", _stuart_landau),
    "sir": ("SIR", "poly2", _sir),
    "schnakenberg": ("Schnakenberg", "poly3", _schnakenberg),
    "multiplicative": ("multiplicative noise", "poly2", _multiplicative),
    "lorenz": ("Lorenz", "poly2", _lorenz),
}
SETTLING, FAST_SETTLING = 20.0, 4.0


def drawn_process(family: str, rng: np.random.Generator) -> Process:
    """A process of a family."""
    title, library, draw = FAMILIES[family]
    drift, diffusion, start = draw(rng)
    settling = FAST_SETTLING if family == "lorenz" else SETTLING
    return Process(family, title, drift, diffusion, library, start, settling)
