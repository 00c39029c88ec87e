"""State-dependent diffusion."""

from __future__ import annotations

from dataclasses import replace

import sympy

from wgsindy.diagnostics.findings import Limitation
from wgsindy.zoo.system import System, X, Y, box, correlated, diagonal


def diag_multiplicative() -> System:
    """Noise that grows with the distance from the origin."""
    growth = 0.1 * (X**2 + Y**2)
    return System(
        key="diag_multiplicative",
        title="Diagonal multiplicative",
        drift=(-X, -Y),
        diffusion=diagonal(0.5 + growth, 0.4 + growth),
        start=(0, 0),
        scheme=box(6),
        dt=0.01,
        steps=1600,
        library="poly2",
        verdict="pass",
        context=(
            "Relaxation to a point under noise that grows away from it, as in a population "
            "whose environment fluctuates. Near the origin, where the samples are, the growing "
            "part is small: 0.1 r^2 has mean 0.05 beside constants of 0.5 and 0.4. It must be "
            "read from squared increments, each of which scatters by more than its mean. A "
            "good recovery finds x^2 and y^2 in both diagonal entries, with like coefficients, "
            "and no correlation."
        ),
    )


def nondiag_cholesky() -> System:
    """A correlation that varies in space and changes sign, declared through its factor."""
    factor = sympy.Matrix([[0.5 + 0.1 * X**2, 0], [0.2 * X * Y, 0.4 + 0.1 * Y**2]])
    field = factor * factor.T
    return System(
        key="nondiag_cholesky",
        title="Non-diagonal Cholesky",
        drift=(-X, -Y),
        diffusion=correlated(field[0, 0], field[1, 1], field[0, 1]),
        start=(0, 0),
        scheme=box(6),
        dt=0.01,
        steps=1600,
        library="poly4",
        verdict="pass",
        context=(
            "A process made for one purpose: its noise correlation is positive where x and y "
            "agree in sign, negative where they differ, zero on the axes. Averaged over the "
            "samples it vanishes, so a constant tensor would miss it altogether. The entries "
            "are polynomials of degree four that follow from a triangular factor; fitted one "
            "by one, they need not form a covariance. A good recovery has a12 close to 0.1 x "
            "y, stays positive semidefinite, and leaves the drift at plain decay."
        ),
    )


def near_singular() -> System:
    """Two noise directions that are nearly one."""
    base = diag_multiplicative()
    first, second = base.diffusion[0][0], base.diffusion[1][1]
    return replace(
        base,
        key="near_singular",
        title="Near-singular tensor",
        diffusion=correlated(first, second, 0.95 * sympy.sqrt(first * second)),
        steps=1200,
        verdict="limit",
        context=(
            "The decay and the variances of diag_multiplicative, with the two noises "
            "correlated at 0.95 everywhere. Noise along one direction is then about forty "
            "times stronger than across it. The cross entry is the root of a product of "
            "quadratics, which the library can only approximate, and a small error in any "
            "entry makes the tensor indefinite. A good recovery stays positive semidefinite "
            "and has the correlation right, although no coefficient of a12 can be held against "
            "a true one."
        ),
        limitation=Limitation.NEAR_SINGULAR,
    )
