"""Rivals on positions alone: this package and StochasticForceInference's underdamped estimator.

The same files, and neither is told whether there is noise. What counts is the force and the tensor
of the velocities, on the central grid of the clean states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wgsindy.data import Trajectories
from wgsindy.terms import library
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.hidden.motions import MOTIONS, TRAJECTORIES, noisy, states
from wgsindy_evidence.experiments.hidden.positions import STEPS
from wgsindy_evidence.peers import comparison

EXPERIMENT = "peers-positions"
OURS, THEIRS = "sharp", "sfi-underdamped"
METHODS = (OURS, THEIRS)
SYSTEMS = ("linear", "bistable", "van_der_pol", "kramers")
NOISES = (0.0, 0.05)
SEEDS = range(1000, 1001)  # a fit of theirs takes a minute or more


def cases(
    methods: Sequence[str], seeds: Sequence[int], systems: Sequence[str] | None = None
) -> list[Case]:
    """Cases cell by cell, so that the methods take turns."""
    comparison.check_choice(methods, systems or (), SYSTEMS, "positions")
    return [
        Case(EXPERIMENT, name, method, seed, TRAJECTORIES, 0, (("dt", dt), ("noise", noise)))
        for dt in reversed(STEPS)  # fewer samples first
        for noise in NOISES
        for name in systems or SYSTEMS
        for seed in seeds
        for method in methods
    ]


def run_case(case: Case, *, pythons: Mapping[str, str]) -> dict[str, Any]:
    """Simulate, fit in a fresh process, and score. A fit that fails is a result as well."""
    motion, options = MOTIONS[case.system], case.settings
    d, clean = motion.positions, states(case.system, options["dt"], case.seed)
    seen = noisy(clean, options["noise"], case.seed)[:, :, :d]
    data = Trajectories(list(seen), options["dt"], names=motion.names[:d])
    basis = library(motion.library).bind(motion.names)
    grid = metrics.central_grid(clean.reshape(-1, 2 * d))
    outcome = comparison.run_worker(
        comparison.Task(case.recipe, case.seed, data, basis, grid), pythons
    )
    if "failure" in outcome:
        return {"failure": str(outcome["failure"]), "seconds_cold": outcome["seconds_cold"]}
    force, field = (truth(grid) for truth in (motion.truth.drift, motion.truth.diffusion))
    true = comparison.support_of(motion.truth, basis)[d:]
    return {
        "failure": None,
        "force": metrics.relative_error(outcome["drift"], force[:, d:]),
        "tensor": metrics.relative_error(outcome["tensor"], field[:, d:, d:]),
        "exact": bool(np.array_equal(outcome["support"], true)),
        "seconds_cold": outcome["seconds_cold"],
        "seconds_warm": outcome["seconds_warm"],
        "version": outcome["version"],
    }
