"""Recordings as users bring them: whether terms are right, and the truth inside the intervals.

A noisy Lorenz system, a bead in an optical trap, a relaxation written with few digits, and a double
well seen at a coarse step.
"""

from __future__ import annotations

import time
import warnings
import zlib
from typing import Any, NamedTuple

import numpy as np

from wgsindy.data import FloatArray, Trajectories
from wgsindy.errors import WgsindyWarning
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator
from wgsindy.zoo import central_grid
from wgsindy_evidence import recipes
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.ours.measured import errors_of, found_terms
from wgsindy_evidence.experiments.ours.unseen import (
    FEWEST_SUBSTEPS,
    SYSTEMS,
    Process,
    X,
    Y,
    Z,
    fine_path,
    substeps_of,
)
from wgsindy_evidence.experiments.tensors import diagonal
from wgsindy_evidence.scope import Scope

EXPERIMENT, RECIPE = "recordings", "sharp"
SEEDS = range(2000, 2010)  # for reporting
LORENZ = Process(
    "lorenz",
    "Lorenz system",
    (10 * (Y - X), X * (28 - Z) - Y, X * Y - 8 * Z / 3),
    diagonal(9, 9, 9),
    "poly2",
    (1.0, 1.0, 25.0),
)
# Stiffness 50 a second, 80 nm of thermal motion: a = 2 * 50 * 80**2 nm^2 a second.
TRAP = Process(
    "trap",
    "optical trap",
    (-50 * X, -50 * Y),
    diagonal(640_000, 640_000),
    "poly2",
    (0.0, 0.0),
    settling=0.2,
)
RELAXATION = Process("relaxation", "relaxation", (-X,), ((2,),), "poly3", (0.0,))


class Recording(NamedTuple):
    """A process and how it was recorded; noise and grid in the units of the states."""

    process: Process
    dt: float
    steps: int
    trajectories: int
    substeps: int
    noise: float = 0.0
    grid: float = 0.0


RECORDINGS: dict[str, Recording] = {
    "lorenz": Recording(LORENZ, 0.005, 4000, 4, FEWEST_SUBSTEPS),
    "lorenz_noisy": Recording(LORENZ, 0.005, 4000, 4, FEWEST_SUBSTEPS, noise=0.2),
    # Substeps of 0.0025 relaxation times: five would be a process whose tensor is 1 % larger.
    "trap": Recording(TRAP, 0.001, 2000, 10, 20, noise=20.0),
    # The spread of the relaxation is one.
    **{
        f"relaxation_{grid:g}": Recording(RELAXATION, 0.01, 1600, 16, FEWEST_SUBSTEPS, grid=grid)
        for grid in (0.02, 0.05, 0.1)
    },
    "double_well": Recording(SYSTEMS["double_well"], 0.2, 1600, 16, substeps_of(0.2)),
}


def recording_cases(scope: Scope) -> list[Case]:
    """Every recording."""
    return [
        Case(EXPERIMENT, name, RECIPE, seed, RECORDINGS[name].trajectories, RECORDINGS[name].steps)
        for name in scope.of_systems(tuple(RECORDINGS))[: 1 if scope.quick else None]
        for seed in scope.of_seeds(SEEDS)
    ]


def recorded(name: str, seed: int) -> tuple[Trajectories, FloatArray]:
    """What was written down, and the clean states ``(n, d)`` behind it."""
    made = RECORDINGS[name]
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    path = fine_path(
        made.process,
        dt=made.dt,
        steps=made.steps,
        substeps=made.substeps,
        trajectories=made.trajectories,
        rng=rng,
    )
    clean = path[:, :: made.substeps]
    seen = clean + made.noise * rng.standard_normal(clean.shape)
    if made.grid:
        seen = np.rint(seen / made.grid) * made.grid
    data = Trajectories(list(seen), made.dt, names=made.process.names)
    return data, clean.reshape(-1, clean.shape[2])


def run_case(case: Case) -> dict[str, Any]:
    """Record, fit, compare terms, intervals and fields."""
    process = RECORDINGS[case.system].process
    data, clean = recorded(case.system, case.seed)
    estimator = WGSINDy(process.library, recipes.get(case.recipe))
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)  # rounded samples repeat, on purpose
        estimator.fit(data)
        seconds = time.perf_counter() - started
        diagnostics = estimator.diagnostics_
    estimate = estimator.generator_
    return {
        **errors_of(estimate, process.truth, central_grid(clean)),
        **found_terms(estimate, process.truth),
        "deviations": deviations(estimate, process.truth),
        "verdict": diagnostics.verdict,
        "noise": np.sqrt(diagnostics.observation_noise).tolist(),
        "seconds": seconds,
    }


def deviations(estimate: Generator, truth: Generator) -> list[float]:
    """Errors of the true terms that were found, in standard errors."""
    true = {(c.target, c.term): c.value for c in truth.coefficients}
    return [
        (c.value - true[c.target, c.term]) / c.std_error
        for c in estimate.coefficients
        if (c.target, c.term) in true
    ]
