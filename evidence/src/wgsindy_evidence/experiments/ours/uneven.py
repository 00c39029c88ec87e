"""Uneven steps: the same trajectories seen at even times and at times with gamma-distributed steps.

Both see the same total time and, on average, as many samples. What differs is the spacing.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy.data import IntArray, Trajectories
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.scope import REPORTING_SEEDS, Scope

EXPERIMENT = "uneven"
SYSTEMS = (
    *("rotational_ou", "double_well_transverse", "diag_multiplicative"),
    *("van_der_pol", "heston_logsv", "coupled_ou"),
)
# An error of one fit varies by half of itself, and the two samplings share no increment: 40 seeds
# tell a difference of 15 %.
SEEDS = range(1000, 1040)
RECIPES, PAPER_SEEDS = ("sharp-euler", "paper"), REPORTING_SEEDS
SAMPLINGS = ("even", "uneven")
FINE = 20  # steps of the simulation within a mean step of the samples
SHAPE = 2.0  # of the gamma distribution: steps vary by 71 % of their mean


def uneven_cases(scope: Scope) -> list[Case]:
    """Every system in both samplings."""
    return [
        uneven_case(system, recipe, seed, sampling)
        for system in scope.of_systems(SYSTEMS)
        for seed in scope.of_seeds(SEEDS)
        for recipe in (RECIPES if scope.seeds or seed in PAPER_SEEDS else RECIPES[:1])
        for sampling in SAMPLINGS
    ]


def uneven_case(system: str, recipe: str, seed: int, sampling: str) -> Case:
    """One fit of one sampling."""
    return Case(EXPERIMENT, system, recipe, seed, options=(("sampling", sampling),))


@lru_cache(maxsize=1)
def _fine(name: str, seed: int) -> Trajectories:
    """The trajectories behind the samples; the cases of a seed come one after the other."""
    system = zoo.get(name)
    return replace(system, dt=system.dt / FINE, steps=system.steps * FINE).simulate(seed)


def sampled(name: str, sampling: str, seed: int) -> Trajectories:
    """Take samples of the fine trajectories, as often on average either way."""
    fine = _fine(name, seed)
    rng = np.random.default_rng([seed, 2])  # the simulation has had streams 0 and 1
    states, times = [], []
    for trajectory in fine:
        taken = _places(len(trajectory), sampling, rng)
        states.append(trajectory[taken])
        times.append(taken * fine.mean_dt)
    return Trajectories(states, times=times, names=fine.names)


def _places(length: int, sampling: str, rng: np.random.Generator) -> IntArray:
    """Numbers of the samples taken; the first and the last are always among them."""
    if sampling == "even":
        return np.arange(0, length, FINE)
    steps = np.maximum(np.rint(rng.gamma(SHAPE, FINE / SHAPE, size=2 * length // FINE)), 1)
    places = np.cumsum(steps).astype(np.int64)
    return np.concatenate([[0], places[places < length - 1], [length - 1]])


def run_case(case: Case) -> dict[str, Any]:
    """Fit and score; errors are on one grid for both samplings."""
    system = zoo.get(case.system)
    data = sampled(case.system, case.settings["sampling"], case.seed)
    estimate, _ = fits.fit(system, data, case)
    scores = metrics.scores_of(
        estimate, system.generator, _fine(case.system, case.seed).states, scored=system.scored
    )
    return {"drift": scores.drift, "tensor": scores.tensor, "samples": data.n_increments}
