"""Stochastic limit cycles."""

from __future__ import annotations

from wgsindy.model import EulerMaruyama
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
    )
