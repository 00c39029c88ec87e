"""Rotating, non-reversible processes."""

from __future__ import annotations

from dataclasses import replace

import sympy

from wgsindy.simulate import ExactLinear
from wgsindy.zoo.bistable import gradient_potential
from wgsindy.zoo.system import System, X, Y, correlated, diagonal


def rotational_ou(omega: float = 2.0) -> System:
    """A damped rotation with isotropic noise."""
    return System(
        key="rotational_ou",
        title="Rotational OU",
        drift=(-X - omega * Y, omega * X - Y),
        diffusion=diagonal(1, 1),
        start=(0, 0),
        scheme=ExactLinear(),
        dt=0.01,
        steps=1600,
        library="poly2",
        verdict="pass",
    )


def spiral_sink_corr() -> System:
    """Rotation and correlated noise at once."""
    return System(
        key="spiral_sink_corr",
        title="Spiral sink + correlated noise",
        drift=(-X - 1.5 * Y, 1.5 * X - Y),
        diffusion=correlated(1, 0.64, -0.40),
        start=(0, 0),
        scheme=ExactLinear(),
        dt=0.01,
        steps=1600,
        library="poly2",
        verdict="pass",
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
