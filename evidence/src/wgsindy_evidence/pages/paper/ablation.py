"""Leave one out: what each mechanism is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wgsindy_evidence import published
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.paper.ablation import COMPONENTS, Component, ablated_case
from wgsindy_evidence.experiments.paper.ladder import PAPER_SYSTEMS
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import COLUMN_WIDTH, Content
from wgsindy_evidence.pages.summary import Index, median

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEADINGS = (
    *("Left out", "drift", "paper", "tensor", "paper", "PSD", "condition number"),
    *("score", "paper", "all 19", "score, 1/4 of the data"),
)
PUBLISHED_NAMES = {
    "pooling of trajectories": "multi-trajectory pooling",
    "GLS drift weights": "GLS-whitening",
    "local polynomial": "local-poly (order 2)",
    "anisotropic kernels": "anisotropic (cov) bandwidth",
    "adaptive lasso": "adaptive-LASSO",
    "Cholesky tensor": "Cholesky-PSD",
}
MEASURED = ("drift", "tensor", "psd", "condition", "score")
PANELS = {
    "drift": "drift error",
    "tensor": "tensor error",
    "condition": "condition number",
    "quarter": "1 - score, 1/4 data",
}


class Left(NamedTuple):
    """Medians over the paper's 13 systems without one component.

    ``quarter`` is the score on a quarter of the data, ``everywhere`` that over all systems.
    """

    component: Component
    drift: float
    tensor: float
    psd: float
    condition: float
    score: float
    everywhere: float
    quarter: float


def build(lines: Sequence[Line]) -> Content:
    """Tables of both recipes, and a figure of ratios to the complete recipe."""
    index = Index(lines)
    rows = {recipe: summarise(index, recipe) for recipe in COMPONENTS}
    grids = {
        f"ablation-{recipe}": Grid(
            f"Leave one out, recipe {recipe}: medians over cases",
            HEADINGS,
            [_cells(row, recipe) for row in found],
        )
        for recipe, found in rows.items()
    }
    return Content(grids, {"ablation": plot_ablation(rows)})


def summarise(index: Index, recipe: str) -> list[Left]:
    """One row a component; the first is the complete recipe."""
    found = []
    shared = [name for name in index.systems if name in PAPER_SYSTEMS]
    for component in COMPONENTS[recipe]:
        whole, part = (_results(index, component, shared, quarter=q) for q in (False, True))
        figures = {key: median(whole, key) for key in MEASURED}
        everywhere = median(_results(index, component, index.systems), "score")
        quarter = median(part, "score")
        found.append(Left(component, **figures, everywhere=everywhere, quarter=quarter))
    return found


def _results(
    index: Index, component: Component, systems: Sequence[str], *, quarter: bool = False
) -> list[dict[str, float]]:
    return index.results(
        ablated_case(component, system, seed, quarter=quarter)
        for system in systems
        for seed in index.seeds
    )


def _cells(row: Left, recipe: str) -> list[str]:
    own = recipe == "paper" and not row.component.added
    theirs = _published(row.component.label) if own else {}
    nothing = float("nan")
    return [
        f"(added: {row.component.label})" if row.component.added else row.component.label,
        number(row.drift),
        number(theirs.get("drift recovery", nothing)),
        number(row.tensor, 4),
        number(theirs.get("tensor recovery", nothing), 4),
        number(row.psd, 2),
        number(row.condition, 1),
        number(row.score),
        number(theirs.get("sample efficiency", nothing)),
        number(row.everywhere),
        number(row.quarter),
    ]


def _published(label: str) -> dict[str, float]:
    """Figures by capability; of the complete recipe those that all rows share."""
    rows = published.rows("leave_one_out")
    if label not in PUBLISHED_NAMES:
        return {row["capability"]: published.figure(row, "baseline_metric") for row in rows}
    own = [row for row in rows if row["ingredient"] == PUBLISHED_NAMES[label]]
    return {row["capability"]: published.figure(row, "leave_one_out_metric") for row in own}


def plot_ablation(rows: dict[str, list[Left]]) -> Figure:
    """Draw how many times as large each error is without a component."""
    from matplotlib.figure import Figure

    sizes = [len(found) - 1 for found in rows.values()]
    figure = Figure(figsize=(COLUMN_WIDTH, 1.6 + 0.27 * sum(sizes)), layout="constrained")
    panels = figure.subplots(
        len(rows), len(PANELS), sharey="row", squeeze=False, height_ratios=sizes
    )
    for line, (recipe, found) in zip(panels, rows.items(), strict=True):
        for axes, (key, label) in zip(line, PANELS.items(), strict=True):
            _plot_ratios(axes, found, key)
            axes.set_title(f"{recipe}: {label}" if key == "drift" else label, fontsize=8)
    figure.supxlabel("times the complete recipe's, median over cases")
    return figure


def _plot_ratios(axes: Axes, rows: Sequence[Left], key: str) -> None:
    values = np.array([_error(row, key) for row in rows])
    ratios = values[1:] / values[0]
    places = np.arange(len(ratios))[::-1]
    colours = np.where(ratios > 1, "C3", "C0")
    axes.barh(places, ratios - 1, left=1, color=colours, height=0.6)
    axes.axvline(1, color="0.3", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlim(0.5, max(12.0, 2.2 * float(np.max(ratios, where=~np.isnan(ratios), initial=0))))
    axes.set_xticks([1, 10], ["1", "10"])
    axes.set_yticks(places, [_change(row.component) for row in rows[1:]], fontsize=8)
    for place, ratio in zip(places, ratios, strict=True):
        axes.text(max(ratio, 1) * 1.1, place, f"{ratio:.2f}", va="center", fontsize=7)


def _change(component: Component) -> str:
    return f"{'with' if component.added else 'no'} {component.label}"


def _error(row: Left, key: str) -> float:
    return 1 - row.quarter if key == "quarter" else float(getattr(row, key))
