"""Recipes of the evidence: each mechanism alone, and all of them one by one."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise

from wgsindy_evidence.recipes import LADDER, NAIVE, PAPER, SHARP_ABLATIONS, SHARP_EULER, Recipe


def differences(one: Recipe, other: Recipe) -> set[str]:
    return {f.name for f in fields(one) if getattr(one, f.name) != getattr(other, f.name)}


def test_the_ladder_starts_without_any_mechanism_and_ends_at_the_paper() -> None:
    first, *_, last = LADDER.values()
    assert first is NAIVE
    assert differences(replace(last, name=PAPER.name), PAPER) == set()
    # None of the six mechanisms of the paper is in the naive port.
    assert not NAIVE.standardise
    assert (NAIVE.bandwidth, NAIVE.centres) == ("isotropic", "grid")
    assert NAIVE.local_order == 0
    assert NAIVE.solver == "stlsq"
    assert (NAIVE.tensor, NAIVE.shrinkage) == ("entries", 0.0)
    assert (NAIVE.gls, NAIVE.rows) == ("none", "pooled")
    # Every choice in which it differs from the paper is made up for exactly once.
    steps = list(LADDER.values())
    changed = [differences(a, b) - {"name"} for a, b in pairwise(steps)]
    assert all(changed)
    assert sorted(x for change in changed for x in change) == sorted(
        differences(NAIVE, PAPER) - {"name"}
    )


def test_ablations_of_sharp_change_one_choice_each() -> None:
    for name, recipe in SHARP_ABLATIONS.items():
        assert recipe.name == name
        assert len(differences(recipe, SHARP_EULER) - {"name"}) == 1
