"""Pictures of drift and tensor fields."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from wgsindy import symbolic, tensor
from wgsindy.arrays import FloatArray
from wgsindy.errors import DataError
from wgsindy.generator import Generator
from wgsindy.trajectories import Trajectories

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

POINTS = 41
ARROWS = 17
ELLIPSES = 7


def _window(data: Trajectories, points: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Axes ``(points,)`` each over the central 96 % of the states, and their grid."""
    if data.dimension != 2:
        raise DataError(f"field pictures need 2 coordinates, these data have {data.dimension}.")
    low, high = np.percentile(data.states, [2, 98], axis=0)
    x, y = (np.linspace(low[i], high[i], points) for i in range(2))
    return x, y, np.array([[a, b] for b in y for a in x])


def _fields(generator: Generator, grid: FloatArray) -> FloatArray:
    """Drift components and tensor entries at the grid, ``(5, n)``."""
    return np.hstack([generator.drift(grid), tensor.entries_of(generator.diffusion(grid))]).T


def plot_comparison(estimate: Generator, truth: Generator, data: Trajectories) -> Figure:
    """Draw recovered, true and error fields of b1, b2, a11, a12, a22 over the data's range.

    Recovered and true share a colour scale; the error's own scale is centred at zero.
    """
    from matplotlib.figure import Figure

    x, y, grid = _window(data, POINTS)
    found, true = _fields(estimate, grid), _fields(truth, grid)
    drift, entries = symbolic.field_names(2)
    figure = Figure(figsize=(8.4, 11.2), layout="constrained")
    panels = figure.subplots(5, 3, sharex=True, sharey=True)
    for row, name in enumerate([*drift, *entries]):
        low, high = _colour_range(found[row], true[row])
        error = found[row] - true[row]
        # At least a quarter of the field itself: a small error must look small.
        widest = max(float(np.abs(error).max()), 0.25 * float(np.abs(true[row]).max()), 1e-12)
        images = [
            _image(panels[row, 0], x, y, found[row], "viridis", low, high),
            _image(panels[row, 1], x, y, true[row], "viridis", low, high),
            _image(panels[row, 2], x, y, error, "RdBu_r", -widest, widest),
        ]
        figure.colorbar(images[1], ax=panels[row, :2], pad=0.01)
        figure.colorbar(images[2], ax=panels[row, 2], pad=0.02)
        panels[row, 0].set_ylabel(f"$\\mathbf{{{name[0]}_{{{name[1:]}}}}}$\n{data.names[1]}")
    for axes, title in zip(panels[0], ("recovered", "true", "recovered - true"), strict=True):
        axes.set_title(title)
    for axes in panels[-1]:
        axes.set_xlabel(data.names[0])
    return figure


def _colour_range(first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """Joint range, opened up where a field is constant so that rounding is not painted."""
    low = float(min(first.min(), second.min()))
    high = float(max(first.max(), second.max()))
    margin = max(0.25 * max(abs(low), abs(high)) - (high - low) / 2, 0.0) or 1e-12
    return low - margin, high + margin


def _image(
    axes: Axes,
    x: FloatArray,
    y: FloatArray,
    values: FloatArray,
    colours: str,
    low: float,
    high: float,
) -> QuadMesh:
    return axes.pcolormesh(
        x, y, values.reshape(len(y), len(x)), cmap=colours, vmin=low, vmax=high, rasterized=True
    )


def plot_portrait(generator: Generator, data: Trajectories, axes: Axes) -> Axes:
    """Draw where the process goes: density of the data, drift arrows, tensor ellipses."""
    from matplotlib.patches import Ellipse

    x, y, grid = _window(data, ARROWS)
    axes.hexbin(*data.states.T, gridsize=45, cmap="Blues", mincnt=1, linewidths=0)
    drift = generator.drift(grid)
    axes.quiver(*grid.T, *drift.T, color="0.15", angles="xy", width=0.0032, zorder=3)
    spacing = min(np.ptp(x), np.ptp(y)) / ELLIPSES
    _, _, coarse = _window(data, ELLIPSES)
    field = generator.diffusion(coarse)
    values, vectors = np.linalg.eigh(field)
    largest = float(np.sqrt(values.max()))
    for point, size, direction in zip(coarse, values, vectors, strict=True):
        lengths = 0.8 * spacing * np.sqrt(np.maximum(size, 0)) / largest
        angle = float(np.degrees(np.arctan2(direction[1, 1], direction[0, 1])))
        axes.add_patch(
            Ellipse(
                (point[0], point[1]),
                lengths[1],
                lengths[0],
                angle=angle,
                fill=False,
                edgecolor="C3",
                linewidth=1.2,
                zorder=4,
            )
        )
    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(y[0], y[-1])
    axes.set_xlabel(data.names[0])
    axes.set_ylabel(data.names[1])
    return axes


def plot_overview(estimate: Generator, truth: Generator, data: Trajectories) -> Figure:
    """Draw recovered and true portraits side by side, equations underneath."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 5.8), layout="constrained")
    panels = figure.subplots(2, 2, height_ratios=(4, 0.95))
    for column, (title, generator) in enumerate((("recovered", estimate), ("true", truth))):
        plot_portrait(generator, data, panels[0, column]).set_title(title, fontweight="bold")
        panels[1, column].axis("off")
        lines = [fill(text, 58, subsequent_indent="      ") for text in generator.equations()]
        panels[1, column].text(
            0.0, 1.0, "\n".join(lines), va="top", family="monospace", fontsize=9, in_layout=False
        )
    return figure
