"""The leverage read-out: the correlation of Heston's shocks, and all four of its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy.data import FloatArray
from wgsindy.model import Generator, tensor
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.scope import Scope

EXPERIMENT, SYSTEM = "leverage", "heston_logsv"
# The paper sweeps the first four.
CORRELATIONS = (-0.85, -0.65, -0.5, -0.2, 0.2, 0.5, 0.65, 0.85)
QUICK_CORRELATIONS = 2
METHODS = ("paper", "sharp-euler")
TRAJECTORIES, STEPS = 4, 3000  # the paper's
SEEDS = range(1000, 1030)


def leverage_cases(scope: Scope) -> list[Case]:
    """Every correlation by every method."""
    chosen = CORRELATIONS[:QUICK_CORRELATIONS] if scope.quick else CORRELATIONS
    return [
        Case(EXPERIMENT, system, method, seed, TRAJECTORIES, STEPS, (("rho", rho),))
        for system in scope.of_systems((SYSTEM,))
        for rho in chosen
        for method in METHODS
        for seed in scope.of_seeds(SEEDS)
    ]


def run_case(case: Case) -> dict[str, Any]:
    """Fit, and read off the correlation over the central grid and the model's parameters."""
    system = zoo.get(case.system, **case.settings)
    data = fits.simulate(case, system)
    estimate, _ = fits.fit(system, data, case)
    grid = metrics.central_grid(data.states)
    low, middle, high = np.percentile(estimate.leverage(grid), [25, 50, 75])
    scores = metrics.scores_of(estimate, system.generator, data.states, scored=system.scored)
    return {
        "rho": float(middle),
        # One that is the same everywhere has none, up to rounding.
        "rho_spread": round(float(high - low), 12),
        "tensor": scores.tensor,
        **heston_parameters(estimate, grid),
    }


def heston_parameters(estimate: Generator, grid: FloatArray) -> dict[str, float]:
    """Parameters of the Heston model closest to the generator on the grid; NaN where undefined.

    Least squares of b2 on (1, v) and of the tensor's entries on v: kappa (theta - v), v, xi^2 v,
    rho xi v.
    """
    variance = grid[:, 1]
    constant, slope = np.linalg.lstsq(
        np.column_stack([np.ones_like(variance), variance]), estimate.drift(grid)[:, 1], rcond=None
    )[0]
    entries = tensor.entries_of(estimate.diffusion(grid))
    price, covariance, vol = entries.T @ variance / (variance @ variance)
    kappa, xi = -float(slope), float(np.sqrt(max(vol, 0.0)))
    shocks = float(np.sqrt(max(price * vol, 0.0)))
    return {
        "kappa": kappa,
        "theta": float(constant) / kappa if kappa else float("nan"),
        "xi": xi,
        "rho_parametric": float(covariance) / shocks if shocks else float("nan"),
    }
