"""Figures of drift and tensor beside a known truth, and of where a process goes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wgsindy.data import FloatArray
from wgsindy.errors import OutputError
from wgsindy.files import write_atomically
from wgsindy.model import Generator, plot
from wgsindy.report.digest import States
from wgsindy.report.field_data import (
    Mesh,
    Viewport,
    all_field_names,
    colour_range,
    field_scales,
    field_values,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

SETTINGS: Any = {
    "font.size": 8,
    "axes.labelsize": 8.5,
    "figure.labelsize": 8.5,
    "axes.titlesize": 9,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
POINTS = 41
Bars = tuple[dict[str, Any], dict[str, Any]]


def page_style() -> AbstractContextManager[None]:
    """Apply the settings to figures made and drawn inside the context."""
    import matplotlib

    return matplotlib.rc_context(SETTINGS)


def save_picture(figure: Figure, path: Path, dpi: int) -> None:
    """Save a figure whose layout is worked out once; Matplotlib alone would do it twice."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")
    drawn, kinds = io.BytesIO(), figure.canvas.get_supported_filetypes()
    if path.suffix[1:] not in kinds:
        raise OutputError(f"{path} is of no kind that can be drawn: {', '.join(kinds)}.")
    figure.savefig(drawn, dpi=dpi, format=path.suffix[1:])
    write_atomically(path, drawn.getvalue())


def plot_comparison(estimate: Generator, truth: Generator, data: States) -> Figure:
    """Draw recovered, true and error fields of b1, b2, a11, a12, a22 over the data's range.

    Recovered and true share a colour scale; the error's own scale is centred at zero.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 11.2))
    draw_comparison(_fixed_places(figure), estimate, truth, Viewport.of(data), points=POINTS)
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
    places: Places, estimate: Generator, truth: Generator, view: Viewport, *, points: int
) -> None:
    """Fill the panels."""
    figure, panels, bars = places
    mesh = view.mesh(points)
    found, true = field_values(estimate, mesh.states), field_values(truth, mesh.states)
    scales = field_scales(true, 2)
    for row, (name, scale) in enumerate(zip(all_field_names(2), scales, strict=True)):
        low, high = colour_range(np.stack([found[row], true[row]]), scale)
        error = found[row] - true[row]
        # At least a quarter of the field itself: a small error must look small.
        widest = max(float(np.abs(error).max()), 0.25 * scale) or 1.0
        draw_image(panels[row, 0], mesh, found[row], "viridis", (low, high))
        shared = draw_image(panels[row, 1], mesh, true[row], "viridis", (low, high))
        own = draw_image(panels[row, 2], mesh, error, "RdBu_r", (-widest, widest))
        blank = not (found[row].any() or true[row].any())
        draw_colour_bar(figure, shared, blank=blank, **bars[row][0])
        draw_colour_bar(figure, own, blank=blank, **bars[row][1])
        _label_row(panels[row, 0], name, view.names[1])
    for axes, title in zip(panels[0], ("recovered", "true", "recovered - true"), strict=True):
        axes.set_title(title, fontsize=9)
    for axes in panels[-1]:
        axes.set_xlabel(view.names[0], fontsize=9)
    for axes in panels.ravel():
        axes.spines[:].set_visible(True)  # an image is framed on all sides, whatever the style
        axes.locator_params(nbins=4)
        axes.ticklabel_format(useOffset=False)
        axes.tick_params(labelsize=7)


def draw_image(
    axes: Axes, mesh: Mesh, values: FloatArray, colours: str, limits: tuple[float, float]
) -> QuadMesh:
    """Draw values ``(n,)`` on a mesh, in colours that end at ``limits``."""
    low, high = limits
    image = mesh.as_image(values)
    return axes.pcolormesh(
        mesh.x, mesh.y, image, cmap=colours, vmin=low, vmax=high, rasterized=True
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
    drawn = plot(generator, data.states, ax=axes)
    first, second = generator.units.labels(data.names)
    axes.set(xlabel=first, ylabel=second)
    return drawn


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
