"""Verdicts of all 29 systems of the paper, beside whether their bands hold the truth.

Each system is fitted with its own library and with the default, by the recipe that fits its
samples. What was said and what is true stand side by side in a line; the page judges. A fit that
refuses with a sentence is a result, too.
"""

from __future__ import annotations

from typing import Any

from wgsindy import zoo
from wgsindy.errors import WgsindyError
from wgsindy.model import EulerMaruyama
from wgsindy.zoo import System, central_grid
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.experiments.ours.gallery import REFUSED, compared, ended, judged
from wgsindy_evidence.experiments.ours.measured import coverage
from wgsindy_evidence.scope import Scope

EXPERIMENT = "zoo-verdict"
OWN, AUTO = "own", "auto"
LIBRARIES = (OWN, AUTO)
# Where a false field was called identified once, and nothing said.
DELICATE = ("mueller_brown", "sabr", "two_factor_vasicek", "gbm_2d", "near_boundary_heston")


def recipe_of(system: System) -> str:
    """The recipe for the samples: Euler steps, or states of a process."""
    return "sharp-euler" if isinstance(system.scheme, EulerMaruyama) else "sharp"


def zoo_verdict_case(system: str, library: str, seed: int) -> Case:
    """One fit to be judged."""
    options = () if library == OWN else (("library", library),)
    return Case(EXPERIMENT, system, recipe_of(zoo.get(system)), seed, options=options)


def zoo_verdict_cases(scope: Scope) -> list[Case]:
    """Every system of the table, with its own library and the default."""
    return [
        zoo_verdict_case(system, library, seed)
        for system in scope.of_systems(tuple(zoo.names()))
        for library in LIBRARIES
        for seed in scope.of_seeds()
    ]


def run_case(case: Case) -> dict[str, Any]:
    """Fit, judge, compare: where data are, and on the whole central grid."""
    system = zoo.get(case.system)
    data = fits.simulate(case, system)
    try:
        found, truth = fits.estimator(system, data, case), system.observed_generator
    except WgsindyError as error:
        return ended(REFUSED, error)
    grid = coverage(found.generator_, truth, central_grid(data.states))
    return {
        **judged(found.diagnostics_),
        **compared(found.generator_, truth, data),
        "grid_covered": grid["drift_covered"],
    }
