"""What a datasheet needs: the recovered coefficients on every seed, and one model to draw."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy.data import CENTRAL_RANGE
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.scope import REPORTING_SEEDS, Scope

EXPERIMENT = "datasheet"
METHODS = ("sharp-euler", "paper")
DRAWN = REPORTING_SEEDS[0]


def datasheet_cases(scope: Scope) -> list[Case]:
    """Every system of the table by both recipes."""
    return [
        Case(EXPERIMENT, system, method, seed)
        for system in scope.of_systems(zoo.names())
        for method in METHODS
        for seed in scope.of_seeds()
    ]


def run_case(case: Case) -> dict[str, Any]:
    """Fit, and keep coefficients with error bars, the verdict, and for one seed the whole model."""
    system = zoo.get(case.system)
    data = fits.simulate(case, system)
    found = fits.estimator(system, data, case)
    estimate, facts = found.generator_, found.diagnostics_
    scores = metrics.scores_of(estimate, system.generator, data.states, scored=system.scored)
    kept: dict[str, Any] = {
        "drift": scores.drift,
        "tensor": scores.tensor,
        "cosine": scores.cosine,
        "psd": scores.psd,
        "fields": scores.fields,
        "verdict": facts.verdict,
        "condition": facts.condition_number,
    }
    if estimate.uncertainty is not None:
        kept["coefficients"] = [
            [row.target, row.term, row.value, row.std_error, row.inclusion]
            for row in estimate.coefficients
        ]
    if case.seed == DRAWN:
        low, high = np.percentile(data.states, CENTRAL_RANGE, axis=0)
        kept |= {
            "model": replace(estimate, uncertainty=None).to_dict(),
            "range": [low.tolist(), high.tolist()],
            "reasons": list(facts.reasons),
            "increments": data.n_increments,
        }
    return kept
