"""The weak rows themselves: how well conditioned they are, and how much data each one averages.

The paper's coverage assumption asks of every kernel j that its effective time,
1 / sum Pi_jn^2 / dt, grows without end and that its largest weight, max |Pi_jn|, vanishes. Its case
against the naive port is the conditioning of the raw design. Neither needs a fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy.data import FloatArray, Trajectories
from wgsindy.estimate.weak_form import Smoother, weak_form
from wgsindy.recipes import WeakFormRecipe
from wgsindy.terms import library
from wgsindy_evidence import recipes
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.scope import REPORTING_SEEDS, Scope, in_scope

EXPERIMENT = "weak-rows"
TRAJECTORIES = (1, 4, 16, 64)
SEEDS = REPORTING_SEEDS[:5]
CHUNK = 4096


def row_case(system: str, method: str, trajectories: int, seed: int) -> Case:
    """The rows of one data set."""
    return Case(EXPERIMENT, system, method, seed, trajectories)


def row_cases(scope: Scope) -> list[Case]:
    """The naive port on one trajectory, the paper's recipe on more and more of them."""
    kinds = [("naive", 1), *(("paper", count) for count in TRAJECTORIES)]
    return [
        row_case(system, method, count, seed)
        for system in scope.of_systems(in_scope())
        for seed in scope.of_seeds(SEEDS)
        for method, count in (kinds[:2] if scope.quick else kinds)
    ]


def run_case(case: Case) -> dict[str, Any]:
    """Build the rows, and measure them."""
    system, recipe = zoo.get(case.system), recipes.get(case.recipe)
    assert isinstance(recipe, WeakFormRecipe)
    data = fits.simulate(case, system)
    basis = library(system.library).bind(data.names)
    weak = weak_form(data, basis, recipe, seed=case.seed)
    time, largest = coverage(weak.smoothers[0], data)
    return {
        "condition": weak.condition_number,
        "raw_condition": float(np.linalg.cond(weak.design)),
        "total_time": data.total_time,
        "time_least": float(time.min()),
        "time_median": float(np.median(time)),
        "largest": float(largest.max()),
        "largest_median": float(np.median(largest)),
    }


def coverage(smoother: Smoother, data: Trajectories) -> tuple[FloatArray, FloatArray]:
    """Effective time and largest weight of each kernel that sees any sample, ``(J,)`` each."""
    square, largest = np.zeros(len(smoother.centres)), np.zeros(len(smoother.centres))
    for chunk in data.chunks(CHUNK):
        rows = smoother.rows(chunk, data.mean_dt)
        square += rows**2 @ (1.0 / chunk.dt)
        largest = np.maximum(largest, np.abs(rows).max(axis=1))
    seen = square > 0  # of a grid, some kernels see nothing
    return 1.0 / square[seen], largest[seen]
