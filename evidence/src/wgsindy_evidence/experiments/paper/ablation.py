"""Leave one out: what each mechanism is worth, on the full data and on a quarter of them.

Beside them, two mechanisms that the paper describes and does not use, put in.
"""

from __future__ import annotations

from typing import NamedTuple

from wgsindy.zoo import get
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.fits import fit_case
from wgsindy_evidence.scope import Scope, in_scope

POOLED, SINGLE = 16, 1


class Component(NamedTuple):
    """A mechanism, the recipe without it, and the trajectories that the recipe is given.

    ``added``: the recipe has the mechanism, and the complete one has not.
    """

    label: str
    method: str
    trajectories: int = POOLED
    added: bool = False


# The complete recipe first: what the others are compared with.
COMPONENTS: dict[str, tuple[Component, ...]] = {
    "paper": (
        Component("complete", "paper"),
        Component("pooling of trajectories", "paper", SINGLE),
        Component("GLS drift weights", "paper-no-gls"),
        Component("local polynomial", "paper-no-local-polynomial"),
        Component("anisotropic kernels", "paper-no-anisotropy"),
        Component("adaptive lasso", "paper-no-adaptive-lasso"),
        Component("Cholesky tensor", "paper-no-cholesky"),
        Component("full whitening", "paper-full-whitening", added=True),
        Component("cross-fitting", "paper-cross-fit", added=True),
    ),
    "sharp-euler": (
        Component("complete", "sharp-euler"),
        Component("pooling of trajectories", "sharp-euler", SINGLE),
        Component("averaging over supports", "sharp-one-support"),
        Component("cost of degrees", "sharp-no-degree-cost"),
    ),
}


def ablated_case(component: Component, system: str, seed: int, *, quarter: bool = False) -> Case:
    """One fit; a quarter of the data is a quarter of the trajectories, or of the only one."""
    if not quarter:
        return fit_case(system, component.method, seed, trajectories=component.trajectories)
    if component.trajectories == POOLED:
        return fit_case(system, component.method, seed, trajectories=POOLED // 4)
    steps = get(system).steps // 4
    return fit_case(system, component.method, seed, trajectories=SINGLE, steps=steps)


def ablation_cases(scope: Scope) -> list[Case]:
    """Every component left out, with all data and with a quarter of them."""
    return [
        ablated_case(component, system, seed, quarter=quarter)
        for system in scope.of_systems(in_scope())
        for seed in scope.of_seeds()
        for quarter in (False, True)
        for components in COMPONENTS.values()
        for component in components
    ]
