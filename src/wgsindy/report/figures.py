"""Figures of a fit for print, drawn when somebody asks: its flow with its equations, its fields."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from wgsindy.draw import (
    Plane,
    StateCloud,
    View,
    all_field_names,
    constant_fields,
    draw_picture,
    field_pictures,
    page_style,
    portrait,
    save_picture,
)
from wgsindy.model import Generator, named_equations, named_fields, rounded, typographic
from wgsindy.report.plot_sample import PlotSample, relative

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 12  # beyond, a page of pictures is no longer read
PANELS_A_ROW = 3
LETTERS_A_LINE = 76  # of an equation below a picture


def draw_figures(
    generator: Generator, data: PlotSample, weak: Collection[str], folder: Path
) -> None:
    """Write the figures of a fit into a folder as PNG files; arguments of :func:`fit_figures`."""
    with page_style():
        for name, figure in fit_figures(generator, data, weak).items():
            save_picture(figure, folder / f"{name}.png", dpi=150)


def fit_figures(
    generator: Generator, data: PlotSample, weak: Collection[str] = ()
) -> dict[str, Figure]:
    """Figures of a fit by their names: its fields; of two coordinates an overview, too.

    ``weak`` drift components are marked as not identified, and have no colours.
    """
    shown, sample = relative(generator, data)
    drawn = {"fields": _fields(shown, sample, weak)}
    if data.dimension == 2:
        drawn["overview"] = _overview(shown, sample, named_equations(generator), weak)
    return drawn


def _overview(
    generator: Generator, data: StateCloud, equations: Sequence[str], weak: Collection[str]
) -> Figure:
    """Draw density, drift arrows and tensor ellipses of a fit, its equations underneath."""
    from matplotlib.figure import Figure

    lines = [fill(text, LETTERS_A_LINE, subsequent_indent="      ") for text in equations]
    height = 0.19 * sum(1 + line.count("\n") for line in lines)
    figure = Figure(figsize=(6.4, 5.2 + height), layout="constrained")
    above, below = figure.subplots(2, 1, height_ratios=(5.2, height))
    plane = Plane.of(View.of(data.states), (0, 1), data.names)
    draw_picture(portrait(generator, plane, data), above, _labels(generator, data))
    if weak:
        doubtful = f"not identified: {', '.join(sorted(weak))}"
        above.set_title(named_fields(doubtful, generator.names))
    below.axis("off")
    below.text(
        0.0, 1.0, "\n".join(lines), va="top", family="monospace", fontsize=8.5, in_layout=False
    )
    return figure


def _fields(generator: Generator, data: StateCloud, weak: Collection[str]) -> Figure:
    """Draw the fields as the page does; one that is constant is a number."""
    from matplotlib.figure import Figure

    constant = {one.field: one for one in constant_fields(generator, data, weak)}
    pictures = {
        one.name.removeprefix("field-"): one for one in field_pictures(generator, data, weak)
    }
    names = all_field_names(data.dimension)[:MOST_PANELS]
    rows = -(-len(names) // PANELS_A_ROW)
    figure = Figure(figsize=(3.2 * PANELS_A_ROW, 2.7 * rows), layout="constrained")
    panels = figure.subplots(rows, PANELS_A_ROW, squeeze=False).ravel()
    for panel in panels[len(names) :]:
        panel.axis("off")
    for panel, name in zip(panels, names, strict=False):
        if name in pictures:
            draw_picture(pictures[name], panel, _labels(generator, data))
            continue
        panel.axis("off")
        panel.set_title(constant[name].title)
        number = typographic(rounded(constant[name].value, 4))
        panel.text(0.5, 0.5, number, transform=panel.transAxes, ha="center", fontsize=14)
    return figure


def _labels(generator: Generator, data: StateCloud) -> dict[str, str]:
    return dict(zip(data.names, generator.units.labels(data.names), strict=True))
