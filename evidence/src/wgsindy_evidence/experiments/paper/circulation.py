"""The circulation read-out: whether the recovered generator goes round as the truth does.

The paper compares antisymmetric parts of the drift, which is the direction of the stationary
current only for isotropic linear processes. Beside it stands the current itself, with the density
of the states by score matching.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy.model import Generator
from wgsindy.model.circulation import fit_density
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.scope import Scope

EXPERIMENT = "circulation"
SWEEP = {"rotational_ou": (0.5, 1.0, 2.0, 4.0), "nongradient_circulation": (1.0, 2.0)}
METHODS = ("paper", "sharp-euler")


def circulation_cases(scope: Scope) -> list[Case]:
    """Every rotation rate by every method."""
    return [
        Case(EXPERIMENT, system, method, seed, options=(("omega", omega),))
        for system in scope.of_systems(tuple(SWEEP))
        for omega in SWEEP[system]
        for method in METHODS
        for seed in scope.of_seeds()
    ]


def run_case(case: Case) -> dict[str, Any]:
    """Fit, and compare rotation and current with those of the truth on the central grid."""
    system = zoo.get(case.system, **case.settings)
    data = fits.simulate(case, system)
    estimate, _ = fits.fit(system, data, case)
    grid, truth = metrics.central_grid(data.states), system.generator
    # Without the rotation the process is reversible, and it has the same density.
    reversible = zoo.get(case.system, omega=0.0).generator
    current = truth.drift(grid) - reversible.drift(grid)
    found = estimate.current_velocity(grid, fit_density(data, f"poly{_degree(estimate) + 1}"))
    turning = truth.antisymmetric_drift(grid)
    return {
        "antisymmetric": metrics.cosine(estimate.antisymmetric_drift(grid), turning),
        "current": metrics.cosine(found, current),
        "current_error": metrics.relative_error(found, current),
        "paper_direction": metrics.cosine(turning, current),
        "curl": float(np.median(estimate.curl(grid))),
        "true_curl": float(np.median(truth.curl(grid))),
    }


def _degree(estimate: Generator) -> int:
    """Degree of the recovered drift; a potential has one more."""
    terms = np.abs(estimate.drift_coefficients).max(axis=0) > 0
    return max(1, int(estimate.basis.degrees[terms].max(initial=1)))
