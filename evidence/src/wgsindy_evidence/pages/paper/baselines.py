"""Baselines beside the recipes: scores with unequal and equal budgets, and a map by system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wgsindy import zoo
from wgsindy_evidence import published
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.fits import fit_case
from wgsindy_evidence.experiments.paper.baselines import Entrant, entrants
from wgsindy_evidence.experiments.paper.ladder import PAPER_SYSTEMS
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.heatmap import plot_heatmap
from wgsindy_evidence.pages.page import COLUMN_WIDTH, Content
from wgsindy_evidence.pages.summary import Index, median

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADINGS = ("Method", "R", "score", "paper", "drift", "tensor", "cos12", "PSD", "seconds")
MEASURED = ("score", "drift", "tensor", "cosine", "psd", "seconds")
PUBLISHED_NAMES = {
    "paper": "WG_SINDY_FROZEN",
    "naive": "B0_NAIVE_1D_PORT",
    "kramers-moyal": "KM_LOCAL_MOMENT",
    "temporal-weak": "WEAK_SINDY_TEMPORAL_PROXY",
    "gedmd": "GEDMD_DENSE_PROXY",
}


class Standing(NamedTuple):
    """Medians of one entrant over all cases, and the paper's score for its kind."""

    entrant: Entrant
    score: float
    paper_score: float
    drift: float
    tensor: float
    cosine: float
    psd: float
    seconds: float


def build(lines: Sequence[Line]) -> Content:
    """Both tables, the figure of scores, and the map of errors by system and method."""
    index = Index(lines)
    unequal, equal = (summarise(index, equal=fair) for fair in (False, True))
    return Content(
        {
            "baselines": _grid("the paper's unequal budgets", unequal),
            "baselines-equal": _grid("equal budgets", equal),
        },
        {
            "baselines": plot_scores(unequal, equal),
            "method-heatmap": plot_by_system(index, equal=True),
            "method-heatmap-paper": plot_by_system(index, equal=False),
        },
    )


def summarise(index: Index, *, equal: bool) -> list[Standing]:
    """Collect the entrants of one comparison."""
    found = []
    for entrant in entrants(equal=equal):
        results = _results(index, entrant, [n for n in index.systems if n in PAPER_SYSTEMS])
        theirs = float("nan") if equal else _published_score(entrant.method)
        figures = {key: median(results, key) for key in MEASURED}
        found.append(Standing(entrant, paper_score=theirs, **figures))
    return found


def _results(index: Index, entrant: Entrant, systems: Sequence[str]) -> list[dict[str, float]]:
    return index.results(
        fit_case(system, entrant.method, seed, trajectories=entrant.trajectories)
        for system in systems
        for seed in index.seeds
    )


def _published_score(method: str) -> float:
    """Median over the systems of the paper's medians; it gives no others."""
    rows = published.rows("head_to_head")
    own = [row for row in rows if row["variant_id"] == PUBLISHED_NAMES.get(method)]
    scores = [published.figure(row, "median_inscope_score") for row in own]
    return float(np.median(scores)) if scores else float("nan")


def _grid(budget: str, standings: Sequence[Standing]) -> Grid:
    rows = [
        [
            f"{item.entrant.method}: {item.entrant.title}"
            if item.entrant.title != item.entrant.method
            else item.entrant.method,
            str(item.entrant.trajectories),
            *(number(figure) for figure in (item.score, item.paper_score, item.drift)),
            number(item.tensor, 4),
            *(number(figure) for figure in (item.cosine, item.psd, item.seconds)),
        ]
        for item in standings
    ]
    return Grid(f"Baselines with {budget}: medians over cases", HEADINGS, rows)


def plot_scores(unequal: Sequence[Standing], equal: Sequence[Standing]) -> Figure:
    """Draw the scores of both comparisons side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN_WIDTH, 3.2), layout="constrained")
    axes = figure.subplots()
    places = np.arange(len(equal))[::-1]
    for offset, standings, colour, ink, label in (
        (0.19, unequal, "0.75", "black", "the paper's budgets (R as written)"),
        (-0.19, equal, "C0", "white", "equal budgets (R = 16)"),
    ):
        scores = [item.score for item in standings]
        axes.barh(places + offset, scores, height=0.36, color=colour, label=label)
        for place, item in zip(places + offset, standings, strict=True):
            note = f"{item.score:.3f}  (R = {item.entrant.trajectories})"
            axes.text(0.01, place, note, va="center", fontsize=7, color=ink)
    theirs = [item.paper_score for item in unequal]
    axes.plot(theirs, places + 0.19, "k|", markersize=10, label="published")
    axes.set_yticks(places, [item.entrant.method for item in equal])
    axes.set_xlim(0, 1)
    axes.set_xlabel("composite score (1 = perfect), median over 13 systems")
    figure.legend(loc="outside upper right", ncols=3)
    return figure


def plot_by_system(index: Index, *, equal: bool) -> Figure:
    """Map drift error, tensor error and 1 - cos12 of every method on every system.

    With the paper's budgets, in the paper's colours: they follow log(1 + error).
    """
    shown = entrants(equal=equal)
    titles = [zoo.get(name).title for name in index.systems]
    blocks = {}
    for key, label in (("drift", "drift error"), ("tensor", "tensor error"), ("off", "1 - cos12")):
        cells = [
            [_cell(index, entrant, system, key) for entrant in shown] for system in index.systems
        ]
        blocks[label] = np.array(cells)
    names = [item.method if equal else f"{item.method} ({item.trajectories})" for item in shown]
    return plot_heatmap(blocks, titles, names, one_more=not equal)


def _cell(index: Index, entrant: Entrant, system: str, key: str) -> float:
    results = _results(index, entrant, [system])
    return 1 - median(results, "cosine") if key == "off" else median(results, key)
