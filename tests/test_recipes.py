"""Choices of the two kinds of recipes, and by which names they are found."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from wgsindy import recipes
from wgsindy.errors import RecipeError
from wgsindy.recipes import PAPER, SHARP, LikelihoodRecipe, Recipe

# Each belongs to one of the two estimators, and would have no effect on the other.
OF_THE_LIKELIHOOD = {"averaging": True, "transition": "chain", "false_alarm": 0.1}
OF_THE_WEAK_FORM = {"n_centres": 8, "folds": 3, "solver": "lasso", "gls": "none", "shrinkage": 0.1}


@pytest.mark.parametrize(
    ("recipe", "field", "value"),
    [(PAPER, *item) for item in OF_THE_LIKELIHOOD.items()]
    + [(SHARP, *item) for item in OF_THE_WEAK_FORM.items()],
)
def test_a_choice_of_the_other_estimator_is_impossible(
    recipe: Recipe, field: str, value: Any
) -> None:
    choices: dict[str, Any] = {field: value}
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{field}'"):
        replace(recipe, **choices)


@pytest.mark.parametrize("wrong", [{"rows": "samples"}, {"solver": "evidence"}])
def test_the_estimator_is_no_choice_of_a_recipe(wrong: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match=f"{next(iter(wrong))} must be one of"):
        replace(PAPER, **wrong)


@pytest.mark.parametrize("recipe", [PAPER, SHARP], ids=lambda recipe: recipe.name)
def test_both_kinds_of_rows_can_be_corrected_for_observation_noise(recipe: Recipe) -> None:
    corrected = recipes.with_noise_correction(recipe)
    assert corrected == recipes.get(f"{recipe.name}-noise")
    assert corrected.noise_correction
    assert recipes.with_noise_correction(corrected) is corrected


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("averaging", not SHARP.averaging),
        ("transition", "chain"),
        ("noise_correction", False),
        ("false_alarm", 0.2),
        ("degree_cost", 0.0),
    ],
)
def test_its_own_choices_are_free(field: str, value: Any) -> None:
    choices: dict[str, Any] = {field: value}
    assert getattr(replace(SHARP, **choices), field) == value


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("false_alarm", 0.0),
        ("false_alarm", -0.1),
        ("false_alarm", 1.5),
        ("false_alarm", float("nan")),
        ("false_alarm", "few"),
        ("degree_cost", -1.0),
        ("degree_cost", float("inf")),
        ("averaging", 1),
        ("transition", "milstein"),
        ("noise_correction", "always"),
    ],
)
def test_values_out_of_range_are_named(field: str, value: Any) -> None:
    choices: dict[str, Any] = {field: value}
    with pytest.raises(RecipeError, match=f"recipe choice {field} "):
        replace(SHARP, **choices)


def test_recipes_are_found_by_name() -> None:
    assert recipes.get("sharp") is SHARP
    assert (SHARP.transition, SHARP.noise_correction) == ("process", "auto")
    found = recipes.get("sharp-euler")
    assert isinstance(found, LikelihoodRecipe)
    assert (found.transition, found.noise_correction) == ("chain", False)
    assert recipes.get(SHARP) is SHARP


@pytest.mark.parametrize("name", [name for name in recipes.names() if "-" in name])
def test_variants_change_what_their_name_says(name: str) -> None:
    variant = recipes.get(name)
    plain = recipes.get(name.split("-")[0])
    changed = [
        item.name
        for item in fields(variant)
        if getattr(variant, item.name) != getattr(plain, item.name)
    ]
    # A chain of Euler steps has no sensor, so no noise is looked for either.
    expected = {"noise": {"noise_correction"}, "euler": {"transition", "noise_correction"}}
    assert set(changed) == {"name"} | expected[name.split("-")[1]]


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(RecipeError, match=r"'sharper'.*'sharp'.*'sharp-euler'"):
        recipes.get("sharper")
