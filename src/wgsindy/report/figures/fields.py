"""Pictures of drift and tensor fields."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wgsindy.data.arrays import FloatArray
from wgsindy.errors import DataError
from wgsindy.model import tensor
from wgsindy.model.generator import Generator
from wgsindy.model.linear_form import field_names
from wgsindy.report.digest import States
from wgsindy.zoo import scores as metrics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

POINTS = 41
ARROWS = 17
Bars = tuple[dict[str, Any], dict[str, Any]]
ELLIPSES = 7
# Relative to the largest field of its kind: what an eigenvalue decomposition leaves of a zero.
ROUNDING = 1e-12


class Viewport(NamedTuple):
    """A rectangle of states: names of the coordinates, lower and upper corner ``(2,)``."""

    names: tuple[str, ...]
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, data: States) -> Viewport:
        """The central 96 % of the states of each coordinate.

        Raises
        ------
        DataError
            If the data do not have two coordinates.
        """
        if data.dimension != 2:
            raise DataError(f"field pictures need 2 coordinates, these data have {data.dimension}.")
        low, high = np.percentile(data.states, metrics.GRID_RANGE, axis=0)
        return cls(data.names, low, high)

    def mesh(self, points: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Axes ``(points,)`` each, and their grid ``(points ** 2, 2)``, row by row."""
        x, y = (np.linspace(self.low[i], self.high[i], points) for i in range(2))
        return x, y, np.array([[a, b] for b in y for a in x])


def field_values(generator: Generator, grid: FloatArray) -> FloatArray:
    """Drift components and tensor entries at points ``(n, d)``: ``(F, n)``, no rounding."""
    drift, entries = generator.drift(grid), tensor.entries_of(generator.diffusion(grid))
    for fields in (drift, entries):
        largest = np.abs(fields).max(axis=0)
        fields[:, largest <= ROUNDING * largest.max()] = 0.0
    return np.hstack([drift, entries]).T


def plot_comparison(estimate: Generator, truth: Generator, data: States) -> Figure:
    """Draw recovered, true and error fields of b1, b2, a11, a12, a22 over the data's range.

    Recovered and true share a colour scale; the error's own scale is centred at zero.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 11.2))
    draw_comparison(_fixed_places(figure), estimate, truth, Viewport.of(data), points=POINTS)
    return figure


def plot_fields(
    estimate: Generator,
    truth: Generator,
    window: Viewport,
    *,
    points: int,
    size: tuple[float, float],
) -> Figure:
    """Draw what :func:`plot_comparison` draws, over any window; ``size`` in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(5, 3, sharex=True, sharey=True)
    bars: list[Bars] = [
        ({"ax": row[:2], "pad": 0.01}, {"ax": row[2:], "pad": 0.01}) for row in panels
    ]
    places = Places(figure, panels, bars)
    draw_comparison(places, estimate, truth, window, points=points)
    return figure


class Places(NamedTuple):
    """Panels ``(5, 3)`` of a comparison, and where the two colour bars of each row go."""

    figure: Figure
    panels: NDArray[Any]
    bars: Sequence[Bars]


def _fixed_places(figure: Figure) -> Places:
    """Place everything by hand: working out a layout takes longer than drawing it."""
    grid = figure.add_gridspec(
        5,
        6,
        width_ratios=(1, 1, 0.07, 0.14, 1, 0.07),
        left=0.1,
        right=0.93,
        bottom=0.045,
        top=0.975,
        wspace=0.1,
        hspace=0.1,
    )
    first = figure.add_subplot(grid[0, 0])
    places = [(row, column) for row in range(5) for column in (0, 1, 4)][1:]
    others = [figure.add_subplot(grid[place], sharex=first, sharey=first) for place in places]
    panels = np.array([first, *others]).reshape(5, 3)
    for axes in panels[:-1].ravel():
        axes.xaxis.set_visible(False)
    for axes in panels[:, 1:].ravel():
        axes.yaxis.set_visible(False)
    bars: list[Bars] = [
        ({"cax": figure.add_subplot(grid[row, 2])}, {"cax": figure.add_subplot(grid[row, 5])})
        for row in range(5)
    ]
    return Places(figure, panels, bars)


def draw_comparison(
    places: Places, estimate: Generator, truth: Generator, window: Viewport, *, points: int
) -> None:
    """Fill the panels."""
    figure, panels, bars = places
    x, y, grid = window.mesh(points)
    found, true = field_values(estimate, grid), field_values(truth, grid)
    drift, entries = field_names(2)
    for row, (name, scale) in enumerate(
        zip([*drift, *entries], field_scales(true, 2), strict=True)
    ):
        low, high = colour_range(found[row], true[row], scale)
        error = found[row] - true[row]
        # At least a quarter of the field itself: a small error must look small.
        widest = max(float(np.abs(error).max()), 0.25 * scale) or 1.0
        images = [
            draw_image(panels[row, 0], x, y, found[row], "viridis", low, high),
            draw_image(panels[row, 1], x, y, true[row], "viridis", low, high),
            draw_image(panels[row, 2], x, y, error, "RdBu_r", -widest, widest),
        ]
        blank = not (found[row].any() or true[row].any())
        draw_colour_bar(figure, images[1], blank=blank, **bars[row][0])
        draw_colour_bar(figure, images[2], blank=blank, **bars[row][1])
        _label_row(panels[row, 0], name, window.names[1])
    for axes, title in zip(panels[0], ("recovered", "true", "recovered - true"), strict=True):
        axes.set_title(title, fontsize=9)
    for axes in panels[-1]:
        axes.set_xlabel(window.names[0], fontsize=9)
    for axes in panels.ravel():
        axes.spines[:].set_visible(True)  # an image is framed on all sides, whatever the style
        axes.locator_params(nbins=4)
        axes.ticklabel_format(useOffset=False)
        axes.tick_params(labelsize=7)


