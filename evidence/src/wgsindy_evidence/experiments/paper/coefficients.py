"""The coefficient table: much data; which terms are selected, and how close they are.

Beside it stands what each true term is worth: the standard error of its coefficient when all true
terms are given. A term worth two standard errors cannot be found in every data set by anyone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy.data import Trajectories
from wgsindy.estimate.likelihood.fit_likelihood import recover_by_likelihood
from wgsindy.model import field_names
from wgsindy.passes import data_summary
from wgsindy.terms import library
from wgsindy.zoo import System
from wgsindy_evidence import support
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.recipes import SHARP_EULER
from wgsindy_evidence.scope import REPORTING_SEEDS, Scope

EXPERIMENT = "coefficients"
SYSTEMS = (
    *("correlated_ou", "coupled_ou", "rotational_ou", "spiral_sink_corr", "van_der_pol"),
    *("stuart_landau", "brusselator", "duffing", "maier_stein", "gradient_potential"),
    *("diag_multiplicative", "nondiag_cholesky"),
)
# The paper pools the trajectories of this table without their identifiers, and its figures are
# those of the entries of the tensor, before the Cholesky stage.
POOLED = ("paper-pooled-rows", "paper-pooled-entries")
METHODS = ("sharp-euler", "paper", *POOLED, "kramers-moyal")
TRAJECTORIES, STEPS = 32, 8000
QUICK_STEPS = 1000
SEEDS = REPORTING_SEEDS[:4]
# The one term of the paper's table that this much data cannot show, with 16 times as much.
MORE_DATA = {"maier_stein": 16}


def coefficient_cases(scope: Scope) -> list[Case]:
    """Every system by every method."""
    steps = QUICK_STEPS if scope.quick else STEPS
    chosen = scope.of_systems(SYSTEMS)
    usual = [
        Case(EXPERIMENT, system, method, seed, TRAJECTORIES, steps)
        for system in chosen
        for method in METHODS
        for seed in scope.of_seeds(SEEDS)
    ]
    return usual + [
        Case(EXPERIMENT, system, METHODS[0], seed, TRAJECTORIES * times, steps)
        for system, times in MORE_DATA.items()
        if system in chosen
        for seed in scope.of_seeds(SEEDS)
    ]


def run_case(case: Case) -> dict[str, Any]:
    """Fit, and keep the coefficients that count as selected: target -> term -> value."""
    system = zoo.get(case.system)
    data = fits.simulate(case, system)
    estimate, _ = fits.fit(system, data, case)
    found: dict[str, dict[str, float]] = {}
    for row in estimate.coefficients:
        if abs(row.value) > support.REPORTING_THRESHOLD:
            found.setdefault(row.target, {})[row.term] = row.value
    # The same for every method: once is enough.
    worth = {"errors": true_term_errors(system, data)} if case.recipe == METHODS[0] else {}
    return {"selected": found, **worth}


def true_term_errors(system: System, data: Trajectories) -> dict[str, dict[str, float]]:
    """Standard errors of the true coefficients when all true terms are given."""
    true = system.true_coefficients()
    assert true is not None
    basis = library(system.library).bind(data.names)
    summary = data_summary(data, standardise=True)
    errors = recover_by_likelihood(
        data, basis, summary, SHARP_EULER, given=true != 0
    ).uncertainty.std_errors()
    drift, entries = field_names(data.dimension)
    return {
        target: {basis.terms[k]: float(errors[row, k]) for k in np.flatnonzero(true[row])}
        for row, target in enumerate([*drift, *entries])
    }
