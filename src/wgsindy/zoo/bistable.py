"""Bistable processes and flows in a potential."""

from __future__ import annotations

from dataclasses import replace

import sympy

from wgsindy.diagnostics import Limitation
from wgsindy.model import EulerMaruyama
from wgsindy.zoo.system import System, X, Y, box, diagonal


def double_well_transverse() -> System:
    """A double well coupled to a stable transverse mode."""
    return System(
        key="double_well_transverse",
        title="Double well + transverse",
        drift=(X - X**3 - 0.5 * Y, -Y + 0.5 * X),
        diffusion=diagonal(0.49, 0.49),
        start=(-1, 0),
        scheme=box(5),
        dt=0.01,
        steps=1600,
        library="poly3",
        verdict="pass",
    )


def gradient_potential() -> System:
    """Reversible flow down a quartic potential that couples both coordinates."""
    potential = (X**2 - 1) ** 2 / 4 + Y**2 / 2 + X**2 * Y**2 / 4
    return System(
        key="gradient_potential",
        title="Gradient potential",
        drift=(-sympy.diff(potential, X), -sympy.diff(potential, Y)),
        diffusion=diagonal(0.49, 0.49),
        start=(-1, 0),
        scheme=box(5),
        dt=0.01,
        steps=1600,
        library="poly3",
        verdict="pass",
    )


def maier_stein() -> System:
    """Escape over a barrier without a potential."""
    return System(
        key="maier_stein",
        title="Maier-Stein",
        drift=(X - X**3 - 0.35 * X * Y**2, -(1 + X**2) * Y),
        diffusion=diagonal(0.1225, 0.1225),
        start=(-1, 0),
        scheme=box(4),
        dt=0.01,
        steps=1200,
        library="poly3",
        verdict="pass",
    )


def duffing() -> System:
    """A noisy oscillator in a double well, noise on both coordinates."""
    return System(
        key="duffing",
        title="Duffing oscillator",
        drift=(Y, -0.35 * Y + X - X**3),
        diffusion=diagonal(0.09, 0.09),
        start=(-1, 0),
        scheme=box(4),
        dt=0.01,
        steps=1200,
        library="poly3",
        verdict="pass",
    )


# Mueller and Brown (1979): amplitude, exponents of dx^2, dx dy and dy^2, centre.
MUELLER_BROWN = (
    (-200, -1, 0, -10, 1, 0),
    (-100, -1, 0, -10, 0, 0.5),
    (-170, -6.5, 11, -6.5, -0.5, 1.5),
    (15, 0.7, 0.6, 0.7, -1, 1),
)


def _hills() -> list[sympy.Expr]:
    return [
        sympy.exp(a * (X - u) ** 2 + b * (X - u) * (Y - v) + c * (Y - v) ** 2)
        for _, a, b, c, u, v in MUELLER_BROWN
    ]


def mueller_brown() -> System:
    """Flow on the Mueller-Brown surface, which no polynomial spans."""
    potential = sum(row[0] * hill for row, hill in zip(MUELLER_BROWN, _hills(), strict=True))
    mobility, limit = 0.004, 25
    drift = [
        sympy.Min(limit, sympy.Max(-limit, -mobility * sympy.diff(potential, s))) for s in (X, Y)
    ]
    return System(
        key="mueller_brown",
        title="Müller-Brown",
        drift=tuple(drift),
        diffusion=diagonal(0.1225, 0.1225),
        start=(-0.55, 1.45),
        scheme=EulerMaruyama((-1.7, -0.4), (1.3, 2.1)),
        dt=0.004,
        steps=1000,
        library="poly4",
        verdict="limit",
        limitation=Limitation.MISSING_TERMS,
    )


def mueller_brown_spanned() -> System:
    """The same data with the surface's own exponentials in the library, slopes left open."""
    radial = [str(factor * hill) for hill in _hills() for factor in (1, X, Y)]
    return replace(
        mueller_brown(),
        key="mueller_brown_spanned",
        title="Müller-Brown, radial library",
        library=("1", *radial),
        verdict="variant",
        stream="mueller_brown",
        limitation=Limitation.NONE,
    )
