"""Fields of an estimate beside those of the truth, on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wgsindy.model import Generator
from wgsindy.report.field_data import Viewport
from wgsindy.report.figures.fields import Bars, Places, draw_comparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_fields(
    estimate: Generator,
    truth: Generator,
    view: Viewport,
    *,
    points: int,
    size: tuple[float, float],
) -> Figure:
    """Draw fields of an estimate, of the truth and their difference; ``size`` in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(5, 3, sharex=True, sharey=True)
    bars: list[Bars] = [
        ({"ax": row[:2], "pad": 0.01}, {"ax": row[2:], "pad": 0.01}) for row in panels
    ]
    places = Places(figure, panels, bars)
    draw_comparison(places, estimate, truth, view, points=points)
    return figure
