"""How errors fall with the effective horizon, the total time that was observed."""

from __future__ import annotations

from wgsindy import zoo
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.fits import ORACLE, fit_case
from wgsindy_evidence.scope import Scope

# The two systems of the paper first.
SYSTEMS = (
    *("correlated_ou", "diag_multiplicative", "rotational_ou"),
    *("double_well_transverse", "stuart_landau"),
)
METHODS = ("paper", "sharp-euler", ORACLE)
# One trajectory up to the paper's longest horizon, then more and more of that length.
LONGEST = 72.0
HORIZONS = (12.0, 24.0, 48.0, 72.0, 144.0, 288.0, 576.0, 1152.0)
QUICK_HORIZONS = 3


def horizon_case(system: str, method: str, horizon: float, seed: int) -> Case:
    """One fit of a given total time."""
    trajectories = max(1, round(horizon / LONGEST))
    steps = round(horizon / trajectories / zoo.get(system).dt)
    return fit_case(system, method, seed, trajectories=trajectories, steps=steps)


def convergence_cases(scope: Scope) -> list[Case]:
    """Every horizon, method and seed."""
    return [
        horizon_case(system, method, horizon, seed)
        for system in scope.of_systems(SYSTEMS)
        for horizon in (HORIZONS[:QUICK_HORIZONS] if scope.quick else HORIZONS)
        for seed in scope.of_seeds()
        for method in METHODS
    ]
