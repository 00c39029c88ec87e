"""Bistable processes and flows in a potential."""

from __future__ import annotations

from dataclasses import replace

import sympy

from wgsindy.diagnostics.findings import Limitation
from wgsindy.model.simulate import EulerMaruyama
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
        context=(
            "A bistable coordinate tied to a damped one: a reaction coordinate with one more "
            "slow mode. They act on each other with opposite signs, so there are two wells and "
            "a barrier but, strictly, no potential. Barrier and noise are of similar size; "
            "nearly every path visits both wells and shows the cubic from either side. A good "
            "recovery has the cubic with its size and sign, couplings of -0.5 and 0.5, and "
            "wells near x = -0.87 and x = 0.87."
        ),
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
        context=(
            "An overdamped particle on a quartic surface with two minima, the setting of the "
            "escape rates of Kramers (1940). The barrier is about as high as the thermal "
            "energy, so most paths cross it within their 16 time units. The product x^2 y^2 in "
            "the potential stiffens the second coordinate inside the wells; there x^2 stays "
            "near one, and y looks like x^2 y. A good recovery has both terms, and its drift "
            "has no curl."
        ),
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
        context=(
            "Maier and Stein (1993) studied escape over a barrier with this drift, which has "
            "no potential: that would need 1 in place of 0.35. All paths start in the left "
            "well and hardly any leave it; in a typical data set one of sixteen crosses, or "
            "none. Seen from a single well, x and x^3 are nearly the same function, and so are "
            "y and x^2 y. A good recovery holds the cubic and the transverse decay apart; the "
            "term x y^2 is the last to show."
        ),
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
        context=(
            "A lightly damped mass on a spring with two rest positions, after Duffing (1918). "
            "Noise acts on position and velocity alike, which keeps the tensor regular. A path "
            "of 12 time units holds two or three swings in a well, and in that time the "
            "damping 0.35 must be told from the noise beside a much larger cubic force. A good "
            "recovery has b1 = y, the double-well force, and a damping that is not zero."
        ),
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
        context=(
            "Müller and Brown (1979) built this surface from four exponentials of quadratic "
            "forms to test searches for reaction paths, and chemists have used it since. No "
            "polynomial spans its slopes. The paths start in the deepest well and stay there, "
            "since the barrier is about seven times the thermal energy: the data show one "
            "steep trough, not the landscape. A good recovery has the tensor right and says "
            "that the library cannot carry the drift."
        ),
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
        context=(
            "The data of mueller_brown, bit for bit, with another library: the four "
            "exponentials of the surface, each alone and times x and y, and a constant. The "
            "drift now lies in the span of the terms, and what remains is statistics. Inside "
            "the one well that the paths visit, several of the thirteen terms can stand in for "
            "each other. A good recovery brings the drift error towards the information floor, "
            "and so shows how much of the failure was the polynomials'."
        ),
        limitation=Limitation.NONE,
    )
