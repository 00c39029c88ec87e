"""What a fit leaves on disk beside its report: figures without a truth, a table of coefficients."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from wgsindy.data import Dataset
from wgsindy.model import (
    Coefficient,
    Generator,
    Units,
    named_equations,
    named_fields,
    rounded,
    tensor,
    typographic,
)
from wgsindy.report.digest import Digest, States, digest, relative
from wgsindy.report.field_data import (
    FieldCurves,
    Viewport,
    all_field_names,
    field_curves,
    field_images,
    is_constant,
)
from wgsindy.report.figures.fields import draw_colour_bar, draw_image, plot_portrait

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 61
MOST_CURVES = 12  # beyond, a page of curves is no longer read
COLUMNS = 3


def coefficients_csv(generator: Generator) -> str:
    """Write coefficients as a table; error bars that a recipe does not give stay empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*Coefficient._fields, "field", "unit"])
    for found in generator.coefficients:
        target, term, *numbers = found
        written = ["" if np.isnan(n) else repr(n) for n in numbers]
        named = named_fields(target, generator.names)
        unit = generator.units.coefficient(target, term)
        writer.writerow([target, term, *written, named, unit])
    return text.getvalue()


def fit_figures(
    generator: Generator, data: Dataset | Digest, weak: Collection[str] = ()
) -> dict[str, Figure]:
    """Figures of a fit by their names: portrait and fields of two coordinates, else curves.

    ``weak`` drift components are marked as not identified, and have no colours.
    """
    shown, seen = relative(generator, digest(data))
    if data.dimension != 2:
        return {"fields": plot_curves(shown, seen, weak)}
    equations = named_equations(generator)
    return {
        "overview": plot_fit(shown, seen, equations, weak),
        "fields": plot_images(shown, seen, weak),
    }


def plot_fit(
    generator: Generator, data: States, equations: Sequence[str], weak: Collection[str] = ()
) -> Figure:
    """Draw density, drift arrows and tensor ellipses of a fit, its equations underneath."""
    from matplotlib.figure import Figure

    lines = [fill(text, 76, subsequent_indent="      ") for text in equations]
    rows = sum(1 + line.count("\n") for line in lines)
    figure = Figure(figsize=(6.4, 5.2 + 0.19 * rows), layout="constrained")
    portrait, below = figure.subplots(2, 1, height_ratios=(5.2, 0.19 * rows))
    plot_portrait(generator, data, portrait)
    if weak:
        doubtful = f"not identified: {', '.join(sorted(weak))}"
        portrait.set_title(named_fields(doubtful, generator.names))
    below.axis("off")
    below.text(
        0.0, 1.0, "\n".join(lines), va="top", family="monospace", fontsize=8.5, in_layout=False
    )
    return figure


def plot_images(generator: Generator, data: States, weak: Collection[str] = ()) -> Figure:
    """Draw b1, b2, a11, a12, a22 over the central range of two coordinates."""
    from matplotlib.figure import Figure

    view, units = Viewport.of(data), generator.units
    labels = units.labels(data.names)
    images = field_images(generator, view.mesh(POINTS))
    figure = Figure(figsize=(9.6, 5.6), layout="constrained")
    panels = figure.subplots(2, COLUMNS, sharex=True, sharey=True)
    panels[0, 2].axis("off")
    places = [panels[0, 0], panels[0, 1], *panels[1]]
    constant = is_constant(images.values)
    for axes, name, values, limits, same in zip(
        places, all_field_names(2), images.values, images.colours, constant, strict=True
    ):
        axes.set_title(_titled(name, weak, units))
        axes.set_xlabel(labels[0])
        axes.tick_params(labelbottom=True)
        if same:  # one number says more than a coloured square
            number = typographic(rounded(float(values[0]), 4))
            axes.text(0.5, 0.5, number, transform=axes.transAxes, ha="center", fontsize=14)
            continue
        colours = "Greys" if name in weak else "viridis"
        image = draw_image(axes, images.mesh, values, colours, limits)
        draw_colour_bar(figure, image, blank=not values.any(), ax=[axes], pad=0.01)
    for axes in (panels[0, 0], panels[1, 0]):
        axes.set_ylabel(labels[1])
    return figure


def plot_curves(generator: Generator, data: States, weak: Collection[str] = ()) -> Figure:
    """Draw drift and variance of each coordinate along it, the others at their medians.

    With 95 % bands, if the fit gives any; of many coordinates only the first.
    """
    from matplotlib.figure import Figure

    d = data.dimension
    curves = [*((p, p) for p in range(d)), *((p, d + tensor.entry_number(p, p)) for p in range(d))]
    curves = curves[:MOST_CURVES]
    columns = min(COLUMNS, max(2, d))
    rows = -(-len(curves) // columns)
    figure = Figure(figsize=(3.4 * columns, 2.7 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in panels[len(curves) :]:
        axes.axis("off")
    names, found = all_field_names(d), field_curves(generator, data, POINTS)
    labels = generator.units.labels(data.names)
    for axes, (p, field) in zip(panels, curves, strict=False):
        _draw_curve(found[p], field, axes, "0.5" if names[field] in weak else "C0")
        if field >= d:
            axes.set_ylim(bottom=0)  # a variance: small changes must look small
        axes.locator_params(nbins=5)
        axes.set_xlabel(labels[p])
        axes.set_title(_titled(names[field], weak, generator.units))
    return figure


def _draw_curve(curves: FieldCurves, field: int, axes: Axes, colour: str) -> None:
    axes.plot(curves.places, curves.values[field], color=colour)
    if curves.has_bands:
        low, high = curves.low[field], curves.high[field]
        axes.fill_between(curves.places, low, high, color=colour, alpha=0.2, linewidth=0)


def _titled(field: str, weak: Collection[str], units: Units) -> str:
    return f"{units.title(field)}, not identified" if field in weak else units.title(field)
