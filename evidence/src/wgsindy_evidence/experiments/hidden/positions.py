"""Equations from positions alone, beside the same fit with velocities measured at the same steps.

Both see the same path at the same times, with noise of the same share of the spread of what they
see. The force is what is compared: error, terms, and whether intervals hold friction and tensor.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from wgsindy.data import Trajectories
from wgsindy.errors import WgsindyWarning
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator
from wgsindy.zoo import central_grid, relative_error
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.hidden.motions import MOTIONS, TRAJECTORIES, Motion, noisy, states
from wgsindy_evidence.scope import REPORTING_SEEDS, Scope

EXPERIMENT, RECIPE = "positions", "sharp"
STEPS, NOISES = (0.05, 0.2), (0.0, 0.01, 0.05)
POSITIONS, VELOCITIES = "positions", "velocities too"


def position_cases(scope: Scope) -> list[Case]:
    """Every motion at every step and noise, seen both ways."""
    return [
        position_case(key, seed, dt, noise, seen)
        for key in scope.of_systems(tuple(MOTIONS))
        for seed in scope.of_seeds(REPORTING_SEEDS)
        for dt in STEPS
        for noise in NOISES
        for seen in (POSITIONS, VELOCITIES)
    ]


def position_case(key: str, seed: int, dt: float, noise: float, seen: str) -> Case:
    """One fit."""
    options = (("dt", dt), ("noise", noise), ("seen", seen))
    return Case(EXPERIMENT, key, RECIPE, seed, TRAJECTORIES, options=options)


def run_case(case: Case) -> dict[str, Any]:
    """Simulate, hide, fit, compare."""
    motion, options = MOTIONS[case.system], case.settings
    clean = states(case.system, options["dt"], case.seed)
    hidden = options["seen"] == POSITIONS
    shown = motion.positions if hidden else len(motion.names)
    samples = noisy(clean, options["noise"], case.seed)[:, :, :shown]
    data = Trajectories(list(samples), options["dt"], names=motion.names[:shown])
    estimator = WGSINDy(motion.library, case.recipe, order=2 if hidden else 1)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)
        estimator.fit(data)
        seconds = time.process_time() - started
        verdict = estimator.diagnostics_.verdict if hidden else ""
    scores = compare(estimator.generator_, motion, central_grid(clean.reshape(-1, clean.shape[2])))
    return {**scores, "verdict": verdict, "seconds": seconds}


def compare(estimate: Generator, motion: Motion, grid: Any) -> dict[str, Any]:
    """Errors of force and tensor of the velocities on ``grid (n, d)``, terms, and intervals."""
    d, truth = motion.positions, motion.truth
    force = [gen.drift(grid)[:, d:] for gen in (estimate, truth)]
    field = [gen.diffusion(grid)[:, d:, d:] for gen in (estimate, truth)]
    fields = [f"b{p + 1}" for p in range(d, 2 * d)]
    found, true = (
        {(c.target, c.term) for c in gen.coefficients if c.target in fields}
        for gen in (estimate, truth)
    )
    known = {(c.target, c.term): c.value for c in truth.coefficients}
    noise = (f"a{d + 1}{d + 1}", "1")
    return {
        "force": relative_error(*force),
        "tensor": relative_error(*field),
        "false": len(found - true),
        "missed": len(true - found),
        "friction": _holds(estimate, motion.friction, known[motion.friction]),
        "noise": _holds(estimate, noise, known[noise]),
    }


def _holds(estimate: Generator, which: tuple[str, str], true: float) -> bool | None:
    """Whether the interval of a coefficient holds the true one; None if the term was not chosen."""
    for one in estimate.coefficients:
        if (one.target, one.term) == which:
            return bool(one.low <= true <= one.high and np.isfinite(one.std_error))
    return None
