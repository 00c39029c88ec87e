"""The master table: every system fitted on every seed, beside the paper's row and the floor."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy.data.arrays import FloatArray
from wgsindy.data.trajectories import Trajectories
from wgsindy.model import tensor
from wgsindy.model.generator import Generator
from wgsindy.passes.summary import data_summary
from wgsindy.recipes import PAPER, SHARP
from wgsindy.terms.library import library
from wgsindy.zoo import System
from wgsindy.zoo import scores as metrics
from wgsindy_evidence.baselines import fit_oracle
from wgsindy_evidence.campaign import Case, Line
from wgsindy_evidence.errors import CampaignError
from wgsindy_evidence.experiments import fits
from wgsindy_evidence.scope import Scope, in_scope

PAPER_NAMES = {"drift": "objective_drift", "tensor": "diffusion"}  # columns of published.csv
# Rows whose truth is far from anything that their library can say.
UNSPANNED = ("mueller_brown", "sabr")
FURTHER_SEEDS = range(2000, 2030)
# Rows of the paper's recipe above the paper's interval, and choices that might explain it.
DOUBTFUL = ("maier_stein", "heston_logsv", "sabr")
OTHER_CHOICES = ("paper-cv-minimum", "paper-pooled-rows", "paper-no-cholesky")
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
        for recipe in (SHARP.name, PAPER.name)
        for case in table_cases(recipe, scope.of_seeds(), systems)
    ]


def further_cases(scope: Scope) -> list[Case]:
    """More seeds where ten leave a question open: the ratio to the floor, and three rows."""
    sharp = table_cases(
        SHARP.name, scope.of_seeds(FURTHER_SEEDS[:20]), scope.of_systems(in_scope())
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
    scores = metrics.compare(estimate, truth, data.states, scored=system.scored)
    floor = metrics.compare(fit_oracle(data, truth), truth, data.states, scored=system.scored)
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


def _held_out(system: System, data: Trajectories, case: Case) -> dict[str, float]:
    """Fit one half of the trajectories, score on the states of the other half."""
    if len(data) < 2:
        return {"held_out_drift": float("nan"), "held_out_tensor": float("nan")}
    half = len(data) // 2
    estimate = fits.estimator(system, data.subset(range(half)), case).generator_
    states = data.subset(range(half, len(data))).states
    scores = metrics.compare(estimate, system.generator, states, scored=system.scored)
    return {"held_out_drift": scores.drift, "held_out_tensor": scores.tensor}


def _support(system: System, data: Trajectories, estimate: Generator) -> dict[str, Any]:
    """Project estimate and truth onto the declared library, in standardised coordinates."""
    basis = library(system.library).bind(data.names)
    if basis.is_closed:
        basis = basis.in_frame(data_summary(data, standardise=True).frame)
    found = metrics.projected_support(estimate, basis, data.states)
    true = metrics.projected_support(system.generator, basis, data.states)
    active, selected = metrics.is_active(true), metrics.is_selected(found)
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


@dataclass(frozen=True)
class Terms:
    """Terms of the truth, how many were found, terms that are not there, how many were found."""

    present: int = 0
    found: int = 0
    absent: int = 0
    false: int = 0

    def __add__(self, other: Terms) -> Terms:
        return Terms(
            self.present + other.present,
            self.found + other.found,
            self.absent + other.absent,
            self.false + other.false,
        )


@dataclass(frozen=True)
class Row:
    """One system over all seeds: medians, the floor, the paper's figures, and verdicts.

    ``drift_ci`` and ``tensor_ci`` are 95 % bootstrap intervals of the medians.
    """

    system: str
    title: str
    verdict: str
    n: int
    failed: int
    drift: float
    drift_ci: tuple[float, float]
    tensor: float
    tensor_ci: tuple[float, float]
    cosine: float
    psd: float
    psd_far: float
    score: float
    floor_drift: float
    floor_tensor: float
    held_out_drift: float
    held_out_tensor: float
    ledger: metrics.Ledger
    paper: dict[str, float]
    seconds: float
    terms: Terms

    @property
    def passes(self) -> bool:
        """Whether the medians hold the gates."""
        return self.failed == 0 and metrics.passes(self.drift, self.tensor, self.psd, self.cosine)

    def within_paper(self, quantity: str) -> bool:
        """Whether the median error is inside or below the paper's 95 % interval."""
        return not getattr(self, quantity) > self.published(quantity, "ci_high")

    def published(self, quantity: str, figure: str) -> float:
        """The paper's figure (``median``, ``ci_low``, ``ci_high``); NaN if it has none."""
        return self.paper.get(f"{PAPER_NAMES[quantity]}_{figure}", float("nan"))


