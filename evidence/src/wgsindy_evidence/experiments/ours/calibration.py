"""Are the error bars true? Coverage of 95 % intervals, and inclusion probabilities against facts.

Three questions for each system and seed. With the true terms given, do intervals cover the true
coefficients? After selection, do the intervals of the terms that were found, and how many true
terms have none because they were missed? And of all terms said to be there with probability p, is
a share p there?
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy.data import BoolArray, FloatArray
from wgsindy.errors import RepeatedSamplesWarning
from wgsindy.estimate.likelihood.fit_likelihood import LikelihoodEstimate, recover_by_likelihood
from wgsindy.model import EulerMaruyama
from wgsindy.passes import data_summary
from wgsindy.recipes import SHARP, SHARP_EULER, LikelihoodRecipe
from wgsindy.terms import library
from wgsindy.zoo import System
from wgsindy_evidence import recipes
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.scope import Scope, spanned

SEEDS = range(1000, 1020)


def calibration_cases(scope: Scope) -> list[Case]:
    """Cases of all systems whose truth their library spans."""
    return [
        Case("calibration", name, fitting_recipe(zoo.get(name)).name, seed)
        for name in scope.of_systems(spanned())
        for seed in scope.of_seeds(SEEDS)
    ]


def fitting_recipe(system: System) -> LikelihoodRecipe:
    """Return the recipe that takes the samples for what they are.

    An Euler chain is fitted as one, what is sampled otherwise as a continuous process.
    """
    chain = isinstance(system.scheme, EulerMaruyama) and system.scheme.substeps == 1
    return SHARP_EULER if chain else SHARP


def run_case(case: Case) -> dict[str, Any]:
    """Fit with the true terms given, and with terms selected; compare both with the truth."""
    system = zoo.get(case.system)
    data = fits.simulate(case, system)
    basis = library(system.library).bind(data.names)
    recipe = recipes.get(case.recipe)
    if not isinstance(recipe, LikelihoodRecipe):
        raise CampaignError(f"recipe {case.recipe!r} has no error bars; choose 'sharp'.")
    true = system.true_coefficients()
    assert true is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepeatedSamplesWarning)
        summary = data_summary(data, standardise=True)
        given = recover_by_likelihood(data, basis, summary, recipe, given=true != 0)
        chosen = recover_by_likelihood(data, basis, summary, recipe)
    selected = (_coefficients(chosen) != 0) & (true != 0)
    return {
        "given": _deviations(given, true, true != 0),
        "clustered": _deviations(given, true, true != 0, clustered=True),
        "selected": _deviations(chosen, true, selected),
        "missed": int(np.count_nonzero((true != 0) & ~selected)),
        "inclusion": np.round(chosen.uncertainty.inclusion, 4).ravel().tolist(),
        "present": (true != 0).ravel().astype(int).tolist(),
    }


def _coefficients(fit: LikelihoodEstimate) -> FloatArray:
    return np.concatenate([fit.uncertainty.drift, fit.entries])


def _deviations(
    fit: LikelihoodEstimate, true: FloatArray, where: BoolArray, *, clustered: bool = False
) -> list[float]:
    """Errors in standard errors, of coefficients that have one."""
    errors = fit.uncertainty.std_errors(clustered=clustered)
    usable = where & (errors > 0)
    deviation = (_coefficients(fit) - true)[usable] / errors[usable]
    return [float(value) for value in np.round(deviation, 3)]
