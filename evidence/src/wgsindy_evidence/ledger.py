"""The ledger of the master table: what the lines of each system, and all systems, add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wgsindy import zoo
from wgsindy.data import FloatArray
from wgsindy.zoo import scores as metrics
from wgsindy_evidence import support
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.published import table_row

PAPER_NAMES = {"drift": "objective_drift", "tensor": "diffusion"}  # columns of published.csv
# Rows whose truth is far from anything that their library can say.
UNSPANNED = ("mueller_brown", "sabr")


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
    action: float
    score: float
    floor_drift: float
    floor_tensor: float
    held_out_drift: float
    held_out_tensor: float
    ledger: support.Ledger
    paper: dict[str, float]
    seconds: float
    terms: Terms

    @property
    def passes(self) -> bool:
        """Whether the medians pass the accuracy thresholds."""
        return self.failed == 0 and metrics.accurate(self.drift, self.tensor, self.psd, self.cosine)

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
        action=median("action"),
        score=_score(results),
        floor_drift=median("floor_drift"),
        floor_tensor=median("floor_tensor"),
        held_out_drift=median("held_out_drift"),
        held_out_tensor=median("held_out_tensor"),
        ledger=support.stable_support(*supports) if results else support.Ledger(0, 0, 0),
        paper=table_row(system.key),
        seconds=median("seconds_fit"),
        terms=sum((_counted(result) for result in results), Terms()),
    )


def _score(results: Sequence[dict[str, Any]]) -> float:
    """Median composite score, defined for systems without a drift as well."""
    keys = ("drift", "tensor", "psd", "cosine")
    scores = [metrics.composite_score(*(result[key] for key in keys)) for result in results]
    return float(np.median(scores)) if scores else float("nan")


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
    table pass the accuracy thresholds; ``ratio`` is the geometric mean of error over floor in
    scope, ``spanned_ratio`` over all rows but those whose truth the library misses by far.
    ``ledger`` is that of the systems in scope, in the standardised coordinates of each data set.
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
    ledger: support.Ledger


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
        ledger=sum((row.ledger for row in kept), support.Ledger(0, 0, 0)),
    )


def _mean_ratio(rows: Sequence[Row], key: str) -> float:
    ratios = [getattr(row, key) / getattr(row, f"floor_{key}") for row in rows]
    return float(np.exp(np.mean(np.log(ratios))))
