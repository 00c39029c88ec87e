"""The naive port, system by system: where one-dimensional fits fail in two dimensions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wgsindy import zoo
from wgsindy_evidence import published
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.fits import fit_case
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.heatmap import plot_heatmap
from wgsindy_evidence.pages.page import Content
from wgsindy_evidence.pages.summary import Index, median

HEADINGS = ("System", "score", "paper", "drift", "paper", "tensor", "paper", "PSD", "paper")
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
        cells.append([ours["drift"], ours["tensor"], 1 - ours["psd"]])
    titles = [row[0] for row in rows]
    values = np.array(cells)
    names = ("drift error", "tensor error", "1 - PSD share")
    blocks = {name: values[:, [place]] for place, name in enumerate(names)}
    return Content(
        {"naive": Grid("Naive port, R = 1: medians", HEADINGS, rows)},
        {"naive": plot_heatmap(blocks, titles, ["naive"])},
    )
