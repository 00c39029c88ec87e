"""The ladder: from the naive port to the paper's recipe, one mechanism at a time; then ours."""

from __future__ import annotations

from typing import NamedTuple

from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.fits import fit_case
from wgsindy_evidence.scope import Scope, in_scope


class Rung(NamedTuple):
    """A step of the ladder: what is added, the recipe that has it, how many trajectories."""

    label: str
    method: str
    trajectories: int


RUNGS = (
    Rung("naive port", "naive", 1),
    Rung("+ standardised anisotropic kernels", "ladder-kernels", 1),
    Rung("+ local polynomial", "ladder-local-polynomial", 1),
    Rung("+ adaptive lasso", "ladder-adaptive-lasso", 1),
    Rung("+ Cholesky tensor", "ladder-cholesky", 1),
    Rung("+ GLS drift weights", "ladder-gls", 1),
    Rung("+ pooling, R = 16: paper", "paper", 16),
    Rung("sharp-euler, R = 1", "sharp-euler", 1),
    Rung("sharp-euler, R = 16", "sharp-euler", 16),
)
# The systems over which the paper's own ladder takes its medians.
PAPER_SYSTEMS = (
    *("indep_ou", "correlated_ou", "coupled_ou", "rotational_ou", "spiral_sink_corr"),
    *("nongradient_circulation", "double_well_transverse", "gradient_potential"),
    *("diag_multiplicative", "nondiag_cholesky", "heston_logsv", "heston_sv", "cir_pair"),
)


def ladder_cases(scope: Scope) -> list[Case]:
    """Every rung on every system in scope."""
    return [
        fit_case(system, rung.method, seed, trajectories=rung.trajectories)
        for system in scope.of_systems(in_scope())
        for seed in scope.of_seeds()
        for rung in RUNGS
    ]
