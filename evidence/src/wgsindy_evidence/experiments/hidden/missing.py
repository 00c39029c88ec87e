"""A fifth of the values of one column missing, at random: beside the complete data."""

from __future__ import annotations

import time
import warnings
import zlib
from functools import lru_cache
from typing import Any

import numpy as np

from wgsindy.data import FloatArray, Trajectories
from wgsindy.errors import WgsindyWarning
from wgsindy.estimator import WGSINDy
from wgsindy.zoo import central_grid, relative_error
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.hidden.motions import TRAJECTORIES, noisy
from wgsindy_evidence.experiments.ours.unseen import SYSTEMS, fine_path, substeps_of
from wgsindy_evidence.scope import Scope

EXPERIMENT, RECIPE = "missing", "sharp"
CHOSEN = ("rotation", "oscillator", "two_wells", "cycle")
SAMPLES, DT, NOISES, SHARE = 800, 0.05, (0.0, 0.05), 0.2
WAYS = ("complete", "missing", "in turns")
SEEDS = range(1000, 1040)  # ten tell a ratio of 1.15 from none by chance only


def missing_cases(scope: Scope) -> list[Case]:
    """Every system, complete, with missing values, and with coordinates measured in turns."""
    return [
        missing_case(key, seed, noise, way)
        for key in scope.of_systems(CHOSEN)
        for seed in scope.of_seeds(SEEDS)
        for noise in NOISES
        for way in WAYS
    ]


def missing_case(key: str, seed: int, noise: float, way: str) -> Case:
    """One fit."""
    options = (("noise", noise), ("way", way))
    return Case(EXPERIMENT, key, RECIPE, seed, TRAJECTORIES, SAMPLES, options)


@lru_cache(maxsize=1)
def _clean(key: str, seed: int) -> FloatArray:
    substeps = substeps_of(DT)
    path = fine_path(
        SYSTEMS[key],
        dt=DT,
        steps=SAMPLES,
        substeps=substeps,
        trajectories=TRAJECTORIES,
        rng=np.random.default_rng([seed, zlib.crc32(key.encode())]),
    )
    return np.ascontiguousarray(path[:, ::substeps])


def spoilt(samples: FloatArray, way: str, seed: int) -> FloatArray:
    """Leave out values of ``samples (R, n, d)``."""
    found = samples.copy()
    if way == "missing":
        lost = np.random.default_rng([seed, 7]).random(found.shape[:2]) < SHARE
        found[:, :, -1][lost] = np.nan
    elif way == "in turns":
        d = found.shape[2]
        for p in range(d):
            found[:, np.arange(found.shape[1]) % d != p, p] = np.nan
    return found


def run_case(case: Case) -> dict[str, Any]:
    """Simulate, leave out, fit, compare."""
    process, options = SYSTEMS[case.system], case.settings
    clean = _clean(case.system, case.seed)
    samples = spoilt(noisy(clean, options["noise"], case.seed), options["way"], case.seed)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)
        data = Trajectories(list(samples), DT, names=process.names)
        estimator = WGSINDy(process.library, case.recipe).fit(data)
    seconds = time.process_time() - started
    estimate, grid = estimator.generator_, central_grid(clean.reshape(-1, clean.shape[2]))
    return {
        "drift": relative_error(estimate.drift(grid), process.truth.drift(grid)),
        "tensor": relative_error(estimate.diffusion(grid), process.truth.diffusion(grid)),
        "seconds": seconds,
    }
