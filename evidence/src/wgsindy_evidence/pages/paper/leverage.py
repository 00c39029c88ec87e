"""Leverage: recovered correlations against true ones, and the parameters of Heston's model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wgsindy.data import FloatArray
from wgsindy_evidence import published
from wgsindy_evidence.campaign import Line
from wgsindy_evidence.experiments.paper.leverage import METHODS
from wgsindy_evidence.grid import Grid, number, percent
from wgsindy_evidence.pages.page import COLUMN_WIDTH, Content
from wgsindy_evidence.pages.summary import median

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADINGS = (
    *("true rho", "method", "recovered", "abs error", "published", "sign right", "published"),
    *("kappa", "theta", "xi", "rho, fitted"),
)
ENOUGH = 0.2  # correlations from here on must have the right sign


class Point(NamedTuple):
    """One correlation by one method: every seed's estimate and the medians of the parameters."""

    rho: float
    method: str
    found: tuple[float, ...]
    parameters: dict[str, float]

    @property
    def error(self) -> float:
        """Median absolute error."""
        return _median(np.abs(np.array(self.found) - self.rho))

    @property
    def signs(self) -> float:
        """Share of seeds with the right sign."""
        right = np.sign(self.found) == np.sign(self.rho)
        return float(np.mean(right)) if len(right) else float("nan")


def _median(values: FloatArray) -> float:
    return float(np.median(values)) if len(values) else float("nan")


def build(lines: Sequence[Line]) -> Content:
    """Table, the sentence that counts signs, and the figure."""
    points = summarise(lines)
    grid = Grid("Leverage: medians over seeds", HEADINGS, [_cells(p) for p in points], left=2)
    return Content(
        {"leverage": grid}, {"leverage": plot_leverage(points)}, {"leverage": count_signs(points)}
    )


def summarise(lines: Sequence[Line]) -> list[Point]:
    """One point a correlation and method, in the order of the true correlation."""
    found = []
    for rho in sorted({line.case.settings["rho"] for line in lines}):
        for method in METHODS:
            results = [
                line.result
                for line in lines
                if line.result and line.case.recipe == method and line.case.settings["rho"] == rho
            ]
            names = ("kappa", "theta", "xi", "rho_parametric")
            medians = {name: median(results, name) for name in names}
            values = tuple(result["rho"] for result in results)
            found.append(Point(rho, method, values, medians))
    return found


def count_signs(points: Sequence[Point]) -> str:
    """Say over all correlations how many signs are right and how large the error is."""
    parts = []
    for method in METHODS:
        own = [point for point in points if point.method == method and abs(point.rho) >= ENOUGH]
        errors = np.concatenate([np.abs(np.array(p.found) - p.rho) for p in own])
        right = sum(round(point.signs * len(point.found)) for point in own if point.found)
        parts.append(
            f"{method}: sign right in {right} of {len(errors)} cases, median absolute error "
            f"{_median(errors):.3f}"
        )
    return "; ".join(parts) + "."


def _published(rho: float) -> tuple[float, float]:
    """Median absolute error and share of right signs in the paper's file; NaN if not there."""
    rows = [row for row in published.rows("leverage") if float(row["rho_true"]) == rho]
    if not rows:
        return float("nan"), float("nan")
    errors = [float(row["rho_tensor_abs_error"]) for row in rows]
    signs = [row["rho_sign_correct"] == "True" for row in rows]
    return float(np.median(errors)), float(np.mean(signs))


def _cells(point: Point) -> list[str]:
    nothing = (float("nan"), float("nan"))
    error, signs = _published(point.rho) if point.method == "paper" else nothing
    return [
        f"{point.rho:+.2f}",
        point.method,
        f"{_median(np.array(point.found)):+.3f}" if point.found else "-",
        number(point.error),
        number(error),
        percent(point.signs),
        percent(signs),
        number(point.parameters["kappa"], 2),
        number(point.parameters["theta"], 4),
        number(point.parameters["xi"], 3),
        number(point.parameters["rho_parametric"]),
    ]


def plot_leverage(points: Sequence[Point]) -> Figure:
    """Draw every seed's correlation against the true one, and the errors below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(COLUMN_WIDTH, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot([-1, 1], [-1, 1], color="0.7", linewidth=0.8)
    for colour, shift, method in (("C0", -0.02, "paper"), ("C3", 0.02, "sharp-euler")):
        own = [point for point in points if point.method == method]
        x = np.concatenate([np.full(len(point.found), point.rho) for point in own])
        y = np.concatenate([np.array(point.found) for point in own])
        left.plot(x + shift, y, ".", color=colour, markersize=3, alpha=0.6, label=method)
        errors = [point.error for point in own]
        right.plot([p.rho for p in own], errors, "o-", color=colour, markersize=4, label=method)
    known = sorted({float(row["rho_true"]) for row in published.rows("leverage")})
    theirs = [_published(rho)[0] for rho in known]
    right.plot(known, theirs, "k|", markersize=10, label="published")
    left.set(xlabel="true rho", ylabel="recovered a12 / sqrt(a11 a22)", xlim=(-1, 1), ylim=(-1, 1))
    right.set(xlabel="true rho", ylabel="median absolute error", ylim=(0, None))
    for axes in (left, right):
        axes.legend()
    return figure
