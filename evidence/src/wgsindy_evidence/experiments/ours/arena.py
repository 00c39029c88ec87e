"""The suite of FIM-SDE, made anew: eight systems, one trajectory of 5,000 observations each.

Equations, starts, grids and noise are those of Seifner et al., "In-Context Learning of Stochastic
Differential Equations with Foundation Inference Models" (NeurIPS 2025, arXiv:2502.19049), as their
public repository FIM4Science/OpenFIM states them (``dynamical_systems.py`` and the scripts in
``scripts/sde/data_generation/test``); their trajectories are not public, so ours are others with
the same law. A path is a chain of Euler steps of 0.002, of which every first, fifth, tenth or
hundredth state is observed, with noise of a share of half of each coordinate's range. Errors are
mean squares over a fixed grid of 1,024 points and all components, of the drift and of the square
root of the diagonal of the tensor; the grid reaches far beyond where many of the paths go.
"""

from __future__ import annotations

import time
import warnings
import zlib
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from wgsindy.data import FloatArray, Trajectories
from wgsindy.errors import WgsindyWarning
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator
from wgsindy_evidence import recipes
from wgsindy_evidence.baselines.oracle import fit_oracle
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.ours.unseen import Process, X, Y, fine_path
from wgsindy_evidence.experiments.tensors import diagonal
from wgsindy_evidence.scope import Scope

EXPERIMENT, RECIPE = "arena", "sharp"
SEEDS = range(2000, 2005)  # five realisations
OBSERVATIONS, STEP, GRID_POINTS = 5000, 0.002, 1024
STRIDES, NOISES = (1, 5, 10, 100), (0.0, 0.05, 0.1)


class Entry(NamedTuple):
    """A system of the suite, and the range of the grid in each coordinate."""

    process: Process
    low: float
    high: float


def _entry(
    key: str, title: str, drift: Any, tensor: Any, start: Any, ends: tuple[float, float]
) -> Entry:
    # Drifts are cubic, tensors quadratic, which is also what FIM-SDE was trained on.
    return Entry(Process(key, title, drift, tensor, "poly3", start, settling=0.0), *ends)


UNIT = diagonal(1, 1)
CIRCLE = (X * (1 - X**2 - Y**2) - Y, Y * (1 - X**2 - Y**2) + X)
SUITE: dict[str, Entry] = {
    entry.process.key: entry
    for entry in (
        _entry(
            "damped_linear",
            "damped linear",
            (-0.1 * X + 2 * Y, -2 * X - 0.1 * Y),
            UNIT,
            (2.5, -5.0),
            (-2, 2),
        ),
        _entry(
            "damped_cubic",
            "damped cubic",
            (-0.1 * X**3 + 2 * Y**3, -2 * X**3 - 0.1 * Y**3),
            UNIT,
            (0.0, -1.0),
            (-2, 2),
        ),
        _entry("duffing", "Duffing", (Y, X - X**3 - 0.35 * Y), UNIT, (3.0, 2.0), (-4, 4)),
        _entry(
            "glycolysis",
            "glycolysis",
            (-X + 0.08 * Y + X**2 * Y, 0.6 - 0.08 * Y - X**2 * Y),
            UNIT,
            (0.7, 1.25),
            (-2, 4),
        ),
        _entry(
            "hopf",
            "Hopf",
            (0.5 * X + Y - X * (X**2 + Y**2), -X + 0.5 * Y - Y * (X**2 + Y**2)),
            UNIT,
            (2.0, 2.0),
            (-2, 2),
        ),
        _entry(
            "double_well",
            "double well",
            (4 * X - 4 * X**3,),
            ((4 - 1.25 * X**2,),),
            (0.0,),
            (-2, 2),
        ),
        _entry("wang", "Wang", CIRCLE, diagonal(1 + Y**2, 1 + X**2), (1.5, 1.5), (-4, 4)),
        _entry("synthetic_drift", "synthetic drift", CIRCLE, UNIT, (1.5, 1.5), (-2, 2)),
    )
}


def arena_cases(scope: Scope) -> list[Case]:
    """Every system, stride and noise; those of one path come one after the other."""
    return [
        Case(
            EXPERIMENT, name, RECIPE, seed, 1, OBSERVATIONS, (("stride", stride), ("noise", noise))
        )
        for name in scope.of_systems(tuple(SUITE))
        for seed in scope.of_seeds(SEEDS)
        for stride in (STRIDES[:1] if scope.quick else STRIDES)
        for noise in NOISES
    ]


@lru_cache(maxsize=2)
def chain(name: str, seed: int, steps: int) -> FloatArray:
    """A path of ``steps`` Euler steps and its start, ``(steps + 1, d)``."""
    rng = np.random.default_rng([seed, zlib.crc32(f"arena {name}".encode())])
    return fine_path(
        SUITE[name].process, dt=STEP, steps=steps, substeps=1, trajectories=1, rng=rng
    )[0]


def observed(path: FloatArray, stride: int, noise: float, seed: int) -> FloatArray:
    """Every ``stride``-th state, with noise of a share of half of each coordinate's range."""
    seen = path[::stride][:OBSERVATIONS]
    size = noise * (seen.max(axis=0) - seen.min(axis=0)) / 2
    return seen + size * np.random.default_rng([seed, 1]).standard_normal(seen.shape)


def grid_of(entry: Entry) -> FloatArray:
    """A regular grid of 1,024 points, ``(1024, d)``."""
    d = entry.process.truth.dimension
    axis = np.linspace(entry.low, entry.high, round(GRID_POINTS ** (1 / d)))
    return np.array(list(product(axis, repeat=d)))


def squared_errors(estimate: Generator, truth: Generator, grid: FloatArray) -> dict[str, float]:
    """Mean squared errors of the drift and of the square roots of the tensor's diagonal."""
    roots = [np.sqrt(np.maximum(gen.fluctuation(grid), 0.0)) for gen in (estimate, truth)]
    return {
        "drift": float(np.mean((estimate.drift(grid) - truth.drift(grid)) ** 2)),
        "diffusion": float(np.mean((roots[0] - roots[1]) ** 2)),
    }


def run_case(case: Case) -> dict[str, Any]:
    """Simulate, observe, fit, compare; the floor knows the true terms and the clean chain."""
    entry, stride = SUITE[case.system], int(case.settings["stride"])
    process, grid = entry.process, grid_of(entry)
    path = chain(case.system, case.seed, OBSERVATIONS * max(STRIDES))
    seen = observed(path, stride, float(case.settings["noise"]), case.seed)
    data = Trajectories([seen], stride * STEP, names=process.names)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)
        estimate = WGSINDy(process.library, recipes.get(case.recipe)).fit(data).generator_
    seconds = time.perf_counter() - started
    fine = Trajectories([path[: OBSERVATIONS * stride]], STEP, names=process.names)
    floor = squared_errors(fit_oracle(fine, process.truth), process.truth, grid)
    return {
        **squared_errors(estimate, process.truth, grid),
        "drift_floor": floor["drift"],
        "seconds": seconds,
    }
