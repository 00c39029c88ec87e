"""Pictures of how sure a method is, and how it gets better with more data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from wgsindy_evidence.experiments.ours.calibration import Reliability
from wgsindy_evidence.peers.match import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "os^Dv"
COLUMNS = 2
DODGE = 1.06  # factor between the times of neighbouring methods: equal shares stay visible


def plot_match(curves: Sequence[Curve]) -> Figure:
    """Draw the share of exact matches against the observed time, one panel a system."""
    from matplotlib.figure import Figure

    systems = list(dict.fromkeys(curve.system for curve in curves))
    rows = -(-len(systems) // COLUMNS)
    figure = Figure(figsize=(7.2, 0.6 + 2.4 * rows), layout="constrained")
    panels = figure.subplots(rows, COLUMNS, sharey=True, squeeze=False)
    for axes in panels.ravel()[len(systems) :]:
        axes.remove()
    for axes, system in zip(panels.ravel(), systems, strict=False):
        plot_shares([curve for curve in curves if curve.system == system], axes)
    for axes in panels[:, 0]:
        axes.set_ylabel("share of exact matches")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    return figure


def plot_shares(curves: Sequence[Curve], axes: Axes) -> Axes:
    """Draw the curves of one system; bars are the binomial standard error."""
    for number, curve in enumerate(curves):
        shares, n = np.array(curve.shares), np.array(curve.n)
        # One imaginary hit and miss each: at a share of 0 or 1 the plain error bar would vanish.
        smooth = (shares * n + 1) / (n + 2)
        error = np.sqrt(smooth * (1 - smooth) / (n + 2))
        bars = np.minimum(error, [shares, 1 - shares])
        axes.errorbar(
            np.array(curve.times) * DODGE ** (number - (len(curves) - 1) / 2),
            shares,
            bars,
            color=f"C{number}",
            marker=MARKERS[number % len(MARKERS)],
            markersize=5,
            capsize=2,
            label=curve.method,
        )
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_ylim(-0.05, 1.08)
    axes.set_xlabel("total observed time")
    axes.set_title(curves[0].title, fontsize=10)
    return axes


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
    axes.errorbar(stated, present, bars, color="C0", marker="o", capsize=2, label="sharp")
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
