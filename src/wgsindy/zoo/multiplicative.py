"""State-dependent diffusion."""

from __future__ import annotations

from dataclasses import replace

import sympy

from wgsindy.diagnostics import Limitation
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
        limitation=Limitation.NEAR_SINGULAR,
    )
