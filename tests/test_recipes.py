"""Choices of the sharp recipe: which go together, and by which names they are found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from wgsindy import recipes
from wgsindy.errors import RecipeError
from wgsindy.recipes import PAPER, SHARP, VARIANTS, Recipe

# Each choice alone, put into the other recipe, would have no effect.
NEEDS_SAMPLES: list[tuple[str, Any]] = [
    ("solver", "evidence"),
    ("tensor", "clipped"),
    ("averaging", True),
    ("finite_step", "taylor"),
]
NEEDS_KERNELS: list[tuple[str, Any]] = [
    ("solver", "adaptive_lasso"),
    ("solver", "lasso"),
    ("solver", "stlsq"),
    ("tensor", "cholesky"),
    ("tensor", "entries"),
    ("gls", "none"),
    ("gls", "diagonal"),
    ("shrinkage", 0.05),
    ("cross_fit", True),
]


@pytest.mark.parametrize(("field", "value"), NEEDS_SAMPLES)
@pytest.mark.parametrize("rows", ["trajectory", "pooled"])
def test_kernel_rows_refuse_what_single_increments_need(field: str, value: Any, rows: str) -> None:
    choices: dict[str, Any] = {"rows": rows, field: value}
    with pytest.raises(RecipeError, match=rf"{field}={value!r} .*rows='{rows}'.*recipes\.PAPER"):
        replace(PAPER, **choices)


@pytest.mark.parametrize(("field", "value"), NEEDS_KERNELS)
def test_single_increments_refuse_what_kernel_rows_need(field: str, value: Any) -> None:
    choices: dict[str, Any] = {field: value}
    with pytest.raises(RecipeError, match=rf"{field}={value!r} .*rows='samples'.*recipes\.SHARP"):
        replace(SHARP, **choices)


@pytest.mark.parametrize("recipe", [PAPER, SHARP], ids=lambda recipe: recipe.name)
def test_both_kinds_of_rows_can_be_corrected_for_observation_noise(recipe: Recipe) -> None:
    assert replace(recipe, noise_correction=True).noise_correction


def test_changing_the_rows_alone_is_refused_both_ways() -> None:
    with pytest.raises(RecipeError, match="rows='samples'"):
        replace(PAPER, rows="samples")
    with pytest.raises(RecipeError, match="rows='trajectory'"):
        replace(SHARP, rows="trajectory")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("averaging", not SHARP.averaging),
        ("finite_step", "taylor"),
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
        ("finite_step", "milstein"),
    ],
)
def test_values_out_of_range_are_named(field: str, value: Any) -> None:
    choices: dict[str, Any] = {field: value}
    with pytest.raises(RecipeError, match=f"recipe choice {field} "):
        replace(SHARP, **choices)


def test_recipes_are_found_by_name() -> None:
    assert recipes.get("sharp") is SHARP
    assert recipes.get("sharp-continuous").finite_step == "taylor"
    assert recipes.get(SHARP) is SHARP


def test_variants_of_sharp_change_one_choice() -> None:
    variants = [recipe for name, recipe in VARIANTS.items() if name.startswith("sharp-")]
    assert variants
    for variant in variants:
        changed = [
            field
            for field in Recipe.__dataclass_fields__
            if getattr(variant, field) != getattr(SHARP, field)
        ]
        assert "name" in changed
        assert len(changed) == 2, f"{variant.name} changes {changed}"
        assert recipes.get(variant.name) is variant


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(RecipeError, match=r"'sharper'.*'sharp'.*'sharp-continuous'"):
        recipes.get("sharper")
