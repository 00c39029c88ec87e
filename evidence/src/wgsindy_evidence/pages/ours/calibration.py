"""Calibration: coverage of the intervals, and inclusion probabilities against facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wgsindy.model import normal_quantile
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.grid import Grid, number, percent
from wgsindy_evidence.pages.page import Content

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVEL = 0.95
BINS = np.array([0.0, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 1.0])
CALIBRATION_HEADINGS = (
    *("System", "coefficients", "covered", "rms deviation", "clustered"),
    *("after selection", "covered", "missed"),
)


def build(lines: Sequence[Line]) -> Content:
    """Both tables and the reliability curve."""
    rows, bins = summarise(lines), reliability(lines)
    return Content(
        {
            "calibration": calibration_grid(rows, "Coverage of 95 % intervals"),
            "reliability": reliability_grid(bins),
        },
        {"reliability": plot_reliability(bins)},
        {"calibration": in_short(rows)},
    )


def in_short(rows: Sequence[Calibration]) -> str:
    """Coverage after selection, over all systems and in the worst one."""
    *systems, everything = rows
    worst = min((row.selected.share for row in systems if row.selected.count), default=float("nan"))
    return (
        "- **Error bars that hold.** 95 % intervals of coefficients that a fit has selected by "
        f"itself hold the truth in {percent(everything.selected.share, 1)} of "
        f"{everything.selected.count} cases over {len(systems)} systems; in the worst system in "
        f"{percent(worst, 1)} (`wgsindy bench calibration`)."
    )


@dataclass(frozen=True)
class Coverage:
    """Share of coefficients whose interval covers the truth, and the root mean square deviation."""

    count: int
    share: float
    deviation: float

    @classmethod
    def of(cls, deviations: Sequence[float]) -> Coverage:
        """Count deviations, in standard errors, within the 95 % interval."""
        values = np.abs(np.array(deviations, dtype=np.float64))
        if not len(values):
            return cls(0, float("nan"), float("nan"))
        inside = values <= normal_quantile(LEVEL)
        return cls(len(values), float(inside.mean()), float(np.sqrt(np.mean(values**2))))


@dataclass(frozen=True)
class Calibration:
    """One system, or all: coverage given the terms, after selection, and missed terms."""

    system: str
    given: Coverage
    clustered: Coverage
    selected: Coverage
    missed: int


def summarise(lines: Sequence[Line]) -> list[Calibration]:
    """One row a system, and the last row for all of them."""
    done = [line for line in lines if line.result is not None]
    systems = list(dict.fromkeys(line.case.system for line in done))
    rows = [_row(name, [line for line in done if line.case.system == name]) for name in systems]
    return [*rows, _row("all", done)]


def _row(name: str, lines: Sequence[Line]) -> Calibration:
    results = [line.result for line in lines if line.result is not None]

    def pooled(key: str) -> Coverage:
        return Coverage.of([value for result in results for value in result[key]])

    return Calibration(
        name,
        pooled("given"),
        pooled("clustered"),
        pooled("selected"),
        sum(result["missed"] for result in results),
    )


@dataclass(frozen=True)
class Reliability:
    """Terms whose inclusion probability is in one bin: mean probability and share present."""

    count: int
    stated: float
    present: float


def reliability(lines: Sequence[Line]) -> list[Reliability]:
    """Compare stated inclusion probabilities with how often the terms are there."""
    results = [line.result for line in lines if line.result is not None]
    stated = np.array([value for result in results for value in result["inclusion"]])
    present = np.array([value for result in results for value in result["present"]])
    number = np.clip(np.searchsorted(BINS, stated, side="right") - 1, 0, len(BINS) - 2)
    return [
        Reliability(
            int(np.sum(chosen)), float(stated[chosen].mean()), float(present[chosen].mean())
        )
        for bin_number in range(len(BINS) - 1)
        for chosen in [number == bin_number]
        if chosen.any()
    ]


def _calibration_cells(row: Calibration) -> list[str]:
    return [
        row.system,
        str(row.given.count),
        f"{row.given.share:.1%}",
        number(row.given.deviation, 2),
        f"{row.clustered.share:.1%}",
        str(row.selected.count),
        f"{row.selected.share:.1%}",
        str(row.missed),
    ]


def calibration_grid(rows: Sequence[Calibration], title: str) -> Grid:
    """The table of coverages."""
    return Grid(title, CALIBRATION_HEADINGS, [_calibration_cells(row) for row in rows])


def reliability_grid(bins: Sequence[Reliability]) -> Grid:
    """Stated inclusion probabilities beside how often terms are there."""
    stated = [[f"{item.stated:.3f}", f"{item.present:.3f}", str(item.count)] for item in bins]
    headings = ("stated probability", "share present", "terms")
    return Grid("Inclusion probabilities", headings, stated, left=0)


def plot_reliability(bins: Sequence[Reliability]) -> Figure:
    """Draw how often terms are there against the inclusion probability stated for them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6, 4.2), layout="constrained")
    axes = figure.subplots()
    stated = np.array([item.stated for item in bins])
    present = np.array([item.present for item in bins])
    count = np.array([item.count for item in bins])
    smooth = (present * count + 1) / (count + 2)
    error = 1.96 * np.sqrt(smooth * (1 - smooth) / (count + 2))
    bars = np.minimum(error, [present, 1 - present])
    axes.plot([0, 1], [0, 1], color="0.6", linestyle="--", label="calibrated")
    axes.errorbar(stated, present, bars, color="C0", marker="o", capsize=2, label="all fits")
    for x, y, n in zip(stated, present, count, strict=True):
        side, align = (-7, "right") if x > 0.9 else (7, "left")
        # Where bins crowd, at both ends, the outermost figure steps out of the way.
        lift = 4 if x > 0.99 else -9 if x < 0.01 else -3
        shift = (side, lift)
        axes.annotate(f"{n}", (x, y), shift, textcoords="offset points", ha=align, fontsize=7)
    axes.set(xlabel="stated inclusion probability", ylabel="share of terms that are there")
    axes.set_title("Inclusion probabilities; small figures: number of terms", fontsize=9)
    axes.legend(frameon=False, loc="upper left")
    return figure
