"""Honest nulls: errors beside those of two oracles, and what limits each system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wgsindy import zoo
from wgsindy.zoo import scores as metrics
from wgsindy_evidence import published
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.paper.nulls import METHODS, NULLS, Null, null_case
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import COLUMN_WIDTH, Content
from wgsindy_evidence.pages.summary import Index, median

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDER = ("sharp-euler", "paper", "oracle", "weak-oracle")
SHOWN = ("paper", "floor", "weak oracle", "published", "its oracle")
HEADINGS = (
    *("System", "library", "what is wrong", "drift: sharp-euler", *SHOWN),
    *("tensor: sharp-euler", *SHOWN, "what limits the drift"),
)
PUBLISHED = (
    *("drift_rel_l2", "oracle_drift_rel_l2", "diffusion_rel_l2", "oracle_diffusion_rel_l2"),
)
RECOVERED = 0.25  # errors below this are no limit
FAR = 2.0  # times the oracle's error beyond which terms were missed or not on offer
STYLES = {
    "paper": ("C0", "o"),
    "sharp-euler": ("C3", "s"),
    "oracle": ("0.3", "|"),
    "weak-oracle": ("C0", "|"),
}
LABELS = {"oracle": "floor: true terms and noise", "weak-oracle": "true terms, weak rows"}


class Limit(NamedTuple):
    """Medians of one limit: method -> error."""

    null: Null
    drift: dict[str, float]
    tensor: dict[str, float]

    @property
    def label(self) -> str:
        """Name of the system, with the library where it is not the declared one."""
        title = zoo.get(self.null.system).title
        return f"{title}, {self.null.library}" if self.null.library else title

    @property
    def cause(self) -> str:
        """Where the drift error comes from, read off the two errors."""
        ours, floor = self.drift["sharp-euler"], self.drift["oracle"]
        if np.isnan(ours) or np.isnan(floor):
            driftless = np.isnan(ours) and np.isnan(floor)
            return "no drift to find" if driftless else "unknown: a fit failed"
        if ours < RECOVERED:
            return "nothing: recovered"
        if floor >= metrics.LARGEST_DRIFT_ERROR or ours < FAR * floor:
            return "data"
        return "library" if self.null.library or _unspanned(self.null.system) else "weak terms"


def _unspanned(system: str) -> bool:
    return zoo.get(system).true_coefficients() is None


def build(lines: Sequence[Line]) -> Content:
    """Table and figure of the limits."""
    limits = summarise(lines)
    rows = [_cells(limit) for limit in limits]
    grid = Grid("Limits beside oracles that know the terms: medians", HEADINGS, rows, left=3)
    return Content({"nulls": grid}, {"nulls": plot_nulls(limits)})


def summarise(lines: Sequence[Line]) -> list[Limit]:
    """Collect the limits; the drift error is over all components."""
    index = Index(lines)
    found = []
    for null in NULLS:
        results = {
            method: index.results(null_case(null, method, seed) for seed in index.seeds)
            for method in METHODS
        }
        if results["sharp-euler"]:
            drift = {method: median(items, "whole_drift") for method, items in results.items()}
            tensor = {method: median(items, "tensor") for method, items in results.items()}
            found.append(Limit(null, drift, tensor))
    return found


def _cells(limit: Limit) -> list[str]:
    system = zoo.get(limit.null.system)
    chosen = limit.null.library or system.library
    theirs = _published(limit.null)
    return [
        system.title,
        chosen if isinstance(chosen, str) else "formulas",
        str(system.limitation),
        *(number(limit.drift[method]) for method in ORDER),
        *(number(figure) for figure in theirs[:2]),
        *(number(limit.tensor[method], 4) for method in ORDER),
        *(number(figure) for figure in theirs[2:]),
        limit.cause,
    ]


def _published(null: Null) -> list[float]:
    """Drift error, its oracle's, tensor error, its oracle's in the paper's file."""
    for row in published.rows("honest_nulls"):
        wrong = row["failure_mode"] == "wrong_library"
        if row["system"] == null.system and wrong == bool(null.library):
            return [published.figure(row, column) for column in PUBLISHED]
    return [float("nan")] * len(PUBLISHED)


def plot_nulls(limits: Sequence[Limit]) -> Figure:
    """Draw the errors of both recipes beside those of the oracle."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN_WIDTH, 1.3 + 0.3 * len(limits)), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    places = np.arange(len(limits))[::-1]
    for axes, target in zip(panels, ("drift", "tensor"), strict=True):
        for method, (colour, marker) in STYLES.items():
            errors = [getattr(limit, target)[method] for limit in limits]
            size, label = (11, LABELS[method]) if method in LABELS else (5, method)
            axes.plot(errors, places, marker, color=colour, markersize=size, label=label)
        gate = metrics.LARGEST_DRIFT_ERROR if target == "drift" else metrics.LARGEST_TENSOR_ERROR
        axes.axvline(gate, color="0.7", linestyle=":", label="gate")
        axes.set(xscale="log", xlabel=f"{target} error")
        axes.grid(axis="y", color="0.93")
    names = [f"{limit.label}\n{zoo.get(limit.null.system).limitation}" for limit in limits]
    panels[0].set_yticks(places, names, fontsize=6.5)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure
