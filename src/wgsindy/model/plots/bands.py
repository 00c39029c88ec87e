"""A mean over time with its band, and the samples that it was made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wgsindy.data import FloatArray
from wgsindy.model.plots.portrait import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 400  # samples up to which each has a mark of its own


def plot_band(
    time: FloatArray,
    mean: FloatArray,
    low: FloatArray,
    high: FloatArray,
    measured: FloatArray,
    *,
    name: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw ``mean (n,)`` from ``low`` to ``high``, and what was ``measured``, NaN where nothing."""
    axes = new_axes(ax)
    axes.fill_between(time, low, high, color="C0", alpha=0.25, lw=0, label="95 % band")
    axes.plot(time, mean, color="C0", lw=1.2, label="mean")
    if (measured == measured).any():
        size = 3.0 if len(time) <= FEW else 1.0
        axes.plot(time, measured, ".", color="0.3", ms=size, label="measured")
    axes.set_xlabel("time")
    axes.set_ylabel(name)
    axes.legend(frameon=False, ncols=3, fontsize="small")
    return axes
