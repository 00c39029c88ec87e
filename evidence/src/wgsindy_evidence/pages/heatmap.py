"""Maps of figures by row and column: the figure is written, the colour follows its logarithm.

Or the logarithm of one more than the figure, as in the paper: small errors then look alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from wgsindy.data import FloatArray
from wgsindy_evidence.pages.page import COLUMN_WIDTH

if TYPE_CHECKING:
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

DARK = 0.45  # share of the colour range beyond which writing turns white
SMALLEST = 1e-3  # smaller figures look like this one
NARROWEST = 10.0  # ratio of a colour scale's ends, at least: small differences must look small


def plot_heatmap(
    blocks: Mapping[str, FloatArray],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    one_more: bool = False,
) -> Figure:
    """Draw one panel a block ``(rows, columns)``; each has its own logarithmic colour scale."""
    from matplotlib.figure import Figure

    height = 1.5 + 0.24 * len(rows)
    figure = Figure(figsize=(COLUMN_WIDTH, height), layout="constrained")
    panels = figure.subplots(1, len(blocks), sharey=True, squeeze=False)[0]
    for axes, (title, values) in zip(panels, blocks.items(), strict=True):
        shown = np.maximum(values, SMALLEST)
        norm = _colour_scale(shown[~np.isnan(shown)], one_more=one_more)
        image = axes.imshow(shown, cmap="viridis_r", aspect="auto", norm=norm)
        for (row, column), value in np.ndenumerate(values):
            if not np.isnan(value):
                ink = "white" if norm(shown[row, column]) > DARK else "black"
                text = _short(float(value))
                axes.text(column, row, text, ha="center", va="center", fontsize=6, color=ink)
        bar = figure.colorbar(image, ax=axes, location="top", aspect=30, pad=0.01)
        bar.ax.tick_params(labelsize=6.5)
        bar.ax.xaxis.set_major_formatter("{x:g}")
        bar.set_label(title)
        ticks = range(len(columns)) if len(columns) > 1 else []
        axes.set_xticks(ticks, columns if len(columns) > 1 else [], rotation=60, ha="right")
    panels[0].set_yticks(range(len(rows)), rows)
    return figure


def _colour_scale(known: FloatArray, *, one_more: bool) -> Normalize:
    from matplotlib.colors import FuncNorm, LogNorm

    if one_more:
        return FuncNorm((np.log1p, np.expm1), 0.0, max(float(known.max(initial=0.0)), 1.0))
    low = float(known.min(initial=1.0))
    return LogNorm(low, max(float(known.max(initial=0.0)), NARROWEST * low))


def _short(value: float) -> str:
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"
