"""Stochastic limit cycles."""

from __future__ import annotations

from wgsindy.model.simulate import EulerMaruyama
from wgsindy.zoo.system import System, X, Y, box, diagonal


def van_der_pol() -> System:
    """Relaxation oscillations, noise on both coordinates."""
    mu = 1.2
    return System(
        key="van_der_pol",
        title="Van der Pol",
        drift=(Y, mu * (1 - X**2) * Y - X),
        diffusion=diagonal(0.1225, 0.1225),
        start=(1, 0),
        scheme=box(4),
        dt=0.01,
        steps=1200,
        library="poly3",
        verdict="pass",
        context=(
            "Van der Pol (1926) found relaxation oscillations in circuits with a vacuum tube, "
            "and later compared the heartbeat with them. The paths settle on one closed curve, "
            "so most of the plane is never seen, and terms that agree along the curve are hard "
            "to tell apart. Noise on both coordinates widens the curve to a band, which helps. "
            "A good recovery has b1 = y and the damping 1.2 (1 - x^2) y, and simulated again "
            "it runs on the same cycle."
        ),
    )


def fitzhugh_nagumo() -> System:
    """A fast voltage and a slow recovery variable."""
    return System(
        key="fitzhugh_nagumo",
        title="FitzHugh-Nagumo",
        drift=(X - X**3 / 3 - Y + 0.5, 0.08 * (X + 0.7 - 0.8 * Y)),
        diffusion=diagonal(0.0625, 0.0625),
        start=(-1, 1),
        scheme=box(4),
        dt=0.01,
        steps=1200,
        library="poly3",
        verdict="pass",
        context=(
            "A nerve impulse reduced to two variables by FitzHugh (1961) and by Nagumo and "
            "others (1962): a fast voltage with a cubic, and a slow recovery. The slow drift "
            "has coefficients below 0.1, yet both coordinates carry the same noise. A path of "
            "12 time units is shorter than one relaxation time of the recovery variable. A "
            "good recovery has the cubic in the first equation and 0.08 x in the second; the "
            "other slow terms, 0.056 and -0.064 y, are at the edge of what the data show."
        ),
    )


def stuart_landau() -> System:
    """The normal form of a Hopf bifurcation."""
    radial, omega = 1 - X**2 - Y**2, 1.5
    return System(
        key="stuart_landau",
        title="Stuart-Landau",
        drift=(radial * X - omega * Y, omega * X + radial * Y),
        diffusion=diagonal(0.0784, 0.0784),
        start=(1, 0),
        scheme=box(3.5),
        dt=0.01,
        steps=1200,
        library="poly3",
        verdict="pass",
        context=(
            "Where an oscillation sets in smoothly, the motion reduces to this normal form "
            "(Landau 1944, Stuart 1960): growth at the centre, saturation outside, rotation "
            "throughout. The samples form a ring, on which x^2 + y^2 is nearly constant; "
            "growth and saturation cancel there and are told apart only by the noise across "
            "the ring. A good recovery has both, with equal weights on all cubic terms, and "
            "the angular speed 1.5 with opposite signs in the two equations."
        ),
    )


def brusselator() -> System:
    """A chemical oscillator whose autocatalytic term enters both equations."""
    a, b = 1.0, 2.6
    return System(
        key="brusselator",
        title="Brusselator",
        drift=(a - (b + 1) * X + X**2 * Y, b * X - X**2 * Y),
        diffusion=diagonal(0.0144, 0.0144),
        start=(1, 2.6),
        scheme=EulerMaruyama((1e-8, 1e-8), (6, 6)),
        dt=0.01,
        steps=1200,
        library="poly3",
        verdict="pass",
        context=(
            "The reaction scheme of Prigogine and Lefever (1968), in which one autocatalytic "
            "step makes the concentrations oscillate. The product x^2 y enters both equations "
            "with opposite signs, because one species gains what the other loses. Noise is "
            "weak here: over a step the squared drift is on average about half of the squared "
            "noise, and passes for diffusion unless it is subtracted. A good recovery has "
            "x^2 y with weights 1 and -1, and a constant tensor of 0.0144."
        ),
    )
