"""Are the error bars true? Coverage of 95 % intervals, and inclusion probabilities against facts.

Three questions for each system and seed. With the true terms given, do intervals cover the true
coefficients? After selection, do the intervals of the terms that were found, and how many true
terms have none because they were missed? And of all terms said to be there with probability p, is
a share p there?
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wgsindy import recipes, zoo
from wgsindy.data.arrays import BoolArray, FloatArray
from wgsindy.errors import RepeatedSamplesWarning
from wgsindy.estimate.likelihood.stages import SharpFit, recover_sharp
from wgsindy.model.simulate import EulerMaruyama
from wgsindy.model.uncertainty import normal_quantile
from wgsindy.passes.summary import data_summary
from wgsindy.recipes import Recipe
from wgsindy.terms.library import library
from wgsindy.zoo import System
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.scope import Scope

RECIPE, SEEDS = "sharp", range(1000, 1020)
LEVEL = 0.95
BINS = np.array([0.0, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 1.0])


def calibration_cases(scope: Scope) -> list[Case]:
    """Cases of all systems whose truth their library spans."""
    spanned = [name for name in zoo.names() if zoo.get(name).true_coefficients() is not None]
    return [
        Case("calibration", name, RECIPE, seed)
        for name in scope.of_systems(spanned)
        for seed in scope.of_seeds(SEEDS)
    ]


def fitting_recipe(system: System, name: str) -> Recipe:
    """Return the recipe with the working model by which the system is sampled.

    An Euler chain is fitted as one, an exactly sampled process with the finite-step correction.
    """
    recipe = recipes.get(name)
    if recipe.rows != "samples":
        raise CampaignError(f"recipe {name!r} has no error bars; choose 'sharp'.")
    chain = isinstance(system.scheme, EulerMaruyama) and system.scheme.substeps == 1
    return replace(recipe, finite_step="euler" if chain else "taylor")


def run_case(case: Case) -> dict[str, Any]:
    """Fit with the true terms given, and with terms selected; compare both with the truth."""
    system = zoo.get(case.system)
    data = fits.simulate(case, system)
    basis = library(system.library).bind(data.names)
    recipe = fitting_recipe(system, case.recipe)
    true = system.true_coefficients()
    assert true is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepeatedSamplesWarning)
        summary = data_summary(data, standardise=recipe.standardise)
        given = recover_sharp(data, basis, summary, recipe, given=true != 0)
        chosen = recover_sharp(data, basis, summary, recipe)
    selected = (_coefficients(chosen) != 0) & (true != 0)
    return {
        "given": _deviations(given, true, true != 0),
        "clustered": _deviations(given, true, true != 0, clustered=True),
        "selected": _deviations(chosen, true, selected),
        "missed": int(np.count_nonzero((true != 0) & ~selected)),
        "inclusion": np.round(chosen.uncertainty.inclusion, 4).ravel().tolist(),
        "present": (true != 0).ravel().astype(int).tolist(),
    }


def _coefficients(fit: SharpFit) -> FloatArray:
    return np.concatenate([fit.uncertainty.drift, fit.entries])


def _deviations(
    fit: SharpFit, true: FloatArray, where: BoolArray, *, clustered: bool = False
) -> list[float]:
    """Errors in standard errors, of coefficients that have one."""
    errors = fit.uncertainty.std_errors(clustered=clustered)
    usable = where & (errors > 0)
    deviation = (_coefficients(fit) - true)[usable] / errors[usable]
    return [float(value) for value in np.round(deviation, 3)]


@dataclass(frozen=True)
class Coverage:
    """Share of coefficients whose interval covers the truth, and the root mean square deviation."""

    count: int
    share: float
    deviation: float

    @classmethod
    def of(cls, deviations: Sequence[float]) -> Coverage:
        """Count deviations, in standard errors, within the 95 % interval."""
        values = np.abs(np.array(deviations, dtype=np.float64))
        if not len(values):
            return cls(0, float("nan"), float("nan"))
        inside = values <= normal_quantile(LEVEL)
        return cls(len(values), float(inside.mean()), float(np.sqrt(np.mean(values**2))))


@dataclass(frozen=True)
class Calibration:
    """One system, or all: coverage given the terms, after selection, and missed terms."""

    system: str
    given: Coverage
    clustered: Coverage
    selected: Coverage
    missed: int


def summarise(lines: Sequence[Line]) -> list[Calibration]:
    """One row a system, and the last row for all of them."""
    done = [line for line in lines if line.result is not None]
    systems = list(dict.fromkeys(line.case.system for line in done))
    rows = [_row(name, [line for line in done if line.case.system == name]) for name in systems]
    return [*rows, _row("all", done)]


def _row(name: str, lines: Sequence[Line]) -> Calibration:
    results = [line.result for line in lines if line.result is not None]

    def pooled(key: str) -> Coverage:
        return Coverage.of([value for result in results for value in result[key]])

    return Calibration(
        name,
        pooled("given"),
        pooled("clustered"),
        pooled("selected"),
        sum(result["missed"] for result in results),
    )


@dataclass(frozen=True)
class Reliability:
    """Terms whose inclusion probability is in one bin: mean probability and share present."""

    count: int
    stated: float
    present: float


def reliability(lines: Sequence[Line]) -> list[Reliability]:
    """Compare stated inclusion probabilities with how often the terms are there."""
    results = [line.result for line in lines if line.result is not None]
    stated = np.array([value for result in results for value in result["inclusion"]])
    present = np.array([value for result in results for value in result["present"]])
    number = np.clip(np.searchsorted(BINS, stated, side="right") - 1, 0, len(BINS) - 2)
    return [
        Reliability(
            int(np.sum(chosen)), float(stated[chosen].mean()), float(present[chosen].mean())
        )
        for bin_number in range(len(BINS) - 1)
        for chosen in [number == bin_number]
        if chosen.any()
    ]
