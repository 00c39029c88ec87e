"""Do the intervals of read-outs hold the truth? A hundred repeats of three systems.

Gap, entropy production and a mean passage time, each with its 95 % interval from draws of the
coefficients, beside the same numbers of the true generator.
"""

from __future__ import annotations

from typing import Any

from wgsindy import zoo
from wgsindy.errors import ReadoutError
from wgsindy.readouts.readouts import Readouts
from wgsindy.readouts.values import Value
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.experiments.ours.calibration import fitting_recipe
from wgsindy_evidence.experiments.ours.generator_readouts import STEPS, truth_of
from wgsindy_evidence.scope import Scope

EXPERIMENT = "readout-intervals"
SEEDS = range(1000, 1100)
CELLS = 48
# Where a passage starts, and the set that it ends in.
PASSAGES: dict[str, tuple[tuple[float, float], str]] = {
    "rotational_ou": ((0.0, 0.0), "x > 1"),
    "nongradient_circulation": ((-1.0, 0.0), "x > 0"),
    "gradient_potential": ((-1.0, 0.0), "x > 0"),
}


def interval_cases(scope: Scope) -> list[Case]:
    """Every system on a hundred seeds."""
    return [
        Case(EXPERIMENT, name, fitting_recipe(zoo.get(name)).name, seed, steps=STEPS)
        for name in scope.of_systems(tuple(PASSAGES))
        for seed in scope.of_seeds(SEEDS)
    ]


def run_case(case: Case) -> dict[str, Any]:
    """Fit, and write down every interval beside the truth."""
    system = zoo.get(case.system)
    data = fits.simulate(case, system)
    estimate, _ = fits.fit(system, data, case)
    truth = numbers(case.system, truth_of(case.system))
    try:
        found = numbers(case.system, estimate.readouts(cells=CELLS, random_state=case.seed))
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