def field_scales(values: FloatArray, dimension: int) -> FloatArray:
    """Size ``(F,)`` against which a difference in each field ``(F, n)`` is small or large.

    The largest value of the field. A covariance of zero has none; there the variances say what a
    large one would be.
    """
    sizes = np.abs(values).max(axis=1)
    for p, q in tensor.pairs(dimension):
        first, cross, second = (
            dimension + tensor.entry_number(*pair) for pair in ((p, p), (p, q), (q, q))
        )
        if sizes[cross] == 0:
            sizes[cross] = np.sqrt(sizes[first] * sizes[second])
    return sizes


def colour_range(found: FloatArray, true: FloatArray, scale: float) -> tuple[float, float]:
    """Joint range, opened up where a field is constant so that no small difference is painted."""
    low = float(min(found.min(), true.min()))
    high = float(max(found.max(), true.max()))
    wanted = 0.25 * max(abs(low), abs(high), float(scale)) or 1.0
    margin = max(wanted - (high - low) / 2, 0.0)
    return low - margin, high + margin


def draw_image(
    axes: Axes,
    x: FloatArray,
    y: FloatArray,
    values: FloatArray,
    colours: str,
    low: float,
    high: float,
) -> QuadMesh:
    """Draw values ``(n,)`` on the mesh of two axes."""
    return axes.pcolormesh(
        x, y, values.reshape(len(y), len(x)), cmap=colours, vmin=low, vmax=high, rasterized=True
    )


def draw_colour_bar(figure: Figure, image: QuadMesh, *, blank: bool, **place: Any) -> None:
    """Draw the scale of an image; a field that is zero everywhere has none but the zero.

    ``place``: ``ax`` whose room it shares, or ``cax`` for its own.
    """
    from matplotlib.ticker import FixedLocator, MaxNLocator, StrMethodFormatter

    ticks = FixedLocator([0]) if blank else MaxNLocator(4)
    written = StrMethodFormatter("{x:.6g}")
    bar = figure.colorbar(image, ticks=ticks, format=written, **place)
    bar.ax.tick_params(labelsize=7)


def _label_row(axes: Axes, field: str, coordinate: str) -> None:
    """Write the name of the coordinate upright beside the axis, that of the field left of it."""
    axes.set_ylabel(coordinate, rotation=0, ha="right", va="center", fontsize=9)
    axes.annotate(
        f"$\\mathbf{{{field[0]}_{{{field[1:]}}}}}$",
        (0, 0.5),
        (-6, 0),
        xycoords=axes.yaxis.label,
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=12,
    )


def plot_portrait(generator: Generator, data: States, axes: Axes) -> Axes:
    """Draw where the process goes: density of the data, drift arrows, tensor ellipses."""
    from matplotlib.collections import EllipseCollection

    window = Viewport.of(data)
    x, y, grid = window.mesh(ARROWS)
    axes.hexbin(*data.states.T, gridsize=45, cmap="Blues", mincnt=1, linewidths=0)
    drift = generator.drift(grid)
    axes.quiver(*grid.T, *drift.T, color="0.15", angles="xy", width=0.0032, zorder=3)
    spacing = min(np.ptp(x), np.ptp(y)) / ELLIPSES
    _, _, coarse = window.mesh(ELLIPSES)
    field = generator.diffusion(coarse)
    values, vectors = np.linalg.eigh(field)
    largest = float(np.sqrt(values.max()))
    lengths = 0.8 * spacing * np.sqrt(np.maximum(values, 0)) / largest
    # One artist for all of them: Matplotlib works out the extent of each that is its own.
    ellipses = EllipseCollection(
        lengths[:, 1],
        lengths[:, 0],
        np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1])),
        units="xy",
        offsets=coarse,
        offset_transform=axes.transData,
        facecolors="none",
        edgecolors="C3",
        linewidths=1.2,
        zorder=4,
    )
    axes.add_collection(ellipses, autolim=False)
    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(y[0], y[-1])
    axes.set_xlabel(data.names[0])
    axes.set_ylabel(data.names[1])
    return axes


def plot_overview(estimate: Generator, truth: Generator, data: States) -> Figure:
    """Draw recovered and true portraits side by side, equations underneath."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 5.8))
    panels = figure.subplots(2, 2, height_ratios=(4, 0.95))
    figure.subplots_adjust(left=0.06, right=0.985, bottom=0.01, top=0.95, wspace=0.14, hspace=0.18)
    for column, (title, generator) in enumerate((("recovered", estimate), ("true", truth))):
        plot_portrait(generator, data, panels[0, column]).set_title(title, fontweight="bold")
        panels[1, column].axis("off")
        lines = [fill(text, 58, subsequent_indent="      ") for text in generator.equations()]
        panels[1, column].text(
            0.0, 1.0, "\n".join(lines), va="top", family="monospace", fontsize=9, in_layout=False
        )
    return figure
