"""Cases of ladder, ablation and baselines: who gets which data."""

from __future__ import annotations

from dataclasses import fields

import pytest

from wgsindy import zoo
from wgsindy_evidence import recipes
from wgsindy_evidence.experiments.paper import ablation, ladder
from wgsindy_evidence.experiments.paper import baselines as proxies
from wgsindy_evidence.recipes import LADDER, Recipe
from wgsindy_evidence.scope import Scope, in_scope

ALL = Scope()


def differences(one: Recipe, other: Recipe) -> set[str]:
    return {f.name for f in fields(one) if getattr(one, f.name) != getattr(other, f.name)}


def test_the_rungs_follow_the_recipes_and_pooling_comes_last() -> None:
    methods = [rung.method for rung in ladder.RUNGS]
    assert methods == [*LADDER, "paper", "sharp-euler", "sharp-euler"]
    assert [rung.trajectories for rung in ladder.RUNGS] == [1] * 6 + [16, 1, 16]
    assert set(ladder.PAPER_SYSTEMS) <= set(in_scope())
    assert len(set(ladder.PAPER_SYSTEMS)) == 13


def test_each_component_is_left_out_alone() -> None:
    for complete, components in ablation.COMPONENTS.items():
        whole, *others = components
        assert whole.method == complete
        for item in others:
            changed = differences(recipes.get(item.method), recipes.get(complete)) - {"name"}
            pooled = item.trajectories == whole.trajectories
            # Either the recipe differs or the number of trajectories, never both.
            assert bool(changed) == pooled
            # Without Cholesky there is nothing to shrink, so that one goes with it.
            assert len(changed - {"shrinkage"}) <= 1


@pytest.mark.parametrize("system", ["rotational_ou", "heston_logsv", "double_well_transverse"])
def test_a_quarter_of_the_data_is_a_quarter(system: str) -> None:
    for components in ablation.COMPONENTS.values():
        for component in components:
            whole = ablation.ablated_case(component, system, 7)
            part = ablation.ablated_case(component, system, 7, quarter=True)
            declared = zoo.get(system).steps
            amount = [case.trajectories * (case.steps or declared) for case in (whole, part)]
            assert amount[1] * 4 == pytest.approx(amount[0], rel=1e-3)  # steps are whole numbers
            assert (part.recipe, part.seed, part.system) == (whole.recipe, 7, system)
            # Of many trajectories a quarter is left, each of full length; of one a quarter of it.
            assert (part.steps == 0) == (whole.trajectories > 1)


def test_equal_budgets_are_equal_and_the_papers_are_not() -> None:
    fair, unfair = (proxies.entrants(equal=equal) for equal in (True, False))
    assert {item.trajectories for item in fair} == {proxies.EQUAL}
    assert [item.method for item in fair] == [item.method for item in unfair]
    budgets = {item.method: item.trajectories for item in unfair}
    assert budgets == {
        "sharp-euler": 16,
        "paper": 16,
        "naive": 1,
        "kramers-moyal": 4,
        "temporal-weak": 4,
        "gedmd": 16,
    }
    wanted = {(item.method, item.trajectories) for item in (*fair, *unfair)}
    cases = proxies.proxy_cases(ALL)
    assert {(case.recipe, case.trajectories) for case in cases} == wanted
    assert set(proxies.naive_cases(ALL)) <= set(cases)
