"""The pictures of the examples."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import wgsindy as wg
from wgsindy.data import FloatArray
from wgsindy.draw import page_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_volatility(
    path: Path,
    generator: wg.Generator,
    v: FloatArray,
    median: float,
    measured: tuple[FloatArray, FloatArray],
    per_bin: float,
) -> None:
    """Volatility of the price, noise of log VIX and their correlation against VIX.

    ``v (n,)`` where to draw the fit, ``measured`` places ``(B,)`` and tensors ``(B, 2, 2)`` of
    ``per_bin`` days each, shown with two standard errors of normal numbers.
    """
    import matplotlib.pyplot as plt

    points = np.column_stack([np.zeros_like(v), v])
    bands, tensor = generator.bands(points), generator.diffusion(points)
    level, places, found = median * np.exp(v), median * np.exp(measured[0]), measured[1]

    def volatility(axes: Axes, p: int, factor: float) -> None:
        edges = bands.diffusion_low[:, p, p], bands.diffusion_high[:, p, p]
        low, high = (factor * np.sqrt(np.maximum(edge, 0)) for edge in edges)
        axes.fill_between(level, low, high, alpha=0.25)
        axes.plot(level, factor * np.sqrt(tensor[:, p, p]), label="fit, 95 % band")
        size = factor * np.sqrt(found[:, p, p])
        error = 2 * size / np.sqrt(2 * per_bin)
        axes.errorbar(places, size, error, fmt="ok", ms=3, label="days in bins")

    with page_style():
        figure, (price, vol, both) = plt.subplots(1, 3, figsize=(8, 2.7), layout="constrained")
        volatility(price, 0, 100)
        price.plot(level, level, "--", color="0.5", label="VIX itself")
        price.set(title="Volatility of the price", ylabel="% a year", xlabel="VIX, %")
        price.legend()
        volatility(vol, 1, 1)
        vol.set(title="Noise of log VIX", ylabel="per square root of a year", xlabel="VIX, %")
        both.plot(level, generator.leverage(points))
        r = found[:, 0, 1] / np.sqrt(found[:, 0, 0] * found[:, 1, 1])
        both.errorbar(places, r, 2 * (1 - r**2) / np.sqrt(per_bin), fmt="ok", ms=3)
        both.set(title="Correlation of the shocks", xlabel="VIX, %", ylim=(-1, 0))
        figure.savefig(path, dpi=150)
        plt.close(figure)


def draw_thinning(
    path: Path,
    levels: Mapping[float, tuple[float, float]],
    correlations: Mapping[float, FloatArray],
    chosen: tuple[wg.Generator, wg.Trajectories],
) -> None:
    """Tensor ``(along, across)`` by step, correlations of residuals by step, a portrait."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Circle

    generator, data = chosen
    with page_style():
        figure, (level, lag, portrait) = plt.subplots(1, 3, figsize=(8, 2.8), layout="constrained")
        for part, name, style in ((0, "along m", "o-"), (1, "across m", "s-")):
            values = [both[part] for both in levels.values()]
            level.plot(list(levels), values, style, ms=3, label=name)
        level.set(title="Tensor at |m| = 0.5, in 1/s", xlabel="step, s", ylim=(0, None))
        level.legend()
        for (step, lags), style in zip(correlations.items(), ("o-", "s-", "^-"), strict=True):
            delays = step * np.arange(1, 9)
            lag.plot(delays, lags[1:9], style, ms=3, label=f"step {step:.2f} s")
        lag.axhline(0, color="0.5", lw=0.8)
        lag.set(title="Correlation of residuals", xlabel="delay, s", xscale="log")
        lag.set_xticks([0.1, 1, 10], ["0.1", "1", "10"])
        lag.legend()
        generator.plot(data, ax=portrait)
        # A polarisation cannot leave the disc; what the formulas say outside is not shown.
        disc = Circle((0, 0), 1.02, transform=portrait.transData)
        for artist in (*portrait.collections, *portrait.patches):
            artist.set_clip_path(disc)
        portrait.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), aspect="equal")
        portrait.set(title=f"Fit with step {data.mean_dt:.2f} s")
        figure.savefig(path, dpi=150)
        plt.close(figure)
