"""Noise of samples that are so far apart, or so small at times, that two steps show no drift."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import sympy
from processes import observed

from wgsindy.data import Trajectories
from wgsindy.errors import WgsindyWarning
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator
from wgsindy.recipes import SHARP, LikelihoodRecipe

X, Y = sympy.symbols("x y", real=True)
SPIKES = [3 * (X - X**3 / 3 - Y), (X + 0.3) / 2], [[0.1, 0], [0, 0.05]]
PREY = [X * (1 - X / 10 - 0.8 * Y), Y * (0.8 * X - 0.8)], [[0.02 * X**2, 0], [0, 0.02 * Y**2]]
SENSOR = np.array([0.07, 0.035])  # 5 % of the spread of spikes
GRID = 0.035  # 0.3 deviations of a step of predators and prey, and 3 where these are fewest


def spikes(seed: int) -> Trajectories:
    truth = Generator.from_sympy(("x", "y"), *SPIKES)
    return observed(truth, [1, 0], dt=0.2, steps=1000, trajectories=8, substeps=40, seed=seed,
                    noise=SENSOR)  # fmt: skip


def prey(seed: int) -> Trajectories:
    truth = Generator.from_sympy(("x", "y"), *PREY)
    clean = observed(truth, [1, 1], dt=0.2, steps=1000, trajectories=8, substeps=40, seed=seed)
    return Trajectories([GRID * np.round(path / GRID) for path in clean], 0.2, names=("x", "y"))


RIGHT: dict[Callable[[int], Trajectories], set[tuple[str, str]]] = {
    spikes: {("b1", "x"), ("b1", "y"), ("b1", "x**3"), ("b2", "1"), ("b2", "x"), ("a11", "1"),
             ("a22", "1")},
    prey: {("b1", "x"), ("b1", "x**2"), ("b1", "x*y"), ("b2", "y"), ("b2", "x*y"), ("a11", "x**2"),
           ("a22", "y**2")},
}  # fmt: skip


def found_terms(
    data: Trajectories, library: str, recipe: LikelihoodRecipe = SHARP
) -> set[tuple[str, str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)  # rounded samples repeat, on purpose
        generator = WGSINDy(library, recipe).fit(data).generator_
    return {(one.target, one.term) for one in generator.coefficients}


@pytest.mark.slow
@pytest.mark.parametrize(("samples", "library"), [(spikes, "poly3"), (prey, "poly2")])
def test_noise_is_followed_from_one_start_or_another(
    samples: Callable[[int], Trajectories], library: str
) -> None:
    data = samples(1)
    assert found_terms(data, library) == RIGHT[samples]
    # Negative control: samples that are taken for exact.
    exact = replace(SHARP, name="exact samples", noise_correction=False)
    assert found_terms(data, library, exact) != RIGHT[samples]
