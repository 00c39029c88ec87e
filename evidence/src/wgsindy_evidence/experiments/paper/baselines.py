"""Baselines beside the recipes: with the paper's unequal budgets, and all with the same data."""

from __future__ import annotations

from typing import NamedTuple

from wgsindy_evidence.baselines import BASELINES
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.fits import fit_case
from wgsindy_evidence.scope import Scope, in_scope

EQUAL = 16  # trajectories that everyone gets in the fair comparison


class Entrant(NamedTuple):
    """A method with its number of trajectories."""

    method: str
    title: str
    trajectories: int


def entrants(*, equal: bool) -> list[Entrant]:
    """Recipes and baselines, with equal budgets or with those of the paper."""
    recipes = [Entrant(name, name, EQUAL) for name in ("sharp-euler", "paper")]
    return recipes + [
        Entrant(name, item.title, EQUAL if equal else item.paper_trajectories)
        for name, item in BASELINES.items()
    ]


def proxy_cases(scope: Scope) -> list[Case]:
    """Every entrant of both comparisons on every system in scope."""
    cases = [
        fit_case(system, entrant.method, seed, trajectories=entrant.trajectories)
        for system in scope.of_systems(in_scope())
        for seed in scope.of_seeds()
        for equal in (False, True)
        for entrant in entrants(equal=equal)
    ]
    return list(dict.fromkeys(cases))  # whoever has 16 trajectories anyway is in both comparisons


def naive_cases(scope: Scope) -> list[Case]:
    """The naive port alone, with the paper's one trajectory."""
    return [
        fit_case(system, "naive", seed, trajectories=1)
        for system in scope.of_systems(in_scope())
        for seed in scope.of_seeds()
    ]
