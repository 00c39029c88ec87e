"""Errors against the effective horizon, with slopes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wgsindy import zoo
from wgsindy_evidence import published
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.paper.convergence import HORIZONS, METHODS, horizon_case
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import COLUMN_WIDTH, Content
from wgsindy_evidence.pages.summary import Index, median

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TARGETS = {"drift": "drift", "tensor": "diffusion"}  # ours: the paper's word
STYLES = {"paper": ("C0", "o"), "sharp-euler": ("C3", "s"), "oracle": ("0.4", "^")}
LABELS = {"oracle": "information floor"}


class Curve(NamedTuple):
    """Median error of one method against time, and its slope in logarithms."""

    system: str
    method: str
    target: str
    times: tuple[float, ...]
    errors: tuple[float, ...]

    @property
    def slope(self) -> float:
        """-0.5 where errors are noise alone, 0 where they are bias."""
        known = ~np.isnan(self.errors)
        if known.sum() < 2:
            return float("nan")
        times, errors = np.array(self.times)[known], np.array(self.errors)[known]
        return float(np.polyfit(np.log(times), np.log(errors), 1)[0])


def build(lines: Sequence[Line]) -> Content:
    """Table of slopes and figure of curves."""
    curves = summarise(lines)
    return Content({"convergence": _grid(curves)}, {"convergence": plot_curves(curves)})


def summarise(lines: Sequence[Line]) -> list[Curve]:
    """One curve a system, method and target; NaN where a method has no result."""
    index = Index(lines)
    known = {(line.case.system, line.case.trajectories, line.case.steps) for line in lines}
    found = []
    for system in index.systems:
        cases = {time: horizon_case(system, METHODS[0], time, 0) for time in HORIZONS}
        times = [t for t, c in cases.items() if (system, c.trajectories, c.steps) in known]
        for method in METHODS:
            fits = [
                index.results(horizon_case(system, method, time, seed) for seed in index.seeds)
                for time in times
            ]
            for target in TARGETS:
                errors = tuple(median(results, target) for results in fits)
                found.append(Curve(system, method, target, tuple(times), errors))
    return found


def _grid(curves: Sequence[Curve]) -> Grid:
    times = curves[0].times
    headings = ["System", "field", "method", *(f"T = {time:g}" for time in times), "slope"]
    rows = []
    for curve in curves:
        title = zoo.get(curve.system).title
        method = LABELS.get(curve.method, curve.method)
        errors = [number(error, 4) for error in curve.errors]
        rows.append([title, curve.target, method, *errors, number(curve.slope, 2)])
        if curve.method == METHODS[0]:
            rows += _published_row(curve, title)
    return Grid("Median error against observed time", headings, rows, left=3)


def _published_row(curve: Curve, title: str) -> list[list[str]]:
    """The paper's own curve of one seed, where it has one."""
    known = {
        float(row["T_eff"]): row
        for row in published.rows("convergence")
        if row["system"] == curve.system and row["target"] == TARGETS[curve.target]
    }
    if not known:
        return []
    nothing = float("nan")
    errors = [float(known[time]["error"]) if time in known else nothing for time in curve.times]
    slope = float(next(iter(known.values()))["log_slope"])
    cells = [number(error, 4) for error in errors]
    return [[title, curve.target, "published (1 seed)", *cells, number(slope, 2)]]


def plot_curves(curves: Sequence[Curve]) -> Figure:
    """Draw drift and tensor error of each system on logarithmic axes."""
    from matplotlib.figure import Figure

    systems = list(dict.fromkeys(curve.system for curve in curves))
    figure = Figure(figsize=(COLUMN_WIDTH, 4.4), layout="constrained")
    panels = figure.subplots(2, len(systems), sharex=True, sharey="row", squeeze=False)
    for row, target in zip(panels, TARGETS, strict=True):
        for axes, system in zip(row, systems, strict=True):
            _plot([c for c in curves if (c.system, c.target) == (system, target)], axes)
        row[0].set_ylabel(f"{target} error")
    for axes, system in zip(panels[0], systems, strict=True):
        axes.set_title(zoo.get(system).title.replace(" ", "\n", 1), fontsize=8)
    figure.supxlabel("total observed time")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=len(labels),
    )
    return figure


def _plot(curves: Sequence[Curve], axes: Axes) -> None:
    from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

    for curve in curves:
        colour, marker = STYLES[curve.method]
        label = LABELS.get(curve.method, curve.method)
        axes.loglog(
            curve.times, curve.errors, color=colour, marker=marker, markersize=3, label=label
        )
    floor = curves[-1]
    guide = floor.errors[0] * np.sqrt(floor.times[0] / np.array(floor.times))
    axes.loglog(floor.times, guide, color="0.75", linestyle=":", label="slope -1/2")
    axes.xaxis.set_major_locator(FixedLocator(curves[0].times[::2]))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())
