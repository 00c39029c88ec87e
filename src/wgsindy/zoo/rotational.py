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
    return ornstein_uhlenbeck(
        "rotational_ou",
        "Rotational OU",
        drift,
        diagonal(1, 1),
        context=(
            "A damped rotation stirred by isotropic noise: the linear picture of a steady "
            "state that is kept out of equilibrium, as in a driven circuit or a feedback loop. "
            "The stationary density is the same round Gaussian whatever the rotation, so a "
            "histogram is silent about it and only the order of the samples tells. A good "
            "recovery reads the decay rate 1 from the symmetric part of the drift and the "
            f"angular speed {omega:g} from the antisymmetric part."
        ),
    )


def spiral_sink_corr() -> System:
    """Rotation and correlated noise at once."""
    return ornstein_uhlenbeck(
        "spiral_sink_corr",
        "Spiral sink + correlated noise",
        (-X - 1.5 * Y, 1.5 * X - Y),
        correlated(1, 0.64, -0.40),
        context=(
            "A rotating relaxation whose noise is correlated too, as when one gust moves both "
            "coordinates of a spinning body. Rotation and correlation each deform the cloud of "
            "samples, so an error in one is easily paid for in the other. The stationary "
            "current no longer follows the antisymmetric part of the drift, because the noise "
            "prefers a direction. A good recovery keeps the two apart: angular speed 1.5 in "
            "the drift, a12 = -0.40 in the tensor."
        ),
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
        context=(
            f"The double well of gradient_potential with a swirl of strength {omega:g} along "
            "its level lines, a minimal model of driven or living matter. The swirl leaves the "
            "stationary density as it was: both systems have one histogram and differ only in "
            "their currents. The drift now has ten terms, and over the wells those of third "
            "order are close to collinear with those of first. A good recovery keeps the small "
            "ones and shows a curl that the reversible twin does not have."
        ),
    )
