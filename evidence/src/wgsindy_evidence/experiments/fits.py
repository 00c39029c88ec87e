"""Fit a system by any method and score it: the work of ladder, ablation, baselines, convergence.

A method is a recipe, a baseline, or an oracle. The experiments share one store, so that a fit that
two of them need runs once.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from wgsindy import zoo
from wgsindy.data import Trajectories
from wgsindy.errors import WgsindyWarning
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator
from wgsindy.zoo import System
from wgsindy.zoo import scores as metrics
from wgsindy_evidence import recipes
from wgsindy_evidence.baselines import BASELINES, fit_oracle, fit_weak_oracle
from wgsindy_evidence.campaign import Case

EXPERIMENT, ORACLE, WEAK_ORACLE = "fit", "oracle", "weak-oracle"


def fit_case(
    system: str,
    method: str,
    seed: int,
    *,
    trajectories: int = 16,
    steps: int = 0,
    library: str = "",
) -> Case:
    """One fit; ``library`` replaces the one that the system declares."""
    options = (("library", library),) if library else ()
    return Case(EXPERIMENT, system, method, seed, trajectories, steps, options)


def simulate(case: Case, system: System) -> Trajectories:
    """Simulate the data of a case."""
    return system.simulate(
        case.seed, trajectories=case.trajectories, steps=case.steps or system.steps
    )


@lru_cache(maxsize=4)
def _simulated(system: str, seed: int, trajectories: int, steps: int) -> Trajectories:
    """Data of a case; neighbouring cases fit the same, and making them takes as long as a fit."""
    return simulate(Case(EXPERIMENT, system, "", seed, trajectories, steps), zoo.get(system))


def run_case(case: Case) -> dict[str, Any]:
    """Simulate, fit, score."""
    system = zoo.get(case.system)
    data = _simulated(case.system, case.seed, case.trajectories, case.steps)
    started = time.perf_counter()
    estimate, condition = fit(system, data, case)
    seconds = time.perf_counter() - started
    truth = system.observed_generator
    scores = metrics.scores_of(estimate, truth, data.states, scored=system.scored)
    every = (
        scores.drift
        if system.scored is None
        else metrics.scores_of(estimate, truth, data.states).drift
    )
    return {
        "drift": scores.drift,
        "whole_drift": every,
        "tensor": scores.tensor,
        "cosine": scores.cosine,
        "psd": scores.psd,
        "score": scores.score,
        "fields": scores.fields,
        "condition": condition,
        "time": data.total_time,
        "seconds": seconds,
    }


def fit(system: System, data: Trajectories, case: Case) -> tuple[Generator, float]:
    """Fit by the method of the case; also the condition number of the design, NaN if none."""
    if case.recipe == ORACLE:
        return fit_oracle(data, system.observed_generator), float("nan")
    if case.recipe == WEAK_ORACLE:
        return fit_weak_oracle(data, system.observed_generator, seed=case.seed), float("nan")
    if case.recipe in BASELINES and case.recipe not in recipes.OWN:
        baseline = BASELINES[case.recipe]
        return baseline.fit(data, _library(system, case), seed=case.seed), float("nan")
    found = estimator(system, data, case)
    return found.generator_, found.fit_.condition


def estimator(system: System, data: Trajectories, case: Case) -> WGSINDy:
    """Fit by the recipe of the case."""
    with warnings.catch_warnings():
        # Floored variances repeat their floor, stalled sensors their last value: on purpose.
        warnings.simplefilter("ignore", WgsindyWarning)
        recipe = recipes.get(case.recipe)
        return WGSINDy(_library(system, case), recipe, random_state=case.seed).fit(data)


def _library(system: System, case: Case) -> str | Sequence[str]:
    return case.settings.get("library", system.library)
