"""Random systems seen in random ways: how far from the truth a fit is, and whether there is one.

A case is a family and a seed. The seed draws the parameters of the process, the sampling step (of
its fastest time), the number and length of trajectories, the noise and the rounding, all from
ranges that are fixed here and in :mod:`~wgsindy_evidence.experiments.arrive.families`. The floor is
least squares with the true terms and the true noise on the fine, clean path behind the samples, as
on the page of measured data. An error that ends a fit is a result, and no reason to stop.
"""

from __future__ import annotations

import time
import warnings
import zlib
from typing import Any, NamedTuple

import numpy as np

from wgsindy.data import FloatArray, Trajectories
from wgsindy.errors import WgsindyWarning
from wgsindy.estimator import WGSINDy
from wgsindy.model import Generator
from wgsindy_evidence import recipes
from wgsindy_evidence.baselines.oracle import fit_oracle
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.arrive.families import FAMILIES, drawn_process
from wgsindy_evidence.experiments.arrive.paths import euler_path
from wgsindy_evidence.experiments.ours.measured import coverage, errors_of, found_terms
from wgsindy_evidence.experiments.ours.unseen import Process
from wgsindy_evidence.scope import Scope

EXPERIMENT, RECIPE = "arrive", "sharp"
SEEDS = range(1000, 1025)  # for reporting: 400 cases; choices were made on seeds below 1000
STEPS = (0.01, 0.9)  # of the fastest time, log-uniform
SAMPLES, TRAJECTORIES, LONGEST = (2000, 20_000), (1, 32), 2000  # log-uniform; of a trajectory
NOISE, NOISY = 0.3, 0.5  # largest, in spreads, and the share of noisy cases
ROUNDING, ROUNDED = (0.05, 0.7), 0.25  # in standard deviations of a step, and the share of cases
FINEST, FEWEST_SUBSTEPS = 0.005, 5  # longest Euler step in fastest times
PILOT_TIME, PILOT_STEP, PILOT_TRAJECTORIES = 1.0, 2e-4, 32  # of the settling time
POINTS = 2000  # states at which fields are compared


class View(NamedTuple):
    """How a process is seen: noise in spreads, a grid in standard deviations of a step."""

    fastest: float
    dt: float
    trajectories: int
    steps: int
    noise: float
    rounding: float

    @property
    def substeps(self) -> int:
        """Euler steps of a sampling step."""
        return max(FEWEST_SUBSTEPS, int(np.ceil(self.dt / (FINEST * self.fastest) - 1e-9)))


def random_cases(scope: Scope) -> list[Case]:
    """Every family with every seed."""
    return [
        Case(EXPERIMENT, family, RECIPE, seed, 0)
        for seed in scope.of_seeds(SEEDS)
        for family in scope.of_systems(tuple(FAMILIES))
    ]


def run_case(case: Case) -> dict[str, Any]:
    """Draw, simulate, spoil, fit, compare."""
    process, view = drawn(case.system, case.seed)
    clean, floors = clean_samples(process, view, _stream(case.system, case.seed, 2))
    data = seen(process, view, clean, _stream(case.system, case.seed, 3))
    return {**view._asdict(), **floors, **arrived(process, data, clean, case.recipe)}


def drawn(family: str, seed: int) -> tuple[Process, View]:
    """The process and the view of a case."""
    rng = np.random.default_rng(_stream(family, seed, 0))
    process = drawn_process(family, rng)
    fastest = fastest_time(process, _stream(family, seed, 1))
    samples, trajectories = _log_uniform(rng, *SAMPLES), round(_log_uniform(rng, *TRAJECTORIES))
    return process, View(
        fastest=fastest,
        dt=fastest * _log_uniform(rng, *STEPS),
        trajectories=trajectories,
        steps=min(round(samples / trajectories), LONGEST),
        noise=float(rng.uniform(0, NOISE) * (rng.random() < NOISY)),
        rounding=float(rng.uniform(*ROUNDING) * (rng.random() < ROUNDED)),
    )


