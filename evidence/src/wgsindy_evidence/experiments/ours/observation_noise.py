"""Observation noise: what it does to the tensor, and what corrections put right."""

from __future__ import annotations

from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy.data import FloatArray, Trajectories
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.scope import Scope

EXPERIMENT = "noise"
SYSTEMS = ("diag_multiplicative", "heston_logsv", "rotational_ou")  # the paper's two, and ours
METHODS = ("paper", "paper-noise", "sharp-euler", "sharp", "sharp-noise")
KINDS = ("gaussian", "laplace")
LEVELS = (0.0, 0.05, 0.1)


def noise_cases(scope: Scope) -> list[Case]:
    """Every kind and level of noise, with and without correction."""
    return [
        Case(EXPERIMENT, system, method, seed, options=(("kind", kind), ("level", level)))
        for system in scope.of_systems(SYSTEMS)
        for level in LEVELS
        for kind in (KINDS if level else KINDS[:1])
        for method in METHODS
        for seed in scope.of_seeds()
    ]


def run_case(case: Case) -> dict[str, Any]:
    """Fit noisy data; errors are on the grid of the clean ones, so that it is the same for all."""
    system = zoo.get(case.system)
    clean = fits.simulate(case, system)
    noisy = observed(clean, case.settings["kind"], float(case.settings["level"]), case.seed)
    estimate, _ = fits.fit(system, noisy, case)
    scores = metrics.scores_of(estimate, system.generator, clean.states, scored=system.scored)
    return {
        "drift": scores.drift,
        "tensor": scores.tensor,
        "psd": scores.psd,
        "fields": scores.fields,
    }


def observed(data: Trajectories, kind: str, level: float, seed: int) -> Trajectories:
    """Add independent noise of ``level`` standard deviations of each coordinate."""
    # A stream of its own: the same seed has already made the trajectories.
    rng = np.random.default_rng([seed, 1])
    size = level * data.states.std(axis=0)
    states = [clean + size * _unit_noise(kind, clean.shape, rng) for clean in data]
    return Trajectories(states, data.mean_dt, names=data.names)


def _unit_noise(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    if kind == "gaussian":
        return rng.standard_normal(shape)
    return rng.laplace(size=shape) / np.sqrt(2)  # so that its variance is one
