"""Formulas of the paper's text, each by a value of the recipe: what it changes, and what not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from wgsindy import Generator, WGSINDy, zoo
from wgsindy.data import Trajectories
from wgsindy.recipes import PAPER

SYSTEM = zoo.get("heston_sv")


@cache
def data() -> Trajectories:
    return SYSTEM.simulate(0, trajectories=8, steps=800)


@cache
def fitted(**changes: Any) -> Generator:
    return WGSINDy(SYSTEM.library, replace(PAPER, **changes)).fit(data()).generator_


def test_shrinkage_in_raw_units_mixes_the_numbers_as_they_are() -> None:
    points = data().states[:50]
    bare, raw = fitted(shrinkage=0.0).diffusion(points), fitted(shrinkage_units="raw")
    mean = np.einsum("npp->n", bare) / 2
    expected = 0.95 * bare + 0.05 * mean[:, None, None] * np.eye(2)
    np.testing.assert_allclose(raw.diffusion(points), expected, rtol=1e-9)
    # A price's variance lands on the variance of variance; in units of noise it does not.
    ratio = np.median(raw.diffusion(points)[:, 1, 1] / bare[:, 1, 1])
    ours = np.median(fitted().diffusion(points)[:, 1, 1] / bare[:, 1, 1])
    assert ratio > 100
    assert 0.9 < ours < 1.1


def test_the_order_of_the_columns_is_kept_if_asked_for() -> None:
    assert fitted(cholesky_order="given").tensor_field.order == (0, 1)
    swapped = Trajectories([path[:, ::-1] for path in data()], data().mean_dt, names=("v", "s"))
    orders = [
        WGSINDy("poly2", replace(PAPER, cholesky_order=order)).fit(swapped).generator_
        for order in ("noisiest", "given")
    ]
    ours = fitted().tensor_field.order
    assert ours is not None
    assert orders[0].tensor_field.order == tuple(1 - place for place in ours)
    assert orders[1].tensor_field.order == (0, 1)


def test_one_tensor_is_that_of_the_first_drift() -> None:
    points = data().states[:50]
    once = fitted(refit_tensor=False)
    np.testing.assert_array_equal(once.drift(points), fitted().drift(points))
    np.testing.assert_array_equal(once.diffusion(points), fitted(gls="none").diffusion(points))


@pytest.mark.parametrize("factor", [1e-4, 1.0])
def test_only_absolute_floors_depend_on_units(factor: float) -> None:
    system = zoo.get("two_factor_vasicek")
    rates = system.simulate(0, trajectories=4)
    moved = Trajectories([factor * path for path in rates], rates.mean_dt, names=rates.names)
    points = rates.states[:20]
    for floors, same in (("relative", True), ("absolute", factor == 1.0)):
        recipe = replace(PAPER, floors=floors)  # type: ignore[arg-type]
        plain, other = (WGSINDy("poly2", recipe).fit(kind).generator_ for kind in (rates, moved))
        expected = plain.diffusion(points) * factor**2
        found = other.diffusion(factor * points)
        assert np.allclose(found, expected, rtol=1e-6, atol=0) == same


def test_a_heavy_ridge_of_the_pilot_changes_the_weights() -> None:
    points = data().states[:50]
    same = fitted(pilot_ridge=1e-6).drift(points)
    np.testing.assert_array_equal(same, fitted().drift(points))
    assert not np.array_equal(fitted(pilot_ridge=1e3).diffusion(points), fitted().diffusion(points))
