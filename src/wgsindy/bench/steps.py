"""What a coarse step costs: bias of the Euler working model and of its second-order correction.

Real data are continuous diffusions seen at spacing dt. Each system is sampled coarsely from a fine
path (exactly, or with 50 substeps), and once as an Euler chain at the same spacing, which the
Euler model describes without error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wgsindy import metrics, zoo
from wgsindy.arrays import FloatArray
from wgsindy.bench.campaign import Case, Line
from wgsindy.estimator import WGSINDy
from wgsindy.simulate import EulerMaruyama
from wgsindy.trajectories import Trajectories
from wgsindy.zoo import System

SYSTEMS = ("rotational_ou", "double_well_transverse", "diag_multiplicative")
RECIPES = ("sharp", "sharp-continuous")
SPACINGS = (0.01, 0.05, 0.1, 0.2)
SUBSTEPS = 50
STEPS = 1600
SEPARATOR = "@"


def step_cases(seeds: Sequence[int], systems: Sequence[str] | None = None) -> list[Case]:
    """Every system, spacing, sampling and recipe; the case's system reads name@kind@dt."""
    return [
        Case("steps", SEPARATOR.join((name, kind, str(dt))), recipe, seed)
        for name in (SYSTEMS if systems is None else systems)
        for kind in ("continuous", "chain")
        for dt in SPACINGS
        for recipe in RECIPES
        for seed in seeds
    ]


def sampled(name: str, kind: str, dt: float, seed: int) -> Trajectories:
    """Simulate a system at spacing ``dt``, from a fine path or as an Euler chain."""
    system = zoo.get(name)
    return replace(system, dt=dt, steps=STEPS, scheme=_scheme(system, kind)).simulate(seed)


def _scheme(system: System, kind: str) -> Any:
    if not isinstance(system.scheme, EulerMaruyama):
        return system.scheme if kind == "continuous" else EulerMaruyama()
    return replace(system.scheme, substeps=SUBSTEPS if kind == "continuous" else 1)


def run_case(case: Case) -> dict[str, Any]:
    """Fit, and keep the fields on a grid that is the same for all seeds."""
    name, kind, spacing = case.system.split(SEPARATOR)
    data = sampled(name, kind, float(spacing), case.seed)
    system = zoo.get(name)
    estimate = WGSINDy(system.library, case.recipe).fit(data).generator_
    grid = _grid(name)
    truth = system.generator
    return {
        "drift": np.round(estimate.drift(grid) - truth.drift(grid), 6).ravel().tolist(),
        "tensor": np.round(estimate.diffusion(grid) - truth.diffusion(grid), 6).ravel().tolist(),
    }


def _grid(name: str) -> FloatArray:
    return metrics.central_grid(zoo.get(name).simulate(0).states, points=5)


@dataclass(frozen=True)
class StepRow:
    """Bias (error of the mean field over seeds) and root mean square error, relative to truth."""

    system: str
    kind: str
    dt: float
    recipe: str
    seeds: int
    drift_bias: float
    drift_error: float
    tensor_bias: float
    tensor_error: float


def summarise(lines: Sequence[Line]) -> list[StepRow]:
    """One row for each system, sampling, spacing and recipe."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in lines:
        if line.result is not None:
            groups.setdefault((line.case.system, line.case.recipe), []).append(line.result)
    return [_row(system, recipe, results) for (system, recipe), results in groups.items()]


def _row(label: str, recipe: str, results: Sequence[dict[str, Any]]) -> StepRow:
    name, kind, dt = label.split(SEPARATOR)
    truth, grid = zoo.get(name).generator, _grid(name)
    sizes = {"drift": truth.drift(grid), "tensor": truth.diffusion(grid)}
    figures = []
    for key, true in sizes.items():
        errors = np.array([result[key] for result in results])
        size = np.linalg.norm(true)
        figures += [
            float(np.linalg.norm(errors.mean(axis=0)) / size),
            float(np.sqrt(np.mean(np.sum(errors**2, axis=1))) / size),
        ]
    return StepRow(name, kind, float(dt), recipe, len(results), *figures)
