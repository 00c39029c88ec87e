"""What recovered generators tell, beside what the truth does: density, current, spectral gap.

Of each confining system that the paper declares recoverable: the total variation between the
stationary density of the fit and that of the truth, the same for the oracle's fit (which knows
the terms and the noise), the cosine between both currents, and the ratio of the spectral gaps. Of
three of them, on a hundred seeds: whether 95 % intervals of gap, entropy production and a passage
time hold the truth.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy.data import FloatArray
from wgsindy.errors import ReadoutError
from wgsindy.model import Generator
from wgsindy.readouts import Readouts, Value
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.baselines.oracle import fit_oracle
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.experiments.ours.calibration import fitting_recipe
from wgsindy_evidence.scope import Scope, in_scope

EXPERIMENT = "generator-readouts"
WANDERING = ("heston_logsv", "heston_sv")  # their prices have no stationary law
STEPS = 1600
CELLS = 64
INTERVALS, INTERVAL_SEEDS, INTERVAL_CELLS = "readout-intervals", range(1000, 1100), 48
# Where a passage starts, and the set that it ends in.
PASSAGES: dict[str, tuple[tuple[float, float], str]] = {
    "rotational_ou": ((0.0, 0.0), "x > 1"),
    "nongradient_circulation": ((-1.0, 0.0), "x > 0"),
    "gradient_potential": ((-1.0, 0.0), "x > 0"),
}


def confining() -> tuple[str, ...]:
    """Systems that the paper declares recoverable and that have a stationary law."""
    return tuple(name for name in in_scope() if name not in WANDERING)


def readout_cases(scope: Scope) -> list[Case]:
    """Every confining system on every seed."""
    return [
        Case(EXPERIMENT, name, fitting_recipe(zoo.get(name)).name, seed, steps=STEPS)
        for name in scope.of_systems(confining())
        for seed in scope.of_seeds()
    ]


@cache
def truth_of(system: str, cells: int = CELLS) -> Readouts:
    """Read-outs of the truth; a process that works off many cases solves it once."""
    return zoo.get(system).generator.readouts(cells=cells)


def run_case(case: Case) -> dict[str, Any]:
    """Fit, and compare what both generators tell."""
    system, true = zoo.get(case.system), truth_of(case.system)
    data = fits.simulate(case, system)
    estimate, _ = fits.fit(system, data, case)
    oracle = fit_oracle(data, system.generator)
    found: dict[str, Any] = {"oracle": _distance(oracle, true)}
    try:
        # In a box of its own: whether there is a law, and whether it is where the data were.
        told = estimate.readouts(cells=CELLS, draws=0)
        found["gap_ratio"] = float(told.gap) / float(true.gap)
    except ReadoutError as error:
        return found | {"refused": str(error)}
    places = metrics.central_grid(data.states)
    found["distance"] = _distance(estimate, true)
    for key, of in (("current", _current), ("velocity", _velocity)):
        found[key] = metrics.cosine(of(told, places), of(true, places))
    return found


def _current(told: Readouts, places: FloatArray) -> FloatArray:
    return told.current(places).values


def _velocity(told: Readouts, places: FloatArray) -> FloatArray:
    return told.split(places).rotational.values


def _distance(generator: Generator, true: Readouts) -> float | None:
    """Total variation between both densities, on one grid; None if its box cuts that of the fit."""
    grid = true.grid
    box = list(zip(grid.low.tolist(), grid.high.tolist(), strict=True))
    try:
        found = generator.readouts(box=box, cells=CELLS, draws=0).density(grid.centres).values
    except ReadoutError:
        return None
    apart = found - true.density(grid.centres).values
    return float(np.abs(apart).sum() * grid.volume / 2)


def interval_cases(scope: Scope) -> list[Case]:
    """Every system on a hundred seeds."""
    return [
        Case(INTERVALS, name, fitting_recipe(zoo.get(name)).name, seed, steps=STEPS)
        for name in scope.of_systems(tuple(PASSAGES))
        for seed in scope.of_seeds(INTERVAL_SEEDS)
    ]


def run_intervals(case: Case) -> dict[str, Any]:
    """Fit, and write down every interval beside the truth."""
    system = zoo.get(case.system)
    data = fits.simulate(case, system)
    estimate, _ = fits.fit(system, data, case)
    truth = numbers(case.system, truth_of(case.system))
    try:
        found = numbers(
            case.system, estimate.readouts(cells=INTERVAL_CELLS, random_state=case.seed)
        )
    except ReadoutError as error:
        return {"refused": str(error)}
    return {
        key: {
            "truth": float(truth[key]),
            "value": value.value,
            "low": value.low,
            "high": value.high,
        }
        for key, value in found.items()
    }


def numbers(system: str, told: Readouts) -> dict[str, Value]:
    """The three numbers."""
    return {
        "gap": told.gap,
        "entropy production": told.entropy_production,
        "passage time": told.passage_time(*PASSAGES[system]).mean,
    }
