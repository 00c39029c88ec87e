"""What a coarse step costs: samples taken for Euler steps, and for those of a continuous process.

Real data are continuous diffusions seen at spacing dt. Each system is sampled coarsely from a fine
simulation (exactly, or with 50 substeps), and once as an Euler chain at the same spacing, which the
recipe ``sharp-euler`` describes without error.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from wgsindy import zoo
from wgsindy.data import FloatArray, Trajectories
from wgsindy.estimator import WGSINDy
from wgsindy.model import EulerMaruyama
from wgsindy.zoo import System
from wgsindy.zoo import scores as metrics
from wgsindy_evidence import recipes
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.scope import Scope

SYSTEMS = ("rotational_ou", "double_well_transverse", "diag_multiplicative")
RECIPES = ("sharp-euler", "sharp")
SPACINGS = (0.01, 0.05, 0.1, 0.2)
SUBSTEPS = 50
STEPS = 1600
SEEDS = range(1000, 1002)  # a case takes a quarter of a minute, most of it the fine simulation


def step_cases(scope: Scope) -> list[Case]:
    """Every system, spacing, sampling and recipe."""
    return [
        Case("steps", name, recipe, seed, options=(("kind", kind), ("dt", dt)))
        for name in scope.of_systems(SYSTEMS)[: 1 if scope.quick else None]
        for kind in ("continuous", "chain")
        for dt in (SPACINGS[:1] if scope.quick else SPACINGS)
        for recipe in RECIPES
        for seed in scope.of_seeds(SEEDS)
    ]


def sampled(name: str, kind: str, dt: float, seed: int) -> Trajectories:
    """Simulate a system at spacing ``dt``, from a fine simulation or as an Euler chain."""
    system = zoo.get(name)
    return replace(system, dt=dt, steps=STEPS, scheme=_scheme(system, kind)).simulate(seed)


def _scheme(system: System, kind: str) -> Any:
    if not isinstance(system.scheme, EulerMaruyama):
        return system.scheme if kind == "continuous" else EulerMaruyama()
    return replace(system.scheme, substeps=SUBSTEPS if kind == "continuous" else 1)


def run_case(case: Case) -> dict[str, Any]:
    """Fit, and keep the fields on a grid that is the same for all seeds."""
    system = zoo.get(case.system)
    data = sampled(case.system, case.settings["kind"], case.settings["dt"], case.seed)
    estimate = WGSINDy(system.library, recipes.get(case.recipe)).fit(data).generator_
    grid = grid_of(case.system)
    truth = system.generator
    return {
        "drift": (estimate.drift(grid) - truth.drift(grid)).ravel().tolist(),
        "tensor": (estimate.diffusion(grid) - truth.diffusion(grid)).ravel().tolist(),
    }


def grid_of(name: str) -> FloatArray:
    """Points at which the fields of a system are compared: the same for all seeds."""
    return metrics.central_grid(zoo.get(name).simulate(0).states, points=5)
