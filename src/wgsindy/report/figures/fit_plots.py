"""Pictures of a fit beside its data, one call each: data in, Axes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wgsindy.data import Dataset
from wgsindy.diagnostics import Diagnostics
from wgsindy.errors import DataError
from wgsindy.model import Generator, new_axes, percent, with_unit
from wgsindy.report.checks.residuals import residuals
from wgsindy.report.checks.simulation import check_by_simulation
from wgsindy.report.digest import digest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS, WIDEST = 50, 5.0  # of a histogram of residuals, in standard deviations


def plot_residuals(
    generator: Generator,
    data: Dataset,
    diagnostics: Diagnostics,
    coordinate: str | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the standardised residuals of a coordinate beside the normal density they should have.

    Raises
    ------
    DataError
        If there is no such coordinate, or the fit states no noise for it.
    """
    p = _number(generator, coordinate)
    seen = digest(data)
    values = residuals(generator, seen.segments, diagnostics.noise_level, share=seen.share).of(p)
    if len(values) < 2:
        raise DataError(f"the fit states no noise for {generator.names[p]}: it has no residuals.")
    axes, edges = new_axes(ax), np.linspace(-WIDEST, WIDEST, BINS + 1)
    heights = np.histogram(values, edges)[0] / (len(values) * np.diff(edges))
    axes.stairs(heights, edges, fill=True, alpha=0.5, label=f"residuals of {generator.names[p]}")
    x = np.linspace(-WIDEST, WIDEST, 201)
    axes.plot(x, np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), "--", color="0.3", label="normal")
    axes.set_xlabel("standardised residual")
    axes.set_ylabel("density")
    axes.legend()
    return axes


def plot_simulated(
    generator: Generator,
    data: Dataset,
    coordinate: str | None = None,
    *,
    what: str = "density",
    random_state: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw density or autocorrelation of the data beside their range over 19 simulated data sets.

    Raises
    ------
    DataError
        If there is no such coordinate, or ``what`` is not one of the two.
    SimulationError
        If the simulations diverge.
    """
    p = _number(generator, coordinate)
    if what not in ("density", "autocorrelation"):
        raise DataError(f"what can be compared is 'density' or 'autocorrelation', got {what!r}.")
    check = check_by_simulation(generator, digest(data).segments, random_state)
    found = check.density(p) if what == "density" else check.memory(p)
    axes = new_axes(ax)
    axes.fill_between(found.places, found.low, found.high, color="C1", alpha=0.3, linewidth=0)
    axes.plot([], [], color="C1", alpha=0.3, linewidth=8, label="simulated")
    axes.plot(found.places, found.observed, color="C0", label="observed")
    axes.set_title(f"{percent(found.inside)} of the observed curve inside", fontsize="medium")
    apart = with_unit("time apart", generator.units.time)
    axes.set_xlabel(generator.units.labels()[p] if what == "density" else apart)
    axes.set_ylabel(what)
    axes.legend()
    return axes


def _number(generator: Generator, coordinate: str | None) -> int:
    name = generator.names[0] if coordinate is None else coordinate
    if name not in generator.names:
        raise DataError(f"there is no coordinate {name!r}; there are {list(generator.names)}.")
    return generator.names.index(name)