def summarise(lines: Sequence[Line]) -> list[Row]:
    """Collect lines into one row a system, in the order in which they come."""
    systems = dict.fromkeys(line.case.system for line in lines)
    return [_row(name, [line for line in lines if line.case.system == name]) for name in systems]


def _row(name: str, lines: Sequence[Line]) -> Row:
    system = zoo.get(name)
    results = [line.result for line in lines if line.result is not None]

    def values(key: str) -> FloatArray:
        return np.array([result[key] for result in results], dtype=np.float64)

    def median(key: str) -> float:
        return float(np.median(values(key))) if results else float("nan")

    supports = [
        np.array([result[key] for result in results]) for key in ("support", "true_support")
    ]
    return Row(
        system=name,
        title=system.title,
        verdict=system.verdict,
        n=len(results),
        failed=len(lines) - len(results),
        drift=median("drift"),
        drift_ci=bootstrap_interval(values("drift")),
        tensor=median("tensor"),
        tensor_ci=bootstrap_interval(values("tensor")),
        cosine=median("cosine"),
        psd=float(values("psd").min(initial=1.0)),
        psd_far=float(values("psd_far").min(initial=1.0)),
        score=median("score"),
        floor_drift=median("floor_drift"),
        floor_tensor=median("floor_tensor"),
        held_out_drift=median("held_out_drift"),
        held_out_tensor=median("held_out_tensor"),
        ledger=metrics.stable_support(*supports) if results else metrics.Ledger(0, 0, 0),
        paper=system.published or {},
        seconds=median("seconds_fit"),
        terms=sum((_counted(result) for result in results), Terms()),
    )


def _counted(result: dict[str, Any]) -> Terms:
    names = ("present", "found", "absent", "false")
    return Terms(*(result.get(f"terms_{name}", 0) for name in names))


def bootstrap_interval(values: FloatArray, draws: int = 2000) -> tuple[float, float]:
    """95 % percentile interval of the median, from a fixed random stream."""
    if len(values) == 0 or np.isnan(values).any():
        return float("nan"), float("nan")
    picks = np.random.default_rng(0).integers(len(values), size=(draws, len(values)))
    low, high = np.percentile(np.median(values[picks], axis=1), [2.5, 97.5])
    return float(low), float(high)


@dataclass(frozen=True)
class Overall:
    """What the rows add up to.

    Medians over the systems that the paper declares in scope; ``held`` of all ``rows`` of the
    table hold the gates; ``ratio`` is the geometric mean of error over floor in scope,
    ``spanned_ratio`` over all rows of the table but those whose truth the library misses by far.
    """

    systems: int
    passed: int
    rows: int
    held: int
    drift: float
    tensor: float
    cosine: float
    floor_drift: float
    floor_tensor: float
    ratio_drift: float
    ratio_tensor: float
    spanned_ratio_drift: float
    spanned_ratio_tensor: float
    terms: Terms


def overall(rows: Sequence[Row]) -> Overall | None:
    """Summarise the rows; None if there is none in scope. Ratios are geometric means."""
    kept = [row for row in rows if row.verdict == "pass" and row.n]
    if not kept:
        return None
    listed = [row for row in rows if row.verdict != "variant" and row.n]
    spanned = [row for row in listed if row.system not in UNSPANNED]

    def median(key: str) -> float:
        return float(np.nanmedian([getattr(row, key) for row in kept]))

    cosines = [row.cosine for row in kept if not np.isnan(row.cosine)]
    return Overall(
        systems=len(kept),
        passed=sum(row.passes for row in kept),
        rows=len(listed),
        held=sum(row.passes for row in listed),
        drift=median("drift"),
        tensor=median("tensor"),
        cosine=float(np.median(cosines)) if cosines else float("nan"),
        floor_drift=median("floor_drift"),
        floor_tensor=median("floor_tensor"),
        ratio_drift=_mean_ratio(kept, "drift"),
        ratio_tensor=_mean_ratio(kept, "tensor"),
        spanned_ratio_drift=_mean_ratio(spanned, "drift"),
        spanned_ratio_tensor=_mean_ratio(spanned, "tensor"),
        terms=sum((row.terms for row in rows), Terms()),
    )


def _mean_ratio(rows: Sequence[Row], key: str) -> float:
    ratios = [getattr(row, key) / getattr(row, f"floor_{key}") for row in rows]
    return float(np.exp(np.mean(np.log(ratios))))
