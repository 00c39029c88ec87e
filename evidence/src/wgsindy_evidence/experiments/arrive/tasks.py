"""Two tasks on which fits were lost: Lotka-Volterra at coarse steps, and limit cycles in noise.

Lotka-Volterra is a published task: 8 trajectories over a time of 50, noise of 0.2 of the state,
data of the Stratonovich equation by Heun steps of 0.001. Errors are mean squares against the Ito
drift of those data, f + 0.02 x, at the states of 16 further trajectories. The noisy cycles are Van
der Pol and Hindmarsh-Rose, 16 trajectories of 640 samples, with noise of a share of the spread.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from wgsindy.data import FloatArray, Trajectories
from wgsindy.errors import WgsindyWarning
from wgsindy.model import Generator
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments.arrive.paths import euler_path, heun_path
from wgsindy_evidence.experiments.arrive.random_cases import RECIPE, fitted
from wgsindy_evidence.experiments.ours.measured import coverage, errors_of
from wgsindy_evidence.experiments.ours.unseen import Process, X, Y, Z
from wgsindy_evidence.experiments.tensors import diagonal
from wgsindy_evidence.scope import REPORTING_SEEDS, Scope

LOTKA_VOLTERRA, NOISY = "arrive-lotka-volterra", "arrive-noisy"
TASK = "lotka_volterra_task"
LIBRARIES, DTS = ("poly2", "poly3", "auto"), (0.02, 0.1, 0.2, 0.3, 0.5, 0.8)
TIME, HEUN_STEP, SCALE = 50.0, 0.001, 0.2
TRAJECTORIES, TEST_TRAJECTORIES, TEST_STRIDE = 8, 16, 100
ITO = Generator.from_sympy(
    ("x", "y"),
    [1.1 * X - 0.4 * X * Y + SCALE**2 / 2 * X, 0.1 * X * Y - 0.4 * Y + SCALE**2 / 2 * Y],
    diagonal(SCALE**2 * X**2, SCALE**2 * Y**2),
)

VAN_DER_POL = Process(
    "noisy_van_der_pol",
    "Van der Pol",
    (Y, 1.2 * (1 - X**2) * Y - X),
    diagonal(0.1225, 0.1225),
    "poly3",
    (1.0, 0.0),
)
HINDMARSH_ROSE = Process(
    "noisy_hindmarsh_rose",
    "Hindmarsh-Rose",
    (Y - X**3 + 3 * X**2 + 2 - Z, 1 - 5 * X**2 - Y, 0.06 * (4 * (X + 1.6) - Z)),
    diagonal(0.04, 0.04, 0.04),
    "poly3",
    (0.0, 0.0, 0.0),
)
CYCLES = {process.key: process for process in (VAN_DER_POL, HINDMARSH_ROSE)}
CYCLE_TRAJECTORIES, STEPS, STRIDE = 16, 640, 7  # every seventh clean state is compared


class Cell(NamedTuple):
    """A process, its noise in spreads, its step, and the longest Euler step."""

    system: str
    noise: float
    dt: float
    finest: float

    @property
    def substeps(self) -> int:
        """Euler steps of a sampling step: at least ten."""
        return max(10, round(self.dt / self.finest))

    @property
    def options(self) -> tuple[tuple[str, float | str], ...]:
        """What a case keeps of it."""
        return (("dt", self.dt), ("noise", self.noise))


CELLS = (
    *(
        Cell(VAN_DER_POL.key, noise, dt, 0.005)
        for noise, dt in (
            (0.1, 0.02),
            (0.1, 0.05),
            (0.15, 0.05),
            (0.15, 0.1),
            (0.2, 0.05),
            (0.2, 0.1),
        )
    ),
    *(Cell(HINDMARSH_ROSE.key, 0.05, dt, 0.002) for dt in (0.02, 0.05)),
)


def lotka_volterra_cases(scope: Scope) -> list[Case]:
    """Every step and library; those of a seed share a simulation."""
    return [
        Case(
            LOTKA_VOLTERRA,
            system,
            RECIPE,
            seed,
            TRAJECTORIES,
            int(TIME / dt + 1e-9),
            (("dt", dt), ("library", library)),
        )
        for system in scope.of_systems((TASK,))
        for seed in scope.of_seeds(REPORTING_SEEDS)
        for dt in DTS
        for library in LIBRARIES
    ]


def noisy_cases(scope: Scope) -> list[Case]:
    """Every cell."""
    return [
        Case(NOISY, cell.system, RECIPE, seed, CYCLE_TRAJECTORIES, STEPS, cell.options)
        for system in scope.of_systems(tuple(CYCLES))
        for seed in scope.of_seeds(REPORTING_SEEDS)
        for cell in CELLS
        if cell.system == system
    ]


def run_lotka_volterra(case: Case) -> dict[str, Any]:
    """Fit, and compare with the Ito drift."""
    path, points = _lotka_volterra(case.seed)
    dt, library = case.settings["dt"], case.settings["library"]
    stride = round(dt / HEUN_STEP)
    seen = path[:, : case.steps * stride + 1 : stride]
    data = Trajectories(list(seen), dt, names=ITO.names)

    def squares(estimate: Generator) -> dict[str, float]:
        return {"drift": float(np.mean((estimate.drift(points) - ITO.drift(points)) ** 2))}

    return _timed(library, data, case.recipe, squares)


def run_noisy(case: Case) -> dict[str, Any]:
    """Simulate, add noise, fit, compare at clean states."""
    cell = next(c for c in CELLS if (c.system, c.options) == (case.system, case.options))
    process, d = CYCLES[cell.system], len(CYCLES[cell.system].names)
    rng = np.random.default_rng([case.seed, 1])
    begun = np.array(process.start) + rng.standard_normal((CYCLE_TRAJECTORIES, d))
    h, steps = cell.dt / cell.substeps, case.steps * cell.substeps
    clean = euler_path(process, begun, h, 0, steps, [case.seed, 2])[:, :: cell.substeps]
    states = clean.reshape(-1, d)
    noisy = clean + cell.noise * states.std(axis=0) * rng.standard_normal(clean.shape)
    points = states[::STRIDE]

    def errors(estimate: Generator) -> dict[str, float]:
        found = errors_of(estimate, process.truth, points)
        return found | (coverage(estimate, process.truth, points) if estimate.uncertainty else {})

    data = Trajectories(list(noisy), cell.dt, names=process.names)
    return _timed(process.library, data, case.recipe, errors)


@lru_cache(maxsize=1)
def _lotka_volterra(seed: int) -> tuple[FloatArray, FloatArray]:
    """Paths ``(8, n, 2)`` and the states ``(m, 2)`` of the test trajectories."""
    steps = round(TIME / HEUN_STEP)
    rng = np.random.default_rng([seed, 1])
    begun = rng.uniform(5, 10, (TRAJECTORIES + TEST_TRAJECTORIES, 2))
    path = heun_path(_growth, SCALE, begun, HEUN_STEP, steps, [seed, 2])
    return path[:TRAJECTORIES], path[TRAJECTORIES:, ::TEST_STRIDE].reshape(-1, 2)


def _growth(x: FloatArray) -> FloatArray:
    return np.array([1.1 * x[0] - 0.4 * x[0] * x[1], 0.1 * x[0] * x[1] - 0.4 * x[1]])


def _timed(
    library: str, data: Trajectories, recipe: str, compare: Callable[[Generator], dict[str, float]]
) -> dict[str, Any]:
    """What is found of a fit, and its processor time; or the error in which it ended."""
    started = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", WgsindyWarning)
            estimate = fitted(library, data, recipe).generator_
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"seconds": time.process_time() - started, **compare(estimate)}
