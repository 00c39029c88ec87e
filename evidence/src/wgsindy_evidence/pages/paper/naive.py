"""The naive port, system by system, and the weak rows that it and the paper's recipe solve."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np

from wgsindy import zoo
from wgsindy_evidence import published
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.fits import fit_case
from wgsindy_evidence.experiments.paper.weak_rows import TRAJECTORIES, row_case
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.heatmap import plot_heatmap
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.summary import Index, median

HEADINGS = (
    *("System", "score", "paper", "drift", "paper", "tensor", "paper", "PSD", "paper"),
    "condition number",
)
CONDITION_HEADINGS = (
    *("System", "naive: raw columns", "unit columns", "paper: raw columns", "unit columns"),
)
COVERAGE_HEADINGS = (
    *("System", "observed time", "effective time: median kernel", "least kernel"),
    *("largest weight: median kernel", "largest"),
)
GROWTH_HEADINGS = ("Trajectories", *COVERAGE_HEADINGS[2:])
COVERAGE = ("time_median", "time_least", "largest_median", "largest")
FULL = 16  # trajectories of the master table
COLUMNS = {
    "score": "median_inscope_score",
    "drift": "median_objective_drift_rel_l2",
    "tensor": "median_diffusion_rel_l2",
    "psd": "median_psd_valid_pct",
}


def build(lines: Sequence[Line]) -> Content:
    """Table beside the paper's figures, and a map of the errors."""
    index = Index(lines)
    theirs = {row["system"]: row for row in published.rows("naive_port")}
    rows, cells = [], []
    for system in index.systems:
        results = index.results(
            fit_case(system, "naive", seed, trajectories=1) for seed in index.seeds
        )
        ours = {key: median(results, key) for key in COLUMNS}
        row = [zoo.get(system).title]
        for key, column in COLUMNS.items():
            known = published.figure(theirs[system], column) if system in theirs else float("nan")
            row += [number(ours[key]), number(known)]
        rows.append(row)
        condition = median(results, "condition")
        row.append(_times(condition))
        cells.append([ours["drift"], ours["tensor"], 1 - ours["psd"], condition])
    titles = [row[0] for row in rows]
    values = np.array(cells)
    names = ("drift error", "tensor error", "1 - PSD share", "condition number")
    blocks = {name: values[:, [place]] for place, name in enumerate(names)}
    return Content(
        {"naive": Grid("Naive port, R = 1: medians", HEADINGS, rows)},
        {"naive": plot_heatmap(blocks, titles, ["naive"])},
    )


def build_rows(lines: Sequence[Line]) -> Content:
    """Conditioning of the naive rows beside the paper's, and how much data each kernel averages."""
    index = Index(lines)
    conditions, covered = [], []
    for system in index.systems:
        naive, paper, full = (
            _of_rows(index, [system], method, count)
            for method, count in (("naive", 1), ("paper", 1), ("paper", FULL))
        )
        title = zoo.get(system).title
        figures = [
            _times(median(found, key))
            for found in (naive, paper)
            for key in ("raw_condition", "condition")
        ]
        conditions.append([title, *figures])
        covered.append([title, number(median(full, "total_time"), 1), *_coverage(full)])
    growth = [
        [str(count), *_coverage(_of_rows(index, index.systems, "paper", count))]
        for count in TRAJECTORIES
    ]
    return Content(
        {
            "conditioning": Grid("Condition numbers, R = 1", CONDITION_HEADINGS, conditions),
            "coverage": Grid(f"Coverage of the kernels, R = {FULL}", COVERAGE_HEADINGS, covered),
            "coverage-growth": Grid("Coverage, medians over systems", GROWTH_HEADINGS, growth),
        }
    )


def _of_rows(
    index: Index, systems: Sequence[str], method: str, count: int
) -> list[dict[str, float]]:
    return index.results(
        row_case(system, method, count, seed) for system in systems for seed in index.seeds
    )


def _coverage(results: list[dict[str, float]]) -> list[str]:
    return [_figures(median(results, key)) for key in COVERAGE]


def _figures(value: float) -> str:
    return "-" if isnan(value) else f"{value:.2g}"


def _times(value: float) -> str:
    """A condition number: digits while it has few, powers of ten beyond."""
    return "-" if isnan(value) else f"{value:.1f}" if value < 1e4 else f"{value:.0e}"
