"""Maps of figures by row and column: the figure is written, the colour follows its logarithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from wgsindy.arrays import FloatArray
from wgsindy.display.pages.page import COLUMN_WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DARK = 0.62  # share of the colour range beyond which writing turns white
SMALLEST = 1e-3  # smaller figures look like this one


def plot_heatmap(
    blocks: Mapping[str, FloatArray], rows: Sequence[str], columns: Sequence[str]
) -> Figure:
    """Draw one panel a block ``(rows, columns)``; each has its own colour scale."""
    from matplotlib.figure import Figure

    height = 1.5 + 0.24 * len(rows)
    figure = Figure(figsize=(COLUMN_WIDTH, height), layout="constrained")
    panels = figure.subplots(1, len(blocks), sharey=True, squeeze=False)[0]
    for axes, (title, values) in zip(panels, blocks.items(), strict=True):
        shades = np.log10(np.maximum(values, SMALLEST))
        image = axes.imshow(shades, cmap="viridis_r", aspect="auto")
        low, high = image.get_clim()
        for (row, column), value in np.ndenumerate(values):
            if np.isnan(value):
                continue
            dark = (shades[row, column] - low) > DARK * (high - low)
            text, ink = _short(float(value)), "white" if dark else "black"
            axes.text(column, row, text, ha="center", va="center", fontsize=6, color=ink)
        axes.set_title(title)
        axes.set_xticks(range(len(columns)), columns, rotation=60, ha="right", fontsize=7)
    panels[0].set_yticks(range(len(rows)), rows, fontsize=7)
    return figure


def _short(value: float) -> str:
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"
