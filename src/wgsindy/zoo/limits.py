"""Systems at the limits of what data can tell, and variants beside the paper's table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import sympy

from wgsindy.data.trajectories import Trajectories
from wgsindy.diagnostics.findings import Limitation
from wgsindy.model.generator import Generator
from wgsindy.model.simulate import KineticSplitting
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
        context=(
            "A particle with inertia in a double well, under friction and thermal kicks: the "
            "equation of Langevin (1908), a mainstay of molecular simulation at constant "
            "temperature. The kicks reach the momentum alone, so the position is smooth and "
            "the tensor has rank one. Whoever weights by the noise of the position divides by "
            "zero; whoever ignores it treats an exact equation as a noisy one. A good recovery "
            "has b1 = p almost without error, a22 = 1, and zeros where there is no noise."
        ),
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
        context=(
            "The Heston model where the condition of Feller (1951) fails: the noise of the "
            "variance outweighs its reversion, and the variance keeps returning to zero. In a "
            "typical data set a quarter of the samples lie below a twentieth of its mean, and "
            "some sit on the floor that keeps it positive. There the inverse variance, the "
            "natural weight of a sample, runs away, and the floor itself pushes like a drift. "
            "A good recovery has three entries proportional to v and the leverage; of the "
            "drift it claims little."
        ),
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
        context=(
            "Linear decay with a sine and a cosine as couplings. The samples lie within about "
            "one unit of (0.7, 0.7), where low polynomials imitate both functions. A "
            "polynomial library can match the field and never name it; the trigonometric "
            "library declared here contains the truth, but among terms that nearly repeat each "
            "other. A good recovery matches the field, and is read as a law only as far as its "
            "inclusion probabilities allow."
        ),
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
        context=(
            "The rotation of rotational_ou, released near (2, 2) and watched for two time "
            "units. All sixteen paths run down one spiral, so most of the plane is never "
            "visited, and the quadratic terms of the library are free to bend the field there. "
            "The data are far from stationary. A good recovery agrees with the truth along the "
            "spiral, stays linear, and is not trusted beyond."
        ),
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
        context=(
            "The process of diag_multiplicative at a step five times as long. The data are an "
            "Euler chain of that very step, so the mean of an increment is still exact. Its "
            "square is not: the squared drift adds 0.05 x^2 to a11, half as much as the true "
            "0.1 x^2. A good recovery takes that part away and finds the tensor that it finds "
            "at the short step."
        ),
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
        context=(
            "The oscillator of duffing with noise on the velocity only, as where forces "
            "fluctuate and positions do not. The increment of the position is then exactly y "
            "dt, and its noise is exactly zero. With so little noise most paths stay in the "
            "well where they start, so the cubic is seen from one side. A good recovery names "
            "the position as free of noise, has b1 = y without error, and keeps the damping."
        ),
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
        context=(
            "The circuit of van_der_pol with noise on the second coordinate only, as a "
            "fluctuating current would give. The first increment equals y dt up to rounding, "
            "so any positive a11 is made by the method. The inverse of the tensor, with which "
            "increments are weighted, does not exist. A good recovery has a tensor with one "
            "entry, a22 = 0.1225, and the drift that it finds under full noise."
        ),
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
        context=(
            "A rotating process of which one coordinate is recorded; in experiments this is "
            "the rule. The hidden coordinate acts as a memory: what is seen is not Markov, and "
            "no drift b(x) reproduces it. At equal times the two are uncorrelated, so the best "
            "description without memory is -x for the drift and 1 for the noise. It has the "
            "right density and the wrong autocorrelation, which in truth swings as exp(-t) "
            "cos(2t). A good recovery finds this projection, and its residuals betray the "
            "memory."
        ),
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
        context=(
            "The rotation of rotational_ou with a recorder that freezes at the end of each "
            f"path and repeats its last value {stall} times. Those increments are exactly zero, "
            "although nothing in the process stands still. Taken at face value they lower the "
            "tensor in proportion to their share, and pull the drift to zero wherever a path "
            "happened to stop. A good recovery notices exact repeats, leaves them out, counts "
            "them, and returns the equations of the clean process."
        ),
        limitation=Limitation.STALLED,
    )
