"""Rotating, non-reversible processes."""

from __future__ import annotations

from dataclasses import replace

import sympy

from wgsindy.zoo.bistable import gradient_potential
from wgsindy.zoo.linear import ornstein_uhlenbeck
from wgsindy.zoo.system import System, X, Y, correlated, diagonal


def rotational_ou(omega: float = 2.0) -> System:
    """A damped rotation with isotropic noise."""
    drift = (-X - omega * Y, omega * X - Y)
    return ornstein_uhlenbeck("rotational_ou", "Rotational OU", drift, diagonal(1, 1))


def spiral_sink_corr() -> System:
    """Rotation and correlated noise at once."""
    return ornstein_uhlenbeck(
        "spiral_sink_corr",
        "Spiral sink + correlated noise",
        (-X - 1.5 * Y, 1.5 * X - Y),
        correlated(1, 0.64, -0.40),
    )


def nongradient_circulation(omega: float = 1.0) -> System:
    """The gradient potential with an added rotation along its level lines."""
    conservative = gradient_potential()
    slope = [-sympy.sympify(component) for component in conservative.drift]
    return replace(
        conservative,
        key="nongradient_circulation",
        title="Non-gradient circulation",
        drift=(-slope[0] - omega * slope[1], -slope[1] + omega * slope[0]),
    )
