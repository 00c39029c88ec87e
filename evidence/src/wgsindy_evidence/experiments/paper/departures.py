"""Where the recipe ``paper`` departs from the paper's text: each formula as written, one by one."""

from __future__ import annotations

from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.fits import fit_case
from wgsindy_evidence.recipes import AS_WRITTEN, PAPER
from wgsindy_evidence.scope import Scope, in_scope

METHODS = (PAPER.name, "paper-pooled-rows", *AS_WRITTEN)


def departure_cases(scope: Scope) -> list[Case]:
    """Every system in scope by the recipe, and with each formula of the text put in."""
    return [
        fit_case(system, method, seed)
        for system in scope.of_systems(in_scope())
        for seed in scope.of_seeds()
        for method in METHODS
    ]
