"""The naive port: centres on a grid, and kernels that see nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from wgsindy import Trajectories, WGSINDy, zoo
from wgsindy.data import FloatArray
from wgsindy.estimate.weak_form import build_smoother, grid_of_centres
from wgsindy.passes import data_summary
from wgsindy.recipes import WeakFormRecipe
from wgsindy_evidence.recipes import NAIVE, PAPER


def walk(dimension: int, n: int = 400, seed: int = 0) -> Trajectories:
    noise = np.random.default_rng(seed).standard_normal((n, dimension))
    return Trajectories([np.cumsum(noise, axis=0) * (np.arange(dimension) + 1)], dt=0.1)


@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize(("dimension", "side"), [(1, 64), (2, 8), (3, 4)])
def test_grid_centres_cover_the_range_evenly(dimension: int, side: int, standardise: bool) -> None:
    data = walk(dimension)
    summary = data_summary(data, standardise=standardise)
    centres = grid_of_centres(summary, 64)
    assert centres.shape == (64, dimension)
    assert len(np.unique(centres, axis=0)) == 64
    states = data.states[:-1]  # the last one has no increment
    centre = states.mean(axis=0) if standardise else 0.0
    scale = states.std(axis=0, ddof=1) if standardise else 1.0
    for p in range(dimension):
        places = np.unique(centres[:, p])
        assert len(places) == side
        seen = ((states - centre) / scale)[:, p]
        np.testing.assert_allclose([places[0], places[-1]], [seen.min(), seen.max()], rtol=1e-9)
        np.testing.assert_allclose(np.diff(places), (places[-1] - places[0]) / (side - 1))


@pytest.mark.parametrize(("dimension", "wanted"), [(1, 50), (2, 50), (3, 50), (3, 1), (2, 200)])
def test_about_as_many_centres_as_wanted(dimension: int, wanted: int) -> None:
    found = len(grid_of_centres(data_summary(walk(dimension), standardise=True), wanted))
    side = round(found ** (1 / dimension))
    assert side**dimension == found
    # No whole side is closer to the one that would give just as many.
    ideal = wanted ** (1 / dimension)
    assert abs(side - ideal) <= 0.5


def islands() -> Trajectories:
    """Two clouds a hundred widths apart: between them a grid has kernels that see nothing."""
    rng = np.random.default_rng(4)
    return Trajectories([rng.standard_normal((300, 2)) + shift for shift in (0.0, 100.0)], dt=0.1)


def blocks(data: Trajectories, recipe: WeakFormRecipe) -> Iterator[tuple[FloatArray, FloatArray]]:
    summary = data_summary(data, standardise=recipe.standardise)
    smoother = build_smoother(data, summary, recipe, seed=0)
    for chunk in data.chunks():
        yield smoother.centres, smoother.rows(chunk, data.mean_dt).copy()


@pytest.mark.parametrize("order", [0, 2])
def test_kernels_that_see_nothing_give_rows_of_zeros(order: Any) -> None:
    # Narrow kernels: a small part of the distance of neighbouring centres.
    factor = 0.06
    recipe = replace(NAIVE, name="narrow", local_order=order, bandwidth_factor=factor)
    data = islands()
    ((centres, rows),) = blocks(data, recipe)
    assert np.isfinite(rows).all()
    bandwidth = factor * np.ptp(data.states[:, 0]) / 7
    distance = np.linalg.norm(centres[:, None] - data.states[None], axis=2).min(axis=1)
    # exp(-9^2 / 2) is zero for all purposes, exp(-2^2 / 2) is not.
    unseen, seen = distance > 9 * bandwidth, distance < 2 * bandwidth
    assert unseen.sum() > 10
    # Some of them have weights above the smallest number: not all zeros are rounding.
    assert (distance[unseen] < 30 * bandwidth).any()
    assert seen.sum() >= 2
    assert not rows[unseen].any()
    # Where there are samples the rows still reproduce a constant.
    np.testing.assert_allclose(rows[seen].sum(axis=1), 1, rtol=1e-4)  # a ridge of 1e-8


def test_a_fit_with_empty_kernels_is_finite() -> None:
    paths = [zoo.get("rotational_ou").simulate(s, trajectories=1, steps=200)[0] for s in (0, 1)]
    data = Trajectories([paths[0], paths[1] + 30.0], dt=0.01)
    narrow = replace(NAIVE, name="narrow", bandwidth_factor=0.2)
    found = WGSINDy("poly1", narrow).fit(data).generator_
    assert np.isfinite(found.drift(data.states)).all()
    assert np.isfinite(found.diffusion(data.states)).all()


def test_no_kernel_of_k_means_is_empty() -> None:
    """The control: centres in the samples have no rows of zeros."""
    ((_, rows),) = blocks(islands(), replace(PAPER, n_centres=16))
    assert (np.abs(rows).max(axis=1) > 0).all()
