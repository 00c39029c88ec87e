"""First or second order, by the data: motions seen by their positions, and the zoo."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy.data import Trajectories
from wgsindy.errors import WgsindyWarning
from wgsindy.estimate import fit_dataset
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.hidden.motions import MOTIONS, noisy, states
from wgsindy_evidence.experiments.hidden.positions import STEPS
from wgsindy_evidence.experiments.ours.unseen import SYSTEMS as UNSEEN
from wgsindy_evidence.experiments.ours.unseen import fine_path, substeps_of
from wgsindy_evidence.scope import REPORTING_SEEDS, Scope

EXPERIMENT, RECIPE, LIBRARY = "orders", "sharp", "poly2"
# Of the zoo, systems that have noise of their own in each coordinate.
FIRST_ORDER = (
    *("indep_ou", "correlated_ou", "coupled_ou", "rotational_ou", "double_well_transverse"),
    *("gradient_potential", "maier_stein", "diag_multiplicative", "nondiag_cholesky"),
    *("stuart_landau", "brusselator", "heston_logsv"),
)
# Processes outside of the zoo, in one dimension to three, at coarse steps and with noise.
COARSE = ("ou", "double_well", "multiplicative", "rotation", "two_wells")
TRAJECTORIES, SAMPLES = 8, 640
NOISE = 0.02


def order_cases(scope: Scope) -> list[Case]:
    """Every motion by its positions, and every system of first order."""
    found = []
    for seed in scope.of_seeds(REPORTING_SEEDS):
        found += [Case(EXPERIMENT, key, RECIPE, seed, TRAJECTORIES) for key in FIRST_ORDER]
        for kind, keys in (("motion", tuple(MOTIONS)), ("coarse", COARSE)):
            for key in keys:
                for dt in STEPS:
                    options = (("kind", kind), ("dt", dt), ("noise", NOISE))
                    found.append(Case(EXPERIMENT, key, RECIPE, seed, TRAJECTORIES, 0, options))
    wanted = scope.of_systems(tuple(dict.fromkeys(case.system for case in found)))
    return [case for case in found if case.system in wanted]


def run_case(case: Case) -> dict[str, Any]:
    """Ask which order the data prefer."""
    data, second = _data(case)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)
        fit = fit_dataset(data, LIBRARY, case.recipe, order="auto")
    assert fit.orders is not None
    preferred = fit.orders.preferred
    return {
        "second": second,
        "right": preferred == (2 if second else 1),
        "wrong": preferred == (1 if second else 2),
        "log_evidence": max(fit.orders.log_evidence, -1e9),
        "seconds": time.process_time() - started,
    }


def _data(case: Case) -> tuple[Trajectories, bool]:
    """Samples, and whether they are positions of a second-order process."""
    options = case.settings
    if not options:
        return zoo.get(case.system).simulate(case.seed, trajectories=case.trajectories), False
    dt, noise = options["dt"], options["noise"]
    if options["kind"] == "motion":
        d = MOTIONS[case.system].positions
        seen = noisy(states(case.system, dt, case.seed), noise, case.seed)[: case.trajectories]
        return Trajectories(list(seen[:, :, :d]), dt, names=("x", "y")[:d]), True
    process, substeps = UNSEEN[case.system], substeps_of(dt)
    path = fine_path(
        process,
        dt=dt,
        steps=SAMPLES,
        substeps=substeps,
        trajectories=case.trajectories,
        rng=np.random.default_rng([case.seed, 5]),
    )[:, ::substeps]
    return Trajectories(list(noisy(path, noise, case.seed)), dt, names=process.names), False
