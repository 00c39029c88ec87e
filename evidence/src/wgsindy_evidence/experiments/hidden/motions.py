"""Motions whose positions are measured and whose velocities are not: second-order processes."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import sympy

from wgsindy.data import FloatArray
from wgsindy_evidence.experiments.ours.unseen import Process, fine_path, substeps_of

X, Y, U, V = sympy.symbols("x y v_x v_y", real=True)
TRAJECTORIES, TOTAL = 16, 80.0  # units of time of each


@dataclass(frozen=True)
class Motion(Process):
    """A process of positions and velocities, in that order; ``friction`` is a field and its term.

    The drift of a position is its velocity, and only velocities have noise.
    """

    friction: tuple[str, str] = ("b2", "v_x")

    @property
    def positions(self) -> int:
        """Number of positions."""
        return len(self.drift) // 2

    @property
    def names(self) -> tuple[str, ...]:
        """Names of positions and velocities."""
        return ("x", "v_x") if self.positions == 1 else ("x", "y", "v_x", "v_y")


def _line(key: str, title: str, force: sympy.Expr, noise: float) -> Motion:
    """Motion along a line."""
    return Motion(key, title, (U, force), ((0, 0), (0, noise)), "poly3", (0.5, 0.0), 20.0)


MOTIONS: dict[str, Motion] = {
    motion.key: motion
    for motion in (
        _line("linear", "linear oscillator", -2 * X - 0.5 * U, 0.5),
        _line("bistable", "Duffing, bistable", X - X**3 - 0.5 * U, 0.36),
        _line("van_der_pol", "Van der Pol", -X + U - X**2 * U, 0.25),
        _line("kramers", "friction by place", X - X**3 - 0.5 * U - 0.5 * X**2 * U, 0.5),
        Motion(
            "magnetic",
            "plane, magnetic force",
            (U, V, -X - 0.4 * U + 1.2 * V, -2.25 * Y - 1.2 * U - 0.4 * V),
            ((0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0.4, 0), (0, 0, 0, 0.3)),
            "poly2",
            (0.5, 0.5, 0.0, 0.0),
            20.0,
            friction=("b3", "v_x"),
        ),
    )
}


@lru_cache(maxsize=2)
def states(key: str, dt: float, seed: int) -> FloatArray:
    """Positions and velocities at steps of ``dt``, clean, ``(R, n + 1, d)``."""
    rng = np.random.default_rng([seed, zlib.crc32(key.encode())])
    substeps = substeps_of(dt)
    path = fine_path(
        MOTIONS[key],
        dt=dt,
        steps=round(TOTAL / dt),
        substeps=substeps,
        trajectories=TRAJECTORIES,
        rng=rng,
    )
    return np.ascontiguousarray(path[:, ::substeps])


def noisy(clean: FloatArray, noise: float, seed: int) -> FloatArray:
    """Add noise of a share of the spread of each coordinate of ``clean (R, n, d)``."""
    shocks = np.random.default_rng([seed, 1]).standard_normal(clean.shape)
    return clean + noise * clean.std(axis=(0, 1)) * shocks