def fastest_time(process: Process, seed: list[int]) -> float:
    """One over the root mean square, over states, of the largest eigenvalue of the Jacobian."""
    h, steps = PILOT_STEP * process.settling, round(PILOT_TIME / PILOT_STEP)
    path = euler_path(process, starts(process, PILOT_TRAJECTORIES), h, steps, steps, seed)
    states = path[:, ::50].reshape(-1, path.shape[2])
    rates = np.abs(np.linalg.eigvals(process.truth.drift_jacobian(states))).max(axis=1)
    return float(1 / np.sqrt(np.mean(rates**2)))


def starts(process: Process, trajectories: int) -> FloatArray:
    """The start of the process for each trajectory, ``(R, d)``; paths settle from there."""
    return np.tile(np.array(process.start, dtype=np.float64), (trajectories, 1))


def clean_samples(
    process: Process, view: View, seed: list[int]
) -> tuple[Trajectories, dict[str, float]]:
    """Clean samples, and the floors of the path behind them."""
    substeps, h = view.substeps, view.dt / view.substeps
    settling = int(np.ceil(process.settling / h))
    begun = starts(process, view.trajectories)
    path = euler_path(process, begun, h, settling, view.steps * substeps, seed)
    fine = Trajectories(list(path), h, names=process.names)
    clean = Trajectories(list(path[:, ::substeps]), view.dt, names=process.names)
    oracle = errors_of(fit_oracle(fine, process.truth), process.truth, _points(clean))
    return clean, {
        "drift_floor": oracle["drift"],
        "tensor_floor": oracle["tensor"] * float(np.sqrt(substeps)),
    }


def seen(process: Process, view: View, clean: Trajectories, seed: list[int]) -> Trajectories:
    """Samples with noise, then rounded."""
    rng, spread = np.random.default_rng(seed), clean.states.std(axis=0)
    variance = np.einsum("npp->np", process.truth.diffusion(clean.states)).mean(axis=0)
    width = view.rounding * np.sqrt(variance * view.dt)
    states = []
    for samples in clean:
        seen = samples + view.noise * spread * rng.standard_normal(samples.shape)
        states.append(np.rint(seen / width) * width if view.rounding else seen)
    return Trajectories(states, view.dt, names=clean.names)


def arrived(
    process: Process, data: Trajectories, clean: Trajectories, recipe: str
) -> dict[str, Any]:
    """Errors at clean states, coverage and verdict, or the error in which it all ended."""
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WgsindyWarning)  # rounded samples repeat, on purpose
        try:
            started = time.process_time()
            estimator = fitted(process.library, data, recipe)
            found["seconds"] = time.process_time() - started
            found |= compared(estimator.generator_, process, _points(clean))
            found["verdict"] = judged(estimator)
            found["seconds_with_verdict"] = time.process_time() - started
        except Exception as error:  # whatever it is, a user would stand there without an answer
            found["error"] = f"{type(error).__name__}: {error}"
    return found


def fitted(library: str, data: Trajectories, recipe: str) -> WGSINDy:
    """Fit."""
    return WGSINDy(library, recipes.get(recipe)).fit(data)


def judged(estimator: WGSINDy) -> str:
    """Return the verdict on a fit, which may fit the data anew in other ways."""
    return str(estimator.diagnostics_.verdict)


def compared(estimate: Generator, process: Process, points: FloatArray) -> dict[str, Any]:
    """Errors of the fields, false and missed terms, and shares of points that bands hold."""
    found: dict[str, Any] = errors_of(estimate, process.truth, points)
    found |= found_terms(estimate, process.truth)
    if estimate.uncertainty is not None:
        found |= coverage(estimate, process.truth, points)
    return found


def _points(clean: Trajectories) -> FloatArray:
    """States of the clean path, at most so many, evenly spread over it."""
    return clean.states[:: -(-len(clean.states) // POINTS)]


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _stream(family: str, seed: int, number: int) -> list[int]:
    return [seed, number, zlib.crc32(family.encode())]
