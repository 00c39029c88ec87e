"""Systems at the limits of what data can tell, and variants beside the paper's table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import sympy

from wgsindy.data import Trajectories
from wgsindy.diagnostics import Limitation
from wgsindy.model import Generator, KineticSplitting
from wgsindy.zoo.bistable import duffing
from wgsindy.zoo.financial import heston_logsv
from wgsindy.zoo.limit_cycles import van_der_pol
from wgsindy.zoo.multiplicative import diag_multiplicative
from wgsindy.zoo.rotational import rotational_ou
from wgsindy.zoo.system import System, X, Y, box, diagonal


def underdamped_langevin() -> System:
    """Position and momentum in a double well: no noise on the position."""
    q, p = sympy.symbols("q p", real=True)
    return System(
        key="underdamped_langevin",
        title="Underdamped Langevin",
        names=("q", "p"),
        drift=(p, -p - (q**3 - q)),
        diffusion=diagonal(0, 1),
        start=(-1, 0),
        scheme=KineticSplitting(limit=6),
        dt=0.01,
        steps=1200,
        library="poly3",
        verdict="limit",
        limitation=Limitation.DEGENERATE,
    )


def near_boundary_heston() -> System:
    """A Heston variance that often touches zero (Feller's condition fails)."""
    return replace(
        heston_logsv(kappa=1.0, theta=0.02, xi=0.4),
        key="near_boundary_heston",
        title="Near-boundary Heston",
        dt=0.01,
        steps=1200,
        verdict="limit",
        scored=None,
        limitation=Limitation.BOUNDARY,
    )


def nonpoly_drift() -> System:
    """A drift that no polynomial library spans."""
    return System(
        key="nonpoly_drift",
        title="Non-polynomial drift",
        drift=(-X + sympy.sin(Y), -Y + sympy.cos(X)),
        diffusion=diagonal(0.49, 0.49),
        start=(0, 0),
        scheme=box(6),
        dt=0.01,
        steps=1200,
        library="trig",
        verdict="limit",
        limitation=Limitation.MISSING_TERMS,
    )


def bad_coverage() -> System:
    """A rotation seen for a short time from one corner."""
    return replace(
        rotational_ou(),
        key="bad_coverage",
        title="Bad coverage",
        start=(2, 2),
        start_spread=0.03,
        steps=200,
        verdict="limit",
        limitation=Limitation.COVERAGE,
    )


def too_large_dt() -> System:
    """Multiplicative noise at a coarse step."""
    return replace(
        diag_multiplicative(),
        key="too_large_dt",
        title="Too-large time step",
        dt=0.05,
        steps=600,
        verdict="limit",
        limitation=Limitation.LARGE_STEP,
    )


def duffing_degenerate() -> System:
    """The Duffing oscillator with noise on the velocity only."""
    return replace(
        duffing(),
        key="duffing_degenerate",
        title="Duffing oscillator, velocity noise",
        diffusion=diagonal(0, 0.09),
        verdict="variant",
        limitation=Limitation.DEGENERATE,
    )


def van_der_pol_degenerate() -> System:
    """The Van der Pol oscillator with noise on the velocity only."""
    return replace(
        van_der_pol(),
        key="van_der_pol_degenerate",
        title="Van der Pol, velocity noise",
        diffusion=diagonal(0, 0.1225),
        verdict="variant",
        limitation=Limitation.DEGENERATE,
    )


def partial_observation() -> System:
    """A rotation of which only the first coordinate is seen: what remains is not Markov."""
    return replace(
        rotational_ou(),
        key="partial_observation",
        title="Partial observation",
        observe=lambda data: data.select(["x"]),
        # From the origin under isotropic noise x and y are uncorrelated Gaussians at all times:
        # E[b1 | x] = -x.
        projection=Generator.from_sympy(("x",), [-X], [[1]]),
        verdict="variant",
        limitation=Limitation.HIDDEN,
    )


def stalled_sensor(stall: int = 400) -> System:
    """A rotation whose sensor repeats its last value at the end of each trajectory."""

    def stalled(data: Trajectories) -> Trajectories:
        paths = [np.vstack([path, np.repeat(path[-1:], stall, axis=0)]) for path in data]
        return Trajectories(paths, data.mean_dt, names=data.names)

    return replace(
        rotational_ou(),
        key="stalled_sensor",
        title="Stalled sensor",
        observe=stalled,
        verdict="variant",
        limitation=Limitation.STALLED,
    )
