"""Fields of an estimate beside those of the truth, on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wgsindy.data import FloatArray
from wgsindy.draw import Mesh, Plane, all_field_names, colour_range, field_scales, field_values
from wgsindy.model import Generator

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure


def plot_fields(
    estimate: Generator,
    truth: Generator,
    plane: Plane,
    *,
    points: int,
    size: tuple[float, float],
) -> Figure:
    """Draw fields of an estimate, of the truth and their difference; ``size`` in inches.

    Recovered and true share a colour scale; the error's own scale is centred at zero.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(5, 3, sharex=True, sharey=True)
    mesh = plane.mesh(points)
    recovered, true = field_values(estimate, mesh.states), field_values(truth, mesh.states)
    scales = field_scales(true, 2)
    for row, (name, scale) in enumerate(zip(all_field_names(2), scales, strict=True)):
        low, high = colour_range(np.stack([recovered[row], true[row]]), scale)
        error = recovered[row] - true[row]
        # At least a quarter of the field itself: a small error must look small.
        widest = max(float(np.abs(error).max()), 0.25 * scale) or 1.0
        draw_image(panels[row, 0], mesh, recovered[row], "viridis", (low, high))
        shared = draw_image(panels[row, 1], mesh, true[row], "viridis", (low, high))
        apart = draw_image(panels[row, 2], mesh, error, "RdBu_r", (-widest, widest))
        blank = not (recovered[row].any() or true[row].any())
        _draw_colour_bar(figure, shared, panels[row, :2], blank=blank)
        _draw_colour_bar(figure, apart, panels[row, 2:], blank=blank)
        _label_row(panels[row, 0], name, plane.names[1])
    for axes, title in zip(panels[0], ("recovered", "true", "recovered - true"), strict=True):
        axes.set_title(title, fontsize=9)
    for axes in panels[-1]:
        axes.set_xlabel(plane.names[0], fontsize=9)
    for axes in panels.ravel():
        axes.spines[:].set_visible(True)  # an image is framed on all sides, whatever the style
        axes.locator_params(nbins=4)
        axes.ticklabel_format(useOffset=False)
        axes.tick_params(labelsize=7)
    return figure


def draw_image(
    axes: Axes, mesh: Mesh, values: FloatArray, colours: str, limits: tuple[float, float]
) -> QuadMesh:
    """Draw values ``(n,)`` on a mesh, in colours that end at ``limits``."""
    low, high = limits
    image = mesh.as_image(values)
    return axes.pcolormesh(
        mesh.x, mesh.y, image, cmap=colours, vmin=low, vmax=high, rasterized=True
    )


def _draw_colour_bar(figure: Figure, image: QuadMesh, panels: Any, *, blank: bool) -> None:
    """Draw the scale of an image; a field that is zero everywhere has none but the zero."""
    from matplotlib.ticker import FixedLocator, MaxNLocator, StrMethodFormatter

    ticks = FixedLocator([0]) if blank else MaxNLocator(4)
    written = StrMethodFormatter("{x:.6g}")
    bar = figure.colorbar(image, ticks=ticks, format=written, ax=panels, pad=0.01)
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
