"""Data far from zero: the same fit as near zero, written in the distance from a point of them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy

from wgsindy.data import Trajectories
from wgsindy.estimate import Fit, fit_dataset
from wgsindy.estimate.likelihood.fit_likelihood import recover_by_likelihood
from wgsindy.model import Generator
from wgsindy.passes import data_summary
from wgsindy.recipes import LikelihoodRecipe
from wgsindy.terms import library
from wgsindy.zoo import central_grid, relative_error

X = sympy.Symbol("x", real=True)
TRUTHS = {
    "double well": Generator.from_sympy(("x",), [X - X**3], [[0.5]]),
    "Ornstein-Uhlenbeck": Generator.from_sympy(("x",), [-2 * X], [[0.5]]),
}
DT = 0.01
# Spreads are 0.8 and 0.35: at least 37 of them, 1240, more than a million.
OFFSETS = (30.0, 1e3, 1e6, -1e6)


@cache
def data_at(name: str, offset: float) -> Trajectories:
    near = TRUTHS[name].simulate([0.0], dt=DT, steps=8000, trajectories=8, random_state=1)
    return Trajectories([path + offset for path in near], dt=DT, names=near.names)


@cache
def fit_at(name: str, offset: float, terms: str, recipe: str) -> Fit:
    return fit_dataset(data_at(name, offset), terms, recipe)


def drift_error(name: str, offset: float, terms: str, recipe: str) -> float:
    grid = central_grid(data_at(name, 0.0).states, points=21)
    found = fit_at(name, offset, terms, recipe).generator.drift(grid + offset)
    return relative_error(found, TRUTHS[name].drift(grid))


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize(
    ("terms", "recipe"),
    [
        ("poly3", "sharp-euler"),
        ("auto", "sharp-euler"),
        ("poly3", "sharp"),
        ("trig", "sharp-euler"),
    ],
)
def test_a_fit_far_from_zero_is_that_near_zero(
    name: str, offset: float, terms: str, recipe: str
) -> None:
    near, far = (fit_at(name, place, terms, recipe).generator for place in (0.0, offset))
    assert near.basis.coordinates == ("x",)
    # Wherever data are, the formula is the same, about the same point of them: that of the truth,
    # as far as the data tell.
    other = fit_at(name, OFFSETS[0], terms, recipe).generator
    assert far.relative().equations() == other.relative().equations()
    about = far.basis.origin[0] - offset
    assert about == pytest.approx(other.basis.origin[0] - OFFSETS[0], abs=1e-9)
    assert [c.target for c in far.coefficients] == [c.target for c in near.coefficients]
    grid = central_grid(data_at(name, 0.0).states, points=21)
    bands = far.bands(grid + offset)
    assert np.all((bands.drift_low <= near.drift(grid)) & (near.drift(grid) <= bands.drift_high))
    # Digits of the point: no more than can be told, 0.05 of a spread.
    assert abs(about) <= 0.05
    assert len(f"{abs(about):.10f}".rstrip("0")) <= len("0.00")


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_measured_from_zero_the_double_well_is_lost(offset: float) -> None:
    # Negative control of the test above: the same stages, with terms in x itself.
    data, recipe = data_at("double well", offset), fit_at("double well", 0.0, "poly3", "sharp")
    assert isinstance(recipe.recipe, LikelihoodRecipe)
    summary = data_summary(data, standardise=True)
    basis = library("poly3").bind(data.names)
    found = recover_by_likelihood(data, basis, summary, recipe.recipe)
    grid = central_grid(data_at("double well", 0.0).states, points=21)
    drift = basis.values(grid + offset) @ found.drift.T
    error = relative_error(drift, TRUTHS["double well"].drift(grid))
    assert error > 1.5 * drift_error("double well", 0.0, "poly3", "sharp")


def test_the_weak_form_is_written_about_the_same_origin() -> None:
    near, far = (fit_at("double well", o, "poly3", "paper").generator for o in (0.0, 1e3))
    assert far.basis.origin.tolist() == [1e3]
    grid = central_grid(data_at("double well", 0.0).states, points=21)
    np.testing.assert_allclose(far.drift(grid + 1e3), near.drift(grid), atol=1e-4)
    written = sympy.lambdify([X], far.to_sympy().drift[0])
    np.testing.assert_allclose(
        [written(x) for x in grid[:, 0] + 1e3], far.drift(grid + 1e3)[:, 0], rtol=1e-9, atol=1e-9
    )


def test_a_root_is_no_rival_of_a_coordinate_far_from_zero() -> None:
    rivals = fit_at("Ornstein-Uhlenbeck", 1e3, "auto", "sharp").rivals
    assert rivals is not None
    assert "sines and cosines" in {rival.name for rival in rivals}
    assert "square roots" not in {rival.name for rival in rivals}
