"""The master table: every system fitted on every seed, beside the paper's row and the floor."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy.data import FloatArray, Trajectories
from wgsindy.model import Generator, tensor
from wgsindy.passes import data_summary
from wgsindy.terms import library
from wgsindy.zoo import System
from wgsindy.zoo import scores as metrics
from wgsindy_evidence import support
from wgsindy_evidence.baselines import fit_oracle
from wgsindy_evidence.campaign import Case
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.recipes import PAPER, SHARP_EULER
from wgsindy_evidence.scope import Scope, in_scope

FURTHER_SEEDS = range(2000, 2030)
# Rows of the paper's recipe above the paper's interval, and choices that might explain it.
DOUBTFUL = ("maier_stein", "heston_logsv", "sabr")
OTHER_CHOICES = ("paper-cv-minimum", "paper-pooled-rows", "paper-no-cholesky")
# Systems whose Cholesky factors are roots that their library lacks, and the recipe without factors.
ROOTS, CONTROL = ("heston_logsv", "heston_sv", "near_boundary_heston"), "paper-no-cholesky"
FAR = 10.0  # how many times outside the data the tensor must still be positive semidefinite


def table_cases(
    recipe: str, seeds: Sequence[int], systems: Sequence[str] | None = None, trajectories: int = 16
) -> list[Case]:
    """Cases of the master table, system by system."""
    chosen = zoo.names(spanned=True) if systems is None else list(systems)
    for name in chosen:
        zoo.get(name)  # an unknown name is refused before anything runs
    return [Case("table", name, recipe, seed, trajectories) for name in chosen for seed in seeds]


def evidence_cases(scope: Scope) -> list[Case]:
    """The master table of both recipes."""
    systems = scope.of_systems(zoo.names(spanned=True))
    return [
        case
        for recipe in (SHARP_EULER.name, PAPER.name)
        for case in table_cases(recipe, scope.of_seeds(), systems)
    ]


def ledger_cases(scope: Scope) -> list[Case]:
    """Both recipes on every row of the paper's table, and a control where one finds false terms."""
    rows = [name for name in zoo.names(spanned=True) if zoo.get(name).verdict != "variant"]
    chosen = scope.of_systems(rows)
    wanted = {PAPER.name: chosen, SHARP_EULER.name: chosen}
    wanted[CONTROL] = [name for name in ROOTS if name in chosen]
    return [
        Case("ledger", name, recipe, seed)
        for recipe, systems in wanted.items()
        for name in systems
        for seed in scope.of_seeds()
    ]


def further_cases(scope: Scope) -> list[Case]:
    """More seeds where ten leave a question open: the ratio to the floor, and three rows."""
    sharp = table_cases(
        SHARP_EULER.name, scope.of_seeds(FURTHER_SEEDS[:20]), scope.of_systems(in_scope())
    )
    if scope.systems is not None or scope.quick:
        return sharp
    return sharp + [
        case
        for recipe in (PAPER.name, *OTHER_CHOICES)
        for case in table_cases(recipe, scope.of_seeds(FURTHER_SEEDS), DOUBTFUL)
    ]


def run_case(case: Case) -> dict[str, Any]:
    """Simulate, fit, and score against truth, floor and held-out trajectories."""
    system = zoo.get(case.system)
    started = time.perf_counter()
    data = fits.simulate(case, system)
    simulated = time.perf_counter()
    if data.names != system.names:
        raise CampaignError(
            f"only {list(data.names)} of {system.key} is observed, so its truth cannot be compared "
            "with a fit; leave it out of the table."
        )
    estimate = fits.estimator(system, data, case).generator_
    fitted = time.perf_counter()
    truth = system.generator
    scores = metrics.scores_of(estimate, truth, data.states, scored=system.scored)
    floor = metrics.scores_of(fit_oracle(data, truth), truth, data.states, scored=system.scored)
    return {
        "drift": scores.drift,
        "tensor": scores.tensor,
        "cosine": scores.cosine,
        "psd": scores.psd,
        "psd_far": psd_far_outside(estimate, data.states),
        "action": scores.action,
        "score": scores.score,
        "fields": scores.fields,
        "floor_drift": floor.drift,
        "floor_tensor": floor.tensor,
        **_held_out(system, data, case),
        **_support(system, data, estimate),
        **_terms(system, estimate),
        "seconds_simulate": simulated - started,
        "seconds_fit": fitted - simulated,
    }


def run_ledger_case(case: Case) -> dict[str, Any]:
    """Fit, and project estimate and truth onto the library that the system declares."""
    system = zoo.get(case.system)
    data = fits.simulate(case, system)
    estimate = fits.estimator(system, data, case).generator_
    basis = library(system.library).bind(data.names)
    supports = {"support": estimate, "true_support": system.generator}
    return {
        name: np.round(support.projected_support(generator, basis, data.states), 12).tolist()
        for name, generator in supports.items()
    }


def _held_out(system: System, data: Trajectories, case: Case) -> dict[str, float]:
    """Fit one half of the trajectories, score on the states of the other half."""
    if len(data) < 2:
        return {"held_out_drift": float("nan"), "held_out_tensor": float("nan")}
    half = len(data) // 2
    estimate = fits.estimator(system, data.subset(range(half)), case).generator_
    states = data.subset(range(half, len(data))).states
    scores = metrics.scores_of(estimate, system.generator, states, scored=system.scored)
    return {"held_out_drift": scores.drift, "held_out_tensor": scores.tensor}


def _support(system: System, data: Trajectories, estimate: Generator) -> dict[str, Any]:
    """Project estimate and truth onto the declared library, in standardised coordinates."""
    basis = library(system.library).bind(data.names)
    if basis.is_closed:
        basis = basis.in_frame(data_summary(data, standardise=True).frame)
    found = support.projected_support(estimate, basis, data.states)
    true = support.projected_support(system.generator, basis, data.states)
    active, selected = support.is_active(true), support.is_selected(found)
    return {
        "support": np.round(found, 12).tolist(),
        "true_support": np.round(true, 12).tolist(),
        "recall": float(selected[active].mean()) if active.any() else float("nan"),
        "false_positives": float(selected[~active].mean()) if (~active).any() else float("nan"),
    }


def _terms(system: System, estimate: Generator) -> dict[str, int]:
    """Count selected terms against those of the truth, where both are formulas of the library."""
    true = system.true_coefficients()
    if true is None or estimate.uncertainty is None:
        return {}
    written = np.concatenate([estimate.uncertainty.drift, estimate.tensor_field.coefficients]) != 0
    present = true != 0
    return {
        "terms_present": int(np.sum(present)),
        "terms_found": int(np.sum(written & present)),
        "terms_absent": int(np.sum(~present)),
        "terms_false": int(np.sum(written & ~present)),
    }


def psd_far_outside(estimate: Generator, states: FloatArray) -> float:
    """Fraction of points ten times outside the data at which the tensor is semidefinite."""
    grid = metrics.central_grid(states)
    far = grid.mean(axis=0) + FAR * (grid - grid.mean(axis=0))
    if not estimate.basis.is_polynomial:
        far = np.abs(far)  # roots are defined for positive states only
    return float(tensor.is_semidefinite(estimate.diffusion(far)).mean())
