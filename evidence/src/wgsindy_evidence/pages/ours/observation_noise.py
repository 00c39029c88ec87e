"""Observation noise: errors of recipes that take it for the process, and of those that do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wgsindy import zoo
from wgsindy_evidence import published
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.ours.observation_noise import METHODS
from wgsindy_evidence.grid import Grid, number
from wgsindy_evidence.pages.page import COLUMN_WIDTH, Content
from wgsindy_evidence.pages.summary import median

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colour and line of each method: dashed where noise is taken for part of the process.
STYLES = {
    "paper": ("C0", "--"),
    "paper-noise": ("C0", "-"),
    "sharp-euler": ("C3", "--"),
    "sharp": ("C3", "-"),
    "sharp-noise": ("C1", ":"),
}


class Level(NamedTuple):
    """One system, kind and level of noise: method -> medians of drift and tensor error."""

    system: str
    kind: str
    level: float
    drift: dict[str, float]
    tensor: dict[str, float]


def build(lines: Sequence[Line]) -> Content:
    """Table and figure."""
    levels = summarise(lines)
    first, *others = METHODS
    headings = ["System", "noise", f"tensor: {first}", *others, "published", "published, corrected"]
    headings += [f"drift: {first}", *others]
    rows = [_cells(level) for level in levels]
    grid = Grid("Observation noise: medians over seeds", headings, rows, left=2)
    return Content({"noise": grid}, {"noise": plot_noise(levels)})


def summarise(lines: Sequence[Line]) -> list[Level]:
    """One row a system, level and kind of noise."""
    groups: dict[tuple[str, str, float], dict[str, list[dict[str, float]]]] = {}
    for line in lines:
        if line.result is not None:
            set_ = line.case.settings
            key = (line.case.system, str(set_["kind"]), float(set_["level"]))
            groups.setdefault(key, {}).setdefault(line.case.recipe, []).append(line.result)
    return [
        Level(
            *key,
            {method: median(by.get(method, []), "drift") for method in METHODS},
            {method: median(by.get(method, []), "tensor") for method in METHODS},
        )
        for key, by in groups.items()
    ]


def _cells(level: Level) -> list[str]:
    label = f"{100 * level.level:g} % {level.kind}" if level.level else "none"
    theirs = [_published(level, corrected) for corrected in ("False", "True")]
    return [
        zoo.get(level.system).title,
        label,
        *(number(level.tensor[method]) for method in METHODS),
        *(number(figure) for figure in theirs),
        *(number(level.drift[method]) for method in METHODS),
    ]


def _published(level: Level, corrected: str) -> float:
    for row in published.rows("fluctuation"):
        known = (row["system"], row["noise_kind"], float(row["noise_to_signal_ratio"]))
        if known == level[:3] and row["noise_correct"] == corrected:
            return published.figure(row, "diffusion_rel_l2")
    return float("nan")


def plot_noise(levels: Sequence[Level]) -> Figure:
    """Draw tensor errors against the level of Gaussian noise, by every method."""
    from matplotlib.figure import Figure

    systems = list(dict.fromkeys(level.system for level in levels))
    figure = Figure(figsize=(COLUMN_WIDTH, 4.6), layout="constrained")
    panels = figure.subplots(2, len(systems), sharex=True, sharey="row", squeeze=False)
    for row, target in zip(panels, ("tensor", "drift"), strict=True):
        for axes, system in zip(row, systems, strict=True):
            own = [lv for lv in levels if lv.system == system and lv.kind == "gaussian"]
            _plot(own, target, axes)
        row[0].set_ylabel(f"{target} error")
    for axes, system in zip(panels[0], systems, strict=True):
        axes.set_title(zoo.get(system).title)
    figure.supxlabel("noise, percent of each coordinate's standard deviation")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def _plot(levels: Sequence[Level], target: str, axes: Axes) -> None:
    x = np.array([100 * level.level for level in levels])
    for method in METHODS:
        colour, style = STYLES[method]
        errors = [getattr(level, target)[method] for level in levels]
        axes.plot(x, errors, style, marker="o", markersize=4, color=colour, label=method)
    axes.set_yscale("log")
    axes.set_xticks(x)
